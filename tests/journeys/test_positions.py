"""How far a reader is: set by people alone, in the words people use."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.book import PositionState, ReadingPosition
from domain.errors import BookError
from domain.event import Answer, PositionProposed, ToolCallFinished
from domain.library.progress import ManagePositions
from domain.turn.preparer import note_for
from storage.book_files.files import SQLiteBookFiles
from tests.doubles.scripted_chat import ScriptedChat, call, calls
from tests.journeys.reading_room import ANN, BEN, ReadingRoom, reading_room, shared_bounds


def positions(room: ReadingRoom, folder: Path) -> ManagePositions:
    files = SQLiteBookFiles(folder / "books")
    return ManagePositions(readers=room.storage.readers, files=files, bounds=shared_bounds(room.storage))


@pytest.mark.parametrize(
    ("order", "state", "page"),
    [
        ("page 2", PositionState.READING, 2),
        ("Page 2 ", PositionState.READING, 2),
        (" 2", PositionState.READING, 2),
        ("chapter 1", PositionState.READING, 1),
        ("chapter II", PositionState.READING, 2),
        ("chapter the arrival", PositionState.READING, 1),
        ("Seite 2", PositionState.READING, 2),
        ("Kapitel 1", PositionState.READING, 1),
        ("chapitre II", PositionState.READING, 2),
        ("page 2 of 3", PositionState.READING, 2),
        ("2/3", PositionState.READING, 2),
        ("chapter 1 of 3", PositionState.READING, 1),
        ("the second chapter", PositionState.READING, 2),
        ("2. Kapitel", PositionState.READING, 2),
        ("the second story", PositionState.READING, 2),
        ("story 2 of 3", PositionState.READING, 2),
        ("the last chapter", PositionState.READING, 3),
        ("das letzte Kapitel", PositionState.READING, 3),
        ("I. The Arrival", PositionState.READING, 1),
        ("finished", PositionState.FINISHED, 0),
        ("clear", PositionState.UNSET, 0),
    ],
)
async def test_an_order_sets_the_position(tmp_path: Path, order: str, state: PositionState, page: int) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        manage = positions(room, tmp_path)
        await manage.set_page(ANN.id, room.book, "1")
        await manage.follow(ANN.id, room.book, order)
        end = (await room.file.pages())[page - 1].end if page else 0
        assert await manage.get(ANN.id, room.book) == ReadingPosition(state, end)


@pytest.mark.parametrize(
    "order", ["page 99", "chapter 99", "page", "chapter", "12", "finished maybe", "backwards", "the start of chapter 2"]
)
async def test_an_order_that_makes_no_sense_changes_nothing_and_says_so(tmp_path: Path, order: str) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        manage = positions(room, tmp_path)
        before = await manage.set_page(ANN.id, room.book, "2")
        with pytest.raises(BookError) as caught:
            await manage.follow(ANN.id, room.book, order)
        assert caught.value.message.endswith(".")
        assert "Keeper" not in caught.value.message
        assert await manage.follow(ANN.id, room.book, "  ") == before


async def test_unset_begun_and_finished_are_told_apart(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        manage = positions(room, tmp_path)
        told = [await manage.describe(ANN.id, room.book)]
        await manage.set_chapter(ANN.id, room.book, "2")
        told.append(await manage.describe(ANN.id, room.book))
        await manage.finish(ANN.id, room.book)
        told.append(await manage.describe(ANN.id, room.book))
        await room.storage.readers.set_position(ANN.id, room.book.id, ReadingPosition(PositionState.READING, 0))
        told.append(await manage.describe(ANN.id, room.book))
    assert told == [
        "You haven't told me how far you've read, so I may talk about the whole book.",
        "You're at page 2 (in “II. The Lamp”). I won't reveal anything after it.",
        "You've finished the book, so I may talk about all of it.",
        "You haven't started reading, so I won't reveal anything yet.",
    ]


def test_the_model_is_told_of_a_reader_who_has_not_begun() -> None:
    assert note_for("Ann", (), 0, 99, datetime(2026, 1, 2, tzinfo=UTC)) == "[Ann · has not begun to read · 2026-01-02]"


async def test_an_unread_title_is_answered_in_the_terminal_as_one_that_does_not_exist(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        manage = positions(room, tmp_path)
        await manage.set_page(ANN.id, room.book, "1")
        with pytest.raises(BookError) as unread:
            await manage.follow(ANN.id, room.book, "chapter the keeper")
        with pytest.raises(BookError) as unknown:
            await manage.follow(ANN.id, room.book, "chapter the baker")
        assert unread.value.message == unknown.value.message.replace("baker", "keeper")


async def test_an_order_that_is_no_place_is_answered_with_all_that_are(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("x")) as room:
        manage = positions(room, tmp_path)
        await manage.set_page(ANN.id, room.book, "1")
        for order in ("Ben 3", "III. The Keeper"):
            with pytest.raises(BookError) as refused:
                await manage.follow(ANN.id, room.book, order)
            assert "page 12 · chapter 3 · a title you have reached · the last chapter" in refused.value.message


async def test_the_model_may_propose_and_moves_nothing(tmp_path: Path) -> None:
    provider = ScriptedChat(calls(call("propose_position", "t1", page="3")), "Shall I?")
    async with reading_room(tmp_path, provider) as room:
        manage = positions(room, tmp_path)
        before = await manage.set_page(BEN.id, room.book, "1")
        talk = await room.talk(BEN)
        events = await room.ask(talk, "I am on page 3 now.", BEN)
        assert [event for event in events if isinstance(event, PositionProposed)] == [PositionProposed("3", BEN.id)]
        assert isinstance(events[-1], Answer)
        assert await manage.get(BEN.id, room.book) == before


async def test_a_proposal_is_not_looked_up_so_that_it_tells_nothing_of_the_book(tmp_path: Path) -> None:
    provider = ScriptedChat(
        calls(
            call("propose_position", "t1", page="99"), call("propose_position", "t2", page="1 to 99 and more than that")
        ),
        "Shall I?",
    )
    async with reading_room(tmp_path, provider) as room:
        events = await room.ask(await room.talk(), "I am on page 99 now.")
        finished = {event.call_id: event for event in events if isinstance(event, ToolCallFinished)}
        assert not finished["t1"].is_error
        assert finished["t2"].is_error

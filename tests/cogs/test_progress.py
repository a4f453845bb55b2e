"""/progress: three states, moved by the reader alone; and the chapters offered while typing."""

import discord
import pytest

from cogs.access import chapter_name
from cogs.i18n import speech_for
from domain.book import Book, Chapter, PositionState, ReadingPosition
from tests.cogs.stage import Stage, text_of


async def position(stage: Stage, book: Book) -> ReadingPosition:
    return await stage.app.storage.readers.get_position(str(stage.ann.id), book.id)


async def test_without_options_it_is_shown(stage: Stage) -> None:
    book = await stage.book()
    shown = await stage.ann.slash(stage.channel, "progress", book=book.id)
    assert shown.ephemeral
    assert "The Dark Lamp" in text_of(shown)
    assert "You haven't told me how far you've read" in text_of(shown)


async def test_a_page_is_read_to_its_end(stage: Stage) -> None:
    book = await stage.book()
    told = await stage.ann.slash(stage.channel, "progress", book=book.id, page="2")
    assert "You're at page 2. I won't reveal anything after it." in text_of(told)
    pages = await (await stage.app.shelf.open(book)).pages()
    assert await position(stage, book) == ReadingPosition(PositionState.READING, pages[1].end)


async def test_a_chapter_is_read_to_its_end(stage: Stage) -> None:
    book = await stage.book()
    told = await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="1")
    assert text_of(told).splitlines()[1:] == [
        "You're at page 1. I won't reveal anything after it.",
        "That's the end of “I. The Arrival”.",
    ]
    chapters = await (await stage.app.shelf.open(book)).chapters()
    assert (await position(stage, book)).read_to == chapters[0].end


async def test_a_page_in_the_middle_of_a_chapter_is_said_to_be_in_it(stage: Stage) -> None:
    book = await stage.book()
    chapters = await (await stage.app.shelf.open(book)).chapters()
    await stage.app.positions.reach(str(stage.ben.id), book, chapters[1].end - 1)
    told = await stage.ben.slash(stage.channel, "progress", book=book.id)
    assert text_of(told).splitlines()[2] == "That's in “II. The Lamp”."


async def test_finished_and_unset_are_states_of_their_own(stage: Stage) -> None:
    book = await stage.book()
    told = await stage.ann.slash(stage.channel, "progress", book=book.id, finished=True)
    assert "You've finished the book" in text_of(told)
    assert (await position(stage, book)).state is PositionState.FINISHED
    told = await stage.ann.slash(stage.channel, "progress", book=book.id, clear=True)
    assert "You haven't told me" in text_of(told)
    assert await position(stage, book) == ReadingPosition()


async def test_it_is_the_readers_own(stage: Stage) -> None:
    book = await stage.book()
    await stage.ben.slash(stage.channel, "progress", book=book.id, page="1")
    assert await position(stage, book) == ReadingPosition()


async def test_two_places_at_once_are_refused_and_nothing_moves(stage: Stage) -> None:
    book = await stage.book()
    refused = await stage.ann.slash(stage.channel, "progress", book=book.id, page="1", chapter="2")
    assert "one of `page`, `chapter`, `finished` and `clear`" in text_of(refused)
    assert await position(stage, book) == ReadingPosition()


async def test_a_page_that_is_not_there_is_said_to_be_missing(stage: Stage) -> None:
    book = await stage.book()
    refused = await stage.ann.slash(stage.channel, "progress", book=book.id, page="99")
    assert "no page 99 in this book" in text_of(refused)


async def test_a_chapter_that_is_not_there_gives_no_title_away(stage: Stage) -> None:
    book = await stage.book()
    refused = await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="Epilogue")
    assert "Epilogue" in text_of(refused)
    assert "Keeper" not in text_of(refused)


async def test_in_a_thread_its_book_is_meant(stage: Stage) -> None:
    book = await stage.book()
    await stage.book("Another Tale")
    thread = await stage.chat(book)
    await stage.ann.slash(thread, "progress", page="1")
    assert (await position(stage, book)).state is PositionState.READING


async def test_the_only_book_there_is_need_not_be_named(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", page="1")
    assert (await position(stage, book)).state is PositionState.READING


async def test_of_several_books_one_has_to_be_named(stage: Stage) -> None:
    assert "The shelf is empty" in text_of(await stage.ann.slash(stage.channel, "progress"))
    await stage.book("One")
    await stage.book("Other")
    assert "Which book?" in text_of(await stage.ann.slash(stage.channel, "progress"))


async def test_a_title_that_was_not_reached_is_answered_as_one_that_does_not_exist(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="1")
    before = await position(stage, book)
    unread = text_of(await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="The Keeper"))
    unknown = text_of(await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="The Baker"))
    assert unread == unknown.replace("Baker", "Keeper")
    assert await position(stage, book) == before
    await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="3")
    assert await position(stage, book) != before
    await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="The Arrival")
    assert await position(stage, book) == before


async def chapters(stage: Stage, typed: str = "", **options: str) -> list[str]:
    return [
        choice["name"]
        for choice in await stage.ann.autocomplete(stage.channel, "progress", "chapter", typed, **options)
    ]


async def test_chapters_are_offered_by_title_to_whoever_has_no_position(stage: Stage) -> None:
    book = await stage.book()
    names = await chapters(stage, book=book.id)
    assert names == ["Chapter 1: I. The Arrival", "Chapter 2: II. The Lamp", "Chapter 3: III. The Keeper"]
    assert await chapters(stage, "keeper", book=book.id) == ["Chapter 3: III. The Keeper"]


async def test_titles_not_reached_are_hidden_from_whoever_has_one(stage: Stage) -> None:
    book = await stage.book()
    await stage.ann.slash(stage.channel, "progress", book=book.id, chapter="1")
    assert await chapters(stage, book=book.id) == ["Chapter 1: I. The Arrival", "Chapter 2", "Chapter 3"]
    assert await chapters(stage, "keeper", book=book.id) == []
    await stage.ann.slash(stage.channel, "progress", book=book.id, finished=True)
    assert "Chapter 3: III. The Keeper" in await chapters(stage, book=book.id)


async def test_no_chapters_are_offered_where_no_book_is_meant(stage: Stage) -> None:
    assert await chapters(stage) == []
    assert await chapters(stage, book="no such book") == []


async def test_a_title_that_is_read_by_half_is_not_told(stage: Stage) -> None:
    book = await stage.book()
    chapters = await (await stage.app.shelf.open(book)).chapters()
    for beyond, told in ((3, False), (len(chapters[1].title), True)):
        here = ReadingPosition(PositionState.READING, chapters[1].start + beyond)
        await stage.app.storage.readers.set_position(str(stage.ann.id), book.id, here)
        info = text_of(await stage.ann.slash(stage.channel, "books info", book=book.id))
        offered = await stage.ann.autocomplete(stage.channel, "progress", "chapter", "", book=book.id)
        assert (chapters[1].title in info) is told
        assert any(chapters[1].title in choice["name"] for choice in offered) is told


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("", "Chapter 2"),
        ("Chapter 2", "Chapter 2"),
        ("2. The Key", "Chapter 2: The Key"),
        ("Chapter 2: The Key", "Chapter 2: The Key"),
        ("II. The Key", "Chapter 2: II. The Key"),
        ("2 Keys", "Chapter 2: 2 Keys"),
        ("20. The Key", "Chapter 2: 20. The Key"),
    ],
)
def test_a_chapters_number_is_said_once(title: str, name: str) -> None:
    assert chapter_name(Chapter(2, title, 0, 100), 100, speech_for(discord.Locale.british_english)) == name


@pytest.mark.parametrize(
    ("printed", "title", "name"),
    [
        ("Sechstes", "Sechstes Kapitel", "Sechstes Kapitel"),
        ("VI", "VI. Effi's Secret", "Chapter VI"),
        ("VI", "VI", "Chapter VI"),
    ],
)
def test_an_unread_chapter_is_called_by_its_number_as_the_book_prints_it(printed: str, title: str, name: str) -> None:
    chapter = Chapter(2, title, 50, 100, printed=printed)
    assert chapter_name(chapter, 40, speech_for(discord.Locale.british_english), counted=False) == name

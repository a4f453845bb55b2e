"""Questions about the whole of what has been read: summaries by chapter, and who is who."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

import domain.library.summaries as pieces_module
import domain.library.summaries as summaries_module
from domain.book import BookText, Chapter, Page, PositionState, ReadingPosition
from domain.chat import PromptMessage
from domain.citations.keys import KEY_IN_GROUP
from domain.errors import LLMError, LLMErrorCode
from domain.event import ToolCallFinished
from domain.tool_use import ChatResponse, ProviderEvent, TokenUsage, ToolDefinition
from tests.doubles.scripted_chat import Reply, ScriptedChat, call, calls
from tests.journeys.reading_room import ANN, BEN, ReadingRoom, reading_room

PEOPLE = ("Ann Ames", "Ben Booth", "Cora Clay", "Dan Dow")
USED = TokenUsage(700, 40)


def novel() -> BookText:
    """Four chapters of a page and some 190 words each, each with somebody of its own."""
    text, pages, chapters = "", [], []
    for number, name in enumerate(PEOPLE, start=1):
        start = len(text)
        deeds = " ".join(f"In room {number}{step:02} of the old house {name} lit one more lamp." for step in range(15))
        text += f"Chapter {number}\n\n{name} was the keeper of floor {number}. {deeds}\n\n"
        pages.append(Page(number, str(number), start, len(text)))
        chapters.append(Chapter(number, f"Chapter {number}", start, len(text)))
    return BookText(text, tuple(pages), tuple(chapters), "txt", title="Lamps")


class Author:
    """A model that asks for the story, writes a summary of whatever it is given, and answers."""

    def __init__(self, **arguments: object) -> None:
        self.summarised: list[str] = []
        self.arguments = arguments
        self.summary = "{name} lit the lamps."

    def __call__(self, messages: Sequence[PromptMessage]) -> Reply:
        if messages[0].role == "system":
            asked = messages[-1].role == "user"
            return calls(call("story_so_far", "t1", **self.arguments)) if asked else "That is the story."
        prompt = messages[0].content
        self.summarised.append(prompt)
        name = next(person for person in PEOPLE if person in prompt)
        keys = KEY_IN_GROUP.findall(prompt.split("\n\n")[-1])
        return ChatResponse(text=f"{self.summary.format(name=name)}\n[{keys[1]}] [{keys[3]}] [s-0000000]", usage=USED)


async def story(room: ReadingRoom, question: str = "What has happened?") -> ToolCallFinished:
    talk = await room.talk()
    events = await room.ask(talk, question)
    [finished] = [event for event in events if isinstance(event, ToolCallFinished)]
    return finished


async def stand_at(room: ReadingRoom, page: int, reader_id: str = ANN.id) -> None:
    end = (await room.file.pages())[page - 1].end
    await room.storage.readers.set_position(reader_id, room.book.id, ReadingPosition(PositionState.READING, end))


async def test_each_chapter_is_summarised_once_and_kept(tmp_path: Path) -> None:
    author = Author()
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        first = await story(room)
        again = await story(room)
        assert len(author.summarised) == 4
        assert first.content == again.content
        for number, name in enumerate(PEOPLE, start=1):
            assert f"Chapter {number} (Chapter {number}): {name} lit the lamps." in first.content


async def test_the_sentences_a_summary_rests_on_come_along_and_stand_in_the_book(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat(Author(chapter=2)), text=novel()) as room:
        finished = await story(room)
        text = await room.file.text()
        assert [passage.page for passage in finished.passages] == ["2", "2"]
        assert [text[p.start : p.end] for p in finished.passages] == [p.sentences[0].text for p in finished.passages]
        assert finished.passages[0].text == "Ben Booth was the keeper of floor 2."


async def test_a_summary_sees_its_own_chapter_and_not_even_the_title_of_the_book(tmp_path: Path) -> None:
    author = Author()
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        await story(room)
        for prompt in author.summarised:
            assert sum(name in prompt for name in PEOPLE) == 1
            assert room.book.title not in prompt.split("\n\n")[0]


async def test_nothing_beyond_the_position_is_summarised_or_shown(tmp_path: Path) -> None:
    author = Author()
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        await story(room)  # the whole book is open: all four are written and kept
        await stand_at(room, 2)
        finished = await story(room)
        assert "Ben" in finished.content
        assert "Cora" not in finished.content
        assert "Chapter 3" not in finished.content
        assert len(author.summarised) == 4


async def test_the_chapter_being_read_is_summarised_as_far_as_it_was_read_and_the_rest_is_shown(tmp_path: Path) -> None:
    author = Author(chapter=2)
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        text = await room.file.text()
        for mark, written in (("In room 212", 1), ("In room 214", 1)):
            position = ReadingPosition(PositionState.READING, text.index(mark))
            await room.storage.readers.set_position(ANN.id, room.book.id, position)
            finished = await story(room)
            assert len(author.summarised) == written
            assert mark not in finished.content
        assert "In room 213" in finished.content, "read since the summary was written"


async def test_a_chapter_read_to_its_end_gets_a_summary_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summaries_module, "UNCOVERED", 10)
    author = Author(chapter=2)
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        await room.storage.readers.set_position(
            ANN.id, room.book.id, ReadingPosition(PositionState.READING, (await room.file.text()).index("In room 212"))
        )
        await story(room)
        await stand_at(room, 2)
        await story(room)
        assert len(author.summarised) == 2
        assert "In room 214" in author.summarised[1]


async def test_what_a_summary_tells_of_later_chapters_is_taken_out(tmp_path: Path) -> None:
    author = Author(chapter=1)
    author.summary = "{name} lit the lamps. Then Cora Clay comes."
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        finished = await story(room)
        assert "Ann Ames lit the lamps." in finished.content
        assert "Cora" not in finished.content


async def test_tokens_of_summaries_are_booked_on_the_reader(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat(Author()), text=novel()) as room:
        await story(room)
        total = await room.storage.usage.total_for_reader(ANN.id, room.book.created_at)
        assert total.requests == 4
        assert total.tokens == 4 * (USED.input_tokens + USED.output_tokens)


async def test_a_long_chapter_is_summarised_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces_module, "PIECE_WORDS", 130)
    author = Author(chapter=1)
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        finished = await story(room)
        assert len(author.summarised) == 1, "the second piece is short enough to be shown as it is"
        assert "Chapter 1 (Chapter 1), part 1: Ann Ames lit the lamps." in finished.content
        assert "In room 114" in finished.content


async def test_what_is_not_done_in_time_comes_as_sentences_and_is_written_later(tmp_path: Path) -> None:
    author = Author()
    slow = asyncio.Event()

    class Slow(ScriptedChat):
        async def stream(
            self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
        ) -> AsyncGenerator[ProviderEvent, None]:
            if messages[0].role != "system" and "Dan Dow" not in messages[0].content:
                await slow.wait()
            async with aclosing(super().stream(messages, tools, call_tools=call_tools)) as events:
                async for event in events:
                    yield event

    async with reading_room(tmp_path, Slow(author), text=novel(), tool_timeout=1.0) as room:
        first = await story(room)
        assert "Dan Dow lit the lamps." in first.content
        assert "There is no summary yet of Chapter 1" in first.content
        assert "Ann Ames was the keeper of floor 1." in first.content
        slow.set()
        assert "Ann Ames lit the lamps." in (await story(room)).content


async def test_where_the_model_fails_the_chapters_speak_for_themselves(tmp_path: Path) -> None:
    author = Author()
    tired = LLMError(LLMErrorCode.RATE_LIMITED, "Too many at once.")
    provider = ScriptedChat(lambda messages: author(messages) if messages[0].role == "system" else tired)
    async with reading_room(tmp_path, provider, text=novel()) as room:
        finished = await story(room)
        assert not finished.is_error
        assert finished.content.startswith("Key sentences")
        assert sum(message[0].role == "user" for message in provider.requests) <= summaries_module.AT_ONCE


async def test_no_more_than_so_many_are_written_in_one_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries_module, "MOST_PER_TURN", 3)
    author = Author()
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        told = await story(room)
        assert len(author.summarised) == 3
        assert told.summary == "4 chapters, 1 without a summary yet"
        assert "Tell the reader so, and that more get one when they ask again." in told.content
        assert (await story(room)).summary == "4 chapters"


async def test_a_book_without_chapters_has_a_story_too(tmp_path: Path) -> None:
    author = Author()
    async with reading_room(tmp_path, ScriptedChat(author), text=replace(novel(), chapters=())) as room:
        finished = await story(room)
        assert "Beginning: Ann Ames lit the lamps." in finished.content


async def test_where_nothing_has_been_read_nothing_is_told(tmp_path: Path) -> None:
    author = Author()
    async with reading_room(tmp_path, ScriptedChat(author), text=novel()) as room:
        await room.storage.readers.set_position(ANN.id, room.book.id, ReadingPosition(PositionState.READING, 0))
        assert (await story(room)).content == "Nothing has been read yet."
        assert author.summarised == []


async def test_a_chapter_that_was_not_reached_is_refused(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat(Author(chapter=3)), text=novel()) as room:
        await stand_at(room, 2)
        finished = await story(room)
        assert finished.is_error
        assert "There's no chapter 3 in what's been read so far." in finished.content


async def test_who_somebody_is_comes_with_counts_names_and_sentences(tmp_path: Path) -> None:
    provider = ScriptedChat(calls(call("who_is", "t1", name="Ben Booth")), "Ben.")
    async with reading_room(tmp_path, provider, text=novel()) as room:
        finished = await story(room, "Who is Ben Booth?")
        assert "“Ben Booth” is mentioned 16 times (2. Chapter 2: 16)." in finished.content
        assert "Ben Booth (16)" in finished.content
        assert finished.passages[0].text == "Ben Booth was the keeper of floor 2."
        assert finished.summary == "16 mentions"


async def test_without_a_name_all_who_have_been_met_are_told_and_nobody_else(tmp_path: Path) -> None:
    provider = ScriptedChat(calls(call("who_is", "t1")), "Ann and Ben.")
    async with reading_room(tmp_path, provider, text=novel()) as room:
        await stand_at(room, 2, BEN.id)
        talk = await room.talk(BEN)
        events = await room.ask(talk, "Who is there?", BEN)
        [finished] = [event for event in events if isinstance(event, ToolCallFinished)]
        assert finished.content.startswith("People met so far: ")
        assert "Ben Booth (" in finished.content
        assert "Cora" not in finished.content
        assert finished.passages[0].text == "Ann Ames was the keeper of floor 1."


async def test_the_people_of_one_chapter_are_told_with_their_first_place_there(tmp_path: Path) -> None:
    provider = ScriptedChat(calls(call("who_is", "t1", chapter="2")), "Ben.")
    async with reading_room(tmp_path, provider, text=novel()) as room:
        finished = await story(room, "Who is in chapter 2?")
        assert finished.content.startswith("People met there: Ben Booth (16). ")
        assert [passage.text for passage in finished.passages] == ["Ben Booth was the keeper of floor 2."]


async def test_somebody_who_comes_later_does_not_exist_yet(tmp_path: Path) -> None:
    provider = ScriptedChat(calls(call("who_is", "t1", name="Cora Clay")), "I do not know.")
    async with reading_room(tmp_path, provider, text=novel()) as room:
        await stand_at(room, 2, BEN.id)
        talk = await room.talk(BEN)
        events = await room.ask(talk, "Who is Cora?", BEN)
        [finished] = [event for event in events if isinstance(event, ToolCallFinished)]
        assert finished.content == "Nobody with this name has appeared so far."

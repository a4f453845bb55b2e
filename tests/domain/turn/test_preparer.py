"""What a model is sent of a conversation, and what of it may be said again."""

from dataclasses import replace
from pathlib import Path

import pytest

from bot.providers.extractive.client import ExtractiveChat
from domain.book import PositionState, ReadingPosition
from domain.chat import MessageRole
from domain.event import Answer, TurnFailed
from domain.spoilers.filter import hide
from domain.tool_use import ChatResponse, TokenUsage
from domain.turn.chat_with_book import Reader
from tests.doubles.scripted_chat import ScriptedChat, call, calls
from tests.journeys.reading_room import ANN, BEN, reading_room


async def test_a_question_that_was_refused_at_the_door_goes_in_with_its_author(tmp_path: Path) -> None:
    model = ScriptedChat(ChatResponse(text="Hi.", usage=TokenUsage(90, 20)))
    async with reading_room(tmp_path, model, daily_tokens=100) as room:
        talk = await room.talk()
        await room.answer(talk, "One", BEN)
        assert isinstance((await room.ask(talk, "Two", BEN))[-1], TurnFailed)
        await room.answer(talk, "Three", ANN)
    past = [message.text for message in model.requests[-1] if message.role == MessageRole.USER]
    assert [text.split("\n")[-1] for text in past] == ["One", "Two", "Three"]
    assert [text.split(" · ")[0] for text in past] == ["[Ben", "[Ben", "[Ann"]


@pytest.mark.parametrize("order", [(ANN, BEN), (BEN, ANN)])
async def test_who_has_used_up_their_tokens_asks_neither_at_others_cost_nor_in_their_way(
    tmp_path: Path, order: tuple[Reader, ...]
) -> None:
    model = ScriptedChat(ChatResponse(text="Hi.", usage=TokenUsage(90, 20)))
    async with reading_room(tmp_path, model, daily_tokens=100) as room:
        talk = await room.talk()
        await room.answer(talk, "One", BEN)
        for reader in order:
            await room.chat.receive(talk.id, f"{reader.name}'s question", reader)
        endings = [[event async for event in room.chat.answer(talk.id)][-1] for _ in order]
    assert [type(ending) for ending in endings] == [Answer, TurnFailed]
    said = [message.text for message in model.requests[-1]]
    assert said[-1].endswith("Ann's question")
    assert not any("Ben's question" in each for each in said)


async def test_what_was_hidden_once_is_hidden_again(tmp_path: Path) -> None:
    model = ScriptedChat("It was for Lucian.")
    async with reading_room(tmp_path, model) as room:
        talk, pages = await room.talk(), await room.file.pages()
        position = ReadingPosition(PositionState.READING, pages[1].end)
        await room.storage.readers.set_position(ANN.id, room.book.id, position)
        for _ in range(2):
            assert (await room.answer(talk, "For whom?")).text == hide("It was for Lucian.")
        covered = await room.answer(talk, "For ||Lucian||?")
        assert covered.text == hide("It was for Lucian."), "the reader has hidden him"
        assert (await room.answer(talk, "For Lucian?")).text == "It was for Lucian.", "the reader has named him"


async def test_how_long_a_book_is_is_no_secret(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ScriptedChat("It has 1887 words in all.")) as room:
        talk, pages = await room.talk(), await room.file.pages()
        await room.storage.books.save(replace(room.book, word_count=1887))
        position = ReadingPosition(PositionState.READING, pages[1].end)
        await room.storage.readers.set_position(ANN.id, room.book.id, position)
        assert (await room.answer(talk, "How long is it?")).text == "It has 1887 words in all."
        await room.storage.books.save(room.book)
        assert (await room.answer(talk, "How long is it?")).text == hide("It has 1887 words in all.")


@pytest.mark.parametrize(("has_tools", "most"), [(True, 6), (False, 10)])
async def test_a_model_without_tools_is_sent_more_turns_because_their_calls_take_no_room(
    tmp_path: Path, has_tools: bool, most: int
) -> None:
    model = ScriptedChat("unused", supports_tools=has_tools)
    sent = []
    async with reading_room(tmp_path, model) as room:
        talk = await room.talk()
        for number in range(12):
            search = calls(call("search_book", f"t{number}", query="lamp")) if has_tools else "the lamp"
            model.say(search, "The lamp was dark.")
            await room.answer(talk, f"Question {number}?")
            sent.append(sum(each.role == MessageRole.USER for each in model.requests[-1]) - 1)
    assert max(sent) == most


async def test_who_is_further_than_others_is_not_asked_again_to_confirm_where_they_are(tmp_path: Path) -> None:
    async with reading_room(tmp_path, ExtractiveChat()) as room:
        talk, pages = await room.talk(), await room.file.pages()
        for reader, page in ((ANN, pages[1]), (BEN, pages[0])):
            position = ReadingPosition(PositionState.READING, page.end)
            await room.storage.readers.set_position(reader.id, room.book.id, position)
        await room.answer(talk, "Who is Marta?", BEN)
        said = ("I'm on page 2, who is Marta?", "I've read chapter 2, who is Marta?")
        answers = [await room.answer(talk, each, ANN) for each in said]
    assert all("Marta" in answer.text and answer.citations for answer in answers)

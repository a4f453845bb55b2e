"""An answer is made anew: one turn comes in the place of another, and nothing is lost where it does not."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.chat import MessageRole
from domain.conversation import Conversation, Turn, TurnState
from domain.errors import LLMError, LLMErrorCode
from domain.event import Answer, TurnEvent, TurnFailed, TurnStarted
from domain.tool_use import ChatResponse, TokenUsage
from tests.doubles.scripted_chat import ScriptedChat
from tests.journeys.reading_room import ANN, ReadingRoom, reading_room


@pytest.fixture
def model() -> ScriptedChat:
    return ScriptedChat("amber", "birch", "cedar", "anew")


@pytest.fixture
async def room(tmp_path: Path, model: ScriptedChat) -> AsyncIterator[ReadingRoom]:
    async with reading_room(tmp_path, model) as room:
        yield room


@pytest.fixture
async def talk(room: ReadingRoom) -> Conversation:
    """Three questions with their answers, delivered."""
    talk = await room.talk()
    for number in ("1", "2", "3"):
        await room.chat.receive(talk.id, f"question {number}", ANN, external_id=number)
        [*_, answer] = [event async for event in room.chat.answer(talk.id)]
        assert isinstance(answer, Answer)
        await room.chat.delivered(answer.turn_id, [f"9{number}"], f"8{number}")
    return talk


async def turns(room: ReadingRoom, talk: Conversation) -> list[Turn]:
    return list(await room.storage.turns.get_by_conversation(talk.id))


async def said(room: ReadingRoom, talk: Conversation) -> list[str]:
    return [message.content for message in await room.storage.messages.get_by_conversation(talk.id)]


async def again(room: ReadingRoom, turn: Turn) -> list[TurnEvent]:
    return [event async for event in room.chat.answer_again(turn.id)]


async def test_the_new_answer_is_where_the_old_one_was(room: ReadingRoom, talk: Conversation) -> None:
    first, second, third = await turns(room, talk)
    [started, *_, answer] = await again(room, second)
    assert isinstance(started, TurnStarted)
    assert isinstance(answer, Answer)
    assert await said(room, talk) == ["question 1", "amber", "question 2", "anew", "question 3", "cedar"]
    before, new, after = await turns(room, talk)
    assert (before, after) == (first, third)
    assert (new.id, new.number, new.state) == (answer.turn_id, 2, TurnState.ANSWERED)
    assert (new.reply_ids, new.trace_id) == (("92",), "82")


async def test_the_model_sees_what_came_before_and_the_question_once(
    room: ReadingRoom, talk: Conversation, model: ScriptedChat
) -> None:
    _, second, _ = await turns(room, talk)
    await again(room, second)
    contents = "\n".join(message.content for message in model.requests[-1])
    assert "question 1" in contents
    assert contents.count("question 2") == 1
    assert not [word for word in ("birch", "question 3", "cedar") if word in contents]


async def test_later_questions_see_the_newest_answer_alone(
    room: ReadingRoom, talk: Conversation, model: ScriptedChat
) -> None:
    _, second, _ = await turns(room, talk)
    await again(room, second)
    await room.answer(talk, "question 4")
    roles = [(m.role, m.content) for m in model.requests[-1] if m.role == MessageRole.ASSISTANT]
    assert [content for _, content in roles] == ["amber", "anew", "cedar"]


async def test_a_question_that_was_edited_is_answered_as_it_is_now(
    room: ReadingRoom, talk: Conversation, model: ScriptedChat
) -> None:
    _, second, _ = await turns(room, talk)
    await room.chat.revise("2", "question 2b")
    await again(room, second)
    assert "question 2b" in model.requests[-1][-1].content
    assert (await said(room, talk))[2:4] == ["question 2b", "anew"]


async def test_where_it_fails_the_old_answer_stays_and_waits_to_be_shown(
    room: ReadingRoom, talk: Conversation, model: ScriptedChat
) -> None:
    _, second, _ = await turns(room, talk)
    model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is busy."))
    [*_, failed] = await again(room, second)
    assert isinstance(failed, TurnFailed)
    assert (await said(room, talk))[2:4] == ["question 2", "birch"]
    assert [(turn.id, turn.state) for turn in await turns(room, talk)][1] == (second.id, TurnState.ANSWERED)


async def test_stopped_or_cut_off_it_leaves_the_old_answer(
    room: ReadingRoom, talk: Conversation, model: ScriptedChat
) -> None:
    _, second, _ = await turns(room, talk)
    model.hold = asyncio.Event()
    stopped = asyncio.create_task(again(room, second))
    while len(model.requests) < 4:
        await asyncio.sleep(0.001)
    assert room.chat.stop(talk.id)
    assert not [event for event in await stopped if isinstance(event, Answer | TurnFailed)]
    assert (await said(room, talk))[2:4] == ["question 2", "birch"]


async def test_a_question_deleted_meanwhile_takes_both_answers_along(
    room: ReadingRoom, talk: Conversation, model: ScriptedChat
) -> None:
    _, second, _ = await turns(room, talk)
    model.hold = asyncio.Event()
    running = asyncio.create_task(again(room, second))
    while len(model.requests) < 4:
        await asyncio.sleep(0.001)
    await room.chat.take_back("2")
    await running
    assert "anew" not in await said(room, talk)
    assert "question 2" not in await said(room, talk)


async def test_of_a_turn_that_is_gone_or_failed_nothing_comes(room: ReadingRoom, model: ScriptedChat) -> None:
    model.say(LLMError(LLMErrorCode.OVERLOADED, "The model is busy."))
    talk = await room.talk()
    await room.ask(talk, "question 1")
    [failed] = await turns(room, talk)
    assert await again(room, failed) == []
    assert [event async for event in room.chat.answer_again("nobody")] == []


async def test_what_was_spent_counts(room: ReadingRoom, talk: Conversation, model: ScriptedChat) -> None:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    model.say(ChatResponse(text="anew", usage=TokenUsage(100, 5)))
    _, second, _ = await turns(room, talk)
    await again(room, second)
    assert (await room.storage.usage.total_for_reader(ANN.id, long_ago)).tokens == 105

"""Readers change and delete their messages; whatever the moment, the history stays in order."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from domain.chat import ChatMessage
from domain.conversation import Turn, TurnState
from domain.errors import LLMError, LLMErrorCode
from domain.event import Answer, TurnEvent
from domain.turn.chat_with_book import Taken
from tests.doubles.scripted_chat import ScriptedChat
from tests.journeys.reading_room import ANN, ReadingRoom, reading_room


@pytest.fixture
def model() -> ScriptedChat:
    return ScriptedChat("Hobb did it.")


@pytest.fixture
async def room(tmp_path: Path, model: ScriptedChat) -> AsyncIterator[ReadingRoom]:
    async with reading_room(tmp_path, model) as room:
        yield room


async def asked(room: ReadingRoom, *texts: str) -> str:
    """A conversation in which these messages wait; their external ids count from 1."""
    talk = await room.talk()
    for number, text in enumerate(texts, start=1):
        await room.chat.receive(talk.id, text, ANN, external_id=str(number))
    return talk.id


async def answered(room: ReadingRoom, talk: str) -> list[TurnEvent]:
    return [event async for event in room.chat.answer(talk)]


async def said(room: ReadingRoom, talk: str) -> list[str]:
    return [message.content for message in await room.storage.messages.get_by_conversation(talk)]


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.001)


class Answering:
    """A turn that runs and is held after the model's first word."""

    def __init__(self, room: ReadingRoom, model: ScriptedChat, talk: str) -> None:
        self.room, self.model, self.talk = room, model, talk
        self.task: asyncio.Task[list[TurnEvent]]

    async def __aenter__(self) -> "Answering":
        self.model.hold = asyncio.Event()
        before = len(self.model.requests)
        self.task = asyncio.create_task(answered(self.room, self.talk))
        await until(lambda: len(self.model.requests) > before)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.release()
        await self.task

    def release(self) -> None:
        if self.model.hold is not None:
            self.model.hold.set()
            self.model.hold = None


async def test_a_message_that_waits_is_changed_where_it_stands(room: ReadingRoom) -> None:
    talk = await asked(room, "Who?", "Why?")
    taken = await room.chat.revise("1", " Who put it out? ")
    assert taken is not None
    assert taken.undone is None
    assert await said(room, talk) == ["Who put it out?", "Why?"]


async def test_a_message_that_is_being_answered_waits_again_with_its_new_words(
    room: ReadingRoom, model: ScriptedChat
) -> None:
    talk = await asked(room, "Who?")
    async with Answering(room, model, talk) as first:
        assert await room.chat.revise("1", "Why?") is not None
        assert not any(isinstance(event, Answer) for event in await first.task)
    await answered(room, talk)
    assert await said(room, talk) == ["Why?", "Hobb did it."]
    assert model.requests[-1][-1].content == "Why?"


async def test_new_words_of_what_has_its_answer_are_kept(room: ReadingRoom) -> None:
    talk = await asked(room, "Who?")
    await answered(room, talk)
    assert await room.chat.revise("1", "Why?") is None
    assert await said(room, talk) == ["Why?", "Hobb did it."]
    assert await answered(room, talk) == []


async def test_what_has_its_answer_goes_with_it(room: ReadingRoom) -> None:
    talk = await asked(room, "Who?")
    await answered(room, talk)
    [turn] = await room.storage.turns.get_by_conversation(talk)
    taken = await room.chat.take_back("1")
    assert taken is not None
    assert taken.undone == turn
    assert await said(room, talk) == []
    assert await room.chat.take_back("1") is None


async def test_an_answer_to_others_too_stays_without_the_question_that_was_deleted(room: ReadingRoom) -> None:
    talk = await asked(room, "Who?", "Why?")
    await answered(room, talk)
    assert await room.chat.take_back("1") is None
    assert await said(room, talk) == ["Why?", "Hobb did it."]


async def test_a_question_that_was_deleted_is_not_taken_in_again(room: ReadingRoom) -> None:
    talk = await asked(room, "Who?")
    await answered(room, talk)
    await room.chat.take_back("1")
    assert await room.chat.receive(talk, "Who?", ANN, external_id="1") is None
    assert await said(room, talk) == []


async def test_the_same_words_and_none_and_the_unknown_change_nothing(room: ReadingRoom, model: ScriptedChat) -> None:
    talk = await asked(room, "Who?")
    async with Answering(room, model, talk):
        assert await room.chat.revise("1", "Who? ") is None
        assert await room.chat.revise("1", "  ") is None
        assert await room.chat.revise("77", "Why?") is None
        assert await room.chat.take_back("77") is None
    assert await said(room, talk) == ["Who?", "Hobb did it."]


async def test_a_deleted_message_is_forgotten_and_the_others_go_on(room: ReadingRoom, model: ScriptedChat) -> None:
    talk = await asked(room, "Who?", "Why?")
    async with Answering(room, model, talk) as first:
        assert await room.chat.take_back("1") is not None
        await first.task
    assert await said(room, talk) == ["Why?"]
    await answered(room, talk)
    assert await said(room, talk) == ["Why?", "Hobb did it."]


async def test_a_message_that_is_changed_while_another_is_answered_waits_for_its_turn(
    room: ReadingRoom, model: ScriptedChat
) -> None:
    talk = await asked(room, "Who?")
    async with Answering(room, model, talk) as first:
        await room.chat.receive(talk, "Whi?", ANN, external_id="2")
        change = asyncio.create_task(room.chat.revise("2", "Why?"))
        await asyncio.sleep(0)
        first.release()
        second = asyncio.create_task(answered(room, talk))
        await change
        await second
    await answered(room, talk)
    assert await said(room, talk) == ["Who?", "Hobb did it.", "Why?", "Hobb did it."]


async def deleted_at_the_entry(
    room: ReadingRoom, monkeypatch: pytest.MonkeyPatch, turn: Callable[[], Awaitable[list[TurnEvent]]]
) -> list[TurnEvent]:
    """What comes of a turn where the first message is deleted after the turn has read what waits, and before it has
    begun.
    """
    messages, read, found, go = room.storage.messages, asyncio.Event(), asyncio.Event(), asyncio.Event()
    people, by_id = messages.list_people, messages.get_by_external_id

    async def held(talk: str, since: datetime | None) -> Sequence[str]:
        read.set()
        await go.wait()
        return await people(talk, since)

    async def noticed(external_id: str) -> ChatMessage | None:
        message = await by_id(external_id)
        found.set()
        return message

    monkeypatch.setattr(messages, "list_people", held)
    monkeypatch.setattr(messages, "get_by_external_id", noticed)
    running = asyncio.ensure_future(turn())
    await read.wait()
    deleting = asyncio.create_task(room.chat.take_back("1"))
    await found.wait()
    go.set()
    await deleting
    return await running


async def test_a_message_that_is_deleted_as_a_turn_begins_is_not_answered(
    room: ReadingRoom, model: ScriptedChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await asked(room, "Who?", "Why?")
    await deleted_at_the_entry(room, monkeypatch, lambda: answered(room, talk))
    assert [message.content for message in model.requests[-1][1:]] == ["Why?"]
    assert await said(room, talk) == ["Why?", "Hobb did it."]


async def test_a_question_that_is_deleted_as_it_is_to_be_answered_again_is_not(
    room: ReadingRoom, model: ScriptedChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await asked(room, "Who?")
    await answered(room, talk)
    [turn] = await room.storage.turns.get_by_conversation(talk)

    async def again() -> list[TurnEvent]:
        return [event async for event in room.chat.answer_again(turn.id)]

    assert await deleted_at_the_entry(room, monkeypatch, again) == []
    assert len(model.requests) == 1
    assert await said(room, talk) == []


async def test_a_question_that_failed_is_taken_from_its_turn(room: ReadingRoom, model: ScriptedChat) -> None:
    model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."), "Hobb did it.")
    talk = await asked(room, "Who?")
    await answered(room, talk)
    [failed] = await room.storage.turns.get_by_conversation(talk)
    taken = await room.chat.revise("1", "Why?")
    assert taken == Taken(taken.message, undone=failed) if taken else False
    await answered(room, talk)
    assert await said(room, talk) == ["Why?", "Hobb did it."]


@pytest.mark.parametrize("rounds", range(0, 30, 2))
async def test_a_change_that_comes_at_any_moment_leaves_one_answer(
    tmp_path: Path, model: ScriptedChat, rounds: int
) -> None:
    async with reading_room(tmp_path, model) as room:
        talk = await asked(room, "Who?")
        running = asyncio.create_task(answered(room, talk))
        await asyncio.sleep(0.0004 * rounds)
        taken = await room.chat.revise("1", "Why?")
        await running
        again = await answered(room, talk)
        assert bool(again) == (taken is not None)
        assert await said(room, talk) == ["Why?", "Hobb did it."]
        states = [turn.state for turn in await room.storage.turns.get_by_conversation(talk)]
        assert states == [TurnState.ANSWERED]


@pytest.mark.parametrize("rounds", range(0, 30, 2))
async def test_a_stop_that_comes_at_any_moment_leaves_one_answer(
    tmp_path: Path, model: ScriptedChat, rounds: int
) -> None:
    async with reading_room(tmp_path, model) as room:
        talk = await asked(room, "Who?")
        running = asyncio.create_task(answered(room, talk))
        await asyncio.sleep(0.0004 * rounds)
        room.chat.stop(talk)
        await running
        await answered(room, talk)
        question, answer = await said(room, talk)
        assert question == "Who?"
        assert answer


async def test_a_failure_is_to_be_told_once(room: ReadingRoom, model: ScriptedChat) -> None:
    model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."))
    talk = await asked(room, "Who?")
    await answered(room, talk)
    [failed] = await room.storage.turns.list_undelivered()
    await room.chat.delivered(failed.id, ["9"])
    assert await room.storage.turns.list_undelivered() == []
    assert await room.chat.recover(talk) == []
    kept = await room.storage.turns.get(failed.id)
    assert kept is not None
    assert (kept.state, kept.reply_ids) == (TurnState.FAILED, ("9",))


async def test_a_failure_whose_question_is_asked_again_while_it_is_told_needs_no_note(
    room: ReadingRoom, model: ScriptedChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."), "Hobb did it.")
    talk = await asked(room, "Who?")
    await answered(room, talk)
    [failed] = await room.storage.turns.list_undelivered()
    look_up = room.storage.turns.get

    async def look_up_and_lose(turn_id: str) -> Turn | None:
        turn = await look_up(turn_id)
        monkeypatch.undo()
        await room.storage.turns.reopen(turn_id)
        return turn

    monkeypatch.setattr(room.storage.turns, "get", look_up_and_lose)
    assert not await room.chat.delivered(failed.id, ["9"]), "nothing of it may be shown"
    await answered(room, talk)
    assert await said(room, talk) == ["Who?", "Hobb did it."]


async def test_a_failure_that_was_never_told_is_undone_at_the_next_start(
    room: ReadingRoom, model: ScriptedChat
) -> None:
    model.say(LLMError(LLMErrorCode.OVERLOADED, "Too busy."), "Hobb did it.")
    talk = await asked(room, "Who?")
    await answered(room, talk)
    assert len(await room.chat.recover(talk)) == 1
    await answered(room, talk)
    assert await said(room, talk) == ["Who?", "Hobb did it."]

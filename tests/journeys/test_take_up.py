"""A terminal that was closed in the middle of an answer brings it to its end when the conversation is opened again."""

from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from bot.cli.console import ConsoleChat, Orders
from domain.book import PositionState, ReadingPosition
from domain.conversation import Conversation, TurnState
from tests.doubles.scripted_chat import ScriptedChat
from tests.journeys.reading_room import ANN, ReadingRoom, reading_room


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[ReadingRoom]:
    async with reading_room(tmp_path, ScriptedChat("It was Hobb.")) as opened:
        yield opened


async def shown(room: ReadingRoom, talk: Conversation) -> str:
    """What is on the screen once the conversation has been taken up."""

    async def move(order: str) -> tuple[ReadingPosition, str]:
        raise AssertionError("nobody has typed anything")

    screen = Console(file=StringIO(), width=200)
    await ConsoleChat(room.chat, talk, screen, orders=Orders(move), verbose=False, as_json=False).take_up()
    return cast(StringIO, screen.file).getvalue()


async def test_an_interrupted_question_is_repeated_and_answered(room: ReadingRoom) -> None:
    talk = await room.talk()
    asked = await room.chat.receive(talk.id, "Who put [the lamp] out?", ANN)
    assert asked
    await room.storage.turns.begin(talk.id, [asked.id], asked.created_at)
    waiting = await room.chat.receive(talk.id, "And why?", ANN)
    assert waiting
    text = await shown(room, talk)
    assert "I was interrupted before I could answer this:\n› Who put [the lamp] out?\n› And why?\n" in text
    assert "It was Hobb." in text
    assert await states(room, talk) == [TurnState.DELIVERED]
    assert await shown(room, talk) == ""


async def test_an_answer_that_nobody_saw_is_shown(room: ReadingRoom) -> None:
    talk = await room.talk()
    await room.ask(talk, "Who put the lamp out?")
    assert await states(room, talk) == [TurnState.ANSWERED]
    assert "You may not have seen this answer:\nIt was Hobb.\n" in await shown(room, talk)
    assert await states(room, talk) == [TurnState.DELIVERED]


async def test_what_is_at_work_on_discord_is_left_to_the_bot(room: ReadingRoom) -> None:
    talk = await room.talk()
    bound = await room.manage.bind(talk.id, guild_id="1", channel_id="2", thread_id="3", private=False)
    asked = await room.chat.receive(talk.id, "Who put the lamp out?", ANN)
    assert asked
    await room.storage.turns.begin(talk.id, [asked.id], asked.created_at)
    assert await shown(room, bound) == ""
    assert await states(room, talk) == [TurnState.RUNNING]


async def states(room: ReadingRoom, talk: Conversation) -> list[TurnState]:
    return [turn.state for turn in await room.storage.turns.get_by_conversation(talk.id)]


async def test_an_answer_nobody_saw_is_made_anew_once_its_reader_has_moved_back(room: ReadingRoom) -> None:
    talk = await room.talk()
    await room.answer(talk, "Who put the lamp out?")
    beginning = ReadingPosition(PositionState.READING, 0)
    await room.storage.readers.set_position(ANN.id, room.book.id, beginning)
    told = await shown(room, talk)
    assert "You may not have seen this answer" not in told
    assert "I was interrupted before I could answer this:" in told
    assert "› Who put the lamp out?" in told
    [turn] = await room.storage.turns.get_by_conversation(talk.id)
    assert turn.state is TurnState.DELIVERED

"""A thread that is archived, locked or deleted at any moment of a turn: its question is answered once."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from cogs.conversation import worker
from domain.conversation import TurnState
from tests.cogs.conversation.scene import Scene
from tests.doubles.discord_api import Permission
from tests.sampling import a_few
from tests.waiting import eventually

ANSWER = "It was Hobb, who wanted the island to himself."


@pytest.fixture
def expected_errors() -> list[str]:
    return ["channel"]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.2, 0.4, 10_000.0))


async def _asked(room: Scene, release: asyncio.Event) -> None:
    """As soon as the question is written."""


async def _model_asked(room: Scene, release: asyncio.Event) -> None:
    await room.until_asked(1)


async def _draft(room: Scene, release: asyncio.Event) -> None:
    await room.until_asked(1)
    await room.until(room.replies)


async def _answered(room: Scene, release: asyncio.Event) -> None:
    """The answer is stored, and on its way."""
    await _model_asked(room, release)
    room.double.round_trip = 0.3
    release.set()
    await eventually(room.turns, lambda turns: any(turn.state is TurnState.ANSWERED for turn in turns))
    room.double.round_trip = 0.0


async def _posted(room: Scene, release: asyncio.Event) -> None:
    release.set()
    await room.until_said(ANSWER)


Moment = Callable[[Scene, asyncio.Event], Awaitable[None]]
MOMENTS = [_asked, _model_asked, _draft, _answered, _posted]


async def at(room: Scene, moment: Moment) -> asyncio.Event:
    """Ask, and wait for that moment; the event lets the model go on."""
    release = await room.hold()
    room.model.say(ANSWER)
    await room.ann.say(room.thread, "Who put the lamp out?")
    await moment(room, release)
    return release


async def answered_once(room: Scene) -> None:
    await room.until_said(ANSWER)
    await room.until_delivered(1)
    assert await room.kept() == ["Who put the lamp out?", ANSWER]
    assert len(room.model.requests) == 1


@pytest.mark.parametrize("moment", a_few(MOMENTS, 2))
async def test_one_that_is_archived(room: Scene, moment: Moment) -> None:
    release = await at(room, moment)
    await room.ann.archive(room.thread)
    release.set()
    await answered_once(room)


@pytest.mark.parametrize("moment", a_few(MOMENTS, 3))
async def test_one_that_is_locked_until_it_is_unlocked(room: Scene, moment: Moment) -> None:
    room.double.world.grant(room.double.guild, room.ben.user, Permission.MANAGE_THREADS)
    release = await at(room, moment)
    await room.ben.lock(room.thread)
    release.set()
    await eventually(room.turns, lambda turns: any(turn.state is not TurnState.RUNNING for turn in turns))
    await asyncio.sleep(0.3)
    room.double.world.update_channel(room.thread, room.ben.user, {"locked": False, "archived": False})
    await answered_once(room)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_one_that_is_deleted_goes_on_in_another(room: Scene, moment: Moment) -> None:
    conversation, deleted = await room.conversation(), room.thread
    release = await at(room, moment)
    shown = ANSWER in room.said()
    await room.ann.delete_channel(deleted)
    await eventually(partial(room.app.conversations.get, conversation.id), lambda talk: not talk.thread_id)
    release.set()
    await room.until(lambda: not room.app.chat.is_busy)
    await room.ann.slash("chat", book=conversation.book_id, conversation=conversation.id)
    await room.until(room.double.threads)
    [room.thread] = room.double.threads()
    if shown:
        await asyncio.sleep(0.3)  # it may not be known yet that it was shown; then it is shown once more
    else:
        await room.until(lambda: ANSWER in room.said())
        await room.until_delivered(1)
    assert room.said().count(ANSWER) <= 1
    assert await room.kept() == ["Who put the lamp out?", ANSWER]

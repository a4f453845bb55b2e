"""Discord hears of every command and button in time, however long the database takes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from cogs import interactions
from storage.sqlite.connection import Connection
from tests.cogs.conversation.scene import Scene
from tests.cogs.conversation.test_sources import answered
from tests.doubles.discord_api import PATIENCE_S, Interaction

COMMANDS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("books list", {}, "The Dark Lamp"),
    ("books info", {"book": "The Dark Lamp"}, "3 pages"),
    ("books remove", {"book": "The Dark Lamp"}, "who added this book"),
    ("conversations list", {}, "Talk"),
    ("conversations create", {"book": "The Dark Lamp"}, "Your conversation about"),
    ("conversations export", {"conversation": "Talk"}, ""),
    ("chat", {"book": "The Dark Lamp"}, "You've talked about"),
    ("chat", {"book": "The Dark Lamp", "title": "Another"}, "Your conversation about"),
    ("chat", {"book": "The Dark Lamp", "conversation": "Talk"}, "continues here"),
    ("verbose", {"mode": "on"}, "From now on"),
    ("progress", {"book": "The Dark Lamp"}, "the whole book"),
    ("usage", {}, "You, today"),
)


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Iterator[asyncio.Event]:
    """While it is cleared, the database is at work for somebody else."""
    free = asyncio.Event()
    free.set()
    run: Callable[..., Awaitable[Any]] = Connection.run

    async def held(self: Connection, *arguments: Any) -> Any:
        await free.wait()
        return await run(self, *arguments)

    monkeypatch.setattr(Connection, "run", held)
    monkeypatch.setattr(interactions, "PROMPT_S", 0.02)
    yield free
    free.set()


async def test_every_command_is_acknowledged_before_it_can_be_carried_out(room: Scene, free: asyncio.Event) -> None:
    for command, options, expected in COMMANDS:
        free.clear()
        used = await room.ann.slash(command, **options)
        assert used.acknowledged, command
        assert not used.messages
        free.set()
        await room.until(partial(getattr, used, "messages"))
        assert used.ephemeral, command
        assert expected in used.text


async def test_a_command_that_waits_until_it_is_counted_is_acknowledged(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, run = asyncio.Event(), Connection.run

    async def held(self: Connection, sql: str, *arguments: Any) -> Any:
        if "allowances" in sql:
            await free.wait()
        return await run(self, sql, *arguments)

    monkeypatch.setattr(Connection, "run", held)
    used = await room.ann.slash("chat", book="The Dark Lamp", title="Another")
    assert used.acknowledged
    free.set()
    await room.until(lambda: "Your conversation about" in used.text)


async def test_the_lookups_of_an_interaction_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactions, "PROMPT_S", 600.0)
    deferred, found = asyncio.Event(), asyncio.Event()

    async def defer(**_: Any) -> None:
        deferred.set()

    interaction: Any = SimpleNamespace(extras={}, response=SimpleNamespace(is_done=deferred.is_set, defer=defer))
    await interactions.defer_if_slow(interaction, asyncio.sleep(0))
    assert not deferred.is_set()
    interaction.extras[interactions.ACKNOWLEDGE_BY] -= interactions.PROMPT_S
    second = asyncio.create_task(interactions.defer_if_slow(interaction, found.wait()))
    async with asyncio.timeout(PATIENCE_S):
        await deferred.wait()
    found.set()
    assert await second


async def test_buttons_are_acknowledged_before_what_they_show_is_found(room: Scene, free: asyncio.Event) -> None:
    await room.ann.slash("verbose", channel=room.thread, mode="on")
    await answered(room)
    card, answer = [each for each in room.replies() if each.buttons]
    free.clear()
    opened, sources = await room.ann.click(card, label="Show search 1"), await room.ben.click(answer, label="Sources")
    trace = await room.ben.click(card, label="Show everything")
    assert all(pressed.acknowledged for pressed in (opened, sources, trace))
    free.set()
    await room.until(lambda: "**Arguments**" in card.embed_texts[0])
    await room.until(lambda: _said(sources) and _said(trace))
    assert "Marta Quill" in sources.text
    assert trace.message.attachments


def _said(pressed: Interaction) -> bool:
    return bool(pressed.messages)

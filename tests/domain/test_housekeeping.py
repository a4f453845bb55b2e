"""What is not to be kept any longer goes, at every start and daily; conversations it went from go on."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app import App, open_app
from bot.providers.anthropic.client import AnthropicChat
from bot.settings import Settings
from domain.conversation import Conversation
from domain.errors import StorageError, StorageErrorCode
from domain.event import Answer
from domain.records import Sweep
from domain.servers import Housekeeping
from domain.turn.chat_with_book import Reader
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.script import Call, say

ANN = Reader("4711", "Ann")
TALE = b"CHAPTER I\n\nIt was Hobb who had put the lamp out.\n"
LATER = timedelta(days=8)


@asynccontextmanager
async def opened(folder: Path, **settings: int) -> AsyncIterator[tuple[App, AnthropicDouble]]:
    async with AnthropicDouble() as api:
        provider = AnthropicChat(api_key=api.api_key, base_url=api.base_url)
        chosen = Settings(_env_file=None, data_dir=folder, **settings)  # type: ignore[call-arg, arg-type]
        async with open_app(chosen, provider) as app:
            yield app, api


def in_a_week(app: App) -> Housekeeping:
    """The program's own housekeeping, on a clock that is ahead."""
    house = app.housekeeping
    house._clock = lambda: datetime.now(UTC) + LATER
    return house


async def talked(app: App, api: AnthropicDouble) -> Conversation:
    """A conversation with one question that was looked up."""
    added = await app.shelf.add(TALE, "lamp.txt")
    talk = await app.conversations.create(added.book.id, owner_id=ANN.id)
    api.script(say(Call("search_book", {"query": "lamp"})), say("It was Hobb."), say("On the ninth."))
    await ask(app, talk, "Who put the lamp out?")
    return talk


async def ask(app: App, talk: Conversation, question: str) -> None:
    await app.chat.receive(talk.id, question, ANN)
    *_, answer = [event async for event in app.chat.answer(talk.id)]
    assert isinstance(answer, Answer), answer
    await app.chat.delivered(answer.turn_id)


async def test_by_default_everything_is_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, api):
        talk = replace(await talked(app, api), guild_id="1")
        await app.storage.conversations.save(talk)
        assert await in_a_week(app).sweep() == Sweep()
        assert len(await app.storage.messages.get_by_conversation(talk.id)) == 4


async def test_tool_calls_go_and_the_model_goes_on_without_them(tmp_path: Path) -> None:
    async with opened(tmp_path, keep_tool_calls_days=7) as (app, api):
        talk = replace(await talked(app, api), guild_id="1")
        await app.storage.conversations.save(talk)
        assert await in_a_week(app).sweep() == Sweep(tool_results=1)
        await ask(app, talk, "And when?")
        said = [message.content for message in await app.storage.messages.get_by_conversation(talk.id)]
        assert said == ["Who put the lamp out?", "It was Hobb.", "And when?", "On the ninth."]
        assert "search_book" not in str(api.requests[-1]["messages"])


async def test_conversations_go_and_leave_the_book(tmp_path: Path) -> None:
    async with opened(tmp_path, keep_conversations_days=7) as (app, api):
        talk = await talked(app, api)
        assert await in_a_week(app).sweep() == Sweep(conversations=1)
        assert await app.storage.conversations.get(talk.id) is None
        assert b"Who put the lamp out?" not in (tmp_path / "marginalia.db").read_bytes()
        assert not (tmp_path / "marginalia.db-wal").read_bytes()
        assert len(await app.shelf.list()) == 1


async def test_files_that_no_shelf_holds_go_once_they_are_a_day_old(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, _):
        kept = (await app.shelf.add(TALE, "lamp.txt")).book
        orphan = tmp_path / "books" / f"{'f' * 64}.book"
        orphan.write_bytes(b"left by a crash")
        assert await app.housekeeping.sweep() == Sweep()
        assert await in_a_week(app).sweep() == Sweep(book_files=1)
        assert [path.stem for path in (tmp_path / "books").iterdir()] == [kept.sha256]


async def test_it_is_done_at_once_and_trouble_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("domain.servers.A_DAY", timedelta(milliseconds=1))
    caplog.set_level("INFO")
    async with opened(tmp_path) as (app, _):
        await app.shelf.add(TALE, "lamp.txt")
        orphan = tmp_path / "books" / f"{'f' * 64}.book"
        orphan.write_bytes(b"left by a crash")
        os.utime(orphan, (0, 0))
        troubles = iter([StorageError(StorageErrorCode.WRITE_FAILED, "The disk is full.")])
        sweep = app.housekeeping.sweep

        async def at_first_in_trouble() -> Sweep:
            if trouble := next(troubles, None):
                raise trouble
            return await sweep()

        monkeypatch.setattr(Housekeeping, "sweep", lambda self: at_first_in_trouble())
        keeping = asyncio.create_task(app.housekeeping.sweep_daily())
        while orphan.exists():
            await asyncio.sleep(0.01)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
    told = [record.getMessage() for record in caplog.records if record.name == "domain.servers"]
    assert told[0].endswith("The disk is full.")
    assert told[1].endswith("0 conversations, 0 tool results, 1 files of books")

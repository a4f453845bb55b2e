"""The database of a bot goes away for a while and comes back: the gateway stays, and nothing is lost."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from storage.opening import Storage, open_storage
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.script import Handler
from tests.journeys.discord_process import bot_process
from tests.journeys.marked_questions import reply_to
from tests.journeys.test_cluster import SHARDS, Readers, book_in, shards_with_a_session, thread_in
from tests.postgres import the_wheel

pytestmark = pytest.mark.usefixtures("quick_posting")

AWAY = "⚠️ I can't get at my notes just now. I'll answer as soon as I can."
AWAY_S = 12.0
"""Longer than a lease lasts."""


@pytest.fixture
def handler() -> Handler:
    return reply_to


class Server:
    """A PostgreSQL of its own, which can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        self._server = the_wheel().get_server(folder, cleanup_mode="delete")
        self.url = str(self._server.get_uri())

    def stop(self) -> None:
        self._server._stop()

    def start(self) -> None:
        self._server.ensure_postgres_running()


@pytest.fixture
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = Server(Path(folder) / "data")
        yield server
        server._server.cleanup()


@pytest.fixture
async def storage(server: Server) -> AsyncIterator[Storage]:
    async with await open_storage(server.url) as opened:
        yield opened


async def test_what_was_written_meanwhile_is_answered(
    tmp_path: Path, discord: DiscordDouble, model: AnthropicDouble, server: Server, storage: Storage
) -> None:
    await book_in(storage, tmp_path)
    threads = [await thread_in(discord, storage, discord.add_guild("Bookworms"))]
    discord.commands.identify_limit["max_concurrency"] = 16
    settings = {
        "DATABASE_URL": server.url,
        "BOOKS_URL": f"file://{tmp_path}/store",
        "SHARD_COUNT": str(SHARDS),
    }
    async with bot_process(tmp_path, discord, model, **settings) as bot:
        await bot.start()
        await discord.until(lambda: len(shards_with_a_session(discord)) == SHARDS)
        readers = Readers(discord, threads)
        await readers.write(2)
        await readers.all_answered()
        identified = discord.gateway.identifies
        await asyncio.to_thread(server.stop)
        await readers.write(2)
        await discord.until(lambda: AWAY in discord.said(threads[0]))
        await asyncio.sleep(AWAY_S)
        assert discord.said(threads[0]).count(AWAY) == 1, discord.transcript()
        assert len(shards_with_a_session(discord)) == SHARDS
        await asyncio.to_thread(server.start)
        await readers.write(1)
        await readers.all_answered(120)
        await discord.until(lambda: AWAY not in discord.said(threads[0]))
        assert discord.gateway.identifies == identified

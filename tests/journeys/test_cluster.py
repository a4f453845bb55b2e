"""Several processes share a database and the shards; they are killed, stopped and paused while people write."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus
from pathlib import Path

import pytest

from domain.conversation import Conversation, TurnState
from storage.book_files.objects import CachedBookFiles, open_store
from storage.opening import Storage, open_storage
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import PATIENCE_S, Channel, DiscordDouble
from tests.doubles.discord_api.entities import Guild
from tests.doubles.script import Handler
from tests.journeys.discord_process import BotProcess, bot_process
from tests.journeys.marked_questions import answers, marks_in, reply_to
from tests.postgres import a_database
from tests.storage.book_files.test_files import a_text
from tests.storage.values import MIDNIGHT, a_book

NODES, SHARDS = 3, 12

pytestmark = pytest.mark.usefixtures("quick_posting")


@pytest.fixture
def handler() -> Handler:
    return reply_to


@pytest.fixture
def database() -> Iterator[str]:
    with a_database() as url:
        yield url


@pytest.fixture
async def storage(database: str) -> AsyncIterator[Storage]:
    async with await open_storage(database) as opened:
        yield opened


@pytest.fixture
async def threads(discord: DiscordDouble, storage: Storage, tmp_path: Path) -> list[Channel]:
    """A thread in a guild of each shard, with a conversation about the one book."""
    await book_in(storage, tmp_path)
    return [await thread_in(discord, storage, guild) for guild in guilds_of_all_shards(discord)]


async def book_in(storage: Storage, folder: Path) -> None:
    """The one book, in the store at `folder`."""
    text = a_text(4_000)
    files = CachedBookFiles(
        folder / "cache",
        store=open_store(f"file://{folder}/store"),
        objects=storage.book_objects,
        cache_mb=10,
    )
    words = await files.write("a" * 64, text)
    await storage.books.save(
        a_book(sha256="a" * 64, shelf="discord", length=len(text.text), word_count=words, page_count=2)
    )


def guilds_of_all_shards(discord: DiscordDouble) -> list[Guild]:
    guilds: dict[int, Guild] = {}
    while len(guilds) < SHARDS:
        discord.advance(0.001)  # a guild's id, and so its shard, is the millisecond of its making
        guild = discord.add_guild("Bookworms")
        guilds.setdefault(shard_of(guild), guild)
    return list(guilds.values())


def shard_of(guild: Guild) -> int:
    return (guild.id >> 22) % SHARDS


async def thread_in(discord: DiscordDouble, storage: Storage, guild: Guild) -> Channel:
    ann = discord.user("ann", guild)
    [channel] = [each for each in guild.channels.values() if not each.is_thread]
    thread = discord.world.start_thread(channel, discord.bot, "Tides")
    discord.world.add_thread_member(thread, ann.user)
    await storage.conversations.save(
        Conversation(
            id=f"talk-{thread.id}",
            book_id="alice",
            title="Tides",
            created_at=MIDNIGHT,
            owner_id=str(ann.id),
            guild_id=str(guild.id),
            channel_id=str(channel.id),
            thread_id=str(thread.id),
        )
    )
    return thread


@pytest.fixture
async def nodes(
    tmp_path: Path, discord: DiscordDouble, model: AnthropicDouble, database: str, threads: list[Channel]
) -> AsyncIterator[list[BotProcess]]:
    discord.commands.identify_limit["max_concurrency"] = 16
    async with AsyncExitStack() as stack:
        processes = []
        for number in range(NODES):
            folder = tmp_path / f"node-{number}"
            folder.mkdir()
            settings = {
                "DATABASE_URL": database,
                "BOOKS_URL": f"file://{tmp_path}/store",
                "SHARD_COUNT": str(SHARDS),
                "MAX_TURNS_PER_MINUTE": "0",
                "LOG_LEVEL": "INFO",
                "LOG_FORMAT": "json",
            }
            processes.append(await stack.enter_async_context(bot_process(folder, discord, model, **settings)))
        yield processes


class Readers:
    """People who write numbered questions, and the answers that they have got."""

    def __init__(self, discord: DiscordDouble, threads: list[Channel]) -> None:
        self._discord = discord
        self._threads = threads
        self._chance = random.Random(5)
        self.asked: dict[str, Channel] = {}

    async def write(self, count: int, pause: float = 0.1) -> None:
        for _ in range(count):
            mark = f"Q{len(self.asked) + 1}"
            thread = self.asked[mark] = self._chance.choice(self._threads)
            assert thread.guild
            await self._discord.user("ann", thread.guild).say(thread, f"What about {mark}?")
            await asyncio.sleep(self._chance.random() * pause)

    def amiss(self) -> dict[str, int]:
        """Questions that do not have exactly one answer, with how many they have."""
        counts = Counter(
            mark
            for thread in self._threads
            for each in answers(self._discord, thread)
            for mark in marks_in(each.content)
        )
        return {mark: counts[mark] for mark in self.asked if counts[mark] != 1}

    async def all_answered(self, within: float = PATIENCE_S) -> None:
        try:
            await self._discord.until(lambda: not self.amiss(), within)
        except AssertionError:
            assert self.amiss() == {}, self._discord.transcript()


def times_told_commands(discord: DiscordDouble) -> int:
    """How often the commands were told; not counted is where Discord put it off."""
    return sum(call.status == HTTPStatus.OK for call in discord.calls("PUT /applications/{app}/commands"))


def shards_with_a_session(discord: DiscordDouble) -> set[int]:
    return {session.shard[0] for session in discord.gateway.live if session.shard[1] == SHARDS}


async def until_delivered(storage: Storage, threads: Sequence[Channel]) -> None:
    """Until every turn is noted as delivered: that is written just after the answer stands in its thread."""
    async with asyncio.timeout(PATIENCE_S):
        while await states(storage, threads) != {TurnState.DELIVERED}:
            await asyncio.sleep(0.1)


async def until_sessions_are_noted(storage: Storage, discord: DiscordDouble) -> None:
    """Until the database has the session in which each shard is served now, for whoever goes on with it."""
    assert storage.leases is not None
    async with asyncio.timeout(PATIENCE_S):
        while True:
            notes = [await storage.leases.get_note(f"shard/{shard}") for shard in range(SHARDS)]
            served = {session.id for session in discord.gateway.live if session.shard[1] == SHARDS}
            if len(served) == SHARDS and served == {json.loads(note)[2] for note in notes if note}:
                return
            await asyncio.sleep(0.1)


async def states(storage: Storage, threads: Sequence[Channel]) -> set[TurnState]:
    turns = [turn for thread in threads for turn in await storage.turns.get_by_conversation(f"talk-{thread.id}")]
    return {turn.state for turn in turns}


async def test_no_message_is_lost_and_none_is_answered_twice(
    nodes: list[BotProcess], discord: DiscordDouble, threads: list[Channel], storage: Storage
) -> None:
    readers = Readers(discord, threads)
    await asyncio.gather(*(node.start() for node in nodes))
    await discord.until(lambda: len(shards_with_a_session(discord)) == SHARDS)
    await readers.write(12)
    await readers.all_answered()

    discord.commands.identify_limit["max_concurrency"] = 1
    await until_sessions_are_noted(storage, discord)
    begun, gone_on_with = discord.gateway.identifies, discord.gateway.resumes
    await asyncio.gather(nodes[0].kill(), nodes[1].kill())
    await readers.write(12)
    await discord.until(lambda: len(shards_with_a_session(discord)) == SHARDS)
    assert discord.gateway.identifies == begun
    assert discord.gateway.resumes > gone_on_with
    await readers.all_answered()

    await asyncio.gather(nodes[0].start(), nodes[1].start())
    await readers.write(6)
    nodes[1].pause()
    await readers.write(12)
    await asyncio.sleep(14)
    await readers.write(6)
    nodes[1].wake()
    await readers.write(6)
    await readers.all_answered()

    await until_sessions_are_noted(storage, discord)
    begun, gone_on_with = discord.gateway.identifies, discord.gateway.resumes
    assert await nodes[2].stop() == 0
    await readers.write(12)
    await readers.all_answered()
    await discord.until(lambda: len(shards_with_a_session(discord)) == SHARDS)
    assert discord.gateway.identifies == begun
    assert discord.gateway.resumes > gone_on_with
    assert times_told_commands(discord) == 1
    await discord.until(lambda: not [thread for thread in threads if thread.archived])
    await until_delivered(storage, threads)
    assert discord.violations == []

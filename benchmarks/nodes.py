"""Three nodes on a double of Discord with twelve shards, which are stopped, killed and paused while people write.

    python -m benchmarks.nodes [--pause 60] [--questions 30]

Each row is one thing that is done to nodes. "from" is how many shards they had; "dark" is the longest time that one of
them had no session at the gateway, or was served by nobody where the node only slept; "slowest answer" counts from a
question to its answer, while a question is written every tenth of a second or so. At the end: questions without exactly
one answer, reminders of clubs that became due meanwhile, and how often Discord was told the commands. Then books: the
first search on a node without a copy, and from the end of an addition on one node to an answer from another. Everything
runs on this machine, PostgreSQL and the store of books (a folder) included. Discord lets one session begin at a time,
except while the nodes start.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from psycopg import AsyncConnection

from benchmarks.table import print_table, summary
from domain.book import Book
from domain.clubs.plan import Club, Member, Stretch, ThreadGate, dated
from storage.book_files.objects import CachedBookFiles, open_store
from storage.opening import Storage, open_storage
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import Channel, DiscordDouble
from tests.doubles.discord_api.gateway import Connection
from tests.doubles.discord_api.ratelimits import Window
from tests.journeys.conftest import EDIT, SEND
from tests.journeys.discord_process import BotProcess, bot_process
from tests.journeys.marked_questions import answers, marks_in, reply_to
from tests.journeys.test_cluster import (
    SHARDS,
    Readers,
    book_in,
    guilds_of_all_shards,
    shard_of,
    shards_with_a_session,
    thread_in,
    times_told_commands,
)
from tests.postgres import a_database
from tests.storage.book_files.test_files import a_text
from tests.storage.values import MIDNIGHT, a_book

NODES = 3
LOOK_S = 0.02
PATIENCE_S = 180.0
HELD = "SELECT name FROM leases WHERE name LIKE 'shard/%%' AND expires_at > clock_timestamp() AND holder LIKE %s"


class Watch:
    """Notes, every 20 ms, which shards have a session, and when each question had its answer."""

    def __init__(self, discord: DiscordDouble, threads: list[Channel], readers: Readers) -> None:
        self._discord = discord
        self._threads = threads
        self._readers = readers
        self._asked: dict[str, float] = {}
        self._dark_since: dict[int, float] = {}
        self._asleep: frozenset[Connection | None] = frozenset()
        self.waits: list[float] = []
        self.dark: list[float] = []

    def begin(self, asleep: frozenset[Connection | None] = frozenset()) -> None:
        """Begin a new row; sessions on connections that are `asleep` count as none."""
        self.waits, self.dark, self._asleep = [], [], asleep

    async def run(self) -> None:
        answered: set[str] = set()
        while True:
            now = time.perf_counter()
            for mark in self._readers.asked.keys() - self._asked.keys():
                self._asked[mark] = now
            stand = {mark for thread in self._threads for each in answers(self._discord, thread) for mark in
                     marks_in(each.content)}  # fmt: skip
            for mark in (stand & self._asked.keys()) - answered:
                self.waits.append(now - self._asked[mark])
            answered |= stand
            self._look_at_shards(now)
            await asyncio.sleep(LOOK_S)

    def _look_at_shards(self, now: float) -> None:
        live = [
            each
            for each in self._discord.gateway.live
            if each.shard[1] == SHARDS and each.connection not in self._asleep
        ]
        lit = {session.shard[0] for session in live}
        for shard in range(SHARDS):
            if shard not in lit:
                self._dark_since.setdefault(shard, now)
            elif shard in self._dark_since:
                self.dark.append(now - self._dark_since.pop(shard))


class Run:
    """The nodes, what is around them, and the rows of the table."""

    def __init__(
        self,
        discord: DiscordDouble,
        storage: Storage,
        url: str,
        nodes: list[BotProcess],
        threads: list[Channel],
        count: int,
    ) -> None:
        self._url = url
        self.discord, self.storage, self.nodes, self.threads = discord, storage, nodes, threads
        self.readers = Readers(discord, threads)
        self.watch = Watch(discord, threads, self.readers)
        self.rows: list[list[str]] = []
        self.clubs: list[Channel] = []
        self._count = count

    async def shards_of(self, node: BotProcess) -> set[int]:
        """The shards that a node holds."""
        async with await AsyncConnection.connect(self._url) as connection:
            found = await connection.execute(HELD, [f"%-{node.pid}"])
            return {int(name.removeprefix("shard/")) for (name,) in await found.fetchall()}

    async def settled(self) -> None:
        """Until every shard has a session, every question its answer, and the nodes their even shares."""
        await self.discord.until(lambda: len(shards_with_a_session(self.discord)) == SHARDS, PATIENCE_S)
        await self.readers.all_answered(PATIENCE_S)
        running = [node for node in self.nodes if node.is_running]
        async with asyncio.timeout(PATIENCE_S):
            while {len(await self.shards_of(node)) for node in running} != {SHARDS // len(running)}:
                await asyncio.sleep(0.2)

    async def row(
        self, name: str, nodes: Sequence[BotProcess], do: Callable[[], Awaitable[object]], *, sleeps: bool = False
    ) -> None:
        """Do something to nodes while people write and a club's reminder becomes due."""
        held = set().union(*[await self.shards_of(node) for node in nodes if node.is_running])
        live = self.discord.gateway.live
        asleep = frozenset(each.connection for each in live if each.shard[0] in held) if sleeps else None
        before = self.discord.gateway.identifies, self.discord.gateway.resumes
        await self.remind_soon()
        self.watch.begin(asleep or frozenset())
        writing = asyncio.create_task(self.readers.write(self._count, pause=0.2))
        await asyncio.sleep(0.5)
        began = time.perf_counter()
        await do()
        await writing
        await self.settled()
        after = self.discord.gateway.identifies, self.discord.gateway.resumes
        dark = f"{max(self.watch.dark):.1f}" if self.watch.dark else "0.0"
        median, p95 = summary(self.watch.waits)
        sessions = [str(now - then) for now, then in zip(after, before, strict=True)]
        waited = [str(len(self.watch.waits)), median, p95, f"{max(self.watch.waits):.1f}"]
        self.rows.append([name, str(len(held)), dark, *sessions, *waited])
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)

    async def remind_soon(self) -> None:
        """A club in another server's channel, one of whose sections is due tomorrow: it is to be reminded of now."""
        thread = self.threads[len(self.clubs) * 5 % SHARDS]
        assert thread.guild is not None
        channel = self.discord.world.add_channel(thread.guild, f"club-{len(self.clubs)}")
        tomorrow = datetime.now(UTC).date() + timedelta(days=1)
        sections = dated([Stretch(0, 500), Stretch(500, 1_000)], tomorrow - timedelta(days=7), 7)
        self.clubs.append(channel)
        host = Member(str(self.discord.user("ann", thread.guild).id), MIDNIGHT)
        await self.storage.clubs.create(
            Club(uuid.uuid4().hex, "alice", str(thread.guild.id), str(channel.id), host.reader_id, ThreadGate.DATE,
                 MIDNIGHT, 1_000, sections, (host,))
        )  # fmt: skip

    def reminders(self) -> list[int]:
        """How many reminders stand in each club's channel."""
        return [
            sum("is due on" in message.content for message in self.discord.messages(channel)) for channel in self.clubs
        ]


async def take_overs(pause_s: float, count: int) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        url = stack.enter_context(a_database())
        discord = await stack.enter_async_context(DiscordDouble())
        model = await stack.enter_async_context(AnthropicDouble(reply_to))
        for route in (SEND, EDIT):
            discord.rest.limits.windows[route] = Window(50, 1.0)
        discord.commands.identify_limit["max_concurrency"] = 16
        storage = await stack.enter_async_context(await open_storage(url))
        await book_in(storage, folder)
        threads = [await thread_in(discord, storage, guild) for guild in guilds_of_all_shards(discord)]
        assert {shard_of(thread.guild) for thread in threads if thread.guild} == set(range(SHARDS))
        nodes = []
        for number in range(NODES):
            (folder / f"node-{number}").mkdir()
            settings = {"DATABASE_URL": url, "BOOKS_URL": f"file://{folder}/store", "SHARD_COUNT": str(SHARDS),
                        "MAX_TURNS_PER_MINUTE": "0"}  # fmt: skip
            nodes.append(
                await stack.enter_async_context(bot_process(folder / f"node-{number}", discord, model, **settings))
            )
        await play(Run(discord, storage, url, nodes, threads, count), pause_s)


async def play(run: Run, pause_s: float) -> None:
    first, second, third = run.nodes
    watching = asyncio.create_task(run.watch.run())

    async def stop() -> None:
        assert await third.stop() == 0

    async def kill_and_end_sessions() -> None:
        await first.kill()
        for session in [each for each in run.discord.gateway.sessions.values() if each.connection is None]:
            del run.discord.gateway.sessions[session.id]

    async def sleep_and_wake() -> None:
        second.pause()
        await asyncio.sleep(pause_s)
        second.wake()

    await asyncio.gather(*(node.start() for node in run.nodes))
    await run.settled()
    run.discord.commands.identify_limit["max_concurrency"] = 1
    await run.row("nothing", [first], lambda: asyncio.sleep(0))
    await run.row("SIGTERM", [third], stop)
    await run.row("a node joins", [third], third.start)
    await run.row("kill -9", [first], first.kill)
    await run.row("a node joins", [first], first.start)
    await run.row("kill -9 of two", [second, third], lambda: asyncio.gather(second.kill(), third.kill()))
    await run.row("two nodes join", [second, third], lambda: asyncio.gather(second.start(), third.start()))
    await run.row("kill -9, sessions lost", [first], kill_and_end_sessions)
    await run.row("a node joins", [first], first.start)
    await run.row(f"SIGSTOP for {pause_s:.0f} s", [second], sleep_and_wake, sleeps=True)
    async with asyncio.timeout(60):
        while not all(run.reminders()):
            await asyncio.sleep(1)
    await asyncio.sleep(30)  # whatever might be said twice has time to be
    watching.cancel()
    print_table(
        ("what is done", "from", "dark s", "new sessions", "resumed", "questions", "answer s", "p95", "slowest"),
        run.rows,
    )
    told = times_told_commands(run.discord)
    print(f"\nquestions {len(run.readers.asked)}, without exactly one answer {len(run.readers.amiss())}; "
          f"reminders a club {run.reminders()}; commands told {told} time(s); "
          f"Discord's rules broken {len(run.discord.violations)} time(s)")  # fmt: skip


async def books(rounds: int) -> None:
    """A book of two hundred pages."""
    text = a_text(80_000)
    with tempfile.TemporaryDirectory() as name, a_database() as url:
        folder = Path(name)
        async with await open_storage(url) as storage, await open_storage(url) as other_storage:
            store = open_store(f"file://{folder}/store")
            here = CachedBookFiles(folder / "here", store=store, objects=storage.book_objects, cache_mb=100)
            cold: list[float] = []
            warm: list[float] = []
            added: list[float] = []
            for number in range(rounds):
                there = CachedBookFiles(
                    folder / f"there-{number}", store=store, objects=other_storage.book_objects, cache_mb=100
                )
                digest = f"{number:064x}"
                words = await here.write(digest, text)
                written = time.perf_counter()
                await storage.books.save(
                    a_book(f"book-{number}", sha256=digest, shelf=str(number), length=len(text.text), word_count=words)
                )
                [book] = await other_storage.books.list(str(number))
                await _search(there, book)
                added.append((time.perf_counter() - written) * 1000)
                for folder_state, found in (("cold", cold), ("warm", warm)):
                    if folder_state == "cold":
                        there.discard(folder / f"there-{number}" / f"{digest}.book")
                    began = time.perf_counter()
                    await _search(there, book)
                    found.append((time.perf_counter() - began) * 1000)
            await here.close()
    rows = [
        ["first search, no copy on the node", *summary(cold)],
        ["a search with a copy", *summary(warm)],
        ["added here, answered from there", *summary(added)],
    ]
    print_table((f"a book of {words:,} words", "ms", "p95"), rows)


async def _search(files: CachedBookFiles, book: Book) -> None:
    opened = await files.open(book)
    assert await opened.view(book.length).search(["the lamp was dark"], 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pause", type=float, default=60.0, help="how long a node sleeps, in seconds")
    parser.add_argument("--questions", type=int, default=30, help="how many are written while something happens")
    parser.add_argument("--books", type=int, default=20, help="how many books are added")
    given = parser.parse_args()
    asyncio.run(take_overs(given.pause, given.questions))
    print()
    asyncio.run(books(given.books))
    print("\nload average {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))


if __name__ == "__main__":
    main()

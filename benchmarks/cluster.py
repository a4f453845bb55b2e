"""What a turn costs with SQLite and with PostgreSQL, side by side, and several processes on one PostgreSQL.

    python -m benchmarks.cluster [--turns 300] [--processes 1 2 4] [--discord 6]

A whole turn is that of the program with a double of the model: two requests, a search, an answer that cites. One in
storage is what the program does there for it: keep the question, look up what the prompt needs, begin, keep a call with
its passages and the answer, mark it delivered. 20 conversations at once, SQLite and PostgreSQL by turns; the best of
three rounds. "processor" is the time of this process, "the server's" that of PostgreSQL's own processes (Linux alone
tells). PostgreSQL is TEST_DATABASE_URL's, or one of its own from the wheel. What is reckoned from that for many
servers assumes one turn per server in the busiest hour, five such hours a day, a shard per thousand servers, and
`--discord` milliseconds a turn for the connection to Discord.
"""

import argparse
import asyncio
import math
import os
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from psycopg import AsyncConnection

from benchmarks.model import ask, conversations, double, program
from benchmarks.table import print_table
from bot.client.sessions import IDENTIFY_S
from domain.concurrency import CURRENT_LEASE
from domain.conversation import TurnState
from domain.records import UsageRecord
from domain.tool_use import TokenUsage
from storage.opening import Storage, open_storage
from tests.postgres import Wire, a_database, wire_to
from tests.storage.values import MIDNIGHT, a_book, a_conversation, a_question, an_answer, at, everything_said

HISTORY = 10
CONVERSATIONS = 20
TAKE_OVERS = 20
SERVERS = (1_000, 100_000, 1_000_000)
BUSY_HOURS = 5
ROUNDS = 3


async def furnish(url: str) -> None:
    async with await open_storage(url) as storage:
        await storage.books.save(a_book())


async def turns(storage: Storage, count: int, name: str) -> None:
    """Hold so many turns, `CONVERSATIONS` at once."""
    ids = [f"{name}-{number}" for number in range(CONVERSATIONS)]
    for each in ids:
        await storage.conversations.save(a_conversation(each))
    await asyncio.gather(*(_talk(storage, each, count // CONVERSATIONS) for each in ids))


async def _talk(storage: Storage, conversation: str, count: int) -> None:
    for _ in range(count):
        await _turn(storage, conversation)


async def _turn(storage: Storage, conversation: str) -> None:
    question = a_question(uuid.uuid4().hex, conversation, author_id="ann", external_id=str(uuid.uuid4().int >> 66))
    await storage.conversations.get(conversation)
    await storage.messages.add_incoming(question)
    await asyncio.gather(
        storage.conversations.get(conversation),
        storage.messages.get_recent(conversation, HISTORY),
        storage.messages.list_people(conversation),
    )
    turn = await storage.turns.begin(conversation, [question.id], MIDNIGHT)
    await asyncio.gather(storage.books.get("alice"), storage.turns.get_recent(conversation, HISTORY))
    await storage.readers.get_position("ann", "alice")
    said = [
        replace(each, id=uuid.uuid4().hex, conversation_id=conversation)
        for each in (*everything_said()[:2], an_answer())
    ]
    await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage(10, 1), "ann", "g", conversation, 5))
    answered = replace(turn, state=TurnState.ANSWERED, finished_at=at(1))
    await storage.turns.finish(answered, [replace(question, turn_id=turn.id), *said])
    await storage.turns.get(turn.id)
    await storage.turns.finish(replace(answered, state=TurnState.DELIVERED, reply_ids=("1",)))


@dataclass(frozen=True)
class Cost:
    """Milliseconds a turn: on the clock, of this process's processor time, and of the server's."""

    wall: float
    own: float
    server: float


class Stopwatch:
    """What so many turns cost, from its making to `cost`."""

    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time(), _server_time()

    def cost(self, turns: int) -> Cost:
        now = time.perf_counter(), time.process_time(), _server_time()
        return Cost(*((end - began) * 1000 / turns for end, began in zip(now, self._began, strict=True)))


def _server_time() -> float:
    """Seconds of processor time that all PostgreSQL processes of this machine have had."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, figures = file.read_text().partition("(")[2].rpartition(") ")
        except OSError:
            continue  # it has ended
        if name == "postgres":
            ticks += sum(map(int, figures.split()[11:15]))  # its own, and those of its children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


async def in_storage(url: str, count: int, name: str, fenced: bool) -> Cost:
    async with await open_storage(url) as storage:
        token = None
        if fenced:
            assert storage.leases is not None
            token = CURRENT_LEASE.set(await storage.leases.acquire(f"shard/{name}", name, 600.0))
        try:
            await turns(storage, CONVERSATIONS, f"{name} warming")
            watch = Stopwatch()
            await turns(storage, count, name)
            return watch.cost(count)
        finally:
            if token is not None:
                CURRENT_LEASE.reset(token)


async def whole(url: str, database: str, count: int) -> Cost:
    async with program(url, database) as app:
        talks = await conversations(app, CONVERSATIONS)
        assert all(await asyncio.gather(*(ask(app, talk) for talk in talks)))
        watch = Stopwatch()
        for _ in range(count // CONVERSATIONS):
            assert all(await asyncio.gather(*(ask(app, talk) for talk in talks)))
        return watch.cost(count // CONVERSATIONS * CONVERSATIONS)


class CountedWire(Wire):
    """Counts what goes along it: bytes, statements that were carried out, and answers that were waited for."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.counts: Counter[str] = Counter()

    def listener(self, *, to_server: bool) -> Callable[[bytes], None]:
        if to_server:
            return lambda data: self.counts.update(bytes=len(data))
        pending = b""

        def hear(data: bytes) -> None:
            nonlocal pending
            self.counts["bytes"] += len(data)
            pending += data
            while len(pending) >= 5 and len(pending) >= (length := 1 + int.from_bytes(pending[1:5])):
                self.counts[chr(pending[0])] += 1
                pending = pending[length:]

        return hear


async def wire_counts(url: str) -> list[str]:
    """Statements, round trips and kilobytes of a turn in storage, in a conversation of ten."""
    async with wire_to(url, CountedWire) as wire:
        assert isinstance(wire, CountedWire)
        async with await open_storage(f"{wire.url}?sslmode=disable") as storage:
            await storage.conversations.save(a_conversation("counted"))
            await _talk(storage, "counted", HISTORY)
            wire.counts.clear()
            await _talk(storage, "counted", HISTORY)
            complete, ready, carried = (wire.counts[each] / HISTORY for each in ("C", "Z", "bytes"))
    return [f"{complete:.1f}", f"{ready:.1f}", f"{carried / 1000:.0f}"]


async def several(url: str, processes: int, count: int) -> float:
    """Turns a second of so many processes together, their start left out."""
    running = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.cluster", "--worker", url, "--turns", str(count),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(processes)
    ]  # fmt: skip
    for each in running:
        assert each.stdout
        await each.stdout.readline()
    began = time.perf_counter()
    await asyncio.gather(*(each.communicate(b"go\n") for each in running))
    return processes * count / (time.perf_counter() - began)


async def worker(url: str, count: int) -> None:
    async with await open_storage(url) as storage:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await turns(storage, count, uuid.uuid4().hex)


async def take_over(url: str) -> list[float]:
    """Milliseconds to take a lease that was given back, for a shard that another node had."""
    async with await open_storage(url) as storage:
        assert storage.leases is not None
        taken = []
        for number in range(TAKE_OVERS):
            lease = await storage.leases.acquire(f"other/{number}", "one", 60.0)
            assert lease is not None
            await storage.leases.release(lease)
            began = time.perf_counter()
            await storage.leases.acquire(f"other/{number}", "two", 60.0)
            taken.append((time.perf_counter() - began) * 1000)
        return taken


async def size(url: str) -> int:
    """Bytes on the database server's disk."""
    async with await AsyncConnection.connect(url) as connection:
        found = await (await connection.execute("SELECT pg_database_size(current_database())")).fetchone()
        assert found is not None
        return int(found[0])


async def measure(count: int, processes: Sequence[int], discord: float = 6.0) -> None:
    costs: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as folder, a_database() as postgres, a_database() as another:
        sqlite = f"sqlite:///{folder}/marginalia.db"
        for url in (sqlite, postgres):
            await furnish(url)
        async with double() as model:
            for number in range(ROUNDS):  # by turns, so that whatever else the machine does meets all of them
                measured: dict[str, Callable[[], Awaitable[Cost]]] = {
                    "a whole turn, SQLite": lambda: whole(model, f"sqlite:///{folder}/whole.db", count),
                    "a whole turn, PostgreSQL": lambda: whole(model, another, count),
                    "in storage, SQLite": lambda: in_storage(sqlite, count, f"s{number}", False),  # noqa: B023
                    "in storage, PostgreSQL": lambda: in_storage(postgres, count, f"p{number}", False),  # noqa: B023
                    "in storage, PostgreSQL, fenced": lambda: in_storage(postgres, count, f"f{number}", True),  # noqa: B023
                }
                for name, run in measured.items():
                    costs.setdefault(name, []).append(await run())
        _print_costs(costs)
        print()
        print_table(
            ("PostgreSQL, a turn in storage", "statements", "round trips", "kB"), [["", *await wire_counts(postgres)]]
        )
        before = await size(postgres)
        together = [[str(number), f"{await several(postgres, number, count):,.0f}"] for number in processes]
        kept = (await size(postgres) - before) / (sum(processes) * count)
        print()
        print_table(("processes on one PostgreSQL", "turns a second"), together)
        leases = sorted(await take_over(postgres))
        print(f"\nanother process takes a released lease in {leases[len(leases) // 2]:.1f} ms, median")
        best = [min(getattr(each, field) for each in costs["a whole turn, PostgreSQL"]) for field in ("own", "server")]
        _print_reckoning(best[0] + discord, best[1], kept)
        print("load average {:.1f}, {:.1f}, {:.1f}".format(*os.getloadavg()))


def _print_costs(costs: dict[str, list[Cost]]) -> None:
    rows = []
    for name, taken in costs.items():
        wall, own, server = (min(getattr(each, field) for each in taken) for field in ("wall", "own", "server"))
        beside = costs[name.partition(",")[0] + ", SQLite"]
        ratios = wall / min(each.wall for each in beside), own / min(each.own for each in beside)
        rows.append([name, *(f"{figure:.1f}" for figure in (wall, own, server)), *(f"{each:.2f}" for each in ratios)])
    head = ("20 conversations at once", "ms a turn", "processor ms", "the server's", "against SQLite", "of processor")
    print_table(head, rows)


def _print_reckoning(node_ms: float, server_ms: float, kept: float) -> None:
    print(
        f"\nreckoned from {node_ms:.1f} ms of a node's processor time, {server_ms:.1f} ms of PostgreSQL's and "
        f"{kept / 1000:.1f} kB of its disk a turn"
    )
    rows = []
    for servers in SERVERS:
        turns, shards = servers / 3600, math.ceil(servers / 1000)
        starts = [math.ceil(shards / at_once) * IDENTIFY_S for at_once in (1, 16)]
        rows.append([
            f"{servers:,}", f"{turns:.1f}", f"{shards:,}", f"{turns * node_ms / 1000:.2f}",
            f"{turns * server_ms / 1000:.2f}", f"{servers * BUSY_HOURS * 365 * kept / 1e9:,.0f}",
            *(f"{each:.0f} s" if each < 120 else f"{each / 60:.0f} min" for each in starts),
        ])  # fmt: skip
    print_table(
        ("servers", "turns/s", "shards", "processors busy", "PostgreSQL's", "GB a year", "restart, 1 at once", "16"),
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--discord", type=float, default=6.0, help="milliseconds of processor time a turn")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    asyncio.run(
        worker(given.worker, given.turns) if given.worker else measure(given.turns, given.processes, given.discord)
    )


if __name__ == "__main__":
    main()

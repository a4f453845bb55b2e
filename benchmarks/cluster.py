"""What a turn costs in storage: SQLite and PostgreSQL side by side, and several processes on one PostgreSQL.

    python -m benchmarks.cluster [--turns 300] [--processes 1 2 4]

A turn is what the program does for one: keep the question, look up what the prompt needs, begin, keep a call with its
passages and the answer, mark it delivered. PostgreSQL is TEST_DATABASE_URL's, or one of its own from the wheel.
"""

import argparse
import asyncio
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from benchmarks.table import print_table
from domain.conversation import TurnState
from domain.leases import CURRENT_LEASE
from domain.tool_use import TokenUsage
from domain.usage import UsageRecord
from storage.opening import Storage, open_storage
from tests.postgres import a_database
from tests.storage.values import MIDNIGHT, a_book, a_conversation, a_question, an_answer, at, everything_said

HISTORY = 10
CONVERSATIONS = 20
TAKE_OVERS = 20


async def furnish(url: str) -> None:
    async with await open_storage(url) as storage:
        await storage.books.save(a_book())


async def turns(storage: Storage, count: int, name: str) -> float:
    """Hold so many turns, `CONVERSATIONS` at once; the seconds it took."""
    ids = [f"{name}-{number}" for number in range(CONVERSATIONS)]
    for each in ids:
        await storage.conversations.save(a_conversation(each))
    began = time.perf_counter()
    await asyncio.gather(*(_talk(storage, each, count // CONVERSATIONS) for each in ids))
    return time.perf_counter() - began


async def _talk(storage: Storage, conversation: str, count: int) -> None:
    for _ in range(count):
        await _turn(storage, conversation)


async def _turn(storage: Storage, conversation: str) -> None:
    question = a_question(uuid.uuid4().hex, conversation, author_id="ann", external_id=str(uuid.uuid4().int >> 66))
    await storage.conversations.get(conversation)
    await storage.messages.add_incoming(question)
    await storage.conversations.get(conversation)
    await storage.messages.get_recent(conversation, HISTORY)
    await storage.messages.list_people(conversation)
    turn = await storage.turns.begin(conversation, [question.id], MIDNIGHT)
    await storage.books.get("alice")
    await storage.turns.get_recent(conversation, HISTORY)
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


async def one_process(url: str, count: int, name: str, fenced: bool) -> float:
    async with await open_storage(url) as storage:
        if not fenced:
            return await turns(storage, count, name)
        assert storage.leases is not None
        token = CURRENT_LEASE.set(await storage.leases.acquire(f"shard/{name}", name, 600.0))
        try:
            return await turns(storage, count, name)
        finally:
            CURRENT_LEASE.reset(token)


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


async def measure(count: int, processes: Sequence[int]) -> None:
    rounds: dict[str, list[float]] = {"SQLite": [], "PostgreSQL": [], "PostgreSQL, fenced": []}
    with tempfile.TemporaryDirectory() as folder, a_database() as postgres:
        sqlite = f"sqlite:///{folder}/marginalia.db"
        for url in (sqlite, postgres):
            await furnish(url)
        for number in range(3):  # in turn, so that whatever else the machine does meets all of them
            measured: dict[str, Callable[[], Awaitable[float]]] = {
                "SQLite": lambda: one_process(sqlite, count, f"s{number}", False),  # noqa: B023
                "PostgreSQL": lambda: one_process(postgres, count, f"p{number}", False),  # noqa: B023
                "PostgreSQL, fenced": lambda: one_process(postgres, count, f"f{number}", True),  # noqa: B023
            }
            for name, run in measured.items():
                rounds[name].append(await run() / count * 1000)
        best = {name: min(taken) for name, taken in rounds.items()}
        print_table(
            ("one process, 20 conversations at once", "ms a turn", "against SQLite"),
            [[name, f"{ms:.1f}", f"{ms / best['SQLite']:.2f}"] for name, ms in best.items()],
        )
        together = [[str(number), f"{await several(postgres, number, count):,.0f}"] for number in processes]
        print()
        print_table(("processes on one PostgreSQL", "turns a second"), together)
        leases = sorted(await take_over(postgres))
        print(f"\na lease given back is taken in {leases[len(leases) // 2]:.1f} ms, median")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    asyncio.run(worker(given.worker, given.turns) if given.worker else measure(given.turns, given.processes))


if __name__ == "__main__":
    main()

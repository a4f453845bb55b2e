"""Many conversations answering at once in one process, over the real SDK, and books being added meanwhile.

    python -m benchmarks.load [--conversations 200] [--rounds 2] [--books 10]

Every answer takes two requests: one that calls search_book, one that cites. A gap is the delay of a task that
wants to run every 5 ms; busy is the processor time that the event loop's thread spent in such a while. Processor time
is this process's, with its threads: the double of the model has a process of its own.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from statistics import median

from benchmarks.heartbeat import Heartbeat
from benchmarks.model import ask, conversations, double, program
from benchmarks.table import percentile, print_memory, print_table, summary
from bot.app import App

FEW = 10
HEAD = (
    "", "answers", "lost", "a second", "processor ms each", "median ms", "p95 ms", "worst gap ms", "p99 gap ms",
    "worst busy ms",
)  # fmt: skip


class Load:
    """Asks, and remembers how long the answers took."""

    def __init__(self, app: App, talks: Sequence[str]) -> None:
        self._app = app
        self._talks = talks
        self.rows: list[list[str]] = []
        self._began = 0.0, 0.0

    def begin(self) -> None:
        """From here on counts what the next report tells."""
        self._began = time.perf_counter(), time.process_time()

    async def wave(self, count: int) -> list[float]:
        """Ask in that many conversations at once; milliseconds to each answer, infinite where there was none."""
        return list(await asyncio.gather(*(self._ask(talk) for talk in self._talks[:count])))

    async def _ask(self, talk: str) -> float:
        started = time.perf_counter()
        return (time.perf_counter() - started) * 1000 if await ask(self._app, talk) else float("inf")

    def report(self, name: str, milliseconds: Sequence[float], heart: Heartbeat) -> None:
        answered = [each for each in milliseconds if each != float("inf")]
        gaps = [f"{each:.1f}" for each in (heart.worst_ms, percentile(heart.gaps_ms, 0.99), max(heart.busy_ms))]
        lost = len(milliseconds) - len(answered)
        taken, worked = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        pace = [f"{len(answered) / taken:.0f}", f"{worked * 1000 / max(len(answered), 1):.1f}"]
        self.rows.append([name, str(len(answered)), str(lost), *pace, *summary(answered, 0), *gaps])


async def measure(many: int, rounds: int, books: int) -> None:
    async with double() as url, program(url) as app:
        load = Load(app, await conversations(app, max(many, FEW)))
        await load.wave(FEW)  # opens the connections
        load.begin()
        async with Heartbeat() as heart:
            alone = [each for _ in range(20) for each in await load.wave(1)]
        load.report("one at a time", alone, heart)
        load.begin()
        async with Heartbeat() as heart:
            quiet = [each for _ in range(10) for each in await load.wave(FEW)]
        load.report(f"{FEW} at once", quiet, heart)
        load.begin()
        async with Heartbeat() as heart:
            busy = await _while_books_are_added(load, app, books)
        load.report(f"{FEW} at once while {books} books are added", busy, heart)
        for number in range(rounds):
            load.begin()
            async with Heartbeat() as heart:
                crowd = await load.wave(many)
            load.report(f"{many} at once, round {number + 1}", crowd, heart)
    print_table(HEAD, load.rows)
    print(f"\nadding books delays the median answer by {median(busy) - median(quiet):.0f} ms")
    print_memory()


async def _while_books_are_added(load: Load, app: App, books: int) -> list[float]:
    adding = asyncio.gather(*(_add(app, number) for number in range(books)))
    milliseconds: list[float] = []
    while not adding.done():
        milliseconds += await load.wave(FEW)
    await adding
    return milliseconds


async def _add(app: App, number: int) -> None:
    words = f"CHAPTER {number}\n\n" + f"It was the {number}th book of the evening, and nobody had read it. " * 10_000
    await app.shelf.add(words.encode(), f"book-{number}.txt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--books", type=int, default=10)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.conversations, arguments.rounds, arguments.books))


if __name__ == "__main__":
    main()

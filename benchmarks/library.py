"""Searching: how long a query takes in a long book, and whether other books on the shelf make a difference.

    python -m benchmarks.library [--book TEXT] [--books 1000] [--rounds 10]

The long book has the length of War and Peace, some 5,000 passages; with --book it is a plain text of your own. The
questions are those of the sample novel, of whose sentences the books are made. The many are short books in one folder,
each with a file of its own; the ratio compares the searches of one and the same book in a folder by itself with those
in the full folder, asked in turns. "each in turn" is the first search in a book whose file has to be opened. The times
are what a tool call waits; with the processor time, which other work on the machine changes less.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from statistics import median

from benchmarks.prose import book
from benchmarks.table import print_memory, print_table, summary
from bot.parsers.text.parser import read_plain
from domain.book import Book
from domain.ports import BookView
from storage.book_files.files import SQLiteBookFiles

LONG = 3_200_000
SHORT = 20_000
DISTINCT = 20
"""Short books that differ; the others are copies of their files under names of their own."""

TOP_K = 5


class Shelf:
    """A folder of indexed books."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = SQLiteBookFiles(folder)

    async def add(self, text: str) -> str:
        """The key of a book that is there from now on."""
        key = sha256(text.encode()).hexdigest()
        await self._files.write(key, read_plain(text))
        return key

    def copy(self, key: str, number: int) -> str:
        copied = sha256(f"{key} {number}".encode()).hexdigest()
        (self._folder / f"{copied}.book").write_bytes((self._folder / f"{key}.book").read_bytes())
        return copied

    async def view(self, key: str) -> BookView:
        made = Book(key, "bench", key, "Bench", "", "txt", 1, 1, 1, LONG * 10, datetime.now(UTC))
        return (await self._files.open(made)).view(made.length)

    async def close(self) -> None:
        await self._files.close()


class Times:
    """Milliseconds of searches, and of the processor's work on them."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        self.worked: list[float] = []

    async def search(self, view: BookView, question: str) -> None:
        started, before = time.perf_counter(), time.process_time()
        await view.search([question], TOP_K)
        self.waited.append((time.perf_counter() - started) * 1_000)
        self.worked.append((time.process_time() - before) * 1_000)

    def row(self, name: str) -> list[str]:
        return [name, str(len(self.waited)), *summary(self.waited, 2), *summary(self.worked, 2)]


async def measure(text: str, books: int, rounds: int) -> None:
    questions = _questions()
    with tempfile.TemporaryDirectory() as folder:
        alone, full = Shelf(Path(folder) / "alone"), Shelf(Path(folder) / "full")
        long = await _in_a_long_book(alone, text, questions, rounds)
        keys = await _fill(full, books)
        by_itself, among_many = await _compare(alone, full, questions, rounds)
        each = Times()
        for number, key in enumerate(random.Random(1).sample(keys, len(keys))):
            await each.search(await full.view(key), questions[number % len(questions)])
        await alone.close()
        await full.close()
    rows = [
        long.row(f"a book of {len(text.split()):,} words"),
        by_itself.row("a short book, alone"),
        among_many.row(f"the same among {books:,}"),
        each.row("each of them in turn"),
    ]
    print_table(("", "searches", "median ms", "p95 ms", "processor ms", "p95"), rows)
    ratios = [
        median(among_many.waited) / median(by_itself.waited),
        median(among_many.worked) / median(by_itself.worked),
    ]
    print(
        f"\nwith {books:,} books a search takes {ratios[0]:.2f} times as long; of processor time, {ratios[1]:.2f} times"
    )
    print_memory()


def _questions() -> list[str]:
    lines = (files("bot.sample") / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines]


async def _in_a_long_book(shelf: Shelf, text: str, questions: Sequence[str], rounds: int) -> Times:
    view, times = await shelf.view(await shelf.add(text)), Times()
    for question in questions:
        await view.search([question], TOP_K)
    for _ in range(rounds):
        for question in questions:
            await times.search(view, question)
    return times


async def _fill(shelf: Shelf, books: int) -> list[str]:
    keys = [await shelf.add(book(SHORT, seed)) for seed in range(1, min(books, DISTINCT) + 1)]
    copies = await asyncio.to_thread(
        lambda: [shelf.copy(keys[number % len(keys)], number) for number in range(len(keys), books)]
    )
    return [*keys, *copies]


async def _compare(alone: Shelf, full: Shelf, questions: Sequence[str], rounds: int) -> tuple[Times, Times]:
    key = await alone.add(book(SHORT, 1))
    views, times = [await alone.view(key), await full.view(key)], (Times(), Times())
    for _ in range(rounds + 1):
        for question in questions:
            for view, measured in zip(views, times, strict=True):
                await measured.search(view, question)
    for measured in times:
        del measured.waited[: len(questions)], measured.worked[: len(questions)]
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--book", type=Path, help="a plain text to search, in UTF-8")
    parser.add_argument("--characters", type=int, default=LONG, help="of the long book, where none is given")
    parser.add_argument("--books", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    text = options.book.read_text(encoding="utf-8") if options.book else book(options.characters)
    asyncio.run(measure(text, options.books, options.rounds))


if __name__ == "__main__":
    main()

"""Whether a server can tell by the time that adding a book takes that another server has the file already.

    python -m benchmarks.same_file [--books 20] [--characters 400000]

For each size, books that nobody has and books that another shelf has are added to one shelf in turns. AUC is how often
the one takes longer than the other: 0.5 is what guessing comes to.
"""

import argparse
import asyncio
import random
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.prose import book
from bot.app import App, open_app
from bot.settings import Settings

SIZES = (50_000, 400_000)


async def main(books: int, sizes: tuple[int, ...]) -> None:
    with TemporaryDirectory() as folder:
        settings = Settings(_env_file=None, data_dir=Path(folder), llm_provider="extractive")  # type: ignore[call-arg]
        async with open_app(settings) as app:
            for characters in sizes:
                await _compare(app, books, characters)


async def _compare(app: App, books: int, characters: int) -> None:
    held: list[float] = []
    fresh: list[float] = []
    for number in range(books):
        known, new = (book(characters, 2 * number + kind).encode() for kind in (0, 1))
        await app.shelf.add(known, "book.txt", shelf="theirs")
        pair = [(known, held), (new, fresh)]
        random.shuffle(pair)
        for data, times in pair:
            started = time.perf_counter()
            added = await app.shelf.add(data, "book.txt", shelf="ours")
            times.append((time.perf_counter() - started) * 1_000)
            assert added.is_new
    print(f"{characters:,} characters, {books} books each:")
    for name, times in (("another server has it", held), ("nobody has it", fresh)):
        tenths = statistics.quantiles(times, n=10)
        print(f"  {name:24} {tenths[0]:7.0f} {statistics.median(times):7.0f} {tenths[-1]:7.0f} ms (p10, median, p90)")
    longer = sum((a > b) + (a == b) / 2 for a in held for b in fresh) / (len(held) * len(fresh))
    print(f"  AUC {longer:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--books", type=int, default=20)
    parser.add_argument("--characters", type=int, action="append")
    given = parser.parse_args()
    asyncio.run(main(given.books, tuple(given.characters or SIZES)))

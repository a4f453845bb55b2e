"""Adding a book: from the file to searchable, as whoever adds it waits for it.

    python -m benchmarks.reading [FILE ...] [--megabytes 3] [--rounds 7]

Without files, a book is made of the sample novel's sentences, so long as War and Peace, as TXT and EPUB, and a third
of it as PDF. Every book is added to an empty shelf: read in a worker process, indexed in another, written to disk.
"MB" is text in UTF-8, "MB/s" the same by second; "start" is what an almost empty file of the same format takes, the
processes' start for the most part, "without it" the speed with that taken off. "index" is the book file's bytes by byte
of text. The last two columns, of PDFs, are speeds as a share of pypdfium2's when it extracts the text by itself: of our
reader alone, and of all that there is to do, the processes' start taken off; in processor time, at the best of all
rounds.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import wrap

import pypdfium2  # type: ignore[import-untyped]

from benchmarks.prose import book, chapters
from benchmarks.table import print_memory, print_table, summary
from bot.app import open_app
from bot.parsers.draft import DEFAULT_LIMITS
from bot.parsers.formats import read_book
from bot.settings import load_settings
from tests.bot.parsers.builders import epub, pdf

MEGA = 1_000_000
HEAD = ("", "MB", "median s", "p95 s", "processor s", "MB/s", "start s", "MB/s without it", "index", "read", "added")
LINES_OF_A_PAGE = 36
COLUMNS = 78


@dataclass(frozen=True, slots=True)
class Added:
    """A book that was added: what it took in seconds, its text and its file in bytes."""

    seconds: float
    processor: float
    text: int
    index: int


async def measure(files: Sequence[tuple[str, bytes]], rounds: int) -> None:
    rows = []
    for name, data in files:
        added = [await _add(name, data) for _ in range(rounds)]
        starts = [await _add(name, tiny(Path(name).suffix)) for _ in range(rounds)]
        shares = _shares(data, added, starts, rounds) if name.endswith(".pdf") else ["", ""]
        rows.append([name, *_row(added, starts), *shares])
    print_table(HEAD, rows)
    print_memory()


async def _add(name: str, data: bytes) -> Added:
    """Add a book to an empty shelf."""
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(_env_file=None, data_dir=Path(folder), llm_provider="extractive")
        async with open_app(settings) as app:
            before, started = _processor_seconds(), time.perf_counter()
            made = (await app.shelf.add(data, name)).book
            seconds, processor = time.perf_counter() - started, _processor_seconds() - before
            text = await (await app.shelf.open(made)).text()
            [index] = (Path(folder) / "books").glob("*.book")
            return Added(seconds, processor, len(text.encode()), index.stat().st_size)


def _processor_seconds() -> float:
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def _shares(data: bytes, added: Sequence[Added], starts: Sequence[Added], rounds: int) -> list[str]:
    """The speed of our reader, and of adding a book, as shares of pypdfium2's."""
    extracting, reading = [], []
    for _ in range(rounds):
        extracting.append(_processor_time(lambda: _extract(data)))
        reading.append(_processor_time(lambda: read_book(data, "made.pdf", limits=DEFAULT_LIMITS)))
    adding = min(each.processor for each in added) - min(each.processor for each in starts)
    return [f"{100 * min(extracting) / max(taken, 0.001):.0f} %" for taken in (min(reading), adding)]


def _processor_time(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _extract(data: bytes) -> None:
    """The text of all pages, as pypdfium2 gives it."""
    document = pypdfium2.PdfDocument(data)
    for number in range(len(document)):
        page = document[number]
        text = page.get_textpage()
        text.get_text_range()
        text.close()
        page.close()
    document.close()


def _row(added: Sequence[Added], starts: Sequence[Added]) -> list[str]:
    size = added[0].text / MEGA
    seconds, start = median(each.seconds for each in added), median(each.seconds for each in starts)
    return [
        f"{size:.2f}",
        *summary([each.seconds for each in added], digits=2),
        f"{median(each.processor for each in added):.2f}",
        f"{size / seconds:.1f}",
        f"{start:.2f}",
        f"{size / max(seconds - start, 0.001):.1f}",
        f"{added[0].index / added[0].text:.2f}",
    ]


def made_books(characters: int) -> list[tuple[str, bytes]]:
    """The same kind of book in three formats."""
    return [
        ("made.txt", book(characters).encode()),
        ("made.epub", _epub(chapters(characters))),
        ("made.pdf", _pdf(chapters(characters // 3))),
    ]


def tiny(suffix: str) -> bytes:
    """A book of a few words, in the format of a file with this suffix."""
    text = "It was a short book, and it ended well."
    return {".epub": _epub([text]), ".pdf": _pdf([text])}.get(suffix, text.encode())


def _epub(texts: Sequence[str]) -> bytes:
    files = {}
    for number, text in enumerate(texts, start=1):
        paragraphs = "".join(f"<p>{_escaped(each)}</p>" for each in text.split("\n\n") if each)
        files[f"chapter{number}.xhtml"] = f"<h1>Chapter {number}</h1>{paragraphs}"
    return epub(files)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _pdf(texts: Sequence[str]) -> bytes:
    lines = [line for text in texts for line in wrap(text.encode("ascii", "ignore").decode(), COLUMNS)]
    return pdf([lines[at : at + LINES_OF_A_PAGE] for at in range(0, len(lines), LINES_OF_A_PAGE)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--megabytes", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    files = [(path.name, path.read_bytes()) for path in options.files] or made_books(round(options.megabytes * MEGA))
    asyncio.run(measure(files, options.rounds))


if __name__ == "__main__":
    main()

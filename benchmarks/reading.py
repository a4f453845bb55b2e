"""Adding a book: from the file to searchable, as whoever adds it waits for it.

    python -m benchmarks.reading [FILE ...] [--megabytes 3] [--rounds 3]

Without files, a book is made of the sample novel's sentences, so long as War and Peace, as TXT and EPUB, and a third
of it as PDF. Every book is added to an empty shelf: read in a worker process, indexed in another, written to disk.
"MB/s" is text in UTF-8 by second, "start" what an almost empty file of the same format takes, the processes' start for
the most part; "without it" the speed with that taken off. "index" is the book file's bytes by byte of text. The last
column, of PDFs, compares with the time pypdfium2 takes to extract the text by itself; at the best of all rounds.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import wrap

import pypdfium2  # type: ignore[import-untyped]

from benchmarks.prose import book, chapters
from benchmarks.table import print_memory, print_table
from bot.app import open_app
from bot.settings import load_settings
from tests.bot.readers.builders import epub, pdf

MEGA = 1_000_000
HEAD = ("", "MB of text", "seconds", "processor s", "MB/s", "start s", "MB/s without it", "index", "of pypdfium2's")
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
        extracted = [_extract(data) for _ in range(rounds)] if name.endswith(".pdf") else []
        rows.append(_row(name, added, starts, extracted))
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


def _extract(data: bytes) -> float:
    """Seconds that pypdfium2 takes for the text of all pages."""
    started = time.perf_counter()
    document = pypdfium2.PdfDocument(data)
    for number in range(len(document)):
        page = document[number]
        text = page.get_textpage()
        text.get_text_range()
        text.close()
        page.close()
    document.close()
    return time.perf_counter() - started


def _row(name: str, added: Sequence[Added], starts: Sequence[Added], extracted: Sequence[float]) -> list[str]:
    size = added[0].text / MEGA
    seconds, start = median(each.seconds for each in added), median(each.seconds for each in starts)
    quickest = min(each.seconds for each in added) - min(each.seconds for each in starts)
    return [
        name,
        f"{size:.2f}",
        f"{seconds:.2f}",
        f"{median(each.processor for each in added):.2f}",
        f"{size / seconds:.1f}",
        f"{start:.2f}",
        f"{size / max(seconds - start, 0.001):.1f}",
        f"{added[0].index / added[0].text:.2f}",
        f"{100 * min(extracted) / quickest:.0f} %" if extracted else "",
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
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    files = [(path.name, path.read_bytes()) for path in options.files] or made_books(round(options.megabytes * MEGA))
    asyncio.run(measure(files, options.rounds))


if __name__ == "__main__":
    main()

"""A process that indexes one book and ends: work for a processor, kept away from the interpreter that answers people.

It is given a line of JSON, then the text, on standard input. On standard output it says in lines of JSON how far it has
come, a number from 0 to 1, or an object with the error that keeps the book from being written. Exit code 0 means that
the book is there.
"""

import gc
import json
import os
import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from domain.book import BookText, Chapter, Page
from storage.book_files.format import decode_text, encode_text
from storage.book_files.halves import index_in_halves
from storage.book_files.writer import book_bytes, write_whole

_NICENESS = 10
_MOST_MEMORY = 2 * 2**30
"""Bytes. The longest book a reader makes has 20 million characters, and takes a quarter of it."""

_PIECE = 32_768
"""Characters encoded at a time: a moment's work."""


def encode_task(path: Path, book: BookText) -> Iterator[bytes]:
    """What the process is to be given, in pieces."""
    task = {
        "path": str(path.absolute()),
        "pages": [[page.number, page.label, page.start, page.end] for page in book.pages],
        "chapters": [[item.number, item.title, item.start, item.end, item.level] for item in book.chapters],
        "format": book.format,
        "language": book.language,
        "pages_estimated": book.pages_estimated,
    }
    yield json.dumps(task).encode() + b"\n"
    for start in range(0, len(book.text), _PIECE):
        yield encode_text(book.text[start : start + _PIECE])


def main() -> None:
    """Index the book on standard input."""
    os.nice(_NICENESS)
    gc.disable()  # nothing here goes in circles, and there is much to look through
    with suppress(ValueError, OSError):  # not every system knows this bound
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    path, book = _read_task()
    try:
        write_whole(path, book_bytes(book, index_in_halves(book, _say)))
    except (OSError, sqlite3.Error, MemoryError) as error:
        _say({"error": str(error) or "not enough memory"})
        sys.exit(1)
    os._exit(0)  # at once: giving back the memory piece by piece takes longer than writing the file


def _read_task() -> tuple[Path, BookText]:
    task = json.loads(sys.stdin.buffer.readline())
    book = BookText(
        text=decode_text(sys.stdin.buffer.read()),
        pages=tuple(Page(*page) for page in task["pages"]),
        chapters=tuple(Chapter(*chapter) for chapter in task["chapters"]),
        format=task["format"],
        language=task["language"],
        pages_estimated=task["pages_estimated"],
    )
    return Path(task["path"]), book


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()

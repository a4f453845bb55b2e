"""Writing a book file: all of it or nothing."""

import fcntl
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from domain.book import BookText
from domain.errors import StorageError, StorageErrorCode
from domain.library.search.index import MemoryIndex, index_book
from storage.book_files.format import CHUNK, LAYOUT_COLUMNS, SCHEMA, encode_numbers, encode_text
from storage.book_files.word_rows import encode_rows

_UNFINISHED = ".part"


def write_book(path: Path, book: BookText, report: Callable[[float], None]) -> None:
    """Index a book and write its file; `report` is told the done share of the indexing, 0..1."""
    write_whole(path, book_bytes(book, lambda: index_book(book, report)))


def book_bytes(book: BookText, indexed: Callable[[], MemoryIndex]) -> bytes:
    """The contents of a book's file. Its index is asked for when it is needed, as it may still be in the making."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        _insert_text(db, book)
        index = indexed()
        _insert_places(db, index)
        db.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", encode_rows(index))
        db.commit()
        return db.serialize()


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in place in one step, so that it is there with all its contents or not at all."""
    with _unfinished_file(path) as (descriptor, unfinished):
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(descriptor)
        unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_failed(reason: str) -> StorageError:
    """What to tell whoever added the book when the disk has refused it."""
    message = f"The book could not be written to the disk ({reason}); check that there is room and try again."
    return StorageError(StorageErrorCode.WRITE_FAILED, message)


def sweep(folder: Path) -> None:
    """Remove what writers left behind who were killed; writers at work hold a lock on their file."""
    for leftover in folder.glob(f"*{_UNFINISHED}"):
        with leftover.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            leftover.unlink(missing_ok=True)


@contextmanager
def _unfinished_file(path: Path) -> Iterator[tuple[int, Path]]:
    descriptor, name = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=_UNFINISHED, dir=path.parent)
    unfinished = Path(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor, unfinished
    finally:
        unfinished.unlink(missing_ok=True)
        os.close(descriptor)


def _insert_text(db: sqlite3.Connection, book: BookText) -> None:
    facts = {"length": len(book.text), "pages_estimated": int(book.pages_estimated)}
    db.executemany("INSERT INTO about VALUES (?, ?)", facts.items())
    chunks = (encode_text(book.text[start : start + CHUNK]) for start in range(0, len(book.text), CHUNK))
    db.executemany("INSERT INTO text VALUES (?, ?)", enumerate(chunks))
    db.executemany(
        "INSERT INTO pages VALUES (?, ?, ?, ?)",
        ((page.number, encode_text(page.label), page.start, page.end) for page in book.pages),
    )
    db.executemany(
        "INSERT INTO chapters (number, title, start, end, level) VALUES (?, ?, ?, ?, ?)",
        ((item.number, encode_text(item.title), item.start, item.end, item.level) for item in book.chapters),
    )


def _insert_places(db: sqlite3.Connection, index: MemoryIndex) -> None:
    columns = ((name, encode_numbers(getattr(index.layout, name))) for name in LAYOUT_COLUMNS)
    db.executemany("INSERT INTO places VALUES (?, ?)", columns)

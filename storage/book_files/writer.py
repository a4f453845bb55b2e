"""Writing a book file: all of it or nothing."""

import fcntl
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

from domain.book import BookText, Chapter, Page
from domain.errors import StorageError, StorageErrorCode, Worded
from domain.library.search.index import MemoryIndex, index_book, written_forms
from domain.library.search.languages import book_language
from domain.library.search.layout import BookLayout
from domain.library.search.words import words_of_each
from storage.book_files.format import (
    ALL_ROWS,
    CHUNK,
    LAYOUT_COLUMNS,
    SCHEMA,
    WordRow,
    decode_text,
    encode_numbers,
    encode_rows,
    encode_stems,
    encode_text,
    find_analyzer,
)

_UNFINISHED = ".part"

DAMAGE = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError)
"""Errors that reading corrupted bytes may cause: SQLite reports a corrupted length as MemoryError."""


def write_book(path: Path, book: BookText, report: Callable[[float], None]) -> None:
    """Index a book and write its file; `report` receives the progress of the indexing, 0..1."""
    write_whole(path, book_bytes(book, lambda: index_book(book, report)))


def book_bytes(book: BookText, indexed: Callable[[], MemoryIndex]) -> bytes:
    """The contents of a book's file. `index` is called as late as possible, because it may still be computing."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        language = book_language(book)
        _insert_text(db, book, language)
        index, analyzer = indexed(), find_analyzer(language)
        _insert_places(db, index)
        db.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", encode_rows(index, analyzer))
        found = index.spellings(analyzer) or written_forms(book.readings)
        spellings = ((encode_text(each), encode_stems(stems)) for each, stems in found)
        db.executemany("INSERT INTO spellings VALUES (?, ?)", spellings)
        db.commit()
        return db.serialize()


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in place in one step, so that it is there completely or not at all."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """As `write_whole`, as the pieces come; if they end in an error, nothing is left behind."""
    with _unfinished_file(path) as (descriptor, unfinished):
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            for piece in pieces:
                file.write(piece)
        os.fsync(descriptor)
        unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_failed(reason: str) -> StorageError:
    """The error for the person who added the book, when the disk refused it."""
    message = Worded(
        "The book could not be written to the disk ({reason}); check that there is room and try again.",
        reason=reason,
    )
    return StorageError(StorageErrorCode.WRITE_FAILED, message)


def reason_of(error: Exception) -> str:
    """What the system says of an error, without its number and the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or "not enough memory"


def sweep(folder: Path) -> None:
    """Remove the temporary files of killed writers; running writers hold a lock on theirs."""
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


def _insert_text(db: sqlite3.Connection, book: BookText, language: str) -> None:
    facts = {"length": len(book.text), "pages_estimated": int(book.pages_estimated), "language": language}
    db.executemany("INSERT INTO about VALUES (?, ?)", facts.items())
    chunks = (encode_text(book.text[start : start + CHUNK]) for start in range(0, len(book.text), CHUNK))
    db.executemany("INSERT INTO text VALUES (?, ?)", enumerate(chunks))
    db.executemany(
        "INSERT INTO pages VALUES (?, ?, ?, ?)",
        ((page.number, encode_text(page.label), page.start, page.end) for page in book.pages),
    )
    db.executemany(
        "INSERT INTO chapters (number, title, start, end, level, printed, parent) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                item.number,
                encode_text(item.title),
                item.start,
                item.end,
                item.level,
                encode_text(item.printed),
                encode_text(item.parent),
            )
            for item in book.chapters
        ),
    )


def _insert_places(db: sqlite3.Connection, index: MemoryIndex) -> None:
    columns = ((name, encode_numbers(getattr(index.layout, name))) for name in LAYOUT_COLUMNS)
    db.executemany("INSERT INTO places VALUES (?, ?)", columns)


def is_laid_out(layout: BookLayout) -> bool:
    """Whether pages and chapters are in order and within the text; fast, even for a long book."""
    return (
        len(layout.starts) == len(layout.ends) == len(layout.words) - 1 == layout.runs[-1]
        and layout.runs[0] == layout.words[0] == 0
        and all(left <= right for left, right in pairwise(layout.runs))
        and _follow_each_other(layout.pages, layout.length)
        and _follow_each_other(layout.chapters, layout.length)
        and (not layout.pages or layout.pages[-1].end == layout.length)
    )


def is_sound(db: sqlite3.Connection, layout: BookLayout) -> bool:
    """Read the whole file. Letters that were replaced by other letters go unnoticed."""
    try:
        whole = db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return whole and _fits_together(layout) and _has_text(db, layout) and _has_words(db, layout)
    except DAMAGE:
        return False


def _follow_each_other(items: Sequence[Page] | Sequence[Chapter], length: int) -> bool:
    edges = [0, *(edge for item in items for edge in (item.start, item.end)), length]
    return all(type(edge) is int for edge in edges) and edges == sorted(edges)


def _fits_together(layout: BookLayout) -> bool:
    starts, ends, words = layout.starts, layout.ends, layout.words
    return (
        is_laid_out(layout)
        and all(start < end for start, end in zip(starts, ends, strict=True))
        and all(end <= start for end, start in zip(ends, starts[1:], strict=False))
        and max(ends, default=0) <= layout.length
        and all(left <= right for left, right in pairwise(words))
        and bool(layout.pages)
    )


def _has_text(db: sqlite3.Connection, layout: BookLayout) -> bool:
    """Whether all of the text is there, and its sentences have the recorded numbers of words."""
    text = "".join(decode_text(content) for (content,) in db.execute("SELECT content FROM text ORDER BY chunk"))
    sentences = [text[start:end] for start, end in zip(layout.starts, layout.ends, strict=True)]
    counts = map(len, words_of_each(sentences))
    return len(text) == layout.length and all(
        count == after - before for count, (before, after) in zip(counts, pairwise(layout.words), strict=True)
    )


def _has_words(db: sqlite3.Connection, layout: BookLayout) -> bool:
    """Whether every word of the book has its place."""
    found, last = 0, ""
    for columns in db.execute(ALL_ROWS):
        row = WordRow.decode(*columns)
        stems = [last, *row.stems]
        if max(row.positions) >= layout.word_count or stems != sorted(stems):
            return False
        found, last = found + len(row.positions), stems[-1]
    return found == layout.word_count

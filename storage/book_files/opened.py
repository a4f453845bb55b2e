"""An opened book file: its layout in memory, its text and words read as they are needed."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from domain.book import Chapter, Page
from domain.errors import BookError, BookErrorCode
from domain.library.search.index import WordForm
from domain.library.search.layout import Layout, Windows
from storage.book_files.format import (
    APPLICATION_ID,
    CHUNK,
    FORMAT_VERSION,
    LAYOUT_COLUMNS,
    decode_numbers,
    decode_text,
    encode_text,
)
from storage.book_files.soundness import DAMAGE, is_laid_out, is_sound
from storage.book_files.word_rows import FIND_ROW, WordRow


class OpenedFile:
    """A connection to one book file, shared by threads: SQLite's part of a search takes a fraction of a millisecond."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            BookError: INVALID_STATE, it is missing, damaged or of another version of the program.
        """
        self._lock = Lock()
        self._db = _connect(path)
        try:
            _check_version(self._db)
            self.layout = _read_layout(self._db)
            self.estimated = bool(_about(self._db, "pages_estimated"))
            if not is_laid_out(self.layout):
                raise unreadable()
        except DAMAGE as error:
            self.close()
            raise unreadable() from error
        except BookError:
            self.close()
            raise

    def is_sound(self) -> bool:
        """Whether all of it can be read and fits together; takes a moment."""
        with self._lock:
            return is_sound(self._db, self.layout)

    def forms(self, stem: str) -> list[WordForm]:
        """
        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        with _damage_translated():
            rows = self._rows(FIND_ROW, encode_text(stem))
            return [form for row in rows for form in WordRow.decode(*row).forms_of(stem)]

    def read(self, start: int, end: int) -> str:
        """
        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        if start >= end:
            return ""
        first = start // CHUNK
        with _damage_translated():
            rows = self._rows(
                "SELECT content FROM text WHERE chunk BETWEEN ? AND ? ORDER BY chunk", first, (end - 1) // CHUNK
            )
            text = "".join(decode_text(content) for (content,) in rows)[start - first * CHUNK : end - first * CHUNK]
        if len(text) < min(end, self.layout.length) - start:
            raise unreadable()
        return text

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _rows(self, query: str, *values: object) -> list[tuple[bytes, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()


@contextmanager
def _damage_translated() -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        raise unreadable() from error


def _connect(path: Path) -> sqlite3.Connection:
    """Immutable, because the file never changes: no locks are taken and no journal is looked for."""
    try:
        return sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise missing() from error


def missing() -> BookError:
    return _cannot_be_read("is gone from the disk")


def unreadable() -> BookError:
    return _cannot_be_read("is damaged")


def _cannot_be_read(why: str) -> BookError:
    message = f"The file of this book {why}; please add it again, and its conversations go on."
    return BookError(BookErrorCode.INVALID_STATE, message)


def _check_version(db: sqlite3.Connection) -> None:
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application != APPLICATION_ID:
        raise unreadable()
    if version != FORMAT_VERSION:
        raise _cannot_be_read("was made by another version of the program")


def _about(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()[0])


def _read_layout(db: sqlite3.Connection) -> Layout:
    columns = {name: decode_numbers(numbers) for name, numbers in db.execute("SELECT name, numbers FROM places")}
    pages = db.execute('SELECT number, label, start, "end" FROM pages ORDER BY number')
    chapters = db.execute('SELECT number, title, start, "end", level FROM chapters ORDER BY position')
    starts, ends, words, runs = (columns[name] for name in LAYOUT_COLUMNS)
    return Layout(
        length=_about(db, "length"),
        pages=tuple(Page(number, decode_text(label), start, end) for number, label, start, end in pages),
        chapters=tuple(Chapter(number, decode_text(title), *rest) for number, title, *rest in chapters),
        starts=starts,
        ends=ends,
        words=words,
        runs=runs,
        windows=Windows(words, runs),
    )

"""Books on shelves, and what their conversations are called, in SQL."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.book import Book, DerivedText, ShelfLimits
from domain.conversation import ConversationNames
from domain.errors import BookError, BookErrorCode, Worded
from storage.sql.database import Database, Row, Transaction
from storage.sql.people import SerialTransactions
from storage.sql.rows import (
    entities,
    entity,
    listed,
    optional_time_from_text,
    optional_time_to_text,
    time_from_text,
    time_to_text,
    upsert,
)

_COLUMNS = (
    "id", "shelf", "sha256", "title", "author", "format", "page_count", "chapter_count", "word_count", "length",
    "created_at", "pages_estimated", "added_by", "filename", "removed_at", "removed_by",
)  # fmt: skip
_UPSERT = upsert("books", _COLUMNS)
_SELECT = f"SELECT {listed(_COLUMNS)} FROM books"  # noqa: S608
_OTHERS = """
SELECT count(*) AS books, coalesce(sum(length), 0) AS length FROM books
WHERE shelf = ? AND removed_at IS NULL AND id <> ?
"""
_NEWEST_FIRST = "ORDER BY created_at DESC, rowid DESC"


class SQLBooks:
    """BookRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._serial = SerialTransactions(database)

    async def save(self, book: Book, limits: ShelfLimits | None = None) -> None:
        async def put(transaction: Transaction) -> None:
            twins = await transaction.run(
                "SELECT title FROM books WHERE shelf = ? AND sha256 = ? AND id <> ?", [book.shelf, book.sha256, book.id]
            )
            if twins:
                message = Worded("This file is on the shelf already: {title}.", title=twins[0]["title"])
                raise BookError(BookErrorCode.ALREADY_EXISTS, message)
            if limits is not None:
                [others] = await transaction.run(_OTHERS, [book.shelf, book.id])
                limits.assert_room(others["books"], others["length"], book.length)
            await transaction.run(_UPSERT, _row(book))

        if limits is None:
            await self._database.atomically(put)
        else:
            await self._serial.run(f"shelf {book.shelf}", put)

    async def get(self, book_id: str) -> Book | None:
        return entity(_book, await self._database.read_one(f"{_SELECT} WHERE id = ? AND removed_at IS NULL", [book_id]))

    async def get_by_hash(self, shelf: str, sha256: str) -> Book | None:
        return entity(
            _book,
            await self._database.read_one(f"{_SELECT} WHERE shelf = ? AND sha256 = ?", [shelf, sha256]),
        )

    async def list(self, shelf: str | None = None) -> Sequence[Book]:
        if shelf is None:
            rows = await self._database.read(f"{_SELECT} WHERE removed_at IS NULL {_NEWEST_FIRST}")
        else:
            sql = f"{_SELECT} WHERE shelf = ? AND removed_at IS NULL {_NEWEST_FIRST}"
            rows = await self._database.read(sql, [shelf])
        return await entities(_book, rows)

    async def list_removed(self, shelf: str | None = None) -> Sequence[Book]:
        on_shelf, parameters = ("", []) if shelf is None else ("AND shelf = ?", [shelf])
        sql = f"{_SELECT} WHERE removed_at IS NOT NULL {on_shelf} ORDER BY removed_at DESC, rowid DESC"
        return await entities(_book, await self._database.read(sql, parameters))

    async def count_by_hash(self, sha256: str, *, unlike: str = "") -> int:
        sql = "SELECT count(*) AS shelves FROM books WHERE sha256 = ? AND format <> ?"
        return int((await self._database.read(sql, [sha256, unlike]))[0]["shelves"])

    async def delete(self, book_id: str) -> None:
        await self._database.write("DELETE FROM books WHERE id = ?", [book_id])
        await self._database.forget_deleted()


def _row(book: Book) -> tuple[str | int | None, ...]:
    return (
        book.id, book.shelf, book.sha256, book.title, book.author, book.format, book.page_count, book.chapter_count,
        book.word_count, book.length, time_to_text(book.created_at), book.pages_estimated, book.added_by,
        book.filename, optional_time_to_text(book.removed_at), book.removed_by,
    )  # fmt: skip


def _book(row: Row) -> Book:
    values = dict(row)
    return Book(
        **values
        | {
            "created_at": time_from_text(values["created_at"]),
            "pages_estimated": bool(values["pages_estimated"]),
            "removed_at": optional_time_from_text(values["removed_at"]),
        }
    )


_TEXT_COLUMNS = ("book_id", "kind", "key", "depends_to", "text", "model", "created_at")
_TEXT_UPSERT = upsert("derived_texts", _TEXT_COLUMNS, key=("book_id", "kind", "key", "depends_to"))

_WITHIN_BOUND = """
SELECT * FROM derived_texts WHERE book_id = ? AND kind = ? AND key = ? AND depends_to <= ?
ORDER BY depends_to DESC LIMIT 1
"""


class SQLDerivedTexts:
    """DerivedTextRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, book_id: str, kind: str, key: str, read_to: int) -> DerivedText | None:
        return entity(_derived_text, await self._database.read_one(_WITHIN_BOUND, [book_id, kind, key, read_to]))

    async def put(self, text: DerivedText) -> None:
        await self._database.write(
            _TEXT_UPSERT,
            [
                text.book_id,
                text.kind,
                text.key,
                text.depends_to,
                text.text,
                text.model,
                time_to_text(text.created_at),
            ],
        )


def _derived_text(row: Row) -> DerivedText:
    values = dict(row)
    return DerivedText(**values | {"created_at": time_from_text(values["created_at"])})


_OBJECT_COLUMNS = ("sha256", "digest", "size", "stored_at")
_OBJECT_UPSERT = upsert("book_objects", _OBJECT_COLUMNS, key=("sha256",))
_SELECT_OBJECT = f"SELECT {listed(_OBJECT_COLUMNS)} FROM book_objects"  # noqa: S608


@dataclass(frozen=True, slots=True)
class BookObject:
    """A book file in the object store: the book's hash, and the file's SHA-256 and length."""

    sha256: str
    digest: str
    size: int
    stored_at: datetime


class SQLBookObjects:
    """What is known about the book files in the object store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, sha256: str) -> BookObject | None:
        return entity(_object, await self._database.read_one(f"{_SELECT_OBJECT} WHERE sha256 = ?", [sha256]))

    async def put(self, book: BookObject) -> None:
        """Insert or update."""
        await self._database.write(_OBJECT_UPSERT, [book.sha256, book.digest, book.size, time_to_text(book.stored_at)])

    async def delete(self, sha256: str) -> None:
        """Delete; unknown ones are ignored."""
        await self._database.write("DELETE FROM book_objects WHERE sha256 = ?", [sha256])

    async def list_before(self, moment: datetime) -> Sequence[str]:
        """The hashes of the books that were stored before that time."""
        rows = await self._database.read("SELECT sha256 FROM book_objects WHERE stored_at < ?", [time_to_text(moment)])
        return [row["sha256"] for row in rows]


def _object(row: Row) -> BookObject:
    values = dict(row)
    return BookObject(**values | {"stored_at": time_from_text(values["stored_at"])})


# A book's own title never changes; and a conversation that is gone, or bound elsewhere, is counted no more.
_ON_SHELF = "guild_id = ?1 AND (CAST(?2 AS TEXT) IS NULL OR book_id = ?2)"
_STATE_OF_NAMES = f"""
SELECT count(*) AS titles, sum(title_mark) AS marks,
  (SELECT count(*) FROM books WHERE shelf = ?1 AND removed_at IS NOT NULL) AS removed,
  (SELECT max(removed_at) FROM books WHERE shelf = ?1 AND removed_at IS NOT NULL) AS last_removed
FROM conversations WHERE {_ON_SHELF}
"""  # noqa: S608
_TITLES_OF_BOOKS = f"""
SELECT id, title FROM books WHERE removed_at IS NULL AND id IN (SELECT book_id FROM conversations WHERE {_ON_SHELF})
"""  # noqa: S608
# In one column, because a driver takes its time for each value.
_TITLES = f"""
SELECT created_at || ' ' || rowid || ' ' || id || ' ' || book_id || ' ' || title AS line FROM conversations
WHERE {_ON_SHELF} AND (created_at, rowid) < (?3, ?4) ORDER BY created_at DESC, rowid DESC LIMIT ?5
"""  # noqa: S608
_NEWER_THAN_ALL = ("~", 2**62)
_PAGE = 5_000
"""Names read at once: a driver that hands them over on the event loop takes some five milliseconds for them."""
NAMES_KEPT = 100_000
"""Names of conversations in memory, of all shelves together: some twenty megabytes."""
WORTH_KEEPING = 500
"""Fewer names than these are quickly read anew."""


class NamesOnShelves:
    """The names of conversations on shelves, searched while people type.

    The names of the shelves used last stay in memory until the database has others. A shelf is a server's or a
    person's; with a book's id, only that book's conversations are meant.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, str | None], tuple[dict[str, object], ConversationNames]] = {}
        self._asking: dict[tuple[str, str | None], asyncio.Task[ConversationNames]] = {}

    async def on(self, *shelf: *tuple[str, str | None]) -> ConversationNames:
        """The names on a shelf, newest first. The database is asked once for all who type at the same time."""
        return await asyncio.shield(self.prepare(*shelf))

    def prepare(self, *shelf: *tuple[str, str | None]) -> asyncio.Task[ConversationNames]:
        """Begin to read them, for somebody who is going to type."""

        def forget(task: asyncio.Task[ConversationNames]) -> None:
            del self._asking[shelf]
            if not task.cancelled():
                task.exception()  # for whoever waits for it; perhaps nobody does

        if shelf not in self._asking:
            self._asking[shelf] = asyncio.create_task(self._current(shelf))
            self._asking[shelf].add_done_callback(forget)
        return self._asking[shelf]

    async def _current(self, shelf: tuple[str, str | None]) -> ConversationNames:
        [row] = await self._database.read(_STATE_OF_NAMES, shelf)
        state, names = self._known.pop(shelf, ({}, ConversationNames((), ())))
        if dict(row) != state:
            state, names = dict(row), await self._read(shelf)
        if len(names) >= WORTH_KEEPING:
            self._known[shelf] = state, names
        while sum(len(names) for _, names in self._known.values()) > NAMES_KEPT:
            del self._known[next(iter(self._known))]
        return names

    async def _read(self, shelf: tuple[str, str | None]) -> ConversationNames:
        books = {row["id"]: row["title"] for row in await self._database.read(_TITLES_OF_BOOKS, shelf)}
        lines, last = list[str](), _NEWER_THAN_ALL
        while len(lines) < NAMES_KEPT:
            page = [str(row["line"]) for row in await self._database.read(_TITLES, [*shelf, *last, _PAGE])]
            lines += page
            if len(page) < _PAGE:
                break
            created_at, number, _ = page[-1].split(" ", 2)
            last = created_at, int(number)
        return await asyncio.to_thread(_names, lines, books)


def _names(lines: Sequence[str], books: Mapping[str, str]) -> ConversationNames:
    """Titles with the titles of their books, by id, and their days; of books that are on the shelf."""
    read = (line.split(" ", 4) for line in lines)
    shown = [(each, f"{title} {books[book]} {at[:10]}") for at, _, each, book, title in read if book in books]
    return ConversationNames([each for each, _ in shown], (name for _, name in shown))

"""Opening the database that a URL names, with all repositories over it, and copying one to another."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from domain.errors import SettingsError, StorageError, StorageErrorCode
from domain.ports import (
    AllowanceRepository,
    BookRepository,
    ChatMessageRepository,
    ClubRepository,
    ConversationRepository,
    DerivedTextRepository,
    LeaseRepository,
    OpenReplyRepository,
    PrivacyRepository,
    ReaderRepository,
    RetentionRepository,
    ServerRepository,
    TurnRepository,
    UsageRepository,
)
from storage.sql.books import SQLBookObjects, SQLBooks, SQLDerivedTexts
from storage.sql.clubs import SQLClubs
from storage.sql.conversations import SQLConversations, SQLMessages
from storage.sql.database import CopyableDatabase, TableShape, Transaction, Value
from storage.sql.erasure import SQLRetention
from storage.sql.people import SQLAllowances, SQLOpenReplies, SQLReaders, SQLServers, SQLUsage
from storage.sql.privacy import SQLPrivacy
from storage.sql.rows import listed, marks
from storage.sql.turns import SQLTurns

BOOK_OBJECTS = "book_objects"
PAGE = 500
"""Rows held in memory at once; a message with its passages takes some ten kilobytes."""
TIMEOUT_S = 3_600.0


class Engine(CopyableDatabase, Protocol):
    """The database itself, for maintenance.

    Raises (all methods):
        StorageError.
    """

    async def integrity_check(self) -> list[str]:
        """Problems, one per line; an empty list means that all is well."""
        ...

    async def backup(self, path: str | Path) -> None:
        """Write a copy to a file while the database is in use."""
        ...

    async def ping(self) -> None:
        """Return once the database has answered an empty query."""
        ...

    async def claim(self, patience_s: float) -> None:
        """Be the only bot on this database until it is closed or the process ends.

        Raises:
            StorageError: IN_USE, another bot has held it for `patience_s` seconds.
        """
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """All repositories over one database. Leaving its `async with` block closes it."""

    engine: Engine
    leases: LeaseRepository | None
    """None where only one bot can use the database."""
    books: BookRepository
    book_objects: SQLBookObjects
    conversations: ConversationRepository
    messages: ChatMessageRepository
    turns: TurnRepository
    readers: ReaderRepository
    usage: UsageRepository
    clubs: ClubRepository
    allowances: AllowanceRepository
    servers: ServerRepository
    derived_texts: DerivedTextRepository
    privacy: PrivacyRepository
    retention: RetentionRepository
    open_replies: OpenReplyRepository

    async def integrity_check(self) -> list[str]:
        """Problems with the database, one per line; an empty list means that all is well."""
        return await self.engine.integrity_check()

    async def backup(self, path: str | Path) -> None:
        """Write a copy of the whole database to a file while it is in use."""
        await self.engine.backup(path)

    async def ping(self) -> None:
        """Return when the database has answered."""
        await self.engine.ping()

    async def claim(self, patience_s: float = 5.0) -> None:
        """Be the only bot on this database; see Engine.claim."""
        await self.engine.claim(patience_s)

    async def close(self) -> None:
        """Close the database; closing twice is fine."""
        await self.engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_storage(url: str) -> Storage:
    """Open the database that a URL names, and create it if there is none.

    `sqlite:///data/marginalia.db` is relative to the working directory, `sqlite:////var/lib/marginalia.db` is
    absolute, `sqlite:///:memory:` lives as long as the program, and `postgresql://user:password@host:5432/database` is
    on a server. The caller has to close it: its threads keep Python running.

    Raises:
        SettingsError: the URL does not name a supported database.
        StorageError: the database cannot be opened.
    """
    scheme, separator, rest = url.partition("://")
    if scheme not in _OPENERS or not separator:
        known = ", ".join(f"{name}://" for name in _OPENERS)
        raise SettingsError(f"DATABASE_URL must begin with one of {known}.")
    return await _OPENERS[scheme](rest)


async def _open_sqlite(rest: str) -> Storage:
    path = os.path.expanduser(rest.removeprefix("/"))  # noqa: ASYNC240, PTH111 - no shell has replaced a `~` here
    if not rest.startswith("/") or not path:
        raise SettingsError(
            "DATABASE_URL needs three slashes and the path of a file, as in sqlite:///data/marginalia.db."
        )
    from storage.sqlite.database import SQLiteDatabase

    return _repositories_over(await SQLiteDatabase.open(path), leases=None)


async def _open_postgres(rest: str) -> Storage:
    try:
        # The driver is an extra, and takes a moment to load.
        from storage.postgres.database import PostgresDatabase, PostgresLeases
    except ImportError as error:
        raise SettingsError(
            "DATABASE_URL names PostgreSQL, whose driver is not installed. In the project's folder: "
            "pip install '.[postgres]'"
        ) from error

    database = await PostgresDatabase.open(f"postgresql://{rest}")
    return _repositories_over(database, PostgresLeases(database))


def _repositories_over(database: Engine, leases: LeaseRepository | None) -> Storage:
    return Storage(
        engine=database,
        leases=leases,
        books=SQLBooks(database),
        book_objects=SQLBookObjects(database),
        conversations=SQLConversations(database),
        messages=SQLMessages(database),
        turns=SQLTurns(database),
        readers=SQLReaders(database),
        usage=SQLUsage(database),
        allowances=SQLAllowances(database),
        servers=SQLServers(database),
        clubs=SQLClubs(database),
        derived_texts=SQLDerivedTexts(database),
        privacy=SQLPrivacy(database),
        retention=SQLRetention(database),
        open_replies=SQLOpenReplies(database),
    )


_OPENERS: dict[str, Callable[[str], Awaitable[Storage]]] = {
    "sqlite": _open_sqlite,
    "postgresql": _open_postgres,
    "postgres": _open_postgres,
}


Report = Callable[[str, int], None]
"""Receives the name of a table, and how many of its rows have been copied."""


async def copy_database(
    source: Storage, target: Storage, report: Report, *, is_resumed: bool = False
) -> dict[str, int]:
    """Copy every row, all or none, and return how many rows each table has afterwards.

    `is_resumed`: where all rows are copied already, nothing is done, because what came next was interrupted.

    Raises:
        StorageError: IN_USE, the target is not empty; WRITE_FAILED, the copy has fewer or more rows than the
        original.
    """
    theirs, ours = await source.engine.tables(), await target.engine.tables()
    tables = {name: table for name, table in ours.items() if name in theirs}
    counts = {name: await _count(target.engine, name) for name in tables}
    if any(counts.values()):
        if is_resumed and await _is_copy(source.engine, target.engine, theirs, tables):
            return counts
        raise StorageError(
            StorageErrorCode.IN_USE, "There is something in that database already: name one that is empty."
        )

    async def copy(transaction: Transaction) -> None:
        for name in TopologicalSorter(
            {name: set(table.parents) - {name} for name, table in tables.items()}
        ).static_order():
            columns = [column for column in theirs[name].columns if column in tables[name].columns]
            await _copy_table(source.engine, transaction, name, columns, theirs[name].order, report)
        await target.engine.finish_copy(transaction)

    await target.engine.atomically(copy, timeout_s=TIMEOUT_S)
    counts = {name: await _count(target.engine, name) for name in tables}
    for name, count in counts.items():
        if count != await _count(source.engine, name):
            raise StorageError(
                StorageErrorCode.WRITE_FAILED,
                f"The copy of {name} is not complete: somebody writes to the original. Stop the bot and try again.",
            )
    return counts


async def _is_copy(
    source: CopyableDatabase, target: CopyableDatabase, theirs: Mapping[str, TableShape], ours: Mapping[str, TableShape]
) -> bool:
    """Whether both have the same rows, but for where the books are, which differs once some of them are copied."""
    for name in ours.keys() - {BOOK_OBJECTS}:
        columns = [column for column in theirs[name].columns if column in ours[name].columns]
        if await _digest(source, name, columns, theirs[name]) != await _digest(target, name, columns, ours[name]):
            return False
    return True


async def _digest(database: CopyableDatabase, name: str, columns: Sequence[str], table: TableShape) -> int:
    """The sum of a hash of each row: databases sort texts differently."""
    total = 0
    async for page in _pages(database, name, columns, table.order):
        total += sum(int.from_bytes(sha256(repr(row).encode("utf-8", "surrogatepass")).digest()) for row in page)
    return total


async def _count(database: CopyableDatabase, table: str) -> int:
    return int((await database.read(f"SELECT count(*) AS number FROM {table}"))[0]["number"])  # noqa: S608


async def _copy_table(
    source: CopyableDatabase,
    transaction: Transaction,
    name: str,
    columns: Sequence[str],
    order: Sequence[str],
    report: Report,
) -> None:
    insert, copied = f"INSERT INTO {name} ({listed(columns)}) VALUES ({marks(columns)})", 0  # noqa: S608
    async for page in _pages(source, name, columns, order):
        await transaction.run_many(insert, page)
        copied += len(page)
        report(name, copied)


async def _pages(
    source: CopyableDatabase, name: str, columns: Sequence[str], order: Sequence[str]
) -> AsyncIterator[list[list[Value]]]:
    """The rows of a table in order, page by page; each page starts after the last row of the previous one."""
    keys = ", ".join(f'"{column}" AS key_{number}' for number, column in enumerate(order))
    select = f"SELECT {listed(columns)}, {keys} FROM {name}"  # noqa: S608
    after, last = "", list[Value]()
    while True:
        rows = await source.read(f"{select} {after} ORDER BY {listed(order)} LIMIT {PAGE}", last)
        if rows:
            yield [[row[column] for column in columns] for row in rows]
        if len(rows) < PAGE:
            return
        after = f"WHERE ({listed(order)}) > ({marks(order)})"
        last = [rows[-1][f"key_{number}"] for number in range(len(order))]

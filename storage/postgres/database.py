"""PostgreSQL by psycopg 3: pooled connections, no state between statements, and work that is done again after trouble.

Nothing here outlives a transaction (no prepared statements, no session settings, no session locks), so that a pooler in
transaction mode may hand every transaction to another connection.
"""

import asyncio
import os
import random
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from psycopg import AsyncClientCursor, AsyncConnection, AsyncCursor, AsyncRawCursor, IsolationLevel, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from domain.concurrency import to_the_end
from domain.errors import SettingsError, StorageError, StorageErrorCode
from storage.postgres.schema import IDENTITIES, migrate, shipped_migrations, table_shapes
from storage.sql.database import CopyableDatabase, Migration, Result, Row, Statement, TableShape, Transaction, Value

_Connection: TypeAlias = AsyncConnection[DictRow]

CONNECTIONS = 10
"""The most that one process keeps open. A statement takes about a millisecond, so ten serve thousands a second."""

TOGETHER = 8
"""The most queries that are sent together: those after them may have another connection."""

CONNECT_TIMEOUT_S = 5
CALL_TIMEOUT_S = 10.0
"""For one call, waiting for a connection included; a statement of the program takes a hundredth of that."""
GIVE_UP_S = 0.5
"""How long before the end of that time a statement is cancelled, and then the connection is cut: the driver alone
would wait ten seconds more for a server that hangs.
"""
RECONNECT_TIMEOUT_S = 5.0
"""How long the pool goes on trying on its own; after that the next call makes it try again."""
PAUSES_S = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Before work is done again that met another transaction or a broken connection."""
DUPLICATE_TRIES = 5
"""Where another transaction was faster with the same key, the work sees that when it is done again, and says so in its
own words. If it does not, the key is taken for good."""

_DUPLICATE = (errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateObject)
"""IF NOT EXISTS does not see a table that is made at the same moment; which of these says so depends on the moment."""
_AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, *_DUPLICATE)

_SENTENCES: tuple[tuple[type[psycopg.Error], StorageErrorCode, str], ...] = (
    (
        errors.DiskFull,
        StorageErrorCode.WRITE_FAILED,
        "There is no room left for the database {name}: free some space on its disk, then try again.",
    ),
    (
        errors.ForeignKeyViolation,
        StorageErrorCode.NOT_FOUND,
        "The book, conversation or turn that this belongs to is no longer in the database {name}.",
    ),
    (
        errors.DivisionByZero,
        StorageErrorCode.LEASE_LOST,
        "Another process has taken over this conversation; it will answer.",
    ),
    (
        errors.IntegrityError,
        StorageErrorCode.WRITE_FAILED,
        "The database {name} does not take that entry, because it contradicts what is in it: {reason}.",
    ),
    (
        errors.ReadOnlySqlTransaction,
        StorageErrorCode.UNREACHABLE,
        "The database {name} is read-only: check that DATABASE_URL names the primary server.",
    ),
    (
        errors.InsufficientPrivilege,
        StorageErrorCode.WRITE_FAILED,
        "The database {name} refuses this user: give the user of DATABASE_URL the right to write and to make tables.",
    ),
    (
        psycopg.OperationalError,
        StorageErrorCode.UNREACHABLE,
        "The database {name} does not answer: check that it runs, then try again.",
    ),
    (psycopg.InterfaceError, StorageErrorCode.UNREACHABLE, "The database {name} is closed."),
)
_OTHER = (StorageErrorCode.WRITE_FAILED, "The database {name} refused: {reason}.")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPE = "\ufdd0"
"""A code point that Unicode keeps free of characters. PostgreSQL takes no NUL in a text: this and a 0 stand for it."""
_PARAMETER = re.compile(r"\?(\d*)")
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ"
_Bound = tuple[str, Sequence[Value]]
"""A statement, and its parameters as PostgreSQL takes them."""


class PostgresDatabase(CopyableDatabase):
    """A PostgreSQL database.

    Raises (all methods): StorageError with a sentence for people.
    """

    def __init__(self, name: str, pool: "AsyncConnectionPool[_Connection]", timeout_s: float = CALL_TIMEOUT_S) -> None:
        self.name, self._pool, self._timeout_s = name, pool, timeout_s
        self._queries: list[tuple[_Bound, asyncio.Future[list[Row]]]] = []
        self._answering: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, url: str, migrations: Sequence[Migration] | None = None) -> "PostgresDatabase":
        """Open the database, brought up to date as needed.

        Raises:
            SettingsError: the URL cannot be read.
            StorageError: NOT_FOUND, it cannot be reached or used; DB_CORRUPTED, it is another program's.
            StorageError: MIGRATION_FAILED, it is newer than the program, or an update of it failed.
        """
        name = _name_of(url)
        await _try_to_connect(url, name)
        pool = AsyncConnectionPool(
            url,
            connection_class=AsyncConnection[DictRow],
            kwargs=_OPTIONS,
            configure=_configure,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=CONNECT_TIMEOUT_S,
            reconnect_timeout=RECONNECT_TIMEOUT_S,
            open=False,
        )
        database = cls(name, pool)
        try:
            await pool.open()
            await migrate(database, shipped_migrations() if migrations is None else migrations)
        except BaseException:
            await to_the_end(database.close())
            raise
        return database

    def with_timeout(self, timeout_s: float) -> "PostgresDatabase":
        """The same database and connections, for calls that are given up after another time."""
        return PostgresDatabase(self.name, self._pool, timeout_s)

    async def read(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """The rows of one query, of what is committed. Queries that are made in the same step of the loop go together:
        on the way to the server and back, each would cost as much as all of them.
        """
        loop = asyncio.get_running_loop()
        rows: asyncio.Future[list[Row]] = loop.create_future()
        self._queries.append(((sql, _bindable(parameters)), rows))
        if len(self._queries) == 1:
            loop.call_soon(self._send_queries)
        return await rows

    def _send_queries(self) -> None:
        queries, self._queries = self._queries, []
        for first in range(0, len(queries), TOGETHER):
            task = asyncio.create_task(self._answer(queries[first : first + TOGETHER]))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _answer(self, queries: Sequence[tuple[_Bound, asyncio.Future[list[Row]]]]) -> None:
        try:
            found = await self._persist(partial(_run_all, statements=[query for query, _ in queries]))
        except Exception as error:  # noqa: BLE001 - it is for those who have asked
            if len(queries) > 1:  # one of them failed, and the others need not know
                await asyncio.gather(*(self._answer([query]) for query in queries))
            elif not queries[0][1].done():
                queries[0][1].set_exception(error)
        else:
            for (_, rows), each in zip(queries, found, strict=True):
                if not rows.done():
                    rows.set_result(each)
        finally:
            for _, rows in queries:
                rows.cancel()  # does nothing but where this task was cancelled

    async def write_all(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """As storage.sql.database.Database says; each statement sees the database as it was at the first one."""
        bound = [(sql, _bindable(parameters)) for sql, parameters in statements]
        if len(bound) == 1:
            return await self._persist(partial(_run_all, statements=bound))
        _, *rows, _ = await self._persist(partial(_run_all, statements=[(_BEGIN, []), *bound, ("COMMIT", [])]))
        return rows

    async def atomically(
        self, work: Callable[[Transaction], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """As storage.sql.database.Database says; every statement sees the database as it was at the first one."""

        async def within(connection: _Connection) -> Result:
            async with connection.transaction():
                return await work(_Transaction(connection))

        return await self._persist(within, timeout_s)

    async def _persist(
        self, work: Callable[[_Connection], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """Do work on a connection; again, where it met another transaction or the connection broke."""
        timeout_s, loop = timeout_s or self._timeout_s, asyncio.get_running_loop()
        pauses, duplicates = iter(PAUSES_S), 0
        while True:
            over = loop.time() + timeout_s
            try:
                async with asyncio.timeout_at(over), self._pool.connection() as connection:
                    with _cancelled_at(over - GIVE_UP_S, connection):
                        return await _on(connection, work)
            except (_BrokenConnectionError, *_AGAIN) as error:
                if loop.time() >= over - GIVE_UP_S:
                    raise self._late(timeout_s) from error
                cause = error.__cause__ if isinstance(error, _BrokenConnectionError) else error
                assert isinstance(cause, psycopg.Error)
                duplicates += isinstance(cause, _DUPLICATE)
                pause = next(pauses, None)
                if pause is None or duplicates > DUPLICATE_TRIES:
                    raise _storage_error(cause, self.name) from cause
                if isinstance(error, _BrokenConnectionError):
                    await self._drop_broken()
            except (errors.QueryCanceled, TimeoutError) as error:
                raise self._late(timeout_s) from error
            except psycopg.Error as error:
                raise _storage_error(error, self.name) from error
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311

    async def _drop_broken(self) -> None:
        """The server may have ended all connections at once: look at each, so that the next one is a good one."""
        with suppress(TimeoutError, psycopg.Error):
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._pool.check()

    def _late(self, timeout_s: float) -> StorageError:
        message = f"The database {self.name} has not answered for {timeout_s:.0f} seconds: please try again."
        return StorageError(StorageErrorCode.UNREACHABLE, message)

    async def forget_deleted(self) -> None:
        """Does nothing: autovacuum gives the place of deleted rows to new ones, and the log is recycled, in time."""

    async def integrity_check(self) -> list[str]:
        """What is wrong, one line each. The server checks its own pages; here, that every migration is there."""
        rows = await self.read("SELECT version FROM schema_migrations")
        missing = {migration.version for migration in shipped_migrations()} - {row["version"] for row in rows}
        return [f"the migration {version} is missing" for version in sorted(missing)]

    async def backup(self, path: str | Path) -> None:
        """Refuse to copy the database to a file.

        Raises:
            StorageError: always; PostgreSQL has tools of its own for that.
        """
        raise StorageError(
            StorageErrorCode.WRITE_FAILED,
            "A PostgreSQL database is copied by its own tools: use pg_dump, as docs/operations.md shows.",
        )

    async def tables(self) -> dict[str, TableShape]:
        """As storage.sql.database.CopyableDatabase says."""
        return await table_shapes(self)

    async def finish_copy(self, transaction: Transaction) -> None:
        """As storage.sql.database.CopyableDatabase says."""
        for row in await transaction.run(IDENTITIES):
            table, column = row["table_name"], row["column_name"]
            await transaction.run(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "  # noqa: S608
                f'coalesce(max("{column}"), 0) + 1, false) FROM {table}'
            )

    async def ping(self) -> None:
        """Return when the database has answered."""
        await self.read("SELECT 1 AS one")

    async def claim(self, patience_s: float) -> None:
        """Nothing to do: several nodes may share this database, and divide the work by leases."""

    async def close(self) -> None:
        """Wait for the work under way, then close. Closing twice is fine."""
        await self._pool.close()


class _Transaction:
    """The statements of one transaction; what goes wrong is translated, or done again, by whoever began it."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    async def run(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        return await _run(self._connection, sql, _bindable(parameters))

    async def run_many(self, sql: str, rows: Iterable[Iterable[Value]]) -> None:
        async with self._connection.cursor() as cursor:
            await cursor.executemany(_numbered(sql), [_bindable(row) for row in rows])


class _BrokenConnectionError(Exception):
    """The connection broke, or leads to a server that takes no writes; its cause says how."""


async def _on(connection: _Connection, work: Callable[[_Connection], Awaitable[Result]]) -> Result:
    try:
        return await work(connection)
    except psycopg.Error as error:
        if isinstance(error, errors.ReadOnlySqlTransaction):  # after a failover, a new connection leads to the primary
            await connection.close()
        if connection.closed or connection.broken:
            raise _BrokenConnectionError from error
        raise


@contextmanager
def _cancelled_at(moment: float, connection: _Connection) -> Iterator[None]:
    """Cancel what runs on a connection at a moment of the loop's clock, unless the block is left before."""
    begun: list[asyncio.Task[None]] = []
    timer = asyncio.get_running_loop().call_at(
        moment, lambda: begun.append(asyncio.create_task(_cancel_running(connection)))
    )
    try:
        yield
    finally:
        timer.cancel()
        for task in begun:
            task.cancel()


async def _cancel_running(connection: _Connection) -> None:
    """Have the server cancel what runs on a connection; if it does not, cut the connection."""
    with suppress(TimeoutError, psycopg.Error):
        async with asyncio.timeout(GIVE_UP_S * 0.4):
            await connection.cancel_safe()
            await asyncio.sleep(GIVE_UP_S)
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


async def _run_all(connection: _Connection, statements: Sequence[_Bound]) -> list[list[Row]]:
    """Carry out statements, and give the rows of each. Several of them are one message to the server, in which nothing
    follows one that fails; their parameters are written into it, as its protocol takes none along with such a message.
    """
    if len(statements) == 1:
        return [await _run(connection, *statements[0])]
    texts = [_placed(sql, place) for place, (sql, _) in enumerate(statements)]
    values = {f"{place}_{n}": value for place, (_, bound) in enumerate(statements) for n, value in enumerate(bound, 1)}
    cursor = AsyncClientCursor(connection)
    try:
        await cursor.execute(";".join(texts).encode(), values)
    except psycopg.Error:
        if not connection.closed:
            await connection.rollback()
        raise
    found = [await _rows(cursor)]
    while cursor.nextset():
        found.append(await _rows(cursor))
    return found


async def _run(connection: _Connection, sql: str, values: Sequence[Value]) -> list[Row]:
    return await _rows(await connection.execute(_numbered(sql), values or None))


async def _rows(cursor: AsyncCursor[DictRow]) -> list[Row]:
    rows: list[Any] = await cursor.fetchall() if cursor.description else []
    for row in rows:
        for column, value in row.items():
            if type(value) is str and _ESCAPE in value:
                row[column] = _unescaped(value)
    return rows


@lru_cache(maxsize=512)
def _numbered(sql: str) -> bytes:
    """The statement with PostgreSQL's parameters: `?` and `?3` become `$1` and `$3`."""
    return _with_parameters(sql, "${}").encode()


@lru_cache(maxsize=512)
def _placed(sql: str, place: int) -> str:
    """The statement with the parameters of one among several: `?` and `?3` become `%(0_1)s` and `%(0_3)s`."""
    return _with_parameters(sql.replace("%", "%%"), f"%({place}_{{}})s")


def _with_parameters(sql: str, form: str) -> str:
    count = 0

    def write(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return form.format(match[1] or count)

    return _PARAMETER.sub(write, sql)


def _bindable(parameters: Iterable[Value]) -> list[Value]:
    """Parameters as PostgreSQL takes them: truth as 0 or 1, enumerations as text, no half emoji, no NUL."""
    return [_plain(value) for value in parameters]


def _escaped(text: str) -> str:
    """The text without NUL: that becomes an escape and 0, and an escape becomes an escape and e."""
    return text.replace(_ESCAPE, f"{_ESCAPE}e").replace("\0", f"{_ESCAPE}0")


def _unescaped(text: str) -> str:
    return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}e", _ESCAPE)


def _plain(value: Value) -> Value:
    if isinstance(value, str):
        text = value if type(value) is str else str(value)
        if not text.isascii():
            text = _LONE_SURROGATE.sub("\ufffd", text)
        return _escaped(text) if "\0" in text or _ESCAPE in text else text
    return int(value) if isinstance(value, bool) else value


_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,  # a prepared statement belongs to one connection of the server
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "marginalia",
    "client_encoding": "UTF8",  # whatever PGCLIENTENCODING says
    "cursor_factory": AsyncRawCursor,
    "row_factory": dict_row,
}


async def _configure(connection: _Connection) -> None:
    """Have every BEGIN name the isolation level; the server's own setting stays as it is."""
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)


async def _try_to_connect(url: str, name: str) -> None:
    """Connect once, because a pool only logs why it cannot, and an encoding would fail only at some letters.

    Raises:
        StorageError: NOT_FOUND, no connection can be made, or the database cannot hold every letter.
    """
    try:
        async with await AsyncConnection.connect(url, **_OPTIONS) as connection:
            encoding = connection.info.parameter_status("server_encoding")
    except psycopg.Error as error:
        message = f"The database {name} cannot be opened ({_reason(error)}): check DATABASE_URL, and that it runs."
        raise StorageError(StorageErrorCode.NOT_FOUND, message) from error
    if encoding not in (None, "UTF8"):
        raise StorageError(
            StorageErrorCode.NOT_FOUND,
            f"The database {name} has the encoding {encoding}, which lacks letters that people write: make another "
            "with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.",
        )


def _name_of(url: str) -> str:
    """What to call the database in front of people: its host and name, no password. SettingsError: it is unreadable."""
    try:
        parts = conninfo_to_dict(url)
        if "@" in f"{parts.get('host')}{parts.get('dbname')}" or re.search(r"[^\d,]", str(parts.get("port") or "")):
            raise psycopg.ProgrammingError("part of a password would be shown")
    except psycopg.Error as error:
        unknown = None if "@" in url.partition("?")[2] else re.search(r"query parameter: \"(\w+)\"", str(error))
        raise SettingsError(
            f"DATABASE_URL cannot be read: leave {unknown[1]} out of it, which is meant for other programs."
            if unknown
            else "DATABASE_URL cannot be read: write it as postgresql://user:password@host:5432/database, with %2F for "
            "a slash and %40 for an @ in the password."
        ) from error
    return f"{parts.get('dbname') or parts.get('user') or 'postgres'} on {parts.get('host') or 'this machine'}"


def _storage_error(error: psycopg.Error, name: str) -> StorageError:
    for kind, code, sentence in _SENTENCES:
        if isinstance(error, kind):
            return StorageError(code, sentence.format(name=name, reason=_reason(error)))
    code, sentence = _OTHER
    return StorageError(code, sentence.format(name=name, reason=_reason(error)))


def _reason(error: psycopg.Error) -> str:
    """The first line of what the server or the driver says."""
    said = error.diag.message_primary or str(error) or type(error).__name__
    return said.strip().splitlines()[0].rstrip(".")

"""Connections to PostgreSQL: how statements run on them and end in time, and what their errors mean."""

import asyncio
import os
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeAlias

import psycopg
from psycopg import AsyncClientCursor, AsyncConnection, AsyncCursor, AsyncRawCursor, IsolationLevel, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row

from domain.errors import SettingsError, StorageError, StorageErrorCode
from storage.sql.database import Result, Row, Value

Connection: TypeAlias = AsyncConnection[DictRow]

CONNECT_TIMEOUT_S = 5

GIVE_UP_S = 0.5
"""How long before the end of a call's time its statement is cancelled, and then the connection is cut: the driver alone
would wait ten seconds more for a server that hangs.
"""

DUPLICATE = (errors.UniqueViolation, errors.DuplicateTable, errors.DuplicateObject)
"""IF NOT EXISTS does not see a table that is made at the same moment; which of these says so depends on the moment."""
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, *DUPLICATE)

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
Bound = tuple[str, Sequence[Value]]
"""A statement, and its parameters as PostgreSQL takes them."""


class OpenTransaction:
    """The statements of one transaction; what goes wrong is translated, or done again, by whoever began it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def run(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        return await _run(self._connection, sql, bindable(parameters))

    async def run_many(self, sql: str, rows: Iterable[Iterable[Value]]) -> None:
        async with self._connection.cursor() as cursor:
            await cursor.executemany(_numbered(sql), [bindable(row) for row in rows])


class BrokenConnectionError(Exception):
    """The connection broke, or leads to a server that takes no writes; its cause says how."""


async def carried_out(connection: Connection, work: Callable[[Connection], Awaitable[Result]]) -> Result:
    """What work on a connection returns.

    Raises:
        BrokenConnectionError: the work may be done again on another connection.
        psycopg.Error: the statement failed.
    """
    try:
        return await work(connection)
    except psycopg.Error as error:
        if isinstance(error, errors.ReadOnlySqlTransaction):  # after a failover, a new connection leads to the primary
            await connection.close()
        if connection.closed or connection.broken:
            raise BrokenConnectionError from error
        raise


@contextmanager
def cancelled_at(moment: float, connection: Connection) -> Iterator[None]:
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


async def _cancel_running(connection: Connection) -> None:
    """Have the server cancel what runs on a connection; if it does not, cut the connection."""
    with suppress(TimeoutError, psycopg.Error):
        async with asyncio.timeout(GIVE_UP_S * 0.4):
            await connection.cancel_safe()
            await asyncio.sleep(GIVE_UP_S)
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


async def run_all(connection: Connection, statements: Sequence[Bound]) -> list[list[Row]]:
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


async def _run(connection: Connection, sql: str, values: Sequence[Value]) -> list[Row]:
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


def bindable(parameters: Iterable[Value]) -> list[Value]:
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


OPTIONS: dict[str, Any] = {
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


async def configure(connection: Connection) -> None:
    """Have every BEGIN name the isolation level; the server's own setting stays as it is."""
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)


async def try_to_connect(url: str, name: str) -> None:
    """Connect once, because a pool only logs why it cannot, and an encoding would fail only at some letters.

    Raises:
        StorageError: NOT_FOUND, no connection can be made, or the database cannot hold every letter.
    """
    try:
        async with await AsyncConnection.connect(url, **OPTIONS) as connection:
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


def name_of(url: str) -> str:
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


def storage_error(error: psycopg.Error, name: str) -> StorageError:
    """The error of the domain for one of the driver; `name` is what to call the database."""
    for kind, code, sentence in _SENTENCES:
        if isinstance(error, kind):
            return StorageError(code, sentence.format(name=name, reason=_reason(error)))
    code, sentence = _OTHER
    return StorageError(code, sentence.format(name=name, reason=_reason(error)))


def _reason(error: psycopg.Error) -> str:
    """The first line of what the server or the driver says."""
    said = error.diag.message_primary or str(error) or type(error).__name__
    return said.strip().splitlines()[0].rstrip(".")

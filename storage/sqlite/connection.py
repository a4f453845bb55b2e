"""One SQLite connection on its own thread, and the statements it runs."""

import asyncio
import fcntl
import re
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import aiosqlite

from domain.concurrency import to_the_end
from domain.errors import StorageError, StorageErrorCode
from storage.sql.database import Row, Statement, Value

_SENTENCES = {
    sqlite3.SQLITE_FULL: (
        StorageErrorCode.WRITE_FAILED,
        "There is no room left for the database {path}: free some space on the disk, then try again.",
    ),
    sqlite3.SQLITE_READONLY: (
        StorageErrorCode.WRITE_FAILED,
        "The database {path} is read-only: give this user the right to write the file and its folder.",
    ),
    sqlite3.SQLITE_BUSY: (
        StorageErrorCode.WRITE_FAILED,
        "Another program keeps the database {path} locked: close it or wait until it is done, then try again.",
    ),
    sqlite3.SQLITE_IOERR: (
        StorageErrorCode.WRITE_FAILED,
        "The disk failed while the database {path} was read or written: check the disk and the space on it.",
    ),
    sqlite3.SQLITE_TOOBIG: (
        StorageErrorCode.WRITE_FAILED,
        "That is too long to be kept in the database {path}: shorten it.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StorageErrorCode.NOT_FOUND,
        "The database {path} cannot be opened: check that it is a file and that this user may write in its folder.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        StorageErrorCode.DB_CORRUPTED,
        "The database {path} is damaged and was left as it is: put a backup in its place.",
    ),
    sqlite3.SQLITE_NOTADB: (
        StorageErrorCode.DB_CORRUPTED,
        "The file {path} is not a database and was left as it is: name another file, or put a backup in its place.",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        StorageErrorCode.WRITE_FAILED,
        "The database {path} does not take that entry, because it contradicts what is in it: {reason}.",
    ),
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: (
        StorageErrorCode.NOT_FOUND,
        "The book, conversation or turn that this belongs to is no longer in the database {path}.",
    ),
}
_SENTENCES |= {
    sqlite3.SQLITE_LOCKED: _SENTENCES[sqlite3.SQLITE_BUSY],
    sqlite3.SQLITE_PERM: _SENTENCES[sqlite3.SQLITE_CANTOPEN],
    sqlite3.SQLITE_AUTH: _SENTENCES[sqlite3.SQLITE_READONLY],
}
_OTHER = (StorageErrorCode.WRITE_FAILED, "The database {path} refused: {reason}.")
_PRIMARY = 0xFF
"""The lower byte of an extended result code is the primary code."""

MOST_IN_ERRAND = 16
"""Statements that the thread runs together. The tasks that wait for them run in the same round of the event loop, half
a millisecond each; two hundred would block it for a tenth of a second.
"""
BUSY_TIMEOUT_S = 5.0
"""How long a statement waits for another process (the bot and the command line may share a database)."""
_BUSY_PAUSE_S = 0.02
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_PAUSE_S = 0.1


def storage_error(error: Exception, path: str) -> StorageError:
    """The domain error for an error of sqlite3 or aiosqlite."""
    extended = getattr(error, "sqlite_errorcode", None) or 0
    code, sentence = _SENTENCES.get(extended) or _SENTENCES.get(extended & _PRIMARY) or _OTHER
    return StorageError(code, sentence.format(path=path, reason=str(error).rstrip(".")))


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds the lock; it may be free in a moment."""
    return error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Translate every error of SQLite into StorageError.

    aiosqlite reports a closed connection as ValueError; sqlite3 reports integers beyond 64 bits as OverflowError.
    """
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        raise storage_error(error, path) from error


Job = Callable[[sqlite3.Connection], Any]
Outcome = TypeVar("Outcome")


class _Thread(aiosqlite.Connection):
    """A connection on its thread, which does several jobs in one go."""

    async def do_all(self, jobs: Sequence[Job]) -> list[Any]:
        """The result of each job, or its error; in their order."""
        outcomes: list[Any] = await self._execute(lambda: [_outcome(job, self._conn) for job in jobs])  # type: ignore[no-untyped-call]
        return outcomes


def _outcome(job: Job, connection: sqlite3.Connection) -> Any:
    try:
        return job(connection)
    except Exception as error:  # noqa: BLE001 - it is for whoever asked for the job
        return error


class Connection:
    """Statements, executed on the connection's thread in the order of the calls.

    Handing work to the thread costs more than most statements do. So while it is at work, further calls wait, and are
    then handed over together.

    Raises (all methods):
        StorageError, and nothing else.
    """

    def __init__(self, path: str, connection: _Thread) -> None:
        self._path = path
        self._connection = connection
        self._waiting: list[tuple[Job, asyncio.Future[Any]]] = []
        self._running: asyncio.Future[list[Any]] | None = None

    @classmethod
    async def open(cls, path: str) -> "Connection":
        with translated(path):
            # Tried first: when aiosqlite fails to connect, its thread outlives the call and may meet a closed loop.
            await asyncio.to_thread(_try_to_connect, path)
            connection = _Thread(partial(_connect, path), iter_chunk_size=64)
            await to_the_end(connection)
        return cls(path, connection)

    async def run(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """Execute a statement and return its rows (those of RETURNING as well)."""
        values = _bindable(parameters)
        return await self._do(lambda connection: connection.execute(sql, values).fetchall())

    def run_all(self, statements: Sequence[Statement]) -> Awaitable[list[list[Row]]]:
        """Execute statements as one transaction, and return the rows of each. They have their place once this returns,
        so whatever is asked for after it comes after them.
        """
        bindable = [(sql, _bindable(parameters)) for sql, parameters in statements]
        return self._outcome(self._ask(lambda connection: _in_a_transaction(connection, bindable)))

    async def run_when_free(self, sql: str) -> None:
        """Execute a statement that SQLite refuses at once, instead of waiting, while another process holds the lock."""
        deadline = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                return await self._do(lambda connection: connection.execute(sql).close())
            except StorageError as error:
                if not (isinstance(error.__cause__, sqlite3.OperationalError) and is_busy(error.__cause__)):
                    raise
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(_BUSY_PAUSE_S)

    async def run_many(self, sql: str, rows: Iterable[Iterable[Value]]) -> None:
        """Execute a statement once for each row of parameters."""
        values = [_bindable(row) for row in rows]
        await self._do(lambda connection: connection.executemany(sql, values).close())

    async def run_in_order(self, statements: Iterable[str]) -> None:
        """Execute statements in one go, up to the first that fails."""

        def job(connection: sqlite3.Connection) -> None:
            for sql in statements:
                connection.execute(sql).close()

        await self._do(job)

    async def rollback(self) -> None:
        """Roll back the open transaction, if there is one."""
        await self._do(lambda connection: connection.rollback())

    async def copy_to(self, path: str) -> None:
        """Copy the current state of the database without blocking writers."""
        with translated(path):
            target = await asyncio.to_thread(sqlite3.connect, path, check_same_thread=False)
            try:
                await self._connection.backup(target)
            finally:
                await asyncio.to_thread(target.close)

    async def close(self) -> None:
        """Close after what was asked for before."""
        while self._waiting:
            await asyncio.wait({future for _, future in self._waiting})
        with translated(self._path):
            await self._connection.close()

    async def _do(self, job: Callable[[sqlite3.Connection], Outcome]) -> Outcome:
        return await self._outcome(self._ask(job))

    def _ask(self, job: Callable[[sqlite3.Connection], Outcome]) -> asyncio.Future[Outcome]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self._waiting.append((job, future))
        if len(self._waiting) == 1 and self._running is None:
            loop.call_soon(self._go)  # so that what others ask for in this step of the loop comes along
        return future

    async def _outcome(self, future: asyncio.Future[Outcome]) -> Outcome:
        with translated(self._path):
            return await future

    def _go(self) -> None:
        jobs, self._waiting = self._waiting[:MOST_IN_ERRAND], self._waiting[MOST_IN_ERRAND:]
        running = self._running = asyncio.ensure_future(self._connection.do_all([job for job, _ in jobs]))
        running.add_done_callback(partial(self._return, [future for _, future in jobs]))

    def _return(self, futures: Sequence[asyncio.Future[Any]], done: asyncio.Future[list[Any]]) -> None:
        self._running = None
        if self._waiting:
            self._go()
        failed = asyncio.CancelledError() if done.cancelled() else done.exception()
        for future, outcome in zip(futures, [failed] * len(futures) if failed else done.result(), strict=True):
            if future.done():
                continue
            if isinstance(outcome, asyncio.CancelledError):
                future.cancel()
            elif isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


def _connect(path: str) -> sqlite3.Connection:
    # isolation_level None: sqlite3 must not begin or commit transactions on its own.
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _in_a_transaction(connection: sqlite3.Connection, statements: Sequence[tuple[str, Sequence[Value]]]) -> list[Any]:
    if len(statements) == 1:  # which is a transaction by itself
        return [connection.execute(*statements[0]).fetchall()]
    connection.execute("BEGIN IMMEDIATE")
    try:
        rows = [connection.execute(sql, values).fetchall() for sql, values in statements]
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
    return rows


def _try_to_connect(path: str) -> None:
    sqlite3.connect(path).close()


def _bindable(parameters: Iterable[Value]) -> Sequence[Value]:
    """Parameters that can be encoded as UTF-8: half an emoji, which an interrupted stream may leave, becomes U+FFFD."""
    return [
        _LONE_SURROGATE.sub("\ufffd", value) if isinstance(value, str) and not value.isascii() else value
        for value in parameters
    ]


_ELSEWHERE = "set DATA_DIR, or DATABASE_URL, to a place where this user may write"


async def make_folder_for(path: Path, way_out: str = _ELSEWHERE) -> None:
    """Create the folder for a file; `way_out` is what to do if that fails.

    Raises:
        StorageError: NOT_FOUND, the folder cannot be created.
    """
    try:
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            StorageErrorCode.NOT_FOUND,
            f"The folder {path.parent} for the database cannot be made ({error.strerror}): {way_out}.",
        ) from error


@asynccontextmanager
async def replacing(target: Path) -> AsyncIterator[Path]:
    """A path to write to. At the end of the block the file replaces the target; after an error it is deleted.

    Raises:
        StorageError: WRITE_FAILED, the target cannot be replaced.
    """
    partial = target.with_name(f"{target.name}.partial")
    try:
        await asyncio.to_thread(partial.unlink, missing_ok=True)  # what an earlier attempt left when it was killed
        yield partial
        await asyncio.to_thread(partial.replace, target)
    except OSError as error:
        raise StorageError(
            StorageErrorCode.WRITE_FAILED, f"The file {target} cannot be written: {error.strerror}."
        ) from error
    finally:
        with suppress(OSError):
            await to_the_end(asyncio.to_thread(partial.unlink, missing_ok=True))


async def same_file(one: Path, other: Path) -> bool:
    return await asyncio.to_thread(one.resolve) == await asyncio.to_thread(other.resolve)


async def claimed(database: Path, patience_s: float) -> IO[bytes]:
    """Acquire the lock of a database; closing the file releases it.

    Raises:
        StorageError: IN_USE, another process held it the whole time; WRITE_FAILED, the lock file cannot be
        created.
    """
    path, deadline = database.with_name(f"{database.name}.lock"), time.monotonic() + patience_s
    while True:
        try:
            return await asyncio.to_thread(_lock, path)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise _in_use(database) from None
        except OSError as error:
            message = f"The file {path} cannot be written: {error.strerror}. Give this user the right to."
            raise StorageError(StorageErrorCode.WRITE_FAILED, message) from error
        await asyncio.sleep(_PAUSE_S)


def _lock(path: Path) -> IO[bytes]:
    file = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _in_use(database: Path) -> StorageError:
    return StorageError(
        StorageErrorCode.IN_USE,
        f"Another Marginalia is running on the database {database}, and two would answer everything twice. "
        "Stop that one, or give this one a DATA_DIR and a DATABASE_URL of its own.",
    )

"""The SQLite database: one connection for writing, one for reading, and transactions that survive the cancellation of
tasks.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from domain.concurrency import to_the_end
from domain.errors import SettingsError, StorageError, StorageErrorCode
from storage.sql.database import (
    CopyableDatabase,
    Migration,
    Result,
    Row,
    Statement,
    TableShape,
    Transaction,
    Value,
    assert_known,
    migrations_in,
)
from storage.sql.rows import time_to_text
from storage.sqlite.connection import Connection, claimed, make_folder_for, replacing, same_file

_LEDGER = """CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL
) STRICT"""
_LEDGER_COLUMNS = ["version", "name", "applied_at"]
_VERSIONS = "SELECT version FROM schema_migrations"
_FOUNDED = "SELECT applied_at FROM schema_migrations ORDER BY version LIMIT 1"
"""The moment in which a database was made, which its copies share with it and with nothing else."""

MEMORY = ":memory:"
OLDEST = (3, 37)
"""The first SQLite that has strict tables."""
_PRAGMAS = (
    # A commit is in the file once it returns, and stays there when the process is killed. NORMAL does not wait for the
    # disk: a power cut may cost the last commits, never the file; the bot then reads those messages from Discord again.
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    # Erased data is overwritten, not only unlinked; only some builds of SQLite do so by default.
    "PRAGMA secure_delete = ON",
)
EMPTY_AGAIN_S = 600.0
"""How long until a log is tried to be emptied again; each attempt may keep writers waiting for BUSY_TIMEOUT_S."""
_NEWEST = ("SELECT max(rowid) FROM turns", "SELECT max(rowid) FROM chat_messages")


class Migratable(Protocol):
    """The part of a database that migrations need."""

    @property
    def path(self) -> str: ...

    def transaction(self) -> AbstractAsyncContextManager[Connection]: ...


@cache
def shipped_migrations() -> tuple[Migration, ...]:
    """The migrations that come with the program, oldest first."""
    return migrations_in("storage.sqlite")


async def migrate(database: Migratable, migrations: Sequence[Migration]) -> None:
    """Bring a database up to the newest migration.

    Raises:
        StorageError: MIGRATION_FAILED, a migration failed; the database is as it was before that migration.
    """
    async with database.transaction() as transaction:
        await transaction.run(_LEDGER)
        applied = {int(row["version"]) for row in await transaction.run(_VERSIONS)}
    for migration in migrations:
        if migration.version not in applied:
            await _apply(database, migration)


async def refuse_others(connection: Connection, path: str, newest: int) -> None:
    """Refuse a database that this program cannot keep, before a byte of it is changed.

    Raises:
        StorageError: DB_CORRUPTED, it belongs to another program; MIGRATION_FAILED, it is newer than this program.
    """
    tables = {row["name"] for row in await connection.run("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return
    columns = [row["name"] for row in await connection.run("SELECT name FROM pragma_table_info('schema_migrations')")]
    is_ours = columns == _LEDGER_COLUMNS
    versions: list[Any] = [row["version"] for row in await connection.run(_VERSIONS)] if is_ours else []
    if not is_ours or not all(isinstance(version, int) for version in versions):
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED,
            f"The file {path} is a database of another program and was left as it is: name another file.",
        )
    assert_known(path, max(versions, default=0), newest)


async def _apply(database: Migratable, migration: Migration) -> None:
    try:
        async with database.transaction() as transaction:
            # Checked again inside the transaction: another process may have been faster.
            if await transaction.run("SELECT 1 FROM schema_migrations WHERE version = ?", [migration.version]):
                return
            await transaction.run_in_order(migration.statements())
            await _refuse_orphans(transaction)
            await transaction.run(
                "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
                [migration.version, migration.name, time_to_text(datetime.now(UTC))],
            )
    except StorageError as error:
        raise migration.failure(database.path, error) from error


async def _refuse_orphans(transaction: Connection) -> None:
    orphans = await transaction.run("PRAGMA foreign_key_check")
    if orphans:
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED, f"Rows of {orphans[0]['table']} would refer to rows that are gone."
        )


class SQLiteDatabase(CopyableDatabase):
    """A SQLite database in a file or in memory.

    Raises (all methods): StorageError with a sentence for people.
    """

    def __init__(self, path: str, writer: Connection, reader: Connection) -> None:
        self.path = path
        self._file = Path(path)
        self._writer = writer
        self._reader = reader
        self._turn = asyncio.Lock()
        self._writing: asyncio.Task[object] | None = None
        self._claim: IO[bytes] | None = None
        self._emptying: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, path: str | Path, migrations: Sequence[Migration] | None = None) -> "SQLiteDatabase":
        """Open the database, created and migrated as needed; `path` may be ":memory:".

        Raises:
            SettingsError: the library is too old.
            StorageError: DB_CORRUPTED, the file is damaged or not ours; it is left untouched.
            StorageError: MIGRATION_FAILED, the file is newer than this program, or a migration failed.
        """
        if sqlite3.sqlite_version_info < OLDEST:
            raise SettingsError(
                f"This Python uses SQLite {sqlite3.sqlite_version}, and {'.'.join(map(str, OLDEST))} or newer is "
                "needed. Install Marginalia with another Python, as docs/operations.md says."
            )
        name = str(path)
        if name != MEMORY:
            await make_folder_for(Path(name))
        writer = await Connection.open(name)
        database = cls(name, writer, writer)
        try:
            await database._prepare(shipped_migrations() if migrations is None else migrations)
        except BaseException:
            await to_the_end(database.close())
            raise
        return database

    async def _prepare(self, migrations: Sequence[Migration]) -> None:
        await refuse_others(self._writer, self.path, max((each.version for each in migrations), default=0))
        for pragma in _PRAGMAS:
            await self._writer.run_when_free(pragma)
        # Off while tables are rebuilt: with it on, dropping the old one would delete what refers to it.
        await self._writer.run("PRAGMA foreign_keys = OFF")
        await migrate(self, migrations)
        await self._writer.run("PRAGMA foreign_keys = ON")
        await self._try_to_write()
        if self.path != MEMORY:
            await self.forget_deleted()  # which the process before may not have come to
            self._reader = await Connection.open(self.path)
        await asyncio.sleep(0)  # a cancellation meanwhile is raised here, while there is somebody to close it

    async def _try_to_write(self) -> None:
        """Change something, and take it back: SQLite opens a file of another user, and begins a transaction in it, as
        if it could be written.
        """
        await self._writer.run("BEGIN IMMEDIATE")
        try:
            await self._writer.run("PRAGMA user_version = 0")
        finally:
            await self._writer.rollback()

    async def read(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """The rows of one query, as committed."""
        if self._reader is not self._writer:
            return await self._reader.run(sql, parameters)
        async with self.transaction() as transaction:
            return await transaction.run(sql, parameters)

    async def write_all(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """As storage.sql.database.Database says. Cancelled in the middle, they take effect all the same."""
        self._refuse_a_second()
        async with self._turn:
            self._refuse_if_gone()
            written = self._writer.run_all(statements)
        return await written

    async def atomically(
        self, work: Callable[[Transaction], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """See storage.sql.database.Database. Conflicts are impossible here, so the work runs once."""
        async with self.transaction() as transaction:
            return await work(transaction)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A transaction: committed at the end of the block, rolled back on an error or a cancellation.

        Only statements on the yielded connection belong to it: `read` does not see its changes, and `write` is
        refused.
        """
        self._refuse_a_second()
        async with self._turn:
            self._writing = asyncio.current_task()
            try:
                self._refuse_if_gone()
                await self._writer.run("BEGIN IMMEDIATE")
                yield self._writer
                await self._writer.run("COMMIT")
            except BaseException:
                # A connection executes statements in the order of the calls, even if nobody waits for them any more:
                # the statements of a cancelled task (COMMIT, too), then this, then the next transaction.
                await self._writer.rollback()
                raise
            finally:
                self._writing = None

    def _refuse_a_second(self) -> None:
        if self._writing is asyncio.current_task():
            raise RuntimeError("a transaction inside a transaction would wait for itself for ever")

    def _refuse_if_gone(self) -> None:
        """Refuse to write to a deleted file: it stays writable while it is open, but everything written is lost.

        Raises:
            StorageError: NOT_FOUND.
        """
        if self.path != MEMORY and not self._file.exists():
            raise StorageError(
                StorageErrorCode.NOT_FOUND,
                f"The database {self.path} is gone from the disk, and nothing can be kept: "
                "stop the program, put a backup in its place, and start it again.",
            )

    async def integrity_check(self) -> list[str]:
        """Problems with the file, one per line; an empty list means that all is well."""
        try:
            lines = [str(row["integrity_check"]) for row in await self.read("PRAGMA integrity_check")]
            orphans = await self.read("PRAGMA foreign_key_check")
        except StorageError as error:
            if error.code is not StorageErrorCode.DB_CORRUPTED:
                raise
            return ["it cannot be read to its end"]
        return [line for line in lines if line != "ok"] + [
            f"a row of {row['table']} refers to a row of {row['parent']} that is gone" for row in orphans
        ]

    async def backup(self, path: str | Path) -> None:
        """Write a copy of the whole database while it is in use; `path` has the old copy or the new one, never half of
        one.

        Raises:
            StorageError: WRITE_FAILED, the copy cannot be written there, or what is there is no older copy.
        """
        target = Path(path)
        if self.path != MEMORY and await same_file(target, Path(self.path)):
            raise StorageError(StorageErrorCode.WRITE_FAILED, "A backup needs another file than the database itself.")
        if await asyncio.to_thread(target.exists) and not await self._has_copy_at(target):
            raise StorageError(
                StorageErrorCode.WRITE_FAILED,
                f"{target} is not an earlier backup of this database and was left as it is: choose another folder.",
            )
        await make_folder_for(target, "choose another folder")
        async with replacing(target) as partial:
            await self._copy_to(str(partial))

    async def _has_copy_at(self, target: Path) -> bool:
        try:
            async with _connected(str(target)) as copy:
                return await copy.run(_FOUNDED) == await self.read(_FOUNDED)
        except StorageError:
            return False

    async def _copy_to(self, path: str) -> None:
        if self.path == MEMORY:
            async with self._turn:
                await to_the_end(self._writer.copy_to(path))
            return
        async with _connected(self.path) as source:  # with a thread of its own, so that no read waits for it
            await to_the_end(source.copy_to(path))

    async def forget_deleted(self) -> None:
        """Move everything from the write-ahead log into the file and empty the log, so that deleted text is gone from
        both. While another program reads, that is impossible: it is tried again until it works.
        """
        if not await self._empty_log() and self._emptying is None:
            self._emptying = asyncio.create_task(self._empty_log_later(), name="deleted text in the log")

    async def _empty_log(self) -> bool:
        async with self._turn:
            [tried] = await to_the_end(self._writer.run("PRAGMA wal_checkpoint(TRUNCATE)"))
        return not tried["busy"]

    async def _empty_log_later(self) -> None:
        is_empty = False
        while not is_empty:
            await asyncio.sleep(EMPTY_AGAIN_S)
            with suppress(StorageError):
                is_empty = await self._empty_log()
        self._emptying = None

    async def tables(self) -> dict[str, TableShape]:
        """As storage.sql.database.CopyableDatabase says."""
        listed = await self.read("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
        names = {row["name"]: bool(row["wr"]) for row in listed if not row["name"].startswith("sqlite_")}
        del names["schema_migrations"]
        return {name: await self._table(name, without_rowid) for name, without_rowid in names.items()}

    async def _table(self, name: str, without_rowid: bool) -> TableShape:
        columns = await self.read("SELECT name, pk FROM pragma_table_info(?)", [name])
        parents = await self.read('SELECT "table" AS parent FROM pragma_foreign_key_list(?)', [name])
        key = sorted((row["pk"], row["name"]) for row in columns if row["pk"])
        return TableShape(
            tuple(row["name"] for row in columns),
            tuple(column for _, column in key) if without_rowid else ("rowid",),
            frozenset(row["parent"] for row in parents),
        )

    async def finish_copy(self, transaction: Transaction) -> None:
        """Nothing to do: SQLite numbers a new row after the largest number."""

    async def ping(self) -> None:
        """Return once the database has answered from the disk, and the file is still in its place."""
        self._refuse_if_gone()
        await self.read("PRAGMA shrink_memory")  # SQLite's temporary files may be gone
        for query in _NEWEST:
            await self.read(query)

    async def claim(self, patience_s: float) -> None:
        """Be the only process to claim this file until it is closed or the process ends.

        Raises:
            StorageError: IN_USE, another process has kept it for longer than `patience_s` seconds.
        """
        if self.path != MEMORY and self._claim is None:
            self._claim = await claimed(Path(self.path), patience_s)

    async def close(self) -> None:
        """Wait for the running transaction, then close. Closing twice is fine."""
        if self._emptying is not None:
            self._emptying.cancel()
            await asyncio.wait({self._emptying})
        async with self._turn:
            if self._claim is not None:
                self._claim.close()
            if self._reader is not self._writer:
                await to_the_end(self._reader.close())
            await to_the_end(self._writer.close())


@asynccontextmanager
async def _connected(path: str) -> AsyncIterator[Connection]:
    connection = await Connection.open(path)
    try:
        yield connection
    finally:
        await to_the_end(connection.close())

"""Numbered migrations: found, checked against what the database has, and applied, each in a transaction of its own."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import cache
from typing import Protocol

from domain.errors import StorageError, StorageErrorCode
from storage.sql.rows import time_to_text
from storage.sql.schema import Migration, migrations_in
from storage.sqlite.connection import Connection

_LEDGER = """CREATE TABLE schema_migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL
) STRICT"""


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
    """Bring a database up to the newest of the migrations.

    Raises:
        StorageError: DB_CORRUPTED, it is another program's; MIGRATION_FAILED, it is newer than the program or a
            migration could not be applied, in which case the database is as it was before that migration.
    """
    async with database.transaction() as transaction:
        current = await _current_version(transaction, database.path)
    newest = max((migration.version for migration in migrations), default=0)
    if current > newest:
        raise StorageError(
            StorageErrorCode.MIGRATION_FAILED,
            f"The database {database.path} was written by a newer version of this program "
            f"(schema {current}, this program knows {newest}): update the program.",
        )
    for migration in migrations:
        await _apply(database, migration)


async def _current_version(transaction: Connection, path: str) -> int:
    tables = {str(row["name"]) for row in await transaction.run("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "schema_migrations" in tables:
        rows = await transaction.run("SELECT max(version) AS version FROM schema_migrations")
        return int(rows[0]["version"] or 0)
    if tables:
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED,
            f"The file {path} is a database of another program and was left as it is: name another file.",
        )
    await transaction.run(_LEDGER)
    return 0


async def _apply(database: Migratable, migration: Migration) -> None:
    try:
        async with database.transaction() as transaction:
            # Asked again inside the transaction: another process may have been faster.
            if await transaction.run("SELECT 1 FROM schema_migrations WHERE version = ?", [migration.version]):
                return
            for statement in migration.statements():
                await transaction.run(statement)
            await _refuse_orphans(transaction)
            await transaction.run(
                "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)",
                [migration.version, migration.name, time_to_text(datetime.now(UTC))],
            )
    except StorageError as error:
        raise StorageError(
            StorageErrorCode.MIGRATION_FAILED,
            f"The database {database.path} could not be brought to schema {migration.version} ({migration.name}) "
            f"and was left as it was. {error.message}",
        ) from error


async def _refuse_orphans(transaction: Connection) -> None:
    orphans = await transaction.run("PRAGMA foreign_key_check")
    if orphans:
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED, f"Rows of {orphans[0]['table']} would refer to rows that are gone."
        )

"""The schema in PostgreSQL: its migrations, numbered as SQLite's, each in a transaction, and the shapes of its tables.
Several nodes may start at once.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Protocol

from domain.errors import StorageError, StorageErrorCode
from storage.sql.database import (
    Database,
    Migration,
    Result,
    TableShape,
    Transaction,
    Value,
    assert_known,
    migrations_in,
)
from storage.sql.rows import time_to_text

_LEDGER = """CREATE TABLE IF NOT EXISTS schema_migrations (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL
)"""

# Hosts keep extensions in every database, which bring views (pg_stat_statements) and tables (PostGIS) of their own.
_TABLES = """
SELECT table_name FROM information_schema.tables
WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND NOT EXISTS (
  SELECT 1 FROM pg_depend
  WHERE classid = 'pg_class'::regclass AND objid = quote_ident(table_name)::regclass AND deptype = 'e'
)
"""

# Of two nodes that write the same number, the second waits until the first has committed, and then does nothing.
_RECORD = """
INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING version
"""

_COLUMNS = f"""
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name IN ({_TABLES})
ORDER BY table_name, ordinal_position
"""  # noqa: S608
_KEYS = """
SELECT usage.table_name, usage.column_name
FROM information_schema.table_constraints AS keys
  JOIN information_schema.key_column_usage AS usage USING (constraint_schema, constraint_name)
WHERE keys.constraint_type = 'PRIMARY KEY' AND keys.table_schema = current_schema()
ORDER BY usage.table_name, usage.ordinal_position
"""
_PARENTS = """
SELECT children.relname AS table_name, parents.relname AS parent
FROM pg_constraint
  JOIN pg_class AS children ON children.oid = conrelid
  JOIN pg_class AS parents ON parents.oid = confrelid
WHERE contype = 'f' AND connamespace = quote_ident(current_schema())::regnamespace
"""
IDENTITIES = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND is_identity = 'YES'
"""


class MigratableDatabase(Protocol):
    """The part of a database that migrations need."""

    @property
    def name(self) -> str: ...

    async def atomically(
        self, work: Callable[[Transaction], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result: ...


@cache
def shipped_migrations() -> tuple[Migration, ...]:
    """The migrations that come with the program, oldest first."""
    return migrations_in("storage.postgres")


async def migrate(database: MigratableDatabase, migrations: Sequence[Migration]) -> None:
    """Bring a database up to the newest migration.

    Raises:
        StorageError: DB_CORRUPTED, it belongs to another program; MIGRATION_FAILED, it is newer than this program,
        or a migration failed, in which case the database is as it was before that migration.
    """
    current = await database.atomically(lambda transaction: _current_version(transaction, database.name))
    newest = max((migration.version for migration in migrations), default=0)
    assert_known(database.name, current, newest)
    for migration in migrations:
        if migration.version > current:
            await _apply(database, migration)


async def _current_version(transaction: Transaction, name: str) -> int:
    tables = {str(row["table_name"]) for row in await transaction.run(_TABLES)}
    if tables and "schema_migrations" not in tables:
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED,
            f"The database {name} has tables of another program and was left as it is: name an empty database.",
        )
    await transaction.run(_LEDGER)
    rows = await transaction.run("SELECT coalesce(max(version), 0) AS version FROM schema_migrations")
    return int(rows[0]["version"])


async def _apply(database: MigratableDatabase, migration: Migration) -> None:
    async def apply(transaction: Transaction) -> None:
        record: list[Value] = [migration.version, migration.name, time_to_text(datetime.now(UTC))]
        if await transaction.run(_RECORD, record):
            await transaction.run(migration.script)

    try:
        await database.atomically(apply, timeout_s=MIGRATION_TIMEOUT_S)
    except StorageError as error:
        raise migration.failure(database.name, error) from error


async def table_shapes(database: Database) -> dict[str, TableShape]:
    """Every table with data of the program, by name."""
    columns, keys = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    parents = defaultdict[str, set[str]](set)
    for row in await database.read(_COLUMNS):
        columns[row["table_name"]].append(row["column_name"])
    for row in await database.read(_KEYS):
        keys[row["table_name"]].append(row["column_name"])
    for row in await database.read(_PARENTS):
        parents[row["table_name"]].add(row["parent"])
    return {
        name: TableShape(
            tuple(column for column in named if column != "rowid"),
            ("rowid",) if "rowid" in named else tuple(keys[name]),
            frozenset(parents[name]),
        )
        for name, named in columns.items()
        if name not in {"schema_migrations", "leases"}
    }


MIGRATION_TIMEOUT_S = 600.0
"""A migration that rewrites a large table takes minutes."""

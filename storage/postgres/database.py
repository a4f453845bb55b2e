"""A PostgreSQL database by psycopg 3: pooled connections, work that is done again after trouble, migrations and leases.

Nothing here outlives a transaction (no prepared statements, no session settings, no session locks), so that a pooler in
transaction mode may hand every transaction to another connection.
"""

import asyncio
import json
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

import psycopg
from psycopg import AsyncConnection, errors
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from domain.concurrency import MARGIN_S, HeldLease, to_the_end
from domain.errors import StorageError, StorageErrorCode
from storage.postgres.connection import (
    AGAIN,
    CONNECT_TIMEOUT_S,
    DUPLICATE,
    GIVE_UP_S,
    OPTIONS,
    Bound,
    BrokenConnectionError,
    Connection,
    OpenTransaction,
    bindable,
    cancelled_at,
    carried_out,
    configure,
    name_of,
    run_all,
    storage_error,
    try_to_connect,
)
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

CONNECTIONS = 10
"""The most that one process keeps open. A statement takes about a millisecond, so ten serve thousands a second."""

TOGETHER = 8
"""The most queries that are sent together: those after them may have another connection."""

CALL_TIMEOUT_S = 10.0
"""For one call, waiting for a connection included; a statement of the program takes a hundredth of that."""
RECONNECT_TIMEOUT_S = 5.0
"""How long the pool goes on trying on its own; after that the next call makes it try again."""
PAUSES_S = (0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Before work is done again that met another transaction or a broken connection."""
DUPLICATE_TRIES = 5
"""Where another transaction was faster with the same key, the work sees that when it is done again, and says so in its
own words. If it does not, the key is taken for good."""

MIGRATION_TIMEOUT_S = 600.0
"""A migration that rewrites a large table takes minutes."""
HURRY_S = 2.0
"""For a statement on which it depends whether a lease goes on: there is time for another one before it expires."""

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ"

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
_IDENTITIES = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND is_identity = 'YES'
"""


class PostgresDatabase(CopyableDatabase):
    """A PostgreSQL database.

    Raises (all methods): StorageError with a sentence for people.
    """

    def __init__(self, name: str, pool: "AsyncConnectionPool[Connection]", timeout_s: float = CALL_TIMEOUT_S) -> None:
        self.name, self._pool, self._timeout_s = name, pool, timeout_s
        self._queries: list[tuple[Bound, asyncio.Future[list[Row]]]] = []
        self._answering: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, url: str, migrations: Sequence[Migration] | None = None) -> "PostgresDatabase":
        """Open the database, brought up to date as needed.

        Raises:
            SettingsError: the URL cannot be read.
            StorageError: NOT_FOUND, it cannot be reached or used; DB_CORRUPTED, it is another program's.
            StorageError: MIGRATION_FAILED, it is newer than the program, or an update of it failed.
        """
        name = name_of(url)
        await try_to_connect(url, name)
        pool = AsyncConnectionPool(
            url,
            connection_class=AsyncConnection[DictRow],
            kwargs=OPTIONS,
            configure=configure,
            min_size=1,
            max_size=CONNECTIONS,
            timeout=CONNECT_TIMEOUT_S,
            reconnect_timeout=RECONNECT_TIMEOUT_S,
            open=False,
        )
        database = cls(name, pool)
        try:
            await pool.open()
            await _migrate(database, shipped_migrations() if migrations is None else migrations)
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
        self._queries.append(((sql, bindable(parameters)), rows))
        if len(self._queries) == 1:
            loop.call_soon(self._send_queries)
        return await rows

    def _send_queries(self) -> None:
        queries, self._queries = self._queries, []
        for first in range(0, len(queries), TOGETHER):
            task = asyncio.create_task(self._answer(queries[first : first + TOGETHER]))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _answer(self, queries: Sequence[tuple[Bound, asyncio.Future[list[Row]]]]) -> None:
        try:
            found = await self._persist(partial(run_all, statements=[query for query, _ in queries]))
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
        bound = [(sql, bindable(parameters)) for sql, parameters in statements]
        if len(bound) == 1:
            return await self._persist(partial(run_all, statements=bound))
        _, *rows, _ = await self._persist(partial(run_all, statements=[(_BEGIN, []), *bound, ("COMMIT", [])]))
        return rows

    async def atomically(
        self, work: Callable[[Transaction], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """As storage.sql.database.Database says; every statement sees the database as it was at the first one."""

        async def within(connection: Connection) -> Result:
            async with connection.transaction():
                return await work(OpenTransaction(connection))

        return await self._persist(within, timeout_s)

    async def _persist(self, work: Callable[[Connection], Awaitable[Result]], timeout_s: float | None = None) -> Result:
        """Do work on a connection; again, where it met another transaction or the connection broke."""
        timeout_s, loop = timeout_s or self._timeout_s, asyncio.get_running_loop()
        pauses, duplicates = iter(PAUSES_S), 0
        while True:
            over = loop.time() + timeout_s
            try:
                async with asyncio.timeout_at(over), self._pool.connection() as connection:
                    with cancelled_at(over - GIVE_UP_S, connection):
                        return await carried_out(connection, work)
            except (BrokenConnectionError, *AGAIN) as error:
                if loop.time() >= over - GIVE_UP_S:
                    raise self._late(timeout_s) from error
                cause = error.__cause__ if isinstance(error, BrokenConnectionError) else error
                assert isinstance(cause, psycopg.Error)
                duplicates += isinstance(cause, DUPLICATE)
                pause = next(pauses, None)
                if pause is None or duplicates > DUPLICATE_TRIES:
                    raise storage_error(cause, self.name) from cause
                if isinstance(error, BrokenConnectionError):
                    await self._drop_broken()
            except (errors.QueryCanceled, TimeoutError) as error:
                raise self._late(timeout_s) from error
            except psycopg.Error as error:
                raise storage_error(error, self.name) from error
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
        return await _table_shapes(self)

    async def finish_copy(self, transaction: Transaction) -> None:
        """As storage.sql.database.CopyableDatabase says."""
        for row in await transaction.run(_IDENTITIES):
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


@cache
def shipped_migrations() -> tuple[Migration, ...]:
    """The migrations that come with the program, oldest first."""
    return migrations_in("storage.postgres")


async def _migrate(database: PostgresDatabase, migrations: Sequence[Migration]) -> None:
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


async def _apply(database: PostgresDatabase, migration: Migration) -> None:
    async def apply(transaction: Transaction) -> None:
        record: list[Value] = [migration.version, migration.name, time_to_text(datetime.now(UTC))]
        if await transaction.run(_RECORD, record):
            await transaction.run(migration.script)

    try:
        await database.atomically(apply, timeout_s=MIGRATION_TIMEOUT_S)
    except StorageError as error:
        raise migration.failure(database.name, error) from error


async def _table_shapes(database: PostgresDatabase) -> dict[str, TableShape]:
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


_ACQUIRE = """
INSERT INTO leases (name, holder, epoch, expires_at)
VALUES (?1, ?2, 1, clock_timestamp() + make_interval(secs => ?3))
ON CONFLICT (name) DO UPDATE
  SET holder = excluded.holder, epoch = leases.epoch + 1, expires_at = excluded.expires_at
  WHERE leases.expires_at <= clock_timestamp()
RETURNING epoch, state, CAST(extract(epoch FROM clock_timestamp()) AS double precision) AS now
"""

_RENEW_ALL = """
UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => ?2) WHERE holder = ?1 RETURNING name, epoch
"""

_RENEW = """
UPDATE leases SET expires_at = clock_timestamp() + make_interval(secs => ?2), state = CAST(?3 AS json) ->> name
WHERE holder = ?1 AND CAST(?3 AS json) ->> name IS NOT NULL RETURNING name, epoch
"""

# The epoch is kept, so that the next holder gets a new one.
_RELEASE = """
UPDATE leases SET holder = '', expires_at = clock_timestamp(), state = ?4 WHERE name = ?1 AND holder = ?2 AND epoch = ?3
"""

_HELD = """
SELECT name FROM leases
WHERE starts_with(name, ?1) AND holder <> '' AND expires_at > clock_timestamp() - make_interval(secs => ?2)
"""

_NOTE = """
INSERT INTO leases (name, holder, epoch, expires_at, state) VALUES (?1, '', 0, '-infinity', ?2)
ON CONFLICT (name) DO UPDATE SET state = excluded.state
"""

# The row stays locked until the note is written, so that nobody takes the lease in between.
_NOTE_UNDER = """
WITH held AS (SELECT 1 FROM leases WHERE name = ?3 AND holder = ?4 AND epoch = ?5 FOR SHARE)
INSERT INTO leases (name, holder, epoch, expires_at, state) SELECT ?1, '', 0, '-infinity', ?2 FROM held
ON CONFLICT (name) DO UPDATE SET state = excluded.state
"""

_CLEAR = "DELETE FROM leases WHERE starts_with(name, ?1) AND expires_at < clock_timestamp() - INTERVAL '1 hour'"


class PostgresLeases:
    """LeaseRepository in PostgreSQL. Each method is one statement, which holds a lock while it runs."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._hurried = database.with_timeout(HURRY_S)

    async def acquire(self, name: str, holder: str, seconds: float) -> HeldLease | None:
        asked = time.monotonic()
        rows = await self._hurried.write(_ACQUIRE, [name, holder, seconds])
        if not rows:
            return None
        epoch, note, now = rows[0]["epoch"], rows[0]["state"], rows[0]["now"]
        return HeldLease(name, holder, epoch, asked + seconds - MARGIN_S, note, now - time.monotonic())

    async def renew(
        self, holder: str, seconds: float, notes: Mapping[str, str] | None = None
    ) -> Collection[tuple[str, int]]:
        if notes is None:
            rows = await self._hurried.write(_RENEW_ALL, [holder, seconds])
        else:
            rows = await self._hurried.write(_RENEW, [holder, seconds, json.dumps(dict(notes))])
        return {(row["name"], row["epoch"]) for row in rows}

    async def release(self, lease: HeldLease) -> None:
        await self._database.write(_RELEASE, [lease.name, lease.holder, lease.epoch, lease.note])

    async def list_held(self, prefix: str, late_s: float = 0.0) -> Collection[str]:
        return {row["name"] for row in await self._hurried.read(_HELD, [prefix, late_s])}

    async def get_note(self, name: str) -> str:
        row = await self._database.read_one("SELECT state FROM leases WHERE name = ?", [name])
        return "" if row is None else str(row["state"])

    async def set_note(self, name: str, note: str, under: HeldLease | None = None) -> None:
        if under is None:
            await self._database.write(_NOTE, [name, note])
        else:
            await self._database.write(_NOTE_UNDER, [name, note, under.name, under.holder, under.epoch])

    async def clear(self, prefix: str) -> None:
        await self._database.write(_CLEAR, [prefix])

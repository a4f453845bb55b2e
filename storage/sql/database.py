"""What the repositories need from a database, whichever one it is.

Statements are written once for all databases: parameters are `?` or `?1`, times and structures are text, booleans are
0 or 1.
"""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol, TypeVar

from domain.errors import StorageError, StorageErrorCode

Value = str | int | float | bytes | None
Statement = tuple[str, Iterable[Value]]
"""A statement and its parameters."""
Result = TypeVar("Result")


class Row(Protocol):
    """One row: column names to values."""

    def keys(self) -> Iterable[str]: ...
    def __getitem__(self, column: str, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


class Transaction(Protocol):
    """Statements that take effect together or not at all.

    Raises (all methods):
        StorageError, and nothing else.
    """

    async def run(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """Execute a statement and return its rows (those of RETURNING as well)."""
        ...

    async def run_many(self, sql: str, rows: Iterable[Iterable[Value]]) -> None:
        """Execute a statement once for each row of parameters."""
        ...


class Database(Protocol):
    """A database.

    Raises (all methods):
        StorageError with a sentence for people.
    """

    async def read(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """The rows of one query, as committed."""
        ...

    async def read_one(self, sql: str, parameters: Iterable[Value] = ()) -> Row | None:
        """The first row of one query."""
        rows = await self.read(sql, parameters)
        return rows[0] if rows else None

    async def write(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """Execute one statement in a transaction of its own."""
        [rows] = await self.write_all([(sql, parameters)])
        return rows

    async def write_all(self, statements: Sequence[Statement]) -> list[list[Row]]:
        """Statements in a transaction of their own, sent all at once; the rows that each gives back.

        If one of them fails, none takes effect. They may be carried out again, as the work of `atomically`.
        """
        ...

    async def atomically(
        self, work: Callable[[Transaction], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """Do work in a transaction: committed when it returns, rolled back when it raises or is cancelled.

        The work may run again from its beginning after a conflict with another transaction or a broken connection, and
        may then see its own earlier commit. It therefore changes nothing but the database, and is repeatable.
        `timeout_s` is for work that takes longer than a usual call.
        """
        ...

    async def forget_deleted(self) -> None:
        """Make sure that deleted text is gone from the disk, as far as the program can."""
        ...


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table: its columns, the columns that give the order of insertion, and the tables it refers to."""

    columns: tuple[str, ...]
    order: tuple[str, ...]
    parents: frozenset[str]


class CopyableDatabase(Database, Protocol):
    """A database that can be copied completely, also into one of another kind."""

    async def tables(self) -> dict[str, TableShape]:
        """Every table with data of the program, by name."""
        ...

    async def finish_copy(self, transaction: Transaction) -> None:
        """Continue row numbers after the copied ones."""
        ...


_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from one version of the schema to the next."""

    version: int
    name: str
    script: str

    def statements(self) -> Iterator[str]:
        """The statements of a script; each ends at the end of a line."""
        pending = ""
        for line in self.script.splitlines(keepends=True):
            pending += line
            if sqlite3.complete_statement(pending):
                yield pending
                pending = ""

    def failure(self, database: object, error: StorageError) -> StorageError:
        """What to raise where the step has failed in a database, which is then as it was before."""
        return StorageError(
            StorageErrorCode.MIGRATION_FAILED,
            f"The database {database} could not be brought to schema {self.version} ({self.name}) and was left as it "
            f"was. {error.message}",
        )


def assert_known(database: object, current: int, newest: int) -> None:
    """Refuse a database with a schema beyond the newest that the program knows.

    Raises:
        StorageError: MIGRATION_FAILED.
    """
    if current > newest:
        raise StorageError(
            StorageErrorCode.MIGRATION_FAILED,
            f"The database {database} was written by a newer version of this program "
            f"(schema {current}, this program knows {newest}): update the program.",
        )


def migrations_in(package: str) -> tuple[Migration, ...]:
    """The migrations in the folder `migrations` of a package, oldest first."""
    found = ((_FILE_NAME.fullmatch(file.name), file) for file in (files(package) / "migrations").iterdir())
    return tuple(
        sorted(
            (
                Migration(int(match["version"]), match["name"], file.read_text(encoding="utf-8"))
                for match, file in found
                if match
            ),
            key=lambda migration: migration.version,
        )
    )

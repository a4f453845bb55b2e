"""What the repositories need of a database, whichever it is.

Statements are written once for all of them: parameters are `?` or `?1`, times and structures are text, truth is 0 or 1.
"""

import re
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol, TypeVar

Value = str | int | float | bytes | None
Result = TypeVar("Result")


class Row(Protocol):
    """One row, its values by the names of the columns."""

    def keys(self) -> Iterable[str]: ...
    def __getitem__(self, column: str, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


class Transaction(Protocol):
    """Statements that take effect together or not at all.

    Raises (all methods): StorageError, and nothing else.
    """

    async def run(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """Carry out a statement; the rows it gives back (those of RETURNING as well)."""
        ...

    async def run_many(self, sql: str, rows: Iterable[Iterable[Value]]) -> None:
        """Carry out a statement once for each of the rows."""
        ...


class Database(Protocol):
    """A database.

    Raises (all methods): StorageError with a sentence for people.
    """

    async def read(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """The rows of one query, of what is committed."""
        ...

    async def read_one(self, sql: str, parameters: Iterable[Value] = ()) -> Row | None:
        """The first row of one query."""
        ...

    async def write(self, sql: str, parameters: Iterable[Value] = ()) -> list[Row]:
        """One statement in a transaction of its own."""
        ...

    async def atomically(
        self, work: Callable[[Transaction], Awaitable[Result]], timeout_s: float | None = None
    ) -> Result:
        """Do work in a transaction: committed when it returns, undone when it raises or is cancelled.

        The work may be done again from its beginning, where another transaction was in its way or the connection broke;
        it may then meet what it has itself committed. So it changes nothing but the database, and can be repeated.
        `timeout_s` is for work that takes longer than a call of the program does.
        """
        ...

    async def forget_deleted(self) -> None:
        """See to it that deleted text is gone from the disk, as far as the program can."""
        ...


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table: its columns, the columns by which its rows are in the order of writing, the tables it refers to."""

    columns: tuple[str, ...]
    order: tuple[str, ...]
    parents: frozenset[str]


class CopyableDatabase(Database, Protocol):
    """A database of which all can be copied, into one of another kind."""

    async def tables(self) -> dict[str, TableShape]:
        """Every table that holds something of the program's, by its name."""
        ...

    async def finish_copy(self) -> None:
        """Go on numbering rows where the copied ones end."""
        ...


_FILE_NAME = re.compile(r"(?P<version>\d{4})_(?P<name>\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """A step from one version of the schema to the next."""

    version: int
    name: str
    script: str

    def statements(self) -> Iterator[str]:
        """The script's statements; each ends at the end of a line."""
        pending = ""
        for line in self.script.splitlines(keepends=True):
            pending += line
            if sqlite3.complete_statement(pending):
                yield pending
                pending = ""


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

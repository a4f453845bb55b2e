"""From rows to values of the domain, and the statement that writes a row."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from domain.errors import ConversationError, StorageError, StorageErrorCode
from storage.sqlite.connection import Row

Entity = TypeVar("Entity")

_FEW_ROWS = 8
"""Up to here reading rows takes well under a millisecond; more (histories, with all their passages) go to a thread."""


def upsert(table: str, columns: Sequence[str], key: Sequence[str] = ("id",)) -> str:
    """The statement that inserts a row, or updates it where its key is known."""
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns if column not in key)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks(columns)}) "  # noqa: S608
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"
    )


def marks(values: Sequence[object]) -> str:
    """A question mark for each of the values."""
    return ", ".join("?" for _ in values)


def entity(read: Callable[[Row], Entity], row: Row | None) -> Entity | None:
    """What a row holds, or None where there is none.

    Raises:
        StorageError: DB_CORRUPTED, the row holds what no version of the program has written.
    """
    return None if row is None else _entities(read, [row])[0]


async def entities(read: Callable[[Row], Entity], rows: Sequence[Row]) -> list[Entity]:
    """What rows hold, without holding up the event loop.

    Raises:
        StorageError: DB_CORRUPTED, a row holds what no version of the program has written.
    """
    if len(rows) <= _FEW_ROWS:
        return _entities(read, rows)
    return await asyncio.to_thread(_entities, read, rows)


def _entities(read: Callable[[Row], Entity], rows: Sequence[Row]) -> list[Entity]:
    try:
        return [read(row) for row in rows]
    except (ValueError, TypeError, LookupError, ConversationError) as error:
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED,
            "An entry of the database cannot be read: restore a backup, or use the version of this program that "
            f"wrote it ({error}).",
        ) from error

"""Databases that are closed when their test is over, however it ends: an open one keeps Python alive."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from storage.opening import Storage, open_storage
from storage.sql.database import Migration
from storage.sqlite.database import SQLiteDatabase
from tests.storage.sqlite.tables import NOTES

OpenNotes = Callable[..., Awaitable[SQLiteDatabase]]
OpenStorage = Callable[[Path], Awaitable[Storage]]


@pytest.fixture
async def open_notes() -> AsyncIterator[OpenNotes]:
    """Opens a database with a schema of one table, or with the migrations given."""
    async with AsyncExitStack() as opened:

        async def opening(path: str | Path, migrations: Sequence[Migration] | None = NOTES) -> SQLiteDatabase:
            database = await SQLiteDatabase.open(path, migrations)
            opened.push_async_callback(database.close)
            return database

        yield opening


@pytest.fixture
async def opened() -> AsyncIterator[OpenStorage]:
    """Opens the storage in a file."""
    async with AsyncExitStack() as open_ones:

        async def opening(path: Path) -> Storage:
            return await open_ones.enter_async_context(await open_storage(f"sqlite:///{path}"))

        yield opening

"""SQLite databases for tests: each is a copy of one that has been brought up to date before, which takes less time."""

import asyncio
import shutil
import sqlite3
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from storage.opening import open_storage
from storage.sql.rows import time_to_text

LONG_AGO = time_to_text(datetime(1865, 11, 26, tzinfo=UTC))
"""When the copied one says it was made. All such texts are of one length, so that another can take its place."""


def lay_out(path: Path) -> None:
    """Put an empty database of the newest version where there is none yet, as if the program had just made it."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_empty().replace(LONG_AGO.encode(), time_to_text(datetime.now(UTC)).encode()))


@cache
def _empty() -> bytes:
    folder = Path(tempfile.mkdtemp())
    with ThreadPoolExecutor(1) as thread:  # a loop of its own, whatever runs in this one
        thread.submit(asyncio.run, _make(folder / "empty.db")).result()
    with closing(sqlite3.connect(folder / "empty.db", isolation_level=None)) as database:
        database.execute("UPDATE schema_migrations SET applied_at = ?", [LONG_AGO])
    made = (folder / "empty.db").read_bytes()
    shutil.rmtree(folder)
    return made


async def _make(path: Path) -> None:
    async with await open_storage(f"sqlite:///{path}"):
        pass

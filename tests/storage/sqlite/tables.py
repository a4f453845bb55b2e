"""A schema of one table, for tests that are about the database and not about what is in it."""

import threading

from storage.sql.database import Migration
from storage.sqlite.connection import Connection
from storage.sqlite.database import SQLiteDatabase

NOTES = (Migration(1, "notes", "CREATE TABLE notes (line TEXT NOT NULL) STRICT;\n"),)


async def write_line(transaction: Connection, line: str) -> None:
    await transaction.run("INSERT INTO notes (line) VALUES (?)", [line])


async def lines_of(database: SQLiteDatabase) -> list[str]:
    return [str(row["line"]) for row in await database.read("SELECT line FROM notes ORDER BY rowid")]


def threads_of_connections() -> list[threading.Thread]:
    """The threads of connections that are open; those that are about to end may do so first."""
    threads = [thread for thread in threading.enumerate() if "_connection_worker_thread" in thread.name]
    for thread in threads:
        thread.join(0.5)
    return [thread for thread in threads if thread.is_alive()]

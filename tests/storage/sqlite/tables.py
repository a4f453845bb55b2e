"""A schema of one table, for tests that are about the database and not about what is in it."""

from storage.sqlite.connection import Connection
from storage.sqlite.database import Database
from storage.sqlite.schema import Migration

NOTES = (Migration(1, "notes", "CREATE TABLE notes (line TEXT NOT NULL) STRICT;\n"),)


async def write_line(transaction: Connection, line: str) -> None:
    await transaction.run("INSERT INTO notes (line) VALUES (?)", [line])


async def lines_of(database: Database) -> list[str]:
    return [str(row["line"]) for row in await database.read("SELECT line FROM notes ORDER BY rowid")]

"""Readers' positions and preferences, in SQLite."""

from domain.book import PositionState, ReadingPosition
from storage.sqlite.connection import Row
from storage.sqlite.database import Database
from storage.sqlite.rows import entity

_SET_POSITION = """
INSERT INTO positions (reader_id, book_id, state, read_to) VALUES (?, ?, ?, ?)
ON CONFLICT (reader_id, book_id) DO UPDATE SET state = excluded.state, read_to = excluded.read_to
"""

_SET_VERBOSE = """
INSERT INTO readers (id, verbose) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET verbose = excluded.verbose
"""


class SQLiteReaders:
    """ReaderRepository in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_position(self, reader_id: str, book_id: str) -> ReadingPosition:
        row = await self._database.read_one(
            "SELECT state, read_to FROM positions WHERE reader_id = ? AND book_id = ?", [reader_id, book_id]
        )
        return entity(_position, row) or ReadingPosition()

    async def set_position(self, reader_id: str, book_id: str, position: ReadingPosition) -> None:
        if position.state is PositionState.UNSET:
            await self._database.write(
                "DELETE FROM positions WHERE reader_id = ? AND book_id = ?", [reader_id, book_id]
            )
        else:
            await self._database.write(_SET_POSITION, [reader_id, book_id, position.state, position.read_to])

    async def lowest_position(self, book_id: str) -> int | None:
        sql = "SELECT min(read_to) AS lowest FROM positions WHERE book_id = ? AND state = ?"
        row = await self._database.read_one(sql, [book_id, PositionState.READING])
        return None if row is None or row["lowest"] is None else int(row["lowest"])

    async def get_verbose(self, reader_id: str) -> bool | None:
        row = await self._database.read_one("SELECT verbose FROM readers WHERE id = ?", [reader_id])
        return None if row is None or row["verbose"] is None else bool(row["verbose"])

    async def set_verbose(self, reader_id: str, verbose: bool) -> None:
        await self._database.write(_SET_VERBOSE, [reader_id, verbose])


def _position(row: Row) -> ReadingPosition:
    return ReadingPosition(PositionState(row["state"]), row["read_to"])

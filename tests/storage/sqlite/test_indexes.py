"""No statement reads a table from end to end, however full the database gets."""

import sqlite3
from pathlib import Path

from domain.book import DerivedText, ReadingPosition
from domain.conversation import TurnState
from domain.records import UsageRecord
from domain.tool_use import TokenUsage
from storage.opening import Storage, open_storage
from storage.sql.books import _NEWEST_FIRST, _SELECT
from storage.sqlite.database import SQLiteDatabase
from tests.storage.values import MIDNIGHT, a_question, furnish, hold_turn

ALL_OF_A_TABLE = {f"{_SELECT} WHERE removed_at IS NULL {_NEWEST_FIRST}"}


async def test_every_statement_finds_its_rows_by_an_index(tmp_path: Path) -> None:
    path = tmp_path / "marginalia.db"
    async with await open_storage(f"sqlite:///{path}") as storage:
        statements = await _listen(storage)
        await _use_everything(storage)
    asked = {sql for sql in statements if sql.split()[0] in {"SELECT", "UPDATE", "DELETE", "INSERT"}}
    assert len(asked) > 40
    database = sqlite3.connect(path)
    scans = {sql: plan for sql in asked - ALL_OF_A_TABLE if (plan := _scans(database, sql))}
    database.close()
    assert not scans


async def _listen(storage: Storage) -> list[str]:
    """The statements that are carried out from now on, with their values filled in."""
    statements: list[str] = []
    assert isinstance(storage.engine, SQLiteDatabase)
    for connection in (storage.engine._writer, storage.engine._reader):
        await connection._connection.set_trace_callback(lambda sql: statements.append(sql.strip()))
    return statements


def _scans(database: sqlite3.Connection, sql: str) -> list[str]:
    details = [str(row[3]) for row in database.execute(f"EXPLAIN QUERY PLAN {sql}")]
    harmless = (
        "SCAN CONSTANT ROW",
        "SCAN replies VIRTUAL TABLE",
        "SCAN turns USING INDEX turns_un",
        "SCAN traces",
        "SCAN waiting",
    )
    return [detail for detail in details if detail.startswith("SCAN") and not detail.startswith(harmless)]


async def _use_everything(storage: Storage) -> None:
    await furnish(storage)
    turn = await hold_turn(storage, "first", external_id="900")
    await storage.books.get("alice")
    await storage.books.get_by_hash("local", "hash")
    await storage.books.count_by_hash("hash")
    await storage.books.list()
    await storage.books.list("local")
    await storage.conversations.get_by_thread("3")
    await storage.conversations.get_by_book("alice")
    await storage.conversations.get_by_guild("1")
    await storage.conversations.update_title("tea", "Tea")
    await storage.messages.get_by_conversation("tea")
    await storage.messages.get_recent("tea", 5)
    await storage.messages.get_by_external_id("900")
    await storage.messages.get_newest_external_id("tea")
    await storage.messages.list_authors("tea")
    await storage.messages.note_present("tea", "hatter")
    await storage.messages.list_people("tea")
    await storage.messages.list_waiting()
    await storage.messages.delete("first-question")
    await storage.messages.add_incoming(a_question("again"))
    await storage.turns.get_by_conversation("tea")
    await storage.turns.get_recent("tea", 5)
    await storage.turns.list_undelivered()
    await storage.turns.update_delivery(turn.id, ["1"], "2")
    retried = await storage.turns.begin("tea", ["again"], MIDNIGHT)
    assert retried.state is TurnState.RUNNING
    await storage.turns.reopen(retried.id)
    await storage.readers.set_position("hatter", "alice", ReadingPosition())
    await storage.readers.get_position("hatter", "alice")
    await storage.readers.list_positions("alice")
    await storage.readers.is_in_club("hatter", "alice")
    await storage.readers.set_verbose("hatter", True)
    await storage.readers.get_verbose("hatter")
    await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage()))
    await storage.usage.total_for_reader("hatter", MIDNIGHT)
    await storage.usage.total_for_guild("g", MIDNIGHT)
    await storage.derived_texts.put(DerivedText("alice", "summary", "1", 9, "", "model", MIDNIGHT))
    await storage.derived_texts.get("alice", "summary", "1", 9)
    await storage.privacy.export("hatter")
    await storage.privacy.erase("hatter")
    await storage.messages.delete_by_conversation("tea")
    await storage.conversations.delete("tea")
    await storage.books.delete("alice")

"""What an old database holds is still true after it was brought up to date, in SQLite and in PostgreSQL."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.chat import PlatformMessage
from storage.opening import open_storage
from storage.postgres.database import PostgresDatabase
from storage.postgres.database import shipped_migrations as migrations_of_postgres
from storage.sqlite.database import SQLiteDatabase
from storage.sqlite.database import shipped_migrations as migrations_of_sqlite
from tests.postgres import a_database

BEFORE_SHOWN_QUESTIONS = 20

A_BOOK = """
INSERT INTO books (id, shelf, sha256, title, author, format, page_count, chapter_count, word_count, length, created_at)
VALUES ('b', '1', 's', 'The Dark Lamp', '', 'txt', 1, 1, 1, 1, '2026')
"""
A_CONVERSATION = """
INSERT INTO conversations (id, book_id, title, created_at, guild_id, channel_id, thread_id)
VALUES (?, 'b', 'T', '2026', ?, ?, ?)
"""
A_QUESTION = """
INSERT INTO chat_messages (id, conversation_id, role, content, created_at, author_id, external_id)
VALUES (?, ?, 'user', 'Who', '2026', ?, ?)
"""
A_POST = "INSERT INTO posts (message_id, reader_id, channel_id, guild_id, words) VALUES (?, ?, ?, '1', ?)"


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/old.db"
    else:
        with a_database() as url:
            yield url


async def old(url: str, version: int) -> SQLiteDatabase | PostgresDatabase:
    """A database as an earlier version of the program has left it."""
    if url.startswith("sqlite"):
        return await SQLiteDatabase.open(url.removeprefix("sqlite:///"), migrations_of_sqlite()[:version])
    return await PostgresDatabase.open(url, migrations_of_postgres()[:version])


async def test_what_repeats_a_question_is_known_for_the_last_one_before_it(url: str) -> None:
    database = await old(url, BEFORE_SHOWN_QUESTIONS)
    await database.write(A_BOOK)
    await database.write(A_CONVERSATION, ["thread", "1", "10", "20"])
    await database.write(A_CONVERSATION, ["direct", "person:ann", "30", None])
    for message_id, conversation_id, author_id, external_id in (
        ("first", "thread", "ann", "command:900"),
        ("second", "thread", "ann", "command:1200"),  # longer, as numbers of Discord's become
        ("plain", "thread", "ann", "1050"),
        ("terminal", "thread", "ann", None),
        ("another", "thread", "ben", "command:950"),
        ("alone", "direct", "ann", "command:1300"),
    ):
        await database.write(A_QUESTION, [message_id, conversation_id, author_id, external_id])
    for message_id, reader_id, channel_id, words in (
        ("1000", "ann", "20", 1),
        ("1001", "ben", "20", 1),
        ("1250", "ann", "20", 1),
        ("1350", "ann", "30", 1),
        ("1400", "ann", "20", 0),
        ("800", "ann", "20", 1),  # there is none before it
        ("1450", "ann", "40", 1),  # its conversation is gone
    ):
        await database.write(A_POST, [message_id, reader_id, channel_id, words])
    await database.close()
    async with await open_storage(url) as storage:
        found = {
            each: await storage.messages.list_repetitions(each)
            for each in ("first", "second", "plain", "terminal", "another", "alone")
        }
        assert found == {
            "first": [PlatformMessage("1000", "20")],
            "second": [PlatformMessage("1250", "20")],
            "plain": [],
            "terminal": [],
            "another": [PlatformMessage("1001", "20")],
            "alone": [PlatformMessage("1350", "30")],
        }
        assert await storage.integrity_check() == []

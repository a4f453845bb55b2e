"""Every table is in the lists of what is kept about people and servers, and what is on them is copied and erased."""

import re
from typing import Any

import pytest

from storage.opening import Storage
from storage.sql.erasure import OF_A_SERVER
from storage.sql.privacy import IMPERSONAL, PERSONAL, PersonalColumn
from tests.storage.values import furnish, hold_turn, tables_with

PERSON, SERVER = "4711471147114711", "8822882288228822"

NAMES_A_PERSON = re.compile(r"(?:reader|author|owner|user|member|host|person|asker)_id|\w+_by")
NAMES_A_SERVER = re.compile(r"(?:guild|server|home)_id|shelf")

ROWS: dict[str, dict[str, Any]] = {
    "books": {"id": "b", "sha256": "s", "title": "T", "author": "A", "format": "txt", "page_count": 1,
              "chapter_count": 1, "word_count": 1, "length": 1, "created_at": "2026", "shelf": "local"},
    "conversations": {"id": "c", "book_id": "alice", "title": "T", "created_at": "2026"},
    "chat_messages": {"id": "m", "conversation_id": "tea", "role": "user", "content": "?", "created_at": "2026"},
    "turns": {"id": "t", "conversation_id": "tea", "number": 99, "state": "delivered", "started_at": "2026"},
    "positions": {"book_id": "alice", "state": "reading", "read_to": 1},
    "present": {"conversation_id": "tea"},
    "clubs": {"id": "club", "book_id": "alice", "channel_id": "2", "gate": "open", "created_at": "2026",
              "host_id": "", "guild_id": "1"},
    "club_members": {"club_id": "tea party", "joined_at": "2026"},
    "votes": {"id": "v", "channel_id": "2", "choices": "[]", "created_at": "2026", "ends_at": "2026",
              "asker_id": "", "guild_id": "1"},
    "greeted_servers": {},
    "usage": {"at": "2026", "model": "m", "input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0,
              "cache_write_tokens": 0},
    "readers": {"verbose": 1},
    "shown_questions": {"message_id": "1", "question_id": "first-question", "channel_id": "2", "repeated": 1},
    "posts": {"message_id": "1", "channel_id": "2", "reader_id": ""},
    "removals": {"message_id": "1", "channel_id": "2", "kind": "message", "noted_at": "2026"},
    "left_servers": {"left_at": "2026"},
    "open_replies": {"id": "1", "reader_id": "", "token": "k", "about": "{}", "began_at": "2026", "lease": "",
                     "epoch": 0},
    "posting_places": {"channel_id": "2", "at": "2026"},
    "servers": {"settings": "{}"},
}  # fmt: skip
"""A row of each table that holds somebody's id or a server's, but for that id. Whoever adds a table adds one here."""


@pytest.fixture(autouse=True)
async def tables(storage: Storage) -> None:
    await furnish(storage)
    await hold_turn(storage, "first")
    await put(storage, "clubs", id="tea party", channel_id="1")


async def put(storage: Storage, table: str, **values: str) -> None:
    row = ROWS[table] | values
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join("?" * len(row))
    await storage.engine.write(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))
    if table == "turns":  # of an answer without its question
        answer = ROWS["chat_messages"] | {"role": "assistant", "turn_id": "t"}
        await storage.engine.write(
            f"INSERT INTO chat_messages ({', '.join(answer)}) VALUES ({', '.join('?' * len(answer))})",
            list(answer.values()),
        )


async def test_every_table_is_on_the_list_of_personal_data_or_on_that_of_the_others(storage: Storage) -> None:
    personal = {each.table for each in PERSONAL}
    assert not personal & IMPERSONAL
    assert personal | IMPERSONAL == set(await storage.engine.tables())


async def test_every_column_that_names_a_person_is_on_the_list(storage: Storage) -> None:
    listed = {(each.table, each.column) for each in PERSONAL}
    for table, shape in (await storage.engine.tables()).items():
        named = {(table, column) for column in shape.columns if NAMES_A_PERSON.fullmatch(column)}
        assert named <= listed


async def test_every_column_that_names_a_server_is_on_the_list(storage: Storage) -> None:
    for table, shape in (await storage.engine.tables()).items():
        named = {column for column in shape.columns if NAMES_A_SERVER.fullmatch(column)}
        assert named <= ({OF_A_SERVER[table][0]} if table in OF_A_SERVER else set())


@pytest.mark.parametrize("place", PERSONAL, ids=lambda place: f"{place.table}.{place.column}")
async def test_what_is_on_the_list_is_copied_and_erased(storage: Storage, place: PersonalColumn) -> None:
    also = {"removed_at": "2026"} if place.column == "removed_by" else {}
    await put(storage, place.table, **{place.column: place.prefix + PERSON}, **also)
    kept = await storage.privacy.export(PERSON)
    assert kept["verbose"] if place.table == "readers" else kept[place.part]
    await storage.privacy.erase(PERSON)
    assert await tables_with(storage, PERSON) <= {"removals"}
    for removal in await storage.privacy.list_removals():
        await storage.privacy.removed(removal)
    assert await tables_with(storage, PERSON) == set()


async def test_what_belongs_to_a_server_is_erased_with_it(storage: Storage) -> None:
    for table, (column, *_) in OF_A_SERVER.items():
        await put(storage, table, **{column: SERVER})
        assert await tables_with(storage, SERVER) == {table}
        await storage.retention.erase_server(SERVER)
        assert await tables_with(storage, SERVER) == set()
    assert await storage.integrity_check() == []
    assert await storage.conversations.get("tea")

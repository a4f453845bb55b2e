"""Erasing, in SQL: what else goes or stays when a person is erased, additions to the list of what has to be removed
from Discord, and data whose time is up.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from domain.chat import without_quotation
from domain.conversation import title_from
from domain.records import Removal, RemovalKind
from storage.sql.database import Database, Row, Transaction
from storage.sql.people import KEEP_ERASURE, KEPT_FOR, add_spent, erased_person, salt_of_people
from storage.sql.rows import day_of, strings_from_text, time_to_text, title_mark, utc_now

_NOTE_ERASURE = """
INSERT INTO erasures (person, at, written_at) VALUES (?, ?, ?)
ON CONFLICT (person) DO UPDATE SET at = excluded.at, written_at = excluded.written_at
"""


async def was_erased(transaction: Transaction, reader_id: str, since: datetime, *, by_platform: bool = False) -> bool:
    """Whether all about a person was erased after that moment. If not, that has to wait until this transaction ends.

    `by_platform`: the moment is one by the platform's clock.
    """
    if not reader_id:
        return False
    [row] = await transaction.run(KEEP_ERASURE, [erased_person(reader_id, await salt_of_people(transaction))])
    return bool(row["written_at" if by_platform else "at"] >= time_to_text(since))


async def note_erasure(transaction: Transaction, reader_id: str, at: datetime, written_at: datetime) -> None:
    """Remember for a day that all about a person is erased. A transaction that writes about them at the same time waits
    for this one, and then sees it.

    `at` is the moment by the program's clock, `written_at` by the platform's.
    """
    person = erased_person(reader_id, await salt_of_people(transaction))
    await transaction.run(_NOTE_ERASURE, [person, time_to_text(at), time_to_text(written_at)])


_SPENT = """
SELECT guild_id, sum(input_tokens + output_tokens) AS tokens FROM usage
WHERE reader_id = ?1 AND at >= ?2 GROUP BY guild_id
"""

_LOOKED_UP = "DELETE FROM chat_messages WHERE turn_id = ? AND (role = 'tool_result' OR tool_invocations <> '[]')"
_RENAME = "UPDATE conversations SET title = ?, title_mark = ? WHERE id = ? AND title = ? AND title_source = 'automatic'"


async def forget_lookups(transaction: Transaction, turn_id: str | None) -> None:
    """Delete what was looked up for a turn: searches are made of its question's words."""
    await transaction.run(_LOOKED_UP, [turn_id])
    await transaction.run("UPDATE chat_messages SET raw = NULL WHERE turn_id = ?", [turn_id])


_QUOTING = """
SELECT chat_messages.id, content, conversation_id, turn_id
FROM shown_questions JOIN chat_messages ON question_id = chat_messages.id
WHERE reader_id = ?1 AND author_id <> ?1
"""


async def unquote(transaction: Transaction, reader_id: str) -> None:
    """Remove what others have quoted of a person's messages in their questions, and in titles made of these."""
    for row in await transaction.run(_QUOTING, [reader_id]):
        before, after = row["content"], without_quotation(row["content"])
        title, talk = title_from(after), row["conversation_id"]
        await transaction.run("UPDATE chat_messages SET content = ? WHERE id = ?", [after, row["id"]])
        await forget_lookups(transaction, row["turn_id"])
        await transaction.run(_RENAME, [title, title_mark(talk, title), talk, title_from(before)])


async def keep_spent(transaction: Transaction, reader_id: str, now: datetime) -> None:
    """Keep what the person has used today under hashes, so that erasing does not give the day's tokens back."""
    spent = {
        row["guild_id"] or "": int(row["tokens"]) for row in await transaction.run(_SPENT, [reader_id, day_of(now)])
    }
    if spent:
        await add_spent(transaction, reader_id, now, spent)


_NOTE_REMOVAL = """
INSERT INTO removals (channel_id, message_id, kind, guild_id, reader_id, name, noted_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (channel_id, message_id) DO UPDATE SET kind = excluded.kind, reader_id = excluded.reader_id,
  name = excluded.name, noted_at = excluded.noted_at, refused_at = ''
"""


async def note_removals(transaction: Transaction, removals: Iterable[Removal], now: datetime) -> None:
    """Add to the list of removals, within a transaction."""
    rows = [
        (each.channel_id, each.message_id, each.kind, each.guild_id, each.reader_id, each.name, time_to_text(now))
        for each in removals
    ]
    await transaction.run_many(_NOTE_REMOVAL, rows)


def removals_of_turns(rows: Iterable[Row | dict[str, Any]], reader_id: str = "") -> list[Removal]:
    """The messages that show turns; rows have `guild_id`, `thread_id`, `reply_ids` and `trace_id`."""
    return [
        Removal(RemovalKind.MESSAGE, row["thread_id"], message_id, row["guild_id"], reader_id)
        for row in rows
        for message_id in (*strings_from_text(row["reply_ids"]), row["trace_id"])
        if row["thread_id"] and message_id
    ]


# What waits in a thread that is there will be answered, however late. A turn that runs has begun since, or is one of a
# thread; in the terminal, nobody but whoever takes the conversation up waits for anything. A club's section may have a
# thread for weeks before anybody has read so far.
_IDLE = """
DELETE FROM conversations WHERE created_at < ?1
  AND NOT EXISTS (SELECT 1 FROM chat_messages WHERE conversation_id = conversations.id AND created_at >= ?1)
  AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation_id = conversations.id AND started_at >= ?1)
  AND (thread_id IS NULL OR (
    NOT EXISTS (
      SELECT 1 FROM chat_messages WHERE conversation_id = conversations.id AND role = 'user' AND turn_id IS NULL)
    AND NOT EXISTS (
      SELECT 1 FROM turns WHERE conversation_id = conversations.id
        AND (state IN ('running', 'answered') OR (state = 'failed' AND told = 0)))))
  AND (EXISTS (SELECT 1 FROM chat_messages WHERE conversation_id = conversations.id) OR NOT EXISTS (
    SELECT 1 FROM club_sections JOIN clubs ON clubs.id = club_id
    WHERE conversation_id = conversations.id AND ended_at IS NULL))
RETURNING id
"""

# On Discord a conversation is bound within seconds, or given up; its owner's id is a number there.
_UNOPENED = """
DELETE FROM conversations
WHERE created_at < ? AND guild_id IS NULL AND thread_id IS NULL AND owner_id >= '0' AND owner_id < ':'
RETURNING id
"""

_ENDED = """
SELECT id FROM turns WHERE finished_at < ?1 AND (state = 'delivered' OR (state = 'failed' AND told = 1))
"""

_TOOL_CALLS = f"""
DELETE FROM chat_messages
WHERE turn_id IN ({_ENDED}) AND (role = 'tool_result' OR (role = 'assistant' AND tool_invocations <> '[]'))
RETURNING role
"""  # noqa: S608

# The provider's own form of an answer refers to results by their place, and they are gone.
_RAW = f"UPDATE chat_messages SET raw = NULL WHERE raw IS NOT NULL AND turn_id IN ({_ENDED})"  # noqa: S608


_GONE = "DELETE FROM conversations WHERE gone_at IS NOT NULL AND gone_at < ? RETURNING id"

_SERVERS = """
SELECT shelf AS guild_id FROM books WHERE shelf >= '0' AND shelf < ':'
UNION SELECT guild_id FROM conversations WHERE guild_id >= '0' AND guild_id < ':'
UNION SELECT id FROM servers
"""

OF_A_SERVER = {
    "books": ("shelf", "DELETE FROM books WHERE shelf = ?"),
    "conversations": ("guild_id", "DELETE FROM conversations WHERE guild_id = ?"),
    "usage": ("guild_id", "UPDATE usage SET guild_id = NULL, conversation_id = NULL WHERE guild_id = ?"),
    "clubs": ("guild_id", "DELETE FROM clubs WHERE guild_id = ?"),
    "votes": ("guild_id", "DELETE FROM votes WHERE guild_id = ?"),
    "greeted_servers": ("guild_id", "DELETE FROM greeted_servers WHERE guild_id = ?"),
    "servers": ("id", "DELETE FROM servers WHERE id = ?"),
    "posts": ("guild_id", "DELETE FROM posts WHERE guild_id = ?"),
    "removals": ("guild_id", "DELETE FROM removals WHERE guild_id = ?"),
    "open_replies": ("guild_id", "DELETE FROM open_replies WHERE guild_id = ?"),
    "posting_places": ("guild_id", "DELETE FROM posting_places WHERE guild_id = ?"),
    "left_servers": ("guild_id", "DELETE FROM left_servers WHERE guild_id = ?"),
}
"""The only list of a server's data: each table's column with the server's id, and the statement that erases the rows.

Rows that refer to a book or a conversation are deleted with it. The last entry is the note that the server is to be
erased.
"""

AT_ONCE = ""
"""The time noted for a server that is erased even while the bot is in it."""


class SQLRetention:
    """RetentionRepository in SQL."""

    def __init__(self, database: Database, now: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._now = now

    async def erase_conversations(self, idle_since: datetime) -> int:
        return await self._erase(_IDLE, idle_since)

    async def erase_unopened(self, before: datetime) -> int:
        return await self._erase(_UNOPENED, before)

    async def erase_gone(self, before: datetime) -> int:
        return await self._erase(_GONE, before)

    async def erase_tool_calls(self, before: datetime) -> int:
        async def erase(transaction: Transaction) -> int:
            rows = await transaction.run(_TOOL_CALLS, [time_to_text(before)])
            if rows:
                await transaction.run(_RAW, [time_to_text(before)])
            return sum(row["role"] == "tool_result" for row in rows)

        return await self._forgotten(await self._database.atomically(erase))

    async def erase_notes(self, before: datetime) -> None:
        async def erase(transaction: Transaction) -> None:
            await transaction.run("DELETE FROM removals WHERE noted_at < ?", [time_to_text(before)])
            for table in ("erasures", "allowances", "locks"):
                yesterday = time_to_text(self._now() - KEPT_FOR)
                await transaction.run(f"DELETE FROM {table} WHERE at < ?", [yesterday])  # noqa: S608
            await transaction.run("DELETE FROM open_replies WHERE began_at < ?", [time_to_text(before)])
            today = day_of(self._now())
            await transaction.run("DELETE FROM spent_tokens WHERE day < ?", [today])
            await transaction.run("DELETE FROM salts WHERE name >= '0' AND name < ?", [today])

        await self._database.atomically(erase)
        await self._database.forget_deleted()  # a hash without its salt says nothing

    async def list_servers(self) -> Sequence[str]:
        return [row["guild_id"] for row in await self._database.read(_SERVERS)]

    async def note_left(self, guild_ids: Iterable[str]) -> None:
        rows = [[guild_id, time_to_text(self._now())] for guild_id in guild_ids]
        sql = "INSERT INTO left_servers (guild_id, left_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
        await self._database.atomically(lambda transaction: transaction.run_many(sql, rows))

    async def note_back(self, guild_ids: Iterable[str]) -> None:
        known = {row["guild_id"] for row in await self._database.read("SELECT guild_id FROM left_servers")}
        rows = [[guild_id, AT_ONCE] for guild_id in known.intersection(guild_ids)]
        if rows:
            sql = "DELETE FROM left_servers WHERE guild_id = ? AND left_at <> ?"
            await self._database.atomically(lambda transaction: transaction.run_many(sql, rows))

    async def note_to_erase(self, guild_id: str) -> None:
        await self._database.write(
            "INSERT INTO left_servers (guild_id, left_at) VALUES (?1, ?2) "
            "ON CONFLICT (guild_id) DO UPDATE SET left_at = excluded.left_at",
            [guild_id, AT_ONCE],
        )

    async def list_left(self, before: datetime | None) -> Sequence[str]:
        moment = AT_ONCE if before is None else time_to_text(before)
        rows = await self._database.read("SELECT guild_id FROM left_servers WHERE left_at <= ?", [moment])
        return [row["guild_id"] for row in rows]

    async def erase_server(self, guild_id: str) -> None:
        async def erase(transaction: Transaction) -> None:
            for _, sql in OF_A_SERVER.values():
                await transaction.run(sql, [guild_id])

        await self._database.atomically(erase)
        await self._database.forget_deleted()

    async def _erase(self, sql: str, moment: datetime) -> int:
        return await self._forgotten(len(await self._database.write(sql, [time_to_text(moment)])))

    async def _forgotten(self, count: int) -> int:
        if count:
            await self._database.forget_deleted()
        return count

"""Everything that is kept about a person, in SQL: as a copy for that person, or erased."""

from datetime import datetime
from typing import Any

from domain.conversation import UNTITLED
from domain.usage import Erasure
from storage.sql.database import Database, Transaction
from storage.sql.people import SQLReaders
from storage.sql.rows import strings_from_text, time_to_text

_EXPORTED = {
    "positions": """
        SELECT books.title AS book, book_id, state, read_to
        FROM positions JOIN books ON books.id = book_id WHERE reader_id = ? ORDER BY books.created_at""",
    "books_added": """
        SELECT id, shelf, title, author, format, created_at FROM books WHERE added_by = ? ORDER BY created_at""",
    "conversations": """
        SELECT conversations.id, conversations.title, books.title AS book, guild_id, thread_id, conversations.created_at
        FROM conversations JOIN books ON books.id = book_id WHERE owner_id = ? ORDER BY conversations.created_at""",
    "messages": """
        SELECT conversation_id, conversations.title AS conversation, chat_messages.created_at, author_name, note,
          content, external_id
        FROM chat_messages JOIN conversations ON conversations.id = conversation_id
        WHERE author_id = ? ORDER BY arrival""",
    "present_in": """
        SELECT conversation_id, conversations.title AS conversation
        FROM present JOIN conversations ON conversations.id = conversation_id
        WHERE reader_id = ? ORDER BY conversations.created_at""",
    "clubs": """
        SELECT books.title AS book, guild_id, channel_id, joined_at, checked_in_at, hidden, left_at,
          CASE host_id WHEN reader_id THEN 1 ELSE 0 END AS host
        FROM club_members JOIN clubs ON clubs.id = club_id JOIN books ON books.id = book_id
        WHERE reader_id = ? ORDER BY joined_at""",
    "votes": """
        SELECT guild_id, channel_id, choices, created_at, ends_at FROM votes WHERE asker_id = ? ORDER BY created_at""",
    "usage": """
        SELECT at, guild_id, conversation_id, model, input_tokens, output_tokens, cache_read_tokens,
          cache_write_tokens, cost_microdollars
        FROM usage WHERE reader_id = ? ORDER BY at""",
}

_ALONE = """
SELECT id, thread_id FROM conversations WHERE owner_id = ?1 AND NOT EXISTS (
  SELECT 1 FROM chat_messages
  WHERE conversation_id = conversations.id AND role = 'user' AND author_id NOT IN ('', ?1))
"""

_THEIR_TURNS = "SELECT DISTINCT turn_id FROM chat_messages WHERE author_id = ?1 AND turn_id IS NOT NULL"
_THEIR_MESSAGES = f"(author_id = ?1 OR turn_id IN ({_THEIR_TURNS}))"

_REPLIES = f"""
SELECT conversations.thread_id, turns.reply_ids, turns.trace_id
FROM turns JOIN conversations ON conversations.id = conversation_id
WHERE turns.id IN ({_THEIR_TURNS}) AND thread_id IS NOT NULL
ORDER BY turns.conversation_id, turns.number
"""  # noqa: S608

# A title that was made from somebody's words, or given by the person who goes, goes too.
_UNTITLE = f"""
UPDATE conversations SET title = ?2, title_source = 'automatic'
WHERE owner_id = ?1
  OR (title_source <> 'person' AND id IN (SELECT conversation_id FROM chat_messages WHERE {_THEIR_MESSAGES}))
"""  # noqa: S608

_REMEMBER_NOTHING_BUT_IDS = f"""
INSERT INTO forgotten_messages (external_id, conversation_id)
SELECT external_id, conversation_id FROM chat_messages WHERE {_THEIR_MESSAGES} AND external_id IS NOT NULL
ON CONFLICT DO NOTHING
"""  # noqa: S608

# A club goes on with whoever has taken part longest of the others.
_HAND_OVER = """
UPDATE clubs SET host_id = coalesce((
  SELECT reader_id FROM club_members
  WHERE club_id = clubs.id AND reader_id <> ?1 AND left_at IS NULL ORDER BY joined_at, reader_id LIMIT 1), '')
WHERE host_id = ?1
"""

_AFTER_THE_MESSAGES = (
    "UPDATE conversations SET owner_id = '' WHERE owner_id = ?1",
    "UPDATE books SET added_by = '' WHERE added_by = ?1",
    "UPDATE books SET removed_by = '' WHERE removed_at IS NOT NULL AND removed_by = ?1",
    "UPDATE usage SET reader_id = '' WHERE reader_id = ?1",
    "DELETE FROM present WHERE reader_id = ?1",
    _HAND_OVER,
    "UPDATE clubs SET look_at = '' WHERE id IN (SELECT club_id FROM club_members WHERE reader_id = ?1)",
    "DELETE FROM club_members WHERE reader_id = ?1",
    "UPDATE votes SET asker_id = '' WHERE asker_id = ?1",
    "DELETE FROM positions WHERE reader_id = ?1",
    "DELETE FROM readers WHERE id = ?1 AND opted_out = 0",  # that they want to be left out is not forgotten
    'UPDATE readers SET "verbose" = NULL, locale = NULL WHERE id = ?1',
)


class SQLPrivacy:
    """PrivacyRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._readers = SQLReaders(database)

    async def export(self, reader_id: str) -> dict[str, Any]:
        kept: dict[str, Any] = {"reader_id": reader_id, "verbose": await self._readers.get_verbose(reader_id)}
        kept["language"] = await self._readers.get_locale(reader_id)
        kept["left_out"] = await self._readers.is_opted_out(reader_id)
        for part, sql in _EXPORTED.items():
            kept[part] = [dict(row) for row in await self._database.read(sql, [reader_id])] if reader_id else []
        return kept

    async def erase(self, reader_id: str) -> Erasure:
        if not reader_id:  # the empty id stands for everybody who is not known
            return Erasure()
        erased = await self._database.atomically(lambda transaction: _erase(transaction, reader_id))
        await self._database.forget_deleted()
        return erased


async def _erase(transaction: Transaction, reader_id: str) -> Erasure:
    written = await transaction.run("SELECT count(*) AS written FROM chat_messages WHERE author_id = ?", [reader_id])
    alone = await _delete_conversations_alone(transaction, reader_id)
    replies = await _delete_turns(transaction, reader_id)
    for sql in _AFTER_THE_MESSAGES:
        await transaction.run(sql, [reader_id])
    return Erasure(
        messages=int(written[0]["written"]),
        conversations=len(alone),
        thread_ids=tuple(thread for thread in alone if thread),
        replies=replies,
    )


async def _delete_conversations_alone(transaction: Transaction, reader_id: str) -> list[str]:
    """Delete the conversations that are the person's and nobody else's; the thread of each, or ''."""
    rows = await transaction.run(_ALONE, [reader_id])
    await transaction.run_many("DELETE FROM conversations WHERE id = ?", [[row["id"]] for row in rows])
    return [row["thread_id"] or "" for row in rows]


async def _delete_turns(transaction: Transaction, reader_id: str) -> tuple[tuple[str, str], ...]:
    """Delete what the person wrote in company, with the answers to it; the replies that showed them.

    A turn goes as a whole, even if somebody else wrote in it too: a question without its answer, or an answer that
    repeats a question that is gone, would leave a history that is neither private nor valid.
    """
    replies = await transaction.run(_REPLIES, [reader_id])
    await transaction.run(_UNTITLE, [reader_id, UNTITLED])
    await transaction.run(_REMEMBER_NOTHING_BUT_IDS, [reader_id])
    await transaction.run(f"DELETE FROM turns WHERE id IN ({_THEIR_TURNS})", [reader_id])  # noqa: S608
    await transaction.run("DELETE FROM chat_messages WHERE author_id = ?", [reader_id])
    return tuple(
        (str(row["thread_id"]), message_id)
        for row in replies
        for message_id in (*strings_from_text(row["reply_ids"]), row["trace_id"])
        if message_id is not None
    )


# What waits in a thread that is there will be answered, however late. A turn that runs has begun since, or is one of a
# thread; in the terminal, nobody but whoever takes the conversation up waits for anything.
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


class SQLRetention:
    """RetentionRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def erase_conversations(self, idle_since: datetime) -> int:
        return await self._erase(_IDLE, idle_since)

    async def erase_unopened(self, before: datetime) -> int:
        return await self._erase(_UNOPENED, before)

    async def erase_tool_calls(self, before: datetime) -> int:
        async def erase(transaction: Transaction) -> int:
            rows = await transaction.run(_TOOL_CALLS, [time_to_text(before)])
            if rows:
                await transaction.run(_RAW, [time_to_text(before)])
            return sum(row["role"] == "tool_result" for row in rows)

        return await self._forgotten(await self._database.atomically(erase))

    async def _erase(self, sql: str, moment: datetime) -> int:
        return await self._forgotten(len(await self._database.write(sql, [time_to_text(moment)])))

    async def _forgotten(self, count: int) -> int:
        if count:
            await self._database.forget_deleted()
        return count

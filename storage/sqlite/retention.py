"""Erasing what is not to be kept any longer, in SQLite."""

from datetime import datetime

from storage.sqlite.connection import Connection
from storage.sqlite.database import Database
from storage.sqlite.serialisation import time_to_text

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
WHERE created_at < ? AND guild_id IS NULL AND thread_id IS NULL AND owner_id GLOB '[0-9]*'
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


class SQLiteRetention:
    """RetentionRepository in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def erase_conversations(self, idle_since: datetime) -> int:
        return await self._erase(_IDLE, idle_since)

    async def erase_unopened(self, before: datetime) -> int:
        return await self._erase(_UNOPENED, before)

    async def erase_tool_calls(self, before: datetime) -> int:
        async with self._database.transaction() as transaction:
            rows = await transaction.run(_TOOL_CALLS, [time_to_text(before)])
            if rows:
                await self._forget_raw(transaction, before)
        return await self._forgotten(sum(row["role"] == "tool_result" for row in rows))

    async def _forget_raw(self, transaction: Connection, before: datetime) -> None:
        await transaction.run(_RAW, [time_to_text(before)])

    async def _erase(self, sql: str, moment: datetime) -> int:
        return await self._forgotten(len(await self._database.write(sql, [time_to_text(moment)])))

    async def _forgotten(self, count: int) -> int:
        if count:
            await self._database.forget_deleted()
        return count

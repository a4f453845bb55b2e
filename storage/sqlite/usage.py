"""What requests to models used, in SQLite."""

from collections.abc import Sequence
from datetime import datetime

from domain.tool_use import TokenUsage
from domain.usage import UsageRecord, UsageTotal
from storage.sqlite.connection import Value
from storage.sqlite.database import Database
from storage.sqlite.serialisation import time_to_text

_RECORD = """
INSERT INTO usage (at, reader_id, guild_id, conversation_id, model, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, cost_microdollars)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_TOTAL = """
SELECT count(*) AS requests, total(input_tokens) AS input_tokens, total(output_tokens) AS output_tokens,
  total(cache_read_tokens) AS cache_read_tokens, total(cache_write_tokens) AS cache_write_tokens,
  total(cost_microdollars) AS cost_microdollars, count(*) - count(cost_microdollars) AS unpriced
FROM usage WHERE
"""


class SQLiteUsage:
    """UsageRepository in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, record: UsageRecord) -> None:
        tokens = record.usage
        await self._database.write(
            _RECORD,
            [
                time_to_text(record.at), record.reader_id, record.guild_id, record.conversation_id, record.model,
                tokens.input_tokens, tokens.output_tokens, tokens.cache_read_tokens, tokens.cache_write_tokens,
                record.cost_microdollars,
            ],
        )  # fmt: skip

    async def total_for_reader(self, reader_id: str, since: datetime) -> UsageTotal:
        return await self._total("reader_id = ? AND at >= ?", [reader_id, time_to_text(since)])

    async def total_for_guild(self, guild_id: str, since: datetime) -> UsageTotal:
        return await self._total("guild_id = ? AND at >= ?", [guild_id, time_to_text(since)])

    async def total_for_conversation(self, conversation_id: str) -> UsageTotal:
        return await self._total("conversation_id = ?", [conversation_id])

    async def _total(self, condition: str, parameters: Sequence[Value]) -> UsageTotal:
        row = (await self._database.read(_TOTAL + condition, parameters))[0]
        usage = TokenUsage(
            int(row["input_tokens"]),
            int(row["output_tokens"]),
            int(row["cache_read_tokens"]),
            int(row["cache_write_tokens"]),
        )
        return UsageTotal(row["requests"], usage, int(row["cost_microdollars"]), row["unpriced"])

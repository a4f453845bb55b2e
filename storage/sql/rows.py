"""Domain values to rows and JSON text, and back.

Data of older and newer versions stays readable: unknown keys are ignored, missing keys take the value's default.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

from domain.book import Citation, Passage, Sentence
from domain.chat import ChatMessage, MessageRole
from domain.conversation import SystemPrompt
from domain.errors import ConversationError, StorageError, StorageErrorCode
from domain.spoilers.filter import hide
from domain.tool_use import RawReply, TokenUsage, ToolDefinition, ToolInvocation
from storage.sql.database import Row

Value = TypeVar("Value", Citation, Passage, RawReply, TokenUsage, ToolDefinition, ToolInvocation)

_NAMES: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind))
    for kind in (Citation, Passage, RawReply, TokenUsage, ToolDefinition, ToolInvocation)
}
"""Each value's field names, cached: they are needed thousands of times per history."""

FIRST_OF_RECENT = """coalesce((
  SELECT number FROM turns WHERE conversation_id = ?1 AND state != 'failed'
  ORDER BY number DESC LIMIT 1 OFFSET CASE WHEN ?2 > 0 THEN ?2 - 1 ELSE 0 END
), 0)"""
"""The number of the oldest of the newest turns: the last `n` that did not fail, and the failed ones among them."""

# Discord's own rule; whatever is in no server belongs to the first shard.
OF_SHARD = """
(CAST(CASE WHEN guild_id <> '' AND ltrim(guild_id, '0123456789') = '' THEN guild_id ELSE '0' END AS BIGINT) >> 22)
  % ?2 = ?1
"""

LINK_QUESTION = """
INSERT INTO shown_questions (message_id, question_id, reader_id, channel_id, repeated)
SELECT ?1, id, CASE ?4 WHEN '' THEN author_id ELSE ?4 END, ?2, {repeated} FROM chat_messages WHERE id = ?3
ON CONFLICT (message_id, question_id) DO UPDATE SET channel_id = excluded.channel_id RETURNING question_id
"""
"""Notes that a message shows a question, or is quoted in it, if that exists; `repeated` is 1 for the bot's own
messages, else 0. The last value is who has written it, empty if that is who asks.
"""

IN_PLACE = "(channel_id = ?1 OR channel_id IN (SELECT thread_id FROM conversations WHERE channel_id = ?1))"
"""What is in a channel, in a thread, or in a thread of the channel that is known."""


def time_to_text(moment: datetime) -> str:
    """A moment as UTC text; the texts sort by time.

    Raises:
        ValueError: the moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def time_from_text(text: str) -> datetime:
    """The moment, in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def optional_time_to_text(moment: datetime | None) -> str | None:
    return None if moment is None else time_to_text(moment)


def optional_time_from_text(text: str | None) -> datetime | None:
    return None if text is None else time_from_text(text)


def utc_now() -> datetime:
    return datetime.now(UTC)


def day_of(moment: datetime) -> str:
    """The midnight (UTC) before a moment, as times are kept."""
    return time_to_text(moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0))


def title_mark(conversation_id: str, title: str) -> int:
    """A number of 40 bits for a conversation with this title; the sum over a shelf tells whether any title changed."""
    named = f"{conversation_id}\n{title}".encode(errors="replace")
    return int.from_bytes(hashlib.blake2b(named, digest_size=5).digest())


def strings_to_text(strings: Iterable[str]) -> str:
    return _dumped(list(strings))


def strings_from_text(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def usage_to_text(usage: TokenUsage) -> str:
    return _dumped(_plain(usage))


def usage_from_text(text: str) -> TokenUsage:
    return _value(TokenUsage, json.loads(text))


def invocations_to_text(invocations: Iterable[ToolInvocation]) -> str:
    return _dumped([_plain(invocation) for invocation in invocations])


def invocations_from_text(text: str) -> tuple[ToolInvocation, ...]:
    return tuple(_value(ToolInvocation, values) for values in _loaded(text))


def citations_to_text(citations: Iterable[Citation]) -> str:
    return _dumped([_plain(citation) for citation in citations])


def citations_from_text(text: str) -> tuple[Citation, ...]:
    return tuple(_value(Citation, values) for values in _loaded(text))


def raw_to_text(raw: RawReply) -> str:
    return _dumped(_plain(raw))


def raw_from_text(text: str) -> RawReply:
    return _value(RawReply, json.loads(text))


def passages_to_text(passages: Iterable[Passage]) -> str:
    """Passages with the span and text of each sentence, as `[start, end, text]`."""
    return _dumped(
        [
            _plain(passage) | {"sentences": [[each.start, each.end, each.text] for each in passage.sentences]}
            for passage in passages
        ]
    )


@lru_cache(maxsize=256)
def passages_from_text(text: str) -> tuple[Passage, ...]:
    """Cached, because every turn reads the newest turns again, and most of their data are passages."""
    return tuple(_passage(values) for values in _loaded(text))


def system_prompt_to_text(prompt: SystemPrompt) -> str:
    return _dumped({"system": prompt.system, "tools": [_plain(tool) for tool in prompt.tools]})


@lru_cache(maxsize=64)
def system_prompt_from_text(text: str) -> SystemPrompt:
    """Cached, because conversations about one book share their system prompt, and a list of conversations reads that
    of each.
    """
    values = json.loads(text)
    return SystemPrompt(values["system"], tuple(_value(ToolDefinition, tool) for tool in values["tools"]))


MESSAGE_COLUMNS = (
    "id", "conversation_id", "role", "content", "created_at", "turn_id", "tool_use_id", "tool_invocations", "is_error",
    "passages", "citations", "usage", "raw", "author_id", "author_name", "note", "depends_to", "external_id",
    "duration_ms", "summary",
)  # fmt: skip


def message_row(message: ChatMessage) -> tuple[str | int | None, ...]:
    """A message as values for MESSAGE_COLUMNS."""
    return (
        message.id, message.conversation_id, message.role, message.content, time_to_text(message.created_at),
        message.turn_id, message.tool_use_id, invocations_to_text(message.tool_invocations), message.is_error,
        passages_to_text(message.passages), citations_to_text(message.citations),
        None if message.usage is None else usage_to_text(message.usage),
        None if message.raw is None else raw_to_text(message.raw),
        message.author_id, message.author_name, message.note, message.depends_to, message.external_id,
        message.duration_ms, message.summary,
    )  # fmt: skip


_OLD_NOTE = "\n\n-# A part of this answer is hidden, as it seems to name something that comes later than you have read."
_OLD_COVER = re.compile(r"\|\|(.+?)\|\|")


def _as_spans(content: str) -> str:
    """Convert answers of version 0.1, which contain Discord's spoiler marks and a note at the end."""
    if not content.endswith(_OLD_NOTE):
        return content
    return _OLD_COVER.sub(lambda cover: hide(cover[1]), content.removesuffix(_OLD_NOTE))


def message_from_row(row: Row) -> ChatMessage:
    values = {column: row[column] for column in MESSAGE_COLUMNS}
    return ChatMessage(
        **values
        | {
            "role": MessageRole(values["role"]),
            "content": _as_spans(values["content"]),
            "created_at": time_from_text(values["created_at"]),
            "tool_invocations": invocations_from_text(values["tool_invocations"]),
            "is_error": bool(values["is_error"]),
            "passages": passages_from_text(values["passages"]),
            "citations": citations_from_text(values["citations"]),
            "usage": None if values["usage"] is None else usage_from_text(values["usage"]),
            "raw": None if values["raw"] is None else raw_from_text(values["raw"]),
        }
    )


def _loaded(text: str) -> Iterable[Any]:
    """The values of a JSON list; most messages have empty ones."""
    loaded: list[Any] = [] if text == "[]" else json.loads(text)
    return loaded


def _passage(values: Mapping[str, Any]) -> Passage:
    sentences = tuple(Sentence(start, end, text) for start, end, text in values["sentences"])
    return _value(Passage, {**values, "sentences": sentences})


def _value(kind: type[Value], values: Mapping[str, Any]) -> Value:
    return kind(**{name: values[name] for name in _NAMES[kind] if name in values})


def _plain(value: Value) -> dict[str, Any]:
    return {name: getattr(value, name) for name in _NAMES[type(value)]}


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""`json.dumps` makes an encoder for every value, which takes longer than most of the values."""


def _dumped(value: object) -> str:
    """JSON, escaped only if it contains half a surrogate pair, which UTF-8 cannot encode."""
    text = _encode(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


Entity = TypeVar("Entity")

_FEW_ROWS = 8
"""Up to here reading rows takes well under a millisecond; more rows (histories with all their passages) are read in a
thread.
"""


@lru_cache
def upsert(table: str, columns: Sequence[str], key: Sequence[str] = ("id",), rows: int = 1) -> str:
    """A statement that inserts rows, or updates those whose key exists."""
    changes = ", ".join(f'"{column}" = excluded."{column}"' for column in columns if column not in key)
    return (
        f"INSERT INTO {table} ({listed(columns)}) VALUES {', '.join([f'({marks(columns)})'] * rows)} "  # noqa: S608
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"
    )


def listed(columns: Sequence[str]) -> str:
    """The columns of a statement, quoted because some of the names are SQL keywords."""
    return ", ".join(f'"{column}"' for column in columns)


def marks(values: Sequence[object], after: int = 0) -> str:
    """A question mark for each of the values, with its number where others have numbers before it."""
    return ", ".join(f"?{after + n}" if after else "?" for n in range(1, len(values) + 1))


def entity(read: Callable[[Row], Entity], row: Row | None) -> Entity | None:
    """The value of a row, or None for no row.

    Raises:
        StorageError: DB_CORRUPTED, no version of the program can have written this row.
    """
    return None if row is None else _entities(read, [row])[0]


async def entities(read: Callable[[Row], Entity], rows: Sequence[Row]) -> list[Entity]:
    """The values of rows, without blocking the event loop.

    Raises:
        StorageError: DB_CORRUPTED, no version of the program can have written one of the rows.
    """
    if len(rows) <= _FEW_ROWS:
        return _entities(read, rows)
    return await asyncio.to_thread(_entities, read, rows)


def _entities(read: Callable[[Row], Entity], rows: Sequence[Row]) -> list[Entity]:
    try:
        return [read(row) for row in rows]
    except (ValueError, TypeError, LookupError, ConversationError) as error:
        raise StorageError(
            StorageErrorCode.DB_CORRUPTED,
            "An entry of the database cannot be read: restore a backup, or use the version of this program that "
            f"wrote it ({error}).",
        ) from error

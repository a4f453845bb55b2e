"""Conversations, in SQL."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

from domain.chat import ChatMessage, PlatformMessage
from domain.concurrency import ALL, Shard
from domain.conversation import Conversation, TitleSource, checked_title
from domain.records import Removal
from storage.sql.books import NamesOnShelves
from storage.sql.database import Database, Row, Statement, Transaction
from storage.sql.erasure import note_removals
from storage.sql.people import KEEP_ERASURE, SaltOfPeople, erased_person
from storage.sql.privacy import removals_of_asides
from storage.sql.rows import (
    FIRST_OF_RECENT,
    LINK_QUESTION,
    MESSAGE_COLUMNS,
    OF_SHARD,
    entities,
    entity,
    listed,
    marks,
    message_from_row,
    message_row,
    optional_time_from_text,
    optional_time_to_text,
    system_prompt_from_text,
    system_prompt_to_text,
    time_from_text,
    time_to_text,
    title_mark,
    upsert,
    utc_now,
)

_COLUMNS = (
    "id", "book_id", "title", "created_at", "title_source", "owner_id", "guild_id", "channel_id", "thread_id",
    "private", "shared", "verbose", "briefing", "updated_at",
)  # fmt: skip
_UPSERT = upsert("conversations", (*_COLUMNS, "title_mark"))
_SELECT = f"""
SELECT {listed((*_COLUMNS, "read_to"))} FROM conversations
WHERE book_id NOT IN (SELECT id FROM books WHERE removed_at IS NOT NULL)
"""  # noqa: S608
_LISTED = _SELECT.replace(listed(["briefing"]), "NULL AS briefing")
_NEWEST_FIRST = "ORDER BY created_at DESC, rowid DESC"
_LEAVE = "UPDATE conversations SET thread_id = NULL WHERE thread_id = ?"
_CURRENT_DIRECT = f"""
{_SELECT} AND substr(guild_id, 1, 7) = 'person:' AND thread_id IS NOT NULL
ORDER BY (
  SELECT coalesce(max(arrival), 0) FROM chat_messages WHERE conversation_id = conversations.id
) DESC, created_at DESC, rowid DESC LIMIT ?
"""  # noqa: S608

_OF_READER = f"""
SELECT {listed((*_COLUMNS, "read_to"))} FROM conversations WHERE id IN (
  SELECT id FROM conversations WHERE owner_id = ?1 OR guild_id = 'person:' || ?1
  UNION SELECT conversation_id FROM chat_messages WHERE author_id = ?1
  UNION SELECT conversation_id FROM turns WHERE asked_by = ?1
  UNION SELECT conversation_id FROM present WHERE reader_id = ?1
)
"""  # noqa: S608

_GONE = """
UPDATE conversations SET gone_at = ?1
WHERE gone_at IS NULL AND guild_id = ?2 AND (thread_id = ?3 OR channel_id = ?3) RETURNING id
"""

# Of a conversation that is shown in no thread: what /ask has answered, some of it for all to see.
_ASIDES = """
SELECT owner_id, reply_ids FROM turns JOIN conversations ON conversations.id = conversation_id
WHERE conversation_id = ? AND thread_id IS NULL AND channel_id IS NULL
"""


class SQLConversations:
    """ConversationRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names = NamesOnShelves(database)

    async def save(self, conversation: Conversation) -> None:
        await self._database.write(_UPSERT, _row(conversation))

    async def change(self, conversation_id: str, change: Callable[[Conversation], Conversation]) -> Conversation | None:
        async def change_it(transaction: Transaction) -> Conversation | None:
            found = await _found(transaction, conversation_id)
            return await _kept(transaction, change(found)) if found else None

        return await self._database.atomically(change_it)

    async def get(self, conversation_id: str) -> Conversation | None:
        return entity(_conversation, await self._database.read_one(f"{_SELECT} AND id = ?", [conversation_id]))

    async def get_by_thread(self, thread_id: str) -> Conversation | None:
        return entity(
            _conversation,
            await self._database.read_one(f"{_SELECT} AND thread_id = ?", [thread_id]),
        )

    async def get_by_book(self, book_id: str) -> Sequence[Conversation]:
        sql = f"{_SELECT} AND book_id = ? {_NEWEST_FIRST}"
        return await entities(_conversation, await self._database.read(sql, [book_id]))

    async def get_by_guild(self, guild_id: str) -> Sequence[Conversation]:
        sql = f"{_SELECT} AND guild_id = ? {_NEWEST_FIRST}"
        return await entities(_conversation, await self._database.read(sql, [guild_id]))

    async def get_by_reader(self, reader_id: str) -> Sequence[Conversation]:
        return await entities(_conversation, await self._database.read(_OF_READER, [reader_id]))

    async def find_in_guild(
        self, guild_id: str, words: Sequence[str], limit: int, book_id: str | None = None
    ) -> Sequence[Conversation]:
        if words:
            return await self._named(guild_id, await (await self._names.on(guild_id, book_id)).find(words, limit))
        on_book, asked = (" AND book_id = ?", [guild_id, book_id]) if book_id else ("", [guild_id])
        sql = f"{_LISTED} AND guild_id = ?{on_book} {_NEWEST_FIRST} LIMIT ?"
        newest = await entities(_conversation, await self._database.read(sql, [*asked, limit]))
        if len(newest) == limit:  # there are more, for which people type
            self._names.prepare(guild_id, book_id)
        return newest

    async def _named(self, guild_id: str, ids: Sequence[str]) -> Sequence[Conversation]:
        """Those of these conversations that are on the shelf, in the order of the ids."""
        if not ids:
            return []
        read = await self._database.read(f"{_LISTED} AND id IN ({marks(ids)})", ids)
        rows = {row["id"]: row for row in read if row["guild_id"] == guild_id}
        return await entities(_conversation, [rows[each] for each in ids if each in rows])

    async def make_current(self, conversation_id: str, guild_id: str, channel_id: str) -> Conversation | None:
        async def move(transaction: Transaction) -> Conversation | None:
            found = await _found(transaction, conversation_id)
            if found is None:
                return None
            await transaction.run(_LEAVE, [channel_id])
            moved = replace(found, guild_id=guild_id, channel_id=channel_id, thread_id=channel_id, private=True)
            return await _kept(transaction, moved)

        return await self._database.atomically(move)

    async def list_current_direct(self, limit: int) -> Sequence[Conversation]:
        return await entities(_conversation, await self._database.read(_CURRENT_DIRECT, [limit]))

    async def delete(self, conversation_id: str, reader_id: str = "") -> Sequence[Removal]:
        async def delete(transaction: Transaction) -> Sequence[Removal]:
            asides = await transaction.run(_ASIDES, [conversation_id])
            removals = await removals_of_asides(transaction, asides, reader_id)
            await note_removals(transaction, removals, utc_now())
            await transaction.run("DELETE FROM conversations WHERE id = ?", [conversation_id])
            return removals

        removals = await self._database.atomically(delete)
        await self._database.forget_deleted()
        return removals

    async def update_read_to(self, conversation_id: str, read_to: int | None) -> None:
        await self._database.write("UPDATE conversations SET read_to = ? WHERE id = ?", [read_to, conversation_id])

    async def note_gone(self, guild_id: str, place_id: str, at: datetime) -> int:
        gone = await self._database.write(_GONE, [time_to_text(at), guild_id, place_id])
        return len(gone)

    async def note_found(self, conversation_id: str) -> None:
        sql = "SELECT 1 FROM conversations WHERE id = ? AND gone_at IS NOT NULL"
        if await self._database.read_one(sql, [conversation_id]):
            await self._database.write("UPDATE conversations SET gone_at = NULL WHERE id = ?", [conversation_id])

    async def update_title(
        self, conversation_id: str, title: str, source: TitleSource = TitleSource.PERSON, made_of: str | None = None
    ) -> bool:
        title = checked_title(title)
        weaker = list(TitleSource) if source is TitleSource.PERSON else [TitleSource.AUTOMATIC]
        written = await self._database.write(
            f"UPDATE conversations SET title = ?, title_mark = ?, title_source = ? WHERE id = ? "  # noqa: S608
            f"AND title_source IN ({marks(weaker)}) AND (CAST(? AS TEXT) IS NULL OR EXISTS ("
            "SELECT 1 FROM chat_messages WHERE id = ?)) RETURNING id",
            [title, title_mark(conversation_id, title), source, conversation_id, *weaker, made_of, made_of],
        )
        return bool(written)


def _row(conversation: Conversation) -> tuple[str | int | None, ...]:
    return (
        conversation.id, conversation.book_id, conversation.title, time_to_text(conversation.created_at),
        conversation.title_source, conversation.owner_id, conversation.guild_id, conversation.channel_id,
        conversation.thread_id, conversation.private, conversation.shared, conversation.verbose,
        None if conversation.system_prompt is None else system_prompt_to_text(conversation.system_prompt),
        optional_time_to_text(conversation.updated_at), title_mark(conversation.id, conversation.title),
    )  # fmt: skip


async def _found(transaction: Transaction, conversation_id: str) -> Conversation | None:
    rows = await transaction.run(f"{_SELECT} AND id = ?", [conversation_id])
    return _conversation(rows[0]) if rows else None


async def _kept(transaction: Transaction, conversation: Conversation) -> Conversation:
    await transaction.run(_UPSERT, _row(conversation))
    return conversation


def _conversation(row: Row) -> Conversation:
    values = dict(row)
    briefing = values.pop("briefing")  # what the column of the system prompt has been called from the beginning
    return Conversation(
        **values
        | {
            "created_at": time_from_text(values["created_at"]),
            "title_source": TitleSource(values["title_source"]),
            "private": bool(values["private"]),
            "shared": bool(values["shared"]),
            "verbose": None if values["verbose"] is None else bool(values["verbose"]),
            "system_prompt": None if briefing is None else system_prompt_from_text(briefing),
            "updated_at": optional_time_from_text(values["updated_at"]),
        }
    )


_EXTERNAL_ID = MESSAGE_COLUMNS.index("external_id") + 1
_SELECTED = ", ".join(f"chat_messages.{column}" for column in MESSAGE_COLUMNS)

_HISTORY = f"""
SELECT {_SELECTED}
FROM chat_messages LEFT JOIN turns ON turns.id = chat_messages.turn_id
WHERE chat_messages.conversation_id = ?
ORDER BY turns.number IS NULL, turns.number, chat_messages.arrival
"""  # noqa: S608

# The server is looked up for what waits, which is little; a join might read all conversations instead.
_WAITING = f"""
SELECT conversation_id AS id FROM (
  SELECT DISTINCT conversation_id, (SELECT guild_id FROM conversations WHERE id = conversation_id) AS guild_id
  FROM chat_messages WHERE turn_id IS NULL AND role = 'user'
) AS waiting WHERE {OF_SHARD}
"""  # noqa: S608

_RECENT = f"""
SELECT {_SELECTED}, 0 AS waiting, turns.number AS turn_number, arrival
FROM turns JOIN chat_messages ON chat_messages.turn_id = turns.id
WHERE turns.conversation_id = ?1 AND turns.number >= {FIRST_OF_RECENT} AND ?2 > 0
UNION ALL SELECT {_SELECTED}, 1, 0, arrival
FROM chat_messages WHERE conversation_id = ?1 AND turn_id IS NULL
ORDER BY waiting, turn_number, arrival
"""  # noqa: S608

_QUESTIONS = f"""
SELECT {_SELECTED} FROM chat_messages
WHERE role = 'user' AND external_id IS NOT NULL AND conversation_id IN (
  SELECT id FROM conversations WHERE thread_id = ?1 UNION ALL SELECT id FROM conversations WHERE channel_id = ?1)
ORDER BY arrival DESC LIMIT ?2
"""  # noqa: S608

_QUESTIONS_IN = f"""
SELECT {_SELECTED} FROM chat_messages WHERE id IN (
  SELECT id FROM chat_messages WHERE external_id = ?1
  UNION ALL SELECT question_id FROM shown_questions WHERE message_id = ?1)
ORDER BY arrival
"""  # noqa: S608

_SHOWN_IN = """
SELECT message_id, content FROM shown_questions JOIN chat_messages ON id = question_id WHERE channel_id = ?
ORDER BY length(message_id) DESC, message_id DESC LIMIT ?
"""

REPETITIONS = """
SELECT message_id, channel_id FROM shown_questions WHERE question_id = ? AND repeated = 1 ORDER BY message_id
"""

_MOST_CHANNELS = 200
_SAID_BEFORE = f"""
SELECT shown_questions.channel_id FROM conversations
  JOIN chat_messages ON conversation_id = conversations.id JOIN shown_questions ON question_id = chat_messages.id
WHERE guild_id = ? AND repeated = 0
GROUP BY shown_questions.channel_id ORDER BY max(arrival) DESC LIMIT {_MOST_CHANNELS}
"""  # noqa: S608

# What is carried out again after it was committed finds the message that it has written itself.
_ADD = f"""
INSERT INTO chat_messages ({listed(MESSAGE_COLUMNS)}) SELECT {marks(MESSAGE_COLUMNS)}
WHERE NOT EXISTS (SELECT 1 FROM chat_messages WHERE external_id = ?{_EXTERNAL_ID} AND id <> ?1)
  AND NOT EXISTS (SELECT 1 FROM forgotten_messages WHERE external_id = ?{_EXTERNAL_ID}) {{}}
ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING id
"""  # noqa: S608

_UNLESS_ERASED = f"""
  AND NOT EXISTS (
    SELECT 1 FROM erasures WHERE person = ?{len(MESSAGE_COLUMNS) + 1} AND written_at >= ?{len(MESSAGE_COLUMNS) + 2})
"""  # noqa: S608

_NOTE_ERASED = """
INSERT INTO forgotten_messages (external_id, conversation_id) SELECT ?1, id FROM conversations
WHERE id = ?2 AND EXISTS (SELECT 1 FROM erasures WHERE person = ?3 AND written_at >= ?4)
ON CONFLICT DO NOTHING
"""

# One that was made for this message alone.
_DELETE_EMPTY = """
DELETE FROM conversations WHERE id = ?1 AND thread_id IS NULL
  AND EXISTS (SELECT 1 FROM erasures WHERE person = ?2 AND written_at >= ?3)
  AND NOT EXISTS (SELECT 1 FROM chat_messages WHERE conversation_id = ?1)
"""

_NEWEST = """
SELECT max(number) AS newest FROM (
  SELECT max(CAST(external_id AS BIGINT)) AS number FROM chat_messages
  WHERE conversation_id = ?1 AND external_id > '0' AND external_id < ':'
  UNION ALL SELECT max(CAST(external_id AS BIGINT)) FROM forgotten_messages
  WHERE conversation_id = ?1 AND external_id > '0' AND external_id < ':'
) AS numbers
"""


_NOTE_KNOWN = """
INSERT INTO forgotten_messages (external_id, conversation_id) SELECT ?1, id FROM conversations WHERE id = ?2
ON CONFLICT DO NOTHING
"""

_NOTE_PRESENT = """
INSERT INTO present (conversation_id, reader_id, written_at) SELECT id, ?1, ?3 FROM conversations WHERE id = ?2
ON CONFLICT (conversation_id, reader_id) DO UPDATE SET written_at = excluded.written_at
"""

_NOTE_ABSENT = """
INSERT INTO present (conversation_id, reader_id, absent_since) SELECT id, ?1, ?3 FROM conversations WHERE id = ?2
ON CONFLICT (conversation_id, reader_id) DO UPDATE SET absent_since = excluded.absent_since
"""

_LAST_WRITTEN = """
SELECT max(chat_messages.created_at) AS last
FROM chat_messages JOIN conversations ON conversations.id = chat_messages.conversation_id
WHERE author_id = ?1 AND book_id = ?2 AND coalesce(external_id, '') <> ?3
"""

_PEOPLE = """
SELECT reader_id FROM (
  SELECT author_id AS reader_id, created_at AS at, '' AS absent FROM chat_messages
  WHERE conversation_id = ?1 AND author_id <> ''
  UNION ALL SELECT owner_id, created_at, '' FROM conversations WHERE id = ?1 AND owner_id <> ''
  UNION ALL SELECT reader_id, written_at, absent_since FROM present WHERE conversation_id = ?1
) AS traces
GROUP BY reader_id HAVING max(at) >= ?2 AND max(at) > max(absent)
"""


_ROWS = 50
"""Messages in one statement, which has twenty parameters for each."""


def saving(messages: Iterable[ChatMessage]) -> Iterator[Statement]:
    """The statements that insert or update messages; those that are known keep their place."""
    rows = [*{message.id: message_row(message) for message in messages}.values()]
    for first in range(0, len(rows), _ROWS):
        some = rows[first : first + _ROWS]
        yield upsert("chat_messages", MESSAGE_COLUMNS, rows=len(some)), [*chain.from_iterable(some)]


async def write_messages(transaction: Transaction, messages: Iterable[ChatMessage]) -> None:
    """Insert or update messages as part of a transaction."""
    for statement in saving(messages):
        await transaction.run(*statement)


class SQLMessages:
    """ChatMessageRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._salt = SaltOfPeople(database)

    async def save(self, message: ChatMessage) -> None:
        await self.save_batch([message])

    async def save_batch(self, messages: Sequence[ChatMessage]) -> None:
        if messages:
            await self._database.write_all([*saving(messages)])

    async def add_incoming(
        self, message: ChatMessage, written_at: datetime | None = None, said_in: PlatformMessage | None = None
    ) -> bool:
        links: list[Statement] = []
        if said_in is not None:
            row = [said_in.message_id, said_in.channel_id, message.id, said_in.author_id]
            links.append((LINK_QUESTION.format(repeated=0), row))
        if written_at is None:
            added, *_ = await self._database.write_all([(_ADD.format(""), message_row(message)), *links])
            return bool(added)
        erased = [erased_person(message.author_id, await self._salt()), time_to_text(written_at)]
        _, added, *_ = await self._database.write_all(
            [
                (KEEP_ERASURE, erased[:1]),
                (_ADD.format(_UNLESS_ERASED), [*message_row(message), *erased]),
                (_NOTE_ERASED, [message.external_id, message.conversation_id, *erased]),
                (_DELETE_EMPTY, [message.conversation_id, *erased]),
                *links,
            ]
        )
        return bool(added)

    async def get_by_conversation(self, conversation_id: str) -> Sequence[ChatMessage]:
        return await entities(message_from_row, await self._database.read(_HISTORY, [conversation_id]))

    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[ChatMessage]:
        return await entities(message_from_row, await self._database.read(_RECENT, [conversation_id, turns]))

    async def get_by_external_id(self, external_id: str) -> ChatMessage | None:
        row = await self._database.read_one(
            f"SELECT {_SELECTED} FROM chat_messages WHERE external_id = ?",  # noqa: S608
            [external_id],
        )
        return entity(message_from_row, row)

    async def list_questions_in(self, message_id: str) -> Sequence[ChatMessage]:
        return await entities(message_from_row, await self._database.read(_QUESTIONS_IN, [message_id]))

    async def list_shown_in(self, channel_id: str, limit: int) -> Mapping[str, str]:
        rows = await self._database.read(_SHOWN_IN, [channel_id, limit])
        return {row["message_id"]: row["content"] for row in rows}

    async def list_repetitions(self, message_id: str) -> Sequence[PlatformMessage]:
        rows = await self._database.read(REPETITIONS, [message_id])
        return [PlatformMessage(row["message_id"], row["channel_id"]) for row in rows]

    async def list_channels_before(self, guild_id: str) -> Sequence[str]:
        return [row["channel_id"] for row in await self._database.read(_SAID_BEFORE, [guild_id])]

    async def get_newest_external_id(self, conversation_id: str) -> str | None:
        row = await self._database.read_one(_NEWEST, [conversation_id])
        return None if row is None or row["newest"] is None else str(row["newest"])

    async def note_known(self, conversation_id: str, external_id: str) -> None:
        await self._database.write(_NOTE_KNOWN, [external_id, conversation_id])

    async def list_authors(self, conversation_id: str) -> Sequence[str]:
        rows = await self._database.read(
            "SELECT DISTINCT author_id FROM chat_messages WHERE conversation_id = ? AND author_id != ''",
            [conversation_id],
        )
        return [row["author_id"] for row in rows]

    async def get_last_written(self, reader_id: str, book_id: str, *, but: str) -> datetime | None:
        row = await self._database.read_one(_LAST_WRITTEN, [reader_id, book_id, but])
        return time_from_text(row["last"]) if row and row["last"] else None

    async def note_present(self, conversation_id: str, reader_id: str, at: datetime | None = None) -> None:
        written = time_to_text(at or datetime.now(UTC))
        await self._database.write(_NOTE_PRESENT, [reader_id, conversation_id, written])

    async def note_absent(self, conversation_id: str, reader_id: str, since: datetime) -> None:
        await self._database.write(_NOTE_ABSENT, [reader_id, conversation_id, time_to_text(since)])

    async def list_people(self, conversation_id: str, since: datetime | None = None) -> Sequence[str]:
        rows = await self._database.read(_PEOPLE, [conversation_id, time_to_text(since) if since else ""])
        return [row["reader_id"] for row in rows]

    async def list_questions(self, place_id: str, limit: int) -> Sequence[ChatMessage]:
        return await entities(message_from_row, await self._database.read(_QUESTIONS, [place_id, limit]))

    async def list_waiting(self, shard: Shard = ALL) -> Sequence[str]:
        return [row["id"] for row in await self._database.read(_WAITING, shard)]

    async def delete(self, message_id: str) -> None:
        await self._database.write("DELETE FROM chat_messages WHERE id = ?", [message_id])
        await self._database.forget_deleted()

    async def delete_by_conversation(self, conversation_id: str) -> None:
        async def delete_all(transaction: Transaction) -> None:
            await transaction.run("DELETE FROM chat_messages WHERE conversation_id = ?", [conversation_id])
            await transaction.run("DELETE FROM turns WHERE conversation_id = ?", [conversation_id])

        await self._database.atomically(delete_all)
        await self._database.forget_deleted()

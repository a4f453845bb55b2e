"""Conversations, in SQL."""

from collections.abc import Sequence

from domain.conversation import Conversation, TitleSource, checked_title
from storage.sql.database import Database, Row
from storage.sql.rows import (
    entities,
    entity,
    listed,
    marks,
    optional_time_from_text,
    optional_time_to_text,
    system_prompt_from_text,
    system_prompt_to_text,
    time_from_text,
    time_to_text,
    upsert,
)

_COLUMNS = (
    "id", "book_id", "title", "created_at", "title_source", "owner_id", "guild_id", "channel_id", "thread_id",
    "private", "shared", "verbose", "briefing", "updated_at",
)  # fmt: skip
_UPSERT = upsert("conversations", _COLUMNS)
_SELECT = f"SELECT {listed(_COLUMNS)} FROM conversations"  # noqa: S608
_NEWEST_FIRST = "ORDER BY created_at DESC, rowid DESC"


class SQLConversations:
    """ConversationRepository in SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def save(self, conversation: Conversation) -> None:
        await self._database.write(_UPSERT, _row(conversation))

    async def get(self, conversation_id: str) -> Conversation | None:
        return entity(_conversation, await self._database.read_one(f"{_SELECT} WHERE id = ?", [conversation_id]))

    async def get_by_thread(self, thread_id: str) -> Conversation | None:
        return entity(
            _conversation,
            await self._database.read_one(f"{_SELECT} WHERE thread_id = ?", [thread_id]),
        )

    async def get_by_book(self, book_id: str) -> Sequence[Conversation]:
        sql = f"{_SELECT} WHERE book_id = ? {_NEWEST_FIRST}"
        return await entities(_conversation, await self._database.read(sql, [book_id]))

    async def get_by_guild(self, guild_id: str) -> Sequence[Conversation]:
        sql = f"{_SELECT} WHERE guild_id = ? {_NEWEST_FIRST}"
        return await entities(_conversation, await self._database.read(sql, [guild_id]))

    async def delete(self, conversation_id: str) -> None:
        await self._database.write("DELETE FROM conversations WHERE id = ?", [conversation_id])

    async def update_title(self, conversation_id: str, title: str, source: TitleSource = TitleSource.PERSON) -> bool:
        weaker = list(TitleSource) if source is TitleSource.PERSON else [TitleSource.AUTOMATIC]
        written = await self._database.write(
            f"UPDATE conversations SET title = ?, title_source = ? WHERE id = ? "  # noqa: S608
            f"AND title_source IN ({marks(weaker)}) RETURNING id",
            [checked_title(title), source, conversation_id, *weaker],
        )
        return bool(written)


def _row(conversation: Conversation) -> tuple[str | int | None, ...]:
    return (
        conversation.id, conversation.book_id, conversation.title, time_to_text(conversation.created_at),
        conversation.title_source, conversation.owner_id, conversation.guild_id, conversation.channel_id,
        conversation.thread_id, conversation.private, conversation.shared, conversation.verbose,
        None if conversation.system_prompt is None else system_prompt_to_text(conversation.system_prompt),
        optional_time_to_text(conversation.updated_at),
    )  # fmt: skip


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

"""The ports to stored conversations, their messages and their turns."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from domain.chat import ChatMessage
from domain.conversation import Conversation, TitleSource, Turn


class ConversationRepository(Protocol):
    async def save(self, conversation: Conversation) -> None:
        """Insert or update."""
        ...

    async def get(self, conversation_id: str) -> Conversation | None: ...
    async def get_by_thread(self, thread_id: str) -> Conversation | None: ...
    async def get_by_book(self, book_id: str) -> Sequence[Conversation]:
        """Newest first."""
        ...

    async def get_by_guild(self, guild_id: str) -> Sequence[Conversation]:
        """Newest first."""
        ...

    async def delete(self, conversation_id: str) -> None:
        """With its messages and turns. Unknown ids are fine."""
        ...

    async def update_title(self, conversation_id: str, title: str, source: TitleSource = TitleSource.PERSON) -> bool:
        """Rename; nothing else of the conversation is written. Unknown ids are fine.

        False, and nothing changed, where the title it has comes from a stronger source: only a person replaces what a
        person or a model chose.

        Raises:
            ConversationError: INVALID_STATE, the title is blank.
        """
        ...


class ChatMessageRepository(Protocol):
    """Messages in the order a model is to see them: turn by turn, those without a turn last."""

    async def save(self, message: ChatMessage) -> None:
        """Insert or update."""
        ...

    async def save_batch(self, messages: Sequence[ChatMessage]) -> None:
        """All or none."""
        ...

    async def add_incoming(self, message: ChatMessage) -> bool:
        """Insert a reader's message; False, and nothing changed, if its `external_id` is known already."""
        ...

    async def get_by_conversation(self, conversation_id: str) -> Sequence[ChatMessage]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[ChatMessage]:
        """Those of the newest `turns` turns, and all that wait; as quick in a conversation of years as in a new one.

        Turns that failed do not count; those among the newest come along.
        """
        ...

    async def get_by_external_id(self, external_id: str) -> ChatMessage | None: ...
    async def get_newest_external_id(self, conversation_id: str) -> str | None:
        """The largest number among the ids of messages that are known there, erased ones included."""
        ...

    async def list_authors(self, conversation_id: str) -> Sequence[str]:
        """Who has written there, the bot and its tools left out."""
        ...

    async def note_present(self, conversation_id: str, reader_id: str) -> None:
        """Remember that somebody writes in its thread, though not to the bot; for conversations that are gone, not."""
        ...

    async def list_people(self, conversation_id: str) -> Sequence[str]:
        """Who reads along, as far as is known: all who have written in its thread, to the bot or not."""
        ...

    async def list_waiting(self) -> Sequence[str]:
        """The conversations in which a reader's message waits for its turn."""
        ...

    async def delete(self, message_id: str) -> None: ...
    async def delete_by_conversation(self, conversation_id: str) -> None: ...


class TurnRepository(Protocol):
    """Turns, each change one transaction together with the messages it concerns."""

    async def begin(self, conversation_id: str, message_ids: Sequence[str], now: datetime) -> Turn:
        """Open the next turn for these readers' messages and give them to it.

        Messages that were deleted meanwhile are passed over.

        Raises:
            ConversationError: NOT_FOUND, the conversation is gone; INVALID_STATE, a message is in another turn or
                conversation, or none of them is left.
        """
        ...

    async def finish(self, turn: Turn, messages: Sequence[ChatMessage] = ()) -> None:
        """Write the turn's new state and the messages it brought forth, all or none.

        `reply_ids` and `trace_id` that are empty here leave what `update_delivery` has written.

        Raises:
            ConversationError: NOT_FOUND, the turn is gone (its conversation was deleted, its question taken back).
        """
        ...

    async def get(self, turn_id: str) -> Turn | None: ...
    async def get_by_conversation(self, conversation_id: str) -> Sequence[Turn]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[Turn]:
        """The newest ones, in order; turns that failed do not count and come along."""
        ...

    async def reopen(self, turn_id: str) -> None:
        """Undo a turn that brought no answer: its readers' messages wait again and the turn is gone.

        Unknown ids are fine.

        Raises:
            ConversationError: INVALID_STATE, the turn has its answer.
        """
        ...

    async def forget_question(self, message_id: str) -> Turn | None:
        """Erase a reader's answered message, of which only its Discord id is kept.

        Where nobody else asked anything in its turn, the turn goes with it, and its answer and tool calls; that turn is
        given back.
        """
        ...

    async def update_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None: ...
    async def list_undelivered(self) -> Sequence[Turn]:
        """Turns that are RUNNING or ANSWERED, and FAILED ones of which nobody was told, oldest first.

        At start-up these are the ones that were interrupted.
        """
        ...

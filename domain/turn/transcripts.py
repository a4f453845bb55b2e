"""What front ends read and note of conversations: their messages, their turns, and what became of answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.chat import ChatMessage
from domain.conversation import Conversation, Turn
from domain.ports import ChatMessageRepository, ConversationRepository, TurnRepository


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """A turn, its conversation, and the messages of that turn alone, in order."""

    turn: Turn
    conversation: Conversation
    messages: tuple[ChatMessage, ...]

    @property
    def depends_to(self) -> int:
        """The offset of the book up to which the turn rests on it."""
        return max((message.depends_to or 0 for message in self.messages), default=0)


class Transcripts:
    """Reads conversations as they were kept, and notes what becomes of their answers."""

    def __init__(
        self, *, conversations: ConversationRepository, messages: ChatMessageRepository, turns: TurnRepository
    ) -> None:
        self._conversations = conversations
        self._messages = messages
        self._turns = turns

    async def messages(self, conversation_id: str) -> Sequence[ChatMessage]:
        """All messages of a conversation, turn by turn, those that wait last."""
        return await self._messages.get_by_conversation(conversation_id)

    async def turns(self, conversation_id: str) -> Sequence[Turn]:
        """All turns of a conversation, in order."""
        return await self._turns.get_by_conversation(conversation_id)

    async def played(self, turn_id: str) -> PlayedTurn | None:
        """One turn with its messages; None where it is no longer kept."""
        turn = await self._turns.get(turn_id)
        conversation = await self._conversations.get(turn.conversation_id) if turn else None
        if turn is None or conversation is None:
            return None
        history = await self._messages.get_by_conversation(conversation.id)
        return PlayedTurn(turn, conversation, tuple(message for message in history if message.turn_id == turn.id))

    async def people(self, conversation_id: str) -> Sequence[str]:
        """The ids of all who have written in the thread, to the bot or not."""
        return await self._messages.list_people(conversation_id)

    async def authors(self, conversation_id: str) -> Sequence[str]:
        """The ids of those who have written to the bot."""
        return await self._messages.list_authors(conversation_id)

    async def note_present(self, conversation_id: str, reader_id: str) -> None:
        """Remember that somebody writes in the thread, though not to the bot."""
        await self._messages.note_present(conversation_id, reader_id)

    async def newest_external_id(self, conversation_id: str) -> str | None:
        """The largest id of a platform's message that is known there, erased ones included."""
        return await self._messages.get_newest_external_id(conversation_id)

    async def unfinished(self) -> set[str]:
        """The conversations in which a message waits, or whose last answer did not get through."""
        undelivered = await self._turns.list_undelivered()
        return {turn.conversation_id for turn in undelivered} | {*await self._messages.list_waiting()}

    async def reopen(self, turn_id: str) -> None:
        """Undo a turn that brought no answer: its messages wait again.

        Raises:
            ConversationError: INVALID_STATE, the turn has its answer.
        """
        await self._turns.reopen(turn_id)

    async def record_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None:
        """Note the platform's messages that show a turn."""
        await self._turns.update_delivery(turn_id, reply_ids, trace_id)

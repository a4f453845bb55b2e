"""Questions somebody asks for themselves: answered at their own position, and kept in a conversation of their own."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from weakref import WeakValueDictionary

from domain.book import Book
from domain.conversation import Conversation
from domain.errors import LLMError, LLMErrorCode
from domain.event import Answer, ApprovalAsked, PositionProposed, TurnFailed
from domain.turn.chat_with_book import ChatWithBook, Reader
from domain.turn.conversations import ManageConversations


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a question: how its turn ended, and what the model proposed to its reader on the way."""

    conversation: Conversation
    ending: Answer | TurnFailed
    proposals: tuple[PositionProposed, ...] = ()


class PersonalQuestions:
    """Answers questions in conversations that are shown in no thread, one question of a person after another."""

    def __init__(self, *, chat: ChatWithBook, conversations: ManageConversations) -> None:
        self._chat = chat
        self._conversations = conversations
        self._locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()

    async def ask(
        self, book: Book, reader: Reader, question: str, *, external_id: str, read_to: int | None = None
    ) -> Asked:
        """Answer a question about a book from as far as its reader has read, and no further than `read_to`.

        `external_id` names the question once and for all. The answer is to be confirmed by `told`. Tools that change
        something are not used: nobody is there to allow it.

        Raises:
            BookError, ConversationError, StorageError: there is no answer, and the sentence says why.
            LLMError: EMPTY_REPLY, the question was taken back meanwhile.
        """
        async with self._locks.setdefault((book.id, book.shelf, reader.id), asyncio.Lock()):
            conversation = await self._conversations.aside(book.id, book.shelf, reader.id)
            await self._forget_unanswered(conversation.id)
            await self._chat.receive(conversation.id, question, reader, external_id=external_id)
            proposals: dict[PositionProposed, None] = {}
            ending: Answer | TurnFailed | None = None
            async with aclosing(self._chat.answer(conversation.id, read_to)) as events:
                async for event in events:
                    match event:
                        case ApprovalAsked(approval_id=approval_id):
                            self._chat.decide(conversation.id, approval_id, reader, allowed=False)
                        case PositionProposed():
                            proposals[event] = None
                        case Answer() | TurnFailed():
                            ending = event
        if ending is not None:
            return Asked(conversation, ending, tuple(proposals))
        raise LLMError(LLMErrorCode.EMPTY_REPLY, "This question was taken back before it was answered.")

    async def told(self, asked: Asked, message_ids: tuple[str, ...] = ()) -> None:
        """Note that the reader has the answer, or knows that there is none, and in which messages."""
        await self._chat.delivered(asked.ending.turn_id, message_ids)

    async def _forget_unanswered(self, conversation_id: str) -> None:
        """Forget questions that a crash or a failure has left without an answer: nobody waits for it any more."""
        await self._chat.recover(conversation_id)
        for message in await self._chat.waiting(conversation_id):
            await self._chat.take_back(message.external_id or "")

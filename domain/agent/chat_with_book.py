"""The use case: a reader writes, the book answers."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakValueDictionary

from domain.agent.answering import AnswerMaker
from domain.agent.conversations import ManageConversations
from domain.agent.running_turn import Ending, RunningTurn
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Turn, TurnState
from domain.errors import LLMError, LLMErrorCode
from domain.event import Answer, TurnEvent, TurnFailed
from domain.protocols import ChatMessageRepository, Clock, TurnRepository


@dataclass(frozen=True, slots=True)
class Reader:
    """A person who writes. `id` is unique among all readers (a Discord user's id; "terminal")."""

    id: str
    name: str


class ChatWithBook:
    """Keeps what readers write, answers it from the book, and keeps the answer.

    One turn at a time runs in a conversation; messages that arrive meanwhile join the next one.
    """

    def __init__(
        self,
        *,
        answers: AnswerMaker,
        manage: ManageConversations,
        messages: ChatMessageRepository,
        turns: TurnRepository,
        clock: Clock,
    ) -> None:
        self._answers = answers
        self._manage = manage
        self._messages = messages
        self._turns = turns
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: dict[str, RunningTurn] = {}

    async def execute(self, conversation_id: str, user_message: str, reader: Reader | None = None) -> str:
        """Answer one message and return the answer's text: the stream of `answer`, drained.

        Raises:
            ConversationError: NOT_FOUND.
            LLMError: no answer came of it.
        """
        await self.receive(conversation_id, user_message, reader or Reader("terminal", ""))
        async for event in self.answer(conversation_id):
            match event:
                case Answer(text=text):
                    return text
                case TurnFailed(code=code, message=message):
                    known = code in LLMErrorCode.__members__.values()
                    raise LLMError(LLMErrorCode(code) if known else LLMErrorCode.API_CALL_FAILED, message)
        raise LLMError(LLMErrorCode.EMPTY_REPLY, "Somebody took the question back before it was answered.")

    async def receive(
        self, conversation_id: str, text: str, reader: Reader, *, external_id: str | None = None
    ) -> ChatMessage | None:
        """Keep a reader's message, before anything else is done with it. None: it was received before.

        Raises:
            ConversationError: NOT_FOUND.
        """
        await self._manage.get(conversation_id)
        message = ChatMessage(
            id=uuid.uuid4().hex,
            conversation_id=conversation_id,
            role=MessageRole.USER,
            content=text.strip(),
            created_at=self._clock(),
            author_id=reader.id,
            author_name=reader.name,
            external_id=external_id,
        )
        if not await self._messages.add_incoming(message):
            return None
        await self._manage.title_after(conversation_id, message.content)
        return message

    async def answer(self, conversation_id: str) -> AsyncGenerator[TurnEvent, None]:
        """Answer all messages that wait in the conversation, in one turn. Yields nothing if none waits.

        Waits for a turn that runs there already. Closing the iterator takes the turn back: its messages wait again.

        Raises:
            ConversationError: NOT_FOUND.
        """
        lock = self._locks.setdefault(conversation_id, asyncio.Lock())
        async with lock:
            conversation = await self._manage.get(conversation_id)
            history = await self._messages.get_by_conversation(conversation_id)
            waiting = [m for m in history if m.turn_id is None and m.role is MessageRole.USER]
            if not waiting:
                return
            answered = [m for m in history if m.turn_id is not None]
            running = self._running[conversation_id] = RunningTurn()
            try:
                play = partial(self._answers.play, conversation, answered, waiting, running)
                async with aclosing(running.events(play)) as events:
                    async for event in events:
                        yield event
            finally:
                del self._running[conversation_id]

    def running(self, conversation_id: str) -> RunningTurn | None:
        """The turn that runs in the conversation now."""
        return self._running.get(conversation_id)

    def stop(self, conversation_id: str) -> bool:
        """Stop the running answer and keep what was written. False: none is running."""
        return self._end(conversation_id, Ending.STOPPED)

    def withdraw(self, conversation_id: str) -> bool:
        """Stop the running answer and forget it: its messages wait again. False: none is running."""
        return self._end(conversation_id, Ending.WITHDRAWN)

    async def settle(self, conversation_id: str) -> None:
        """Return once no turn runs in the conversation."""
        async with self._locks.setdefault(conversation_id, asyncio.Lock()):
            return

    async def recover(self) -> Sequence[Turn]:
        """At start-up: take back the turns a crash interrupted; return those answered but not delivered."""
        undelivered = []
        for turn in await self._turns.list_undelivered():
            if turn.state is TurnState.RUNNING:
                await self._turns.reopen(turn.id)
            else:
                undelivered.append(turn)
        return undelivered

    async def delivered(self, turn_id: str, reply_ids: Sequence[str] = (), trace_id: str | None = None) -> None:
        """Note that the readers have the answer, and in which messages."""
        turn = await self._turns.get(turn_id)
        if turn is not None and turn.state is TurnState.ANSWERED:
            done = replace(turn, state=TurnState.DELIVERED, reply_ids=tuple(reply_ids), trace_id=trace_id)
            await self._turns.finish(done)

    def _end(self, conversation_id: str, ending: Ending) -> bool:
        running = self._running.get(conversation_id)
        if running is not None:
            running.end(ending)
        return running is not None

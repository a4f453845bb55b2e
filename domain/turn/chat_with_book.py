"""The use case: a reader writes, the book answers."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from weakref import WeakValueDictionary

from domain.chat import ChatMessage, MessageRole, PlatformMessage
from domain.conversation import UNTITLED, Turn, TurnState
from domain.errors import ConversationError, ConversationErrorCode, LLMError, LLMErrorCode
from domain.event import Answer, TurnEvent, TurnFailed
from domain.ports import ChatMessageRepository, Clock, TurnRepository
from domain.turn.conversations import Company, ManageConversations
from domain.turn.preparer import BoundBooks, TurnPreparer
from domain.turn.runner import TurnRunner
from domain.turn.state import Decision, Ending, RunningTurn, TurnRequest

TO_DECIDE = timedelta(days=1)
"""How long the person who deleted a question has to keep its answer; after that it is deleted."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A person who writes. `id` is unique among all readers (a Discord user's id; "terminal")."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Taken:
    """A reader's message that was taken from its turn.

    `undone` is the turn it was taken from, which is deleted. `answered` is a turn whose answer remains without its
    question.
    """

    message: ChatMessage
    undone: Turn | None = None
    answered: Turn | None = None


class ChatWithBook:
    """Keeps what readers write, answers it from the book, and keeps the answer.

    A conversation runs one turn at a time; messages that arrive meanwhile join the next one.
    """

    def __init__(
        self,
        *,
        books: BoundBooks,
        preparer: TurnPreparer,
        runner: TurnRunner,
        manage: ManageConversations,
        company: Company,
        messages: ChatMessageRepository,
        turns: TurnRepository,
        clock: Clock,
    ) -> None:
        self._books = books
        self._preparer = preparer
        self._runner = runner
        self._manage = manage
        self._company = company
        self._messages = messages
        self._turns = turns
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._running: dict[str, RunningTurn] = {}
        self._called_back: Counter[str] = Counter()
        """By message, how many of its edits and deletions are under way; no turn begins with it meanwhile."""

    async def execute(self, conversation_id: str, user_message: str, reader: Reader | None = None) -> str:
        """Answer one message and return the answer's text: `answer` without the events.

        Raises:
            ConversationError: NOT_FOUND.
            LLMError: there is no answer.
        """
        await self.receive(conversation_id, user_message, reader or Reader("terminal", ""))
        async for event in self.answer(conversation_id):
            match event:
                case Answer(text=text):
                    return text
                case TurnFailed(code=code, message=message):
                    known = code in LLMErrorCode.__members__.values()
                    raise LLMError(LLMErrorCode(code) if known else LLMErrorCode.API_CALL_FAILED, message)
        raise LLMError(LLMErrorCode.EMPTY_REPLY, "The question was deleted before it was answered.")

    async def receive(
        self,
        conversation_id: str,
        text: str,
        reader: Reader,
        *,
        external_id: str | None = None,
        written_at: datetime | None = None,
        said_in: PlatformMessage | None = None,
    ) -> ChatMessage | None:
        """Store a reader's message before anything else is done with it. `said_in` is as in `add_incoming`.

        None: it was received before, or its reader was erased after `written_at`.

        Raises:
            ConversationError: NOT_FOUND.
        """
        conversation = await self._manage.get(conversation_id)
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
        if not await self._messages.add_incoming(message, written_at, said_in):
            return None
        if conversation.title == UNTITLED:
            await self._manage.title_after(conversation_id, message)
        return message

    async def answer(self, conversation_id: str, read_to: int | None = None) -> AsyncGenerator[TurnEvent, None]:
        """Answer all waiting messages of the conversation in one turn. Yields nothing if none waits.

        Those of people who have used up their tokens for the day get a turn of their own, after that of the others.
        Nothing beyond `read_to` is told, if it is given: others are going to see the answer. Waits for a turn that is
        running there. Closing the iterator takes the turn back: its messages wait again.

        Raises:
            ConversationError: NOT_FOUND.
        """
        async with self._lock(conversation_id):
            conversation, history, company = await asyncio.gather(
                self._manage.get(conversation_id),
                self._messages.get_recent(conversation_id, self._preparer.reach),
                self._company.of(conversation_id),
            )
            conversation = conversation.within(read_to)
            waiting = [m for m in history if m.turn_id is None and m.role is MessageRole.USER]
            refused = await self._preparer.refused(conversation, [m.author_id for m in waiting])
            # Nothing is awaited between here and the turn's entry, so that withdrawing a message sees either state.
            waiting = [m for m in waiting if m.author_id not in refused and not self._called_back[m.id]]
            if not waiting:
                return
            answered = [m for m in history if m.turn_id is not None]
            people = [*company, *(m.author_id for m in waiting)]
            request = TurnRequest(conversation, people, answered, waiting)
            async with aclosing(self._events(request)) as events:
                async for event in events:
                    yield event

    async def answer_again(self, turn_id: str, read_to: int | None = None) -> AsyncGenerator[TurnEvent, None]:
        """Answer again what an answered turn has answered, as if nothing had been said since; `read_to` as above.

        The new turn replaces the old one as soon as it has an answer. Until then, and if it gets none, the old one
        stays, and counts as not delivered so that it is shown again. Yields nothing if the turn is gone.

        Raises:
            ConversationError: NOT_FOUND.
        """
        known = await self._turns.get(turn_id)
        if known is None:
            return
        async with self._lock(known.conversation_id):
            conversation = (await self._manage.get(known.conversation_id)).within(read_to)
            replaced = await self._turns.begin_again(turn_id)
            earlier = await self._answered_before(known)
            history = await self._messages.get_by_conversation(conversation.id)
            company = await self._company.of(conversation.id)
            # Nothing is awaited between here and the turn's entry, as above.
            asked = [m for m in history if m.turn_id == turn_id and m.role is MessageRole.USER]
            asked = [m for m in asked if not self._called_back[m.id]]
            if replaced is None or not asked:
                return
            answered = [m for m in history if m.turn_id in earlier]
            people = [*company, *(m.author_id for m in asked)]
            request = TurnRequest(conversation, people, answered, asked, replaces=replaced)
            async with aclosing(self._events(request)) as events:
                async for event in events:
                    yield event

    async def leave_as_it_was(self, turn_id: str) -> None:
        """Do not make an answer again any more; the old one stays, and has yet to be shown."""
        turn = await self._turns.get(turn_id)
        if turn is not None and turn.state is TurnState.ANSWERED:
            await self._turns.finish(replace(turn, told=False))

    async def _answered_before(self, turn: Turn) -> set[str]:
        """The ids of the earlier turns with an answer, as many as an answer may be made from."""
        turns = await self._turns.get_by_conversation(turn.conversation_id)
        known = [each for each in turns if each.number < turn.number and each.asked_by is None]
        answered = [each.id for each in known if each.has_answer]
        return {*answered[-self._preparer.reach :]}

    async def _events(self, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
        running = self._running[request.conversation.id] = RunningTurn(request.asked)
        try:
            async with aclosing(running.events(partial(self._runner.run, request, running))) as events:
                async for event in events:
                    yield event
        finally:
            del self._running[request.conversation.id]

    @property
    def is_busy(self) -> bool:
        """Whether any turn is running."""
        return bool(self._running)

    def running(self, conversation_id: str) -> RunningTurn | None:
        """The turn that is running in the conversation."""
        return self._running.get(conversation_id)

    def stop(self, conversation_id: str) -> bool:
        """Stop the running answer and keep what was written. False: none is running."""
        return self._end(conversation_id, Ending.STOPPED)

    def withdraw(self, conversation_id: str) -> bool:
        """Stop the running answer and discard it: its messages wait again. False: none is running."""
        return self._end(conversation_id, Ending.WITHDRAWN)

    def decide(self, conversation_id: str, approval_id: str, reader: Reader, *, allowed: bool) -> Decision:
        """Pass on a decision on a call of the running answer; only its asker's decision counts."""
        running = self._running.get(conversation_id)
        if running is None:
            return Decision.GONE
        return running.approvals.decide(approval_id, reader.id, allowed=allowed)

    async def settle(self, conversation_id: str) -> None:
        """Return once no turn runs in the conversation."""
        async with self._lock(conversation_id):
            return

    async def revise(self, external_id: str, text: str, *, asks: bool = True) -> Taken | None:
        """Store the new words of a message that its author edited; it waits with them, even if it was being answered.

        None: it has its answer, and is kept with its new words; or it is unknown, or unchanged. If the author no longer
        `asks` anything, it is kept with them in any case.
        """
        known = await self._messages.get_by_external_id(external_id)
        if known is None or not text.strip() or known.content == text.strip():
            return None
        async with self._call_back(known) if asks else self._lock(known.conversation_id) as message:
            await self._turns.reword_question(known.id, text.strip())
            return message

    async def take_back(self, external_id: str) -> Taken | None:
        """Delete a message that its author deleted; if it was being answered, the others of its turn wait again.

        The answer to an answered message stays for TO_DECIDE, unless others of its turn asked, too. None: in that
        case, or if the message is unknown.
        """
        known = await self._messages.get_by_external_id(external_id)
        if known is None:
            return None
        async with self._call_back(known) as message:
            turn = await self._turns.forget_question(known.id, self._clock() + TO_DECIDE)
            if message is not None or turn is None:
                return message
            is_shown = turn.state is TurnState.DELIVERED
            return Taken(known, answered=turn) if is_shown else Taken(known, undone=turn)

    async def keep_answer(self, turn_id: str) -> bool:
        """Keep an answer whose question was deleted. False: the answer is gone as well."""
        return await self._turns.keep_answer(turn_id)

    async def drop_answer(self, turn_id: str) -> bool:
        """Erase an answer whose question was deleted, and list its posts for removal. False: it is gone."""
        return await self._turns.drop_answer(turn_id)

    async def forget_asides_in(self, guild_id: str, place_id: str) -> None:
        """Erase what /ask has answered in a thread or channel that is gone, or in threads of that channel."""
        await self._turns.forget_asides_in(guild_id, place_id)

    async def answers_to_decide(self) -> Sequence[Turn]:
        """The turns whose questions were deleted, and whose answers nobody has decided on."""
        return await self._turns.list_expiring()

    async def drop_expired_answers(self) -> int:
        """Erase the answers to deleted questions that nobody kept in time; return how many there were."""
        return await self._turns.drop_expired(self._clock())

    async def recover(self, conversation_id: str) -> Sequence[Turn]:
        """After a crash: let the messages of unfinished turns, and of failed ones nobody was told about, wait again.

        Returns these turns, which are deleted; what they have posted is still on the platform.
        """
        async with self._lock(conversation_id):
            turns = await self._turns.get_by_conversation(conversation_id)
            interrupted = [turn for turn in turns if turn.is_unsettled]
            for turn in interrupted:
                await self._turns.reopen(turn.id)
            return interrupted

    async def withhold(self, conversation_id: str) -> None:
        """Take back undelivered answers that depend on more of the book than their readers may be told now, for
        example because one of them has moved back: `recover` lets their questions wait again.

        Raises:
            ConversationError: NOT_FOUND.
            BookError: NOT_FOUND, its book is no longer on the shelf.
        """
        turns = await self._turns.get_by_conversation(conversation_id)
        answered = [turn for turn in turns if turn.state is TurnState.ANSWERED]
        if not answered:
            return
        conversation = await self._manage.get(conversation_id)
        history = await self._messages.get_by_conversation(conversation_id)
        asked = {message.author_id for message in history if message.turn_id in {turn.id for turn in answered}}
        bound = await self._books.bound(conversation, [*await self._company.of(conversation_id), *asked])
        beyond = {message.turn_id for message in history if (message.depends_to or 0) > bound}
        for turn in answered:
            if turn.id in beyond:
                await self._turns.finish(replace(turn, state=TurnState.FAILED, error="withheld", told=False))

    async def waiting(self, conversation_id: str) -> Sequence[ChatMessage]:
        """The readers' messages that wait for an answer."""
        messages = await self._messages.get_recent(conversation_id, 0)
        return [message for message in messages if message.role is MessageRole.USER]

    async def undelivered(self, conversation_id: str) -> Sequence[Answer]:
        """The stored answers that may not have been shown to anybody."""
        turns = await self._turns.get_by_conversation(conversation_id)
        answered = [turn for turn in turns if turn.state is TurnState.ANSWERED]
        history = await self._messages.get_by_conversation(conversation_id) if answered else ()
        last = {message.turn_id: message for message in history if message.role is MessageRole.ASSISTANT}
        return [
            Answer(turn.id, last[turn.id].content, last[turn.id].citations, stopped=turn.stopped) for turn in answered
        ]

    async def delivered(self, turn_id: str, reply_ids: Sequence[str] = (), trace_id: str | None = None) -> bool:
        """Record that the readers have the answer, or know that there is none, and in which messages.

        False: the turn no longer exists, and nothing of it may be shown.
        """
        turn = await self._turns.get(turn_id)
        if turn is None:
            return False
        if turn.state not in (TurnState.ANSWERED, TurnState.FAILED):
            return True
        state = TurnState.DELIVERED if turn.state is TurnState.ANSWERED else TurnState.FAILED
        told = state is TurnState.FAILED
        noted = replace(turn, state=state, told=told, reply_ids=tuple(reply_ids), trace_id=trace_id)
        try:
            await self._turns.finish(noted)
        except ConversationError as error:
            if error.code is not ConversationErrorCode.NOT_FOUND:  # asked again, or taken back, while it was shown
                raise
            return False
        return True

    @asynccontextmanager
    async def _call_back(self, known: ChatMessage) -> AsyncIterator[Taken | None]:
        """Take a message from its turn and return it; None if it has an answer by now or is gone."""
        self._called_back[known.id] += 1
        running = self._running.get(known.conversation_id)
        if running is not None and known.id in running.asked:
            running.end(Ending.WITHDRAWN)
        try:
            async with self._lock(known.conversation_id):
                yield await self._taken(known)
        finally:
            self._called_back[known.id] -= 1
            self._called_back += Counter()  # drops those with none under way

    async def _taken(self, known: ChatMessage) -> Taken | None:
        message = await self._messages.get_by_external_id(known.external_id or "")
        if message is None or message.turn_id is None:
            return None if message is None else Taken(message)
        turn = await self._turns.get(message.turn_id)
        if turn is None or turn.state is not TurnState.FAILED:
            return None
        await self._turns.reopen(turn.id)
        return Taken(replace(message, turn_id=None), undone=turn)

    def _lock(self, conversation_id: str) -> asyncio.Lock:
        return self._locks.setdefault(conversation_id, asyncio.Lock())

    def _end(self, conversation_id: str, ending: Ending) -> bool:
        running = self._running.get(conversation_id)
        if running is not None:
            running.end(ending)
        return running is not None

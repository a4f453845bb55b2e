"""The history of a conversation: as it was kept, and which of its messages go into a prompt."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from domain.book import Citation
from domain.chat import ChatMessage, MessageRole, PlatformMessage, PromptMessage
from domain.citations.matching import find_uncited
from domain.concurrency import Shard
from domain.conversation import UNTITLED, Conversation, TitleSource, Turn, TurnState, title_from
from domain.errors import LLMErrorCode
from domain.event import NOTHING_WRITTEN, Answer
from domain.ports import ChatMessageRepository, ConversationRepository, TurnRepository
from domain.spoilers.filter import uncovered
from domain.strategies.window import ContextWindow, estimate, exceeds

DEFAULT_MAX_MESSAGES = 20

_FAULTS_OF_QUESTIONS = frozenset({LLMErrorCode.REFUSED, LLMErrorCode.CONTEXT_EXCEEDED})
"""Failures that would recur if the message that caused them were sent along with the next one."""


_Turn = Sequence[ChatMessage]
"""A reader's message, or several in a row, and everything that followed from it."""

MOST_REMEMBERED = 10_000
"""Conversations whose cut is remembered; a forgotten one loses its cached prefix once."""

KEPT = 1 / 3
"""The share of the room that is kept at a cut. It then grows again, so that most requests begin like
the previous one.
"""


LARGE = (1 - KEPT) / 2
"""The share of the room that a turn takes of which no two fit in after a cut. In such a small window, the results of
past turns are left out from the start, or there would be a cut at almost every message.
"""


_LATELY = 5
"""The newest turns of a conversation among which somebody's last question is looked for."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a conversation was cut: its first turn, and the turns that are included without tool results.

    `is_bare`: so are the turns after the cut.
    """

    first: str | None = None
    plain: frozenset[str | None] = frozenset()
    is_bare: bool = False


class FullHistoryStrategy:
    """The newest turns, whole, within `max_messages` and the model's window; always at least the newest.

    The history is cut in steps: when it exceeds its limits, tool results of past turns are dropped, and the oldest
    turns until only a third of the room is taken; until it is full again nothing is cut. A window that slid by one
    turn each time would change the beginning of every request and so defeat prompt caches. The cut falls only before a
    reader's message, so calls keep their results and the history starts with a reader. Questions at the end that have
    no answer go in as far as the answered turns leave room.
    """

    def __init__(self, max_messages: int = DEFAULT_MAX_MESSAGES, window: ContextWindow | None = None) -> None:
        self._max_messages = max_messages
        self._window = window or ContextWindow()
        self._cuts: OrderedDict[str, _Cut] = OrderedDict()

    @property
    def reach(self) -> int:
        """One turn more than can be in the context, so that it is seen to be full: each has at least a question and an
        answer. Otherwise the oldest would go unseen, one at every message.
        """
        return self._max_messages // 2 + 1

    def build_context(self, history: Sequence[ChatMessage]) -> list[ChatMessage]:
        """See ConversationContextStrategy."""
        answered = _to_last_answer(history)
        turns, kept = _turns(history[:answered]), list[ChatMessage]()
        if turns:
            conversation = history[0].conversation_id
            known = self._cuts.pop(conversation, None)
            cut = known or _Cut()
            if not self._fits(_applied(turns, cut)):
                cut = self._cut(turns) if known else self._cut_first(turns)
            self._cuts[conversation] = cut
            while len(self._cuts) > MOST_REMEMBERED:
                self._cuts.popitem(last=False)
            kept = [message for turn in _applied(turns, cut) for message in turn]
        return [*kept, *self._newest_that_fit(history[answered:], kept)]

    def _newest_that_fit(self, questions: Sequence[ChatMessage], kept: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        if not self._window.history_tokens:
            return questions
        room, first = self._window.history_tokens - estimate(kept), len(questions)
        while first and (room := room - estimate(questions[first - 1 : first])) >= 0:
            first -= 1
        return questions[first:]

    def _cut_first(self, turns: Sequence[_Turn]) -> _Cut:
        """The cut of a conversation that was never cut: as many turns as fit, whole."""
        for at in range(len(turns)):
            if self._fits(turns[at:]):
                return _Cut(_name(turns[at]))
        return self._cut(turns) if self._is_too_long(turns[-1:]) else _Cut(_name(turns[-1]))

    def _cut(self, turns: Sequence[_Turn]) -> _Cut:
        plain, is_bare = frozenset(map(_name, turns)), self._is_too_long(turns[-1:], LARGE)
        for at in range(len(turns)):
            cut = _Cut(_name(turns[at]), plain, is_bare)
            if self._fits(_applied(turns, cut), KEPT):
                return cut
        return _Cut(_name(turns[-1]), plain, is_bare)

    def _fits(self, turns: Sequence[_Turn], share: float = 1.0) -> bool:
        is_few = sum(map(_counted, turns)) <= self._max_messages * share
        return is_few and not self._is_too_long(turns, share)

    def _is_too_long(self, turns: Sequence[_Turn], share: float = 1.0) -> bool:
        room = self._window.history_tokens * share
        return bool(room) and exceeds([message for turn in turns for message in turn], (), room)


def _to_last_answer(history: Sequence[ChatMessage]) -> int:
    """How many messages there are up to the last answer."""
    return next((at for at in range(len(history), 0, -1) if history[at - 1].role is not MessageRole.USER), 0)


def _turns(history: Sequence[ChatMessage]) -> list[_Turn]:
    starts = [at for at in range(len(history)) if _starts_turn(history, at)]
    return [history[start:end] for start, end in zip(starts, [*starts[1:], len(history)], strict=False)]


def _name(turn: _Turn) -> str | None:
    return turn[-1].turn_id


def _counted(turn: _Turn) -> int:
    """The messages that count; questions before it that have no answer do not."""
    return sum(message.turn_id == _name(turn) for message in turn)


def _applied(turns: Sequence[_Turn], cut: _Cut) -> list[_Turn]:
    at = next((at for at, turn in enumerate(turns) if _name(turn) == cut.first), 0)
    return [without_calls(turn) if cut.is_bare or _name(turn) in cut.plain else turn for turn in turns[at:]]


def without_calls(history: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Only the questions and the answers, without tool calls and their results."""
    return [m for m in history if m.role is not MessageRole.TOOL_RESULT and not m.tool_invocations]


def within_bound(history: Sequence[ChatMessage], read_to: int) -> list[ChatMessage]:
    """The turns of which nothing depends on the book beyond `read_to`."""
    hidden = {m.turn_id for m in history if m.depends_to is not None and m.depends_to > read_to}
    return [message for message in history if message.turn_id not in hidden]


def as_said(message: ChatMessage) -> PromptMessage:
    """The message for a model: without covers, which would confirm to the model that it guessed right."""
    prompt = message.as_prompt()
    if message.role is not MessageRole.ASSISTANT:
        return prompt
    calls = [replace(call, covered=None) for call in message.tool_invocations]
    return replace(prompt, content=uncovered(prompt.content), tool_invocations=calls)


def unanswered(history: Sequence[ChatMessage], turns: Sequence[Turn]) -> dict[str | None, str]:
    """The ids of the turns that failed, or were stopped before anything was written, with the error codes."""
    failed = {turn.id: turn.error or "" for turn in turns if turn.state is TurnState.FAILED}
    return failed | {message.turn_id: "" for message in history if message.content == NOTHING_WRITTEN}


def presentable(history: Sequence[ChatMessage], turns: Sequence[Turn]) -> list[ChatMessage]:
    """What a model may be shown of a history.

    Of an unanswered turn that is only the question, until another one is answered, and unless the question was the
    fault; of a turn whose question was deleted, nothing.
    """
    failed = unanswered(history, turns)
    deleted = {turn.id for turn in turns if turn.asked_by is not None}
    told = [message for message in history if message.turn_id not in deleted]
    last = max((at for at, message in enumerate(told) if message.turn_id not in failed), default=-1)
    return [
        message
        for at, message in enumerate(told)
        if message.turn_id not in failed
        or (at > last and message.role is MessageRole.USER and failed[message.turn_id] not in _FAULTS_OF_QUESTIONS)
    ]


def _starts_turn(history: Sequence[ChatMessage], at: int) -> bool:
    previous = history[at - 1] if at else None
    return history[at].role is MessageRole.USER and (previous is None or previous.role is not MessageRole.USER)


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn, its conversation, and the messages of that turn alone, in order."""

    turn: Turn
    conversation: Conversation
    messages: tuple[ChatMessage, ...]

    @property
    def is_answered(self) -> bool:
        return self.turn.has_answer

    @property
    def names_its_conversation(self) -> bool:
        """Whether the title comes from the first words of this turn, or is still to be found."""
        first_words = (title_from(each.content) for each in self.questions)
        is_automatic = self.conversation.title_source is TitleSource.AUTOMATIC
        return is_automatic and self.conversation.title in (UNTITLED, *first_words)

    @property
    def questions(self) -> list[ChatMessage]:
        """The readers' messages that it answers, in order; those deleted since are missing."""
        return [message for message in self.messages if message.role is MessageRole.USER]

    @property
    def askers(self) -> list[str]:
        """The ids of the authors of the messages it answers, in order."""
        return [message.author_id for message in self.questions]

    @property
    def citations(self) -> list[Citation]:
        """What its messages cite, each once, in order."""
        return [*dict.fromkeys(citation for message in self.messages for citation in message.citations)]

    @property
    def answer(self) -> Answer:
        """The answer, if the turn has one."""
        last = self.messages[-1]
        return Answer(
            self.turn.id, last.content, last.citations, stopped=self.turn.stopped, uncited=find_uncited(last.content)
        )

    @property
    def depends_to(self) -> int:
        """The offset of the book up to which the turn depends on it."""
        return max((message.depends_to or 0 for message in self.messages), default=0)


class Transcripts:
    """Reads conversations as they were kept, and records what becomes of their answers."""

    def __init__(
        self, *, conversations: ConversationRepository, messages: ChatMessageRepository, turns: TurnRepository
    ) -> None:
        self._conversations = conversations
        self._messages = messages
        self._turns = turns

    async def messages(self, conversation_id: str) -> Sequence[ChatMessage]:
        """All messages of a conversation, turn by turn, waiting ones last."""
        return await self._messages.get_by_conversation(conversation_id)

    async def turns(self, conversation_id: str) -> Sequence[Turn]:
        """All turns of a conversation, in order."""
        return await self._turns.get_by_conversation(conversation_id)

    async def turn(self, turn_id: str) -> StoredTurn | None:
        """One turn with its messages; None where it is no longer kept."""
        turn = await self._turns.get(turn_id)
        conversation = await self._conversations.get(turn.conversation_id) if turn else None
        if turn is None or conversation is None:
            return None
        history = await self._messages.get_by_conversation(conversation.id)
        messages = tuple(message for message in history if message.turn_id == turn.id)
        return StoredTurn(turn, conversation, messages) if messages else None  # it may be forgotten while this is read

    async def authors(self, conversation_id: str) -> Sequence[str]:
        """The ids of those who have written to the bot."""
        return await self._messages.list_authors(conversation_id)

    async def last_questions(self, conversation_ids: Sequence[str], reader_id: str) -> dict[str, str]:
        """What a reader has last asked in these conversations, by their ids, if it is in one of the newest turns."""
        last = {}
        for conversation_id in conversation_ids:
            for message in await self._messages.get_recent(conversation_id, _LATELY):
                if message.role is MessageRole.USER and message.author_id == reader_id:
                    last[conversation_id] = message.content
        return last

    async def last_written(self, reader_id: str, book_id: str, *, but: str) -> datetime | None:
        """When somebody last wrote about a book, not counting the message with that platform id."""
        return await self._messages.get_last_written(reader_id, book_id, but=but)

    async def questions(self, place_id: str, limit: int) -> Sequence[ChatMessage]:
        """The newest messages of readers in a thread's conversation, or in all those of direct messages, newest
        first.
        """
        return await self._messages.list_questions(place_id, limit)

    async def question(self, external_id: str) -> ChatMessage | None:
        """A reader's message by its platform id."""
        return await self._messages.get_by_external_id(external_id)

    async def questions_in(self, message_id: str) -> Sequence[ChatMessage]:
        """The readers' messages that a message of the platform is, or shows under another id, in order."""
        return await self._messages.list_questions_in(message_id)

    async def shown_in(self, channel_id: str, limit: int) -> Mapping[str, str]:
        """The newest messages of a channel that show questions under other ids, with the words of one of these."""
        return await self._messages.list_shown_in(channel_id, limit)

    async def repetitions(self, question_id: str) -> Sequence[PlatformMessage]:
        """The bot's own messages that repeat a reader's message."""
        return await self._messages.list_repetitions(question_id)

    async def channels_before(self, guild_id: str) -> Sequence[str]:
        """The channels of a server in which questions were said before their books were chosen, and those of messages
        that questions quote; the last 200.
        """
        return await self._messages.list_channels_before(guild_id)

    async def newest_external_id(self, conversation_id: str) -> str | None:
        """The largest platform id known there, those of erased messages included."""
        return await self._messages.get_newest_external_id(conversation_id)

    async def begin_after(self, conversation_id: str, external_id: str) -> None:
        """Treat all messages of the platform up to this id as belonging elsewhere, in a place with several
        conversations.
        """
        await self._messages.note_known(conversation_id, external_id)

    async def unfinished(self, shard: Shard) -> set[str]:
        """The conversations of a shard with a waiting message, or with an undelivered last answer."""
        undelivered = await self._turns.list_undelivered(shard)
        return {turn.conversation_id for turn in undelivered} | {*await self._messages.list_waiting(shard)}

    async def shown_by(self, message_id: str, channel_id: str, guild_id: str | None) -> str | None:
        """The id of the turn whose delivered answer a message of the platform shows; None if it shows none."""
        return await self._turns.find_shown(message_id, channel_id, guild_id)

    async def forget_answer(self, turn_id: str, message_id: str) -> bool:
        """Delete an answer, because a message that shows it was deleted. False: it does not show the answer any more.

        Its question stays without an answer. The other messages of the answer are on the list of removals then.
        """
        return await self._turns.forget_answer(turn_id, message_id)

    async def reply_ids(self, conversation_id: str, turns: int) -> set[str]:
        """The platform's ids of the messages that show the newest delivered answers."""
        recent = await self._turns.get_recent(conversation_id, turns)
        return {each for turn in recent if turn.state is TurnState.DELIVERED for each in turn.reply_ids}

    async def reopen(self, turn_id: str) -> None:
        """Undo a turn that has no answer: its messages wait again.

        Raises:
            ConversationError: INVALID_STATE, the turn has its answer.
        """
        await self._turns.reopen(turn_id)

    async def record_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None:
        """Record the platform's messages that show a turn."""
        await self._turns.update_delivery(turn_id, reply_ids, trace_id)

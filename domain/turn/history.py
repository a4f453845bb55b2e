"""Which messages of a history go into the prompt."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.conversation import Turn, TurnState
from domain.errors import LLMErrorCode
from domain.event import NOTHING_WRITTEN
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

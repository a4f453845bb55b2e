"""Which messages of a history go into the prompt."""

from collections.abc import Sequence
from dataclasses import replace

from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.conversation import Turn, TurnState
from domain.errors import LLMErrorCode
from domain.spoilers.filter import uncovered

DEFAULT_MAX_MESSAGES = 20

_FAULTS_OF_QUESTIONS = frozenset({LLMErrorCode.REFUSED, LLMErrorCode.CONTEXT_EXCEEDED})
"""Failures that would come back if the message that caused them were sent along with the next one."""


class FullHistoryStrategy:
    """The newest turns that fit into `max_messages`, whole, and the newest turn always.

    The cut falls only before a reader's message, so calls keep their results and the history starts with a reader.
    """

    def __init__(self, max_messages: int = DEFAULT_MAX_MESSAGES) -> None:
        self._max_messages = max_messages

    @property
    def reach(self) -> int:
        """Enough turns to fill the context: each has a question and an answer at least."""
        return max(self._max_messages // 2, 1)

    def build_context(self, history: Sequence[ChatMessage]) -> list[ChatMessage]:
        """See ConversationContextStrategy."""
        starts = [at for at in range(len(history)) if _starts_turn(history, at)]
        fitting = [at for at in starts if len(history) - at <= self._max_messages]
        if not starts:
            return []
        return list(history[fitting[0] if fitting else starts[-1] :])


def within_bound(history: Sequence[ChatMessage], read_to: int) -> list[ChatMessage]:
    """The turns of which nothing depends on the book beyond `read_to`."""
    hidden = {m.turn_id for m in history if m.depends_to is not None and m.depends_to > read_to}
    return [message for message in history if message.turn_id not in hidden]


def as_said(message: ChatMessage) -> PromptMessage:
    """The message for a model: its own words without covers, which would tell it that it guessed right."""
    prompt = message.as_prompt()
    if message.role is not MessageRole.ASSISTANT:
        return prompt
    calls = [replace(call, covered=None) for call in message.tool_invocations]
    return replace(prompt, content=uncovered(prompt.content), tool_invocations=calls)


def presentable(history: Sequence[ChatMessage], turns: Sequence[Turn]) -> list[ChatMessage]:
    """What a model may be shown of a history: of a failed turn only the question, unless the question was the fault."""
    failed = {turn.id: turn.error for turn in turns if turn.state is TurnState.FAILED}
    return [
        message
        for message in history
        if message.turn_id not in failed
        or (message.role is MessageRole.USER and failed[message.turn_id] not in _FAULTS_OF_QUESTIONS)
    ]


def _starts_turn(history: Sequence[ChatMessage], at: int) -> bool:
    previous = history[at - 1] if at else None
    return history[at].role is MessageRole.USER and (previous is None or previous.role is not MessageRole.USER)

"""What a turn has brought forth so far: enough to keep, however it ends."""

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from domain.agent.composition import Composition
from domain.agent.running_turn import RunningTurn
from domain.agent.stand_in import NO_OFFER, Offer
from domain.agent.turn_log import TurnLog
from domain.book import Citation
from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.conversation import Turn
from domain.event import ToolCallFinished
from domain.tool_use import TokenUsage, ToolInvocation


@dataclass(slots=True)
class Draft:
    """A turn in the making.

    `depends_to` is the bound of its view: its prompt, its results and the notes about its readers depend on the book up
    to there, and so does whatever a model makes of them. `covered_arguments` are those of its calls, by id, that
    told too much to be shown as they are. `stand_in` asks the book itself, as soon as there is a talk.
    """

    turn: Turn
    asked: list[ChatMessage]
    answer: Composition | None = None
    usage: TokenUsage = field(default_factory=TokenUsage)
    depends_to: int | None = None
    covered_arguments: dict[str, dict[str, Any]] = field(default_factory=dict)
    log: TurnLog = field(default_factory=TurnLog)
    stand_in: Callable[[float], Awaitable[Offer]] | None = None
    offer: Offer = NO_OFFER

    @property
    def text(self) -> str:
        """The answer as far as it has been composed."""
        return self.answer.text.strip() if self.answer else ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self.answer.citations) if self.answer else ()

    def kept(
        self, messages: Sequence[PromptMessage], calls: Mapping[str, ToolCallFinished], now: datetime
    ) -> list[ChatMessage]:
        """Messages of the model and its tools, in the form in which they are kept."""
        return [self._kept(message, calls.get(message.tool_use_id or ""), now) for message in messages]

    def kept_calls(self, running: RunningTurn, now: datetime) -> list[ChatMessage]:
        """The calls that finished in a turn that did not: as one round, so that the history stays valid."""
        finished = running.finished
        if not finished:
            return []
        started = [running.started[call_id] for call_id in finished]
        calls = [ToolInvocation(call.tool_name, call.arguments, call.call_id) for call in started]
        asked = PromptMessage(MessageRole.ASSISTANT, "", tool_invocations=calls)
        return self.kept([asked, *map(_as_result, finished.values())], finished, now)

    def _kept(self, message: PromptMessage, call: ToolCallFinished | None, now: datetime) -> ChatMessage:
        return ChatMessage(
            id=uuid.uuid4().hex,
            conversation_id=self.turn.conversation_id,
            role=MessageRole(message.role),
            content=message.content,
            created_at=now,
            turn_id=self.turn.id,
            tool_use_id=message.tool_use_id,
            tool_invocations=tuple(
                replace(call, covered=self.covered_arguments.get(call.tool_use_id))
                for call in message.tool_invocations or ()
            ),
            is_error=message.is_error,
            passages=message.passages,
            usage=message.usage,
            raw=message.raw,
            note=message.note,
            depends_to=self.depends_to,
            duration_ms=call.milliseconds if call else 0,
            summary=call.summary if call else "",
        )


def _as_result(call: ToolCallFinished) -> PromptMessage:
    return PromptMessage(
        MessageRole.TOOL_RESULT,
        call.content,
        tool_use_id=call.call_id,
        is_error=call.is_error,
        passages=call.passages,
    )

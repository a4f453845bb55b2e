"""The growing list of messages of one turn."""

from collections.abc import Sequence
from dataclasses import replace

from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import StrategyOutcome, ToolCallFinished
from domain.tool_use import ChatResponse, ToolInvocation, ToolResult

NUDGE = "Please answer now, in words, from what you have found."
"""Sent once after an empty reply: resending the same request tends to bring the same nothing."""


class TurnTranscript:
    """What the model was sent at first, and what has been said since."""

    def __init__(self, messages: Sequence[PromptMessage]) -> None:
        self._given = tuple(messages)
        self._added: list[PromptMessage] = []
        self._numbers: dict[str, int] = {}
        self._finished: dict[str, tuple[ToolCallFinished, ToolResult]] = {}
        self._nudged = False

    @property
    def messages(self) -> list[PromptMessage]:
        """The next request."""
        nudge = [PromptMessage(MessageRole.USER, NUDGE, kind=PromptKind.NUDGE)] if self._nudged else []
        return [*self._given, *self._added, *nudge]

    def number_of(self, call: ToolInvocation) -> int:
        """The call's number in the turn, from 1."""
        return self._numbers[call.tool_use_id]

    def add_calls(self, response: ChatResponse) -> tuple[ToolInvocation, ...]:
        """Add a reply that asks for calls; every call gets an id of its own if it came without one."""
        calls = []
        for call in response.tool_invocations:
            number = len(self._numbers) + 1
            name = call.tool_use_id if call.tool_use_id and call.tool_use_id not in self._numbers else f"call_{number}"
            self._numbers[name] = number
            calls.append(replace(call, tool_use_id=name))
        renamed = tuple(calls) != response.tool_invocations
        self._added.append(
            PromptMessage(
                MessageRole.ASSISTANT,
                response.preamble,
                tool_invocations=calls,
                raw=None if renamed else response.raw,
                usage=response.usage,
            )
        )
        return tuple(calls)

    def add_result(self, finished: ToolCallFinished, result: ToolResult) -> None:
        """Keep what came of a call until the whole round is there."""
        self._finished[finished.call_id] = (finished, result)

    def close_round(self, calls: Sequence[ToolInvocation]) -> None:
        """Hand the round's results back together, in the order of the calls."""
        for call in calls:
            _, result = self._finished[call.tool_use_id]
            self._added.append(
                PromptMessage(
                    MessageRole.TOOL_RESULT,
                    result.content,
                    tool_use_id=call.tool_use_id,
                    is_error=result.is_error,
                    passages=result.passages,
                    note=result.note,
                    data=result.data,
                )
            )

    def add_answer(self, response: ChatResponse) -> None:
        """Add a reply in words."""
        self._added.append(
            PromptMessage(MessageRole.ASSISTANT, response.text or "", raw=response.raw, usage=response.usage)
        )

    def nudge(self) -> None:
        """Ask once more after an empty reply.

        Raises:
            LLMError: EMPTY_REPLY, this was asked before.
        """
        if self._nudged:
            raise LLMError(LLMErrorCode.EMPTY_REPLY, "The model came back with nothing to say. Please ask again.")
        self._nudged = True

    def outcome(self, *, cut: bool) -> StrategyOutcome:
        """Everything added, for keeping."""
        depends = [result.depends_to for _, result in self._finished.values() if result.depends_to is not None]
        return StrategyOutcome(
            messages=tuple(self._added),
            calls={call_id: finished for call_id, (finished, _) in self._finished.items()},
            depends_to=max(depends, default=None),
            cut=cut,
        )

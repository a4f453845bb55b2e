"""The loop: ask the model, carry out its calls, return the results, until it answers."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import (
    DraftDiscarded,
    StrategyEvent,
    StrategyOutcome,
    ToolCallFinished,
    ToolCallStarted,
)
from domain.ports import ChatProvider, Dispatcher
from domain.strategies.window import ContextWindow, stream_within
from domain.tool_use import ChatResponse, StopReason, ToolDefinition, ToolInvocation, ToolResult
from domain.tools.registry import as_result

logger = logging.getLogger(__name__)

NUDGE = "Please answer now, in words, from what you have found."
"""Sent once after an empty reply: resending the same request tends to produce another empty one."""

SPARE_REQUESTS = 3
"""Requests after the last round of calls: the forced answer, one after a nudge, one after a pause."""

MOST_CALLS = 32
"""Calls of one reply that are carried out, all at the same time: some models repeat one by the hundred."""


class TurnTranscript:
    """What the model was sent at first, and everything said since."""

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
        """Add a reply that asks for calls, the first MOST_CALLS of them; a call without an id gets one."""
        calls = []
        for call in response.tool_invocations[:MOST_CALLS]:
            number = len(self._numbers) + 1
            name = call.tool_use_id if call.tool_use_id and call.tool_use_id not in self._numbers else f"call_{number}"
            self._numbers[name] = number
            calls.append(replace(call, tool_use_id=name))
        is_changed = tuple(calls) != response.tool_invocations
        self._added.append(
            PromptMessage(
                MessageRole.ASSISTANT,
                response.preamble,
                tool_invocations=calls,
                raw=None if is_changed else response.raw,
                usage=response.usage,
            )
        )
        return tuple(calls)

    def add_result(self, finished: ToolCallFinished, result: ToolResult) -> None:
        """Store the result of a call until the round is complete."""
        self._finished[finished.call_id] = (finished, result)

    def close_round(self, calls: Sequence[ToolInvocation]) -> None:
        """Add the round's results, in the order of the calls."""
        for call in calls:
            _, result = self._finished[call.tool_use_id]
            self._added.append(result_message(call, result))

    def add_answer(self, response: ChatResponse) -> None:
        """Add a reply in words."""
        self._added.append(
            PromptMessage(MessageRole.ASSISTANT, response.text or "", raw=response.raw, usage=response.usage)
        )

    def nudge(self, response: ChatResponse) -> None:
        """Ask once more after an empty reply.

        Raises:
            LLMError: EMPTY_REPLY, it was asked once more already.
        """
        if self._nudged:
            raise empty_reply(response)
        self._nudged = True

    def outcome(self, *, cut: bool) -> StrategyOutcome:
        """Everything added, for storage."""
        return StrategyOutcome(
            messages=tuple(self._added),
            calls={call_id: finished for call_id, (finished, _) in self._finished.items()},
            cut=cut,
        )


async def run_calls(
    calls: Sequence[ToolInvocation], dispatch: Dispatcher, number_of: Callable[[ToolInvocation], int]
) -> AsyncGenerator[tuple[ToolCallFinished, ToolResult], None]:
    """Run all calls concurrently and yield each as it ends. Closing the iterator cancels the rest."""

    async def run(call: ToolInvocation) -> tuple[ToolCallFinished, ToolResult]:
        started = time.perf_counter()
        result = await _dispatched(call, dispatch)
        milliseconds = round((time.perf_counter() - started) * 1000)
        finished = ToolCallFinished(
            call_id=call.tool_use_id,
            number=number_of(call),
            tool_name=call.tool_name,
            summary=result.summary or ("failed" if result.is_error else "done"),
            content=result.content,
            is_error=result.is_error,
            milliseconds=milliseconds,
            passages=result.passages,
            is_of_book=result.depends_to is not None,
        )
        return finished, result

    tasks = [asyncio.ensure_future(run(call)) for call in calls]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for pending in tasks:
            pending.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _dispatched(call: ToolInvocation, dispatch: Dispatcher) -> ToolResult:
    """The call's result; if a dispatcher raises in spite of its contract, only the call fails, not the turn."""
    try:
        return as_result(await dispatch(call.tool_name, call.arguments))
    except Exception as error:
        logger.exception("dispatcher raised for tool %s", call.tool_name)
        return ToolResult(json.dumps({"error": f"Tool error: {error or type(error).__name__}"}), is_error=True)


class ToolUseRetrievalStrategy:
    """Lets the model decide when to look into the book.

    After `max_rounds` rounds of calls it has to answer from what it has: further requests allow no calls.
    """

    def __init__(self, *, max_rounds: int = 6, window: ContextWindow | None = None) -> None:
        self._max_rounds = max_rounds
        self._window = window or ContextWindow()

    async def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """See RetrievalStrategy."""
        talk, newest = TurnTranscript(messages), asked_at(messages)
        for round_number in range(self._max_rounds + SPARE_REQUESTS):
            may_call = bool(tools) and round_number < self._max_rounds
            within = stream_within(
                self._window, chat_provider, talk.messages, tools, newest=newest, call_tools=may_call
            )
            async with aclosing(within) as stream:
                async for event in stream:
                    if isinstance(event, ChatResponse):
                        response = event
                    else:
                        yield event
            raise_refusal(response)
            if response.tool_invocations and may_call:
                if response.preamble:
                    yield DraftDiscarded(response.preamble)
                calls = talk.add_calls(response)
                for call in calls:
                    yield ToolCallStarted(call.tool_use_id, talk.number_of(call), call.tool_name, call.arguments)
                async with aclosing(run_calls(calls, dispatch, talk.number_of)) as results:
                    async for finished, result in results:
                        talk.add_result(finished, result)
                        yield finished
                talk.close_round(calls)
            elif response.stop_reason is StopReason.PAUSE:
                talk.add_answer(response)
            elif response.text and response.text.strip():
                talk.add_answer(response)
                yield talk.outcome(cut=response.stop_reason is StopReason.MAX_TOKENS)
                return
            else:
                talk.nudge(response)
        raise LLMError(LLMErrorCode.EMPTY_REPLY, "The model didn't reach an answer. Please ask again.")


def asked_at(messages: Sequence[PromptMessage]) -> int:
    """The index of the current question: the readers' messages at the end, but not those that nobody has answered."""
    first = len(messages)
    while first and _is_asked(messages[first - 1]):
        first -= 1
    return first


def _is_asked(message: PromptMessage) -> bool:
    return message.role == MessageRole.USER and message.kind is not PromptKind.UNANSWERED


def result_message(call: ToolInvocation, result: ToolResult) -> PromptMessage:
    """The message that tells the model the result of its call."""
    return PromptMessage(
        MessageRole.TOOL_RESULT,
        result.content,
        tool_use_id=call.tool_use_id,
        is_error=result.is_error,
        passages=result.passages,
        note=result.note,
        media=result.media,
        data=result.data,
    )


def empty_reply(response: ChatResponse) -> LLMError:
    """The error of a turn whose model has sent nothing twice; `response` is the second reply."""
    if response.stop_reason is StopReason.MAX_TOKENS:  # it has thought, or begun a call, and nothing else
        sentence = "The model used up its tokens before it answered. Whoever runs this program has to allow it more."
        return LLMError(LLMErrorCode.EMPTY_REPLY, sentence)
    return LLMError(LLMErrorCode.EMPTY_REPLY, "The model sent an empty answer. Please ask again.")


def raise_refusal(response: ChatResponse) -> None:
    """Turn a reply by which the model declines into an error.

    Raises:
        LLMError: REFUSED, if the reply is a refusal.
    """
    if response.stop_reason is StopReason.REFUSAL:
        raise LLMError(LLMErrorCode.REFUSED, "The model declined to answer this. Please rephrase your question.")

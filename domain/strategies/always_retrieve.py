"""For models without tool use: search first, hand over what was found, then ask."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from domain.chat import MessageRole, PromptKind, PromptMessage
from domain.citations.keys import render
from domain.errors import LLMError, LLMErrorCode
from domain.event import StrategyEvent, StrategyOutcome, ToolCallStarted, UsageReported
from domain.ports import ChatProvider, Dispatcher
from domain.strategies.complete_once import complete_once
from domain.strategies.tool_use import asked_at, run_calls
from domain.strategies.window import ContextWindow, stream_within
from domain.tool_use import ChatResponse, StopReason, ToolDefinition, ToolInvocation
from domain.turn.prompts import Prompts

SEARCH_TOOL = "search_book"
PASSAGES = 8
"""More than a model with tools asks for at once: there is no second look."""

MOST_RECALLED = 6
"""Messages in whose light a question is made a query."""


class AlwaysRetrieveStrategy:
    """Reformulates the message into a query, searches, and asks with the passages in the prompt.

    The search is kept as a call and its result, so it can be looked at like any other; requests never contain it.
    """

    def __init__(self, prompts: Prompts, window: ContextWindow | None = None) -> None:
        self._prompts = prompts
        self._window = window or ContextWindow()

    async def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """As RetrievalStrategy says."""
        system, past, now = _parted(messages)
        asked = "\n\n".join(message.content for message in now)
        spent: list[UsageReported] = []
        query = await self._query(chat_provider, past, asked, spent)
        for usage in spent:
            yield usage
        call = ToolInvocation(SEARCH_TOOL, {"query": query, "top_k": PASSAGES}, f"search_{time.time_ns():x}")
        yield ToolCallStarted(call.tool_use_id, 1, call.tool_name, call.arguments)
        async with aclosing(run_calls([call], dispatch, lambda _: 1)) as results:
            finished, result = await anext(results)
        yield finished
        called = PromptMessage(MessageRole.ASSISTANT, "", tool_invocations=[call])
        found = PromptMessage(
            MessageRole.TOOL_RESULT,
            result.content,
            tool_use_id=call.tool_use_id,
            is_error=result.is_error,
            passages=result.passages,
            note=result.note,
            data=result.data,
        )

        def handed_over(fitted: list[PromptMessage]) -> list[PromptMessage]:
            """The question with what was found for it, in place of a call and its result."""
            shown = fitted[-1].passages
            stuffed = self._prompts.retrieved_passages.substitute(
                query=query,
                passages=render(shown) if shown else "(nothing was found)",
                message="\n\n".join(message.text for message in now),
            )
            data = {"message": asked, "passages": shown}
            kept = fitted[: -len(now) - 2]
            return [*kept, PromptMessage(MessageRole.USER, stuffed, kind=PromptKind.PASSAGES, data=data)]

        within = stream_within(
            self._window,
            chat_provider,
            [*system, *past, *now, called, found],
            newest=len(system) + len(past),
            arrange=handed_over,
        )
        response: ChatResponse | None = None
        async with aclosing(within) as stream:
            async for event in stream:
                if isinstance(event, ChatResponse):
                    response = event
                else:
                    yield event
        if response is None or not (response.text or "").strip() or response.stop_reason is StopReason.REFUSAL:
            raise LLMError(LLMErrorCode.EMPTY_REPLY, "The model came back with nothing to say. Please ask again.")
        if response.usage:
            yield UsageReported(response.usage, chat_provider.model_name)
        yield StrategyOutcome(
            messages=(
                called,
                found,
                PromptMessage(MessageRole.ASSISTANT, response.text or "", usage=response.usage),
            ),
            calls={call.tool_use_id: finished},
            depends_to=result.depends_to,
            cut=response.stop_reason is StopReason.MAX_TOKENS,
        )

    async def _query(
        self, chat_provider: ChatProvider, past: Sequence[PromptMessage], asked: str, spent: list[UsageReported]
    ) -> str:
        """A query that stands on its own; a conversation's first message does so already."""
        if not past:
            return asked
        past = past[-MOST_RECALLED:]
        history = "\n".join(f"{message.role}: {message.content}" for message in past)
        prompt = self._prompts.reformulation.substitute(history=history, message=asked)

        async def note(usage: UsageReported) -> None:
            spent.append(usage)

        said = [(message.role, message.content) for message in past]
        data = {"history": said, "message": asked}
        try:
            reply = await complete_once(chat_provider, note, prompt, kind=PromptKind.SEARCH_QUERY, data=data)
        except LLMError as error:
            if error.code is not LLMErrorCode.CONTEXT_EXCEEDED:
                raise
            return asked
        return " ".join(reply.split()) or asked


def _parted(
    messages: Sequence[PromptMessage],
) -> tuple[list[PromptMessage], list[PromptMessage], list[PromptMessage]]:
    """System messages; past talk without calls and results; and what the readers ask now."""
    system = [m for m in messages if m.role == "system"]
    talk = [m for m in messages if m.role in ("user", "assistant") and not m.tool_invocations]
    first = asked_at(talk)
    return system, talk[:first], talk[first:]

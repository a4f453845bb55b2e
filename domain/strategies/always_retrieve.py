"""For models without tool use: search first, pass on what was found, then ask."""

import logging
import re
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from inspect import isawaitable
from typing import Protocol, runtime_checkable

from domain.chat import MessageRole, PromptKind, PromptMessage, Prompts
from domain.citations.keys import render
from domain.citations.page_numbers import named_pages
from domain.errors import LLMError, LLMErrorCode, Worded
from domain.event import DraftDiscarded, StrategyEvent, StrategyOutcome, ToolCallStarted, UsageReported
from domain.ports import ChatProvider, Dispatcher, RetrievalStrategy
from domain.strategies.tool_use import NUDGE, asked_at, empty_reply, raise_refusal, result_message, run_calls
from domain.strategies.window import (
    ContextWindow,
    estimate,
    estimate_text,
    reply_text,
    stream_within,
)
from domain.tool_use import (
    ChatResponse,
    ProviderEvent,
    RequestSent,
    StopReason,
    TextBlockEnd,
    TextChunk,
    TokenUsage,
    ToolDefinition,
    ToolInvocation,
)

logger = logging.getLogger(__name__)

SEARCH_TOOL = "search_book"
PAGES_TOOL = "read_pages"
PASSAGES = 8
"""More than a model with tools requests at once, because there is no second search."""

LONGEST_QUERY = 50
"""Words; a small model that writes more, and more than twice as much as the reader, has answered the question."""

_OWN_CALL = re.compile(r"(?:search|pages)_[0-9a-f]+")
"""The ids of the calls that the strategy makes itself."""


class AlwaysRetrieveStrategy:
    """Turns the message into a query, searches, and asks with the passages in the prompt. If the message names a page,
    that page is read instead.

    The search is kept as a call with its result, so that readers can inspect it; requests never contain it. The query
    is asked for at the end of the conversation itself, so that a server with room for one prompt in its cache goes on
    from there with the passages, instead of reading the conversation again. Passages of past questions are not sent
    again: each question has new ones, so keeping them would make requests longer, and save hardly any reading.
    `python -m benchmarks.windows` prints both.
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
        """See RetrievalStrategy."""
        system, past, now = _parted(messages)
        asked = _joined(now)
        pages, query = _reading(asked, tools), asked
        if not pages:
            async with aclosing(self._rewording(chat_provider, [*system, *past], asked)) as rewording:
                async for piece in rewording:
                    if isinstance(piece, ChatResponse):
                        query = _query(reply_text(piece), asked)
                    else:
                        yield piece
        call = pages or ToolInvocation(SEARCH_TOOL, {"query": query, "top_k": PASSAGES}, f"search_{time.time_ns():x}")
        yield ToolCallStarted(call.tool_use_id, 1, call.tool_name, call.arguments)
        async with aclosing(run_calls([call], dispatch, lambda _: 1)) as results:
            finished, result = await anext(results)
        yield finished
        called = PromptMessage(MessageRole.ASSISTANT, "", tool_invocations=[call])
        found = result_message(call, result)
        nothing = result.content if result.is_error and pages else "(nothing was found)"
        arrange = partial(self._with_passages, now=now, query=query, nothing=nothing)
        talk, newest = [*system, *past, *now, called, found], len(system) + len(past)
        async with aclosing(self._answer(chat_provider, talk, newest, arrange)) as answering:
            async for event in answering:
                if isinstance(event, ChatResponse):
                    response = event
                else:
                    yield event
        yield StrategyOutcome(
            messages=(called, found, PromptMessage(MessageRole.ASSISTANT, response.text or "", usage=response.usage)),
            calls={call.tool_use_id: finished},
            cut=response.stop_reason is StopReason.MAX_TOKENS,
        )

    async def _answer(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        newest: int,
        arrange: Callable[..., list[PromptMessage]],
    ) -> AsyncGenerator[StrategyEvent | ChatResponse, None]:
        """Ask for the answer, once more after an empty reply. The last event is a ChatResponse with text.

        Raises:
            LLMError: REFUSED, or EMPTY_REPLY, both were empty.
        """
        for nudge in ("", NUDGE):
            asking = partial(arrange, nudge=nudge)
            within = stream_within(self._window, chat_provider, messages, newest=newest, arrange=asking)
            async with aclosing(within) as stream:
                async for event in stream:
                    if not isinstance(event, ChatResponse):
                        yield event
                        continue
                    raise_refusal(event)
                    if (event.text or "").strip():
                        yield event
                        return
                    if nudge:
                        raise empty_reply(event)

    def _with_passages(
        self, fitted: list[PromptMessage], *, now: Sequence[PromptMessage], query: str, nothing: str, nudge: str
    ) -> list[PromptMessage]:
        """The fitted messages with one message in place of the question, the call and its result: the question with the
        passages found for it, or with `nothing`; then the nudge.
        """
        shown = fitted[-1].passages
        kept, unanswered = _to_last_answer(fitted[: -len(now) - 2])
        stuffed = self._prompts.retrieved_passages.substitute(
            query=query,
            passages=render(shown) if shown else nothing,
            message="\n\n".join(message.text for message in [*unanswered, *now]),
        )
        data = {"message": _joined(now), "passages": shown}
        content = f"{stuffed.rstrip()}\n\n{nudge}" if nudge else stuffed
        return [*kept, PromptMessage(MessageRole.USER, content, kind=PromptKind.PASSAGES, data=data)]

    async def _rewording(
        self, chat_provider: ChatProvider, messages: Sequence[PromptMessage], asked: str
    ) -> AsyncGenerator[RequestSent | UsageReported | ChatResponse, None]:
        """Ask for a self-contained query; while nothing has been answered, the message already is one. Questions that
        were left unanswered have no part in it.
        """
        talk, _ = _to_last_answer(messages)
        if all(message.role == "system" for message in talk):
            return
        prompt = self._prompts.reformulation.substitute(message=asked)
        data = {"history": [(each.role, each.content) for each in talk if each.role != "system"], "message": asked}
        question = PromptMessage(MessageRole.USER, prompt, kind=PromptKind.SEARCH_QUERY, data=data)
        within = stream_within(self._window, chat_provider, [*talk, question], newest=len(talk))
        try:
            async with aclosing(within) as events:
                async for event in events:
                    if isinstance(event, RequestSent | UsageReported | ChatResponse):
                        yield event
        except LLMError as error:
            if error.code is not LLMErrorCode.CONTEXT_EXCEEDED:
                raise


def _query(reply: str, asked: str) -> str:
    """The query that a model has written; the message itself if it wrote none."""
    words = reply.split()
    return " ".join(words) if 0 < len(words) <= max(LONGEST_QUERY, 2 * len(asked.split())) else asked


def is_by_model(call: ToolInvocation) -> bool:
    """Whether a call in a history was made by a model, and not by AlwaysRetrieveStrategy in its place."""
    return not _OWN_CALL.fullmatch(call.tool_use_id)


def _reading(asked: str, tools: Sequence[ToolDefinition]) -> ToolInvocation | None:
    """The call that reads the pages a question names."""
    pages = named_pages(asked)
    if not pages or all(tool.name != PAGES_TOOL for tool in tools):
        return None
    return ToolInvocation(PAGES_TOOL, dict(zip(("from", "to"), pages, strict=False)), f"pages_{time.time_ns():x}")


def _joined(now: Sequence[PromptMessage]) -> str:
    return "\n\n".join(message.content for message in now)


def _to_last_answer(talk: Sequence[PromptMessage]) -> tuple[list[PromptMessage], list[PromptMessage]]:
    """A talk up to its last answer, and the unanswered messages after it: these go into the next message, because some
    servers take no two messages of a reader in a row.
    """
    kept, unanswered = [*talk], list[PromptMessage]()
    while kept and kept[-1].kind is PromptKind.UNANSWERED:
        unanswered.insert(0, kept.pop())
    return kept, unanswered


def _parted(
    messages: Sequence[PromptMessage],
) -> tuple[list[PromptMessage], list[PromptMessage], list[PromptMessage]]:
    """System messages; past talk without calls and results; and the readers' current question."""
    system = [m for m in messages if m.role == "system"]
    talk = [m for m in messages if m.role in ("user", "assistant") and not m.tool_invocations]
    first = asked_at(talk)
    return system, talk[:first], talk[first:]


class ChatOnly(Protocol):
    """The minimal interface of a model: one reply to messages."""

    async def chat(self, messages: Sequence[PromptMessage]) -> str: ...


@runtime_checkable
class CallsTools(Protocol):
    """What a model that calls tools has besides `chat`; it may refuse them by `supports_tools`."""

    async def chat_with_tools(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]
    ) -> ChatResponse: ...


class ChatOnlyProvider:
    """A ChatProvider over something that only has `chat`, or `chat` and `chat_with_tools`: replies in one piece.

    Its messages hold in `content` all that a model is to read. Tokens are estimated where it counts none. None is an
    empty reply. Whatever else it raises or returns becomes an LLMError.
    """

    def __init__(self, chat: ChatOnly) -> None:
        self._chat = chat
        self.name = str(getattr(chat, "name", type(chat).__name__))
        self.model_name = str(getattr(chat, "model_name", self.name))

    @property
    def supports_tools(self) -> bool:
        return isinstance(self._chat, CallsTools) and bool(getattr(self._chat, "supports_tools", True))

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        reply = await self._answered("chat", self._chat.chat(readable(messages)))
        if not isinstance(reply, str | None):
            raise self._not_understood("chat", "a string", reply)
        return reply or ""

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        if not tools:
            response = ChatResponse(await self.chat(messages))
        elif isinstance(self._chat, CallsTools) and self.supports_tools:
            reply = await self._answered("chat_with_tools", self._chat.chat_with_tools(readable(messages), tools))
            if not isinstance(reply, ChatResponse):
                raise self._not_understood("chat_with_tools", "a ChatResponse", reply)
            response = reply
        else:
            raise LLMError(
                LLMErrorCode.UNSUPPORTED_FEATURE, Worded("The model {model} cannot use tools.", model=self.model_name)
            )
        return response if response.usage else replace(response, usage=_estimated(messages, tools, response))

    async def metered_stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[RequestSent | ProviderEvent, None]:
        """See Metered."""
        prompt = TokenUsage(estimate(messages, tools), estimated=True)
        yield RequestSent(self.model_name, lambda: prompt)
        async with aclosing(self.stream(messages, tools, call_tools=call_tools)) as events:
            async for event in events:
                yield event

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """See ChatProvider. Where it may make no calls it is given no tools: there is no other way to tell it."""
        response = await self.chat_with_tools(messages, tools if call_tools else ())
        if said := response.text or response.preamble:
            yield TextChunk(said)
            yield TextBlockEnd()
        yield response

    async def check(self) -> str:
        return f"{self.model_name} can be asked."

    async def aclose(self) -> None:
        """Nothing to close."""

    async def _answered(self, method: str, answering: object) -> object:
        if not isawaitable(answering):
            raise TypeError(f"{self.name}.{method} has to be a coroutine function: async def {method}(self, …)")
        try:
            return await answering
        except LLMError:
            raise
        except Exception as error:
            logger.exception("%s.%s failed", self.name, method)
            raise LLMError(
                LLMErrorCode.API_CALL_FAILED,
                Worded("The model {model} could not answer. Please try again.", model=self.model_name),
            ) from error

    def _not_understood(self, method: str, wanted: str, reply: object) -> LLMError:
        logger.error("%s.%s has to return %s, not a value of type %s", self.name, method, wanted, type(reply).__name__)
        return LLMError(
            LLMErrorCode.API_CALL_FAILED,
            Worded("The model {model} sent an answer that is not text.", model=self.model_name),
        )


def readable(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """The messages with all that a model is to read in `content`: notes, and passages with keys to their sentences."""
    return [replace(message, content=content_of(message), note="") for message in messages]


def content_of(message: PromptMessage) -> str:
    """A message as text for a model whose API has no citations: passages as sentences with keys."""
    if message.role != MessageRole.TOOL_RESULT:
        return message.text
    if not message.passages or message.is_error:
        return message.content if message.content.strip() else "(nothing)"
    return "\n\n".join(part for part in (message.note, render(message.passages)) if part)


def _estimated(
    messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], response: ChatResponse
) -> TokenUsage:
    written = "".join([response.text or response.preamble, *map(repr, response.tool_invocations)])
    return TokenUsage(estimate(messages, tools), estimate_text(written), estimated=True)


def as_provider(provider: ChatProvider | ChatOnly) -> ChatProvider:
    """The provider itself if it is complete, else wrapped in ChatOnlyProvider.

    Raises:
        TypeError: it has no method `chat`.
    """
    if isinstance(provider, type) or not callable(getattr(provider, "chat", None)):
        raise TypeError(f"{provider!r} is no provider: it needs a method async def chat(self, messages) -> str")
    return provider if isinstance(provider, ChatProvider) else ChatOnlyProvider(provider)


class AdaptiveStrategy:
    """Uses one strategy for models with tool use and another one for models without.

    Some servers say only when they are asked that a model has no tool use. The turn then goes on without tools, and
    the provider remembers it. The same happens if the descriptions of the tools alone exceed the model's window; once
    `window` is known, such a request is not sent any more: some servers would cut it at its beginning, and not say so.
    """

    def __init__(
        self, with_tools: RetrievalStrategy, without: RetrievalStrategy, window: ContextWindow | None = None
    ) -> None:
        self._with_tools = with_tools
        self._without = without
        self._window = window or ContextWindow()

    async def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """See RetrievalStrategy."""
        least = [*(m for m in messages if m.role == "system"), *messages[asked_at(messages) :]]
        if chat_provider.supports_tools and not self._window.is_exceeded_by(least, tools):
            has_called, said = False, ""
            try:
                async with aclosing(self._with_tools.execute(chat_provider, messages, tools, dispatch)) as events:
                    async for event in events:
                        has_called = has_called or isinstance(event, ToolCallStarted)
                        said += event.text if isinstance(event, TextChunk) else ""
                        yield event
                return
            except LLMError as error:
                too_long = error.code is LLMErrorCode.CONTEXT_EXCEEDED and not has_called
                if error.code is not LLMErrorCode.UNSUPPORTED_FEATURE and not too_long:
                    raise
                if said:  # the server silently ignored the tools
                    yield DraftDiscarded(said, again=True)
        async with aclosing(self._without.execute(chat_provider, messages, tools, dispatch)) as events:
            async for event in events:
                yield event

"""The strategy that fits the model."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol, cast

from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import DraftDiscarded, StrategyEvent, ToolCallStarted
from domain.ports import ChatProvider, Dispatcher, RetrievalStrategy
from domain.strategies.window import estimate, estimate_text
from domain.tool_use import ChatResponse, ProviderEvent, TextBlockEnd, TextChunk, TokenUsage, ToolDefinition


class ChatOnly(Protocol):
    """The least a model can be asked by: one reply to messages."""

    async def chat(self, messages: Sequence[PromptMessage]) -> str: ...


class ChatOnlyProvider:
    """A ChatProvider over something that has only `chat`: without tools, its replies in one piece, tokens estimated."""

    def __init__(self, chat: ChatOnly) -> None:
        self._chat = chat
        self.name = str(getattr(chat, "name", type(chat).__name__))
        self.model_name = str(getattr(chat, "model_name", self.name))

    @property
    def supports_tools(self) -> bool:
        return False

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return await self._chat.chat(messages)

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        if tools:
            raise LLMError(LLMErrorCode.UNSUPPORTED_FEATURE, f"The model {self.model_name} cannot use tools.")
        text = await self.chat(messages)
        usage = TokenUsage(estimate(messages), estimate_text(text), estimated=True)
        return ChatResponse(text, usage=usage)

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        response = await self.chat_with_tools(messages, tools)
        yield TextChunk(response.text or "")
        yield TextBlockEnd()
        yield response

    async def check(self) -> str:
        return f"{self.model_name} can be asked."

    async def aclose(self) -> None:
        """There is nothing to close."""


def as_provider(provider: ChatProvider | ChatOnly) -> ChatProvider:
    """The provider with all methods of one."""
    return cast(ChatProvider, provider) if hasattr(provider, "stream") else ChatOnlyProvider(provider)


class AdaptiveStrategy:
    """One way for models that use tools, another for those that do not.

    Some servers tell only when they are asked that a model knows no tools. The turn goes on without them then, and the
    provider remembers. It also does where the descriptions of the tools alone are too much for the model's window.
    """

    def __init__(self, with_tools: RetrievalStrategy, without: RetrievalStrategy) -> None:
        self._with_tools = with_tools
        self._without = without

    async def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """As RetrievalStrategy says."""
        if chat_provider.supports_tools:
            has_called, said = False, ""
            try:
                async with aclosing(self._with_tools.execute(chat_provider, messages, tools, dispatch)) as events:
                    async for event in events:
                        has_called = has_called or isinstance(event, ToolCallStarted)
                        said += event.text if isinstance(event, TextChunk) else ""
                        yield event
                return
            except LLMError as error:
                if error.code not in (LLMErrorCode.UNSUPPORTED_FEATURE, LLMErrorCode.CONTEXT_EXCEEDED) or has_called:
                    raise
                if said:  # the server passed over the tools in silence
                    yield DraftDiscarded(said)
        async with aclosing(self._without.execute(chat_provider, messages, tools, dispatch)) as events:
            async for event in events:
                yield event

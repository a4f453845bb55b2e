"""The strategy that fits the model."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.event import StrategyEvent, ToolCallStarted
from domain.ports import ChatProvider, Dispatcher, RetrievalStrategy
from domain.tool_use import ToolDefinition


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
            has_called = False
            try:
                async with aclosing(self._with_tools.execute(chat_provider, messages, tools, dispatch)) as events:
                    async for event in events:
                        has_called = has_called or isinstance(event, ToolCallStarted)
                        yield event
                return
            except LLMError as error:
                # Nothing has been said by then: a server refuses a request with tools before it answers it.
                if error.code not in (LLMErrorCode.UNSUPPORTED_FEATURE, LLMErrorCode.CONTEXT_EXCEEDED) or has_called:
                    raise
        async with aclosing(self._without.execute(chat_provider, messages, tools, dispatch)) as events:
            async for event in events:
                yield event

"""The ports for language models."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from domain.chat import ChatMessage, PromptMessage
from domain.event import StrategyEvent
from domain.tool_use import ChatResponse, ProviderEvent, ToolDefinition, ToolResult


class ChatProvider(Protocol):
    """A language model.

    Raises (all methods): LLMError, and nothing else.
    """

    @property
    def name(self) -> str:
        """The provider's own name: anthropic, openai, extractive."""
        ...

    @property
    def model_name(self) -> str: ...

    @property
    def supports_tools(self) -> bool: ...

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        """A reply without tools."""
        ...

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        """A reply that may contain calls. Without tools it is `chat`.

        Raises:
            LLMError: UNSUPPORTED_FEATURE if the model cannot use tools.
        """
        ...

    def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """As `chat_with_tools`, piece by piece; the last event is the complete ChatResponse.

        With `call_tools` False the tools are sent (the history may contain calls of them), but the reply may contain
        no call.
        """
        ...

    async def check(self) -> str:
        """Ask the provider whether key and model work; return a sentence with the result."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


ToolOutput = str | ToolResult
ToolHandler = Callable[[dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out a call. A plain string is JSON; an object of the form {"error": …} is a failure."""

Dispatcher = Callable[[str, dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out the call of the tool with that name; raises nothing but CancelledError."""


class Toolbox(Protocol):
    """The tools of one turn, bound to one view of one book."""

    def get_definitions(self) -> list[ToolDefinition]: ...
    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher: ...


class RetrievalStrategy(Protocol):
    """How the model gets to see the book: by calling tools, or by being given passages."""

    def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """Events as they happen, then exactly one StrategyOutcome.

        Raises:
            LLMError: there is no answer.
        """
        ...


class ConversationContextStrategy(Protocol):
    """Chooses the part of a history that goes into the prompt."""

    @property
    def reach(self) -> int:
        """From how many of the newest turns it chooses."""
        ...

    def build_context(self, history: Sequence[ChatMessage]) -> list[ChatMessage]: ...


Clock = Callable[[], datetime]
"""Now, with a time zone."""

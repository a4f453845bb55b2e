"""The ports to language models."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Protocol

from domain.chat import PromptMessage
from domain.event import UsageReported
from domain.tool_use import ChatResponse, ProviderEvent, ToolDefinition


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
        """A reply that may be calls. Without tools it is `chat`.

        Raises:
            LLMError: UNSUPPORTED_FEATURE where the model cannot use tools.
        """
        ...

    def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """As `chat_with_tools`, piece by piece; the last event is the whole ChatResponse.

        With `call_tools` False the tools are sent (the history may hold calls of them) but no call may come back.
        """
        ...

    async def check(self) -> str:
        """Ask the provider whether key and model are good; return a sentence that says what was found."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class AskAside(Protocol):
    """Puts one question to a model, apart from the talk with readers: for a query, a summary, a title."""

    async def __call__(
        self, chat_provider: ChatProvider, spent: Callable[[UsageReported], Awaitable[None]], question: str, /
    ) -> str:
        """The answer in words; blank where the model declines or has nothing to say. `spent` is told what it used.

        Raises:
            LLMError: there was no answer.
        """
        ...

"""The ports where an answer can be gone about in more ways than one."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from domain.chat import ChatMessage, PromptMessage
from domain.event import StrategyEvent
from domain.protocols.models import ChatProvider
from domain.protocols.tools import Dispatcher
from domain.tool_use import ToolDefinition


class RetrievalStrategy(Protocol):
    """How the model gets to see the book: by calling tools, or by being handed passages."""

    def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """Events as they happen, then exactly one StrategyOutcome.

        Raises:
            LLMError: no answer came of it.
        """
        ...


class ConversationContextStrategy(Protocol):
    """Chooses what of a history goes into the prompt."""

    @property
    def reach(self) -> int:
        """How many of the newest turns it chooses from."""
        ...

    def build_context(self, history: Sequence[ChatMessage]) -> list[ChatMessage]: ...

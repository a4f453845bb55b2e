"""What the providers that are reached over the wire have in common."""

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, Self

from bot.llm.connection import C, LateClient
from bot.llm.service import Service
from bot.llm.turnstile import Turnstile
from domain.chat import PromptMessage
from domain.errors import LLMError
from domain.tool_use import ChatResponse, ProviderEvent, ToolDefinition

logger = logging.getLogger(__name__)


class WireChat(ABC, Generic[C]):
    """A ChatProvider less the wire itself: `stream`, `check`, and what the SDK's errors mean.

    `options` are further fields of every request, as the service knows them; they win over those set by the provider.
    """

    provider: ClassVar[str]

    def __init__(self, service: Service, client: LateClient[C], options: dict[str, Any]) -> None:
        self._service = service
        self._client = client
        self._options = options
        self._turnstile = Turnstile()

    @property
    def name(self) -> str:
        return self.provider

    @property
    def model_name(self) -> str:
        return self._service.model

    def with_options(self, **options: Any) -> Self:
        """The same provider on the same connection with further fields in its requests."""
        twin = copy.copy(self)
        twin._options = {**self._options, **options}  # noqa: SLF001
        return twin

    @property
    @abstractmethod
    def supports_tools(self) -> bool: ...

    @abstractmethod
    async def check(self) -> str: ...

    @abstractmethod
    def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]: ...

    @abstractmethod
    def _failure(self, error: Exception) -> LLMError:
        """The error of the domain for one of the SDK; the SDK is loaded by then."""

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return (await self.chat_with_tools(messages, ())).text or ""

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        events = [event async for event in self.stream(messages, tools)]
        response = events[-1]
        assert isinstance(response, ChatResponse)
        return response

    async def warm_up(self) -> None:
        """Load the SDK ahead of the first request."""
        with self._errors_translated():
            await self._client.get()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.close()

    @contextmanager
    def _errors_translated(self) -> Iterator[None]:
        """Whatever goes wrong on the wire is an LLMError; the original is chained, and logged for the operator."""
        try:
            yield
        except LLMError:
            raise
        except Exception as error:
            failure = self._failure(error)
            logger.warning("%s: %s: %s", self.provider, failure.code, _nature(error))
            logger.debug("%s said: %r", self.provider, error)  # it may repeat what it was sent
            raise failure from error


def _nature(error: Exception) -> str:
    """An SDK's error without its words."""
    details = {name: getattr(error, name, None) for name in ("status_code", "request_id")}
    return " ".join([type(error).__name__, *(f"{name}={value}" for name, value in details.items() if value)])

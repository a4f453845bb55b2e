"""Every provider that the contract of ChatProvider is tried on. To add one, write its opener and name it below."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from bot.providers.anthropic.client import AnthropicChat
from bot.providers.base import WireChat
from bot.providers.extractive.client import ExtractiveChat
from bot.providers.openai.client import OpenAIChat
from domain.chat import PromptMessage
from domain.ports import ChatProvider
from domain.strategies.always_retrieve import as_provider
from domain.tool_use import ChatResponse, ToolDefinition, ToolInvocation
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.http import ModelDouble
from tests.doubles.openai_api import OpenAIDouble

T = TypeVar("T")
Opener = Callable[[], AbstractAsyncContextManager[T]]


class Bench(ABC):
    """A provider that is reached over the wire, and the double at the far end of it."""

    def __init__(self, double: ModelDouble) -> None:
        self.double = double
        self._opened: list[WireChat[Any]] = []

    def open(self, **changes: Any) -> WireChat[Any]:
        """A provider that does not retry, unless `changes` to its settings say so."""
        chat = self._build({"max_retries": 0, "timeout": 5.0, "base_url": self.double.base_url, **changes})
        self._opened.append(chat)
        return chat

    @abstractmethod
    def _build(self, settings: dict[str, Any]) -> WireChat[Any]: ...

    async def close(self) -> None:
        for chat in self._opened:
            await chat.aclose()


class AnthropicBench(Bench):
    def _build(self, settings: dict[str, Any]) -> WireChat[Any]:
        return AnthropicChat(**{"api_key": AnthropicDouble.api_key, **settings})


class OpenAIBench(Bench):
    def _build(self, settings: dict[str, Any]) -> WireChat[Any]:
        return OpenAIChat(**{"api_key": OpenAIDouble.api_key, "model": OpenAIDouble.model, **settings})


@asynccontextmanager
async def opened(kind: type[Bench], double: ModelDouble) -> AsyncIterator[Bench]:
    async with double:
        bench = kind(double)
        yield bench
        await bench.close()


@asynccontextmanager
async def over_the_wire(open_bench: Opener[Bench]) -> AsyncIterator[ChatProvider]:
    """A provider whose far end is the small honest model."""
    async with open_bench() as bench:
        yield bench.open()


@asynccontextmanager
async def built_in() -> AsyncIterator[ChatProvider]:
    """The provider that needs no far end."""
    yield ExtractiveChat()


class OwnChat:
    """As little as a provider of one's own needs to look something up: it streams nothing and counts nothing."""

    name = model_name = "own"

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return "\n".join(message.content for message in messages if message.role != "system")

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        if messages[-1].role == "user":
            return ChatResponse(tool_invocations=[ToolInvocation(tools[0].name, {"query": messages[-1].content}, "a")])
        return ChatResponse(await self.chat(messages))


@asynccontextmanager
async def of_ones_own() -> AsyncIterator[ChatProvider]:
    yield as_provider(OwnChat())


BENCHES: Mapping[str, Opener[Bench]] = {
    "anthropic": lambda: opened(AnthropicBench, AnthropicDouble()),
    "openai": lambda: opened(OpenAIBench, OpenAIDouble()),
}
"""Those reached over the wire: what can go wrong there is tried on these."""

PROVIDERS: Mapping[str, Opener[ChatProvider]] = {
    **{name: partial(over_the_wire, open_bench) for name, open_bench in BENCHES.items()},
    "extractive": built_in,
    "own": of_ones_own,
}
"""All of them. A provider here has to be able to look something up with search_book and to answer from what it got."""

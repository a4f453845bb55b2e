"""Every provider that the contract of ChatProvider is tried on. To add one, write its opener and name it below."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from bot.llm.anthropic import AnthropicChat
from bot.llm.openai import OpenAIChat
from bot.llm.wire import WireChat
from domain.protocols import ChatProvider
from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.http import ModelDouble
from tests.doubles.openai_api import OpenAIDouble


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
async def anthropic_bench() -> AsyncIterator[Bench]:
    async with AnthropicDouble() as double:
        bench = AnthropicBench(double)
        yield bench
        await bench.close()


@asynccontextmanager
async def openai_bench() -> AsyncIterator[Bench]:
    async with OpenAIDouble() as double:
        bench = OpenAIBench(double)
        yield bench
        await bench.close()


@asynccontextmanager
async def over_the_wire(opener: Callable[[], AbstractAsyncContextManager[Bench]]) -> AsyncIterator[ChatProvider]:
    """A provider whose far end is the small honest model."""
    async with opener() as bench:
        yield bench.open()


BENCHES: Mapping[str, Callable[[], AbstractAsyncContextManager[Bench]]] = {
    "anthropic": anthropic_bench,
    "openai": openai_bench,
}
"""Those reached over the wire: what can go wrong there is tried on these."""

PROVIDERS: Mapping[str, Callable[[], AbstractAsyncContextManager[ChatProvider]]] = {
    "anthropic": lambda: over_the_wire(anthropic_bench),
    "openai": lambda: over_the_wire(openai_bench),
}
"""All of them. A provider here has to be able to look something up with search_book and to answer from what it got."""

"""The provider that needs no key: it uses the tools like a model, and answers with the book's own sentences."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from functools import cache
from importlib.resources import files

from domain.chat import PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, ProviderEvent, TextChunk, ToolDefinition

_WORD = re.compile(r"\s*\S+")
_SEARCH = "search_book"
_BOOKS_ONLY = (
    "The built-in answerer uses the tools over a book and no others. Please set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "OPENAI_BASE_URL for a model that does, or leave out the tools."
)


class ExtractiveChat:
    """A ChatProvider without a model. It is stateless: a reply depends only on the messages and tools."""

    name = "extractive"
    model_name = "extractive-1"
    supports_tools = True

    @property
    def phrases(self) -> str:
        """What it says in its own words."""
        return _phrases()

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return (await self.chat_with_tools(messages, ())).text or ""

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        """See ChatProvider; UNSUPPORTED_FEATURE also if there are tools, but none that searches a book."""
        if tools and all(tool.name != _SEARCH for tool in tools):
            raise LLMError(LLMErrorCode.UNSUPPORTED_FEATURE, _BOOKS_ONLY)
        return await asyncio.to_thread(_reply, tuple(messages), tuple(tools))

    async def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """See ChatProvider; the text comes word by word."""
        response = await self.chat_with_tools(messages, tools if call_tools else ())
        for word in _WORD.findall(response.text or ""):
            yield TextChunk(word)
        yield response

    async def check(self) -> str:
        return f"The built-in answerer ({self.model_name}) is ready; it needs no key."

    async def aclose(self) -> None:
        """There is nothing to close."""


@cache
def _phrases() -> str:
    return files(__package__).joinpath("phrases.json").read_text(encoding="utf-8")


def _reply(messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
    """Imported late: its word lists and patterns take 0.1 s to load, which most commands do not need."""
    from bot.providers.extractive.overview import reply_to

    return reply_to(messages, tools)

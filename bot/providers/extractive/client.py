"""The provider that needs no key: it looks things up like the big ones, and answers with the book's own sentences."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence

from bot.providers.extractive.answering import answer_to
from bot.providers.extractive.follow_up import written_for
from bot.providers.extractive.planning import next_calls, wishes_of
from bot.providers.extractive.scoring import Choices
from bot.providers.extractive.transcript import OfferedTools, transcribe
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
    """A ChatProvider without a model. It keeps nothing: what it says depends on the messages and tools alone."""

    name = "extractive"
    model_name = "extractive-1"
    supports_tools = True

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        return (await self.chat_with_tools(messages, ())).text or ""

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        """As ChatProvider says; UNSUPPORTED_FEATURE also where there are tools, yet none to search a book with."""
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


def _reply(messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
    """Its word lists and patterns take 0.1 s to load, which commands that ask nothing are spared."""
    from bot.providers.extractive.client import reply_to

    return reply_to(messages, tools)


def reply_to(messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
    """What to say to these messages; it depends on nothing else."""
    written = written_for(messages[-1].content) if messages and messages[-1].role == "user" else None
    if written is not None:
        return ChatResponse(text=written)
    transcript = transcribe(messages)
    wishes = wishes_of(transcript)
    choices = Choices(transcript, questions=len(wishes))
    calls = next_calls(wishes, choices, OfferedTools(tools, seed=f"{len(messages)} {transcript.asked}"))
    return ChatResponse(tool_invocations=calls) if calls else ChatResponse(text=answer_to(wishes, choices))

"""The provider that needs no key: it uses the tools like a model, and answers with the book's own sentences."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from functools import cache
from importlib.resources import files

from domain.chat import PromptKind, PromptMessage
from domain.errors import LLMError, LLMErrorCode
from domain.tool_use import ChatResponse, OfferedTools, ProviderEvent, TextChunk, ToolDefinition

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
        return "The built-in answerer is ready; it needs no key."

    async def aclose(self) -> None:
        """There is nothing to close."""


@cache
def _phrases() -> str:
    return files(__package__).joinpath("phrases.json").read_text(encoding="utf-8")


def _reply(messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
    """The reply to these messages; it depends on nothing else.

    What makes it is imported late: word lists and patterns take 0.1 s to load, which most commands do not need.
    """
    from bot.providers.extractive import planning, replies
    from bot.providers.extractive.transcript import transcribe

    if messages and (written := _written_for(messages[-1])) is not None:
        return ChatResponse(text=written)
    transcript = transcribe(messages)
    wishes = planning.wishes_of(transcript)
    choices = planning.Choices(transcript, questions=len(wishes))
    offered = OfferedTools(tools, seed=f"{len(messages)} {transcript.asked}")
    calls = planning.next_calls(wishes, choices, offered)
    return ChatResponse(tool_invocations=calls) if calls else ChatResponse(text=replies.answer_to(wishes, choices))


def _written_for(prompt: PromptMessage) -> str | None:
    """The title or query that a prompt asks for, empty for a summary; None if it is a message of a talk."""
    data = prompt.data or {}
    match prompt.kind:
        case PromptKind.TITLE:
            return _title_of(data["question"])
        case PromptKind.SEARCH_QUERY:
            return _standalone_query(data["history"], data["message"])
        case PromptKind.SUMMARY:
            return ""
        case _:
            return None


_MOST_TITLE_WORDS = 6
_EDGES = " .,;:!?…“”\"«»„‘’'()[]"


def _title_of(text: str) -> str:
    """A title for a talk that begins with this question: its words from the first meaningful one to the last."""
    from bot.providers.extractive.question import analyse
    from bot.providers.extractive.transcript import as_meant

    question = analyse(as_meant(text))
    words = [word.strip(_EDGES) for word in question.text.split()]
    telling = {word.strip(_EDGES) for term in question.terms for word in (*term.word.split(), term.particle)} - {""}
    places = [place for place, word in enumerate(words) if word in telling]
    if not places:
        return "About the book"
    last = max(place for place in places if place < places[0] + _MOST_TITLE_WORDS)
    title = " ".join(words[places[0] : last + 1])
    return title[:1].upper() + title[1:]


def _standalone_query(history: Sequence[tuple[str, str]], message: str) -> str:
    """The words to search for; `history` is the talk so far, with roles."""
    from bot.providers.extractive.transcript import as_meant, in_context

    past = None
    asked = ""
    for role, text in history:
        if role == "user":
            asked = text
        elif asked:
            past, asked = in_context(as_meant(asked), past, text), ""
    return in_context(as_meant(message), past, history[-1][1] if history else "").query

"""Shorthand for the messages of a conversation, and for collecting a stream."""

from collections.abc import AsyncIterable, Sequence

from domain.book import Passage, Sentence
from domain.chat import PromptMessage
from domain.tool_use import ChatResponse, ProviderEvent, TextChunk, ToolDefinition

SEARCH = ToolDefinition(
    "search_book",
    "Find passages of the book.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


def system(text: str = "You read a book with someone.") -> PromptMessage:
    return PromptMessage("system", text)


def user(text: str) -> PromptMessage:
    return PromptMessage("user", text)


def reply(response: ChatResponse) -> PromptMessage:
    """A response as the next request repeats it."""
    text = response.preamble if response.text is None else response.text
    return PromptMessage("assistant", text, tool_invocations=response.tool_invocations, raw=response.raw)


def result(tool_use_id: str, content: str = "", *passages: Passage, is_error: bool = False) -> PromptMessage:
    return PromptMessage("tool_result", content, tool_use_id=tool_use_id, is_error=is_error, passages=passages)


def passage(*sentences: str, start: int = 0, chapter: str = "Down the Hole", page: str = "12") -> Passage:
    placed = []
    at = start
    for text in sentences:
        placed.append(Sentence(at, at + len(text), text))
        at += len(text) + 1
    return Passage(1, start, at - 1, page, page, chapter, tuple(placed))


async def collected(events: AsyncIterable[ProviderEvent]) -> tuple[list[ProviderEvent], ChatResponse]:
    """The events before the response, and the response, which has to come last."""
    got = [event async for event in events]
    last = got.pop()
    assert isinstance(last, ChatResponse)
    assert not any(isinstance(event, ChatResponse) for event in got)
    return got, last


def streamed_text(events: Sequence[ProviderEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))

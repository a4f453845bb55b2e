"""A streamed chat completion as events of the domain."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from bot.llm.arguments import read_arguments
from domain.tool_use import (
    ChatResponse,
    ProviderEvent,
    StopReason,
    TextBlockEnd,
    TextChunk,
    TokenUsage,
    ToolInvocation,
)

Json = dict[str, Any]

_STOP_REASONS: Final = {
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}

_COMPLETE: Final = frozenset({StopReason.TOOL_USE, StopReason.END_TURN})
"""Some servers say "stop" where a model stopped to have its calls carried out."""


@dataclass(slots=True)
class _Call:
    """A call in the making."""

    id: str = ""
    name: str = ""
    written: list[str] = field(default_factory=list)

    def invocation(self) -> ToolInvocation:
        call_id = self.id or f"call_{uuid.uuid4().hex[:12]}"
        return ToolInvocation(self.name, read_arguments("".join(self.written)), call_id)


class ReplyReader:
    """Puts a reply together from the chunks of its stream."""

    def __init__(self, *, call_tools: bool = True) -> None:
        self._call_tools = call_tools
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._finish: str | None = None
        self._refused = False
        self._usage: TokenUsage | None = None

    @property
    def whole(self) -> bool:
        """Whether the reply came to its end: a line can also break off without an error."""
        return self._finish is not None

    def read(self, chunk: object) -> Iterator[ProviderEvent]:
        """Take in one chunk; what is not known is passed over, and what servers leave out is taken as empty."""
        if not isinstance(chunk, dict):
            return
        if usage := chunk.get("usage"):
            self._usage = _token_usage(usage)
        for choice in chunk.get("choices") or ():
            self._finish = choice.get("finish_reason") or self._finish
            delta = choice.get("delta") or {}
            self._refused = self._refused or bool(delta.get("refusal"))
            if text := (delta.get("content") or "") + (delta.get("refusal") or ""):
                self._text.append(text)
                yield TextChunk(text)
            for piece in delta.get("tool_calls") or ():
                self._extend_call(piece)

    def end(self) -> Iterator[ProviderEvent]:
        """The end of the text, then the whole reply."""
        if self._text:
            yield TextBlockEnd()
        yield self._response()

    def _extend_call(self, piece: Json) -> None:
        index, call_id = piece.get("index") or 0, piece.get("id")
        call = self._by_index.get(index)
        # Some servers give every call of a reply the same index; their ids still differ.
        if call is None or (call_id and call.id and call_id != call.id):
            call = self._by_index[index] = _Call()
            self._calls.append(call)
        function = piece.get("function") or {}
        call.id = call_id or call.id
        call.name = function.get("name") or call.name
        call.written.append(function.get("arguments") or "")

    def _response(self) -> ChatResponse:
        text = "".join(self._text)
        reason = _STOP_REASONS.get(self._finish or "", StopReason.OTHER)
        if self._calls and reason in _COMPLETE and self._call_tools:
            calls = [call.invocation() for call in self._calls]
            return ChatResponse(
                tool_invocations=calls, preamble=text, usage=self._usage, stop_reason=StopReason.TOOL_USE
            )
        if self._refused:
            reason = StopReason.REFUSAL
        elif reason is StopReason.TOOL_USE:
            reason = StopReason.OTHER
        return ChatResponse(text=text, usage=self._usage, stop_reason=reason)


def _token_usage(usage: Json) -> TokenUsage:
    details = usage.get("prompt_tokens_details") or {}
    return TokenUsage(
        input_tokens=usage.get("prompt_tokens") or 0,
        output_tokens=usage.get("completion_tokens") or 0,
        cache_read_tokens=details.get("cached_tokens") or 0,
        cache_write_tokens=details.get("cache_write_tokens") or 0,
    )

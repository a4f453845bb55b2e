"""A streamed reply of Anthropic's Messages API as events of the domain."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from bot.providers.anthropic.request import PROVIDER, Block
from bot.providers.base import plain_id, read_arguments, tool_name
from domain.chat import WholeCharacters
from domain.strategies.window import estimate_text
from domain.tool_use import (
    ChatResponse,
    CitationMark,
    ProviderEvent,
    RawReply,
    StopReason,
    TextBlockEnd,
    TextChunk,
    TokenUsage,
    ToolInvocation,
)

Event = dict[str, Any]
"""As the server has sent it: the SDK's own types take longer to be filled than the rest of the work on an event."""

_STOP_REASONS: Final = {
    "end_turn": StopReason.END_TURN,
    "stop_sequence": StopReason.END_TURN,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.MAX_TOKENS,
    "pause_turn": StopReason.PAUSE,
    "refusal": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.CONTEXT_EXCEEDED,
}

_COMPLETE: Final = frozenset({StopReason.TOOL_USE, StopReason.END_TURN})

_OF_REPLY: Final = frozenset({"message_start", "content_block_start"})
"""Events that a model's work has begun."""

_SILENT: Final = frozenset({"thinking", "redacted_thinking"})


class MessageAccumulator:
    """Assembles a reply from the events of its stream.

    The SDK's own accumulator is not used: it fails on calls with invalid JSON, and shows a call that was cut off as
    one without arguments.
    """

    def __init__(
        self, model: str, prefix: str, *, call_tools: bool = True, prompt_tokens: Callable[[], int] = lambda: 0
    ) -> None:
        """`prompt_tokens` estimates the tokens of the request, in case the server does not report them."""
        self._prompt_tokens = prompt_tokens
        self._model = model
        self._prefix = prefix
        self._call_tools = call_tools
        self._blocks: dict[int, Block] = {}
        self._written: dict[int, str] = {}
        self._characters = WholeCharacters()
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._is_counted = False
        self._has_begun = False

    @property
    def whole(self) -> bool:
        """Whether the reply is complete: a connection can also break without an error."""
        return self._stop is not None

    @property
    def used(self) -> TokenUsage | None:
        """See CountsTokens."""
        return self._token_usage() if self._has_begun else None

    def read(self, event: Event) -> Iterator[ProviderEvent]:
        """Process one event; unknown kinds are ignored."""
        self._has_begun = self._has_begun or event["type"] in _OF_REPLY
        match event["type"]:
            case "message_start":
                self._count(event["message"].get("usage"))
            case "content_block_start":
                yield from self._start(event["index"], event["content_block"])
            case "content_block_delta":
                yield from self._extend(event["index"], event["delta"])
            case "content_block_stop":
                yield from self._finish(event["index"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason")
                self._count(event.get("usage"))
                self._is_counted = bool((event.get("usage") or {}).get("output_tokens"))

    def response(self) -> ChatResponse:
        """The complete reply. Calls count only if all are complete and the model stopped to have them carried out; some
        servers say of such a reply that it just ended.
        """
        text = "".join(block["text"] for block in self._blocks.values() if block["type"] == "text")
        calls = [_invocation(block) for block in self._blocks.values() if block["type"] == "tool_use"]
        reason = _STOP_REASONS.get(self._stop or "", StopReason.OTHER)
        if reason in _COMPLETE and calls and self._call_tools:
            return ChatResponse(
                tool_invocations=calls,
                preamble=text,
                usage=self._token_usage(),
                stop_reason=StopReason.TOOL_USE,
                raw=self._raw(with_calls=True),
            )
        return ChatResponse(
            text=text,
            usage=self._token_usage(),
            stop_reason=StopReason.OTHER if reason is StopReason.TOOL_USE else reason,
            raw=self._raw(with_calls=False),
        )

    def _start(self, index: int, block: Block) -> Iterator[ProviderEvent]:
        self._blocks[index] = {**block}
        if block["type"] == "text":
            self._blocks[index]["text"] = ""
            yield from self._say(index, self._characters.feed(block["text"]))
        elif block["type"] == "tool_use":
            self._blocks[index] |= {"id": plain_id(block["id"]), "name": tool_name(block["name"])}

    def _extend(self, index: int, delta: Event) -> Iterator[ProviderEvent]:
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta":
                yield from self._say(index, self._characters.feed(delta["text"]))
            case "citations_delta":
                cited = delta["citation"]
                block["citations"] = [*(block.get("citations") or ()), cited]
                if cited["type"] == "search_result_location":
                    first, last = cited["start_block_index"], cited["end_block_index"]
                    yield CitationMark(cited["source"], first, last, cited["cited_text"])
            case "input_json_delta":
                self._written[index] = self._written.get(index, "") + delta["partial_json"]
            case "thinking_delta":
                block["thinking"] += delta["thinking"]
            case "signature_delta":
                block["signature"] = delta["signature"]

    def _finish(self, index: int) -> Iterator[ProviderEvent]:
        block = self._blocks[index]
        if index in self._written:
            block["input"] = read_arguments(self._written.pop(index))
        if block["type"] == "text":
            yield from self._say(index, self._characters.end())
            yield TextBlockEnd()

    def _say(self, index: int, text: str) -> Iterator[ProviderEvent]:
        if text:
            self._blocks[index]["text"] += text
            yield TextChunk(text)

    def _count(self, usage: Event | None) -> None:
        """Update the usage: numbers in later events are totals; missing ones keep their value."""
        if usage is None:  # servers that only imitate this API leave it out
            return
        self._usage |= {name: count for name, count in usage.items() if isinstance(count, int)}

    def _token_usage(self) -> TokenUsage:
        """The API counts the prompt first, and what was written only at the end. Other servers leave out either."""
        read = self._usage.get("cache_read_input_tokens", 0)
        written = self._usage.get("cache_creation_input_tokens", 0)
        prompt, reply = self._usage.get("input_tokens", 0) + read + written, self._usage.get("output_tokens", 0)
        if prompt and self._is_counted:
            return TokenUsage(prompt, reply, read, written)
        return TokenUsage(
            prompt or self._prompt_tokens(), max(reply, self._written_tokens()), read, written, estimated=True
        )

    def _written_tokens(self) -> int:
        blocks = self._blocks.values()
        said = (block.get("text") or block.get("thinking") or str(block.get("input") or "") for block in blocks)
        return sum(map(estimate_text, [*said, *self._written.values()]))

    def _raw(self, *, with_calls: bool) -> RawReply | None:
        """The blocks to send back: without blank text, which is refused, and without calls that nobody will answer."""
        kept = [
            block
            for block in self._blocks.values()
            if (with_calls or block["type"] != "tool_use") and (block["type"] != "text" or block["text"].strip())
        ]
        if all(block["type"] in _SILENT for block in kept):
            return None
        return RawReply(PROVIDER, self._model, kept, self._prefix)


def _invocation(block: Block) -> ToolInvocation:
    return ToolInvocation(tool_name=block["name"], arguments=block["input"], tool_use_id=block["id"])


def with_whole_text(events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
    """The events, with the text of neighbouring pieces in one. What came before an error is passed on before it."""
    text = ""
    try:
        for event in events:
            if isinstance(event, TextChunk):
                text += event.text
                continue
            if text:
                yield TextChunk(text)
                text = ""
            yield event
    except Exception:
        if text:
            yield TextChunk(text)
        raise
    if text:
        yield TextChunk(text)

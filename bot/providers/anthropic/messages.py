"""Anthropic's Messages API: messages of the domain as a request, and a streamed reply as events of the domain."""

import hashlib
import json
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from bot.providers.base import encoded, plain_id, read_arguments, tool_name
from bot.providers.streamed_text import OwnTurn, WholeCharacters
from domain.book import Passage, page_reference
from domain.chat import MessageRole, PromptMessage, repair_history
from domain.citations.keys import render
from domain.strategies.window import estimate_text
from domain.tool_use import (
    ChatResponse,
    CitationMark,
    Media,
    MediaKind,
    ProviderEvent,
    RawReply,
    StopReason,
    TextBlockEnd,
    TextChunk,
    TokenUsage,
    ToolDefinition,
    ToolInvocation,
    token_count,
)

PROVIDER: Final = "anthropic"

Block = dict[str, Any]

_CACHED: Final[Block] = {"type": "ephemeral"}

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})

_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    # By default Sonnet thinks before every reply; between tools it helps, and its text there comes back as text.
    "claude-sonnet-5-5": {"thinking": {"type": "between_tools"}, "output_config": {"effort": "medium"}},
    # Without thinking Haiku signs nothing, so its history may be cut at will.
    "claude-haiku-5-5": {"thinking": {"type": "disabled"}},
}
"""Settings known to suit a model; other models get none for thinking or effort."""


class Request:
    """A request in the making, and the digest that tells whether the messages before an earlier reply are unchanged."""

    def __init__(
        self,
        model: str,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition] = (),
        *,
        keep_thinking: bool = True,
        without: Collection[str] = (),
    ) -> None:
        self._model = model
        self._without = without
        self._cites = "claude" in model.lower()
        self._keep_thinking = keep_thinking
        self._system = [_text(message.content) for message in messages if _is_system(message) and _says(message)]
        self._tools = [_tool(tool) for tool in tools]
        self._messages: list[Block] = []
        self._round: list[Block] = []
        self._hash = hashlib.sha256(encoded([self._system, self._tools]))
        self._encoded: list[bytes] = []
        for message in repair_history(messages):
            self._add(message)

    @property
    def holds_thinking(self) -> bool:
        return any(block["type"] in _THINKING for message in self._messages for block in message["content"])

    def prefix(self) -> str:
        """The digest of everything said so far: system, tools and messages, without settings and cache marks."""
        for message in self._messages[len(self._encoded) :]:
            self._encoded.append(encoded(message))
            self._hash.update(self._encoded[-1])
        return self._hash.hexdigest()

    def body(self, *, max_tokens: int, call_tools: bool = True) -> dict[str, Any]:
        """The request's fields. Cache breakpoints are at the last tool, the system text, and (automatically) the last
        block.
        """
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": max_tokens,
            "messages": self._messages,
            "cache_control": _CACHED,
            **_SETTINGS.get(self._model, {}),
        }
        if self._system:
            body["system"] = self._marked(self._system)
        if self._tools:
            body["tools"] = self._marked(self._tools)
            if not call_tools:
                body["tool_choice"] = {"type": "none"}
        return {name: value for name, value in body.items() if name not in self._without}

    def _marked(self, blocks: Sequence[Block]) -> list[Block]:
        """The blocks, with a cache breakpoint at the last one."""
        if "cache_control" in self._without:
            return list(blocks)
        return [*blocks[:-1], {**blocks[-1], "cache_control": _CACHED}]

    def written(self, fields: Mapping[str, Any]) -> bytes:
        """The JSON of a request with these fields and the messages, each of which is encoded only once."""
        self.prefix()
        others = encoded({name: value for name, value in fields.items() if name != "messages"})
        return b'%b,"messages":[%b]}' % (others[:-1], b",".join(self._encoded))

    def _add(self, message: PromptMessage) -> None:
        if message.role == MessageRole.TOOL_RESULT:
            self._add_result(_tool_result(message, cites=self._cites))
            return
        self._round = []
        if message.role == MessageRole.USER and _says(message):
            self._messages.append({"role": "user", "content": [_text(message.text)]})
        elif message.role == MessageRole.ASSISTANT:
            self._add_reply(message)

    def _add_reply(self, message: PromptMessage) -> None:
        raw = message.raw
        own = raw is not None and (raw.provider, raw.model) == (PROVIDER, self._model)
        if content := self._echo(raw) if raw and own else _neutral(message):
            self._messages.append({"role": "assistant", "content": content})

    def _add_result(self, block: Block) -> None:
        """All results of a round go into one message; otherwise the model unlearns to call several tools at once."""
        if not self._round:
            self._messages.append({"role": "user", "content": self._round})
        self._round.append(block)

    def _echo(self, raw: RawReply) -> list[Block]:
        """The reply byte for byte if everything before it is unchanged; else without the parts that depend on that."""
        moved = raw.prefix not in ("", self.prefix())
        blocks: Iterable[Block] = raw.blocks
        if moved or not self._keep_thinking:
            blocks = [block for block in blocks if block["type"] not in _THINKING]
        if moved:
            # Citations count the search results of the whole request.
            blocks = [{key: value for key, value in block.items() if key != "citations"} for block in blocks]
        return list(blocks)


def _is_system(message: PromptMessage) -> bool:
    return message.role == "system"


def _says(message: PromptMessage) -> bool:
    """Whether a message has text that is not blank: the API refuses blank text anywhere."""
    return bool(message.content.strip())


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _tool(tool: ToolDefinition) -> Block:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _neutral(message: PromptMessage) -> list[Block]:
    """A reply of another model, or one without a stored wire form."""
    said = [_text(message.content)] if _says(message) else []
    return [*said, *(_tool_use(call) for call in message.tool_invocations or ())]


def _tool_use(call: ToolInvocation) -> Block:
    return {"type": "tool_use", "id": plain_id(call.tool_use_id), "name": call.tool_name, "input": call.arguments}


def _tool_result(message: PromptMessage, *, cites: bool) -> Block:
    """The result of a call. Passages are search results for a model that cites them, and sentences with keys for the
    models of other makers behind the same API, whose servers pass over search results in silence.
    """
    block: Block = {"type": "tool_result", "tool_use_id": plain_id(message.tool_use_id or "")}
    if message.passages and not message.is_error and cites:
        block["content"] = [*_note(message), *map(_search_result, message.passages)]
    elif message.passages and not message.is_error:
        block["content"] = "\n\n".join(part for part in (message.note, render(message.passages)) if part)
    elif images := [media for media in message.media if media.kind is MediaKind.IMAGE]:
        said = [_text(message.content)] if _says(message) else []
        block["content"] = [*said, *map(_image, images)]
    elif _says(message):
        block["content"] = message.content
    if message.is_error:
        block["is_error"] = True
    return block


def _image(media: Media) -> Block:
    source = {"type": "base64", "media_type": f"image/{media.subtype}", "data": media.data}
    return {"type": "image", "source": source}


def _note(message: PromptMessage) -> list[Block]:
    """The note on a result, as a search result as well: the API accepts no other kind of block beside them."""
    return [_citable("note", "About this result", [message.note])] if message.note else []


def _search_result(passage: Passage) -> Block:
    """A search result with one text block per sentence, because a block is the smallest unit the model can cite."""
    pages = page_reference(passage.page, passage.last_page, estimated=False)
    title = f"{passage.chapter} · {pages}" if passage.chapter else pages
    return _citable(passage.source, title, [sentence.text for sentence in passage.sentences])


def _citable(source: str, title: str, texts: Sequence[str]) -> Block:
    return {
        "type": "search_result",
        "source": source,
        "title": title,
        "content": [_text(text) for text in texts],
        "citations": {"enabled": True},
    }


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
    # proxies that pass on what the API of chat completions says
    "stop": StopReason.END_TURN,
    "tool_calls": StopReason.TOOL_USE,
    "length": StopReason.MAX_TOKENS,
    "content_filter": StopReason.REFUSAL,
}

_COMPLETE: Final = frozenset({StopReason.TOOL_USE, StopReason.END_TURN})

_OF_REPLY: Final = frozenset({"message", "message_start", "content_block_start"})
"""Events that a model's work has begun."""


class MessageAccumulator:
    """Assembles a reply from the events of its stream.

    The SDK's own accumulator is not used: it fails on calls with invalid JSON, and shows a call that was cut off as
    one without arguments. Servers that imitate the API leave out fields and events, number all blocks 0, or send the
    message in one piece.
    """

    def __init__(
        self, model: str, prefix: str, *, call_tools: bool = True, prompt_tokens: Callable[[], int] = lambda: 0
    ) -> None:
        """`prompt_tokens` estimates the tokens of the request, in case the server does not report them."""
        self._prompt_tokens = prompt_tokens
        self._model = model
        self._prefix = prefix
        self._call_tools = call_tools
        self._blocks: list[Block] = []
        self._by_index: dict[int, Block] = {}
        self._written: dict[int, str] = {}
        self._characters = WholeCharacters()
        self._turn = OwnTurn()
        self._usage: dict[str, int] = {}
        self._stop: str | None = None
        self._is_counted = False
        self._has_begun = False

    @property
    def whole(self) -> bool:
        """Whether the reply is complete: a connection can also break without an error."""
        return self._stop is not None or self.is_over

    @property
    def is_over(self) -> bool:
        """Whether the model has gone on as somebody else, so that the rest need not be read."""
        return self._turn.is_over

    @property
    def used(self) -> TokenUsage | None:
        """See CountsTokens."""
        return self._token_usage() if self._has_begun else None

    def read(self, event: Event) -> Iterator[ProviderEvent]:
        """Process one event; unknown kinds are ignored."""
        self._has_begun = self._has_begun or event["type"] in _OF_REPLY
        match event["type"]:
            case "message_start":
                self._count((event.get("message") or {}).get("usage"))
            case "content_block_start":
                yield from self._start(event.get("index", 0), event["content_block"])
            case "content_block_delta":
                yield from self._extend(event.get("index", 0), event["delta"])
            case "content_block_stop":
                yield from self._finish(event.get("index", 0))
            case "message_delta":
                self._end(event.get("delta") or {}, event.get("usage"))
            case "message":
                for block in event["content"]:
                    yield from self._start(0, block)
                    yield from self._finish(0)
                self._end(event, event.get("usage"))

    def _end(self, told: Event, usage: Event | None) -> None:
        """Note why the reply ended; a later event may only count."""
        self._stop = told.get("stop_reason") or self._stop
        self._count(usage)
        self._is_counted = token_count((usage or {}).get("output_tokens")) > 0

    def response(self) -> ChatResponse:
        """The complete reply. Calls count only if all are complete and the model stopped to have them carried out; some
        servers say of such a reply that it just ended.
        """
        for index in [*self._written]:  # nobody has told that their blocks are complete
            self._read_arguments(index)
        text = "".join(block["text"] for block in self._blocks if block["type"] == "text")
        calls = [_invocation(block) for block in self._blocks if block["type"] == "tool_use"]
        reason = _STOP_REASONS.get("end_turn" if self.is_over else self._stop or "", StopReason.OTHER)
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
        self._read_arguments(index)
        started = self._by_index[index] = {**block}
        self._blocks.append(started)
        if block["type"] == "text":
            started["text"] = ""
            yield from self._say(started, self._characters.feed(block.get("text") or ""))
        elif block["type"] == "tool_use":
            call_id, arguments = block.get("id") or f"call_{uuid.uuid4().hex[:12]}", block.get("input") or {}
            read = read_arguments(arguments) if isinstance(arguments, str) else arguments
            started |= {"id": plain_id(call_id), "name": tool_name(block["name"]), "input": read}

    def _extend(self, index: int, delta: Event) -> Iterator[ProviderEvent]:
        if index not in self._by_index:
            yield from self._start(index, {"type": "text"})
        block = self._by_index[index]
        match delta["type"]:
            case "text_delta":
                yield from self._say(block, self._characters.feed(delta.get("text") or ""))
            case "citations_delta":
                cited = delta["citation"]
                block["citations"] = [*(block.get("citations") or ()), cited]
                yield from self._tell(block, self._turn.end())
                if cited["type"] == "search_result_location":
                    first, last = cited["start_block_index"], cited["end_block_index"]
                    yield CitationMark(cited["source"], first, last, cited["cited_text"])
            case "input_json_delta":
                piece = delta["partial_json"]
                written = piece if isinstance(piece, str) else json.dumps(piece)
                self._written[index] = self._written.get(index, "") + written
            case "thinking_delta":
                block["thinking"] = (block.get("thinking") or "") + (delta.get("thinking") or "")
            case "signature_delta":
                block["signature"] = delta["signature"]

    def _finish(self, index: int) -> Iterator[ProviderEvent]:
        self._read_arguments(index)
        block = self._by_index.get(index, {})
        if block.get("type") == "text":
            yield from self._say(block, self._characters.end())
            yield from self._tell(block, self._turn.end())
            yield TextBlockEnd()

    def _read_arguments(self, index: int) -> None:
        if index in self._written:
            self._by_index[index]["input"] = read_arguments(self._written.pop(index))

    def _say(self, block: Block, text: str) -> Iterator[ProviderEvent]:
        yield from self._tell(block, self._turn.feed(text))

    def _tell(self, block: Block, text: str) -> Iterator[ProviderEvent]:
        if text:
            block["text"] += text
            yield TextChunk(text)

    def _count(self, usage: Event | None) -> None:
        """Update the usage: numbers in later events are totals; missing ones keep their value."""
        if usage is None:  # servers that only imitate this API leave it out
            return
        self._usage |= {name: token_count(count) for name, count in usage.items() if isinstance(count, int | float)}

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
        blocks = self._blocks
        said = (block.get("text") or block.get("thinking") or str(block.get("input") or "") for block in blocks)
        return sum(map(estimate_text, [*said, *self._written.values()]))

    def _raw(self, *, with_calls: bool) -> RawReply | None:
        """The blocks to send back: without blank text, which is refused, and without calls that nobody will answer."""
        kept = [
            block
            for block in self._blocks
            if (with_calls or block["type"] != "tool_use") and (block["type"] != "text" or block["text"].strip())
        ]
        if all(block["type"] in _THINKING for block in kept):
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

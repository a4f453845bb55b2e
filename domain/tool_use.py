"""What models and tools exchange: definitions, calls, results, replies."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from domain.book import Passage


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any] = field(hash=False)


UNREADABLE_ARGUMENTS = "_unreadable"
"""The only key of a call's arguments if the model did not write a JSON object; the value is what it wrote."""


@dataclass(frozen=True, slots=True)
class ToolInvocation:
    """One call that a model requests. `tool_use_id` pairs it with its result; adapters always set it.

    `covered` are the arguments as people may see them, if the model's own reveal too much; it is never sent.

    Raises:
        TypeError: the arguments are no dict, such as JSON that nobody has parsed.
    """

    tool_name: str
    arguments: dict[str, Any]
    tool_use_id: str = ""
    covered: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, dict):
            raise TypeError(f"the arguments of a call have to be a dict, not {self.arguments!r}")

    @property
    def shown_arguments(self) -> dict[str, Any]:
        """The arguments as people may see them."""
        return self.arguments if self.covered is None else self.covered

    @property
    def unreadable(self) -> str | None:
        """What the model wrote in place of a JSON object, or None; such a call is answered with an error, never run."""
        return self.arguments.get(UNREADABLE_ARGUMENTS)


class MediaKind(StrEnum):
    IMAGE = "image"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True)
class Media:
    """A picture or a sound that a tool returned; `subtype` is "png", "jpeg", "wav" and so on, `data` in base64."""

    kind: MediaKind
    subtype: str
    data: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call."""

    content: str
    """What the model reads as text."""
    passages: tuple[Passage, ...] = ()
    """The pieces of the book behind it; providers with citations of their own receive these in place of `content`."""
    is_error: bool = False
    depends_to: int | None = None
    """The largest offset of the book that anything in the result depends on; None: it is not about the book."""
    summary: str = ""
    """A few words for people: "5 passages"."""
    note: str = ""
    """A sentence for the model in front of the passages: a count, a budget."""
    data: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """Structured information besides the passages: for programs, neither sent to a model nor kept."""
    media: tuple[Media, ...] = ()
    """Pictures and sounds for models that accept them, within the turn; they are not kept."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or more requests; `input_tokens` counts the whole prompt, cached parts included.

    `estimated`: the server reported no count for at least one request, so that its tokens were estimated from its
    length.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    estimated: bool = field(default=False, compare=False)

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.estimated or other.estimated,
        )


MOST_TOKENS = 1_000_000_000
"""No request has so many."""


def token_count(told: object) -> int:
    """The tokens that a service has counted; 0 for what is no count, such as the -1 of servers that do not count."""
    return int(told) if isinstance(told, int | float) and 0 <= told <= MOST_TOKENS else 0


class StopReason(StrEnum):
    """Why a model stopped; adapters map unknown reasons to OTHER."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    PAUSE = "pause"
    REFUSAL = "refusal"
    CONTEXT_EXCEEDED = "context_exceeded"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of text as it arrives from the model."""

    text: str


@dataclass(frozen=True, slots=True)
class CitationMark:
    """The model's own statement that the text block just streamed is based on sentences `[first, last)` of a passage.

    `source` is `Passage.source`; `quote` is the text the provider says it cited, to be checked against the book. The
    mark arrives while its text block streams and belongs at that block's end.
    """

    source: str
    first: int
    last: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class TextBlockEnd:
    """A text block ended: the marks received since the previous one belong here."""


@dataclass(frozen=True, slots=True)
class ThinkingEnded:
    """The text so far was the model's thinking, and not its answer, which begins now."""


@dataclass(frozen=True, slots=True)
class RawReply:
    """A reply in a provider's wire form; only the provider of that name and model may read `blocks`.

    `prefix` is that provider's digest of the request that was answered. Signed thinking and the numbering of citations
    are valid only after the very same prefix; if the history was cut or changed since, they are left out.
    """

    provider: str
    model: str
    blocks: list[dict[str, Any]]
    prefix: str = ""


@dataclass(frozen=True, slots=True, init=False)
class ChatResponse:
    """A model's complete reply: either an answer (`text`) or calls (`tool_invocations`), never both, never neither.

    `preamble` is text that came along with calls. `raw` is the reply in the provider's wire form, JSON-ready, to be
    sent back byte for byte in later requests to the same provider (signed thinking); other providers ignore it.

    Raises:
        ValueError: both or neither of text and invocations were given.
    """

    text: str | None
    tool_invocations: tuple[ToolInvocation, ...]
    preamble: str
    usage: TokenUsage | None
    stop_reason: StopReason
    raw: RawReply | None = field(repr=False)

    def __init__(
        self,
        text: str | None = None,
        tool_invocations: Sequence[ToolInvocation] = (),
        preamble: str = "",
        usage: TokenUsage | None = None,
        stop_reason: StopReason | None = None,
        raw: RawReply | None = None,
        *,
        tool_invocation: ToolInvocation | None = None,
    ) -> None:
        invocations = (tool_invocation, *tool_invocations) if tool_invocation else tuple(tool_invocations)
        if (text is not None) == bool(invocations):
            raise ValueError("a ChatResponse holds exactly one of text and tool invocations")
        values: Mapping[str, object] = {
            "text": text,
            "tool_invocations": invocations,
            "preamble": preamble,
            "usage": usage,
            "stop_reason": stop_reason or (StopReason.TOOL_USE if invocations else StopReason.END_TURN),
            "raw": raw,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def tool_invocation(self) -> ToolInvocation | None:
        """The first call, or None in an answer."""
        return self.tool_invocations[0] if self.tool_invocations else None


@dataclass(frozen=True, slots=True)
class RequestSent:
    """A request is on its way. `spent` returns the tokens it has used so far, also once it has failed or was left; None
    if the server refused it.
    """

    model: str
    spent: Callable[[], TokenUsage | None]


@dataclass(frozen=True, slots=True)
class RequestUsage:
    """What a request to a model has used: so far if it `is_open`, else in all. Of those with one id the last counts."""

    id: str
    model: str
    usage: TokenUsage
    is_open: bool = False


ProviderEvent = TextChunk | CitationMark | TextBlockEnd | ThinkingEnded | ChatResponse
"""The events of a provider's stream: any number of the first four, then exactly one ChatResponse."""


class OfferedTools:
    """Makes calls. Their ids derive from `seed`: the same request gets the same ids."""

    def __init__(self, definitions: Sequence[ToolDefinition], seed: str) -> None:
        self._parameters = {definition.name: definition.parameters for definition in definitions}
        self._seed = seed

    def call(self, name: str, /, **arguments: Any) -> list[ToolInvocation]:
        """The call in a list, or an empty list if the tool is not offered or requires unknown arguments."""
        if name not in self._parameters:
            return []
        schema = self._parameters[name]
        properties: dict[str, Any] = schema.get("properties") or {}
        known = {key: value for key, value in arguments.items() if key in properties and value != []}
        fitting = {key: _bounded(value, properties[key]) for key, value in known.items()}
        if not set(schema.get("required") or ()) <= set(fitting):
            return []
        return [ToolInvocation(name, fitting, self._id(name, fitting))]

    def _id(self, name: str, arguments: dict[str, Any]) -> str:
        digest = hashlib.blake2s(f"{self._seed}\n{name}\n{arguments}".encode(errors="replace"), digest_size=6)
        return f"look_{digest.hexdigest()}"


def _bounded(value: Any, schema: dict[str, Any]) -> Any:
    if isinstance(value, int) and isinstance(most := schema.get("maximum"), int):
        return min(value, most)
    if isinstance(value, list) and isinstance(most := schema.get("maxItems"), int):
        return value[:most]
    return value

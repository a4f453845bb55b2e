"""Messages and prompts: what people and models say to each other, and the templates of what models are told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib.resources.abc import Traversable
from string import Template
from typing import Any

from domain.book import Citation, Passage
from domain.tool_use import Media, RawReply, TokenUsage, ToolInvocation


class MessageRole(StrEnum):
    """Who speaks in a conversation that is kept."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


class PromptKind(StrEnum):
    """What a message asks of a model. Models read its text; a provider without one goes by this and the data."""

    TALK = "talk"
    """A message of a conversation, and the system text in front of it. The system text's data: `title` and `author` of
    the book, and `open`, whether all of it may be told."""

    SEARCH_QUERY = "search query"
    """Data: `history`, a list of role and text, and `message`, which is to become a query."""

    PASSAGES = "passages"
    """A message with the passages found for it. Data: `message` and `passages`."""

    TITLE = "title"
    """Data: `question` and `answer`, which a conversation is to be named after."""

    SUMMARY = "summary"
    NUDGE = "nudge"
    """A request to answer now, after an empty reply."""


_PROMPT_ROLES = frozenset({"system", *MessageRole})


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a request to a model.

    `note` is a line that goes in front: of a reader's words, who they are and how far they have read (see `text`); of a
    result's passages, a count or a budget. `usage` is what the request that brought an assistant message cost; it is
    kept, never sent.

    `kind` and `data` say as structure what `content` says in words: see PromptKind, and ToolResult for results. They
    are of the running turn, neither sent nor kept; a message from an earlier turn has none. `media` come with a tool's
    result and are sent to a model that takes them, but not kept either.

    Raises:
        ValueError: the role is none of system, user, assistant, tool_result.
    """

    role: str
    content: str
    tool_use_id: str | None = None
    tool_invocations: Sequence[ToolInvocation] | None = None
    is_error: bool = False
    passages: tuple[Passage, ...] = ()
    raw: RawReply | None = field(default=None, repr=False)
    usage: TokenUsage | None = field(default=None, repr=False)
    note: str = ""
    kind: PromptKind = PromptKind.TALK
    data: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    media: tuple[Media, ...] = ()

    def __post_init__(self) -> None:
        if self.role not in _PROMPT_ROLES:
            raise ValueError(f"unknown role {self.role!r}: use one of {', '.join(sorted(_PROMPT_ROLES))}")
        object.__setattr__(self, "role", str(self.role))
        object.__setattr__(self, "tool_invocations", tuple(self.tool_invocations or ()) or None)

    @property
    def text(self) -> str:
        """What a model is to read: the note, where there is one, and the content."""
        return f"{self.note}\n{self.content}" if self.note else self.content


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation, with everything a later request needs to replay it exactly.

    `turn_id` is None while a reader's message waits for its turn. `note` is what PromptMessage says of it. `depends_to`
    is the largest offset of the book the message depends on (None: not on the book). `external_id` is the Discord
    message id, unique, so that a replayed event is recognised.
    """

    id: str
    conversation_id: str
    role: MessageRole
    content: str
    created_at: datetime
    turn_id: str | None = None
    tool_use_id: str | None = None
    tool_invocations: tuple[ToolInvocation, ...] = ()
    is_error: bool = False
    passages: tuple[Passage, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: TokenUsage | None = None
    raw: RawReply | None = field(default=None, repr=False)
    author_id: str = ""
    author_name: str = ""
    note: str = ""
    depends_to: int | None = None
    external_id: str | None = None
    duration_ms: int = 0
    summary: str = ""

    def as_prompt(self) -> PromptMessage:
        """The message as it was, or will be, sent to the model."""
        return PromptMessage(
            role=self.role,
            content=self.content,
            tool_use_id=self.tool_use_id,
            tool_invocations=self.tool_invocations,
            is_error=self.is_error,
            passages=self.passages,
            raw=self.raw,
            note=self.note,
        )


_FIRST_HALVES = ("\ud800", "\udbff")


def encodable(text: str) -> str:
    """The text as UTF-8 can hold it: two halves side by side are their character, a lone one is a �."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class WholeCharacters:
    """A text that comes in pieces, some of which end in the middle of a character."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """What of the text is whole by now and was not given out before."""
        text = self._half + piece
        cut = len(text) - _ends_in_a_half(text)
        self._half = text[cut:]
        return encodable(text[:cut])

    def end(self) -> str:
        """What is left of a text that has come to its end."""
        half, self._half = self._half, ""
        return encodable(half)


def _ends_in_a_half(text: str) -> bool:
    first, last = _FIRST_HALVES
    return first <= text[-1:] <= last


_PLACEHOLDERS = {
    "conversation_system_prompt": {"book"},
    "reformulation_prompt": {"history", "message"},
    "retrieved_passages_prompt": {"query", "passages", "message"},
    "title_prompt": {"question", "answer"},
    "summary_prompt": {"words", "sentences"},
    "recap_prompt": {"words", "language", "story"},
    "portrait_prompt": {"name", "language", "sentences"},
    "discussion_prompt": {"count", "language", "sentences"},
}


@dataclass(frozen=True, slots=True)
class Prompts:
    """`string.Template` and not `str.format`: books are full of braces."""

    conversation_system: Template
    reformulation: Template
    retrieved_passages: Template
    title: Template
    summary: Template
    recap: Template
    portrait: Template
    discussion: Template

    @classmethod
    def load(cls, folder: Traversable) -> "Prompts":
        """Read all templates of a folder.

        Raises:
            FileNotFoundError: one is missing.
            ValueError: one lacks a placeholder, or has one that nothing fills.
        """
        return cls(*(_read(folder, name) for name in _PLACEHOLDERS))


def _read(folder: Traversable, name: str) -> Template:
    template = Template((folder / f"{name}.md").read_text(encoding="utf-8"))
    found = set(template.get_identifiers())
    if not template.is_valid() or found != _PLACEHOLDERS[name]:
        raise ValueError(f"{name}.md must have exactly these placeholders: {sorted(_PLACEHOLDERS[name])}")
    return template

"""Messages and prompts: what people and models say to each other, and the templates for what models are told."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib.resources.abc import Traversable
from string import Template
from typing import Any

from domain.book import Citation, Passage
from domain.tool_use import Media, RawReply, TokenUsage, ToolInvocation


class MessageRole(StrEnum):
    """The author of a kept message."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


class PromptKind(StrEnum):
    """The purpose of a message to a model. Models read its text; a provider without a model goes by the kind and its
    data.
    """

    TALK = "talk"
    """A message of a conversation, and the system prompt. The system prompt's data: `title` and `author` of the book,
    `pages`, how many it has, `estimated`, whether that is about so, `open`, whether the whole book may be told, `page`,
    up to where, and `place`, the `page` and the `chapter` that the person who asks has just finished.
    """

    UNANSWERED = "unanswered"
    """A reader's message of an earlier turn that came to no answer."""

    SEARCH_QUERY = "search query"
    """Data: `history`, a list of role and text, and `message`, which is to be turned into a query."""

    PASSAGES = "passages"
    """A message with the passages found for it. Data: `message` and `passages`."""

    TITLE = "title"
    """Data: `question` and `answer`, from which a conversation gets its title."""

    SUMMARY = "summary"
    NUDGE = "nudge"
    """A request to answer now, after an empty reply."""


_PROMPT_ROLES = frozenset({"system", *MessageRole})


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a request to a model.

    `kind` and `data` express in structured form what `content` says in words: see PromptKind, and ToolResult for
    results. They belong to the running turn and are neither sent nor kept, so messages of earlier turns have none.

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
    """The cost of the request that produced an assistant message; it is kept, never sent."""
    note: str = ""
    """A line put in front (see `text`): for a reader's words, who they are and how far they have read; for passages, a
    count or a budget.
    """
    kind: PromptKind = PromptKind.TALK
    data: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    media: tuple[Media, ...] = ()
    """What came with a tool's result, for models that accept it; it is not kept."""

    def __post_init__(self) -> None:
        if self.role not in _PROMPT_ROLES:
            raise ValueError(f"unknown role {self.role!r}: use one of {', '.join(sorted(_PROMPT_ROLES))}")
        object.__setattr__(self, "role", str(self.role))
        object.__setattr__(self, "tool_invocations", tuple(self.tool_invocations or ()) or None)

    @property
    def text(self) -> str:
        """What a model is to read: the note, if there is one, and the content."""
        return f"{self.note}\n{self.content}" if self.note else self.content


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A tool call and its result."""

    call: ToolInvocation
    result: PromptMessage


def completed_calls(messages: Sequence[PromptMessage]) -> Iterator[CompletedCall]:
    """The calls of these messages that have a result there, in the order of the results."""
    calls = {call.tool_use_id: call for message in messages for call in message.tool_invocations or ()}
    for message in messages:
        if message.role == "tool_result" and message.tool_use_id in calls:
            yield CompletedCall(calls[message.tool_use_id], message)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation, with everything a later request needs to replay it exactly."""

    id: str
    conversation_id: str
    role: MessageRole
    content: str
    created_at: datetime
    turn_id: str | None = None
    """None while a reader's message waits for its turn."""
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
    """As in PromptMessage."""
    depends_to: int | None = None
    """The largest offset of the book the message depends on; None: on none of it."""
    external_id: str | None = None
    """The id of the Discord message; it is unique, so an event that is replayed is recognised."""
    duration_ms: int = 0
    """How long a tool call took."""
    summary: str = ""
    """A tool's result in a few words, for people."""

    def as_prompt(self) -> PromptMessage:
        """The message as it is sent to the model."""
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


@dataclass(frozen=True, slots=True)
class PlatformMessage:
    """A message on the platform, by its id and that of its channel.

    `author_id` is given where somebody else may have written it than the person who uses it.
    """

    message_id: str
    channel_id: str
    author_id: str = ""


_QUOTATION = re.compile(r"\n\n(?:> .*(?:\n|\Z))+\Z")


def quoting(question: str, passage: str) -> str:
    """A question, followed by the passage that it is about."""
    return "\n\n".join([question, "\n".join(f"> {line}" for line in passage.splitlines())])


def without_quotation(question: str, *, unless_in: str = "") -> str:
    """The question without the passage that follows it; with that if a text has all of its words."""
    found = _QUOTATION.search(question)
    if found is None:
        return question
    passage = " ".join(re.sub(r"^> “?|…?”?$", "", found[0].strip(), flags=re.MULTILINE).split())
    return question if passage in " ".join(unless_in.split()) else question[: found.start()]


_INTERRUPTED = "This call was interrupted before anything came of it."


def repair_history(messages: Iterable[PromptMessage]) -> Iterator[PromptMessage]:
    """The messages, with an error in place of each missing result, because services refuse a call without a result."""
    open_calls: list[str] = []
    for message in messages:
        if message.role == MessageRole.TOOL_RESULT:
            open_calls = [name for name in open_calls if name != message.tool_use_id]
        else:
            yield from _interrupted(open_calls)
            open_calls = [call.tool_use_id for call in message.tool_invocations or ()]
        yield message
    yield from _interrupted(open_calls)


def _interrupted(open_calls: Iterable[str]) -> Iterator[PromptMessage]:
    for name in open_calls:
        yield PromptMessage(MessageRole.TOOL_RESULT, _INTERRUPTED, tool_use_id=name, is_error=True)


_PLACEHOLDERS = {
    "conversation_system_prompt": {"book"},
    "reformulation_prompt": {"message"},
    "retrieved_passages_prompt": {"query", "passages", "message"},
    "title_prompt": {"question", "answer"},
    "summary_prompt": {"words", "sentences"},
    "recap_prompt": {"words", "language", "story"},
    "portrait_prompt": {"name", "language", "sentences"},
    "discussion_prompt": {"count", "language", "sentences"},
}


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompt templates. They use `string.Template` rather than `str.format`, because books are full of braces."""

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
        """Load all templates of a folder.

        Raises:
            FileNotFoundError: a template is missing.
            ValueError: a template lacks a placeholder, or has an unknown one.
        """
        return cls(*(_read(folder, name) for name in _PLACEHOLDERS))


def _read(folder: Traversable, name: str) -> Template:
    template = Template((folder / f"{name}.md").read_text(encoding="utf-8"))
    found = set(template.get_identifiers())
    if not template.is_valid() or found != _PLACEHOLDERS[name]:
        raise ValueError(f"{name}.md must have exactly these placeholders: {sorted(_PLACEHOLDERS[name])}")
    return template

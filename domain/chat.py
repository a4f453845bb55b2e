"""Messages: as they go to a model (PromptMessage) and as they are kept (ChatMessage)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.book import Citation, Passage
from domain.tool_use import RawReply, TokenUsage, ToolInvocation


class MessageRole(StrEnum):
    """Who speaks in a conversation that is kept."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "tool_result"


_PROMPT_ROLES = frozenset({"system", *MessageRole})


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a request to a model.

    `note` is a line that goes in front: of a reader's words, who they are and how far they have read (see `text`); of a
    result's passages, a count or a budget. `usage` is what the request that brought an assistant message cost; it is
    kept, never sent.

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

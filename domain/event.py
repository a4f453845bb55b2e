"""What happens during a turn, as it happens. Front ends render these and nothing else."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from domain.book import Binding, Citation, Passage
from domain.chat import PromptMessage
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk, TokenUsage


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began; `messages` are the ids of the readers' messages it answers."""

    turn_id: str
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer. Page references are in place already."""

    text: str


@dataclass(frozen=True, slots=True)
class DraftDiscarded:
    """The text streamed so far was not the answer (it came along with tool calls); `text` is what it said."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """`number` counts the calls of the turn from 1."""

    call_id: str
    number: int
    tool_name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """`summary` is a few words ("5 passages"); `content` the whole result as text."""

    call_id: str
    number: int
    tool_name: str
    summary: str
    content: str = field(repr=False)
    is_error: bool
    milliseconds: int
    passages: tuple[Passage, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class PositionProposed:
    """The model suggests that a reader has read to the end of a page or a chapter, or `finished`, as they have written.

    Nothing has changed: only the reader can confirm. `page` and `chapter` are numbers or labels, one of them at most;
    whether the book has them is found out when it is set.
    """

    page: str
    reader_id: str
    chapter: str = ""
    finished: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A tool that may change something waits for its asker's word: `ChatWithBook.decide` gives it.

    `arguments` are as people may see them. Until it is decided the turn goes no further.
    """

    approval_id: str
    reader_id: str
    tool_name: str
    arguments: dict[str, Any]


class Approval(StrEnum):
    """What came of asking: the reader's word, or none in time."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class ApprovalSettled:
    """The question of that id is closed."""

    approval_id: str
    approval: Approval


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one request to the model."""

    usage: TokenUsage
    model: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The turn's answer, final and stored. `stopped`: a person stopped it; `cut`: the model ran out of room.

    `uncited` are sentences of it that seem to say something of the book and have no reference. `binding` is who kept it
    from going as far as somebody has read who asked.
    """

    turn_id: str
    text: str
    citations: tuple[Citation, ...] = ()
    stopped: bool = False
    cut: bool = False
    uncited: tuple[str, ...] = ()
    binding: Binding | None = None


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """No answer came of it; `message` says so to the reader, `partial` is what had been written.

    `offer` is what the book itself says, found without the model that stayed away; `citations` are those of the offer.
    """

    turn_id: str
    code: str
    message: str
    partial: str = ""
    retry_after: float | None = None
    offer: str = ""
    citations: tuple[Citation, ...] = ()


TurnEvent = (
    TurnStarted
    | TextDelta
    | DraftDiscarded
    | ToolCallStarted
    | ToolCallFinished
    | PositionProposed
    | ApprovalAsked
    | ApprovalSettled
    | UsageReported
    | Answer
    | TurnFailed
)
"""A turn yields TurnStarted first and exactly one of Answer and TurnFailed last."""


@dataclass(frozen=True, slots=True)
class StrategyOutcome:
    """What a retrieval strategy leaves behind: the messages it added to the talk, the last of them the answer.

    `calls` are the finished tool calls by their id; `depends_to` is the largest offset of the book that any of their
    results depends on. `cut` says that the model ran out of room before it had finished.
    """

    messages: tuple[PromptMessage, ...]
    calls: dict[str, ToolCallFinished] = field(default_factory=dict)
    depends_to: int | None = None
    cut: bool = False

    @property
    def text(self) -> str:
        """The model's answer as it wrote it, before citations are resolved."""
        return self.messages[-1].content


StrategyEvent = (
    TextChunk
    | CitationMark
    | TextBlockEnd
    | DraftDiscarded
    | ToolCallStarted
    | ToolCallFinished
    | UsageReported
    | StrategyOutcome
)
"""What a strategy yields while it works; exactly one StrategyOutcome comes last."""

"""The events of a turn, in the order in which they happen. Front ends render these and nothing else."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from domain.book import Binding, Citation, Passage
from domain.chat import PromptMessage
from domain.errors import Worded
from domain.tool_use import CitationMark, RequestSent, TextBlockEnd, TextChunk, TokenUsage


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn began; `messages` are the ids of the readers' messages it answers."""

    turn_id: str
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer, with its page references. `citations` are those of the whole text so far."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftDiscarded:
    """The text streamed so far was not the answer; `text` is that text.

    It came with tool calls, or the model was asked once more from the beginning (`again`).
    """

    text: str
    again: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """`number` counts the calls of the turn from 1."""

    call_id: str
    number: int
    tool_name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """`summary` is a few words ("5 passages"); `content` the whole result as text.

    `is_of_book`: the result depends on the book, as a book tool's does, whether or not it has passages.
    """

    call_id: str
    number: int
    tool_name: str
    summary: str
    content: str = field(repr=False)
    is_error: bool
    milliseconds: int
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    is_of_book: bool = False


@dataclass(frozen=True, slots=True)
class PositionProposed:
    """The model suggests a new position, to which the reader has to agree: nothing has changed yet.

    It is the end of a page or a chapter that the reader has mentioned, or `finished`. At most one of `page` and
    `chapter` is given, as a number or label; whether the book has it is checked when the position is set.
    """

    page: str
    reader_id: str
    chapter: str = ""
    finished: bool = False


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A tool that may change something needs its asker's consent: `ChatWithBook.decide` passes it on.

    `arguments` are formatted for people. The turn waits for the decision.
    """

    approval_id: str
    reader_id: str
    tool_name: str
    arguments: dict[str, Any]


class Approval(StrEnum):
    """The outcome of asking for consent; UNANSWERED if nobody decided in time."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class ApprovalSettled:
    """The request for consent with that id is closed."""

    approval_id: str
    approval: Approval


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Tokens of one request to the model, also of one that brought no answer."""

    usage: TokenUsage
    model: str


NOTHING_WRITTEN = Worded("(stopped before anything was written)")
"""The text of an answer that was stopped so early."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The turn's answer, final and stored.

    `stopped`: a person stopped it; `cut`: the model reached its length limit. `uncited` are sentences that seem to
    state something about the book and have no reference. `binding` says who or what limited the answer to less than an
    asker has read.
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
    """The turn produced no answer; `message` tells the reader so, `partial` is what had been written.

    `offer` is what the book itself says, found without the model that did not answer; `citations` belong to the
    offer. `said` are the words of the model's server, for whoever runs the program.
    """

    turn_id: str
    code: str
    message: str
    partial: str = ""
    retry_after: float | None = None
    offer: str = ""
    citations: tuple[Citation, ...] = ()
    said: str = ""


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
"""A turn yields TurnStarted first, and exactly one Answer or TurnFailed last; none if it is taken back."""


@dataclass(frozen=True, slots=True)
class StrategyOutcome:
    """The result of a retrieval strategy: the messages it added to the prompt, the last of which is the answer.

    `calls` are the finished tool calls by id. `cut` means that the model reached its length limit.
    """

    messages: tuple[PromptMessage, ...]
    calls: dict[str, ToolCallFinished] = field(default_factory=dict)
    cut: bool = False

    @property
    def text(self) -> str:
        """The model's answer as it wrote it, before citations are resolved."""
        return self.messages[-1].content


StrategyEvent = (
    RequestSent
    | TextChunk
    | CitationMark
    | TextBlockEnd
    | DraftDiscarded
    | ToolCallStarted
    | ToolCallFinished
    | UsageReported
    | StrategyOutcome
)
"""What a strategy yields while it works; exactly one StrategyOutcome comes last."""

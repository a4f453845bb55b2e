"""What a double of a model's API is told to reply: the same words for every wire format."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cite:
    """A reference to sentences `[first, last)` of the search result called `source` in the request."""

    source: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    cites: tuple[Cite, ...] = ()


@dataclass(frozen=True, slots=True)
class Thinking:
    """Thinking that the double signs, where the wire knows such a thing."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; arguments given as a string go onto the wire as they stand, be they JSON or not."""

    tool: str
    arguments: Mapping[str, Any] | str
    id: str = ""


Part = Text | Thinking | Call


class Stop(StrEnum):
    """Why the model stopped, in words of our own; each double has its wire's word for it."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    REFUSAL = "refusal"
    PAUSE = "pause"
    CONTEXT = "context"
    UNKNOWN = "unknown"
    NONE = "none"
    """The stream ends in good order and says no reason."""


class Fault(StrEnum):
    """What goes wrong in the middle of a stream."""

    CUT = "cut"
    """The socket is torn down in the middle of an event."""
    EARLY_END = "early end"
    """The body ends in good order before the reply does."""
    STALL = "stall"
    """Nothing more comes, and the socket stays open."""
    OVERLOAD = "overload"
    """The API reports that it is overloaded, under status 200."""
    GARBAGE = "garbage"
    """An event that is not JSON."""
    NOTHING = "nothing"
    """Status 200 and an empty body."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A streamed reply. `pace` is the pause in seconds before each event."""

    parts: tuple[Part, ...]
    stop: Stop | None = None
    fault: Fault | None = None
    pace: float = 0.0

    @property
    def stopped(self) -> Stop:
        calls = any(isinstance(part, Call) for part in self.parts)
        return self.stop or (Stop.TOOLS if calls else Stop.END)


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer with an error status; without `kind` the one that belongs to the status."""

    status: int
    kind: str = ""
    message: str = "scripted failure"
    retry_after: str = ""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A stream of just these events, for what only some servers do."""

    events: tuple[Json, ...]


Step = Reply | Failure | Verbatim
Handler = Callable[[Json], Step | Awaitable[Step]]
"""Decides on a reply by the request's JSON."""


def say(*parts: Part | str, stop: Stop | None = None, fault: Fault | None = None, pace: float = 0.0) -> Reply:
    """A reply; plain strings are text."""
    return Reply(tuple(Text(part) if isinstance(part, str) else part for part in parts), stop, fault, pace)

"""What a turn lends to its tools, besides its view of the book."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from domain.chat import ChatMessage, MessageRole
from domain.event import Approval, PositionProposed
from domain.library.summaries import Digest
from domain.ports import BookView, Toolbox


@dataclass(frozen=True, slots=True)
class ToolContext:
    """`digests` gives summaries of what has been read, or of one chapter; None where there is no model that writes.

    `propose` puts a page to the reader as their new position, for them to confirm; `approve` asks them whether a tool
    may be called with these arguments. None where there is nobody to ask.
    """

    digests: Callable[[int | None], Awaitable[list[Digest]]] | None = None
    propose: Callable[[str], None] | None = None
    approve: Callable[[str, dict[str, Any]], Awaitable[Approval]] | None = None


NO_AIDS = ToolContext()


class MakeToolbox(Protocol):
    """Makes the tools of a turn."""

    def __call__(self, view: BookView, aids: ToolContext = NO_AIDS, /) -> Toolbox: ...


PROPOSE_POSITION = "propose_position"
"""The name of the tool by which a model proposes."""

_PAGE = re.compile(r"(?:[A-Za-z]{1,2}[-.]?)?\d{1,5}[a-z]?|[ivxlcdm]{1,12}", re.IGNORECASE)


def page_in(argument: str) -> str | None:
    """The label of a page that an argument names ("80", "xii", "A-3"); None where it is something else.

    What a model writes here is shown on a button, so it must not be words.
    """
    label = " ".join(argument.split())
    return label if _PAGE.fullmatch(label) else None


def proposed(page: str, asked: Sequence[ChatMessage]) -> PositionProposed:
    """The proposal of a page to whoever named it last; to whoever wrote last, where nobody did."""
    named = re.compile(rf"(?<!\w){re.escape(page)}(?!\w)", re.IGNORECASE)
    by_name = [message for message in asked if named.search(message.content)]
    return PositionProposed(page, (by_name or asked)[-1].author_id)


def proposals_in(said: Sequence[ChatMessage]) -> tuple[PositionProposed, ...]:
    """The proposals of a turn, from its messages as they were kept."""
    asked = [message for message in said if message.role is MessageRole.USER]
    failed = {message.tool_use_id for message in said if message.is_error}
    calls = [
        call
        for message in said
        for call in message.tool_invocations
        if call.tool_name == PROPOSE_POSITION and call.tool_use_id not in failed
    ]
    pages = [page_in(str(call.arguments.get("page", ""))) for call in calls]
    return tuple(dict.fromkeys(proposed(page, asked) for page in pages if page)) if asked else ()

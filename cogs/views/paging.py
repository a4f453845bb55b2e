"""Long lists, a page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from discord.ui import View

from cogs.translation import Speech
from cogs.views.actions import ActionButton, row

T = TypeVar("T")

PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class PageOf(Generic[T]):
    """A page of a list; `number` counts from 1 and is always one that exists."""

    items: Sequence[T]
    number: int
    count: int


def page_of(items: Sequence[T], number: int, size: int = PAGE_SIZE) -> PageOf[T]:
    """The page of that number, or the nearest there is: the list may have changed since the button was made."""
    count = max(1, -(-len(items) // size))
    nearest = min(max(1, number), count)
    return PageOf(items[(nearest - 1) * size : nearest * size], nearest, count)


def page_asked(argument: str) -> tuple[str, int]:
    """What the list is of, and the number of its page, from the argument that `page_turner` makes."""
    of, _, number = argument.rpartition(":")
    return of, int(number) if number.isdecimal() else 1


def page_turner(action: str, argument: str, page: PageOf[T], say: Speech) -> View | None:
    """Buttons to the pages before and after; none where there is one page only.

    The action's argument is `argument`, a colon and the number of the page.
    """
    if page.count == 1:
        return None
    return row(
        ActionButton(action, f"{argument}:{page.number - 1}", label=say("◀ Back"), disabled=page.number == 1),
        ActionButton(action, f"{argument}:{page.number + 1}", label=say("Next ▶"), disabled=page.number == page.count),
    )

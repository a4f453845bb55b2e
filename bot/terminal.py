"""A terminal that takes orders from us alone.

Books, titles, file names and models may hold control characters, which a terminal would obey: colours, a moved cursor,
a link under other words, a new title for the window. Whatever is printed goes through one place that leaves them out.
"""

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for the line feed and the tab, and those that turn the direction of what is around them."""
_SURROGATES = re.compile(r"[\ud800-\udfff]")
"""Bytes of a file's name that are no text, as Python has them: no terminal can be given one."""


def obeyed_by_none(text: str) -> str:
    """The text without what a terminal would do in place of showing it."""
    return _SURROGATES.sub("\ufffd", _ORDERS.sub("", text))


class GuardedConsole(Console):
    """A console that shows text as text: no orders to the terminal, and no words made into pictures."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=obeyed_by_none(segment.text))

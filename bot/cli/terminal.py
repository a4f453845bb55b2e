"""A terminal that takes orders from us alone.

Books, titles, file names and models may hold control characters, which a terminal would obey: colours, a moved cursor,
a link under other words, a new title for the window. Whatever is printed goes through one place that leaves them out.
"""

import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

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


_PART = re.compile(r"\*{1,3}|\n")
_STYLES = {"*": "italic", "**": "bold", "***": "bold italic"}


class Emphasis:
    """Styles text that streams in whole words. What opens in a line ends with it at the latest."""

    def __init__(self) -> None:
        self._open = ""

    def feed(self, words: str) -> Text:
        """Take in more words; return them as they are to be shown."""
        shown, at = Text(), 0
        for part in _PART.finditer(words):
            shown.append(words[at : part.start()], _STYLES.get(self._open))
            before, after = words[: part.start()][-1:], words[part.end() :][:1]
            shown.append(self._pass(part.group(), before, after), _STYLES.get(self._open))
            at = part.end()
        shown.append(words[at:], _STYLES.get(self._open))
        return shown

    def _pass(self, mark: str, before: str, after: str) -> str:
        """Open or close what a mark does, which then is not shown; give back one that does neither."""
        if mark == "\n":
            self._open = ""
            return mark
        closes = mark == self._open and bool(before.strip())
        opens = not self._open and bool(after.strip()) and not before.isalnum()
        if not (closes or opens):
            return mark
        self._open = "" if closes else mark
        return ""


_PIECE = re.compile(r"\n|[^\S\n]+|\S+")


class WordWrap:
    """Breaks lines of `width` columns between words. A word is given out once it has ended; None never breaks lines."""

    def __init__(self, width: int | None) -> None:
        self._width = width
        self._column = 0
        self._word = ""

    def feed(self, text: str) -> str:
        """Take in more text; return what may be shown now."""
        *ended, self._word = [*_PIECE.findall(self._word + text)] or [""]
        return "".join(map(self._place, ended))

    def finish(self) -> str:
        """The last word."""
        word, self._word = self._word, ""
        return self._place(word)

    def _place(self, piece: str) -> str:
        if piece == "\n":
            self._column = 0
            return piece
        breaks = self._width is not None and self._column and self._column + len(piece) > self._width
        self._column = len(piece) if breaks else self._column + len(piece)
        if not breaks:
            return piece
        if piece.isspace():  # the blank goes, and the next word begins the line
            self._column = 0
            return "\n"
        return f"\n{piece}"

"""A terminal that takes orders from us alone.

Books, titles, file names and models may hold control characters, which a terminal would obey: colours, a moved cursor,
a link under other words, a new title for the window. Whatever is printed goes through one place that leaves them out.
"""

import asyncio
import contextlib
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

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


@contextlib.contextmanager
def signal_handler(handler: Callable[[], object], *signals: signal.Signals) -> Iterator[None]:
    """Have signals call `handler` for the length of the block."""
    loop = asyncio.get_running_loop()
    try:
        for number in signals:
            loop.add_signal_handler(number, handler)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def interrupts(handler: Callable[[], object]) -> AbstractContextManager[None]:
    """Send Ctrl-C to `handler` for a while."""
    return signal_handler(handler, signal.SIGINT)


async def in_daemon_thread(read: Callable[[], str]) -> str:
    """What `read` returns, without its thread keeping the program alive when nobody types any more."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def settle(set_it: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for the line any more
            loop.call_soon_threadsafe(lambda: None if line.done() else set_it())

    def run() -> None:
        try:
            text = read()
        except Exception as error:  # noqa: BLE001 - raised again where it is awaited
            failure = error
            settle(lambda: line.set_exception(failure))
        else:
            settle(lambda: line.set_result(text))

    threading.Thread(target=run, daemon=True).start()
    return await line

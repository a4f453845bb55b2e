"""What all commands share: the console, standard input, running async work, and turning failures into an exit code."""

import asyncio
import contextlib
import errno
import io
import json
import logging
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager
from importlib import import_module
from typing import Any, NoReturn

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn
from rich.segment import Segment
from rich.text import Text

from bot.app import QUOTES_ONLY, App, open_app, open_toolbox
from bot.logs import TERMINAL_SEQUENCES, set_up_logs
from bot.parsers.sandbox.lockdown import hide_memory
from bot.private import forget_secrets, keep_files_private, make_private
from bot.settings import FILE, Settings, load_settings
from domain.citations.symbols import compile_patterns
from domain.errors import LLMError, MarginaliaError

logger = logging.getLogger(__name__)

_SURROGATES = re.compile(r"[\ud800-\udfff]")
"""Undecodable bytes of a file name, in Python's representation: no terminal can display them."""


def without_terminal_sequences(text: str) -> str:
    """The text without control sequences, which a terminal would execute instead of showing."""
    return _SURROGATES.sub("\ufffd", TERMINAL_SEQUENCES.sub("", text))


_REFERENCE = r"\(?(?:about )?pp?\. "
"""How a page reference begins; no line breaks in there."""
_BLANK_WITHIN = "\ufdd0"
"""What stands for a blank at which no line breaks: it is in no text, and rich breaks lines even at no-break spaces."""


def with_whole_references(text: str) -> str:
    """Text of which a GuardedConsole breaks no line within a page reference such as "(about p. 11)"."""
    return re.sub(rf"(?<!\w){_REFERENCE}(?=\S)", lambda found: found[0].replace(" ", _BLANK_WITHIN), text)


class GuardedConsole(Console):
    """A console that shows text as text: no terminal sequences, and no words turned into emoji."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def print(self, *objects: Any, end: str = "\n", soft_wrap: bool | None = None, **options: Any) -> None:
        """As in rich, but lines for a terminal break between words even if they may be longer than it is wide.

        A pipe gets them whole, and so does a terminal if one word is too long for it, such as a URL. What ends
        without a line feed is wrapped by its caller.
        """
        if soft_wrap and end == "\n" and self.is_terminal:
            soft_wrap = any(len(word) > self.width for each in objects for word in str(each).split())
        super().print(*objects, end=end, soft_wrap=soft_wrap, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = without_terminal_sequences(segment.text).replace(_BLANK_WITHIN, " ")
            yield segment if segment.control else segment._replace(text=text)


_PART = re.compile(r"\*{1,3}|_+|\n")
_STYLES = {"*": "italic", "_": "italic", "**": "bold", "__": "bold", "***": "bold italic"}


class Emphasis:
    """Styles text that streams in whole words. Emphasis ends at the latest with its line."""

    def __init__(self) -> None:
        self._open = ""

    def feed(self, words: str) -> Text:
        """Add more words; return them as they are to be shown."""
        shown, at = Text(), 0
        for part in _PART.finditer(words):
            shown.append(words[at : part.start()], _STYLES.get(self._open))
            before, after = words[: part.start()][-1:], words[part.end() :][:1]
            shown.append(self._pass(part.group(), before, after), _STYLES.get(self._open))
            at = part.end()
        shown.append(words[at:], _STYLES.get(self._open))
        return shown

    def _pass(self, mark: str, before: str, after: str) -> str:
        """Apply an emphasis mark, which is then not shown; return it if it is no emphasis."""
        if mark == "\n":
            self._open = ""
            return mark
        within = mark[0] == "_" and before.isalnum() and after.isalnum()  # a_name
        closes = mark == self._open and bool(before.strip()) and not within
        opens = mark in _STYLES and not self._open and bool(after.strip()) and not before.isalnum()
        if not (closes or opens):
            return mark
        self._open = "" if closes else mark
        return ""


_PIECE = re.compile(rf"\n|{_REFERENCE}\S*|\(about (?:pp?\.?)?(?!\S)|[^\S\n]+|\S+")


_QUOTE_MARK = ">"


class WordWrap:
    """Breaks lines at `width` columns between words; None never breaks them. A word is returned once it is complete.
    A page reference counts as one.

    What is quoted has its mark ("> ") on every line.
    """

    def __init__(self, width: int | None) -> None:
        self._width = width
        self._column = 0
        self._margin = ""
        self._word = ""

    def feed(self, text: str) -> str:
        """Add more text; return what may be shown now."""
        *ended, self._word = [*_PIECE.findall(self._word + text)] or [""]
        return "".join(map(self._place, ended))

    def finish(self) -> str:
        """The last word."""
        word, self._word = self._word, ""
        return self._place(word)

    def _place(self, piece: str) -> str:
        if piece == "\n":
            self._column, self._margin = 0, ""
            return piece
        if piece == _QUOTE_MARK and not self._column:
            self._margin = f"{_QUOTE_MARK} "
        columns, margin = cell_len(piece), len(self._margin)
        if self._width is None or self._column <= margin or self._column + columns <= self._width:
            self._column += columns
            return piece
        if piece.isspace():  # the blank goes, and the next word begins the line
            self._column = margin
            return f"\n{self._margin}"
        self._column = margin + columns
        return f"\n{self._margin}{piece}"


@contextlib.contextmanager
def signal_handler(handler: Callable[[], object], *signals: signal.Signals) -> Iterator[None]:
    """Have signals call `handler` during the block."""
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
    """Send Ctrl-C to `handler` during the block."""
    return signal_handler(handler, signal.SIGINT)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_STOPS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
"""What asks a program to end: its manager, or a terminal whose window is closed."""


async def in_daemon_thread(read: Callable[[], str]) -> str:
    """The result of `read`, run in a thread that does not keep the program alive while it waits for input."""
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


def load_answerer() -> None:
    """Load the built-in answerer's word lists and patterns, which takes half a second. It answers where there is no
    model, and where one cannot be reached.
    """
    for name in ("planning", "replies"):
        import_module(f"bot.providers.extractive.{name}")


def load_ahead() -> None:
    """Load what the first answer needs while a person types the question, in a thread that ends with the program."""

    def load() -> None:
        load_answerer()
        asyncio.run(compile_patterns())

    threading.Thread(target=load, daemon=True).start()


console = GuardedConsole()
errors = GuardedConsole(stderr=True)


def print_json(value: object) -> None:
    """Print a line of JSON at once. What standard output's encoding lacks is escaped, so that no letter is lost."""
    line = json.dumps(value, ensure_ascii=False)
    try:
        line.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        line = json.dumps(value)
    print(line, flush=True)  # noqa: T201


def progress_bar(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error that disappears at the end; only a person at a terminal sees it."""
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


async def typed(prompt: str) -> str | None:
    """The line that a person types after the prompt; None at Ctrl-D. Ctrl-C ends the wait for it."""
    try:
        return await in_daemon_thread(lambda: console.input(Text(prompt, "bold cyan")))
    except EOFError:
        errors.print()
        return None


async def said_yes(question: str) -> bool:
    """Whether a person types yes."""
    return (await typed(f"{question} ") or "").strip().casefold() in ("y", "yes")


async def standard_input() -> AsyncIterator[str]:
    """The lines of standard input, without the byte order mark of programs for Windows; the wait for one can be
    cancelled.
    """
    # Not sys.stdin: a thread that still waits for a line holds the lock of its buffer, also against the end.
    lines = io.TextIOWrapper(io.FileIO(sys.stdin.fileno(), closefd=False), "utf-8-sig", "replace")
    while line := await in_daemon_thread(lines.readline):
        yield line


def run_async(work: Callable[[], Coroutine[Any, Any, int | None]]) -> None:
    """Run a command's work and exit with its code (None is 0).

    An anticipated failure becomes its sentence on standard error and exit code 1. The process's memory, which holds
    keys and people's messages, is closed to other processes of the same user, and its files to other users.
    """
    keep_files_private()
    hide_memory()
    try:
        code = asyncio.run(work())
    except typer.Exit:
        raise
    except MarginaliaError as error:
        fail(with_provider_message(error.message, error.said if isinstance(error, LLMError) else ""))
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except asyncio.CancelledError:
        raise typer.Exit(143) from None
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; print nothing more
        raise typer.Exit(0) from None
    except Exception as error:
        logger.exception("%s", error)
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            fail("The disk is full, so this could not be finished. Make room, and try again.")
        fail("Something went wrong inside the program. LOG_LEVEL=DEBUG shows more; please report it.")
    if code:
        raise typer.Exit(code)


def with_provider_message(sentence: str, said: str) -> str:
    """A sentence about a failure, with the message of the model's server, or of a proxy, for the operator at the
    terminal.
    """
    return f"{sentence} Reported: {said}" if said else sentence


def complain(sentence: str) -> None:
    """Print a sentence on standard error."""
    errors.print(sentence, style="red", markup=False, soft_wrap=True)


def fail(sentence: str) -> NoReturn:
    """Print a sentence on standard error and leave the command with exit code 1."""
    complain(sentence)
    raise typer.Exit(1)


@asynccontextmanager
async def opened(file: str | None = FILE, *, with_model: bool = False) -> AsyncIterator[App]:
    """The program, opened with the settings of the environment and of `file`, for work on books."""
    settings = _settings(file)
    if not with_model:  # nor its key, which may be the service's alone
        settings = settings.model_copy(update={"llm_provider": QUOTES_ONLY, "llm_models": ()})
    async with open_app(settings) as app:
        forget_secrets()
        yield app


@asynccontextmanager
async def opened_for_chat() -> AsyncIterator[App]:
    """The same with all the tools of the settings, for a chat; tool servers take a moment to start."""
    settings = _settings()
    task = asyncio.current_task()
    assert task
    with signal_handler(task.cancel, *_STOPS):  # or the programs of tool servers would outlive this one
        async with open_toolbox(settings) as tools, open_app(settings, None, tools) as app:
            forget_secrets()
            yield app


def _settings(file: str | None = FILE) -> Settings:
    """The settings, with a log level that suits a person at a terminal unless they ask for more."""
    settings = load_settings(_env_file=file)
    level = settings.log_level if settings.log_level in ("DEBUG", "INFO") else "CRITICAL"
    set_up_logs(level, settings.log_format, settings.secrets)
    make_private(settings.data_dir)
    return settings

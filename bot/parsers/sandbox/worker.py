"""The worker process that reads one file, and the frames it answers in: bytes, JSON and UTF-8, never objects.

The worker locks itself down first, receives a line of JSON and the file on standard input, and exits when it is done.
After reading an untrusted file it may have been taken over, so the bot checks each frame.
"""

import encodings
import gc
import json
import os
import resource
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum
from importlib import import_module
from math import ceil
from pkgutil import walk_packages
from string import Formatter
from typing import IO, TYPE_CHECKING, Any

import bot.parsers
from bot.parsers.chapters import MOST_CHAPTERS
from bot.parsers.draft import MIB, MOST_PAGES, PicturesOnlyError, ReadingLimits
from bot.parsers.formats import read_book, read_pictures
from bot.parsers.sandbox.lockdown import FIXED_LIMITS, Confinement, code_folders, knows_landlock, limit, lock_down
from domain.book import BookText, Chapter, Page
from domain.errors import BookError, BookErrorCode, Worded

if TYPE_CHECKING:
    from bot.parsers.ocr import TextRecogniser

_HEADER = struct.Struct(">cQ")
LONGEST_MESSAGE = 16 * 2**20
"""Bytes of any frame but the text; a book of ten thousand pages and chapters takes one million."""
_LONGEST_SENTENCE = 500
_MOST_FIELDS = 5
LONGEST_STRING = 1_000
"""Characters of a title, a label or a warning; parsers make none longer than 500."""


UNSOUND = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
"""The errors that follow where a payload is not what a sound worker sends."""
_LARGEST_NUMBER = 2**31


class FrameKind(Enum):
    PROGRESS = b"P"
    ERROR = b"E"
    BOOK = b"B"
    TEXT = b"T"


class BrokenFrameError(Exception):
    """A frame that no sound worker sends: it is incomplete, or a hostile file has formed it."""


def write_frame(stream: IO[bytes], kind: FrameKind, payload: bytes) -> None:
    stream.write(_HEADER.pack(kind.value, len(payload)))
    stream.write(payload)
    stream.flush()


def read_frame(stream: IO[bytes], longest_text: int) -> tuple[FrameKind, bytes]:
    """The next frame.

    Raises:
        BrokenFrameError: there is none, or it is too long.
    """
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise BrokenFrameError("the worker ended early")
    code, length = _HEADER.unpack(header)
    try:
        kind = FrameKind(code)
    except ValueError as error:
        raise BrokenFrameError("a frame of no known kind") from error
    if length > (longest_text if kind is FrameKind.TEXT else LONGEST_MESSAGE):
        raise BrokenFrameError("a frame that is too long")
    payload = stream.read(length)
    if len(payload) < length:
        raise BrokenFrameError("a frame that ends early")
    return kind, payload


def encode_book(book: BookText) -> tuple[bytes, bytes]:
    """The payloads of BOOK and TEXT."""
    description = {
        "pages": [[page.label, page.start, page.end] for page in book.pages],
        "chapters": [
            [chapter.title, chapter.start, chapter.end, chapter.level, chapter.printed, chapter.parent]
            for chapter in book.chapters
        ],
        "format": book.format,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "pages_estimated": book.pages_estimated,
        "warnings": [_sent(warning) for warning in book.warnings],
        "readings": book.readings,
        "pictures": book.pictures,
    }
    return json.dumps(description).encode(), book.text.encode()


def decode_book(description: bytes, text: bytes) -> BookText:
    """The book in two payloads.

    Raises:
        BrokenFrameError: it is not a book such as parsers make.
    """
    try:
        book = _book(json.loads(description), text.decode())
    except UNSOUND as error:
        raise BrokenFrameError(f"a book that is none ({type(error).__name__})") from error
    return book


def _book(description: Any, text: str) -> BookText:
    pages = tuple(
        Page(number, _string(label), _integer(start), _integer(end))
        for number, (label, start, end) in enumerate(description["pages"], start=1)
    )
    chapters = tuple(
        Chapter(number, _string(title), _integer(start), _integer(end), _integer(level), *map(_string, names))
        for number, (title, start, end, level, *names) in enumerate(description["chapters"], start=1)
    )
    _check_cover(pages, len(text))
    _check_order(chapters, len(text))
    return BookText(
        text,
        pages,
        chapters,
        _string(description["format"]),
        title=_string(description["title"]),
        author=_string(description["author"]),
        language=_string(description["language"]),
        pages_estimated=description["pages_estimated"] is True,
        warnings=tuple(received_sentence(warning) for warning in description["warnings"]),
        readings=tuple((_string(reading), _string(written)) for reading, written in description["readings"]),
        pictures=_integer(description["pictures"]),
    )


def _check_cover(pages: tuple[Page, ...], length: int) -> None:
    edges = [0, *(page.end for page in pages)]
    if not 1 <= len(pages) <= MOST_PAGES + 1:
        raise ValueError("no pages, or too many")
    if edges[-1] != length or [page.start for page in pages] != edges[:-1] or sorted(edges) != edges:
        raise ValueError("pages that do not cover the text")


def _check_order(chapters: tuple[Chapter, ...], length: int) -> None:
    edges = [edge for chapter in chapters for edge in (chapter.start, chapter.end)]
    if sorted(edges) != edges or (edges and not 0 <= edges[0] <= edges[-1] <= length) or len(chapters) > MOST_CHAPTERS:
        raise ValueError("chapters out of order")


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    if len(value) > LONGEST_STRING:
        raise ValueError("a string that is too long")
    value.encode()  # lone surrogates, which nothing can store, are a UnicodeEncodeError: a ValueError, too
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("not a whole number")
    if not 0 <= value < _LARGEST_NUMBER:
        raise ValueError("a number of nothing in a book")
    return value


_NICENESS = 10
_IMPORTED_LATE = (
    "html",
    "markdown_it",
    "pypdfium2_raw",
    "selectolax.lexbor",
    "traceback",
    "urllib.parse",
)
"""What parsers import only when a file needs it."""
_SECONDS_BETWEEN_REPORTS = 0.1
_SECONDS_OF_TRIAL = 30.0
"""How long recognition runs before its speed is judged."""
RECOGNITION_TOO_LONG = (
    "The pages of this book are pictures, and recognising their text would take longer than {minutes} minutes, so I "
    "stopped. Please run it through text recognition (OCR) first, or add it in parts."
)
_DAMAGED = Worded(
    "This file is damaged, or made in a way I do not understand. Please try another edition, best an EPUB."
)
_TOO_BIG = Worded("Reading this file takes more memory than one book may use. Please add a smaller edition.")


def main(ocr: tuple[str, str, Sequence[str]] | None = None) -> None:
    """Read the file on standard input and write the book, or the reason why there is none, to standard output.

    With `ocr`, the fields of an OcrInstallation, the pages are pictures whose text is recognised.
    """
    out = _private_output()
    gc.disable()  # there are no reference cycles here, and collecting would take long
    recogniser = _recogniser(ocr) if ocr else None
    confine()
    task = json.loads(sys.stdin.buffer.readline())
    limit({resource.RLIMIT_AS: task["memory_mb"] * MIB, resource.RLIMIT_CPU: ceil(task["seconds"])})
    limits = ReadingLimits(max_characters=task["max_characters"])
    try:
        data, filename = sys.stdin.buffer.read(), task["filename"]
        if recogniser:
            report = _bounded(_reporter(out), task["seconds"])
            book = read_pictures(data, filename, recogniser, limits=limits, report=report)
        else:
            book = read_book(data, filename, limits=limits, report=_reporter(out))
        description, text = encode_book(book)
    except PicturesOnlyError as error:
        _write_error(out, error.code, error.message, pictures=error.pages)
    except BookError as error:
        _write_error(out, error.code, error.message)
    except MemoryError:
        _write_error(out, BookErrorCode.TOO_LARGE, _TOO_BIG)
    except Exception as error:  # noqa: BLE001 - a stranger's file may break anything, and this process does nothing else
        _write_error(out, BookErrorCode.PARSE_FAILED, _DAMAGED, type(error).__name__, _trace())
    else:
        write_frame(out, FrameKind.BOOK, description)
        write_frame(out, FrameKind.TEXT, text)


def _recogniser(ocr: tuple[str, str, Sequence[str]]) -> "TextRecogniser":
    from bot.parsers.ocr import OcrInstallation, TextRecogniser

    library, models, languages = ocr
    return TextRecogniser(OcrInstallation(library, models, tuple(languages)))


def _bounded(report: Callable[[float], None], seconds: float) -> Callable[[float], None]:
    """A report that ends the work as soon as it is clear that it will take longer than `seconds`."""
    started = time.monotonic()

    def report_in_time(share: float) -> None:
        spent = time.monotonic() - started
        if spent > _SECONDS_OF_TRIAL and spent > share * seconds:
            raise BookError(BookErrorCode.TIMED_OUT, Worded(RECOGNITION_TOO_LONG, minutes=ceil(seconds / 60)))
        report(share)

    return report_in_time


def confine() -> Confinement:
    """Give up everything that reading does not need, before anything of a stranger's is read."""
    os.nice(_NICENESS)
    limit(FIXED_LIMITS)
    if not knows_landlock():
        import_everything()
    return lock_down(code_folders(sys.path))


def import_everything() -> None:
    """Import what any format may need; afterwards this process can open no file, not even to import."""
    for package in (bot.parsers, encodings):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            _import_if_there(module.name)
    for name in _IMPORTED_LATE:
        _import_if_there(name)


def _import_if_there(name: str) -> None:
    with suppress(ImportError):  # of another system, or an extra that is not installed
        import_module(name)


def _private_output() -> IO[bytes]:
    """Standard output for frames alone: whatever a library prints is discarded."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return out


def _reporter(out: IO[bytes]) -> Callable[[float], None]:
    last = 0.0

    def report(share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_REPORTS:
            last = now
            write_frame(out, FrameKind.PROGRESS, json.dumps(share).encode())

    return report


def _trace() -> str:
    import traceback  # 6 ms that hardly any file needs

    return traceback.format_exc(limit=-6)


def _sent(message: object) -> object:
    """A sentence as JSON: one with values in it as its template and these."""
    if isinstance(message, Worded):
        return {"template": message.template, "fields": {name: _sent(value) for name, value in message.fields.items()}}
    return message if isinstance(message, int) else str(message)


def received_sentence(said: object, *, depth: int = 0) -> str:
    """The sentence that a worker reports; a template may hold nothing but a few short values.

    Raises:
        ValueError: it is none, or it is too long.
    """
    if not isinstance(said, dict):
        return _string(str(said)[:_LONGEST_SENTENCE])
    template, fields = str(said["template"])[:_LONGEST_SENTENCE], dict(said["fields"])
    if (
        depth > 1
        or len(fields) > _MOST_FIELDS
        or any(spec for *_, spec, _ in Formatter().parse(template) if spec != ",")
    ):
        raise ValueError("a sentence with more in it than values")
    _string(template)
    values = {
        name: value if isinstance(value, int) else received_sentence(value, depth=depth + 1)
        for name, value in fields.items()
    }
    return Worded(template, **values)


def _write_error(
    out: IO[bytes], code: Any, message: str, kind: str = "", detail: str = "", *, pictures: int = 0
) -> None:
    """Write an error frame. `kind` and `detail`, an exception's name and traceback, are for unexpected failures.
    `pictures` counts the pages whose text may be recognised.
    """
    error = {"code": str(code), "message": _sent(message), "kind": kind, "detail": detail, "pictures": pictures}
    write_frame(out, FrameKind.ERROR, json.dumps(error).encode())

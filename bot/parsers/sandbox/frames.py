"""What a reader's worker process and the bot say to each other: framed bytes, JSON and UTF-8, never objects.

The worker has read a stranger's file and may be anyone's by now, so all that it says is checked.
"""

import json
import struct
from enum import Enum
from typing import IO, Any

from bot.parsers.assembly import MOST_PAGES
from bot.parsers.chapters import MOST_CHAPTERS
from domain.book import BookText, Chapter, Page

_HEADER = struct.Struct(">cQ")
LONGEST_MESSAGE = 16 * 2**20
"""Bytes of any frame but the text; a book of ten thousand pages and chapters takes one million."""
LONGEST_STRING = 1_000
"""Characters of a title, a label or a warning; readers make none longer than 500."""


class FrameKind(Enum):
    PROGRESS = b"P"
    ERROR = b"E"
    BOOK = b"B"
    TEXT = b"T"


class BrokenFrameError(Exception):
    """What came is not what a worker says: it ended early, or it is not itself any more."""


def write_frame(stream: IO[bytes], kind: FrameKind, payload: bytes) -> None:
    stream.write(_HEADER.pack(kind.value, len(payload)))
    stream.write(payload)
    stream.flush()


def read_frame(stream: IO[bytes], longest_text: int) -> tuple[FrameKind, bytes]:
    """The next frame.

    Raises:
        BrokenFrameError: there is none, or it is longer than it may be.
    """
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise BrokenFrameError("the worker said no more")
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
    told = {
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
        "warnings": list(book.warnings),
    }
    return json.dumps(told).encode(), book.text.encode()


def decode_book(told: bytes, text: bytes) -> BookText:
    """The book of two payloads.

    Raises:
        BrokenFrameError: it is not a book such as readers make.
    """
    try:
        book = _book(json.loads(told), text.decode())
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BrokenFrameError(f"a book that is none ({type(error).__name__})") from error
    return book


def _book(told: Any, text: str) -> BookText:
    pages = tuple(
        Page(number, _string(label), _integer(start), _integer(end))
        for number, (label, start, end) in enumerate(told["pages"], start=1)
    )
    chapters = tuple(
        Chapter(number, _string(title), _integer(start), _integer(end), _integer(level), *map(_string, names))
        for number, (title, start, end, level, *names) in enumerate(told["chapters"], start=1)
    )
    _check_cover(pages, len(text))
    _check_order(chapters, len(text))
    return BookText(
        text,
        pages,
        chapters,
        _string(told["format"]),
        title=_string(told["title"]),
        author=_string(told["author"]),
        language=_string(told["language"]),
        pages_estimated=told["pages_estimated"] is True,
        warnings=tuple(map(_string, told["warnings"])),
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
    return value

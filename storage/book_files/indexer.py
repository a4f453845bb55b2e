"""The process that indexes one book and exits, so that this CPU work never delays the process that answers people.

Its standard input is one line of JSON and then the text. On standard output it writes lines of JSON: its progress, a
number from 0 to 1, and at the end an object, with the error that prevents the book from being indexed or with the size
of the book's file. The content of that file follows in a pipe of its own. Exit code 0 means that all of it has been
written.

The text is a stranger's. Before this process looks at it, it imports all it needs, makes the copy of itself that
indexes the other half, and gives up everything but its memory and the descriptors it has. The copy does the same.
"""

import gc
import json
import marshal
import os
import resource
import sqlite3
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import accumulate, islice, pairwise

from domain.book import BookText, Chapter, Page
from domain.library.search.index import IndexedPart, MemoryIndex, index_book, index_part, join_parts
from domain.library.search.languages import book_language
from domain.library.search.words import STEMS_REMEMBERED
from storage.book_files.format import book_bytes, decode_text, encode_text, find_analyzer, prepare_stemming, reason_of

WORTH_TWO = 1_000_000
"""Bytes of text. Forking and joining the halves takes as long as indexing a tenth of this."""

_FIRST_SHARE = 0.42
"""Share of the text indexed by the parent, which has more work besides."""

_PARAGRAPH_END = "\n\n"

_NICENESS = 10
_MOST_MEMORY = 2 * 2**30
"""Bytes. The longest book a parser lets through has 20 million characters and takes a quarter of this."""
_MOST_SECONDS = 600
"""Of processor time; that book takes a twentieth of this on a slow machine."""
_PIECE = 32_768
"""Characters encoded at a time, which takes a moment."""


def index_in_halves(
    book: BookText, report: Callable[[float], None], second: Callable[[], bytes]
) -> Callable[[], MemoryIndex]:
    """Index a book as `index_book` does, in little more than half the time; `second` waits for what
    `index_second_half` has made of the same book in a copy of this process.

    Returns a function that waits for the second half and joins both; the caller can do other work until then.

    Raises:
        OSError: the other half could not be indexed (raised by the returned function).
    """
    first = index_part(book, 0, _middle(book), report)
    stem = find_analyzer(book_language(book)).stem
    for word in islice(first.places, STEMS_REMEMBERED):
        stem(word)  # which is remembered, and found out while the copy is still at work
    words = first.counts[-1] if first.counts else 0
    return lambda: join_parts(book, [first, _decode(second(), words)])


def index_second_half(book: BookText) -> bytes:
    """What `index_in_halves` needs of the half that it does not index itself."""
    return _encode(index_part(book, _middle(book), len(book.text), lambda share: None))


def _middle(book: BookText) -> int:
    """Where the second half begins; at the end of a book without paragraphs, which has no second half."""
    found = book.text.find(_PARAGRAPH_END, int(len(book.text) * _FIRST_SHARE))
    return found if found >= 0 else len(book.text)


def _in_a_copy(work: Callable[[], bytes]) -> Callable[[], bytes]:
    """Do some work in a fork of this process; the returned function waits for the result.

    The fork exits when its work is done, or when nobody is left to receive the result.
    """
    reading, writing = os.pipe()
    copy = os.fork()
    if copy == 0:
        _do_and_end(work, reading, writing)
    os.close(writing)

    def result() -> bytes:
        with os.fdopen(reading, "rb") as pipe:
            content = pipe.read()
        _, status = os.waitpid(copy, 0)
        if status:
            raise ChildProcessError("not enough memory for a book of this length")
        return content

    return result


def _do_and_end(work: Callable[[], bytes], reading: int, writing: int) -> None:
    """Exit without the clean-up that belongs to the parent process."""
    code = 1
    try:
        os.close(reading)  # or it would wait for itself as reader, once its parent has been killed
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(work())
        code = 0
    finally:
        os._exit(code)


def _encode(part: IndexedPart) -> bytes:
    columns = [column.tobytes() for column in (part.starts, part.ends, part.counts)]
    sizes = [len(places) for places in part.places.values()]
    return marshal.dumps((columns, list(part.places), sizes, b"".join(part.places.values())))


def _decode(content: bytes, words_before: int) -> IndexedPart:
    columns, words, sizes, joined = marshal.loads(content)  # noqa: S302 (from a copy of this process)
    starts, ends, counts = (array("I", column) for column in columns)
    numbers, edges = _raised(array("I", joined), words_before), pairwise(accumulate(sizes, initial=0))
    places = {word: numbers[slice(*edge)] for word, edge in zip(words, edges, strict=True)}
    return IndexedPart(starts, ends, _raised(counts, words_before), places)


def _raised(numbers: "array[int]", by: int) -> "array[int]":
    """All numbers plus `by`. They are added as one large integer, which takes a tenth of the time."""
    one, other = (int.from_bytes(each, sys.byteorder) for each in (numbers, array("I", [by]) * len(numbers)))
    return array("I", (one + other).to_bytes(len(numbers) * numbers.itemsize, sys.byteorder))


def encode_task(book: BookText) -> Iterator[bytes]:
    """The input of the process, in pieces."""
    task = {
        "pages": [[page.number, page.label, page.start, page.end] for page in book.pages],
        "chapters": [
            [item.number, item.title, item.start, item.end, item.level, item.printed, item.parent]
            for item in book.chapters
        ],
        "format": book.format,
        "language": book.language,
        "pages_estimated": book.pages_estimated,
        "readings": book.readings,
    }
    yield json.dumps(task).encode() + b"\n"
    for start in range(0, len(book.text), _PIECE):
        yield encode_text(book.text[start : start + _PIECE])


def main(image: int, confine: Callable[[], object] | None = None) -> None:
    """Index the book on standard input, and write the content of its file to the descriptor `image`.

    `confine` takes from this process what it does not need; it is called before anything of the book is looked at.
    """
    os.nice(_NICENESS)
    gc.disable()  # there are no reference cycles here, and collecting would take long
    for kind, most in ((resource.RLIMIT_AS, _MOST_MEMORY), (resource.RLIMIT_CPU, _MOST_SECONDS)):
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(kind, (most, most))
    prepare_stemming()
    description, text = sys.stdin.buffer.readline(), sys.stdin.buffer.read()

    def read() -> BookText:
        nonlocal text
        if confine:
            confine()
        content, text = text, b""  # whose memory is given back
        return _decode_task(description, content)

    try:
        has_two = len(text) >= WORTH_TWO and (os.cpu_count() or 1) > 1
        second = _in_a_copy(lambda: index_second_half(read())) if has_two else None
        book = read()
        indexed = index_in_halves(book, _say, second) if second else lambda: index_book(book, _say)
        content = book_bytes(book, indexed)
    except (OSError, sqlite3.Error, MemoryError) as error:
        _say({"error": reason_of(error)})
        sys.exit(1)
    _say({"size": len(content)})
    with os.fdopen(image, "wb", closefd=False) as pipe:
        pipe.write(content)
    os._exit(0)  # at once: giving back the memory piece by piece takes longer than writing the file


def _decode_task(description: bytes, text: bytes) -> BookText:
    task = json.loads(description)
    return BookText(
        text=decode_text(text),
        pages=tuple(Page(*page) for page in task["pages"]),
        chapters=tuple(Chapter(*chapter) for chapter in task["chapters"]),
        format=task["format"],
        language=task["language"],
        pages_estimated=task["pages_estimated"],
        readings=tuple((reading, written) for reading, written in task["readings"]),
    )


def _say(value: object) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()

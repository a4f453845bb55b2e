"""A long book is indexed by two processors: one half by a copy of the process, which then ends."""

import marshal
import os
import sys
from array import array
from collections.abc import Callable
from itertools import accumulate, islice, pairwise

from domain.book import BookText
from domain.library.search.index import IndexedPart, MemoryIndex, index_book, index_part, join_parts
from domain.library.search.words import STEMS_REMEMBERED, stem_of

WORTH_TWO = 1_000_000
"""Characters. Copying the process and putting the halves together takes as long as indexing a tenth of them."""

_FIRST_SHARE = 0.42
"""Of the text: the smaller part, as whoever indexes it has more to do."""

_PARAGRAPH_END = "\n\n"


def index_in_halves(book: BookText, report: Callable[[float], None]) -> Callable[[], MemoryIndex]:
    """Have a book indexed as `index_book` does it, in little more than half the time.

    What is returned waits for the second half and puts both together; until then there is time for something else.

    Raises:
        OSError: the other half could not be indexed (what is returned raises it).
    """
    middle = book.text.find(_PARAGRAPH_END, int(len(book.text) * _FIRST_SHARE))
    if len(book.text) < WORTH_TWO or middle < 0 or (os.cpu_count() or 1) < 2:
        return lambda: index_book(book, report)
    second = _in_a_copy(lambda: _encode(index_part(book, middle, len(book.text), lambda share: None)))
    first = index_part(book, 0, middle, report)
    for word in islice(first.places, STEMS_REMEMBERED):
        stem_of(word)  # which is remembered, and found out while the copy is still at work
    words = first.counts[-1] if first.counts else 0
    return lambda: join_parts(book, [first, _decode(second(), words)])


def _in_a_copy(work: Callable[[], bytes]) -> Callable[[], bytes]:
    """Let a copy of this process do some work; what it gives is had by calling what is returned.

    The copy ends with its work, or when nobody is left to take it.
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
    """End without the clean-up that belongs to the process this is a copy of."""
    code = 1
    try:
        os.close(reading)  # or it would wait for itself to read, once the process it is a copy of has been killed
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
    """All numbers and `by`: added as if they were the digits of one, which takes a tenth of the time."""
    one, other = (int.from_bytes(each, sys.byteorder) for each in (numbers, array("I", [by]) * len(numbers)))
    return array("I", (one + other).to_bytes(len(numbers) * numbers.itemsize, sys.byteorder))

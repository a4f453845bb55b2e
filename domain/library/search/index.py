"""An index: for every word of a book, the places where it stands.

The places are ordinals of words in reading order. That makes the bound of a reader a cut through each list of places,
so that every count and every statistic can be that of the part that has been read.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from domain.book import BookText
from domain.library.search.layout import BookLayout, lay_out, split_chapters
from domain.library.search.words import stem_of, words_of_each

Positions = Sequence[int]

_REPORT_EVERY = 5_000
"""Sentences between two reports of progress; indexing does some 100,000 a second."""


class WordForm(NamedTuple):
    """A word as it is written, and the ordinals of its places, rising."""

    written: str
    positions: "array[int]"


class BookIndex(Protocol):
    """A book that has been indexed, whole. Its methods may be called from any thread, and block."""

    @property
    def layout(self) -> BookLayout: ...

    def forms(self, stem: str) -> Sequence[WordForm]:
        """The written forms of a stem, in a fixed order."""
        ...

    def read(self, start: int, end: int) -> str:
        """The text between two offsets."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """An index as it is made, before it goes to disk."""

    layout: BookLayout
    words: dict[str, "array[int]"]

    def stems(self) -> list[tuple[str, list[str]]]:
        """Stems and their written forms, both in alphabetical order."""
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for written in sorted(self.words):
            forms[stem_of(written)].append(written)
        return sorted(forms.items())


@dataclass(frozen=True, slots=True)
class IndexedPart:
    """A stretch of a book: its sentences, the number of words before the end of each, the places of its words."""

    starts: "array[int]"
    ends: "array[int]"
    counts: "array[int]"
    places: dict[str, "array[int]"]


def index_book(book: BookText, report: Callable[[float], None] = lambda share: None) -> MemoryIndex:
    """Split a book into sentences and note the place of every word; `report` is told the done share, 0..1."""
    return join_parts(book, [index_part(book, 0, len(book.text), report)])


def index_part(
    book: BookText, start: int, end: int, report: Callable[[float], None], words_before: int = 0
) -> IndexedPart:
    """Index the stretch of a book between two offsets, each the edge of a chapter or the end of a paragraph."""
    text = book.text[start:end]
    starts, ends = array("I"), array("I")
    for first, last in split_chapters(text, book.chapters, start):
        starts.append(first)
        ends.append(last)
    spans = zip(starts, ends, strict=True)
    places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    counts, count = array("I"), words_before
    # No name is given to the sentences, so that their memory is given back before the words take it.
    for number, words in enumerate(words_of_each([text[first - start : last - start] for first, last in spans])):
        for word in words:
            places[word].append(count)
            count += 1
        counts.append(count)
        if number % _REPORT_EVERY == 0:
            report(number / len(starts))
    return IndexedPart(starts, ends, counts, dict(places))


def join_parts(book: BookText, parts: Sequence[IndexedPart]) -> MemoryIndex:
    """The index of a book from those of all its parts, in order. The first part is taken over, and grows."""
    whole, *others = parts
    for part in others:
        whole.starts.extend(part.starts)
        whole.ends.extend(part.ends)
        whole.counts.extend(part.counts)
        for word, places in part.places.items():
            whole.places.setdefault(word, array("I")).extend(places)
    layout = lay_out(book, whole.starts, whole.ends, array("I", [0]) + whole.counts)
    return MemoryIndex(layout, whole.places)

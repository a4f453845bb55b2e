"""An index: for every word of a book, the places where it stands.

The places are ordinals of words in reading order. That makes the bound of a reader a cut through each list of places,
so that every count and every statistic can be that of the part that has been read.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from domain.book import BookText
from domain.library.search.languages import DEFAULT_ANALYZER, Analyzer
from domain.library.search.layout import BookLayout, lay_out, split_chapters
from domain.library.search.words import words_of_each

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

    @property
    def analyzer(self) -> Analyzer:
        """That of the book's language, with which its words were indexed."""
        ...

    def forms(self, stem: str) -> Sequence[WordForm]:
        """The written forms of a stem, in a fixed order."""
        ...

    def stems(self) -> Sequence[str]:
        """All stems of the book, in alphabetical order."""
        ...

    def stems_of_spelling(self, spelling: str) -> Sequence[str]:
        """The stems of the forms with this spelling, as far as it does not lead to them by itself."""
        ...

    def read(self, start: int, end: int) -> str:
        """The text between two offsets."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """An index as it is made, before it goes to disk."""

    layout: BookLayout
    words: dict[str, "array[int]"]

    def stems(self, analyzer: Analyzer = DEFAULT_ANALYZER) -> list[tuple[str, list[str]]]:
        """Stems and their written forms, both in alphabetical order."""
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for written in sorted(self.words):
            forms[analyzer.stem(written)].append(written)
        return sorted(forms.items())

    def spellings(self, analyzer: Analyzer) -> list[tuple[str, list[str]]]:
        """The spellings that have another stem than a form that is written so, each with the stems of those forms."""
        stems: defaultdict[str, set[str]] = defaultdict(set)
        for written in self.words if analyzer.accents_matter else ():
            spelling, stem = analyzer.spelling(written), analyzer.stem(written)
            if analyzer.stem(spelling) != stem:
                stems[spelling].add(stem)
        return sorted((spelling, sorted(each)) for spelling, each in stems.items())


@dataclass(frozen=True, slots=True)
class IndexedPart:
    """A stretch of a book: its sentences, the number of words before the end of each, the places of its words."""

    starts: "array[int]"
    ends: "array[int]"
    counts: "array[int]"
    places: dict[str, "array[int]"]


def find_forms(index: BookIndex, layout: BookLayout, word: str) -> list[WordForm]:
    """The forms in what has been read that a typed word is searched as, with their places there.

    They are the forms of its stem. Where accents matter, words are typed without them all the same: then also those of
    the stem of any form that is spelt like it.
    """
    analyzer = index.analyzer
    stem, spelling = analyzer.stem(word), analyzer.spelling(word)
    found = forms_of_stem(index, layout, stem)
    if not analyzer.accents_matter:
        return found
    for other in dict.fromkeys((analyzer.stem(spelling), *index.stems_of_spelling(spelling))):
        forms = forms_of_stem(index, layout, other) if other != stem else ()
        if any(analyzer.spelling(form.written) == spelling for form in forms):
            found += forms
    return found


def forms_of_stem(index: BookIndex, layout: BookLayout, stem: str) -> list[WordForm]:
    """The forms of a stem in what has been read, with their places there."""
    clipped = ((form.written, bisect_left(form.positions, layout.word_count), form) for form in index.forms(stem))
    return [WordForm(written, form.positions[:count]) for written, count, form in clipped if count]


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

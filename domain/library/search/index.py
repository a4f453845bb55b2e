"""An index: for every word of a book, the positions where it occurs, and the text around them.

Positions are ordinals of words in reading order. A reader's bound is therefore a cut through each list of positions,
so that every count and statistic covers exactly the part that has been read.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

from domain.book import BookText, ChapterCount, Citation, Mentions, Passage, Sentence
from domain.errors import BookError, BookErrorCode
from domain.library.addressing import is_counted, is_matter
from domain.library.search.languages import DEFAULT_ANALYZER, Analyzer
from domain.library.search.layout import BookLayout, lay_out, split_chapters
from domain.library.search.words import fold, without_possessive, words_of, words_of_each

_REPORT_EVERY = 5_000
"""Sentences between two reports of progress; indexing does some 100,000 a second."""


class WordForm(NamedTuple):
    """A word as written, and the ordinals of its occurrences, ascending."""

    written: str
    positions: "array[int]"


class BookIndex(Protocol):
    """The index of a whole book. Its methods may be called from any thread, and block."""

    @property
    def layout(self) -> BookLayout: ...

    @property
    def analyzer(self) -> Analyzer:
        """The analyzer of the book's language, with which its words were indexed."""
        ...

    def forms(self, stem: str) -> Sequence[WordForm]:
        """The written forms of a stem, in a fixed order."""
        ...

    def stems(self) -> Sequence[str]:
        """All stems of the book, in alphabetical order."""
        ...

    def vocabulary(self) -> Iterable[str]:
        """All words as written, in a fixed order; takes a few milliseconds for a novel."""
        ...

    def stems_of_spelling(self, spelling: str) -> Sequence[str]:
        """The stems of the forms with this spelling, apart from the spelling's own stem."""
        ...

    def read(self, start: int, end: int) -> str:
        """The text between two offsets."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryIndex:
    """An index in memory, before it is written to disk."""

    layout: BookLayout
    words: dict[str, "array[int]"]

    def stems(self, analyzer: Analyzer = DEFAULT_ANALYZER) -> list[tuple[str, list[str]]]:
        """Stems and their written forms, both in alphabetical order."""
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for written in sorted(self.words):
            forms[analyzer.stem(written)].append(written)
        return sorted(forms.items())

    def spellings(self, analyzer: Analyzer) -> list[tuple[str, list[str]]]:
        """The spellings whose stem differs from that of a form spelt the same, each with the stems of those forms."""
        stems: defaultdict[str, set[str]] = defaultdict(set)
        for written in self.words if analyzer.accents_matter else ():
            spelling, stem = analyzer.spelling(written), analyzer.stem(written)
            if analyzer.stem(spelling) != stem:
                stems[spelling].add(stem)
        return sorted((spelling, sorted(each)) for spelling, each in stems.items())


def written_forms(readings: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """Readings, in order, each with the ways to write it, the most common first."""
    forms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for reading, written in readings:
        forms[reading][written] = None
    return sorted((reading, list(each)) for reading, each in forms.items())


@dataclass(frozen=True, slots=True)
class IndexedPart:
    """A stretch of a book: its sentences, the number of words before the end of each, the positions of its words."""

    starts: "array[int]"
    ends: "array[int]"
    counts: "array[int]"
    places: dict[str, "array[int]"]


def share_with_capital(index: BookIndex, layout: BookLayout, word: str) -> float:
    """The share of a typed word's places at which it has a capital; 0 for a word that is not there."""
    times = Counter[bool]()
    for form in find_forms(index, layout, word.capitalize()):  # as a name it has one spelling
        times[form.written[0].isupper()] += len(form.positions)
    return times[True] / (times.total() or 1)


def find_forms(index: BookIndex, layout: BookLayout, word: str) -> list[WordForm]:
    """The forms that match a typed word in the part that has been read, with their positions there.

    These are the forms of its stem, and in English of its other spellings, except for a name: Mr. Gray is not grey. In
    languages where accents matter, people still type words without them: then the stems of all forms with the same
    spelling match too.
    """
    analyzer = index.analyzer
    stem, spelling = analyzer.stem(word), analyzer.spelling(word)
    found = forms_of_stem(index, layout, stem)
    if not analyzer.accents_matter:
        others = frozenset[str]() if word[0].isupper() else analyzer.other_spellings(word)
        elsewhere = {analyzer.stem(other) for other in others} - {stem}
        return found + [form for other in sorted(elsewhere) for form in forms_of_stem(index, layout, other)]
    for other in dict.fromkeys((analyzer.stem(spelling), *index.stems_of_spelling(spelling))):
        forms = forms_of_stem(index, layout, other) if other != stem else ()
        if any(analyzer.spelling(form.written) == spelling for form in forms):
            found += forms
    return found


def forms_of_stem(index: BookIndex, layout: BookLayout, stem: str) -> list[WordForm]:
    """The forms of a stem in the part that has been read, with their positions there."""
    clipped = ((form.written, bisect_left(form.positions, layout.word_count), form) for form in index.forms(stem))
    return [WordForm(written, form.positions[:count]) for written, count, form in clipped if count]


class Excerpts:
    """Turns spans of the part that has been read into passages and citations."""

    def __init__(self, index: BookIndex, layout: BookLayout, *, estimated: bool) -> None:
        self._index = index
        self._layout = layout
        self._estimated = estimated

    def passage(self, sentences: range, score: float = 0.0) -> Passage:
        """Whole sentences, by their numbers; at least one."""
        layout = self._layout
        return self.span(layout.starts[sentences.start], layout.ends[sentences.stop - 1], score)

    def span(self, start: int, end: int, score: float = 0.0) -> Passage:
        """The text of `[start, end)`; sentences that cross its edges are cut."""
        layout = self._layout
        text = self._index.read(start, end)
        edges = [(max(layout.starts[i], start), min(layout.ends[i], end)) for i in layout.sentences_between(start, end)]
        if edges:
            start, end, offset = edges[0][0], edges[-1][1], start
            sentences = tuple(Sentence(a, b, text[a - offset : b - offset]) for a, b in edges)
        else:
            end, sentences = start, ()
        return Passage(
            id=bisect_right(layout.starts, start),
            start=start,
            end=end,
            page=layout.page_at(start).label,
            last_page=layout.page_at(max(end - 1, start)).label,
            chapter=self._chapter(start),
            sentences=sentences,
            score=score,
        )

    def citation(self, start: int, end: int) -> Citation:
        """The citation of a span.

        Raises:
            BookError: NOT_FOUND, the span is empty or reaches beyond the bound.
        """
        if not 0 <= start < end <= self._layout.length:
            raise BookError(BookErrorCode.NOT_FOUND, "That place is beyond what's been read so far.")
        return Citation(
            start=start,
            end=end,
            quote=self._index.read(start, end),
            page=self._layout.page_at(start).label,
            last_page=self._layout.page_at(end - 1).label,
            chapter=self._chapter(start),
            estimated=self._estimated,
        )

    def _chapter(self, offset: int) -> str:
        chapter = self._layout.chapter_at(offset)
        return chapter.title if chapter else ""


MAX_MENTION_WORDS = 30
"""Words in the longest term that is counted."""


_LOOSE = 20
"""Characters that a heading may have besides its title: spaces, stars, "PART ONE"."""


def count_mentions(index: BookIndex, layout: BookLayout, excerpts: Excerpts, term: str) -> Mentions:
    """Count a term of one or more words in the part that has been read."""
    positions = mention_positions(index, layout, words_of(term)[:MAX_MENTION_WORDS])
    if not positions:
        return Mentions(term=term, total=0, first=None, last=None)
    sentences = [bisect_right(layout.words, position) - 1 for position in positions]
    in_chapters = (each for each in sentences if layout.chapter_at(layout.starts[each]))
    told = next(chain((each for each in sentences if _is_told(layout, excerpts, each)), in_chapters, sentences))
    first, in_story, last = (
        excerpts.citation(layout.starts[i], layout.ends[i]) for i in (sentences[0], told, sentences[-1])
    )
    return Mentions(
        term=term,
        total=len(positions),
        first=first,
        last=last,
        by_chapter=_by_chapter(layout, sentences),
        in_story=in_story,
    )


def _is_told(layout: BookLayout, excerpts: Excerpts, sentence: int) -> bool:
    """Whether a sentence is in a chapter of the story, and not its title."""
    start, end = layout.starts[sentence], layout.ends[sentence]
    chapter = layout.chapter_at(start)
    if chapter is None or is_matter(chapter.title):
        return False
    if end > chapter.start + len(chapter.title) + _LOOSE:
        return True
    words = {fold(word) for word in words_of(excerpts.citation(start, end).quote)}
    return not words <= {fold(word) for word in words_of(chapter.title)}


def sentences_with(index: BookIndex, layout: BookLayout, term: str) -> list[int]:
    """The numbers of the sentences in which a mention begins, ascending."""
    positions = mention_positions(index, layout, words_of(term)[:MAX_MENTION_WORDS])
    return list(dict.fromkeys(bisect_right(layout.words, position) - 1 for position in positions))


def mention_positions(index: BookIndex, layout: BookLayout, term: Sequence[str]) -> list[int]:
    """The ordinals of the first words of all mentions, ascending; an absent word is looked for with a hyphen in it."""
    found = _positions_in_a_row(index, layout, term)
    return found or (_hyphenated_positions(index, layout, term[0]) if len(term) == 1 else [])


def _positions_in_a_row(index: BookIndex, layout: BookLayout, term: Sequence[str]) -> list[int]:
    following: set[int] | None = None
    for word in reversed(term):
        found = _name_positions(index, layout, word)
        following = found if following is None else {position for position in found if position + 1 in following}
        if not following:
            return []
    return sorted(following or ())


_SHORTEST_HALF, _LONGEST_WHOLE, _LOOKED_AT = 2, 40, 5
"""Letters of a part and of a whole word, and places at which a hyphen is looked for."""


def _hyphenated_positions(index: BookIndex, layout: BookLayout, word: str) -> list[int]:
    """The positions of a word that the book writes with a hyphen, as older books do: "pocket-book" for "pocketbook"."""
    for at in range(_SHORTEST_HALF, min(len(word), _LONGEST_WHOLE) - _SHORTEST_HALF + 1):
        halves = word[:at], word[at:]
        places = _positions_in_a_row(index, layout, halves)
        if any(_has_hyphen(index, layout, place, halves) for place in places[:_LOOKED_AT]):
            return places
    return []


def _has_hyphen(index: BookIndex, layout: BookLayout, place: int, halves: tuple[str, str]) -> bool:
    sentence = bisect_right(layout.words, place) - 1
    text = index.read(layout.starts[sentence], layout.ends[sentence])
    return re.search("[-‐‑]".join(map(re.escape, halves)), text, re.IGNORECASE) is not None


def _name_positions(index: BookIndex, layout: BookLayout, word: str) -> set[int]:
    spelling = index.analyzer.spelling
    spelt = {spelling(word), *index.analyzer.other_spellings(word)}
    return {
        position
        for form in find_forms(index, layout, word)
        if (form.written[0].isupper() or not word[0].isupper())
        and not spelt.isdisjoint((spelling(form.written), spelling(without_possessive(form.written))))
        for position in form.positions
    }


def _by_chapter(layout: BookLayout, sentences: Sequence[int]) -> tuple[ChapterCount, ...]:
    """Counts per chapter, in reading order."""
    counts = Counter(layout.chapter_at(layout.starts[sentence]) for sentence in sentences)
    counted = is_counted(layout.chapters)
    return tuple(
        ChapterCount(chapter.number, chapter.title, count, counted, chapter.parent)
        if chapter
        else ChapterCount(0, "", count)
        for chapter, count in counts.items()
    )


def index_book(book: BookText, report: Callable[[float], None] = lambda share: None) -> MemoryIndex:
    """Split a book into sentences and record the position of every word; `report` receives the progress, 0..1."""
    return join_parts(book, [index_part(book, 0, len(book.text), report)])


def index_part(book: BookText, start: int, end: int, report: Callable[[float], None]) -> IndexedPart:
    """Index the stretch of a book between two offsets, each of them the edge of a chapter or the end of a paragraph.

    Words are numbered from the beginning of the stretch; `report` receives the progress, 0..1.
    """
    text = book.text[start:end]
    starts, ends = array("I"), array("I")
    for first, last in split_chapters(text, book.chapters, start):
        starts.append(first)
        ends.append(last)
    spans = zip(starts, ends, strict=True)
    places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    counts, count = array("I"), 0
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
    """Join the indexes of all parts of a book, in order, whose words are numbered through. The first is modified."""
    whole, *others = parts
    for part in others:
        whole.starts.extend(part.starts)
        whole.ends.extend(part.ends)
        whole.counts.extend(part.counts)
        for word, places in part.places.items():
            whole.places.setdefault(word, array("I")).extend(places)
    layout = lay_out(book, whole.starts, whole.ends, array("I", [0]) + whole.counts)
    return MemoryIndex(layout, whole.places)

"""The positions of a book's pages, chapters and sentences on the one axis of characters."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, repeat
from operator import sub
from typing import TypeVar

from domain.book import BookText, Chapter, Page
from domain.library.search.sentences import LOOK_AHEAD, is_finished, split_sentences
from domain.library.search.words import CHARACTERS_OF_A_WORD, words_of

WIDTHS = tuple(1 << bits for bits in range(6, 12))
"""Widths of windows, in words: 64 to 2,048."""

_CHUNK_BITS = 5
"""Windows are computed for 2**5 sentences at a time, about as many as a search examines in one place."""

Extents = tuple["array[int]", "array[int]"]
"""For each of some sentences: how many sentences before it its window begins, and how many after its start it ends."""


class Windows:
    """The windows of the sentences of a book, or of the part that has been read.

    `words` and `runs` are those of the layout. A window has the whole sentences within a width around the middle of
    its sentence, always including that sentence, and none of another chapter. The first `settled` sentences have the
    same windows as in `whole`. Thread-safe: threads that compute the same windows get the same result.
    """

    def __init__(
        self, words: Sequence[int], runs: Sequence[int], whole: "Windows | None" = None, settled: int = 0
    ) -> None:
        self._words = words
        self._runs = runs
        self._whole = whole
        self._settled = settled
        self._chunks: dict[int, list[Extents]] = {}

    def of(self, sentences: range) -> list[Extents]:
        """The windows of some sentences, for each width."""
        first, last = sentences.start >> _CHUNK_BITS, (sentences.stop - 1) >> _CHUNK_BITS
        kept = slice(sentences.start - (first << _CHUNK_BITS), sentences.stop - (first << _CHUNK_BITS))
        chunks = [self._chunk(number) for number in range(first, last + 1)]
        found = []
        for parts in zip(*chunks, strict=True):
            before, after = zip(*parts, strict=True)
            found.append((_join(before)[kept], _join(after)[kept]))
        return found

    def clipped(self, words: Sequence[int], runs: Sequence[int], kept: int) -> "Windows":
        """The windows of a layout that shares the first `kept` sentences with this one."""
        settled = bisect_right(self._words, self._words[kept] - WIDTHS[-1] // 2, 0, kept + 1) - 1
        return Windows(words, runs, self, max(settled, 0))

    def _chunk(self, number: int) -> list[Extents]:
        if self._whole is not None and (number + 1) << _CHUNK_BITS <= self._settled:
            return self._whole._chunk(number)  # noqa: SLF001 (of the same class)
        if number not in self._chunks:
            self._chunks[number] = self._find(number << _CHUNK_BITS)
        return self._chunks[number]

    def _find(self, start: int) -> list[Extents]:
        stop = min(start + (1 << _CHUNK_BITS), len(self._words) - 1)
        found: list[Extents] = [(array("I"), array("I")) for _ in WIDTHS]
        while start < stop:
            run = bisect_right(self._runs, start) - 1
            end = min(self._runs[run + 1], stop)
            self._find_in_chapter(range(self._runs[run], self._runs[run + 1]), range(start, end), found)
            start = end
        return found

    def _find_in_chapter(self, chapter: range, sentences: range, found: Iterable[Extents]) -> None:
        words = self._words
        low = bisect_left(words, words[sentences.start] - WIDTHS[-1] // 2, chapter.start, sentences.start)
        high = bisect_right(words, words[sentences.stop] + WIDTHS[-1] // 2, sentences.stop, chapter.stop + 1)
        near, own = list(words[low:high]), range(sentences.start - low, sentences.stop - low)
        spans = list(pairwise(near[own.start : own.stop + 1]))
        for width, (before, after) in zip(WIDTHS, found, strict=True):
            half = width // 2
            lefts = [min(start, (start + end) // 2 - half) for start, end in spans]
            rights = [max(end, (start + end) // 2 + half) for start, end in spans]
            before.extend(map(sub, own, map(bisect_left, repeat(near), lefts)))
            after.extend(map(sub, map(bisect_right, repeat(near), rights), range(own.start + 1, own.stop + 1)))


def _join(arrays: Iterable["array[int]"]) -> "array[int]":
    joined = array("I")
    for numbers in arrays:
        joined += numbers
    return joined


ReadSlice = Callable[[int, int], str]
"""The text between two offsets."""

_Item = TypeVar("_Item", Page, Chapter)


@dataclass(frozen=True, slots=True)
class BookLayout:
    """The positions in a book, or in the part that has been read.

    Sentence `i` is at `[starts[i], ends[i])`; `words[i]` counts the words before it, and the last entry of `words`
    counts all of them. A run is the stretch between two chapter edges: run `i` has the sentences `[runs[i], runs[i +
    1])`. `length` is where the visible text ends. `windows` follow from the rest.
    """

    length: int
    pages: tuple[Page, ...]
    chapters: tuple[Chapter, ...]
    starts: "array[int]"
    ends: "array[int]"
    words: "array[int]"
    runs: "array[int]"
    windows: Windows = field(compare=False, repr=False)

    @property
    def word_count(self) -> int:
        return self.words[-1]

    def sentences_between(self, start: int, end: int) -> range:
        """The sentences with at least one character in `[start, end)`."""
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))

    def first_within(self, words: int, last: int) -> int:
        """The first of the sentences before `last` that have so many words at most, as `length_in_words` counts."""
        begin = (self.starts[last] if last < len(self.starts) else self.length) - words * CHARACTERS_OF_A_WORD
        return max(bisect_left(self.words, self.words[last] - words, 0, last), bisect_left(self.starts, begin, 0, last))

    def last_within(self, words: int, first: int) -> int:
        """The end of the sentences from `first` on that have so many words at most."""
        end = (self.starts[first] if first < len(self.starts) else self.length) + words * CHARACTERS_OF_A_WORD
        return min(bisect_right(self.words, self.words[first] + words) - 1, bisect_right(self.ends, end))

    def run_of(self, sentence: int) -> range:
        """The sentences of the chapter that a sentence is in."""
        run = bisect_right(self.runs, sentence) - 1
        return range(self.runs[run], self.runs[run + 1])

    def page_at(self, offset: int) -> Page:
        return self.pages[max(bisect_right(self.pages, offset, key=lambda page: page.start) - 1, 0)]

    def chapter_at(self, offset: int) -> Chapter | None:
        """The chapter at the offset, if there is one."""
        found = bisect_right(self.chapters, offset, key=lambda chapter: chapter.start) - 1
        return self.chapters[found] if found >= 0 and offset < self.chapters[found].end else None

    def clip(self, read_to: int, read: ReadSlice) -> "BookLayout":
        """The layout for a reader who has read up to `read_to`.

        It is a function of `text[:read_to]` and of the pages and chapters that begin before: sentences near the bound
        are split again without the text after it, and an unfinished one is left out. A chapter is included once its
        title must have been read.
        """
        if read_to >= self.length:
            return self
        read_to = max(read_to, 0)
        pages, chapters = _reached(self.pages, read_to), _reached(self.chapters, read_to)
        kept = max(bisect_right(self.starts, read_to - LOOK_AHEAD) - 1, 0)
        begin = self.starts[kept] if kept else 0
        starts, ends, words = self.starts[:kept], self.ends[:kept], self.words[: kept + 1]
        text = read(begin, read_to)
        for start, end in _finished_spans(text, begin, chapters):
            starts.append(start)
            ends.append(end)
            words.append(words[-1] + len(words_of(text[start - begin : end - begin])))
        runs = _runs(starts, chapters)
        seen = ends[-1] if ends else 0
        chapters = tuple(item for item in chapters if item.start + len(item.title) <= seen)
        return BookLayout(read_to, pages, chapters, starts, ends, words, runs, self.windows.clipped(words, runs, kept))


def lay_out(book: BookText, starts: "array[int]", ends: "array[int]", words: "array[int]") -> BookLayout:
    """The layout of a whole book, from the spans of its sentences and the number of words before each."""
    runs = _runs(starts, book.chapters)
    return BookLayout(len(book.text), book.pages, book.chapters, starts, ends, words, runs, Windows(words, runs))


def split_chapters(text: str, chapters: Sequence[Chapter], offset: int = 0) -> Iterator[tuple[int, int]]:
    """The spans of the sentences in a text that starts at `offset` of its book; none crosses the edge of a chapter."""
    end = offset + len(text)
    edges = {edge for item in chapters for edge in (item.start, item.end) if offset < edge < end}
    for left, right in pairwise(sorted(edges | {offset, end})):
        for start, stop in split_sentences(text, left - offset, right - offset):
            yield start + offset, stop + offset


def _runs(starts: Sequence[int], chapters: Iterable[Chapter]) -> "array[int]":
    edges = {bisect_left(starts, edge) for item in chapters for edge in (item.start, item.end)}
    return array("I", sorted(edges | {0, len(starts)}))


def _reached(items: tuple[_Item, ...], read_to: int) -> tuple[_Item, ...]:
    """The pages or chapters that begin before the bound; the last of them ends there."""
    count = bisect_left([item.start for item in items], read_to)
    if not count or items[count - 1].end <= read_to:
        return items[:count]
    return items[: count - 1] + (replace(items[count - 1], end=read_to),)  # noqa: RUF005 (the type checker follows this)


def _finished_spans(text: str, offset: int, chapters: Sequence[Chapter]) -> list[tuple[int, int]]:
    """The sentences of a text that has been read to its end, without the last one if it may continue."""
    spans = list(split_chapters(text, chapters, offset))
    if not spans:
        return []
    start, end = spans[-1]
    limit = offset + len(text)
    closed = any(end <= edge < limit for item in chapters for edge in (item.start, item.end))
    if closed or is_finished(text, start - offset, end - offset, limit - offset):
        return spans
    return spans[:-1]

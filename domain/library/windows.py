"""Windows: the whole sentences around a sentence, at several distances.

Where they begin and end is the same for every question, so it is found once and kept with the layout.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise, repeat
from operator import sub

WIDTHS = tuple(1 << bits for bits in range(6, 12))
"""Widths, in words: 64 to 2,048."""

_CHUNK_BITS = 5
"""Windows are found for 2**5 sentences at a time: about as many as a search looks at in one place."""

Extents = tuple["array[int]", "array[int]"]
"""For each of some sentences: how many sentences before it its window begins, and how many from it on that ends."""


class Windows:
    """The windows of the sentences of a book, or of as much of it as has been read.

    `words` and `runs` are those of the layout; a window holds the whole sentences within a width around the middle of
    its sentence, and always that sentence itself, but none of another chapter. The first `settled` sentences have the
    same windows in `whole`. Safe for threads: two that find the same windows find the same.
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
        """The windows of a layout that has the first `kept` sentences of this one, and then others."""
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

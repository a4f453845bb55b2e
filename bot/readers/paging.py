"""Page numbers for books that have none: stretches of about 1,800 characters, cut where a reader would pause.

1,800 characters are the standard manuscript page (30 lines of 60 strokes, about 300 words) and close to a paperback's.
As in print, a chapter begins on a new page; within it the pages are of equal length, so no page is a mere remnant.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from domain.book import Page

PAGE_CHARACTERS = 1_800
MOST_PAGES = 20_000
"""More than this is no book: its pages are made anew."""
_SHORTEST_STRETCH = 300
_SLACK = 240
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？][”」』]*\s*")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")


def estimated_pages(text: str, chapter_starts: Iterable[int]) -> tuple[Page, ...]:
    """Pages that cover `text`, numbered from 1."""
    return pages_between([*_cuts(text, chapter_starts)], len(text))


def pages_between(starts: Sequence[int], end: int, labels: Sequence[str] = ()) -> tuple[Page, ...]:
    """Pages from the offsets they start at, in order; without `labels` they are numbered."""
    names = labels or [str(number) for number in range(1, len(starts) + 1)]
    ends = [*starts[1:], end]
    return tuple(
        Page(number, label, start, stop)
        for number, (label, start, stop) in enumerate(zip(names, starts, ends, strict=True), start=1)
    )


def _cuts(text: str, chapter_starts: Iterable[int]) -> Iterator[int]:
    start = 0
    for stretch_end in [*chapter_starts, len(text)]:
        if stretch_end - start >= _SHORTEST_STRETCH or stretch_end == len(text):
            yield from _equal_parts(text, start, stretch_end)
            start = stretch_end


def _equal_parts(text: str, start: int, end: int) -> Iterator[int]:
    if start == end and start:
        return
    yield start
    left = max(1, round((end - start) / PAGE_CHARACTERS))
    while left > 1:
        start = _pause_near(text, start + (end - start) // left, end)
        left -= 1
        if start >= end:
            return
        yield start


def _pause_near(text: str, wish: int, end: int) -> int:
    """The offset after the paragraph, sentence or word that ends nearest to `wish`."""
    low, high = wish - _SLACK, min(wish + _SLACK, end)
    for pause in (_PARAGRAPH_END, _SENTENCE_END):
        ends = [match.end() for match in pause.finditer(text, low, high)]
        if ends:
            return min(ends, key=lambda offset: abs(offset - wish))
    space = text.rfind(" ", low, high)
    return space + 1 if space >= low else wish

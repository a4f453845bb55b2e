"""Running heads and page numbers: the lines at the edge of a page that stand at the same place on many others."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from operator import attrgetter

from bot.readers.headings import parse_label
from bot.readers.pdf_document import PdfPage
from bot.readers.pdf_text import PdfLine

_EDGE_LINES = 2
_FEWEST = 3
_SAME_PLACE = 4.0
"""Points within which two lines are at the same height."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_ONLY_NUMBER = re.compile(r"\W*(?:\d+|[ivxlc]+)\W*", re.IGNORECASE)

_Place = tuple[str, int]


def without_running_lines(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages without what is printed on every one of them, or on those of a chapter."""
    places = [{line: _place(line) for line in _edge_lines(page.lines)} for page in pages]
    counts = Counter(place for page in places for place in set(page.values()))
    running = {place for place, times in counts.items() if times >= _FEWEST}
    return [
        _without(page, {line for line, place in edges.items() if place in running})
        for page, edges in zip(pages, places, strict=True)
    ]


def _without(page: PdfPage, left_out: Collection[PdfLine]) -> PdfPage:
    return replace(page, lines=tuple(line for line in page.lines if line not in left_out)) if left_out else page


def _edge_lines(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The topmost and the lowest lines; a PDF may well draw its page head last."""
    by_height = sorted(lines, key=attrgetter("top"))
    return by_height[:_EDGE_LINES] + by_height[_EDGE_LINES:][-_EDGE_LINES:]


def _place(line: PdfLine) -> _Place:
    """What is the same for all lines that run along with the pages.

    Numbers count on from page to page, except that of a chapter: its heading may open many pages at the same height,
    and only a page head repeats it word for word.
    """
    label = parse_label(line.text)
    if label and label.rank is not None:
        said = label.name if _ONLY_NUMBER.fullmatch(label.title) else line.text
    else:
        said = _NUMBER.sub("#", line.text)
    return " ".join(said.casefold().split()), round(line.top / _SAME_PLACE)

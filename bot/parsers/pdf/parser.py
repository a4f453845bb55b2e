"""PDF: physical pages with their labels, paragraphs made whole again, chapters by outline or by the size of type."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from bot.parsers.assembly import BookDraft, assemble
from bot.parsers.chapters import Heading
from bot.parsers.headings import parse_label
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.parsers.pdf.document import Bookmark, PdfPage, read_document
from bot.parsers.pdf.layout import PdfBlock, body_size, is_heading_size, lay_out
from bot.parsers.pdf.text import PdfLine
from bot.parsers.text_builder import TextBuilder
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from domain.library.numerals import number_value

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
    running = {place for place, times in counts.items() if times >= _FEWEST} - _numbers_of_chapters(places)
    return [
        _without(page, {line for line, place in edges.items() if place in running})
        for page, edges in zip(pages, places, strict=True)
    ]


def _numbers_of_chapters(pages: Sequence[Mapping[PdfLine, _Place]]) -> set[_Place]:
    """Places of lone numbers that count on by one while pages go by: those of chapters, not of pages."""
    seen: dict[_Place, list[tuple[int, int]]] = {}
    for index, lines in enumerate(pages):
        for line, place in lines.items():
            value = number_value(line.text) if place[0] == "#" else None
            if value is not None:
                seen.setdefault(place, []).append((index, value))
    return {
        place
        for place, numbers in seen.items()
        if sum(below[1] == above[1] + 1 and below[0] > above[0] + 1 for above, below in pairwise(numbers)) * 2
        >= len(numbers)
    }


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


FORMAT = "pdf"
_LONGEST_HEADING = 160
_FEWEST_LETTERS = 25
_MOST_BLOCKS_SEARCHED = 500
_FEW_PICTURES = 3
"""Covers and full-page plates are pictures in many books; fewer than these are not worth a warning."""


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read a PDF that has text in it.

    Raises:
        BookError: the file is locked, damaged, too long, or pictures of pages without text.
    """
    document = read_document(data, limits, report)
    pages = without_running_lines(document.pages)
    _refuse_pictures(pages)
    axis = TextBuilder(limits)
    body = body_size(pages)
    layout = lay_out(pages, body)
    starts = _add_blocks(layout.blocks, axis, body)
    for page_break in layout.trailing:
        axis.mark(page_break)
    axis.close()
    draft = BookDraft(
        FORMAT,
        axis.text,
        outlines=[[*_outlined(document.outline, layout.blocks, starts, axis)], axis.headings],
        page_marks=axis.page_marks,
        title=document.title,
        author=document.author,
        warnings=_warnings(pages),
    )
    return assemble(draft, filename, limits)


def _refuse_pictures(pages: Sequence[PdfPage]) -> None:
    if any(_letters(page) >= _FEWEST_LETTERS for page in pages):
        return
    if pictures := sum(page.is_picture for page in pages):
        raise BookError(
            BookErrorCode.NO_TEXT,
            f"{pictures} of the {len(pages)} pages of this PDF are pictures, and there is no text to read on any page. "
            "Please run it through text recognition (OCR) first, or add another edition.",
        )
    if not any(map(_letters, pages)):
        raise BookError(
            BookErrorCode.NO_TEXT,
            f"There is no text on any of the pages of this PDF ({len(pages):,}). Please add another edition.",
        )


def _letters(page: PdfPage) -> int:
    return sum(len(line.text) for line in page.lines)


def _warnings(pages: Sequence[PdfPage]) -> list[str]:
    pictures = [page.label for page in pages if page.is_picture]
    if len(pictures) < _FEW_PICTURES:
        return []
    shown = ", ".join(pictures[:5]) + (" …" if len(pictures) > 5 else "")
    return [
        f"{len(pictures)} of {len(pages)} pages are pictures without text (pages {shown}): "
        "what stands on them is unknown to me."
    ]


def _add_blocks(blocks: Sequence[PdfBlock], axis: TextBuilder, body: float) -> list[int]:
    """Add the blocks, those in larger type as headings; the offsets they stand at are returned."""
    sizes = sorted({_rounded(block.size) for block in blocks if _is_heading(block, body)}, reverse=True)
    levels = {size: level for level, size in enumerate(sizes, start=1)}
    return [
        axis.add(
            block.text,
            block.breaks,
            heading_level=levels[_rounded(block.size)] if _is_heading(block, body) else 0,
        )
        for block in blocks
    ]


def _is_heading(block: PdfBlock, body: float) -> bool:
    return is_heading_size(block.size, body) and len(block.text) <= _LONGEST_HEADING


def _rounded(size: float) -> float:
    return round(size, 1)


def _outlined(
    outline: Sequence[Bookmark], blocks: Sequence[PdfBlock], starts: Sequence[int], axis: TextBuilder
) -> Iterator[Heading]:
    """The outline's entries at the blocks they name or point to; entries that lead backwards are left out."""
    first_on_page: dict[int, int] = {}
    for number, block in enumerate(blocks):
        first_on_page.setdefault(block.page, number)
    ends = {heading.start: heading.end for heading in axis.headings}
    pages = [*first_on_page]
    last = -1
    for bookmark in outline:
        following = bisect_left(pages, bookmark.page)
        first = first_on_page[pages[following]] if following < len(pages) else None
        start = last if first is None else starts[_block_of(bookmark, blocks, first)]
        if start > last:
            last = start
            yield Heading(start, ends.get(start, start), bookmark.title, bookmark.depth)


def _block_of(bookmark: Bookmark, blocks: Sequence[PdfBlock], first: int) -> int:
    """The block of the page that says the bookmark's title, else the first one below the place it points to."""
    title = _letters_of(bookmark.title)
    page = blocks[first].page
    below = None
    for number in range(first, min(first + _MOST_BLOCKS_SEARCHED, len(blocks))):
        block = blocks[number]
        if block.page != page:
            break
        said = _letters_of(block.text[:_LONGEST_HEADING])
        if said and (title.startswith(said) or said.startswith(title) or _ends(title, said)):
            return number
        if below is None and bookmark.top is not None and block.top <= bookmark.top + block.size:
            below = number
    return first if below is None else below


def _ends(title: str, said: str) -> bool:
    """ "1. Dusk" may stand on the page as "Dusk"."""
    return title.endswith(said) and len(said) * 2 >= len(title)


def _letters_of(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()

"""PDF: physical pages with their labels, paragraphs made whole again, chapters by outline or by the size of type."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter

from bot.parsers.assembly import assemble
from bot.parsers.chapters import middle
from bot.parsers.draft import (
    DEFAULT_LIMITS,
    MARK,
    BookDraft,
    PageBreak,
    ReadingLimits,
    Report,
    TextBuilder,
    ignore_progress,
)
from bot.parsers.headings import Heading, parse_label
from bot.parsers.pdf.document import SPLIT, Bookmark, PdfLine, PdfPage, mend_words, read_document
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from domain.library.numerals import number_value

_INDENT = 0.5
_WIDE_GAP = 1.45
_OTHER_SIZE = 1.08
_HEADING_SIZE = 1.15
_HEADING_GAP = 1.8
_FULL_LINE = 0.82
_MARGIN_SHARE = 0.1
_SENTENCE_END = re.compile(r"[.!?:…。！？\"”’»][\"'”’»)\]」』]*$")
_LONGEST_CLOSE = 12
_HYPHENS = f"-\u2010\xad{SPLIT}"
_SOFT_HYPHENS = ("\u2010", "\xad")
_FEWEST_SOFT_HYPHENS = 3
_FIRST_WORD = re.compile(r"\S+\s*")


@dataclass(slots=True)
class PdfBlock:
    """A paragraph or a heading. `text` has a MARK for each of `breaks`; `top` and `size` are its first line's."""

    page: int
    top: float
    size: float
    text: str = ""
    breaks: list[PageBreak] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The measures of a page, in points: its left margin, the distance of its lines, and where short ones end."""

    left: float
    pitch: float
    short: float


@dataclass(slots=True)
class PageLayout:
    """Blocks in reading order, and the breaks of pages without text after the last of them."""

    blocks: list[PdfBlock] = field(default_factory=list)
    trailing: list[PageBreak] = field(default_factory=list)


def body_size(pages: Iterable[PdfPage]) -> float:
    """The height of the font most of the text is set in."""
    exact: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            exact[line.size] += len(line.text)
    sizes: Counter[float] = Counter()
    for size, characters in exact.items():
        sizes[round(size, 1)] += characters
    return sizes.most_common(1)[0][0] if sizes else 0.0


def is_heading_size(size: float, body: float) -> bool:
    """Whether type is larger than that of the text; without any measures nothing is."""
    return 0 < body * _HEADING_SIZE < size


def lay_out(pages: Sequence[PdfPage], body: float) -> PageLayout:
    """The paragraphs of the pages, joined over line and page ends, with words cut there mended.

    `body` is the height of the font most of the text is set in.
    """
    hyphens = _hyphens(pages)
    layout = PageLayout()
    pieces: list[list[str]] = []
    above: PdfLine | None = None
    for index, page in enumerate(pages):
        layout.trailing.append(PageBreak(page.label))
        frame = _frame(page.lines)
        for line in page.lines:
            starts_page = bool(layout.trailing)
            joint = _joint(above, line, frame, body, is_new_page=starts_page) if above else None
            if joint is None:
                layout.blocks.append(PdfBlock(index, line.top, line.size))
                pieces.append([MARK * len(layout.trailing) + line.text])
            else:
                _extend(pieces[-1], line.text, joint, MARK * len(layout.trailing), hyphens)
            if starts_page:
                layout.blocks[-1].breaks.extend(layout.trailing)
                layout.trailing.clear()
            above = line
    texts = mend_words(["".join(each) for each in pieces])
    for block, text in zip(layout.blocks, texts, strict=True):
        block.text = text
    return layout


def _frame(lines: Sequence[PdfLine]) -> _Frame:
    if not lines:
        return _Frame(0, 0, 0)
    edge = int(len(lines) * _MARGIN_SHARE)
    left = sorted([line.left for line in lines])[edge]
    right = sorted([line.right for line in lines])[-1 - edge]
    gaps = [gap for above, below in pairwise(lines) if (gap := above.top - below.top) > 0]
    return _Frame(left, middle(gaps) if gaps else lines[0].size, left + _FULL_LINE * (right - left))


def _joint(above: PdfLine, line: PdfLine, frame: _Frame, body: float, *, is_new_page: bool) -> str | None:
    """What joins a line to the one above: a space, a line feed, or None where a new block begins."""
    text, left, right, top, size = line
    if size > _OTHER_SIZE * above.size or above.size > _OTHER_SIZE * size:
        return None
    if is_heading_size(size, body):
        return None if is_new_page or above.top - top > _HEADING_GAP * size else " "
    is_short = above.right < frame.short
    indented = left > frame.left + _INDENT * size
    if is_new_page or top > above.top:
        return None if not text[0].islower() and (indented or (is_short and _ends_sentence(above))) else " "
    if above.top - top > _WIDE_GAP * frame.pitch:
        return None
    begins = indented and left > above.left + _INDENT * size
    if not is_short:
        return None if begins else " "
    return None if (begins and right >= frame.short) or _ends_sentence(above) else "\n"


def _ends_sentence(line: PdfLine) -> bool:
    return bool(_SENTENCE_END.search(line.text[-_LONGEST_CLOSE:]))


def _hyphens(pages: Iterable[PdfPage]) -> str:
    """The signs that cut words at line ends: where the book has one of its own for that, a hyphen is the author's."""
    softly = sum(line.text.endswith(_SOFT_HYPHENS) for page in pages for line in page.lines)
    return _HYPHENS[1:] if softly >= _FEWEST_SOFT_HYPHENS else _HYPHENS


def _extend(pieces: list[str], text: str, joint: str, marks: str, hyphens: str) -> None:
    """Add a line to the pieces of a block; a page that begins within a cut word begins after it."""
    last = pieces[-1]
    if last[-1] == "-" and "-" not in hyphens and last[-2:-1].isalpha():
        pieces.append(f"{marks}{text}")
    elif last[-1] in hyphens and text[0].islower() and last[-2:-1].isalpha():
        first = _FIRST_WORD.match(text)
        cut = first.end() if first and marks else 0
        pieces[-1] = last[:-1]
        pieces.append(f"{SPLIT}{text[:cut]}{marks}{text[cut:]}")
    else:
        pieces.append(f"{joint}{marks}{text}")


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
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a PDF that has text in it.

    Raises:
        BookError: the file is locked, damaged, too long, or pictures of pages without text.
    """
    document = read_document(data, limits, report)
    pages = without_running_lines(document.pages)
    _refuse_pictures(pages)
    builder = TextBuilder(limits)
    body = body_size(pages)
    layout = lay_out(pages, body)
    starts = _add_blocks(layout.blocks, builder, body)
    for page_break in layout.trailing:
        builder.mark(page_break)
    builder.close()
    draft = BookDraft(
        FORMAT,
        builder.text,
        outlines=[[*_outlined(document.outline, layout.blocks, starts, builder)], builder.headings],
        page_marks=builder.page_marks,
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


def _add_blocks(blocks: Sequence[PdfBlock], builder: TextBuilder, body: float) -> list[int]:
    """Add the blocks, those in larger type as headings; the offsets they stand at are returned."""
    sizes = sorted({_rounded(block.size) for block in blocks if _is_heading(block, body)}, reverse=True)
    levels = {size: level for level, size in enumerate(sizes, start=1)}
    return [
        builder.add(
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
    outline: Sequence[Bookmark], blocks: Sequence[PdfBlock], starts: Sequence[int], builder: TextBuilder
) -> Iterator[Heading]:
    """The outline's entries at the blocks they name or point to; entries that lead backwards are left out."""
    first_on_page: dict[int, int] = {}
    for number, block in enumerate(blocks):
        first_on_page.setdefault(block.page, number)
    ends = {heading.start: heading.end for heading in builder.headings}
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

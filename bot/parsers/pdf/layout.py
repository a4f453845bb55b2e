"""From lines on pages to paragraphs: running heads are dropped, and typesetting is undone."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from operator import attrgetter, sub

from bot.parsers.draft import MARK, PageBreak, middle
from bot.parsers.headings import parse_label
from bot.parsers.pdf.document import NOTE_GAP, PdfLine, PdfPage
from bot.parsers.text.parser import SPLIT, mend_words
from bot.parsers.titles import is_caption
from domain.library.numerals import number_value, roman

_INDENT = 0.5
_WIDE_GAP = 1.45
_WIDEST_PITCH = 2.5
"""From line to line in heights of the type: even in typescripts, the lines of a paragraph are no farther apart."""
_OTHER_SIZE = 1.08
_HEADING_SIZE = 1.15
_HEADING_GAP = 1.8
_FULL_LINE = 0.82
_FEWEST_OF_COLUMN = 4
_MARGIN_SHARE = 0.1
_PICTURE_GAP = 4.0
"""Heights of a line between two lines, from which on there may be a picture."""
_SENTENCE_END = re.compile(r"[.!?:…。！？\"”“’»«][\"'”“’»«)\]」』]*$")
_LONGEST_CLOSE = 12
_LONGEST_NOTE_MARK = 6
_HYPHENS = f"-\u2010\xad{SPLIT}"
_SOFT_HYPHENS = ("\u2010", "\xad")
_FEWEST_SOFT_HYPHENS = 3
_NOTE = re.compile(r"(?:\[\d{1,3}\]|\d{1,3}[.)]?|[*†‡§]{1,3})\s*[^\W\d_]")
_FIRST_WORD = re.compile(r"\S+\s*")


@dataclass(slots=True)
class PdfBlock:
    """A paragraph or a heading. `text` has a MARK for each of `breaks`; `top` and `size` are those of
    its first line, `is_inset` says that this begins beside the margin, and `is_bold` that all lines are.
    """

    page: int
    top: float
    size: float
    is_inset: bool = False
    is_bold: bool = False
    text: str = ""
    breaks: list[PageBreak] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The measures of a page in points: its left margin, the line distance, and where short lines end."""

    left: float
    pitch: float
    short: float


@dataclass(slots=True)
class PageLayout:
    """Blocks in reading order, and the page breaks after the last block."""

    blocks: list[PdfBlock] = field(default_factory=list)
    trailing: list[PageBreak] = field(default_factory=list)


def body_size(pages: Iterable[PdfPage]) -> float:
    """The height of the font of most of the text."""
    exact: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            exact[line.size] += len(line.text)
    sizes: Counter[float] = Counter()
    for size, characters in exact.items():
        sizes[round(size, 1)] += characters
    return sizes.most_common(1)[0][0] if sizes else 0.0


def is_heading_size(size: float, body: float) -> bool:
    """Whether type is larger than that of the text; False if there are no measures."""
    return 0 < body * _HEADING_SIZE < size


def lay_out(pages: Sequence[PdfPage], body: float) -> PageLayout:
    """The paragraphs of the pages, joined over line and page ends, with cut words mended.

    `body` is the height of the font of most of the text.
    """
    composer = _Composer(body, _hyphens(pages))
    for index, page in enumerate(_with_bold_that_stands_out(pages)):
        composer.add_page(index, page)
    return composer.close()


def _with_bold_that_stands_out(pages: Sequence[PdfPage]) -> Sequence[PdfPage]:
    """The pages, without the note that lines are bold where most of the text is."""
    lines = [line for page in pages for line in page.lines]
    in_bold = sum(len(line.text) for line in lines if line.is_bold)
    if not in_bold or in_bold * 2 <= sum(len(line.text) for line in lines):
        return pages
    return [replace(page, lines=tuple(line._replace(is_bold=False) for line in page.lines)) for page in pages]


class _Composer:
    """Puts lines together to blocks. A caption or a footnote is a block; within a paragraph it waits until that has
    ended.
    """

    def __init__(self, body: float, hyphens: str) -> None:
        self._body = body
        self._hyphens = hyphens
        self._layout = PageLayout()
        self._pieces: list[list[str]] = []
        self._waiting: list[tuple[int, PdfLine, list[str]]] = []
        self._above: PdfLine | None = None
        self._is_short = False
        self._caption: PdfLine | None = None

    def add_page(self, index: int, page: PdfPage) -> None:
        layout = self._layout
        layout.trailing.append(PageBreak(page.label))
        before: PdfLine | None = None
        for line, frame in _framed(page.lines):
            if self._add_to_caption(index, before, line, frame):
                before = line
                continue
            before = line
            starts_page = bool(layout.trailing)
            joint = self._joint(line, frame, starts_page=starts_page)
            if joint is None:
                self._end_captions()
                layout.blocks.append(PdfBlock(index, line.top, line.size, _is_inset(line, frame), line.is_bold))
                self._pieces.append([MARK * len(layout.trailing) + line.text])
            else:
                layout.blocks[-1].is_bold &= line.is_bold
                _extend(self._pieces[-1], line.text, joint, MARK * len(layout.trailing), self._hyphens)
            if starts_page:
                layout.blocks[-1].breaks.extend(layout.trailing)
                layout.trailing.clear()
            self._above, self._is_short = line, line.right < frame.short

    def close(self) -> PageLayout:
        """All blocks, with the words mended that line ends have cut."""
        self._end_captions()
        texts = mend_words(["".join(each) for each in self._pieces])
        for block, text in zip(self._layout.blocks, texts, strict=True):
            block.text = text.replace(f"]{NOTE_GAP}", "] ")
        return self._layout

    def _joint(self, line: PdfLine, frame: _Frame, *, starts_page: bool) -> str | None:
        above = self._above
        if above is None:
            return None
        if not self._waiting:
            return _joint(above, line, frame, self._body, is_short=self._is_short, is_new_page=starts_page)
        joint = _joint(above, line, frame, self._body, is_short=self._is_short, is_new_page=True)
        are_notes = all(_NOTE.match(first.text) for _, first, _ in self._waiting)
        return joint if are_notes or line.text[0].islower() or not _ends_sentence(above) else None

    def _add_to_caption(self, page: int, before: PdfLine | None, line: PdfLine, frame: _Frame) -> bool:
        """Whether a line of a page belongs to a caption; `before` is the line above it on the page."""
        last = self._caption
        is_note = _opens_note(before, line, frame, self._body)
        if last is not None and before is last and not is_note and _continues_caption(last, line, frame):
            _extend(self._waiting[-1][-1], line.text, " ", "", self._hyphens)
        elif self._above is not None and (is_note or _opens_caption(before, line, frame, self._body, self._above)):
            self._waiting.append((page, line, [line.text]))
        else:
            self._caption = None
            return False
        self._caption = line
        return True

    def _end_captions(self) -> None:
        for page, line, pieces in self._waiting:
            self._layout.blocks.append(PdfBlock(page, line.top, line.size))
            self._pieces.append(pieces)
        self._waiting.clear()


def _opens_note(before: PdfLine | None, line: PdfLine, frame: _Frame, body: float) -> bool:
    """Whether a footnote begins with a line: its number or sign stands in front, and that, or the line, is small, or
    the line is apart from the one above it.
    """
    if line.text[0] == "[" and f"]{NOTE_GAP}" in line.text[:_LONGEST_NOTE_MARK]:
        return True
    is_small = 0 < line.size * _OTHER_SIZE < body
    is_apart = before is not None and before.top - line.top > _WIDE_GAP * frame.pitch and line.text[0] in "*†‡§"
    return (is_small or is_apart) and _NOTE.match(line.text) is not None


def _opens_caption(before: PdfLine | None, line: PdfLine, frame: _Frame, body: float, above: PdfLine) -> bool:
    """Whether a caption begins with a line: it says so, or it is small or centred below a picture inside a sentence.

    `before` is the line above it on the page, `above` the last line of the text.
    """
    is_small = 0 < line.size * _OTHER_SIZE < body
    gap = before.top - line.top if before is not None else 0.0
    is_set_off = is_small or before is None or abs(gap) > _WIDE_GAP * frame.pitch
    if not is_set_off or is_caption(line.text):
        return is_set_off
    if gap < _PICTURE_GAP * frame.pitch or _ends_sentence(above):
        return False
    is_centred = line.left > frame.left + line.size and line.right < frame.short
    return is_small or (is_centred and not line.text[0].islower() and not is_heading_size(line.size, body))


def _continues_caption(last: PdfLine, line: PdfLine, frame: _Frame) -> bool:
    is_alike = line.size < _OTHER_SIZE * last.size and last.size < _OTHER_SIZE * line.size
    return is_alike and 0 <= last.top - line.top <= _WIDE_GAP * frame.pitch


def _framed(lines: Sequence[PdfLine]) -> Iterator[tuple[PdfLine, _Frame]]:
    """The lines of a page, each with the frame of its column."""
    starts = [0, *(at for at, pair in enumerate(pairwise(lines), start=1) if _opens_column(*pair)), len(lines)]
    page = _frame(lines)
    for start, end in pairwise(starts):
        is_column = _FEWEST_OF_COLUMN <= end - start < len(lines)
        frame = _frame(lines[start:end]) if is_column else page
        yield from ((line, frame) for line in lines[start:end])


def _opens_column(above: PdfLine, line: PdfLine) -> bool:
    return line.left >= above.right - line.size and line.top > above.top + _FEWEST_OF_COLUMN * line.size


def _frame(lines: Sequence[PdfLine]) -> _Frame:
    if not lines:
        return _Frame(0, 0, 0)
    edge = int(len(lines) * _MARGIN_SHARE)
    left = sorted([line.left for line in lines])[edge]
    right = sorted([line.right for line in lines])[-1 - edge]
    gaps = [gap for above, below in pairwise(lines) if (gap := above.top - below.top) > 0]
    return _Frame(left, middle(gaps) if gaps else lines[0].size, left + _FULL_LINE * (right - left))


def _joint(
    above: PdfLine, line: PdfLine, frame: _Frame, body: float, *, is_short: bool, is_new_page: bool
) -> str | None:
    """What joins a line to the one above: a space, a line feed, or None if a new block begins.

    `is_short` says that the line above ends before the margin of its column.
    """
    text, left, right, top, size, is_bold = line
    if size > _OTHER_SIZE * above.size or above.size > _OTHER_SIZE * size:
        return None
    if above.is_bold != is_bold and (is_short or _ends_sentence(above) or (is_new_page and not text[0].islower())):
        return None
    if is_heading_size(size, body):
        return None if is_new_page or above.top - top > _HEADING_GAP * size else " "
    indented = _is_inset(line, frame)
    if is_new_page or top > above.top:
        return None if not text[0].islower() and (indented or (is_short and _ends_sentence(above))) else " "
    if above.top - top > min(_WIDE_GAP * frame.pitch, _WIDEST_PITCH * (size or frame.pitch)):
        return None
    if is_bold and above.is_bold:
        return None if _ends_sentence(above) else " "  # a title of several lines
    begins = indented and left > above.left + _INDENT * size
    if not is_short:
        return None if begins else " "
    return None if (begins and right >= frame.short) or _ends_sentence(above) else "\n"


def _is_inset(line: PdfLine, frame: _Frame) -> bool:
    return line.left > frame.left + _INDENT * line.size


def _ends_sentence(line: PdfLine) -> bool:
    return bool(_SENTENCE_END.search(line.text[-_LONGEST_CLOSE:]))


def _hyphens(pages: Iterable[PdfPage]) -> str:
    """The signs that cut words at line ends: if the book has a special one, its hyphens are the author's."""
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
_FEWEST_PRINTED = 4
_SAME_PLACE = 4.0
"""Points within which two lines count as being at the same height."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_STAMPED = 2.0
"""How many times as large as the text a stamp across a page is at least; headings are seldom larger."""
_SET_APART = 1.5
"""How many times as far from the next line as other lines are a page's head stands at least."""
_ONLY_NUMBER = re.compile(r"\W*(?:\d+|[ivxlc]+)\W*", re.IGNORECASE)

_Place = tuple[str, int]


def without_running_lines(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages without lines that are printed on every page, or on every page of a chapter."""
    body = body_size(pages)
    pages = _without_stamps(pages, body)
    places = [{line: _place(line) for line in _edge_lines(page.lines)} for page in pages]
    counts = Counter(place for page in places for place in set(page.values()))
    running = {place for place, times in counts.items() if times >= _FEWEST}
    running -= _numbers_of_chapters(places) | _openings(places, body)
    heights = {height for _, height in running}
    heads = heights & {_height_of_heads(pages)}
    return [
        _without(
            page,
            {
                line
                for line, place in edges.items()
                if place in running
                or (place[1] in heights and _is_head_of(page, line))
                or (place[1] in heads and _is_topmost(page, line) and not is_heading_size(line.size, body))
            },
        )
        for page, edges in zip(pages, places, strict=True)
    ]


def _without_stamps(pages: Sequence[PdfPage], body: float) -> Sequence[PdfPage]:
    """The pages without what is printed across at least every second of them in very large type, such as "draft"."""
    large = [
        {line: (line.text, round(line.top / _SAME_PLACE)) for line in page.lines if line.size > _STAMPED * body}
        for page in pages
    ]
    counts = Counter(chain.from_iterable(set(each.values()) for each in large))
    often = [each for each, times in counts.items() if times >= max(_FEWEST, len(pages) / 2)]
    stamps = {(text, height) for text, height in often if not parse_label(text)}
    return [
        _without(page, {line for line, place in lines.items() if place in stamps})
        for page, lines in zip(pages, large, strict=True)
    ]


def _is_head_of(page: PdfPage, line: PdfLine) -> bool:
    """Whether a line begins or ends with the number of its page, above all the rest."""
    words = line.text.split()
    return _is_topmost(page, line) and len(line.text) <= _LONGEST_HEAD and page.label in (words[0], words[-1])


def _is_topmost(page: PdfPage, line: PdfLine) -> bool:
    return line.top >= max(each.top for each in page.lines)


def _height_of_heads(pages: Sequence[PdfPage]) -> int | None:
    """Where most pages begin, if they do with a line set apart from the text; such heads may name sections, and so
    change from page to page.
    """
    tops = [sorted({line.top for line in page.lines}, reverse=True) for page in pages]
    tops = [each for each in tops if len(each) > _EDGE_LINES]
    counts = Counter(round(each[0] / _SAME_PLACE) for each in tops)
    height, times = counts.most_common(1)[0] if counts else (None, 0)
    headed = [each for each in tops if round(each[0] / _SAME_PLACE) == height]
    apart = sum(each[0] - each[1] > _SET_APART * middle(map(sub, each[1:], each[2:])) for each in headed)
    return height if times * 2 > len(tops) and apart * 10 >= times * 8 else None


def _numbers_of_chapters(pages: Sequence[Mapping[PdfLine, _Place]]) -> set[_Place]:
    """Positions of lone numbers that increase by one over several pages: those of chapters, not of pages."""
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


def _openings(pages: Sequence[Mapping[PdfLine, _Place]], body: float) -> set[_Place]:
    """Positions of labels and large lines that are never on neighbouring or facing pages: "SCENE I", a narrator."""
    seen: defaultdict[_Place, list[int]] = defaultdict(list)
    for index, lines in enumerate(pages):
        for place in {lines[line] for line in lines if is_heading_size(line.size, body) or parse_label(lines[line][0])}:
            seen[place].append(index)
    return {place for place, at in seen.items() if all(below - above > 2 for above, below in pairwise(at))}


def _without(page: PdfPage, left_out: Collection[PdfLine]) -> PdfPage:
    return replace(page, lines=tuple(line for line in page.lines if line not in left_out)) if left_out else page


def _edge_lines(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """The topmost and the lowest lines of a page; a PDF may draw the page head last."""
    by_height = sorted(lines, key=attrgetter("top"))
    return by_height[:_EDGE_LINES] + by_height[_EDGE_LINES:][-_EDGE_LINES:]


def _place(line: PdfLine) -> _Place:
    """What the running lines of consecutive pages have in common, with numbers relative to the page.

    The number of a chapter is an exception: its heading may open many pages at the same height, and only a page head
    repeats it word for word.
    """
    text = _without_page_number(line.text)
    label = parse_label(text)
    if label and label.rank is not None:
        said = label.name if _ONLY_NUMBER.fullmatch(label.title) else text
    else:
        said = _NUMBER.sub("#", line.text)
    return " ".join(said.casefold().split()), round(line.top / _SAME_PLACE)


def _without_page_number(text: str) -> str:
    """The label of a chapter without the page's number before or behind it: "14 CHAPTER 2: FOG"."""
    for rest in (_NUMBER_IN_FRONT.sub("", text), _NUMBER_BEHIND.sub("", text)):
        if rest != text and (label := parse_label(rest)) and label.rank is not None:
            return rest
    return text


_NUMBER_IN_FRONT = re.compile(r"^\d{1,4}\s+")
_NUMBER_BEHIND = re.compile(r"\s+\d{1,4}$")
_FIRST_NUMBER = re.compile(r"\W{0,3}(\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})(?:\W{0,3}$|\s)")
_LAST_NUMBER = re.compile(r"\s(\d{1,4}|[ivxlc]{1,7}|[IVXLC]{1,7})\W{0,3}$")
_LONGEST_HEAD = 90

_Series = tuple[bool, int]
"""A series of page numbers: whether they are Roman, and what is to be added to a page's place to get its number."""


def with_printed_labels(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages with the numbers that are printed on them, if those are a series and most labels of the file differ.

    A file without labels of its own has the places of the pages for labels, which prove nothing.

    Numbers of pages count on with the pages; those of chapters, years and lines do not. A page without a number, such
    as a chapter's first, has the one that its neighbours leave for it.
    """
    numbers = [_printed_numbers(page, at) for at, page in enumerate(pages)]
    support = Counter(series for page in numbers for series in page)
    series = [max(page, key=lambda each: support[each], default=None) for page in numbers]
    series = [each if each is not None and support[each] >= _FEWEST_PRINTED else None for each in series]
    printed = [_label_in(each, at) if each else "" for at, each in enumerate(series)]
    known = [(label, page.label) for label, page in zip(printed, pages, strict=True) if label]
    contradicted = sum(label.casefold() != declared.casefold() for label, declared in known)
    has_own = any(page.label != str(at) for at, page in enumerate(pages, start=1))
    if len(known) * 3 < len(pages) or not contradicted or (has_own and contradicted * 2 <= len(known)):
        return list(pages)
    return [replace(page, label=label) for page, label in zip(pages, _filled(printed, series), strict=True)]


def _printed_numbers(page: PdfPage, at: int) -> dict[_Series, None]:
    """What may be the number of a page, at an end of one of its outer lines, as series it may belong to."""
    found: dict[_Series, None] = {}
    for line in _edge_lines(page.lines):
        if len(line.text) > _LONGEST_HEAD:
            continue
        for match in (_FIRST_NUMBER.match(line.text), _LAST_NUMBER.search(line.text)):
            if match and (value := number_value(match[1])) is not None:
                found[not match[1].isdecimal(), value - at] = None
    return found


def _label_in(series: _Series, at: int) -> str:
    is_roman, shift = series
    return roman(at + shift) if is_roman else str(at + shift)


def _filled(printed: Sequence[str], series: Sequence[_Series | None]) -> Iterator[str]:
    """A label for each page: a page without one has that of the series around it, if no other page has it."""
    following = [*series]
    for at in range(len(series) - 2, -1, -1):
        following[at] = following[at] or following[at + 1]
    taken = {label for label in printed if label}
    current: _Series | None = None
    last = ""
    for at, label in enumerate(printed):
        current = series[at] or current
        nearest = current or following[at]
        if not label:
            label = _label_in(nearest, at) if nearest and at + nearest[1] > 0 else roman(at + 1)
            if label in taken:  # a plate, or a page in front of the first
                label = f"{last or label}a"
            while label in taken:
                label += "a"
            taken.add(label)
        last = label
        yield label

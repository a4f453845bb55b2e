"""From lines on pages to paragraphs: what typesetters do with indents, short last lines and hyphens, undone."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bot.readers.axis import PageBreak
from bot.readers.cleaning import MARK
from bot.readers.measures import middle
from bot.readers.pdf_document import PdfLine, PdfPage

_SPLIT = "\ufffe"
"""Where a word is cut at the end of a line; PDFium's own sign for it."""
_INDENT = 0.5
_WIDE_GAP = 1.45
_OTHER_SIZE = 1.08
_HEADING_SIZE = 1.15
_HEADING_GAP = 1.8
_FULL_LINE = 0.82
_MARGIN_SHARE = 0.1
_SENTENCE_END = re.compile(r"[.!?:…。！？\"”’»][\"'”’»)\]」』]*$")
_FIRST_WORD = re.compile(r"\S+\s*")
_CUT_WORD = re.compile(rf"([^\W\d_]+){_SPLIT}(\w+)")
_STOPS = ",.;:!?"


@dataclass(slots=True)
class PdfBlock:
    """A paragraph or a heading. `text` has a MARK for each of `breaks`; `top` and `size` are its first line's."""

    page: int
    top: float
    size: float
    text: str
    breaks: list[PageBreak]


@dataclass(frozen=True, slots=True)
class _Frame:
    """The measures of a page, in points: its margins and the distance of its lines."""

    left: float
    right: float
    pitch: float


@dataclass(slots=True)
class Layout:
    """Blocks in reading order, and the breaks of pages without text after the last of them."""

    blocks: list[PdfBlock] = field(default_factory=list)
    trailing: list[PageBreak] = field(default_factory=list)


def body_size(pages: Iterable[PdfPage]) -> float:
    """The height of the font most of the text is set in."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def is_heading_size(size: float, body: float) -> bool:
    """Whether type is larger than that of the text; without any measures nothing is."""
    return 0 < body * _HEADING_SIZE < size


def lay_out(pages: Sequence[PdfPage], body: float) -> Layout:
    """The paragraphs of the pages, joined over line and page ends, with words cut there mended.

    `body` is the height of the font most of the text is set in.
    """
    layout = Layout()
    above: PdfLine | None = None
    for index, page in enumerate(pages):
        layout.trailing.append(PageBreak(page.label))
        frame = _frame(page.lines)
        for line in page.lines:
            starts_page = bool(layout.trailing)
            joint = _joint(above, line, frame, body, is_new_page=starts_page) if above else None
            if joint is None:
                text = MARK * len(layout.trailing) + line.text
                layout.blocks.append(PdfBlock(index, line.top, line.size, text, list(layout.trailing)))
            else:
                _extend(layout.blocks[-1], line.text, joint, layout.trailing)
            layout.trailing.clear()
            above = line
    _mend_words(layout.blocks)
    return layout


def _frame(lines: Sequence[PdfLine]) -> _Frame:
    if not lines:
        return _Frame(0, 0, 0)
    edge = int(len(lines) * _MARGIN_SHARE)
    gaps = [gap for above, below in pairwise(lines) if (gap := above.top - below.top) > 0]
    return _Frame(
        left=sorted(line.left for line in lines)[edge],
        right=sorted(line.right for line in lines)[-1 - edge],
        pitch=middle(gaps) if gaps else lines[0].size,
    )


def _joint(above: PdfLine, line: PdfLine, frame: _Frame, body: float, *, is_new_page: bool) -> str | None:
    """What joins a line to the one above: a space, a line feed, or None where a new block begins."""
    if max(above.size, line.size) > _OTHER_SIZE * min(above.size, line.size):
        return None
    if is_heading_size(line.size, body):
        return None if is_new_page or above.top - line.top > _HEADING_GAP * line.size else " "
    indented = line.left > frame.left + _INDENT * line.size
    ends_sentence = bool(_SENTENCE_END.search(above.text))
    if is_new_page or line.top > above.top:
        return None if not line.text[0].islower() and (indented or (ends_sentence and _is_short(above, frame))) else " "
    if above.top - line.top > _WIDE_GAP * frame.pitch:
        return None
    begins = indented and line.left > above.left + _INDENT * line.size
    if not _is_short(above, frame):
        return None if begins else " "
    return None if ends_sentence or (begins and not _is_short(line, frame)) else "\n"


def _is_short(line: PdfLine, frame: _Frame) -> bool:
    return line.right < frame.left + _FULL_LINE * (frame.right - frame.left)


def _extend(block: PdfBlock, text: str, joint: str, breaks: Sequence[PageBreak]) -> None:
    """Join a line to a block; a page that begins within a cut word begins after it."""
    marks = MARK * len(breaks)
    block.breaks.extend(breaks)
    if text[0].islower() and block.text[-1] == "-" and block.text[-2:-1].isalpha():
        first = _FIRST_WORD.match(text)
        cut = first.end() if first and marks else 0
        block.text = f"{block.text[:-1]}{_SPLIT}{text[:cut]}{marks}{text[cut:]}"
    else:
        block.text = f"{block.text}{joint}{marks}{text}"


def _mend_words(blocks: Sequence[PdfBlock]) -> None:
    """Join the words that were cut at the ends of lines, and keep the hyphens that are the author's."""
    cut = [block for block in blocks if _SPLIT in block.text]
    if not cut:
        return
    words = set(" ".join(block.text for block in blocks).lower().split())
    pairs = {match.groups() for block in cut for match in _CUT_WORD.finditer(block.text)}
    hyphened = _hyphened(pairs, words)

    def mended(word: re.Match[str]) -> str:
        return ("-" if word.groups() in hyphened else "").join(word.groups())

    for block in cut:
        block.text = _CUT_WORD.sub(mended, block.text).replace(_SPLIT, "-")


def _hyphened(pairs: set[tuple[str, ...]], words: Collection[str]) -> set[tuple[str, ...]]:
    """Which of the cut words have a hyphen of their own.

    How a word is written elsewhere in the book decides; where it is nowhere else, how most of the others are. Books
    whose typesetter never hyphenates break lines only at such hyphens.
    """

    def is_written(word: str) -> bool:
        return any(f"{word.lower()}{stop}" in words for stop in ("", *_STOPS))

    own = {pair for pair in pairs if not pair[1][0].islower() or is_written("-".join(pair))}
    joined = {pair for pair in pairs if is_written("".join(pair))} - own
    unknown = pairs - own - joined
    if len(own) == len(joined):
        return own | {pair for pair in unknown if all(map(is_written, pair))}
    return own | unknown if len(own) > len(joined) else own

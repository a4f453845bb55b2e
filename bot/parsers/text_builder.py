"""A book's text as it grows, block by block, with what stands where on it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.parsers.assembly import PageMark, check_length
from bot.parsers.chapters import Heading
from bot.parsers.cleaning import MARK, clean
from bot.parsers.limits import ReadingLimits

PARAGRAPH_GAP = "\n\n"
_LINE_END = re.compile(r"(?<![ \t])[ \t]+\n")
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place other documents point to."""

    name: str


@dataclass(frozen=True, slots=True)
class PageBreak:
    """Where a printed page begins."""

    label: str


class TextBuilder:
    """Paragraphs and headings, joined by blank lines, with the offsets of headings, page breaks and anchors.

    A block's text may hold `MARK`s, one for each of the marks given with it; they leave no trace in the text.
    """

    def __init__(self, limits: ReadingLimits) -> None:
        self.headings: list[Heading] = []
        self.page_marks: list[PageMark] = []
        self.anchors: dict[str, int] = {}
        self._limits = limits
        self._pieces: list[str] = []
        self._length = 0
        self._waiting: list[Anchor | PageBreak] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def length(self) -> int:
        return self._length

    def add(self, text: str, marks: Sequence[Anchor | PageBreak] = (), *, heading_level: int = 0) -> int:
        """Add a block, and return where it stands; marks without text wait for the next block."""
        block, offsets = _marked_block(text) if marks else (_tidy_lines(clean(text)).strip(), [])
        if not block:
            self._waiting.extend(marks)
            return self._length
        start = self._length + len(PARAGRAPH_GAP) if self._pieces else 0
        for mark in self._waiting:
            self._place(mark, start)
        self._waiting.clear()
        for mark, offset in zip(marks, offsets, strict=True):
            self._place(mark, start + offset)
        self._append(block)
        if heading_level:
            title = " ".join(block.split())
            self.headings.append(Heading(start, self._length, title, heading_level))
        return start

    def mark(self, mark: Anchor | PageBreak) -> None:
        """Mark the place where the next block will begin."""
        self._waiting.append(mark)

    def close(self) -> None:
        """Place what is still waiting at the end of the text."""
        for mark in self._waiting:
            self._place(mark, self._length)
        self._waiting.clear()

    def _append(self, block: str) -> None:
        if self._pieces:
            self._pieces.append(PARAGRAPH_GAP)
            self._length += len(PARAGRAPH_GAP)
        self._pieces.append(block)
        self._length += len(block)
        check_length(self._length, self._limits)

    def _place(self, mark: Anchor | PageBreak, offset: int) -> None:
        if isinstance(mark, PageBreak):
            self.page_marks.append(PageMark(offset, mark.label))
        else:
            self.anchors.setdefault(mark.name, offset)


def _marked_block(marked: str) -> tuple[str, list[int]]:
    """The text without marks, and without white space at its ends and line ends; and where each mark stood."""
    pieces = [clean(piece) for piece in marked.split(MARK)]
    text = _tidy_lines(pieces[0]).lstrip()
    offsets: list[int] = []
    for piece in pieces[1:]:
        offsets.append(len(text))
        tidy = _tidy_lines(piece)
        text += tidy.lstrip(" ") if not text or text[-1].isspace() else tidy
    length = len(text.rstrip())
    return text[:length], [min(offset, length) for offset in offsets]


def _tidy_lines(text: str) -> str:
    """It is asked first whether there is anything to do: most blocks are tidy."""
    if "\n" not in text:
        return text
    if " \n" in text or "\t\n" in text:
        text = _LINE_END.sub("\n", text)
    return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text

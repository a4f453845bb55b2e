"""Plain text as the blocks a reader sees: what stands between blank lines."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST_HEADING = 240
MOST_HEADING_LINES = 3
_LONGEST_BLOCK = 700
_MOST_LINES = 9
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v\u3000\xa0]*\n")
_BLANK_LINE_WITH_SPACES = re.compile(r"\n[ \t\r\f\v\u3000\xa0]+\n")
_START_OF_TEXT = 99


class Block(NamedTuple):
    """Lines without a blank one between them; `gap` counts the blank lines above.

    A tuple, since a novel has ten thousand of them and a frozen dataclass takes twice as long to make.
    """

    start: int
    end: int
    gap: int
    lines: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        """Whether it could be a heading: at most three lines and 240 characters."""
        return bool(self.lines) and len(self.lines) <= MOST_HEADING_LINES and self.end - self.start <= LONGEST_HEADING

    @property
    def text(self) -> str:
        return " ".join(self.lines)


def blocks_of(text: str) -> list[Block]:
    """All blocks; the lines of one too long to be a heading of many lines are left out.

    Where hardly a line is blank, each line is a block.
    """
    result: list[Block] = []
    end = 0
    for start, piece in _pieces(text):
        stripped = piece.strip()
        if not stripped:
            continue
        at = start + piece.index(stripped[0])
        gap = text.count("\n", end, at) - 1 if result else _START_OF_TEXT
        end = at + len(stripped)
        result.append(Block(at, end, gap, _heading_lines(stripped)))
    return result


def usual_gap(blocks: Sequence[Block]) -> int:
    """How many blank lines stand between ordinary paragraphs."""
    gaps = Counter(block.gap for block in blocks[1:])
    return max(gaps, key=lambda gap: (gaps[gap], -gap), default=1)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    if _BLANK_LINE_WITH_SPACES.search(text):
        yield from _between_blank_lines(text)
        return
    pieces, gap = text.split("\n\n"), 2
    if (len(pieces) - 1) * 50 < (lines := text.count("\n")) and lines > 20:
        pieces, gap = text.split("\n"), 1
    offset = 0
    for piece in pieces:
        yield offset, piece
        offset += len(piece) + gap


def _between_blank_lines(text: str) -> Iterator[tuple[int, str]]:
    offset = 0
    for blank in _BLANK_LINE.finditer(text):
        yield offset, text[offset : blank.start()]
        offset = blank.start() + 1
    yield offset, text[offset:]


def _heading_lines(block: str) -> tuple[str, ...]:
    if len(block) > _LONGEST_BLOCK:
        return ()
    lines = block.split("\n")
    return tuple(map(str.strip, lines)) if len(lines) <= _MOST_LINES else ()

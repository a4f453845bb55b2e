"""Markdown tables, which Discord does not know: columns in a code block, or a list where they would be too wide."""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from cogs.rendering.inline import fenceless, render_inline

WIDTH = 60
"""Columns of a code block that a desktop client shows without wrapping; a phone shows about 40 and scrolls."""

_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_PAIRED_MARKS = re.compile(r"(\*\*|~~|`|\*|\b_)(?=\S)(.+?)(?<=\S)(?:(?<=\w)_\b|\1)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_GAP = "  "


@dataclass(frozen=True, slots=True)
class Table:
    """`alignments` are "<", ">" or "^", one per column; rows may be of any length."""

    header: tuple[str, ...]
    alignments: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    line_count: int


def find_table(lines: Sequence[str], first: int) -> Table | None:
    """The table that begins at this line, if one does."""
    if first + 1 >= len(lines) or not all("|" in line for line in lines[first : first + 2]):
        return None
    header, marks = _cells(lines[first]), _cells(lines[first + 1])
    if len(header) != len(marks) or not _DELIMITER.fullmatch(lines[first + 1]):
        return None
    rows = []
    for line in lines[first + 2 :]:
        if not line.strip() or "|" not in line:
            break
        rows.append(_cells(line))
    return Table(header, tuple(map(_alignment, marks)), tuple(rows), 2 + len(rows))


def render_table(table: Table) -> list[str]:
    """The lines to show in its place."""
    plain = [[_plain(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(_width, column)) for column in zip_longest(*plain, fillvalue="")]
    if sum(widths) + len(_GAP) * (len(widths) - 1) > WIDTH:
        return _as_list(table)
    alignments = (*table.alignments, *("<" for _ in widths[len(table.alignments) :]))
    body = [_aligned(row, widths, alignments) for row in plain]
    rule = _GAP.join("─" * width for width in widths)
    return ["```", body[0], rule, *body[1:], "```"]


def _as_list(table: Table) -> list[str]:
    header = [render_inline(cell) for cell in table.header]
    if not table.rows:
        return [" · ".join(header)]
    lines = []
    for row in table.rows:
        first, *others = [render_inline(cell).replace("\n", " ") for cell in row]
        lines.append(f"- **{first.strip('*')}**" if first.strip("* ") else "- …")
        for name, cell in zip_longest(header[1:], others, fillvalue=""):
            if cell:
                lines.append(f"  - {name}: {cell}" if name else f"  - {cell}")
    return lines


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return tuple(cell.strip().replace("\\|", "|") for cell in _UNESCAPED_BAR.split(inner))


def _alignment(mark: str) -> str:
    if mark.startswith(":") and mark.endswith(":"):
        return "^"
    return ">" if mark.endswith(":") else "<"


def _plain(cell: str) -> str:
    """The cell without marks that a code block would show."""
    text = _LINK.sub(r"\1", _BREAK.sub("; ", cell))
    text = _PAIRED_MARKS.sub(r"\2", _PAIRED_MARKS.sub(r"\2", text))
    return fenceless(html.unescape(text))


def _aligned(row: Sequence[str], widths: Sequence[int], alignments: Sequence[str]) -> str:
    cells = zip_longest(row, widths, alignments, fillvalue="")
    return _GAP.join(_padded(str(cell), int(width), str(mark)) for cell, width, mark in cells).rstrip()


def _padded(cell: str, width: int, alignment: str) -> str:
    free = width - _width(cell)
    left = {"<": 0, ">": free, "^": free // 2}[alignment]
    return " " * left + cell + " " * (free - left)


def _width(text: str) -> int:
    """Columns in a monospaced font: East Asian wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )

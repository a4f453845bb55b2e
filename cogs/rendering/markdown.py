"""A model's Markdown turned into what Discord renders, block by block.

Nothing readable is lost. Code blocks stay as they are; tables become aligned columns or lists; headings deeper than
Discord's three become bold; `inline` handles links, mentions, HTML and LaTeX.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from cogs.rendering.inline import fenceless, inert, render_inline

WIDTH = 60
"""Columns of a code block that a desktop client shows without wrapping; a phone shows about 40 and scrolls."""

_DELIMITER = re.compile(r":?-+:?")
_LONGEST_CELL = 4 * WIDTH
"""Characters of a cell, including marks, that may fit into a code block."""
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
    """The table that begins at this line, if there is one."""
    if first + 1 >= len(lines) or not all("|" in line for line in lines[first : first + 2]):
        return None
    header, marks = _cells(lines[first]), _cells(lines[first + 1])
    if len(header) != len(marks) or not all(map(_DELIMITER.fullmatch, marks)):
        return None
    rows = []
    for line in lines[first + 2 :]:
        if not line.strip() or "|" not in line:
            break
        rows.append(_cells(line))
    return Table(header, tuple(map(_alignment, marks)), tuple(rows), 2 + len(rows))


def render_table(table: Table) -> list[str]:
    """The lines that replace it."""
    rows = (table.header, *table.rows)
    if any(len(row) > WIDTH or max(map(len, row), default=0) > _LONGEST_CELL for row in rows):
        return _as_list(table)
    plain = [[_plain(cell) for cell in row] for row in rows]
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
        for name, cell in zip_longest(header[1 : len(row)], others, fillvalue=""):
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
    """The cell without marks that a code block would show literally."""
    if cell.isalnum():
        return cell
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
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


RULE = "─" * 12
"""Replaces a horizontal rule."""

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>.*)")
_LANGUAGE = re.compile(r"[\w+\-.#]{1,30}")
_HEADING = re.compile(r"(?P<quote>[ >]*)(?P<marks>#{1,6})[ \t]+(?P<title>.*)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|<hr\s*/?>)")
_UNDERLINE = re.compile(r" {0,3}(?:={2,}|-{3,})[ \t]*")
_PLAIN_TEXT = re.compile(r" {0,3}(?![-*+#>|=`~]|\d+[.)] )\S.*")
_PLUS_BULLET = re.compile(r"(\s*)\+(?= )")
_NESTED_QUOTE = re.compile(r"\s*(?:>[ \t]?){2,}")
_MATH_LINES = 40
"""The longest displayed formula; the search for its end stops here."""
_MATH_OPENING = {"$$": "$$", "\\[": "\\]"}


def render(text: str) -> str:
    """The text as Discord should receive it, before it is split into messages."""
    lines = text.split("\n")
    rendered: list[str] = []
    at = 0
    while at < len(lines):
        taken, shown = _block(lines, at)
        rendered.extend(shown)
        at += taken
    return inert("\n".join(rendered))


def _block(lines: Sequence[str], at: int) -> tuple[int, list[str]]:
    """How many lines the block beginning here takes, and what replaces them."""
    if not lines[at].strip():
        return 1, [lines[at]]
    if (fence := _FENCE.fullmatch(lines[at])) is not None:
        return _code_block(lines, at, fence)
    if (closing := _MATH_OPENING.get(lines[at].strip()[:2])) is not None and (
        block := _math_block(lines, at, closing)
    ) is not None:
        return block
    if (table := find_table(lines, at)) is not None:
        return table.line_count, render_table(table)
    if _is_underlined(lines, at):
        marks = "#" if lines[at + 1].strip().startswith("=") else "##"
        return 2, [f"{marks} {render_inline(lines[at].strip())}"]
    return 1, [_line(lines[at])]


def _code_block(lines: Sequence[str], at: int, fence: re.Match[str]) -> tuple[int, list[str]]:
    """A code block in Discord's own fences; fences inside it are kept from ending it."""
    marks, indent = fence["marks"], fence["indent"]
    closing = re.compile(rf"[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*")
    language = _LANGUAGE.fullmatch(fence["info"].split(" ")[0])
    shown = [f"{indent}```{language[0] if language else ''}"]
    for number, line in enumerate(lines[at + 1 :], start=2):
        if closing.fullmatch(line):
            return number, [*shown, f"{indent}```"]
        shown.append(fenceless(line))
    return len(lines) - at, shown


def _math_block(lines: Sequence[str], at: int, closing: str) -> tuple[int, list[str]] | None:
    """Displayed LaTeX as a code block, or None if it never ends or is part of a sentence."""
    first = lines[at].strip()
    if first.endswith(closing) and len(first) > 4:
        return 1, ["```tex", fenceless(first[2:-2].strip()), "```"]
    for number, line in enumerate(lines[at + 1 : at + _MATH_LINES], start=2):
        if line.strip().endswith(closing):
            inner = [first[2:], *lines[at + 1 : at + number - 1], line.rstrip().removesuffix(closing)]
            return number, ["```tex", *(fenceless(each) for each in inner if each.strip()), "```"]
    return None


def _is_underlined(lines: Sequence[str], at: int) -> bool:
    """A paragraph of one line with a heading's underline beneath."""
    alone = at == 0 or not lines[at - 1].strip()
    followed = at + 1 < len(lines) and _UNDERLINE.fullmatch(lines[at + 1])
    return bool(alone and followed and _PLAIN_TEXT.fullmatch(lines[at]))


def _line(line: str) -> str:
    if _RULE.fullmatch(line):
        return RULE
    if (heading := _HEADING.fullmatch(line)) is not None:
        return _heading(heading)
    line = _PLUS_BULLET.sub(r"\1-", line, count=1) if _PLUS_BULLET.match(line) else line
    line = _NESTED_QUOTE.sub("> ", line, count=1) if _NESTED_QUOTE.match(line) else line
    return render_inline(line)


def _without_closing_marks(title: str) -> str:
    title = title.rstrip(" \t")
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if bare[-1:] in (" ", "\t") else title


def _heading(heading: re.Match[str]) -> str:
    title = render_inline(_without_closing_marks(heading["title"]))
    if len(heading["marks"]) <= 3:
        return f"{heading['quote']}{heading['marks']} {title}"
    bare = title.replace("**", "")
    return f"{heading['quote']}**{bare}**" if bare else heading["quote"]

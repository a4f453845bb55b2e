"""A model's Markdown turned into what Discord renders, block by block.

Nothing readable is lost. Code blocks stay as they are; tables become aligned columns or lists; headings deeper than
Discord's three become bold; `inline` handles links, mentions, HTML and LaTeX.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from cogs.rendering.inline import fenceless, inert, render_inline

WIDTH = 60
"""Columns of a code block that a desktop client shows without wrapping; a phone shows about 40 and scrolls."""

_DELIMITER = re.compile(r":?-+:?")
"""A cell of the line below the header, with its alignment: ":--", ":-:"."""
_DELIMITERS = re.compile(r"[\s|:-]+")
_LONGEST_CELL = 4 * WIDTH
"""Characters of a cell, including marks, that may fit into a code block."""
_UNESCAPED_BAR = re.compile(r"(?<!\\)\|")
_CELL_MARK = re.compile(r"[*~`_\[<&]")
"""A cell without any of these is shown as it is."""
_PAIRED_MARKS = re.compile(r"(\*\*|~~|`|\*|\b_)(?=\S)(.+?)(?<=\S)(?:(?<=\w)_\b|\1)")
"""**bold**, ~~struck~~, `code`, *italic* and _italic_, with no white space inside the marks."""
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
    if first + 1 >= len(lines) or "|" not in lines[first] or "|" not in lines[first + 1]:
        return None
    if _DELIMITERS.fullmatch(lines[first + 1]) is None:
        return None
    header, marks = _cells(lines[first]), _cells(lines[first + 1])
    if len(header) != len(marks) or not all(map(_DELIMITER.fullmatch, marks)):
        return None
    rows = []
    for number in range(first + 2, len(lines)):
        if "|" not in lines[number]:
            break
        rows.append(_cells(lines[number]))
    return Table(header, tuple(map(_alignment, marks)), tuple(rows), 2 + len(rows))


def render_table(table: Table) -> list[str]:
    """The lines that replace it."""
    rows = (table.header, *table.rows)
    if max(map(len, rows)) > WIDTH or any(len(cell) > _LONGEST_CELL for cell in chain.from_iterable(rows)):
        return _as_list(table)
    plain = [tuple(map(_plain, row)) for row in rows]
    sizes = [tuple(map(_width, row)) for row in plain]
    widths = _widest(sizes)
    if sum(widths) + len(_GAP) * (len(widths) - 1) > WIDTH:
        return _as_list(table)
    alignments = (*table.alignments, *("<" for _ in widths[len(table.alignments) :]))
    body = [_aligned(row, size, widths, alignments) for row, size in zip(plain, sizes, strict=True)]
    rule = _GAP.join("─" * width for width in widths)
    return ["```", body[0], rule, *body[1:], "```"]


def _inside(marked: re.Match[str]) -> str:
    return marked[2]


def _widest(sizes: Iterable[Sequence[int]]) -> list[int]:
    """The width of each column; rows may be of any length, and only the cells they have cost time."""
    widths: list[int] = []
    for row in set(sizes):
        widths += [0] * (len(row) - len(widths))
        widths[: len(row)] = map(max, widths, row)
    return widths


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
    if "\\" not in inner:
        return tuple(map(str.strip, inner.split("|")))
    return tuple(cell.strip().replace("\\|", "|") for cell in _UNESCAPED_BAR.split(inner))


def _alignment(mark: str) -> str:
    if mark.startswith(":") and mark.endswith(":"):
        return "^"
    return ">" if mark.endswith(":") else "<"


def _plain(cell: str) -> str:
    """The cell without marks that a code block would show literally."""
    if _CELL_MARK.search(cell) is None:
        return cell
    text = _BREAK.sub("; ", cell) if "<" in cell else cell
    text = _LINK.sub(r"\1", text) if "](" in text else text
    text, marked = _PAIRED_MARKS.subn(_inside, text)
    text = _PAIRED_MARKS.sub(_inside, text) if marked else text
    return fenceless(html.unescape(text))


def _aligned(row: Sequence[str], size: Sequence[int], widths: Sequence[int], alignments: Sequence[str]) -> str:
    shown = []
    for cell, taken, width, alignment in zip(row, size, widths, alignments, strict=False):
        free = width - taken
        left = 0 if alignment == "<" else free if alignment == ">" else free // 2
        shown.append(f"{' ' * left}{cell}{' ' * (free - left)}" if free else cell)
    return _GAP.join(shown).rstrip()


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
_PLUS_BULLET = re.compile(r"\A(\s*)\+(?= )")
_NESTED_QUOTE = re.compile(r"\A\s*(?:>[ \t]?){2,}")
_MATH_LINES = 40
"""The longest displayed formula; the search for its end stops here."""
_MATH_OPENING = {"$$": "$$", "\\[": "\\]"}


def render(text: str) -> str:
    """The text as Discord should receive it, before it is split into messages."""
    return inert("\n".join(_Blocks(text.split("\n")).rendered()))


class _Blocks:
    """The lines of a text, rendered block by block."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._math_ends: dict[str, int] = {}

    def rendered(self) -> list[str]:
        lines, rendered, at = self._lines, list[str](), 0
        while at < len(lines):
            taken, shown = self._block(at)
            rendered += shown
            at += taken
        return rendered

    def _block(self, at: int) -> tuple[int, Sequence[str]]:
        """How many lines the block beginning here takes, and what replaces them."""
        line = self._lines[at]
        bare = line.lstrip()
        if not bare:
            return 1, (line,)
        first = bare[0]
        if first in "`~" and (fence := _FENCE.fullmatch(line)) is not None:
            return self._code(at, fence)
        if first in "$\\" and (block := self._math(at)) is not None:
            return block
        if "|" in line and (table := find_table(self._lines, at)) is not None:
            return table.line_count, render_table(table)
        if self._is_underlined(at):
            marks = "#" if self._lines[at + 1].strip().startswith("=") else "##"
            return 2, (f"{marks} {render_inline(line.strip())}",)
        return 1, (_line(line, first),)

    def _code(self, at: int, fence: re.Match[str]) -> tuple[int, list[str]]:
        """A code block in Discord's own fences; fences inside it are kept from ending it."""
        marks, indent = fence["marks"], fence["indent"]
        language = _LANGUAGE.fullmatch(fence["info"].split(" ")[0])
        shown = [f"{indent}```{language[0] if language else ''}"]
        for number in range(at + 1, len(self._lines)):
            line = self._lines[number]
            if marks in line and not line.strip(" \t").strip(marks[0]):
                return number + 1 - at, [*shown, f"{indent}```"]
            shown.append(fenceless(line))
        return len(self._lines) - at, shown

    def _math(self, at: int) -> tuple[int, list[str]] | None:
        """Displayed LaTeX as a code block, or None if it never ends or is part of a sentence."""
        lines, first = self._lines, self._lines[at].strip()
        closing = _MATH_OPENING.get(first[:2])
        if closing is None:
            return None
        if first.endswith(closing) and len(first) > 4:
            return 1, ["```tex", fenceless(first[2:-2].strip()), "```"]
        end = self._end_of_math(at, closing)
        if end >= min(at + _MATH_LINES, len(lines)):
            return None
        inner = [first[2:], *lines[at + 1 : end], lines[end].rstrip().removesuffix(closing)]
        return end + 1 - at, ["```tex", *(fenceless(each) for each in inner if each.strip()), "```"]

    def _end_of_math(self, at: int, closing: str) -> int:
        """The next line that ends with the closing mark. Looked up once for all formulas before it."""
        if self._math_ends.get(closing, 0) <= at:
            after = range(at + 1, len(self._lines))
            ends = (number for number in after if self._lines[number].rstrip().endswith(closing))
            self._math_ends[closing] = next(ends, len(self._lines))
        return self._math_ends[closing]

    def _is_underlined(self, at: int) -> bool:
        """A paragraph of one line with a heading's underline beneath."""
        lines = self._lines
        if at + 1 == len(lines) or _UNDERLINE.fullmatch(lines[at + 1]) is None:
            return False
        return (at == 0 or not lines[at - 1].strip()) and _PLAIN_TEXT.fullmatch(lines[at]) is not None


def _line(line: str, first: str) -> str:
    """A line that is no part of a larger block; `first` is its first character that is not white space."""
    if first in "-*_<" and _RULE.fullmatch(line):
        return RULE
    if first in "#>" and (heading := _HEADING.fullmatch(line)) is not None:
        return _heading(heading)
    if first == "+" and "+ " in line:
        line = _PLUS_BULLET.sub(r"\1-", line)
    elif first == ">":
        line = _NESTED_QUOTE.sub("> ", line)
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

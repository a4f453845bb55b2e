"""RTF: paragraphs, headings by style or outline level, and notes after the paragraph that refers to them."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bot.parsers.assembly import assemble
from bot.parsers.draft import DEFAULT_LIMITS, BookDraft, ReadingLimits, Report, TextBuilder, ignore_progress
from bot.parsers.text.blocks import FEWEST_HEADINGS, StyledLine, styled_titles
from bot.parsers.titles import LONGEST_TITLE
from domain.book import BookText
from domain.errors import BookError, BookErrorCode

FORMAT = "rtf"
_SIGNATURE = b"{\\rtf"
_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<byte>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])"
    rb"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)|\\"
)
_CHARACTERS = {
    "line": "\n", "tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "softline": "\n",
}  # fmt: skip
_SIGNS = {"~": "\xa0", "_": "‑", "{": "{", "}": "}", "\\": "\\"}
_PARAGRAPH_ENDS = frozenset(["par", "sect", "page", "row"])
_CELL_ENDS = frozenset(["cell", "nestcell"])
_LEFT_OUT = frozenset(
    [
        "colortbl",
        "pict",
        "header",
        "headerl",
        "headerr",
        "headerf",
        "footer",
        "footerl",
        "footerr",
        "footerf",
        "themedata",
        "colorschememapping",
        "datastore",
        "latentstyles",
        "listtable",
        "listoverridetable",
        "rsidtbl",
        "generator",
        "xmlnstbl",
        "fldinst",
        "annotation",
        "atnid",
        "atnauthor",
        "atnref",
        "bkmkstart",
        "bkmkend",
        "listtext",
        "pntext",
        "pnseclvl",
        "nonshppict",
        "shprslt",
        "revtbl",
        "filetbl",
        "operator",
        "comment",
        "company",
        "doccomm",
        "category",
        "keywords",
        "subject",
        "manager",
        "xe",
        "tc",
        "txe",
        "rxe",
        "private1",
    ]
)
_SHELLS = {"shpinst": "shape", "do": "shape", "object": "object", "upr": "two versions"}
"""Groups that are left out, but for what is in them by `_KERNELS`."""
_KERNELS = {
    ("shape", "shptxt"): "text box",
    ("shape", "dptxbxtext"): "text box",
    ("object", "result"): "body",
    ("two versions", "ud"): "body",
}
_ASIDE = ("footnote", "text box")
_CODE_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437",
}  # fmt: skip
"""Code pages by a font's `fcharset`; others keep the document's own."""
_EMPHASIS = frozenset(["b", "i", "ul", "caps", "scaps", "fs"])
_SET_APART = ("qc", "qr")
_HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|titolo|заголовок)\s+([1-9])", re.IGNORECASE)
_DEEPEST_HEADING = 6
_MOST_OPEN_GROUPS = 10_000
_INTO_INFO = ("title", "author")


@dataclass(frozen=True, slots=True)
class _Group:
    """The state within a pair of braces. `goes_to` names the destination of its text: the body or something else."""

    goes_to: str = "body"
    code_page: str = ""
    skip: int = 1
    is_hidden: bool = False
    level: int = 0
    look: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Document:
    """What has been read: `fields` are the texts of styles, notes and properties, by destination."""

    builder: TextBuilder
    code_page: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict)
    styles: dict[int, int] = field(default_factory=dict)
    paragraph: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    note_count: int = 0
    lines: list[StyledLine] = field(default_factory=list)
    place: frozenset[str] = frozenset()
    look: frozenset[str] | None = None
    fields: dict[str, str] = field(default_factory=dict)


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read an RTF document.

    Raises:
        BookError: the file is damaged, has no text or is too long.
    """
    reader = _Reader(TextBuilder(limits))
    for share in reader.run(data[max(0, data.find(_SIGNATURE)) :]):
        report(share)
    document = reader.document
    document.builder.close()
    draft = BookDraft(
        FORMAT,
        document.builder.text,
        outlines=[document.builder.headings],
        styled=styled_titles(document.lines, document.builder.text)
        if len(document.builder.headings) < FEWEST_HEADINGS
        else (),
        title=document.fields.get("title", "").strip(),
        author=document.fields.get("author", "").strip(),
    )
    return assemble(draft, filename, limits)


class _Reader:
    """Processes the tokens once, with an explicit stack of groups."""

    def __init__(self, builder: TextBuilder) -> None:
        self.document = _Document(builder)
        self._group = _Group()
        self._stack: list[_Group] = []
        self._bytes = bytearray()
        self._to_skip = 0
        self._font = self._style = -1
        self._style_level = 0

    def run(self, data: bytes) -> Iterator[float]:
        """Read the document; yields the share 0..1 read so far."""
        at, tokens = 0, 0
        while token := _TOKEN.match(data, at):
            at = token.end()
            if token["word"]:
                at += self._skipped_binary(token)
            self._take(token)
            tokens += 1
            if tokens % 50_000 == 0:
                yield at / len(data)
        self._end_paragraph()

    def _skipped_binary(self, token: re.Match[bytes]) -> int:
        """Skip the bytes of a picture, which are no tokens."""
        return max(0, int(token["number"] or 0)) if token["word"] == b"bin" else 0

    def _take(self, token: re.Match[bytes]) -> None:
        if byte := token["byte"]:
            if self._to_skip:
                self._to_skip -= 1
            else:
                self._bytes.append(int(byte, 16))
        elif text := token["text"]:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            self._bytes += text[skipped:]
        elif token["brace"] or token["word"] or token["sign"]:
            self._flush_bytes()
            self._to_skip = 0
            if word := token["word"]:
                self._control(word.decode(), int(token["number"]) if token["number"] else None)
            elif token["brace"] == b"{":
                self._open()
            elif token["brace"]:
                self._close()
            else:
                self._sign(token["sign"].decode("latin-1"))

    def _open(self) -> None:
        if len(self._stack) >= _MOST_OPEN_GROUPS:
            raise _damaged()
        self._stack.append(self._group)

    def _close(self) -> None:
        closed = self._group
        if self._stack:
            self._group = self._stack.pop()
        if closed.goes_to == self._group.goes_to:
            return
        if closed.goes_to in _ASIDE and self._group.goes_to not in _ASIDE:
            note = " ".join(self.document.fields.pop(closed.goes_to, "").split())
            mark = f"[{self.document.note_count}] " if closed.goes_to == "footnote" else ""
            self.document.notes.append(f"{mark}{note}")
        elif closed.goes_to == "style" and (name := _HEADING_STYLE.search(self.document.fields.pop("style", ""))):
            self.document.styles[self._style] = min(int(name[1]), _DEEPEST_HEADING)

    def _control(self, word: str, number: int | None) -> None:
        document, group = self.document, self._group
        if destination := self._destination(word):
            self._enter(destination)
        elif group.goes_to in ("fonttbl", "stylesheet", "style"):
            self._define(word, number)
        elif word in _CHARACTERS:
            self._say(_CHARACTERS[word])
        elif word == "u" and number is not None:
            self._say(chr(number % 0x10000))
            self._to_skip = group.skip
        elif word == "uc" and number is not None:
            self._group = replace(group, skip=min(max(0, number), 8))
        elif word == "ansicpg" and number:
            document.code_page = _known(f"cp{number}") or document.code_page
        elif word == "f" and number is not None:
            self._group = replace(group, code_page=document.fonts.get(number, ""))
        elif word == "plain":
            self._group = replace(group, code_page="", is_hidden=False, look=frozenset())
        elif word in ("v", "deleted"):
            self._group = replace(group, is_hidden=number != 0)
        elif group.goes_to in _ASIDE and word in _PARAGRAPH_ENDS | _CELL_ENDS:
            self._say(" ")
        elif group.goes_to == "body":
            self._lay_out(word, number)

    def _destination(self, word: str) -> str:
        """Where a word sends the text of its group; empty if it is no such word."""
        goes_to = self._group.goes_to
        if word in _LEFT_OUT:
            return "nothing"
        if word in _SHELLS and goes_to in ("body", "unknown"):
            return _SHELLS[word]
        if word in ("fonttbl", "stylesheet", "info", "footnote") or (goes_to == "info" and word in _INTO_INFO):
            return word
        return _KERNELS.get((goes_to, word), "")

    def _enter(self, destination: str) -> None:
        if destination == "footnote":
            self.document.note_count += 1
            self._say(f"[{self.document.note_count}]")
        self._group = replace(self._group, goes_to=destination)

    def _define(self, word: str, number: int | None) -> None:
        """Record a font or a style, within its table."""
        if word == "f" and self._group.goes_to == "fonttbl":
            self._font = -1 if number is None else number
        elif word == "fcharset" and number in _CODE_PAGES:
            self.document.fonts[self._font] = _CODE_PAGES[number]
        elif word == "s" and number is not None:
            self._style = number
            self._group = replace(self._group, goes_to="style")
        elif word == "outlinelevel" and number is not None and 0 <= number < _DEEPEST_HEADING:
            self.document.styles[self._style] = number + 1

    def _lay_out(self, word: str, number: int | None) -> None:
        if word in _PARAGRAPH_ENDS:
            self._end_paragraph()
        elif word in _EMPHASIS:
            others = frozenset(each for each in self._group.look if each.split()[0] != word)
            self._group = replace(self._group, look=others if number == 0 else others | {f"{word} {number}"})
        elif word in _CELL_ENDS:
            self.document.cells.append("".join(self.document.paragraph))
            self.document.paragraph.clear()
        elif word == "pard":
            self._style_level, self.document.place = 0, frozenset()
        elif word in _SET_APART:
            self.document.place = frozenset([word])
        elif word == "s" and number is not None:
            self._style_level = self.document.styles.get(number, 0)
        elif word == "outlinelevel" and number is not None:
            self._style_level = number + 1 if 0 <= number < _DEEPEST_HEADING else 0

    def _sign(self, sign: str) -> None:
        if sign == "*" and self._group.goes_to == "body":
            self._group = replace(self._group, goes_to="unknown")
        elif sign in "\r\n":
            self._end_paragraph()
        else:
            self._say(_SIGNS.get(sign, ""))

    def _flush_bytes(self) -> None:
        if self._bytes:
            self._say(self._bytes.decode(self._group.code_page or self.document.code_page, "replace"))
            self._bytes.clear()

    def _say(self, text: str) -> None:
        goes_to = self._group.goes_to
        if goes_to == "body" and not self._group.is_hidden:
            self.document.paragraph.append(text)
            if not text.isspace():
                look = self.document.look
                self.document.look = self._group.look if look is None else look & self._group.look
        elif goes_to in (*_ASIDE, "style", *_INTO_INFO) and not (goes_to in _ASIDE and self._group.is_hidden):
            self.document.fields[goes_to] = self.document.fields.get(goes_to, "")[:100_000] + text

    def _end_paragraph(self) -> None:
        self._flush_bytes()
        document = self.document
        last = "".join(document.paragraph)
        text = " | ".join(filter(str.strip, [*document.cells, last]))
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs come as two characters
        document.builder.add(text, heading_level=self._style_level)
        if line := " ".join(text[: 2 * LONGEST_TITLE].split()):
            look = document.place | (document.look or frozenset())
            document.lines.append(StyledLine(line if len(line) <= LONGEST_TITLE else "", look, bool(look)))
        document.look = None
        for note in document.notes:
            document.builder.add(note)
        document.paragraph.clear()
        document.cells.clear()
        document.notes.clear()


def _known(code_page: str) -> str:
    try:
        return codecs.lookup(code_page).name
    except LookupError:
        return ""


def _damaged() -> BookError:
    return BookError(
        BookErrorCode.PARSE_FAILED,
        "This RTF file is damaged: its text cannot be read. Please save it again as DOCX and add that.",
    )

"""DOCX: paragraphs, headings by style, tables row by row, and notes after the paragraph that refers to them."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from bot.parsers.archive import Archive, attribute, children, descendants, local_name, parse_xml, text_of, xml_text
from bot.parsers.assembly import assemble
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
from bot.parsers.text.blocks import FEWEST_HEADINGS, StyledLine, styled_titles
from bot.parsers.titles import LONGEST_TITLE
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from domain.library.numerals import roman

_NOTE_MARKS = ("separator", "continuationSeparator", "continuationNotice")
_NOTE_GAPS = ("p", "br", "cr", "tab", "ptab")
_DEEPEST = 6
_MOST_ANCESTORS = 50
_PLACE = re.compile(r"%([1-9])")
"""The number of that level in the label of a list: "%1.%2"."""
_LONGEST_LABEL = 40
_MOST_ROMAN = 400
_LETTERS = 26
_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Style:
    """The meaning of a paragraph style: a heading's level (0: none), the title, or a line of the contents.

    `numbering` is the list by which headings are numbered, and the level in it.
    """

    level: int = 0
    is_title: bool = False
    is_contents: bool = False
    numbering: tuple[str, int] = ("", 0)


@dataclass(frozen=True, slots=True)
class Properties:
    title: str = ""
    author: str = ""
    language: str = ""


def read_styles(part: bytes | None) -> dict[str, Style]:
    """Paragraph styles by id; a damaged part counts as missing."""
    found = {attribute(style, "styleId"): style for style in _elements(part, "style")}
    names = {identity: _value(style, "name").lower() for identity, style in found.items()}
    parents = {identity: _value(style, "basedOn") for identity, style in found.items()}
    levels = {identity: _own_level(names[identity], style) for identity, style in found.items()}
    return {
        identity: Style(
            level=_inherited_level(identity, levels, parents),
            is_title=name == "title",
            is_contents=name.startswith(("toc ", "table of figures")),
            numbering=_numbering_of(found[identity]),
        )
        for identity, name in names.items()
    }


def _numbering_of(style: Element) -> tuple[str, int]:
    numbering = next(descendants(style, "numPr"), None)
    return ("", 0) if numbering is None else (_value(numbering, "numId"), _number(_value(numbering, "ilvl")))


def _number(value: str, otherwise: int = 0) -> int:
    return int(value) if value.isdecimal() and len(value) <= _MOST_DIGITS else otherwise


class Numbering:
    """The numbers that Word prints before headings and does not store with their text: "Chapter 1", "2.1"."""

    def __init__(self, part: bytes | None) -> None:
        lists = {attribute(each, "abstractNumId"): _levels(each) for each in _elements(part, "abstractNum")}
        named = ((attribute(each, "numId"), _value(each, "abstractNumId")) for each in _elements(part, "num"))
        self._lists = {identity: (name, lists[name]) for identity, name in named if name in lists}
        self._counts: dict[str, dict[int, int]] = {}

    def next(self, identity: str, level: int) -> str:
        """The number of the next heading of a list on that level; empty if the list has none."""
        name, levels = self._lists.get(identity, ("", {}))
        if (own := levels.get(level)) is None:
            return ""
        counts = {at: count for at, count in self._counts.get(name, {}).items() if at <= level}
        counts[level] = counts[level] + 1 if level in counts else _number(_value(own, "start"), 1)
        self._counts[name] = counts

        def said(place: re.Match[str]) -> str:
            outer = int(place[1]) - 1
            kind = _value(levels[outer], "numFmt") if outer in levels else ""
            return _ordinal(counts.get(outer, 1), kind)

        return "" if _value(own, "numFmt") == "bullet" else _PLACE.sub(said, _value(own, "lvlText")[:_LONGEST_LABEL])


def _levels(numbering: Element) -> dict[int, Element]:
    """The levels of a list; Word has nine."""
    found = {attribute(each, "ilvl"): each for each in children(numbering, "lvl")}
    return {int(level): each for level, each in found.items() if len(level) == 1 and level.isdecimal()}


def _ordinal(number: int, kind: str) -> str:
    shown = str(number)
    if kind in ("upperRoman", "lowerRoman") and number < _MOST_ROMAN:
        shown = roman(number)
    elif kind in ("upperLetter", "lowerLetter") and 0 < number <= _LETTERS:
        shown = chr(ord("a") + number - 1)
    return shown.upper() if kind.startswith("upper") else shown


def outline_level(value: str) -> int:
    """The heading level for an outline level, which Word counts from 0, with 9 for body text."""
    level = _number(value, _DEEPEST)
    return level + 1 if level < _DEEPEST else 0


def read_notes(part: bytes | None, kind: str) -> dict[str, str]:
    """Footnotes or endnotes (`kind` is "footnote" or "endnote") by id."""
    return {
        attribute(note, "id"): _note_text(note)
        for note in _elements(part, kind)
        if attribute(note, "type") not in _NOTE_MARKS
    }


def _note_text(note: Element) -> str:
    """The text of a note, on one line, without what has been deleted."""
    said: list[str] = []
    waiting = [note]
    while waiting:
        element = waiting.pop()
        name = local_name(element)
        if name == "t":
            said.append(element.text or "")
        elif name in _NOTE_GAPS:
            said.append(" ")
        if name not in _UNSEEN:
            waiting.extend(reversed(element))
    return " ".join("".join(said).split())


def read_properties(part: bytes | None) -> Properties:
    """Title, author and language as the document declares them."""
    declared = {
        name: text_of(element) for name in ("title", "creator", "language") for element in _elements(part, name)
    }
    return Properties(declared.get("title", ""), declared.get("creator", ""), declared.get("language", ""))


def _elements(part: bytes | None, name: str) -> list[Element]:
    if part is None:
        return []
    try:
        return list(descendants(parse_xml(part), name))
    except ValueError:
        return []


def _value(style: Element, name: str) -> str:
    return next((attribute(child, "val") for child in children(style, name)), "")


def _own_level(name: str, style: Element) -> int:
    if name.startswith("heading ") and (level := _number(name[8:])):
        return min(level, _DEEPEST)
    return next((outline_level(attribute(level, "val")) for level in descendants(style, "outlineLvl")), 0)


def _inherited_level(identity: str, levels: Mapping[str, int], parents: Mapping[str, str]) -> int:
    """The level that a style inherits; inheritance may form a cycle, or a chain of thousands."""
    for _ in range(_MOST_ANCESTORS):
        if identity not in levels or levels[identity]:
            break
        identity = parents[identity]
    return levels.get(identity, 0)


_UNSEEN = frozenset(["del", "moveFrom", "rt"])
_LONGEST_DROP_CAP = 8
_LONGEST_CONTENTS_LINE = 300
_CHARACTERS = {"tab": " ", "ptab": " ", "cr": "\n", "noBreakHyphen": "-"}
_NO = ("0", "false", "off", "none")
_CELL_GAP = " | "
_BODY_TEXT = Style()
_SET_APART = frozenset(["center", "right", "end"])
_EMPHASIS = frozenset(["b", "i", "u", "caps", "smallCaps", "sz"])
_OPENS_PAGE = ("opens a page",)


@dataclass(slots=True)
class _Paragraph:
    pieces: list[str] = field(default_factory=list)
    breaks: list[PageBreak] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    style: Style = _BODY_TEXT
    level: int = 0
    in_hidden_run: bool = False
    is_drop_cap: bool = False
    style_id: str = ""
    marks: set[str] = field(default_factory=set)
    run: set[str] = field(default_factory=set)
    every_run: set[str] | None = None
    numbering: tuple[str, int] | None = None

    def look(self) -> frozenset[str]:
        """What all of its text has in common: its place, and the marks of all its runs."""
        return frozenset(self.marks | (self.every_run or set()))


class DocxBody:
    """Takes elements in document order and adds their text.

    `breaks_at_layout` means that the document records its page breaks of Word's last layout; otherwise only manual
    breaks are known.
    """

    def __init__(
        self,
        builder: TextBuilder,
        styles: Mapping[str, Style],
        notes: Mapping[str, str],
        numbering: Numbering,
        *,
        breaks_at_layout: bool,
    ) -> None:
        self.title = ""
        self.pages = 1
        self.lines: list[StyledLine] = []
        self._builder = builder
        self._styles = styles
        self._notes = notes
        self._numbering = numbering
        self._breaks_at_layout = breaks_at_layout
        self._note_count = 0
        self._unseen = 0
        self._paragraphs: list[_Paragraph] = []
        self._rows: list[list[list[str]]] = []
        self._drop_cap = ""
        self._texts = 0
        self._alternatives: list[int] = []
        self._opens_page = False
        builder.mark(PageBreak("1"))

    def start(self, element: Element) -> None:
        name = local_name(element)
        if self._unseen or name in _UNSEEN or (name == "Fallback" and self._is_told()):
            self._unseen += 1
        elif name == "AlternateContent":
            self._alternatives.append(self._texts)
        elif name == "p":
            self._paragraphs.append(_Paragraph())
        elif name == "tr":
            self._rows.append([])
        elif name == "tc" and self._rows:
            self._rows[-1].append([])

    def end(self, element: Element) -> None:
        name = local_name(element)
        if self._unseen:
            self._unseen -= 1
        elif name == "AlternateContent" and self._alternatives:
            self._alternatives.pop()
        elif name == "tr" and self._rows:
            self._end_row(self._rows.pop())
        elif self._paragraphs:
            if name == "p":
                self._end_paragraph(self._paragraphs.pop())
                element.clear()
            else:
                self._end_within(self._paragraphs[-1], name, element)

    def close(self) -> None:
        """Add what waits for a paragraph that does not come."""
        self._builder.add(self._drop_cap)
        self._drop_cap = ""

    def _is_told(self) -> bool:
        """Whether an alternative has given the text that its fallback repeats."""
        return bool(self._alternatives) and self._texts > self._alternatives[-1]

    def _end_within(self, paragraph: _Paragraph, name: str, element: Element) -> None:
        if name == "t":
            if not paragraph.in_hidden_run:
                paragraph.pieces.append((element.text or "").replace(MARK, ""))
                paragraph.every_run = paragraph.run & (paragraph.every_run or paragraph.run)
                self._texts += 1
        elif name in _CHARACTERS:
            paragraph.pieces.append(_CHARACTERS[name])
        elif name == "br":
            self._end_break(paragraph, attribute(element, "type"))
        elif name == "lastRenderedPageBreak" and self._breaks_at_layout:
            self._break_page(paragraph)
        elif name == "framePr":
            paragraph.is_drop_cap = attribute(element, "dropCap") in ("drop", "margin")
        elif name in ("footnoteReference", "endnoteReference"):
            self._refer_to_note(paragraph, name.removesuffix("Reference"), attribute(element, "id"))
        else:
            self._format(paragraph, name, attribute(element, "val"))

    def _format(self, paragraph: _Paragraph, name: str, value: str) -> None:
        if name == "pStyle":
            paragraph.style = self._styles.get(value, _BODY_TEXT)
            paragraph.marks.add(f"style {value}")
        elif name == "jc":
            paragraph.marks |= {value} & _SET_APART
        elif name in _EMPHASIS and value not in _NO:
            paragraph.run.add(f"{name} {value}")
        elif name == "outlineLvl":
            paragraph.level = outline_level(value)
        elif name == "ilvl":
            paragraph.numbering = ("", _number(value))
        elif name == "numId":
            paragraph.numbering = (value, paragraph.numbering[1] if paragraph.numbering else 0)
        elif name == "vanish":
            paragraph.in_hidden_run = value not in _NO
        elif name in ("r", "pPr"):
            paragraph.in_hidden_run = False
            paragraph.run.clear()
        elif name == "pageBreakBefore" and value not in _NO:
            self._break_by_hand(paragraph)

    def _end_break(self, paragraph: _Paragraph, kind: str) -> None:
        if kind != "page":
            paragraph.pieces.append("\n")
        else:
            self._break_by_hand(paragraph)

    def _break_by_hand(self, paragraph: _Paragraph) -> None:
        self._opens_page = True
        if not self._breaks_at_layout:
            self._break_page(paragraph)

    def _break_page(self, paragraph: _Paragraph) -> None:
        self.pages += 1
        paragraph.pieces.append(MARK)
        paragraph.breaks.append(PageBreak(str(self.pages)))

    def _refer_to_note(self, paragraph: _Paragraph, kind: str, identity: str) -> None:
        if note := self._notes.get(f"{kind} {identity}"):
            self._note_count += 1
            paragraph.pieces.append(f"[{self._note_count}]")
            paragraph.notes.append(f"[{self._note_count}] {note}")

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = self._drop_cap + "".join(paragraph.pieces)
        self._drop_cap = text.strip() if paragraph.is_drop_cap and len(text) <= _LONGEST_DROP_CAP else ""
        if self._drop_cap:
            self._mark_breaks(paragraph)
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(" ".join(text.replace(MARK, "").split()))
            self._mark_breaks(paragraph)
        elif paragraph.style.is_contents and len(text) <= _LONGEST_CONTENTS_LINE:
            self._mark_breaks(paragraph)
        else:
            if paragraph.style.is_title:
                self.title = self.title or " ".join(text.replace(MARK, "").split())
            self._note_line(text, paragraph)
            level = paragraph.level or paragraph.style.level
            if level and (number := self._numbering.next(*(paragraph.numbering or paragraph.style.numbering))):
                text = f"{number} {text}"
            self._builder.add(text, paragraph.breaks, heading_level=level)
        for note in paragraph.notes:
            self._builder.add(note)

    def _note_line(self, text: str, paragraph: _Paragraph) -> None:
        """Note what a line looks like. Plain ones that open a page look alike, too."""
        if line := " ".join(text[: 2 * LONGEST_TITLE].replace(MARK, "").split()):
            look = paragraph.look() or frozenset(_OPENS_PAGE if self._opens_page else ())
            self.lines.append(StyledLine(line if len(line) <= LONGEST_TITLE else "", look, bool(look)))
            self._opens_page = False

    def _mark_breaks(self, paragraph: _Paragraph) -> None:
        for page_break in paragraph.breaks:
            self._builder.mark(page_break)

    def _end_row(self, cells: list[list[str]]) -> None:
        texts = [" ".join(filter(None, cell)) for cell in cells]
        row = _CELL_GAP.join(filter(None, texts))
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(row)
        elif len(cells) == 1:
            for paragraph in cells[0]:
                self._builder.add(paragraph)
        else:
            self._builder.add(row)


FORMAT = "docx"
DOCUMENT = "word/document.xml"
_CHUNK = 2**18
_LONGEST_PAGE_BY_HAND = 4_000


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a Word document; its pages are those of Word's last layout, if recorded.

    Raises:
        BookError: the file is damaged, without text or too large.
    """
    archive = Archive(data, limits)
    main = _related(archive, "").get("officeDocument", DOCUMENT)
    related = _related(archive, main)
    document = _part(archive, main)
    if document is None:
        raise _damaged()
    try:
        text = xml_text(document)
    except ValueError as error:
        raise _damaged() from error
    builder = TextBuilder(limits)
    breaks_at_layout = "lastRenderedPageBreak" in text
    styles = read_styles(_part(archive, related.get("styles", "word/styles.xml")))
    numbering = Numbering(_part(archive, related.get("numbering", "word/numbering.xml")))
    body = DocxBody(builder, styles, _notes(archive, related), numbering, breaks_at_layout=breaks_at_layout)
    _read_body(text, body, report)
    body.close()
    builder.close()
    properties = read_properties(_part(archive, "docProps/core.xml"))
    known_pages = body.pages > 1 and (breaks_at_layout or builder.length < body.pages * _LONGEST_PAGE_BY_HAND)
    draft = BookDraft(
        FORMAT,
        builder.text,
        outlines=[builder.headings],
        styled=styled_titles(body.lines, builder.text) if len(builder.headings) < FEWEST_HEADINGS else (),
        page_marks=builder.page_marks if known_pages else (),
        title=properties.title or body.title,
        author=properties.author,
        language=properties.language,
    )
    return assemble(draft, filename, limits)


def _part(archive: Archive, path: str) -> bytes | None:
    name = archive.find(path)
    try:
        return archive.read(name) if name else None
    except KeyError:
        return None


def _related(archive: Archive, path: str) -> dict[str, str]:
    """The paths of the parts that belong to a part (to the file, if `path` is empty), by the kind of relation."""
    folder, name = posixpath.split(path)
    return {
        attribute(each, "Type").rpartition("/")[2]: posixpath.join("/", folder, attribute(each, "Target")).lstrip("/")
        for each in _elements(_part(archive, posixpath.join(folder, "_rels", f"{name}.rels")), "Relationship")
    }


def _notes(archive: Archive, related: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{kind} {identity}": text
        for kind in ("footnote", "endnote")
        for identity, text in read_notes(_part(archive, related.get(f"{kind}s", f"word/{kind}s.xml")), kind).items()
    }


def _read_body(text: str, body: DocxBody, report: Report) -> None:
    """Read the body element by element, so that the tree of a long document is never in memory as a whole."""
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    try:
        for start in range(0, len(text), _CHUNK):
            report(start / len(text))
            parser.feed(text[start : start + _CHUNK])
            _take(parser, body)
        parser.close()
    except ParseError as error:
        raise _damaged() from error
    _take(parser, body)


def _take(parser: "XMLPullParser[Element]", body: DocxBody) -> None:
    for event in parser.read_events():
        kind, element = event[0], event[-1]
        if isinstance(element, Element):
            (body.start if kind == "start" else body.end)(element)


def _damaged() -> BookError:
    said = "This DOCX is damaged: its text cannot be read. Please save it again in Word or LibreOffice and add that."
    return BookError(BookErrorCode.PARSE_FAILED, said)

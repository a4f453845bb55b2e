"""The body of a DOCX, read as its elements open and close."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from bot.readers.axis import PageBreak, TextAxis
from bot.readers.cleaning import MARK
from bot.readers.docx_parts import Style, outline_level
from bot.readers.xml_parts import attribute, local_name

_UNSEEN = frozenset(["del", "moveFrom", "Fallback"])
_CHARACTERS = {"tab": " ", "ptab": " ", "cr": "\n", "noBreakHyphen": "-"}
_NO = ("0", "false", "off", "none")
_CELL_GAP = " | "
_BODY_TEXT = Style()


@dataclass(slots=True)
class _Paragraph:
    pieces: list[str] = field(default_factory=list)
    breaks: list[PageBreak] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    style: Style = _BODY_TEXT
    level: int = 0
    in_hidden_run: bool = False


class DocxBody:
    """Takes elements in document order and adds what they say to the axis.

    `breaks_at_layout` says that the document knows where its pages fell when Word last laid it out; else only breaks
    somebody put there are known.
    """

    def __init__(
        self, axis: TextAxis, styles: Mapping[str, Style], notes: Mapping[str, str], *, breaks_at_layout: bool
    ) -> None:
        self.title = ""
        self.pages = 1
        self._axis = axis
        self._styles = styles
        self._notes = notes
        self._breaks_at_layout = breaks_at_layout
        self._note_count = 0
        self._unseen = 0
        self._paragraphs: list[_Paragraph] = []
        self._rows: list[list[list[str]]] = []
        axis.mark(PageBreak("1"))

    def start(self, element: Element) -> None:
        name = local_name(element)
        if self._unseen or name in _UNSEEN:
            self._unseen += 1
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
        elif name == "tr" and self._rows:
            self._end_row(self._rows.pop())
        elif self._paragraphs:
            if name == "p":
                self._end_paragraph(self._paragraphs.pop())
                element.clear()
            else:
                self._end_within(self._paragraphs[-1], name, element)

    def _end_within(self, paragraph: _Paragraph, name: str, element: Element) -> None:
        if name == "t":
            if not paragraph.in_hidden_run:
                paragraph.pieces.append((element.text or "").replace(MARK, ""))
        elif name in _CHARACTERS:
            paragraph.pieces.append(_CHARACTERS[name])
        elif name == "br":
            self._end_break(paragraph, attribute(element, "type"))
        elif name == "lastRenderedPageBreak" and self._breaks_at_layout:
            self._break_page(paragraph)
        elif name in ("footnoteReference", "endnoteReference"):
            self._refer_to_note(paragraph, name.removesuffix("Reference"), attribute(element, "id"))
        else:
            self._format(paragraph, name, attribute(element, "val"))

    def _format(self, paragraph: _Paragraph, name: str, value: str) -> None:
        if name == "pStyle":
            paragraph.style = self._styles.get(value, _BODY_TEXT)
        elif name == "outlineLvl":
            paragraph.level = outline_level(value)
        elif name == "vanish":
            paragraph.in_hidden_run = value not in _NO
        elif name in ("r", "pPr"):
            paragraph.in_hidden_run = False
        elif name == "pageBreakBefore" and value not in _NO and not self._breaks_at_layout:
            self._break_page(paragraph)

    def _end_break(self, paragraph: _Paragraph, kind: str) -> None:
        if kind != "page":
            paragraph.pieces.append("\n")
        elif not self._breaks_at_layout:
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
        text = "".join(paragraph.pieces)
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(" ".join(text.replace(MARK, "").split()))
            self._mark_breaks(paragraph)
        elif paragraph.style.is_contents:
            self._mark_breaks(paragraph)
        else:
            if paragraph.style.is_title:
                self.title = self.title or " ".join(text.replace(MARK, "").split())
            self._axis.add(text, paragraph.breaks, heading_level=paragraph.level or paragraph.style.level)
        for note in paragraph.notes:
            self._axis.add(note)

    def _mark_breaks(self, paragraph: _Paragraph) -> None:
        for page_break in paragraph.breaks:
            self._axis.mark(page_break)

    def _end_row(self, cells: list[list[str]]) -> None:
        texts = [" ".join(filter(None, cell)) for cell in cells]
        row = _CELL_GAP.join(filter(None, texts))
        if self._rows and self._rows[-1]:
            self._rows[-1][-1].append(row)
        elif len(cells) == 1:
            for paragraph in cells[0]:
                self._axis.add(paragraph)
        else:
            self._axis.add(row)

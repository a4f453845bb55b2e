"""DOCX: paragraphs, headings by style, tables row by row, notes under the paragraph that has their number."""

from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from bot.readers.archive import Archive
from bot.readers.assembly import Draft, assemble
from bot.readers.axis import TextAxis
from bot.readers.docx_body import DocxBody
from bot.readers.docx_parts import read_notes, read_properties, read_styles
from bot.readers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.readers.xml_parts import xml_text
from domain.book import BookText
from domain.errors import BookError, BookErrorCode

FORMAT = "docx"
DOCUMENT = "word/document.xml"
_CHUNK = 2**18
_LONGEST_PAGE_BY_HAND = 4_000


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read a Word document; its pages are those Word last laid out, if it says.

    Raises:
        BookError: the file is damaged, without text or too large.
    """
    archive = Archive(data, limits)
    document = _part(archive, DOCUMENT)
    if document is None:
        raise _damaged()
    try:
        text = xml_text(document)
    except ValueError as error:
        raise _damaged() from error
    axis = TextAxis(limits)
    breaks_at_layout = "lastRenderedPageBreak" in text
    styles = read_styles(_part(archive, "word/styles.xml"))
    body = DocxBody(axis, styles, _notes(archive), breaks_at_layout=breaks_at_layout)
    _read_body(text, body, report)
    axis.close()
    properties = read_properties(_part(archive, "docProps/core.xml"))
    known_pages = body.pages > 1 and (breaks_at_layout or axis.length < body.pages * _LONGEST_PAGE_BY_HAND)
    draft = Draft(
        FORMAT,
        axis.text,
        outlines=[axis.headings],
        page_marks=axis.page_marks if known_pages else (),
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


def _notes(archive: Archive) -> dict[str, str]:
    return {
        f"{kind} {identity}": text
        for kind in ("footnote", "endnote")
        for identity, text in read_notes(_part(archive, f"word/{kind}s.xml"), kind).items()
    }


def _read_body(text: str, body: DocxBody, report: Report) -> None:
    """Elements are taken as they open and close, so that a long document is never in memory as a whole tree."""
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
    return BookError(
        BookErrorCode.PARSE_FAILED,
        "This DOCX is damaged: its text cannot be read. Please save it again in Word or LibreOffice and add that.",
    )

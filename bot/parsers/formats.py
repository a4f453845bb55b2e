"""The format of a file, by its contents rather than its name, and the parser for it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from importlib import import_module
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from bot.parsers.draft import DEFAULT_LIMITS, Block, ReadingLimits, Report, estimated_pages, ignore_progress
from bot.parsers.encoding import ascii_head
from bot.parsers.headings import PATTERNS, is_contents, parse_any_label
from bot.parsers.titles import last_component, letters
from domain.book import BookText
from domain.errors import BookError, BookErrorCode, Worded
from domain.library.names import with_acronyms

if TYPE_CHECKING:
    from bot.parsers.archive import Archive
    from bot.parsers.ocr import TextRecogniser


class Format(StrEnum):
    """The formats that can be read; each is also a book's `format`."""

    EPUB = "epub"
    MOBI = "mobi"
    FB2 = "fb2"
    PDF = "pdf"
    DOCX = "docx"
    ODT = "odt"
    RTF = "rtf"
    HTML = "html"
    MARKDOWN = "markdown"
    TXT = "txt"


_PARSERS: Mapping[str, str] = {
    Format.EPUB: "bot.parsers.epub",
    Format.MOBI: "bot.parsers.mobi.parser",
    Format.FB2: "bot.parsers.xml_formats:read_fb2",
    Format.PDF: "bot.parsers.pdf.parser",
    Format.DOCX: "bot.parsers.docx",
    Format.ODT: "bot.parsers.xml_formats:read_odt",
    Format.RTF: "bot.parsers.rtf",
    Format.HTML: "bot.parsers.web_formats:read_html",
    Format.MARKDOWN: "bot.parsers.web_formats:read_markdown",
    Format.TXT: "bot.parsers.text.parser",
}
"""The module that reads a format and, unless it is `read`, the function."""

_LIBRARIES: Mapping[str, str] = {
    Format.EPUB: "selectolax.lexbor",
    Format.MOBI: "selectolax.lexbor",
    Format.FB2: "selectolax.lexbor",
    Format.PDF: "pypdfium2_raw",
    Format.ODT: "selectolax.lexbor",
    Format.HTML: "selectolax.lexbor",
    Format.MARKDOWN: "markdown_it",
}
"""The library that a parser imports when it gets its first file."""

EXTENSIONS = {
    ".epub": Format.EPUB,
    ".mobi": Format.MOBI,
    ".azw": Format.MOBI,
    ".azw3": Format.MOBI,
    ".prc": Format.MOBI,
    ".fb2": Format.FB2,
    ".fb2.zip": Format.FB2,
    ".fbz": Format.FB2,
    ".pdf": Format.PDF,
    ".docx": Format.DOCX,
    ".odt": Format.ODT,
    ".rtf": Format.RTF,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".txt": Format.TXT,
    ".text": Format.TXT,
}
"""The suffixes of readable files, for front ends that ask for a file."""

_ZIP = b"PK\x03\x04"
_PDF = b"%PDF-"
_PDF_HEADER = 1_024
_KINDLE = (b"BOOKMOBI", b"TEXtREAd")
_RTF = b"{\\rtf"
_RTF_HEADER = 64
_FICTION_BOOK = re.compile(r"<FictionBook\b")
_FLAT_ODT = re.compile(r"<office:document\b")
_HTML = re.compile(r"(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_XML = re.compile(r"\s*<\?xml\s")
_HEAD = 4_096
_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_NAME = "{name}"
_TO_EPUB = Worded("Please convert it to EPUB, for example with Calibre, and add that.")
_TO_TEXT = Worded("Please add the book's text itself, best as an EPUB.")
_TO_DOCX = Worded("Please open it in Word or LibreOffice, save it as DOCX, and add that.")
_TO_PDF = Worded("Please export it as PDF, and add that.")
_PICTURE = Worded(
    "This is a picture, and I read text. Please add the book as an EPUB or a text file, or its pages as one PDF with "
    "text in it."
)
_COMIC = Worded(
    "This is a comic or a book of pictures ({name}): there is no text in it that I could read. "
    "Please add a book with text.",
    name=_NAME,
)
_AUDIO = Worded(
    "This is an audio or video file, and I can only read. Please add the book's text itself, best as an EPUB."
)
_LOCKED_KINDLE = Worded(
    "This is a Kindle book in a format that Amazon keeps to its own readers ({name}), so I cannot read it. "
    "Please add an edition without DRM, best an EPUB.",
    name=_NAME,
)
_PACKED = Worded("I cannot look into {name} files. Please unpack it and add the book that is in it.", name=_NAME)
_LOCKED_BY_SHOP = Worded(
    "This is not a book but the ticket ({name}) for one that a shop or library locks (DRM). "
    "Please add an edition without DRM, best an EPUB.",
    name=_NAME,
)
_AUDIO_TICKET = Worded(
    "This is not a book but the ticket ({name}) for a library's audiobook. "
    "Please add the book's text itself, best as an EPUB.",
    name=_NAME,
)
_OF_THEIR_OWN = (_PICTURE, _COMIC, _AUDIO, _LOCKED_KINDLE, _LOCKED_BY_SHOP, _AUDIO_TICKET, _PACKED)
"""Sentences that say what cannot be read; the others only say what to do."""
_FOREIGN: tuple[tuple[int, bytes, str, Worded], ...] = (
    (0, b"TPZ", "Topaz", _LOCKED_KINDLE),
    (0, b"\xeaDRMION\xee", "KFX", _LOCKED_KINDLE),
    (0, b"CONT\x02\x00", "KFX", _LOCKED_KINDLE),
    (0, _OFFICE, Worded("old Word (DOC)"), _TO_DOCX),
    (
        0,
        b"AT&TFORM",
        "DjVu",
        Worded("It holds pictures of pages. Please convert it to a PDF with text in it, or add another edition."),
    ),
    (0, b"ITOLITLS", "Microsoft Reader (LIT)", _TO_EPUB),
    (0, b"ITSF", "Windows help (CHM)", _TO_EPUB),
    (0, b"L\0R\0F\0", "Sony Reader (LRF)", _TO_EPUB),
    (0, b"SNBP", "Bambook (SNB)", _TO_EPUB),
    (60, b"PNRdPPrs", "eReader (PDB)", _TO_EPUB),
    (0, b"%!PS", "PostScript", Worded("Please convert it to PDF and add that.")),
    (0, b"\x89PNG", "", _PICTURE),
    (0, b"\xff\xd8\xff", "", _PICTURE),
    (0, b"GIF8", "", _PICTURE),
    (0, b"II*\0", "", _PICTURE),
    (0, b"MM\0*", "", _PICTURE),
    (8, b"WEBP", "", _PICTURE),
    (8, b"WAVE", "", _AUDIO),
    (0, b"ID3", "", _AUDIO),
    (0, b"\xff\xfb", "", _AUDIO),
    (0, b"\xff\xf3", "", _AUDIO),
    (0, b"OggS", "", _AUDIO),
    (0, b"fLaC", "", _AUDIO),
    (0, b"\x1aE\xdf\xa3", "", _AUDIO),
    (4, b"ftyphei", "", _PICTURE),
    (4, b"ftypmif1", "", _PICTURE),
    (4, b"ftypavi", "", _PICTURE),
    (0, b"\0\0\0\x0cJXL ", "", _PICTURE),
    (4, b"ftyp", "", _AUDIO),
    (0, b"\xff\xf1", "", _AUDIO),
    (0, b"\xff\xf9", "", _AUDIO),
    (0, b"\xff\xfa", "", _AUDIO),
    (0, b"\xff\xf2", "", _AUDIO),
    (0, b"#!AMR", "", _AUDIO),
    (4, b"\x57\x90\x75\x36", "", _AUDIO),
    (0, b"\xffWPC", "WordPerfect", _TO_DOCX),
    (0, b"Rar!", "RAR", _PACKED),
    (0, b"7z\xbc\xaf", "7z", _PACKED),
    (0, b"\x1f\x8b", "gzip", _PACKED),
    (0, b"BZh91AY", "bzip2", _PACKED),
    (0, b"\xfd7zXZ", "xz", _PACKED),
    (0, b"\x28\xb5\x2f\xfd", "zstd", _PACKED),
    (257, b"ustar", "TAR", _PACKED),
    (0, b"SQLite format 3", Worded("database"), _TO_TEXT),
    (0, b"\x7fELF", Worded("program"), _TO_TEXT),
    (0, b"MZ\x90", Worded("program"), _TO_TEXT),
)
"""Files of other formats: the offset of the signature, its bytes, the format's name, and what to do
with such a file.
"""
_FOREIGN_ARCHIVES = (
    ("xl/workbook.xml", "Excel", Worded("Please export its text as DOCX or plain text, and add that.")),
    ("ppt/presentation.xml", "PowerPoint", _TO_PDF),
    ("Index/Document.iwa", "Pages", Worded("Please export it as EPUB or DOCX, and add that.")),
    ("FixedDocumentSequence.fdseq", "XPS", _TO_PDF),
)
_XML_HEAD = r"\s*(?:<\?xml[^>]*>\s*)?"
_TICKETS: tuple[tuple[re.Pattern[str], str, Worded], ...] = (
    (re.compile(rf"{_XML_HEAD}<(?:\w+:)?fulfillmentToken\b"), "ACSM", _LOCKED_BY_SHOP),
    (re.compile(rf"{_XML_HEAD}<OverDriveMedia\b"), "ODM", _AUDIO_TICKET),
    (re.compile(r"\s*\{.{0,2000}readium\.org/lcp", re.DOTALL), "LCPL", _LOCKED_BY_SHOP),
    (re.compile(rf"{_XML_HEAD}<svg\b"), "", _PICTURE),
    (re.compile(r"d\d{1,3}:(?:announce|created by|info)"), "torrent", _TO_TEXT),
    (
        re.compile(r"[A-Z][\w-]{1,40}: (?:.*\n)+?MIME-Version:|MIME-Version:", re.IGNORECASE),
        "MHTML/EML",
        Worded("Please save the page or the message as HTML or as plain text, and add that."),
    ),
)
"""How texts begin that are no books, what they are called, and what to do with them."""
_COMICS = (".cbz", ".cbr", ".cb7", ".cbt")
_PICTURES = (".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".jxl", ".bmp", ".tif", ".tiff")
_IS_LIST_OF_PICTURES = re.compile(rf"[\s_*=\[]*(?:{PATTERNS['pictures']})[\s.:_*=\]]*", re.IGNORECASE)
_FIRST_LINES, _FEWEST_LISTED, _FEWEST_IN_A_BLOCK, _SHORTEST_NAME = 12, 4, 3, 8
_TEXTS = (None, Format.TXT, Format.MARKDOWN, Format.HTML)
"""What a few plain words may be; every other format begins with a signature or is longer."""
_SHORTEST_MISNAMED = 1_000
"""The bytes of a text under the name of another format, from which on it is rather a book than a failed download."""
_LISTS = (".xml", ".txt", ".nfo", ".json", ".db", "/")
"""Other files that a book of pictures may contain."""


def read_book(
    data: bytes, filename: str, *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a file of any supported format. Only that format's library is imported.

    Raises:
        BookError: the file cannot become a book; the sentence says why and what to do.
    """
    module, _, function = _PARSERS[detect(data, filename)].partition(":")
    read = getattr(import_module(module), function or "read")
    book: BookText = read(data, filename, limits=limits, report=report)
    return without_contents(with_acronyms(book))


def read_pictures(
    data: bytes,
    filename: str,
    recogniser: "TextRecogniser",
    *,
    limits: ReadingLimits = DEFAULT_LIMITS,
    report: Report = ignore_progress,
) -> BookText:
    """Read a file that `read_book` refused with a PicturesOnlyError, by text recognition.

    Raises:
        BookError: the file cannot become a book; the sentence says why and what to do.
    """
    module = import_module(_PARSERS[detect(data, filename)])
    book: BookText = module.read_pictures(data, recogniser, filename, limits=limits, report=report)
    return without_contents(with_acronyms(book))


def without_contents(book: BookText) -> BookText:
    """The book without its printed lists of chapters and pictures: they tell on its first pages what is yet to come.

    What stands behind them moves forward; a printed page that had nothing else is empty.
    """
    begins = [chapter.start for chapter in book.chapters]
    spans = [span for span in _lists(book) if bisect_left(begins, span[0]) == bisect_left(begins, span[1])]
    if not spans:
        return book
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    lengths = [0, *accumulate(end - start for start, end in spans)]

    def moved(place: int) -> int:
        before = bisect_right(starts, place)
        return max(place, ends[before - 1]) - lengths[before] if before else place

    text = "".join(book.text[start:end] for start, end in zip([0, *ends], [*starts, None], strict=True))
    chapters = tuple(replace(each, start=moved(each.start), end=moved(each.end)) for each in book.chapters)
    if book.pages_estimated:
        pages = estimated_pages(text, (chapter.start for chapter in chapters))
    else:
        pages = tuple(replace(page, start=moved(page.start), end=moved(page.end)) for page in book.pages)
    return replace(book, text=text, pages=pages, chapters=chapters)


def _lists(book: BookText) -> list[tuple[int, int]]:
    """Where tables of contents are, in front of the second chapter or under a name of their own, and lists of pictures
    in front of the first, in order.
    """
    from bot.parsers.text.headings import lines_of  # which only what reads books needs

    blocks, _, contents = lines_of(book.text)
    front = book.chapters[1].start if len(book.chapters) > 1 else len(book.text)
    tables = [
        (start, _end_of_table(book, blocks, end))
        for start, end in contents.spans
        if end <= front or any(map(is_contents, book.text[start:end].split("\n")[:_FIRST_LINES]))
    ]
    story = book.chapters[0].start if book.chapters else 0
    return _apart([*tables, *_lists_of_pictures([block for block in blocks if block.end <= story])])


def _end_of_table(book: BookText, blocks: Sequence[Block], end: int) -> int:
    """The end of a table of contents: without the name of what follows on it, "Preface", but with the last lines of one
    in a PDF, which may run together.
    """
    titles = [title for each in book.chapters if len(title := letters(each.title)) >= _SHORTEST_NAME]
    following = bisect_left(blocks, end, key=lambda block: block.start)
    last = blocks[following - 1]
    label = parse_any_label(last.text) if len(last.lines) == 1 else None
    if len(last.lines) == 1 and not (label and label.value) and not _named(last, titles):
        return last.start
    run_together = takewhile(lambda block: len(_named(block, titles)) >= _FEWEST_IN_A_BLOCK, blocks[following:])
    return max((block.end for block in run_together), default=end)


def _named(block: Block, titles: Iterable[str]) -> list[str]:
    """The titles, as letters, that a block has in it."""
    told = letters(" ".join(block.lines))
    return [title for title in titles if title in told]


def _lists_of_pictures(front: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """Lists of pictures in front of a book: short blocks under a heading that says so."""
    for at, block in enumerate(front):
        listed = [*takewhile(lambda each: each.is_short or len(each.lines) > _FEWEST_LISTED, front[at + 1 :])]
        if _IS_LIST_OF_PICTURES.fullmatch(block.text) and sum(len(each.lines) for each in listed) >= _FEWEST_LISTED:
            yield block.start, listed[-1].end


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, of which none begins before another ends."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if end > (begin := max(start, apart[-1][1] if apart else 0)):
            apart.append((begin, end))
    return apart


def modules_for(name: str) -> list[str]:
    """The modules that reading a format needs, for a process that imports them before it has a file; none for a name
    that is no format's.
    """
    parser, library = _PARSERS.get(name, "").partition(":")[0], _LIBRARIES.get(name, "")
    return [module for module in (parser, library) if module]


def detect(data: bytes, filename: str) -> Format:
    """The format of a file.

    Raises:
        BookError: UNSUPPORTED_FORMAT, ENCRYPTED, or PARSE_FAILED where the file is empty.
    """
    if not data.strip(b"\0 \t\r\n"):
        raise BookError(BookErrorCode.PARSE_FAILED, "This file is empty. Please add one that has the book's text.")
    if _PDF in data[:_PDF_HEADER]:
        return Format.PDF
    if data.startswith(_ZIP):
        return _detect_archive(data, filename)
    if data[60:68] in _KINDLE:
        return Format.MOBI
    if data[:_RTF_HEADER].lstrip(b"\xef\xbb\xbf\0 \t\r\n").startswith(_RTF):
        return Format.RTF
    _refuse_foreign(data, filename)
    return _detect_text(data, filename)


def named_format(filename: str) -> Format | None:
    """The format that a file's name suggests."""
    name = last_component(filename).lower()
    return next((format_ for ending, format_ in EXTENSIONS.items() if name.endswith(ending)), None)


def _detect_text(data: bytes, filename: str) -> Format:
    named, head = named_format(filename), ascii_head(data, _HEAD)
    for pattern, name, advice in _TICKETS:
        if pattern.match(head):
            raise _unsupported(name, advice)
    if _FICTION_BOOK.search(head):
        return Format.FB2
    if _FLAT_ODT.search(head):
        return Format.ODT
    _refuse_scrap(data, filename)
    if named is not Format.MARKDOWN and (named is Format.HTML or _HTML.match(head)):
        return Format.HTML
    if _XML.match(head):  # TEI, DocBook, DAISY, old Word: markup that would be read as the author's words
        raise _unsupported("XML", _TO_TEXT)
    return Format.MARKDOWN if named is Format.MARKDOWN else Format.TXT


def _detect_archive(data: bytes, filename: str) -> Format:
    from bot.parsers.archive import Archive

    archive = Archive(data, DEFAULT_LIMITS)
    if archive.find("word/document.xml"):
        return Format.DOCX
    if archive.find("META-INF/container.xml") or archive.first_with_extension(".opf"):
        return Format.EPUB
    if archive.first_with_extension(".fb2"):
        return Format.FB2
    if archive.first_with_extension(".kfx"):
        raise _unsupported("KFX", _LOCKED_KINDLE)
    for path, name, advice in _FOREIGN_ARCHIVES:
        if archive.find(path):
            raise _unsupported(name, advice)
    if archive.find("content.xml"):
        return _detect_open_document(archive)
    if last_component(filename).lower().endswith(_COMICS) or archive.holds_only(_PICTURES, _LISTS):
        raise _unsupported("CBZ", _COMIC)
    if (named := named_format(filename)) in (Format.EPUB, Format.DOCX):
        return named
    raise _unsupported("ZIP", _PACKED)


def _detect_open_document(archive: "Archive") -> Format:
    kind = archive.find("mimetype")
    try:
        declared = archive.read(kind) if kind else b""
    except KeyError:
        declared = b""
    if declared.startswith(b"application/vnd.oasis.opendocument.") and b".text" not in declared:
        raise _unsupported("OpenDocument (ODS, ODP)", _TO_PDF)
    return Format.ODT


def _refuse_foreign(data: bytes, filename: str) -> None:
    if data.startswith(_OFFICE) and _ENCRYPTED_PACKAGE in data:
        raise BookError(
            BookErrorCode.ENCRYPTED,
            "This document is locked with a password. Please save it without one and add that.",
        )
    for offset, magic, name, advice in _FOREIGN:
        if data.startswith(magic, offset):
            is_comic = advice is _PACKED and last_component(filename).lower().endswith(_COMICS)
            raise _unsupported(name, _COMIC if is_comic else advice)


def _refuse_scrap(data: bytes, filename: str) -> None:
    """Refuse a few bytes under the name of another format: the beginning of a file, or a page with an error."""
    is_of_text = named_format(filename) in _TEXTS and not last_component(filename).lower().endswith(_PICTURES)
    if len(data) < _SHORTEST_MISNAMED and not is_of_text:
        raise BookError(
            BookErrorCode.PARSE_FAILED,
            Worded(
                "There's no {name} in this file, only a few characters. Please download or export it again.",
                name=last_component(filename).rpartition(".")[2].upper(),
            ),
        )


def _unsupported(name: str, advice: Worded) -> BookError:
    """Refuse a file of another format; `advice` says what to do with it."""
    message = Worded("I cannot read {name} files. {advice}", name=name, advice=advice)
    if advice in _OF_THEIR_OWN:
        message = Worded(advice.template, name=name)
    return BookError(BookErrorCode.UNSUPPORTED_FORMAT, message)

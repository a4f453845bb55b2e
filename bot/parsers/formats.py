"""Which format a file is in, by what is in it rather than by what it is called, and the reader for it."""

import re
from enum import StrEnum
from importlib import import_module

from bot.parsers.encoding import ascii_head
from bot.parsers.limits import DEFAULT_LIMITS, ReadingLimits, Report, unheard
from bot.parsers.titles import last_component
from domain.book import BookText
from domain.errors import BookError, BookErrorCode


class Format(StrEnum):
    """The formats that can be read; each is also a book's `format`."""

    EPUB = "epub"
    PDF = "pdf"
    DOCX = "docx"
    HTML = "html"
    MARKDOWN = "markdown"
    TXT = "txt"


_MODULES = {
    Format.EPUB: "bot.parsers.epub.parser",
    Format.PDF: "bot.parsers.pdf.parser",
    Format.DOCX: "bot.parsers.docx",
    Format.HTML: "bot.parsers.html",
    Format.MARKDOWN: "bot.parsers.markdown",
    Format.TXT: "bot.parsers.text.parser",
}

EXTENSIONS = {
    ".epub": Format.EPUB,
    ".pdf": Format.PDF,
    ".docx": Format.DOCX,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".txt": Format.TXT,
    ".text": Format.TXT,
}
"""How the names of readable files end, for front ends that ask for one."""

_ZIP = b"PK\x03\x04"
_PDF = b"%PDF-"
_PDF_HEADER = 1_024
_HTML = re.compile(r"(?:<\?xml[^>]*>|<!--.*?-->|\s)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_HEAD = 4_096
_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_FOREIGN = (
    (60, b"BOOKMOBI", "MOBI or AZW3"),
    (60, b"TEXtREAd", "PalmDOC"),
    (0, b"TPZ", "Kindle"),
    (0, b"\xeaDRMION\xee", "Kindle (KFX)"),
    (0, b"{\\rtf", "RTF"),
    (0, _OFFICE, "old Word (DOC)"),
    (0, b"AT&TFORM", "DjVu"),
    (0, b"ITOLITLS", "LIT"),
    (0, b"%!PS", "PostScript"),
    (0, b"Rar!", "RAR"),
    (0, b"7z\xbc\xaf", "7z"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"\x89PNG", "picture"),
    (0, b"\xff\xd8\xff", "picture"),
    (0, b"GIF8", "picture"),
    (0, b"ID3", "audio"),
    (4, b"ftyp", "audio or video"),
)
_FOREIGN_ARCHIVES = (
    ("xl/workbook.xml", "Excel"),
    ("ppt/presentation.xml", "PowerPoint"),
    ("content.xml", "OpenDocument (ODT)"),
)
_FICTION_BOOK = b"<FictionBook"


def read_book(
    data: bytes, filename: str, *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = unheard
) -> BookText:
    """Read a file of any supported format. Only that format's library is imported.

    Raises:
        BookError: the file cannot become a book; the sentence says why and what to do.
    """
    module = import_module(_MODULES[detect(data, filename)])
    book: BookText = module.read(data, filename, limits=limits, report=report)
    return book


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
    _refuse_foreign(data)
    named = named_format(filename)
    if named is not Format.MARKDOWN and (named is Format.HTML or _HTML.match(ascii_head(data, _HEAD))):
        return Format.HTML
    return Format.MARKDOWN if named is Format.MARKDOWN else Format.TXT


def named_format(filename: str) -> Format | None:
    """The format that a file's name promises."""
    _, dot, extension = last_component(filename).lower().rpartition(".")
    return EXTENSIONS.get(dot + extension)


def _detect_archive(data: bytes, filename: str) -> Format:
    from bot.parsers.archive import Archive

    archive = Archive(data, DEFAULT_LIMITS)
    if archive.find("word/document.xml"):
        return Format.DOCX
    if archive.find("META-INF/container.xml") or archive.first_with_extension(".opf"):
        return Format.EPUB
    for path, name in _FOREIGN_ARCHIVES:
        if archive.find(path):
            raise _unsupported(name)
    if (named := named_format(filename)) in (Format.EPUB, Format.DOCX):
        return named
    raise _unsupported("ZIP")


def _refuse_foreign(data: bytes) -> None:
    if data.startswith(_OFFICE) and _ENCRYPTED_PACKAGE in data:
        raise BookError(
            BookErrorCode.ENCRYPTED,
            "This document is locked with a password. Please save it without one and add that.",
        )
    for offset, magic, name in _FOREIGN:
        if data.startswith(magic, offset):
            raise _unsupported(name)
    if _FICTION_BOOK in data[:_HEAD]:
        raise _unsupported("FB2")


def _unsupported(name: str) -> BookError:
    return BookError(
        BookErrorCode.UNSUPPORTED_FORMAT,
        f"I cannot read {name} files. I read EPUB, PDF, DOCX, HTML, Markdown and plain text: "
        "please convert it to EPUB, for example with Calibre, and add that.",
    )

"""A PDF through PDFium: pages with their lines and labels, outline, title and author."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from bot.parsers.assembly import check_length
from bot.parsers.limits import ReadingLimits, Report
from bot.parsers.pdf.text import LineReader, PdfLine
from domain.errors import BookError, BookErrorCode

_PASSWORD_ERROR = 4
_MOST_PAGES = 20_000
_MOST_BOOKMARKS = 20_000


@dataclass(frozen=True, slots=True)
class PdfPage:
    label: str
    lines: tuple[PdfLine, ...]
    is_picture: bool


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline; `page` counts from 0, `top` is the height it points to, if it says."""

    title: str
    depth: int
    page: int
    top: float | None


@dataclass(frozen=True, slots=True)
class PdfDocument:
    pages: tuple[PdfPage, ...]
    outline: tuple[Bookmark, ...]
    title: str
    author: str


def read_document(data: bytes, limits: ReadingLimits, report: Report) -> PdfDocument:
    """Take everything a reader needs out of a PDF.

    Raises:
        BookError: ENCRYPTED, PARSE_FAILED or TOO_LARGE.
    """
    pdfium = _library()
    with _opened(pdfium, data) as document:
        count = pdfium.FPDF_GetPageCount(document)
        if count > _MOST_PAGES:
            raise BookError(BookErrorCode.TOO_LARGE, f"This PDF has more than {_MOST_PAGES:,} pages. Please split it.")
        return PdfDocument(
            tuple(_pages(pdfium, document, count, limits, report)),
            tuple(_bookmarks(pdfium, document)),
            _meta_text(pdfium, document, b"Title"),
            _meta_text(pdfium, document, b"Author"),
        )


def _library() -> Any:
    import pypdfium2_raw  # type: ignore[import-untyped]

    pypdfium2_raw.FPDF_InitLibrary()
    return pypdfium2_raw


@contextmanager
def _opened(pdfium: Any, data: bytes) -> Iterator[Any]:
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        raise _cannot_open(pdfium.FPDF_GetLastError())
    try:
        yield document
    finally:
        pdfium.FPDF_CloseDocument(document)


def _cannot_open(error: int) -> BookError:
    if error == _PASSWORD_ERROR:
        return BookError(
            BookErrorCode.ENCRYPTED, "This PDF is locked with a password. Please add a copy that opens without one."
        )
    return BookError(
        BookErrorCode.PARSE_FAILED, "This PDF is damaged and cannot be opened. Please download or export it again."
    )


def _pages(pdfium: Any, document: Any, count: int, limits: ReadingLimits, report: Report) -> Iterator[PdfPage]:
    reader, characters = LineReader(pdfium), 0
    for index in range(count):
        page = pdfium.FPDF_LoadPage(document, index)
        if not page:
            yield PdfPage(_label(pdfium, document, index), (), is_picture=False)
            continue
        try:
            lines = reader.lines(page)
            is_picture = not lines and pdfium.FPDFPage_CountObjects(page) > 0
        finally:
            pdfium.FPDF_ClosePage(page)
        characters += sum([len(line.text) for line in lines])
        check_length(characters, limits)
        report(index / count)
        yield PdfPage(_label(pdfium, document, index), lines, is_picture)


def _label(pdfium: Any, document: Any, index: int) -> str:
    """The page's own label, else its number as every viewer shows it."""
    return _string(partial(pdfium.FPDF_GetPageLabel, document, index)) or str(index + 1)


def _meta_text(pdfium: Any, document: Any, name: bytes) -> str:
    return _string(partial(pdfium.FPDF_GetMetaText, document, name))


def _string(ask: Callable[[Any, int], int]) -> str:
    """A string of PDFium's: asked once for its size in bytes, once for its UTF-16 with a final zero."""
    size = ask(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(buffer, size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())


def _bookmarks(pdfium: Any, document: Any) -> Iterator[Bookmark]:
    """The outline in reading order; one that leads back into itself is followed once."""
    seen: set[int] = set()
    stack = [(pdfium.FPDFBookmark_GetFirstChild(document, None), 1)]
    while stack and len(seen) < _MOST_BOOKMARKS:
        bookmark, depth = stack.pop()
        if not bookmark or (address := ctypes.cast(bookmark, ctypes.c_void_p).value or 0) in seen:
            continue
        seen.add(address)
        stack.append((pdfium.FPDFBookmark_GetNextSibling(document, bookmark), depth))
        stack.append((pdfium.FPDFBookmark_GetFirstChild(document, bookmark), depth + 1))
        destination = pdfium.FPDFBookmark_GetDest(document, bookmark)
        page = pdfium.FPDFDest_GetDestPageIndex(document, destination) if destination else -1
        title = _string(partial(pdfium.FPDFBookmark_GetTitle, bookmark))
        if page >= 0 and title:
            yield Bookmark(title, depth, page, _top(pdfium, destination))


def _top(pdfium: Any, destination: Any) -> float | None:
    has_x, has_y, has_zoom = (ctypes.c_int() for _ in range(3))
    x, y, zoom = (ctypes.c_float() for _ in range(3))
    known = pdfium.FPDFDest_GetLocationInPage(destination, has_x, has_y, has_zoom, x, y, zoom)
    return y.value if known and has_y.value else None

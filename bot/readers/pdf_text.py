"""The lines on the pages of a PDF, with their places.

PDFium's own functions are called, not the helpers around them, and fill the same few buffers page after page: making
one costs more than what is then read into it.
"""

import ctypes
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

_LINE_BREAK = "\r\n"
_USUAL_CHARACTERS = 4_096


class PdfLine(NamedTuple):
    """A line of text. Places are in points from the lower left corner of the page; `size` is the height of the font.

    Where PDFium gives no places, a line is as wide as it has characters, and `size` is 0. A tuple, because a book has
    ten thousand of them and is read no faster than they are made.
    """

    text: str
    left: float
    right: float
    top: float
    size: float


class LineReader:
    """Reads the lines of one page after the other."""

    def __init__(self, pdfium: Any) -> None:
        self._pdfium = pdfium
        self._buffer = (ctypes.c_ushort * _USUAL_CHARACTERS)()
        self._places = array("f", bytes(2 * ctypes.sizeof(pdfium.FS_RECTF)))
        self._first = pdfium.FS_RECTF.from_buffer(self._places)
        self._last = pdfium.FS_RECTF.from_buffer(self._places, ctypes.sizeof(pdfium.FS_RECTF))

    def lines(self, page: Any) -> tuple[PdfLine, ...]:
        """The lines of a page of PDFium's, in the order they are drawn."""
        text_page = self._pdfium.FPDFText_LoadPage(page)
        if not text_page:
            return ()
        try:
            text, has_places = self._text(text_page)
            return tuple(self._placed_lines(text_page, text) if has_places else _unplaced_lines(text))
        finally:
            self._pdfium.FPDFText_ClosePage(text_page)

    def _text(self, text_page: Any) -> tuple[str, bool]:
        """The text, and whether its characters are PDFium's one by one, so that their places can be asked for."""
        count = self._pdfium.FPDFText_CountChars(text_page)
        if count <= 0:
            return "", False
        if count >= len(self._buffer):
            self._buffer = (ctypes.c_ushort * (count + 1))()
        written = self._pdfium.FPDFText_GetText(text_page, 0, count, self._buffer) - 1
        text = ctypes.string_at(self._buffer, 2 * max(0, written)).decode("utf-16-le", "replace")
        return text, written == count == len(text)

    def _placed_lines(self, text_page: Any, text: str) -> Iterator[PdfLine]:
        find, first, last = self._pdfium.FPDFText_GetLooseCharBox, self._first, self._last
        start = 0
        for line in text.split(_LINE_BREAK):
            if stripped := line.strip():
                begin = start + line.index(stripped[0])
                find(text_page, begin, first)
                find(text_page, begin + len(stripped) - 1, last)
                left, above, _, below, _, top, right, bottom = self._places
                yield PdfLine(stripped, left, right, top, min(above - below, top - bottom))  # drop capitals are high
            start += len(line) + len(_LINE_BREAK)


def _unplaced_lines(text: str) -> Iterator[PdfLine]:
    for number, line in enumerate(text.splitlines()):
        if stripped := line.strip():
            yield PdfLine(stripped, 0, len(stripped), -number, 0)

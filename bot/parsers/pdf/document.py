"""A PDF through PDFium: pages with their lines and labels, outline, title and author."""

import ctypes
import re
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice, pairwise
from typing import Any, NamedTuple
from unicodedata import normalize

from bot.parsers.draft import ReadingLimits, Report, check_length
from domain.book import encodable
from domain.errors import BookError, BookErrorCode, Worded

_LINE_BREAK = "\r\n"
_USUAL_CHARACTERS = 4_096
_NEXT_LINE = 0.6
"""How much lower the next line is at least, in heights of its type."""
_NOTE_NUMBER = re.compile(r"(?<=\S)(?<!\d)(?<!\d[.,])\d{1,3}(?![^\W_])|^\d{1,3}\s?(?=[^\W\d_])")
_DIGIT = re.compile(r"\d")
NOTE_GAP = "\u00a0"
"""Follows the number of a footnote in front of it, which is how it differs from other numbers in brackets."""
NOTE_SIZE = 0.85
"""How large the number of a note is at most, beside the letters."""
_MOST_HEIGHTS = 2.0
"""How many times its font's size the letters of a line may be high."""
_BOLD_NAME = re.compile(rb"bold|heavy|demi|-(?:black|medi)|\b(?:cm|ec|sf)bx", re.IGNORECASE)
"""Names of fonts tell their weight more reliably than the numbers that programs give for it."""
_LONGEST_FONT_NAME = 128
_NAME_ROOM = ctypes.c_ulong(_LONGEST_FONT_NAME)
_FONTS_KEPT = 128
_FORCE_BOLD = 1 << 18
"""The flag of a font that is drawn bold, whatever it is called."""
_WORD_START = re.compile("(?<=[\\s\ufffe])[^\\s\ufffe]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile("[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9][0-9A-Za-z\u0660-\u0669\u06f0-\u06f9.,:/-]*")
_MIRRORED = str.maketrans("()[]{}«»‹›<>", ")(][}{»«›‹><")
_ACCENTS = "´`¨^ˆ~˜ˇ˙˚˝˘¯¸˛"
_COMBINING = "\u0301\u0300\u0308\u0302\u0302\u0303\u0303\u030c\u0307\u030a\u030b\u0306\u0304\u0327\u0328"
_ACCENT = re.compile(f"[{re.escape(_ACCENTS)}]")
_GONE = "\0"
_MOST_ACCENTS = 1_000
"""Accents of a page that are looked at."""
_FARTHEST = 40
"""Characters between an accent and its letter; `_NEAR` for those of ASCII, which are signs of code more often."""
_NEAR = 3
_NARROW = 0.25
"""The widest gap within a word, in widths of a letter; between words it is twice as wide at least."""
_SIGNS_TRIED = 50
"""Signs of a page that are looked at to find out whether its letters are known."""
_NO_LETTERS = {"\ufffd", *map(chr, range(0xE000, 0xF900))}
"""What files have in place of letters that they do not tell: the replacement character, and those for private use."""


class PdfLine(NamedTuple):
    """A line of text. Positions are in points from the lower left corner of the page; `size` is the height of the
    font. All of a line `is_bold` or none.

    It is a tuple, because a book has tens of thousands of lines, and their creation limits the speed.
    """

    text: str
    left: float
    right: float
    top: float
    size: float
    is_bold: bool = False


class LineReader:
    """Reads the lines of one page after the other."""

    def __init__(self, pdfium: Any) -> None:
        self._pdfium = pdfium
        self._find_box = _unchecked(pdfium.FPDFText_GetLooseCharBox)
        self._find_matrix = _unchecked(pdfium.FPDFText_GetMatrix)
        self._height_in_font = _unchecked(pdfium.FPDFText_GetFontSize)
        self._find_font = _unchecked(pdfium.FPDFText_GetFontInfo)
        self._has_no_letter = _unchecked(pdfium.FPDFText_HasUnicodeMapError)
        self._buffer = (ctypes.c_ushort * _USUAL_CHARACTERS)()
        self._places = array("f", bytes(2 * ctypes.sizeof(pdfium.FS_RECTF)))
        self._first = ctypes.byref(pdfium.FS_RECTF.from_buffer(self._places))
        self._last = ctypes.byref(pdfium.FS_RECTF.from_buffer(self._places, ctypes.sizeof(pdfium.FS_RECTF)))
        self._matrix = pdfium.FS_MATRIX()
        self._to_matrix = ctypes.byref(self._matrix)
        self._font_name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
        self._font_flags = ctypes.c_int()
        self._to_flags = ctypes.byref(self._font_flags)

    def lines(self, page: Any) -> tuple[PdfLine, ...] | None:
        """The lines of a page, in drawing order; None if the file does not say which letters its signs are."""
        text_page = self._pdfium.FPDFText_LoadPage(page)
        if not text_page:
            return ()
        try:
            text = self._text(text_page)
            text = self._with_accents(text_page, text) if _ACCENT.search(text) else text
            if len(text) > _LONGEST_STAMP and self._is_cipher(text_page, text):
                return None
            lines = self._placed_lines(text_page, text)
            if encodable(text) is not text or _GONE in text:
                lines = (line._replace(text=encodable(line.text).replace(_GONE, "").strip()) for line in lines)
            return tuple(line for line in lines if line.text)
        finally:
            self._pdfium.FPDFText_ClosePage(text_page)

    def _is_cipher(self, text_page: Any, text: str) -> bool:
        """Whether most signs of a page have no letter in the file, as where a font has no table of them.

        For such a sign PDFium gives its number in the font. In some files these are the codes of letters all the same:
        most of them are small letters then.
        """
        step = len(text) // _SIGNS_TRIED + 1
        signs, has_no_letter = text[::step], self._has_no_letter
        if sum(map(str.islower, signs)) * 2 > len(signs):  # of most pages, which is known sooner than the letters are
            return False
        unknown = sum(s in _NO_LETTERS or has_no_letter(text_page, at * step) == 1 for at, s in enumerate(signs))
        return unknown * 2 > len(signs) and sum(map(str.islower, text)) * 2 < len("".join(text.split()))

    def _text(self, text_page: Any) -> str:
        """The text; its characters correspond to PDFium's one by one, so that their positions can be looked up. As
        there, a letter beyond U+FFFF, as in formulas, is two characters.
        """
        count = self._pdfium.FPDFText_CountChars(text_page)
        if count <= 0:
            return ""
        if count >= len(self._buffer):
            self._buffer = (ctypes.c_ushort * (count + 1))()
        written = self._pdfium.FPDFText_GetText(text_page, 0, count, self._buffer) - 1
        if written != count:  # signs that are no letters are left out
            return "".join(self._sign(text_page, index) for index in range(count))
        text = ctypes.string_at(self._buffer, 2 * written).decode("utf-16-le", "replace")
        return text if len(text) == written else "".join(map(chr, self._buffer[:written]))

    def _sign(self, text_page: Any, index: int) -> str:
        """A character; PDFium has another sign for a cut word here than in a text."""
        code = self._pdfium.FPDFText_GetUnicode(text_page, index)
        is_cut = self._pdfium.FPDFText_IsHyphen(text_page, index) == 1
        return "\ufffe" if is_cut else chr(code) if code <= sys.maxunicode else "\ufffd"

    def _with_accents(self, text_page: Any, text: str) -> str:
        """A page's text with its accents on the letters that they are drawn at, as by TeX: "p´agina", "pagina ´". What
        that leaves out is `_GONE`, so that all else keeps its place.
        """
        signs = list(text)
        for accent in islice(_ACCENT.finditer(text), _MOST_ACCENTS):
            place = accent.start()
            left, _, right, _ = self._box(text_page, place)
            farthest = place - (_NEAR if accent[0].isascii() else _FARTHEST)
            for at in (place + 1, *range(place - 1, max(text.rfind("\n", 0, place), farthest), -1)):
                letter = text[at : at + 1].replace("ı", "i") + _COMBINING[_ACCENTS.index(accent[0])]
                if (letter := normalize("NFC", letter)).isalpha():
                    start, _, end, _ = self._box(text_page, at)
                    if abs(left + right - start - end) < end - start:
                        signs[at], signs[place] = letter, _GONE
                        self._close_gap(text_page, signs, place)
                        break
        return "".join(signs)

    def _close_gap(self, text_page: Any, signs: list[str], place: int) -> None:
        """Leave out the spaces beside an accent that is gone: all within a word, and all but one between words."""
        spaces = [at for at in (place - 1, place + 1) if signs[at : at + 1] == [" "]]
        _, _, start, _ = self._box(text_page, place - 1 - (place - 1 in spaces))
        end, _, right, _ = self._box(text_page, place + 1 + (place + 1 in spaces))
        for at in spaces[end - start > _NARROW * (right - end) :]:
            signs[at] = _GONE

    def _placed_lines(self, text_page: Any, text: str) -> Iterator[PdfLine]:
        find, first, last = self._find_box, self._first, self._last
        has_right_to_left = _RIGHT_TO_LEFT.search(text) is not None
        start = 0
        for line in text.split(_LINE_BREAK):
            if stripped := line.strip():
                begin = start + line.index(stripped[0])
                find(text_page, begin, first)
                find(text_page, begin + len(stripped) - 1, last)
                left, above, right_of_first, below, left_of_last, top, right, bottom = self._places
                height = min(above - below, top - bottom)  # drop capitals are high
                size = self._size(text_page, begin, len(stripped), above - below, top - bottom)
                if has_right_to_left and _RIGHT_TO_LEFT.search(stripped):
                    text = self._in_reading_order(text_page, begin, stripped)
                    yield PdfLine(text, -max(right_of_first, right), -min(left, left_of_last), top, size)
                elif above - top > _NEXT_LINE * height:
                    yield from self._cut_lines(text_page, begin, stripped)
                else:
                    is_bold = self._is_bold(text_page, begin, len(stripped))
                    yield PdfLine(self._with_marks(text_page, begin, stripped), left, right, top, size, is_bold)
            start += len(line) + len(_LINE_BREAK)

    def _cut_lines(self, text_page: Any, begin: int, text: str) -> Iterator[PdfLine]:
        """Split lines that PDFium has joined: each new line begins lower and further left than the word before, or
        after a cut word.
        """
        starts = [0]
        _, top, right, size = self._box(text_page, begin)
        for word in _WORD_START.finditer(text):
            left, next_top, next_right, next_size = self._box(text_page, begin + word.start())
            if top - next_top > _NEXT_LINE * min(size, next_size) and next_right < right:
                starts.append(word.start())
            top, right, size = next_top, next_right, next_size
        for start, end in pairwise([*starts, len(text)]):
            line = text[start:end].rstrip()
            left, _, _, first = self._box(text_page, begin + start)
            _, top, right, last = self._box(text_page, begin + start + len(line) - 1)
            size = self._size(text_page, begin + start, len(line), first, last)
            yield PdfLine(self._with_marks(text_page, begin + start, line), left, right, top, size)

    def _with_marks(self, text_page: Any, begin: int, line: str) -> str:
        """A line with the small numbers of notes in brackets, apart from the words they touch."""

        def marked(number: re.Match[str]) -> str:
            beside = number.start() - 1 if number.start() else number.end()
            size = self._font_size(text_page, begin + number.start())
            if not 0 < size < NOTE_SIZE * self._font_size(text_page, begin + beside):
                return number[0]
            return f"[{number[0]}]" if number.start() else f"[{number[0].strip()}]{NOTE_GAP}"

        return _NOTE_NUMBER.sub(marked, line) if _DIGIT.search(line) else line  # most have none, which this finds fast

    def _box(self, text_page: Any, index: int) -> tuple[float, float, float, float]:
        """A character's left edge, top, right edge and height."""
        self._find_box(text_page, index, self._first)
        left, top, right, bottom = self._places[:4]
        return left, top, right, top - bottom

    def _size(self, text_page: Any, begin: int, length: int, first: float, last: float) -> float:
        """The font size of a line, which may begin with a drop capital or end with the number of a note.

        The boxes of letters don't tell it: in many fonts they vary with the letters. They do where a font is a set of
        drawings, whose size says nothing; `first` and `last` are the heights of the boxes at the ends of the line.
        """
        size = self._font_size(text_page, begin)
        if first != last and size != (at_end := self._font_size(text_page, begin + length - 1)):
            size = sorted((size, at_end, self._font_size(text_page, begin + length // 2)))[1]
        height = min(first, last)
        return size if height < _MOST_HEIGHTS * size else height

    def _is_bold(self, text_page: Any, begin: int, length: int) -> bool:
        """Whether a line is set in bold from its beginning to its end."""
        others = (begin + length - 1, begin + length // 2)
        return self._is_bold_at(text_page, begin) and all(self._is_bold_at(text_page, index) for index in others)

    def _is_bold_at(self, text_page: Any, index: int) -> bool:
        name = self._font_name
        self._find_font(text_page, index, name, _NAME_ROOM, self._to_flags)
        return bool(self._font_flags.value & _FORCE_BOLD) or _is_bold_name(name.value)

    def _font_size(self, text_page: Any, index: int) -> float:
        """The font size of a character in points; 0 for one that PDFium has added."""
        if not self._find_matrix(text_page, index, self._to_matrix):
            return 0.0
        matrix = self._matrix
        scale: float = abs(matrix.d) or abs(matrix.c)
        return float(self._height_in_font(text_page, index)) * scale

    def _in_reading_order(self, text_page: Any, begin: int, text: str) -> str:
        """A line of Arabic or Hebrew with the letters of each word from right to left; the words are in order already.

        Files draw a word's letters in either direction, and PDFium reverses all of them. Digits and Latin letters run
        from left to right within the word, and brackets are drawn as they look.
        """
        words, start = [], 0
        find, box, places = self._find_box, self._first, self._places
        for word in text.split(" "):
            if _RIGHT_TO_LEFT.search(word):
                lefts = []
                for index in range(begin + start, begin + start + len(word)):
                    find(text_page, index, box)
                    lefts.append(places[0])
                drawn = "".join([word[at] for _, at in sorted((-left, at) for at, left in enumerate(lefts))])
                words.append(_turned(drawn))
            else:
                words.append(word if word.isalnum() else word.translate(_MIRRORED))
            start += len(word) + 1
        return " ".join(words)


def _unchecked(function: Any) -> Any:
    """A function of PDFium for calls by the ten thousand: checking the types of its arguments takes twice as long as
    the function itself.

    Without them, an int that is passed has 32 bits; handles, `byref` and ctypes' own numbers keep their size.
    """
    return ctypes.CFUNCTYPE(function.restype)(ctypes.cast(function, ctypes.c_void_p).value or 0)


@lru_cache(_FONTS_KEPT)
def _is_bold_name(name: bytes) -> bool:
    return _BOLD_NAME.search(name) is not None


def _turned(drawn: str) -> str:
    """A word in reading order, given as drawn from right to left; digits and Latin letters in it run from left to
    right.
    """
    if drawn.isalpha() and not _LEFT_TO_RIGHT.search(drawn):
        return drawn
    return _LEFT_TO_RIGHT.sub(lambda run: run[0][::-1], drawn).translate(_MIRRORED)


_PASSWORD_ERROR = 4
_MOST_PAGES = 20_000
_MOST_BOOKMARKS = 20_000
POINTS_PER_INCH = 72
DOTS_PER_INCH = 200
"""The resolution for drawing pages. With 300, printed books were not read better and took a fifth longer."""
LONGEST_SIDE = 5_000
"""Pixels of a page's longer side; a folio of 60 cm has 4,700."""
_WHITE = 0xFFFFFFFF
_LONGEST_STAMP = 40
_FEWEST_RISES = 4
_MOST_OF_A_PAGE = 0.6
_MOST_OBJECTS = 50


@dataclass(frozen=True, slots=True)
class PdfPage:
    label: str
    lines: tuple[PdfLine, ...]
    is_picture: bool
    is_cipher: bool = False
    """It shows letters, but the file does not say which: what there is to read has to be seen, as in a picture."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline; `page` counts from 0, `top` is the height it points to, if given."""

    title: str
    depth: int
    page: int
    top: float | None


class Picture(NamedTuple):
    """A page image in shades of grey, a byte per pixel, row by row; `points` is the size of a pixel in points."""

    pixels: bytes
    width: int
    height: int
    points: float


@dataclass(frozen=True, slots=True)
class PdfDocument:
    pages: tuple[PdfPage, ...]
    outline: tuple[Bookmark, ...] = ()
    title: str = ""
    author: str = ""
    language: str = ""


def read_document(
    data: bytes,
    limits: ReadingLimits,
    report: Report,
    recognise: Callable[[Picture], tuple[PdfLine, ...]] | None = None,
) -> PdfDocument:
    """Extract everything the parser needs from a PDF; with `recognise`, pages that are pictures get their lines from
    it.

    Raises:
        BookError: ENCRYPTED, PARSE_FAILED or TOO_LARGE.
    """
    import pypdfium2_raw as pdfium  # type: ignore[import-untyped]

    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        if pdfium.FPDF_GetLastError() == _PASSWORD_ERROR:
            message = "This PDF is locked with a password. Please add a copy that opens without one."
            raise BookError(BookErrorCode.ENCRYPTED, message)
        message = "This PDF is damaged and cannot be opened. Please download or export it again."
        raise BookError(BookErrorCode.PARSE_FAILED, message)
    try:
        count = pdfium.FPDF_GetPageCount(document)
        if count > _MOST_PAGES:
            too_large = Worded("This PDF has more than {most:,} pages. Please split it.", most=_MOST_PAGES)
            raise BookError(BookErrorCode.TOO_LARGE, too_large)
        return PdfDocument(
            tuple(_pages(pdfium, document, count, limits, report, recognise)),
            tuple(_bookmarks(pdfium, document)),
            _string(partial(pdfium.FPDF_GetMetaText, document, b"Title")),
            _string(partial(pdfium.FPDF_GetMetaText, document, b"Author")),
        )
    finally:
        pdfium.FPDF_CloseDocument(document)


def _pages(
    pdfium: Any,
    document: Any,
    count: int,
    limits: ReadingLimits,
    report: Report,
    recognise: Callable[[Picture], tuple[PdfLine, ...]] | None,
) -> Iterator[PdfPage]:
    reader, characters = LineReader(pdfium), 0
    for index in range(count):
        page = pdfium.FPDF_LoadPage(document, index)
        if not page:
            yield PdfPage(_label(pdfium, document, index), (), is_picture=False)
            continue
        try:
            read = reader.lines(page)
            lines = _downward(read or ())
            is_picture = read is None or _is_picture(pdfium, page, lines)
            if is_picture and recognise:
                lines = recognise(_drawn(pdfium, page))
        finally:
            pdfium.FPDF_ClosePage(page)
        characters += sum([len(line.text) for line in lines])
        check_length(characters, limits)
        report(index / count)
        yield PdfPage(_label(pdfium, document, index), lines, is_picture, is_cipher=read is None)


def _downward(lines: tuple[PdfLine, ...]) -> tuple[PdfLine, ...]:
    """The lines of a page from top to bottom; some programs draw pages from the last line up."""
    rises = sum(
        below.top - above.top > _NEXT_LINE * above.size > 0 and below.left < below.right  # and is not upside down
        for above, below in pairwise(lines)
    )
    is_upward = rises >= _FEWEST_RISES and rises * 10 >= 9 * (len(lines) - 1)
    return lines[::-1] if is_upward else lines


def _is_picture(pdfium: Any, page: Any, lines: Sequence[PdfLine]) -> bool:
    """Whether a page shows a picture and no text, or a stamp such as "Digitized by a library" at most."""
    if sum(len(line.text) for line in lines) > _LONGEST_STAMP:
        return False
    count = pdfium.FPDFPage_CountObjects(page)
    return count > 0 if not lines else any(_fills(pdfium, page, at) for at in range(min(count, _MOST_OBJECTS)))


def _fills(pdfium: Any, page: Any, at: int) -> bool:
    """Whether an object of a page is an image that takes up most of it."""
    image = pdfium.FPDFPage_GetObject(page, at)
    if pdfium.FPDFPageObj_GetType(image) != pdfium.FPDF_PAGEOBJ_IMAGE:
        return False
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(image, left, bottom, right, top)
    area = (right.value - left.value) * (top.value - bottom.value)
    return bool(area > _MOST_OF_A_PAGE * pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page))


def _drawn(pdfium: Any, page: Any) -> Picture:
    """The page as it looks on paper, at the resolution that text recognition needs."""
    width, height = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    scale = min(DOTS_PER_INCH / POINTS_PER_INCH, LONGEST_SIDE / max(width, height, 1))
    columns, rows = max(1, round(width * scale)), max(1, round(height * scale))
    pixels = (ctypes.c_ubyte * (columns * rows))()
    bitmap = pdfium.FPDFBitmap_CreateEx(columns, rows, pdfium.FPDFBitmap_Gray, pixels, columns)
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, columns, rows, _WHITE)
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, columns, rows, 0, pdfium.FPDF_GRAYSCALE)
    pdfium.FPDFBitmap_Destroy(bitmap)
    return Picture(bytes(pixels), columns, rows, 1 / scale)


def _label(pdfium: Any, document: Any, index: int) -> str:
    """The page's own label, else its number as every viewer shows it."""
    return _string(partial(pdfium.FPDF_GetPageLabel, document, index)) or str(index + 1)


def _string(ask: Callable[[Any, int], int]) -> str:
    """A string from PDFium, which is called once for the size in bytes and once for the UTF-16 with a final zero."""
    size = ask(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(buffer, size)
    return " ".join(buffer.raw[: size - 2].decode("utf-16-le", "replace").split())


def _bookmarks(pdfium: Any, document: Any) -> Iterator[Bookmark]:
    """The outline in reading order; a cyclic one is followed once."""
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

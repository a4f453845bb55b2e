"""The lines on the pages of a PDF, with their places.

PDFium's own functions are called, not the helpers around them, and fill the same few buffers page after page: making
one costs more than what is then read into it.
"""

import ctypes
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

_LINE_BREAK = "\r\n"
_USUAL_CHARACTERS = 4_096
_NEXT_LINE = 0.6
"""How much lower, in heights of its type, what stands in the next line is at least."""
_WORD_START = re.compile("(?<=[\\s\ufffe])[^\\s\ufffe]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile("[0-9A-Za-z\u0660-\u0669\u06f0-\u06f9][0-9A-Za-z\u0660-\u0669\u06f0-\u06f9.,:/-]*")
_MIRRORED = str.maketrans("()[]{}«»‹›<>", ")(][}{»«›‹><")


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
                left, above, right_of_first, below, left_of_last, top, right, bottom = self._places
                size = min(above - below, top - bottom)  # drop capitals are high
                if _RIGHT_TO_LEFT.search(stripped):
                    text = self._in_reading_order(text_page, begin, stripped)
                    size = self._font_size(text_page, begin) or size
                    yield PdfLine(text, -max(right_of_first, right), -min(left, left_of_last), top, size)
                elif above - top > _NEXT_LINE * size:
                    yield from self._cut_lines(text_page, begin, stripped)
                else:
                    yield PdfLine(stripped, left, right, top, size)
            start += len(line) + len(_LINE_BREAK)

    def _cut_lines(self, text_page: Any, begin: int, text: str) -> Iterator[PdfLine]:
        """Lines that PDFium took for one: each begins lower and further left than the word before, or at a cut word."""
        starts = [0]
        _, top, right, size = self._box(text_page, begin)
        for word in _WORD_START.finditer(text):
            left, next_top, next_right, next_size = self._box(text_page, begin + word.start())
            if top - next_top > _NEXT_LINE * min(size, next_size) and next_right < right:
                starts.append(word.start())
            top, right, size = next_top, next_right, next_size
        for start, end in pairwise([*starts, len(text)]):
            line = text[start:end].rstrip()
            left, _, _, height = self._box(text_page, begin + start)
            _, top, right, size = self._box(text_page, begin + start + len(line) - 1)
            yield PdfLine(line, left, right, top, min(height, size))

    def _box(self, text_page: Any, index: int) -> tuple[float, float, float, float]:
        """A character's left edge, top, right edge and height."""
        self._pdfium.FPDFText_GetLooseCharBox(text_page, index, self._first)
        left, top, right, bottom = self._places[:4]
        return left, top, right, top - bottom

    def _font_size(self, text_page: Any, index: int) -> float:
        """The size of a character's font in points: boxes of Arabic letters are as high as the letters are."""
        matrix = self._pdfium.FS_MATRIX()
        self._pdfium.FPDFText_GetMatrix(text_page, index, matrix)
        return float(self._pdfium.FPDFText_GetFontSize(text_page, index) * abs(matrix.d))

    def _in_reading_order(self, text_page: Any, begin: int, text: str) -> str:
        """A line of Arabic or Hebrew with the letters of each word from right to left; words are in order as they come.

        Files draw a word's letters in either direction, and PDFium turns them all around. Digits and Latin letters
        run from left to right within the word, and brackets are drawn as they look.
        """
        words, start = [], 0
        find, box, places = self._pdfium.FPDFText_GetLooseCharBox, self._first, self._places
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


def _turned(drawn: str) -> str:
    """A word as drawn from right to left, in which digits and Latin letters run from left to right."""
    if drawn.isalpha() and not _LEFT_TO_RIGHT.search(drawn):
        return drawn
    return _LEFT_TO_RIGHT.sub(lambda run: run[0][::-1], drawn).translate(_MIRRORED)


def _unplaced_lines(text: str) -> Iterator[PdfLine]:
    for number, line in enumerate(text.splitlines()):
        if stripped := line.strip():
            yield PdfLine(stripped, 0, len(stripped), -number, 0)


SPLIT = "\ufffe"
"""Where a word is cut at the end of a line; PDFium's own sign for it."""

_CUT_WORD = re.compile(rf"(?<![^\W\d_])([^\W\d_]+){SPLIT}(\w+)")
_FROM_CUT = re.compile(rf"{SPLIT}[^ ]*")
_STOPS = ",.;:!?"


def mend_words(texts: Sequence[str]) -> list[str]:
    """The paragraphs of a book with their words whole, and with the hyphens that are the author's."""
    pairs = {word.groups() for text in texts for word in _cut_words(text)}
    hyphened = _hyphened(pairs, set(" ".join(texts).lower().split())) if pairs else set()
    return [_mended(text, hyphened) if SPLIT in text else text for text in texts]


def _cut_words(text: str) -> Iterator[re.Match[str]]:
    """The words of a text that are cut, looked for where a cut is: most words are whole."""
    for cut in _FROM_CUT.finditer(text):
        yield from _CUT_WORD.finditer(text, text.rfind(" ", 0, cut.start()) + 1, cut.end())


def _mended(text: str, hyphened: Collection[tuple[str, ...]]) -> str:
    """The text with its words whole: where one had no hyphen of its own, there is nothing between its parts."""
    joined = [word.end(1) for word in _cut_words(text) if word.groups() not in hyphened]
    return "".join(text[end + 1 : cut] for end, cut in pairwise([-1, *joined, len(text)])).replace(SPLIT, "-")


def _hyphened(pairs: set[tuple[str, ...]], words: Collection[str]) -> set[tuple[str, ...]]:
    """Which of the cut words have a hyphen of their own.

    How a word is written elsewhere in the book decides; where it is nowhere else, how most of the others are. Books
    whose typesetter never hyphenates break lines only at such hyphens.
    """

    def is_written(word: str) -> bool:
        return any(f"{word.lower()}{stop}" in words for stop in ("", *_STOPS))

    own = {pair for pair in pairs if not pair[1][0].islower() or is_written("-".join(pair))}
    joined = {pair for pair in pairs if is_written("".join(pair))} - own
    unknown = pairs - own - joined
    if len(own) == len(joined):
        return own | {pair for pair in unknown if all(map(is_written, pair))}
    return own | unknown if len(own) > len(joined) else own

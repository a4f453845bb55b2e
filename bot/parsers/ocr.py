"""Text recognition (OCR) with Tesseract, by its C library and within the sandbox.

Tesseract's own program starts threads and opens files while it works; its library does neither. Library and models are
loaded before the process is locked down, and page images reach it only afterwards.
"""

import ctypes
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from ctypes.util import find_library
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from bot.parsers.draft import middle
from bot.parsers.pdf.document import DOTS_PER_INCH, LONGEST_SIDE, POINTS_PER_INCH, PdfLine, PdfPage, Picture

MOST_LANGUAGES = 4
_MODELS = ".traineddata"
_NO_LANGUAGES = ("osd", "equ")
_USUAL_LANGUAGES = ("eng", "deu", "fra", "spa", "ita", "por", "nld", "rus")
_FOLDERS = (
    "usr/share/tesseract-ocr/*/tessdata",
    "usr/share/tesseract/tessdata",
    "usr/share/tessdata",
    "usr/local/share/tessdata",
    "opt/homebrew/share/tessdata",
)
_LINE, _WORD = "4", "5"
_COLUMNS = 12
_LEAST_CONFIDENCE = 15.0
"""Percent; below it a "word" is a stain or an ornament."""
_STROKES = re.compile(r"[Il|]{1,3}")
_STROKE = re.compile(r"(?<!\S)\|(?!\S)")
_SAMPLE_WORDS = 60
_SAMPLE_PAGES = 5
_SAME_SIZE = 1.3


@dataclass(frozen=True, slots=True)
class OcrInstallation:
    """This machine's Tesseract: its library, the folder of its models, and the languages to read in."""

    library: str
    models: str
    languages: tuple[str, ...]


def find_ocr(languages: Sequence[str] = ()) -> OcrInstallation | None:
    """Tesseract with models of `languages` (three-letter codes), or of the usual ones here; None if there is none.

    It may start `ldconfig` to find the library, and so blocks for a moment.
    """
    library, folder = find_library("tesseract"), _models_folder()
    if library is None or folder is None:
        return None
    installed = [path.stem for path in sorted(folder.glob(f"*{_MODELS}")) if path.stem not in _NO_LANGUAGES]
    wanted = languages or sorted(
        installed, key=lambda name: _USUAL_LANGUAGES.index(name) if name in _USUAL_LANGUAGES else len(_USUAL_LANGUAGES)
    )
    chosen = tuple(name for name in wanted if name in installed)[:MOST_LANGUAGES]
    return OcrInstallation(library, str(folder), chosen) if chosen else None


def _models_folder() -> Path | None:
    own = os.environ.get("TESSDATA_PREFIX")
    folders = [Path(own), Path(own) / "tessdata"] if own else []
    folders += [path for pattern in _FOLDERS for path in sorted(Path("/").glob(pattern), reverse=True)]
    return next((folder for folder in folders if any(folder.glob(f"*{_MODELS}"))), None)


class TextRecogniser:
    """Reads the lines of pages, one page at a time. The first pages with enough words decide the language."""

    def __init__(self, installation: OcrInstallation) -> None:
        """Load the library and the models; nothing is read from disk afterwards.

        Raises:
            OSError: the library or a model cannot be loaded.
        """
        os.environ["OMP_THREAD_LIMIT"] = "1"  # read when the library is loaded; the sandbox allows no threads
        self._library = _declared(ctypes.CDLL(installation.library))
        self._engines = [self._engine(installation.models, language) for language in installation.languages]
        self._sampled = 0

    def lines(self, picture: Picture) -> tuple[PdfLine, ...]:
        """The lines of a page from top to bottom, with their positions in points."""
        if len(self._engines) > 1:
            return self._lines_in_likeliest_language(picture)
        return self._read(self._engines[0], picture)[0]

    def picture_of(self, image: bytes) -> Picture | None:
        """A JPEG, PNG, TIFF, GIF or WebP as a page image, or None if it is damaged or too large."""
        width, height, unused = c_int(), c_int(), c_int()
        head = (ctypes.byref(each) for each in (unused, width, height, unused, unused, unused))
        if self._library.pixReadHeaderMem(image, len(image), *head) or max(width.value, height.value) > LONGEST_SIDE:
            return None
        pix = self._library.pixReadMem(image, len(image))
        grey = self._library.pixConvertTo8(pix, 0) if pix else None
        try:
            return self._pixels(grey) if grey else None
        finally:
            for each in (pix, grey):
                self._library.pixDestroy(ctypes.byref(c_void_p(each)))

    def _pixels(self, grey: int) -> Picture:
        """Copy the pixels; Leptonica stores rows of 32-bit words in the machine's byte order."""
        self._library.pixEndianByteSwap(grey)
        width, height = self._library.pixGetWidth(grey), self._library.pixGetHeight(grey)
        stride = 4 * self._library.pixGetWpl(grey)
        rows = ctypes.string_at(self._library.pixGetData(grey), stride * height)
        pixels = rows if stride == width else b"".join(rows[at : at + width] for at in range(0, len(rows), stride))
        return Picture(pixels, width, height, POINTS_PER_INCH / DOTS_PER_INCH)

    def _engine(self, models: str, language: str) -> int:
        engine = self._library.TessBaseAPICreate()
        if self._library.TessBaseAPIInit3(engine, models.encode(), language.encode()) != 0:
            raise OSError(f"Tesseract cannot load its model {language}")
        return int(engine)

    def _lines_in_likeliest_language(self, picture: Picture) -> tuple[PdfLine, ...]:
        """Read by every engine; once there are enough words, only the most confident one continues."""
        found = [(self._read(engine, picture), engine) for engine in self._engines]
        (lines, _), best = max(found, key=lambda each: each[0][1])
        self._sampled += 1
        if sum(len(line.text.split()) for line in lines) >= _SAMPLE_WORDS or self._sampled >= _SAMPLE_PAGES:
            self._engines = [best]
        return lines

    def _read(self, engine: int, picture: Picture) -> tuple[tuple[PdfLine, ...], float]:
        """The lines of a page, and the mean confidence 0..100 of its words."""
        pixels, width, height, points = picture
        self._library.TessBaseAPISetImage(engine, pixels, width, height, 1, width)
        self._library.TessBaseAPISetSourceResolution(engine, round(POINTS_PER_INCH / points))
        table = self._library.TessBaseAPIGetTsvText(engine, 0)
        if not table:
            return (), 0.0
        rows = [row.split("\t") for row in ctypes.string_at(table).decode("utf-8", "replace").split("\n")]
        self._library.TessDeleteText(table)
        words = [row for row in rows if len(row) == _COLUMNS and row[0] == _WORD and row[-1].strip()]
        sure = [float(row[10]) for row in words]
        confidence = sum(sure) / len(sure) if sure else 0.0
        return tuple(_lines(words, height, points)), confidence


def _lines(words: Iterable[Sequence[str]], height: int, points: float) -> Iterator[PdfLine]:
    """The lines in Tesseract's table of words, whose columns its manual explains.

    A line is as high as most of its words, because stains and slant make some of them higher.
    """
    for _, row in groupby(words, key=lambda word: tuple(word[2:5])):
        kept = [word for word in row if float(word[10]) >= _LEAST_CONFIDENCE]
        if kept:
            boxes = [tuple(int(number) * points for number in word[6:10]) for word in kept]
            left, right = boxes[0][0], max(x + width for x, _, width, _ in boxes)
            bottom, tall = middle(y + tall for _, y, _, tall in boxes), middle(tall for *_, tall in boxes)
            yield PdfLine(
                _mended(" ".join(word[11] for word in kept)), left, right, height * points - bottom + tall, tall
            )


def _mended(line: str) -> str:
    """A line with "I" where strokes were recognised: alone on a line they are a chapter number, in prose a pronoun."""
    if _STROKES.fullmatch(line):
        return "I" * len(line)
    return _STROKE.sub("I", line) if "|" in line else line


def with_even_sizes(pages: Sequence[PdfPage], body: float = 0.0) -> list[PdfPage]:
    """The pages with lines of about the usual height set to it: how high a line is depends on its letters.

    `body` is the height of the type on pages that are no pictures: lines of pictures are measured by that.
    """
    sizes = [line.size for page in pages if page.is_picture for line in page.lines if len(line.text) > 20]
    if not sizes:
        return list(pages)
    usual = middle(sizes)
    scale = body / usual if body else 1.0

    def even(line: PdfLine) -> PdfLine:
        return line._replace(size=scale * (usual if line.size < _SAME_SIZE * usual else line.size))

    return [replace(page, lines=tuple(map(even, page.lines))) if page.is_picture else page for page in pages]


def _declared(library: Any) -> Any:
    """The library with declared types for functions with pointers; Leptonica's functions are found through it."""
    pointers = {
        "TessBaseAPICreate": [],
        "TessBaseAPIGetTsvText": [c_void_p, c_int],
        "pixReadMem": [c_char_p, c_size_t],
        "pixConvertTo8": [c_void_p, c_int],
        "pixGetData": [c_void_p],
    }
    numbers = {
        "TessBaseAPIInit3": [c_void_p, c_char_p, c_char_p],
        "TessBaseAPISetImage": [c_void_p, c_char_p, c_int, c_int, c_int, c_int],
        "TessBaseAPISetSourceResolution": [c_void_p, c_int],
        "TessDeleteText": [c_void_p],
        "pixReadHeaderMem": [c_char_p, c_size_t, *[c_void_p] * 6],
        "pixDestroy": [c_void_p],
        "pixEndianByteSwap": [c_void_p],
        "pixGetWidth": [c_void_p],
        "pixGetHeight": [c_void_p],
        "pixGetWpl": [c_void_p],
    }
    for name, types in {**pointers, **numbers}.items():
        function = getattr(library, name)
        function.argtypes, function.restype = types, c_void_p if name in pointers else c_int
    return library

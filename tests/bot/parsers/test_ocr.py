"""Pages that are pictures: read by Tesseract where it is installed, within bounds, and marked as read so.

Where Tesseract is not installed, only the refusals are tested.
"""

import asyncio
import io
import pickle
import re
import struct
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pypdfium2_raw as pdfium  # type: ignore[import-untyped]
import pytest
from pypdf import PdfReader, PdfWriter

from bot.cli.books import _book_fields, _format
from bot.client.checks import check_ocr
from bot.parsers.ocr import find_ocr
from bot.parsers.pdf.document import Picture, _drawn
from bot.parsers.sandbox import pool, worker
from bot.parsers.sandbox.pool import OcrBounds, SandboxedParser
from bot.settings import load_settings
from domain.book import Book
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers import builders
from tests.bot.parsers.builders import PdfLine, epub
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph

_INSTALLED = find_ocr(["eng"])
_needs_tesseract = pytest.mark.skipif(_INSTALLED is None, reason="Tesseract is not installed")


def page(number: int, heading: str = "") -> list[str | PdfLine]:
    lines = textwrap.wrap(paragraph(number), 52)
    start: list[str | PdfLine] = [PdfLine(heading, size=18)] if heading else []
    return [*start, *(PdfLine(line, y=500 - 14 * at) for at, line in enumerate(lines))]


def pictures_of(data: bytes) -> list[Picture]:
    """The pages of a PDF as they look."""
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    pages = [pdfium.FPDF_LoadPage(document, number) for number in range(pdfium.FPDF_GetPageCount(document))]
    return [_drawn(pdfium, each) for each in pages]


def scanned(pages: Sequence[Sequence[str | PdfLine]], *, labels: str = "") -> bytes:
    """A PDF that holds nothing but pictures of pages."""
    return builders.scanned_pdf(pictures_of(builders.pdf(pages)), labels=labels)


def png(picture: Picture) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))

    head = struct.pack(">LLBBBBB", picture.width, picture.height, 8, 0, 0, 0, 0)
    rows = (picture.pixels[at : at + picture.width] for at in range(0, len(picture.pixels), picture.width))
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


RECOGNISED = """
import pickle, sys
from bot.parsers.ocr import TextRecogniser
installed, picture = pickle.load(sys.stdin.buffer)
recogniser = TextRecogniser(installed)
text = " ".join(line.text for line in recogniser.lines(picture))
pickle.dump((text, len(recogniser._engines)), sys.stdout.buffer)
"""
"""A process of its own, as every reader is: at its end Tesseract complains of the models that are still loaded."""


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@_needs_tesseract
async def test_a_scanned_pdf_is_read_and_its_pages_keep_their_numbers() -> None:
    data = scanned([page(1, "Chapter 1"), page(2), page(3, "Chapter 2"), page(4)], labels="0 << /S /r >> 1 << /S /D >>")
    steps: list[tuple[str, float]] = []
    book = check(await SandboxedParser(ocr=OcrBounds()).read(data, "a.pdf", lambda *step: steps.append(step)))
    assert book.format == "pdf+ocr"
    assert [each.label for each in book.pages] == ["i", "1", "2", "3"]
    assert titles(book) == ["Chapter 1", "Chapter 2"]
    printed = words(" ".join(map(paragraph, (1, 2, 3, 4))))
    assert len({*printed} & {*words(book.text)}) > 0.97 * len({*printed})
    assert "read them by OCR" in book.warnings[0]
    assert "recognising" in {stage for stage, _ in steps}


@_needs_tesseract
async def test_an_epub_of_pictures_is_read_picture_by_picture() -> None:
    pictures = {f"OPS/{at}.png": png(each) for at, each in enumerate(pictures_of(builders.pdf([page(1), page(2)])))}
    data = epub({"a.xhtml": "<img src='0.png'/>", "b.xhtml": "<svg><image href='1.png'/></svg>"}, parts=pictures)
    book = check(await SandboxedParser(ocr=OcrBounds()).read(data, "a.epub"))
    assert (book.format, book.title, book.author) == ("epub+ocr", "A Test", "Ann Author")
    assert [each.label for each in book.pages] == ["1", "2"]
    assert "Paragraph 2 begins here" in book.text[book.pages[1].start :]


@_needs_tesseract
async def test_damaged_pictures_are_pages_without_words() -> None:
    pictures = {"OPS/0.png": b"\x89PNG\r\n\x1a\n and no more", "OPS/1.png": b"GIF89a"}
    data = epub({"a.xhtml": "<img src='0.png'/><img src='1.png'/>"}, parts=pictures)
    with pytest.raises(BookError, match="could make out no words") as refused:
        await SandboxedParser(ocr=OcrBounds()).read(data, "a.epub")
    assert refused.value.code is BookErrorCode.NO_TEXT


async def test_without_recognition_the_refusal_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    data = builders.pdf([[], [], []], pictures=True)
    with pytest.raises(BookError, match=r"Please run it through text recognition \(OCR\) first"):
        await SandboxedParser().read(data, "a.pdf")
    monkeypatch.setattr(pool, "find_ocr", lambda languages: None)
    with pytest.raises(BookError, match=r"Please run it through text recognition \(OCR\) first"):
        await SandboxedParser(ocr=OcrBounds()).read(data, "a.pdf")


@_needs_tesseract
async def test_more_pages_than_allowed_are_refused_before_any_is_recognised() -> None:
    with pytest.raises(BookError, match=r"3 pages .* of 2 at most") as refused:
        await SandboxedParser(ocr=OcrBounds(pages=2)).read(builders.pdf([[], [], []], pictures=True), "a.pdf")
    assert refused.value.code is BookErrorCode.TOO_LARGE


@_needs_tesseract
async def test_one_book_is_recognised_at_a_time() -> None:
    parser = SandboxedParser(ocr=OcrBounds())
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def note(stage: str, share: float) -> None:
        loop.call_soon_threadsafe(begun.set)

    first = asyncio.create_task(parser.read(scanned([page(1)] * 3), "a.pdf", note))
    await begun.wait()
    with pytest.raises(BookError, match="again in a few minutes"):
        await parser.read(builders.pdf([[]], pictures=True), "b.pdf")
    assert (await first).format == "pdf+ocr"


def test_recognition_stops_as_soon_as_it_is_plain_that_it_will_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_SECONDS_OF_TRIAL", 0.0)
    shares: list[float] = []
    report = worker._bounded(shares.append, seconds=1_000.0)
    report(0.5)
    with pytest.raises(BookError, match="longer than 17 minutes"):
        report(0.0)
    assert shares == [0.5]


@_needs_tesseract
def test_the_language_is_the_one_whose_words_are_surest() -> None:
    installed = find_ocr(["eng", "deu"])
    if installed is None or len(installed.languages) < 2:
        pytest.skip("the German model is not installed")
    lines = textwrap.wrap("Die Möwen über den Dächern schrien, während der Wärter müde die Öllampe löschte. " * 6, 52)
    (picture,) = pictures_of(builders.pdf([[*lines]]))
    given = pickle.dumps((replace(installed, languages=("eng", "deu")), picture))
    ran = subprocess.run([sys.executable, "-c", RECOGNISED], input=given, capture_output=True, check=True)
    text, engines = pickle.loads(ran.stdout)
    assert "über den Dächern" in text
    assert engines == 1


async def test_the_check_says_whether_scanned_books_can_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("bot.parsers.ocr.find_library", lambda name: None)
    assert "install Tesseract" in (await check_ocr(load_settings(_env_file=None))).sentence
    assert "OCR_MAX_PAGES is 0" in (await check_ocr(load_settings(_env_file=None, ocr_max_pages=0))).sentence


@_needs_tesseract
async def test_the_check_names_the_languages_there_are_and_those_that_are_missing() -> None:
    found = await check_ocr(load_settings(_env_file=None, ocr_languages="eng,xyz"))
    assert "Tesseract (eng)" in found.sentence
    assert "Not installed: xyz" in found.sentence
    assert not found.ok


def test_a_book_read_so_is_marked_for_good(book: Book) -> None:
    fields = _book_fields(replace(book, format="pdf+ocr"))
    assert (fields["format"], fields["read_by_ocr"]) == ("pdf", True)
    assert _book_fields(book)["read_by_ocr"] is False
    partly = replace(book, format="pdf+ocr-part")
    assert (_book_fields(partly)["format"], _format(partly)) == ("pdf", "pdf (partly read by OCR)")


@pytest.fixture
def book() -> Book:
    from datetime import UTC, datetime

    return Book("b", "local", "0" * 64, "A Test", "Ann", "pdf", 4, 2, 100, 600, datetime.now(UTC))


def partly_scanned(texts: Sequence[tuple[int, str]], scans: Sequence[tuple[int, str]]) -> bytes:
    """A PDF of pages with text, and then of pages that are pictures."""
    writer = PdfWriter()
    for data in (builders.pdf([page(*each) for each in texts]), scanned([page(*each) for each in scans])):
        for each in PdfReader(io.BytesIO(data)).pages:
            writer.add_page(each)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


PARTS = ([(1, "Chapter 1"), (2, "")], [(3, "Chapter 2"), (4, ""), (5, "")])


@_needs_tesseract
async def test_the_scanned_pages_of_a_pdf_with_text_are_read_too() -> None:
    book = check(await SandboxedParser(ocr=OcrBounds()).read(partly_scanned(*PARTS), "a.pdf"))
    assert book.format == "pdf+ocr-part"
    assert titles(book) == ["Chapter 1", "Chapter 2"]
    assert paragraph(2)[:40] in " ".join(book.text.split())
    assert "Paragraph 5 begins here" in book.text[book.pages[4].start :]
    assert "3 of the 5 pages of this book are pictures. I read those by OCR" in book.warnings[0]


@_needs_tesseract
async def test_more_scanned_pages_than_allowed_leave_the_text_of_the_others() -> None:
    book = check(await SandboxedParser(ocr=OcrBounds(pages=2)).read(partly_scanned(*PARTS), "a.pdf"))
    assert (book.format, len(book.pages)) == ("pdf", 5)
    assert "3 of 5 pages are pictures without text" in book.warnings[0]


async def test_without_recognition_a_partly_scanned_book_says_how_many_pages_are_pictures() -> None:
    pages = [page(1, "Chapter 1"), page(2, ""), [], [], []]
    book = check(await SandboxedParser().read(builders.pdf(pages, pictures=True), "a.pdf"))
    assert book.pictures == 3
    assert "add a copy that went through text recognition (OCR)" in book.warnings[0]

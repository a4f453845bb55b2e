"""The lines of a page, with the places and sizes that PDFium gives."""

import pypdfium2_raw  # type: ignore[import-untyped]
import pytest

from bot.parsers.draft import DEFAULT_LIMITS, ignore_progress
from bot.parsers.pdf.document import LineReader, read_document
from tests.bot.parsers import builders


@pytest.mark.parametrize(
    ("extracted", "lefts", "read"),
    [
        ("نم", [10, 20], "من"),
        ("من", [20, 10], "من"),
        ("من قال", [50, 40, 0, 10, 20, 30], "من لاق"),
        ("»من", [30, 20, 10], "«من"),
        ("ص12", [30, 10, 20], "ص12"),
        ("12 ص", [50, 60, 0, 10], "12 ص"),
    ],
)
def test_words_of_arabic_are_read_as_they_are_drawn(extracted: str, lefts: list[float], read: str) -> None:
    reader = LineReader(pypdfium2_raw)
    reader._find_box = lambda _page, index, _box: reader._places.__setitem__(0, lefts[index])
    assert reader._in_reading_order(None, 0, extracted) == read


def test_lines_of_one_size_have_it_whatever_their_letters_are() -> None:
    lines = ["A sea of ooze", "no one came.", "jetty, quay", "Tall flag pole", "o", "’tis so —"]
    document = read_document(builders.pdf([lines]), DEFAULT_LIMITS, ignore_progress)
    assert {line.size for line in document.pages[0].lines} == {11}


def test_a_page_with_letters_of_formulas_has_places_like_any_other() -> None:
    lines = ["The head x of the weir, and", "the square of x, give its", "flow at every hour."]
    data = builders.numbered_pdf([lines], ord, lambda sign: "\U0001d465" if sign == "x" else sign)
    (page,) = read_document(data, DEFAULT_LIMITS, ignore_progress).pages
    assert [line.text for line in page.lines] == [line.replace("x", "\U0001d465") for line in lines]
    assert {(line.left, line.size) for line in page.lines} == {(50, 11)}


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        (b"[(p) -111 (\xb4) 444 (agina f) -111 (\xa8) 444 (ur l\xb4ami)] TJ", "página für l´ami"),
        (b"[(di ) -111 (`) 444 (e) -278 (uno)] TJ", "di è uno"),
    ],
)
def test_accents_are_on_the_letters_they_are_drawn_at(drawn: bytes, read: str) -> None:
    """As TeX draws them: in front, and back to the letter."""
    plain = f"{'x' * len(drawn)}"
    data = builders.pdf([[plain]]).replace(b"(" + plain.encode() + b") Tj", drawn.ljust(len(drawn) + 5))
    (page,) = read_document(data, DEFAULT_LIMITS, ignore_progress).pages
    assert [line.text for line in page.lines] == [read]


def test_accents_behind_the_word_are_on_their_letters_too() -> None:
    words = [
        ("Indice", 50),
        ("´", 49.5),
        ("de p", 86),
        ("agina", 107.5),
        ("´", 108.8),
        ("f", 150),
        ("ur", 153),
        ("¨", 154),
    ]
    data = builders.pdf([[builders.PdfLine(text, x, 500) for text, x in words]])
    (page,) = read_document(data, DEFAULT_LIMITS, ignore_progress).pages
    assert [line.text for line in page.lines] == ["Índice de página für"]


def test_a_page_with_signs_that_are_no_letters_has_places_like_any_other() -> None:
    """So are rules and arrows of old fonts, which PDFium counts and does not give."""
    lines = ["x The head of the weir, and", "the square of x, give its", "flow at every hour."]
    data = builders.numbered_pdf([["~", *lines]], ord, lambda sign: {"x": "\x02", "~": "\0"}.get(sign, sign))
    (page,) = read_document(data, DEFAULT_LIMITS, ignore_progress).pages
    assert [line.text.replace("\x02", "x") for line in page.lines] == lines
    assert {(line.left, line.size) for line in page.lines} == {(50, 11)}

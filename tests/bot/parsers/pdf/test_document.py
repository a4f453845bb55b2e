"""Words that were cut at the ends of lines: whole again, with the hyphens that are the author's."""

import ctypes
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.draft import DEFAULT_LIMITS, ignore_progress
from bot.parsers.pdf.document import SPLIT, LineReader, mend_words, read_document
from tests.bot.parsers import builders


def mended(text: str, *others: str) -> str:
    """The text as it is mended in a book that has the other paragraphs, too."""
    return mend_words([text.replace("|", SPLIT), *others])[0]


def test_a_word_is_whole_where_the_book_writes_it_whole() -> None:
    assert mended("The light|house was a won|derful thing.", "A lighthouse, wonderful.") == (
        "The lighthouse was a wonderful thing."
    )


def test_a_word_keeps_its_hyphen_where_the_book_writes_it_so() -> None:
    assert mended("The well|known keeper", "A well-known, quiet man.") == "The well-known keeper"


def test_names_keep_their_hyphen() -> None:
    assert mended("at Stratford-on|Avon", "a lighthouse") == "at Stratford-on-Avon"


@pytest.mark.parametrize(("others", "found"), [("half-way up", "sea-wall"), ("lighthouse keeper", "seawall")])
def test_a_word_that_stands_nowhere_else_is_written_as_most_others_are(others: str, found: str) -> None:
    assert mended("the sea|wall, half|way, the light|house", others).split()[1].rstrip(",") == found


def test_a_cut_that_is_in_no_word_is_a_hyphen() -> None:
    assert mended("| 12|30 and| then |so") == "- 12-30 and- then -so"


@given(st.lists(st.text(f"ab1é’- \n{SPLIT}", max_size=40), max_size=5))
def test_nothing_but_hyphens_is_lost_or_added(texts: list[str]) -> None:
    whole = mend_words(texts)
    assert SPLIT not in "".join(whole)
    assert [text.replace("-", "") for text in whole] == [text.replace("-", "").replace(SPLIT, "") for text in texts]


def test_a_word_without_an_end_is_mended_like_any_other() -> None:
    endless = "a" * 1_000_000
    assert mended(f"{endless}1light|house") == f"{endless}1lighthouse"


class _Drawn:
    """PDFium's answer to where characters are: each as far to the left as its number says."""

    class FS_RECTF(ctypes.Structure):
        _fields_: ClassVar = [(name, ctypes.c_float) for name in ("left", "top", "right", "bottom")]

    def __init__(self, lefts: list[float]) -> None:
        self._lefts = lefts

    def FPDFText_GetLooseCharBox(self, _page: object, index: int, box: "_Drawn.FS_RECTF") -> None:
        box.left = self._lefts[index]


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
    assert LineReader(_Drawn(lefts))._in_reading_order(None, 0, extracted) == read


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

"""Whatever words a book has, the rows of its file give back those of each stem, and nothing for another."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import BookText
from domain.library.search.index import index_book
from domain.library.search.languages import Analyzer
from storage.book_files.format import STEMS_A_ROW, WordRow, encode_numbers, encode_rows, find_analyzer

WORDS = st.lists(
    st.sampled_from(["was", "were", "lamp", "lamps", "Lamp", "灯", "é"]) | st.text(max_size=8), max_size=80
)
ANALYZERS = st.sampled_from(["", "ar", "de", "fr", "tr"]).map(find_analyzer)


@given(WORDS, ANALYZERS)
def test_every_stem_is_found_with_its_forms_and_places(words: list[str], analyzer: Analyzer) -> None:
    index = index_book(BookText(" ".join(words), (), (), "txt"))
    rows = [WordRow.decode(*map(bytes, row[1:])) for row in encode_rows(index, analyzer)]
    for stem, forms in index.stems(analyzer):
        [row] = [row for row in rows if stem in row.stems]
        assert {form.written: form.positions for form in row.forms_of(stem)} == {
            form: index.words[form] for form in forms
        }
        assert row.forms_of(f"{stem}?") == []


@given(WORDS, ANALYZERS)
def test_rows_are_in_order_and_short(words: list[str], analyzer: Analyzer) -> None:
    rows = list(encode_rows(index_book(BookText(" ".join(words), (), (), "txt")), analyzer))
    assert [row[0] for row in rows] == sorted({bytes(row[0]) for row in rows})
    assert all(1 <= len(WordRow.decode(*map(bytes, row[1:])).stems) <= STEMS_A_ROW for row in rows)


def numbers(*of: int) -> bytes:
    return encode_numbers(array("I", of))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param((b"be\nlamp", b"was were", numbers(1, 1), numbers(0, 1)), id="a stem too many"),
        pytest.param((b"be", b"was were", numbers(1), numbers(0)), id="a form too many"),
        pytest.param((b"be", b"was were", numbers(1, 1), numbers(0)), id="a place too few"),
        pytest.param((b"be", b"was", numbers(1), b"\0\0\0"), id="a place cut in two"),
        pytest.param((b"be", b"\xff", numbers(1), numbers(0)), id="no text"),
    ],
)
def test_what_does_not_fit_together_is_refused(row: tuple[bytes, bytes, bytes, bytes]) -> None:
    with pytest.raises(ValueError):
        WordRow.decode(*row)

"""Words are not torn at the edge of a terminal, nor lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.terminal import WordWrap


def wrapped(width: int | None, *pieces: str) -> str:
    wrap = WordWrap(width)
    return "".join([*map(wrap.feed, pieces), wrap.finish()])


def test_lines_break_between_words_wherever_the_stream_is_cut() -> None:
    assert wrapped(10, "the lam", "p was da", "rk\nand ", "cold") == "the lamp \nwas dark\nand cold"


def test_what_is_quoted_has_its_mark_on_every_line() -> None:
    assert wrapped(17, "> the lamp was ", "dark that night\nit", " was not so bad") == (
        "> the lamp was \n> dark that night\nit was not so bad"
    )


@pytest.mark.parametrize("reference", ["(p. 11)", "(about p. 11)", "(about pp. 11-12)", "(p. A-3)."])
def test_a_page_reference_is_on_one_line_wherever_the_stream_is_cut(reference: str) -> None:
    text = f"It was dark {reference}"
    for cut in range(len(text)):
        assert wrapped(len(text) - 1, text[:cut], text[cut:]) == f"It was dark \n{reference}", text[:cut]


def test_other_brackets_break_between_words() -> None:
    assert wrapped(14, "cold (about ", "the lamp)") == "cold (about \nthe lamp)"


def test_without_a_width_nothing_is_touched() -> None:
    assert wrapped(None, "the lamp ", "was dark") == "the lamp was dark"


@given(st.lists(st.text("ab \n", max_size=12), max_size=12), st.integers(1, 20))
def test_no_word_is_lost_and_no_line_too_long(pieces: list[str], width: int) -> None:
    text = "".join(pieces)
    shown = wrapped(width, *pieces)
    assert shown.split() == text.split()
    assert all(len(line.rstrip()) <= max(width, max(map(len, line.split()), default=0)) for line in shown.split("\n"))


def test_what_counts_is_the_room_that_letters_take() -> None:
    assert wrapped(10, "등대지기는 물에 빠졌다 ") == "등대지기는\n물에 \n빠졌다 ", "each of these takes two columns"
    marked = "e\u0301te\u0301 passe\u0301 "
    assert wrapped(10, marked) == marked, "and an accent of its own takes none"

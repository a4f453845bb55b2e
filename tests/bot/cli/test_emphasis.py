"""A terminal shows emphasis, not asterisks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from bot.cli.terminal import Emphasis


def shown(*pieces: str) -> Text:
    emphasis = Emphasis()
    return Text().join(emphasis.feed(piece) for piece in pieces)


def styled(text: Text) -> list[tuple[str, str]]:
    return [(text.plain[span.start : span.end], str(span.style)) for span in text.spans if span.end > span.start]


def test_a_title_in_the_stream_is_in_italics() -> None:
    text = shown("most often in ", "*1. ", "Sixty-Two ", "Posts*, ", "**twice**.")
    assert text.plain == "most often in 1. Sixty-Two Posts, twice."
    assert "".join(part for part, style in styled(text) if style == "italic") == "1. Sixty-Two Posts"
    assert ("twice", "bold") in styled(text)


@pytest.mark.parametrize("text", ["_20 July._--Visited Renfield", "(_Mem._, get recipe)", "I __never__ said"])
def test_underscores_are_emphasis_as_plain_texts_of_books_have_it(text: str) -> None:
    assert shown(text).plain == text.replace("_", "")
    assert [style for _, style in styled(shown(text))] == ["bold" if "__" in text else "italic"]


@pytest.mark.parametrize(
    "text",
    ["5 * 3 is 15", "2*3*4", "* a point", "a rule: ***", "** blank **", "search_book", "Mr. ____ of Bath", "5_000"],
)
def test_other_marks_stay(text: str) -> None:
    assert shown(text).plain == text


def test_what_is_never_closed_ends_with_its_line() -> None:
    text = shown("*a note\n", "the answer")
    assert text.plain == "a note\nthe answer"
    assert "the answer" not in [part for part, _ in styled(text)]


@given(st.text("ab *_\n"))
def test_nothing_but_marks_goes(text: str) -> None:
    assert re.sub(r"[*_]", "", shown(text).plain) == re.sub(r"[*_]", "", text)

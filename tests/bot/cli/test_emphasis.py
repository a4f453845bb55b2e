"""A terminal shows emphasis, not asterisks."""

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


@pytest.mark.parametrize("text", ["5 * 3 is 15", "2*3*4", "* a point", "a rule: ***", "** blank **"])
def test_other_asterisks_stay(text: str) -> None:
    assert shown(text).plain == text


def test_what_is_never_closed_ends_with_its_line() -> None:
    text = shown("*a note\n", "the answer")
    assert text.plain == "a note\nthe answer"
    assert "the answer" not in [part for part, _ in styled(text)]


@given(st.text("ab *\n"))
def test_nothing_but_asterisks_goes(text: str) -> None:
    assert shown(text).plain.replace("*", "") == text.replace("*", "")

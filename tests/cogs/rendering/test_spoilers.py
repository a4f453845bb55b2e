"""A sentence that was hidden stays hidden, wherever it lands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogs.rendering.markdown import render
from cogs.rendering.splitting import MESSAGE_LIMIT, split, split_with_spoilers, units, with_covers
from domain.spoilers.filter import hide

SECRET = "Hobb had put the lamp out for his brother Lucian who drowned"
NOTE = "-# A part of this answer is hidden, as it seems to name something that comes later than you have read."


_CODE = re.compile(r"(?<!\\)(`+)(?!`)([\s\S]*?[^`])\1(?!`)")
"""What Discord shows as code, from the first backtick to the next one, on whatever line."""


def visible(message: str) -> str:
    """What is to be read without a click."""
    return re.sub(r"\|\|.*?\|\|", "", message)


def test_marks_and_notes_survive_rendering() -> None:
    text = f"He came (p. 3). ||{SECRET}.||\n\n- ||{SECRET} (p. 9).||\n\n{NOTE}"
    assert render(text) == text


@given(st.text(st.sampled_from("ab |\\.\n"), max_size=20), st.text(st.sampled_from("ab |\\."), min_size=1, max_size=20))
def test_nothing_around_or_inside_lifts_a_cover(around: str, secret: str) -> None:
    shown = with_covers(f"{around}{hide(f'Lucian {secret}')}{around}")
    assert "Lucian" not in visible(shown)
    assert "Lucian" in shown


@pytest.mark.parametrize("quoted", ["`Oh!' said he.", "``Oh!'' said he.", "It is `code`, and `more.", "So ```Oh"])
@pytest.mark.parametrize("secret", ["Lucian did it.", "`Lucian did it,' said he.", "``Lucian'' did it."])
@pytest.mark.parametrize("between", [" ", "\n", "\n\n- "])
def test_no_code_reaches_over_a_cover(quoted: str, secret: str, between: str) -> None:
    """Old books write quotation marks as backticks. Discord would show all between two of them as it is."""
    told = between.join((quoted, hide(secret), quoted))
    outside = _CODE.sub("", render(with_covers(told)).replace("\\`", ""))
    assert "||" in outside
    assert "Lucian" not in visible(outside)
    assert "Lucian" not in "".join(code[0] for code in _CODE.finditer(render(with_covers(told))))


def test_a_text_that_hides_nothing_is_split_as_ever() -> None:
    text = "A sentence of the book. " * 300
    assert split_with_spoilers(text) == split(text)


@given(st.integers(0, 2500), st.integers(1, 60), st.sampled_from([". ", ", ", "\n", "\n\n", "||open|| "]))
def test_a_cut_through_a_hidden_sentence_gives_nothing_away(before: int, times: int, joint: str) -> None:
    secret = " ".join([SECRET] * times)
    text = f"{'a word ' * (before // 7)}{joint}||{secret}.||{joint}{'and more ' * 200}"
    messages = split_with_spoilers(text)
    assert all(units(message) <= MESSAGE_LIMIT for message in messages)
    assert not any("Hobb" in visible(message) or "drowned" in visible(message) for message in messages)
    assert "".join("".join(messages).replace("|", "").split()) == "".join(text.replace("|", "").split())

"""Long answers become messages: whole, in order, with their code blocks intact."""

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from cogs.rendering.splitting import FENCE, MESSAGE_LIMIT, pieces, split, units

LIMIT = 120
"""Small, so that wild texts are cut often."""

words = st.sampled_from(
    ["white", "rabbit", "Alice.", "said!", "“Oh dear!”", "👩‍👩‍👧", "🇫🇷", "é", "漢字。", "x" * 70, "`a`"]
)
lines = st.one_of(
    st.lists(words, max_size=30).map(" ".join),
    st.sampled_from(["", "", "  - item", "# Heading", FENCE, FENCE + "python", "    indented", "```x` y", "``"]),
)
wild = st.lists(lines, max_size=30).map("\n".join)
anything = st.one_of(wild, st.text(max_size=600), st.text(alphabet="` \nab", max_size=600))


def letters(text: str) -> str:
    return "".join(text.split())


@given(anything)
def test_nothing_is_lost_and_nothing_doubled(text: str) -> None:
    assert letters("".join(piece.body for piece in pieces(text, LIMIT))) == letters(text)


@given(anything)
def test_every_message_fits_and_says_something(text: str) -> None:
    for message in split(text, LIMIT):
        assert message.strip()
        assert units(message) <= LIMIT


@given(wild)
def test_code_blocks_are_whole_in_every_message(text: str) -> None:
    for message in split(text, LIMIT):
        assert not ends_inside_code(message)


def ends_inside_code(message: str) -> bool:
    """By CommonMark's rule; a fence as the very last line has nothing inside it."""
    inside = False
    *lines, last = message.split("\n")
    for line in lines:
        mark = line.strip()
        opens = mark.startswith(FENCE) and "`" not in mark.removeprefix(FENCE)
        inside = mark != FENCE if inside else opens
    return inside and last.strip() != FENCE


@given(anything, st.integers(0, 600))
@example("```\n" + "a\n" * 80, 100)
def test_a_text_that_grows_keeps_all_its_messages_but_the_last(text: str, length: int) -> None:
    settled = split(text[:length], LIMIT)[:-1]
    assert split(text, LIMIT)[: len(settled)] == settled


@given(st.lists(st.sampled_from(["👩‍👩‍👧", "👍🏽", "🇫🇷", "e\u0301", "❤️"]), min_size=40, max_size=200).map("".join))
def test_no_character_is_cut_in_two(text: str) -> None:
    for message in split(text, LIMIT)[1:]:
        assert not unicodedata.combining(message[0])
        assert message[0] not in "\u200d\ufe0f\U0001f3fd"
        assert not message.startswith("🇷🇫")
    assert not any(message.endswith("\u200d") for message in split(text, LIMIT)), "it joins what follows"


def test_short_text_is_one_message() -> None:
    assert split("Down the rabbit hole.") == ["Down the rabbit hole."]
    assert split("  \n ") == []


def test_paragraphs_come_before_lines_and_lines_before_sentences() -> None:
    first, second = "a" * 70 + ".", "b" * 60
    assert split(f"{first}\n\n{second}", LIMIT) == [first, second]
    assert split(f"{first}\n{second}", LIMIT) == [first, second]
    assert split(f"{first} {second} {second}", LIMIT) == [first, second, second]
    assert split(f"{'w ' * 40}{'x' * 70}", LIMIT) == [("w " * 40).strip(), "x" * 70]


def test_a_block_of_code_is_closed_and_opened_again_in_its_language() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(20))
    messages = split(f"Look:\n```python\n{code}\n```", LIMIT)
    assert len(messages) > 2
    assert all(message.startswith("```python\n") for message in messages[1:])
    assert all(message.endswith("\n```") for message in messages)


def test_the_indentation_of_code_survives_a_cut() -> None:
    code = "\n".join(["def read():", *(f"    page_{number:02} = turn()" for number in range(12))])
    for message in split(f"```python\n{code}\n```", LIMIT)[1:]:
        assert message.split("\n")[1].startswith("    page")


def test_a_block_that_would_begin_at_the_end_moves_to_the_next_message() -> None:
    text = "Some words before it. " * 4 + "\n```\n" + "code\n" * 10 + "```"
    first, second = split(text, LIMIT)
    assert FENCE not in first
    assert second.startswith(FENCE)


def test_a_block_that_was_never_closed_is_closed() -> None:
    assert split("```py\nx = 1") == ["```py\nx = 1\n```"]


def test_characters_outside_the_basic_plane_count_twice() -> None:
    assert units("🐇") == 2
    assert [units(message) for message in split("🐇" * 1500)] == [MESSAGE_LIMIT, 1000]


def test_one_endless_character_is_cut_all_the_same() -> None:
    assert len(split("e" + "\u0301" * 200, LIMIT)) == 2

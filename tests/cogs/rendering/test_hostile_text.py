"""Whatever a model says, showing it takes time by its length: twice as much text, about twice as much time."""

import time
from collections.abc import Callable

import discord
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.hostile_answers import hostile_texts, sized
from cogs.cards import plain
from cogs.i18n import speech_for
from cogs.rendering.export import fenced
from cogs.rendering.markdown import render
from cogs.rendering.splitting import MESSAGE_LIMIT, split_with_spoilers, units
from domain.book import Citation
from domain.citations.keys import in_language
from domain.citations.matching import find_uncited
from tests.domain.turn.passages import passage
from tests.sampling import a_few

LENGTH = 6_000
TIMES = 4
SLACK_S = 0.05
"""What times under a millisecond may differ by for other reasons. What grows with the square takes seconds here."""

MARKS = st.sampled_from([*"[](){}<>`~*_|\\$#>-+=!&;:.\"'“” \t\n", "a", "1", "```", "||", "http://", "[a](", "| - |"])
WORK: list[Callable[[str], object]] = [render, split_with_spoilers, find_uncited]


def _seconds(work: Callable[[str], object], text: str) -> float:
    """This thread's own time at the processor."""
    started = time.thread_time()
    work(text)
    return time.thread_time() - started


def _grows_with_length(make: Callable[[int], str], *works: Callable[[str], object], length: int = LENGTH) -> None:
    """Measured again only where it seems not to."""
    short, long = make(length), make(TIMES * length)
    for work in works or WORK:
        assert any(_seconds(work, long) < 2 * TIMES * _seconds(work, short) + SLACK_S for _ in range(3)), work


@pytest.mark.parametrize("name", a_few(hostile_texts([passage()]), 16))
def test_texts_made_to_hurt_take_time_by_their_length(name: str) -> None:
    parts = hostile_texts([passage()])[name]
    _grows_with_length(lambda length: sized(parts(), length))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(head=st.lists(MARKS, max_size=6), unit=st.lists(MARKS, min_size=1, max_size=6), tail=st.lists(MARKS, max_size=3))
def test_any_marks_over_and_over_take_time_by_their_length(head: list[str], unit: list[str], tail: list[str]) -> None:
    first, again, last = "".join(head), "".join(unit), "".join(tail)
    _grows_with_length(lambda length: first + again * (length // len(again)) + last)


@pytest.mark.parametrize(("work", "unit"), [(fenced, "`"), (fenced, "a`"), (plain, "[a]("), (plain, "[")])
def test_results_and_names_take_time_by_their_length(work: Callable[[str], object], unit: str) -> None:
    length = LENGTH if work is fenced else LENGTH // 6
    _grows_with_length(lambda length: (unit * length)[:length], work, length=length)


@pytest.mark.parametrize("unit", ["So (p. {}). ", "“So (p. {}). "])
def test_references_in_another_language_take_time_by_their_number(unit: str) -> None:
    say = speech_for(discord.Locale.german)
    cited = [Citation(page, page + 1, "So it is.", str(page), str(page), "") for page in range(100, 150)]

    def translated(text: str) -> None:
        assert "(S. 149)" in in_language(text, cited, say)

    def many(length: int) -> str:
        return "".join(unit.format(100 + number % len(cited)) for number in range(length // len(unit)))

    _grows_with_length(many, translated)


@pytest.mark.parametrize("name", list(hostile_texts([passage()])))
def test_texts_made_to_hurt_are_messages_all_the_same(name: str) -> None:
    text = sized(hostile_texts([passage()])[name](), LENGTH)
    assert all(0 < units(message) <= MESSAGE_LIMIT for message in split_with_spoilers(render(text)))

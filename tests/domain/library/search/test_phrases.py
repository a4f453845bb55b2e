"""A line is found exactly or as somebody half remembers it, and nothing is said to be the line that is not."""

from functools import cache
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.library.search.words import word_spans
from domain.library.view import BlockingView
from tests.domain.library.indexed import reading_of

NOVEL = (files("bot.sample") / "return-on-the-ebb.md").read_text(encoding="utf-8")
PLACES = word_spans(NOVEL)
LINE = "The road they mark is a mile and a quarter long."


@cache
def novel() -> BlockingView:
    return reading_of(NOVEL)


@pytest.mark.parametrize(
    "remembered",
    [
        LINE,
        "THE ROAD THEY MARK IS A MILE, AND A QUARTER LONG",
        "“The road they mark” — is a mile and a quarter long…",
        "the raod they mrak is a mile and a quartr long",
        "the road is a mile and a quarter",
        "the street they mark is a mile and a quarter wide",
        "the road mark they is a mile a and quarter long",
        "I think it was: the road they mark is almost a mile and a quarter long, or so",
        "mile and a quarter long",
    ],
)
def test_a_line_is_found_however_it_is_remembered(remembered: str) -> None:
    first = novel().find_phrase(remembered, 5)[0]
    start = NOVEL.index(LINE)
    assert start <= first.citation.start < first.citation.end <= start + len(LINE)
    assert first.citation.quote == NOVEL[first.citation.start : first.citation.end]


@given(st.data())
def test_five_words_that_follow_each_other_are_found_exactly(data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(PLACES) - 5))
    fragment = NOVEL[PLACES[first][0] : PLACES[first + 4][1]]
    hits = novel().find_phrase(fragment, 5)
    assert all(hit.exact for hit in hits)
    assert (hits[0].citation.start, hits[0].citation.end) <= (PLACES[first][0], PLACES[first + 4][1])


@given(st.text(max_size=300))
def test_whatever_is_asked_for_what_is_found_stands_in_the_book(text: str) -> None:
    for hit in novel().find_phrase(text, 3):
        assert hit.citation.quote == NOVEL[hit.citation.start : hit.citation.end] != ""
        assert 0 < hit.similarity <= 1


def test_places_that_are_word_for_word_the_same_come_in_reading_order() -> None:
    reading = reading_of("Row on, he said. Row\non! Row, and on.")
    assert [hit.citation.quote for hit in reading.find_phrase("row on", 5)] == ["Row on", "Row\non"]
    assert len(reading.find_phrase("row on", 1)) == 1


def test_what_is_only_near_is_never_called_exact() -> None:
    hit = reading_of("The lamps were dark all night.").find_phrase("the lamp was dark all night", 5)[0]
    assert hit.citation.quote == "The lamps were dark all night"
    assert not hit.exact


@pytest.mark.parametrize("text", ["", "  ", "…!?", "zyzzyva", "xylophones quarrel beneath umbrellas", "the"])
def test_what_is_not_in_the_book_is_not_found(text: str) -> None:
    assert reading_of("A lamp was dark. Nobody lit it.").find_phrase(text, 5) == []


def test_nothing_is_found_beyond_the_bound() -> None:
    text = "Ann came by the ferry. Hobb had drowned in the race."
    read_to = text.index("Hobb had")
    assert reading_of(text, read_to).find_phrase("Hobb had drowned in the race", 5) == []
    assert reading_of(text).find_phrase("Hobb had drowned in the race", 5)[0].exact


def test_scripts_without_spaces_are_found_by_their_characters() -> None:
    reading = reading_of("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。")
    assert reading.find_phrase("名前はまだ無い", 1)[0].citation.quote == "名前はまだ無い"
    assert reading.find_phrase("どこで生まれたか見当がつかぬ", 1)[0].citation.quote.startswith("どこで生れたか")

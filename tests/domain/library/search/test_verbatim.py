"""Words that stand in the book as they do in the query win over the same words scattered."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.library.search.phrases import QUOTED, verbatim_gains
from domain.library.view import BlockingView
from tests.domain.library.indexed import WordIndex, reading_of

SCATTERED = "The lamp was bright, and the keeper of the harbour kept the old lamp; the old keeper had a bright lamp."
FILLING = "Nothing else happened on that day, and all of them went home early."


def a_book(*lines: str) -> str:
    return "\n\n".join(part for line in lines for part in [*[FILLING] * 30, line])


@cache
def reading(lines: tuple[str, ...]) -> BlockingView:
    return reading_of(a_book(*lines))


def first_for(query: str, *lines: str) -> str:
    return reading(lines).search([query], 1)[0].text


@pytest.mark.parametrize(
    "query",
    [
        'Who had "the old bright lamp"?',
        "Who had “the old bright lamp” of the keeper?",
        "Wer hatte „the old bright lamp“?",
        "«the old bright lamp» keeper harbour",
        "‘The old bright lamp’ keeper harbour",
        "“THE OLD—BRIGHT LAMP” keeper harbour",
    ],
)
def test_words_in_quotation_marks_win(query: str) -> None:
    line = "Nobody ever mentioned the old bright lamp."
    assert line in first_for(query, *[SCATTERED] * 3, line, *[SCATTERED] * 3)


def test_one_word_in_quotation_marks_is_meant_as_it_is_written() -> None:
    line = "He had kept it."
    assert line in first_for('"kept" keeper lamps', "The keeper keeps his lamp, and the keeper keeps a lamp.", line)


@pytest.mark.parametrize(
    "query", ['what about "what they had been"', 'zeppelin "What they had been"', "“what they had been”"]
)
def test_a_quotation_of_little_words_wins_though_no_other_word_is_found(query: str) -> None:
    line = "He told her what they had been to him."
    assert line in first_for(query, *[SCATTERED] * 3, line, *[SCATTERED] * 3)


def test_of_two_quotations_a_passage_with_both_wins() -> None:
    one, both = "The white rabbit ran.", "The white rabbit met the mad hatter."
    assert both in first_for('"white rabbit" and "mad hatter"', one, "The mad hatter sat.", both, one)


@pytest.mark.parametrize("query", ["the old bright lamp", "where was the old bright lamp?", "old bright lamp"])
def test_a_run_of_words_wins_over_scattered_ones(query: str) -> None:
    line = "Nobody ever mentioned the old bright lamp."
    assert line in first_for(query, *[SCATTERED] * 3, line, *[SCATTERED] * 3)


def test_a_long_run_wins_whatever_else_is_asked() -> None:
    line = "It stood on the far side of the hill."
    query = "keeper lamp harbour bright: who stood on the far side of the hill"
    assert line in first_for(query, *[SCATTERED] * 3, line, *[SCATTERED] * 3)


@pytest.mark.parametrize(
    "query",
    [
        "Lamp Keeper Harbour the far side",
        "lamp keeper harbour far side of",
        "the far side Lamp Keeper Harbour",
        "Keeper of the Lamp: far side of the hill",
        "who told the Keeper in the Harbour of the far side of",
    ],
)
def test_a_run_wins_over_names_that_stand_beside_it(query: str) -> None:
    scattered = "Keeper Lamp of Harbour kept a lamp, and in the harbour Keeper Lamp kept a light."
    line = "It stood on the far side of the hill."
    assert line in first_for(query, *[scattered] * 4, line, *[scattered] * 4)


@pytest.mark.parametrize(
    "query",
    [
        "who says that lamp and a",
        "lamp and a - what does that mean?",
        "Why is there LAMP AND A in the book?",
        "what did keeper say about lamp\nand a?",
        "when does Keeper Harbour think of lamp, and a",
    ],
)
def test_three_words_win_where_nothing_is_asked_but_who_says_them(query: str) -> None:
    scattered = "A lamp was here, and Keeper saw a lamp; Harbour saw the lamp, and Keeper saw a Harbour."
    line = "He bought a lamp and a rope."
    assert line in first_for(query, *[scattered] * 4, line, *[scattered] * 4)


@pytest.mark.parametrize(
    "query",
    [
        "who says to be or not to be",
        "Where does it say that he was not?",
        "the line: what they had been",
        "who said not to be",
    ],
)
def test_little_words_win_where_somebody_points_at_them(query: str) -> None:
    scattered = "What lamp, they said, and what line, that he had; who was not to have been where the keeper says?"
    line = "To be or not to be: it told her that he was not what they had been."
    assert line in first_for(query, *[scattered] * 4, line, *[scattered] * 4)


@pytest.mark.parametrize(
    "query",
    ["that he was", "and that he was not", "Where does it say that he was not?", "What is meant by that he was?"],
)
def test_little_words_win_where_nothing_else_is_typed_however_frequent_each_is(query: str) -> None:
    line, scattered = "So it seems, and that he was not.", "He was that; that was he, and not what he was."
    assert line in first_for(query, *[scattered] * 400, line, *[scattered] * 400)


def test_little_words_of_a_question_for_somebody_do_not_win() -> None:
    line, scattered = "The keeper said to her: go on.", "And they went up to her as she slept."
    assert line in first_for("What did Keeper say to her as she went?", scattered, line, scattered)


def test_of_two_runs_the_longer_wins() -> None:
    line, shorter = "He said what lay under the old lamp.", "There was oil under the old stove."
    assert line in first_for("what lay under the old lamp", *[shorter] * 2, line, *[shorter] * 2)


def test_a_common_turn_of_phrase_in_a_question_does_not_win() -> None:
    line = "The lamp had been lit by a keeper of the harbour."
    asked = "who lit the lamp, as was said in the house of the keeper of the harbour"
    assert line in first_for(asked, *["It was said in the house."] * 4, line)


def test_four_words_of_a_question_that_asks_something_else_do_not_win() -> None:
    line = "The lamp had been lit by a keeper of the harbour, when the sea was high."
    asked = "who lit the lamp of the harbour keeper, on the other side"
    assert line in first_for(asked, "He slept on the other side.", *[FILLING] * 4, line)


def test_three_words_that_occur_several_times_do_not_win() -> None:
    line = "The lamp of the harbour was where he went at last."
    assert line in first_for("he went to harbour lamp", line, *["He went to bed."] * 2)


def test_a_quotation_that_is_not_there_changes_nothing() -> None:
    reading = reading_of(a_book(SCATTERED))
    assert reading.search(['"keeper zeppelin" lamp'], 5) == reading.search(["keeper zeppelin lamp"], 5)


def test_nothing_unread_is_quoted() -> None:
    text = a_book(SCATTERED, "Nobody ever mentioned the old bright lamp.")
    index = WordIndex(text)
    bound = text.index("Nobody") + 20
    assert not verbatim_gains(index, index.layout.clip(bound, index.read), '"the old bright lamp"')
    assert max(verbatim_gains(index, index.layout, '"the old bright lamp"').values()) >= QUOTED


@given(st.lists(st.sampled_from(["the", "lamp", "keeper", "of", "old"]), min_size=3, max_size=9))
def test_a_run_is_found_wherever_it_stands(words: list[str]) -> None:
    index = WordIndex(a_book(f"Then {' '.join(words)} again."))
    gained = verbatim_gains(index, index.layout, " ".join(words))
    best = max(gained, key=gained.__getitem__)
    assert " ".join(words) in index.read(index.layout.starts[best], index.layout.ends[best])

"""The measures are those the documentation defines, to the word."""

import pytest

from bot.cli.search import LabelledQuestion, Outcome, Scores, Span, WordAxis, is_hit, measure

TEXT = "word " * 3_000
"""The n-th word stands at `[5 n, 5 n + 4)`."""


def words(first: int, last: int) -> Span:
    return (5 * first, 5 * last - 1)


def asked(spans: tuple[Span, ...], found: list[Span], answers: tuple[Span, ...] = ()) -> Outcome:
    return measure(LabelledQuestion("b", "?", spans, answers), found, WordAxis(TEXT), 1.0)


@pytest.mark.parametrize(
    ("passage", "span", "hit"),
    [
        ((0, 100), (50, 150), True),  # half of both
        ((0, 100), (51, 151), False),
        ((0, 1_000), (900, 1_100), True),  # half of the span is in the passage
        ((0, 1_000), (901, 1_101), False),
        ((0, 20), (10, 1_000), True),  # half of the passage is in the span
        ((0, 20), (11, 1_000), False),
        ((0, 20), (5, 5), False),
        ((0, 20), (20, 30), False),
    ],
)
def test_a_hit_has_half_of_the_span_or_half_of_itself_in_it(passage: Span, span: Span, hit: bool) -> None:
    assert is_hit(passage, span) is hit


def test_the_rank_is_that_of_the_first_hit_on_any_span() -> None:
    found = [words(0, 100), words(500, 600), words(200, 300)]
    assert asked((words(220, 240), words(510, 520)), found).rank == 2
    assert asked((words(900, 910),), found).rank is None


def test_recall_within_words_counts_each_word_of_the_book_once() -> None:
    spans = (words(1_000, 1_200),)
    assert asked(spans, [words(0, 400), words(1_000, 1_100)]).recalled == (True, True, True)
    assert asked(spans, [words(0, 401), words(1_000, 1_100)]).recalled == (False, True, True)
    assert asked(spans, [words(0, 400), words(0, 400), words(1_000, 1_100)]).recalled == (True, True, True)
    assert asked(spans, [words(1_000, 1_099)]).recalled == (False, False, False)


def test_an_answer_has_to_be_there_whole() -> None:
    evidence, answer = (words(0, 50),), (words(499, 502),)
    assert asked(evidence, [words(0, 600)], answer).answered == (False, True, True)
    assert asked(evidence, [words(0, 501)], answer).answered == (False, False, False)
    assert asked(evidence, [words(0, 600)]).answered == ()


def test_rates_are_percent_and_those_of_answers_over_the_questions_that_have_one() -> None:
    evidence, answer = (words(0, 50),), (words(10, 12),)
    outcomes = [
        asked(evidence, [words(0, 50)], answer),
        asked(evidence, [words(900, 950), words(0, 50)]),
        asked(evidence, []),
        asked((), [words(0, 50)]),
    ]
    scores = Scores(outcomes).as_dict()
    assert list(scores) == [
        "questions", "recall@1", "recall@3", "recall@5", "recall@10", "mrr", "recall@500w", "recall@1000w",
        "recall@2000w", "answer@500w", "answer@1000w", "answer@2000w", "words_per_passage", "median_ms", "p95_ms",
    ]  # fmt: skip
    assert (scores["questions"], scores["recall@1"], scores["recall@3"], scores["mrr"]) == (4, 25.0, 50.0, 37.5)
    assert (scores["recall@500w"], scores["answer@500w"]) == (50.0, 100.0)


def test_no_questions_are_no_division_by_nothing() -> None:
    assert set(Scores([]).as_dict().values()) == {0}

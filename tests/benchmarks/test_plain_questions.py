"""The questions by which the built-in answerer is measured are well-formed."""

from collections import Counter

from benchmarks.extractive import JOINED_BY, PARTS, plain_questions

NO_ANSWER = {"off-topic", "not in the book"}
LEFT_OUT = ("treasure", "sherlock", "jane_eyre", "time_machine", "two_cities", "ft_")


def test_there_are_enough_of_them_about_enough_books() -> None:
    asked = plain_questions()
    assert sum(bool(each.answers) for each in asked) >= 150
    assert len({each.book for each in asked}) >= 5
    assert not [each.book for each in asked if each.book.startswith(LEFT_OUT)]


def test_each_is_asked_once_and_has_answers_unless_there_are_none() -> None:
    asked = plain_questions()
    assert not [key for key, count in Counter((each.book, each.question) for each in asked).items() if count > 1]
    for each in asked:
        assert each.question.strip() == each.question
        assert bool(each.answers) != (each.kind in NO_ANSWER), each.question
        assert each.answers or not each.pooled, each.question
        assert all(part.strip() for answer in (*each.answers, *each.pooled) for part in answer.split(JOINED_BY))


def test_a_part_of_each_kind_of_questions_is_kept_aside() -> None:
    parts = Counter(each.part for each in plain_questions())
    assert set(parts) == set(PARTS)
    assert 0.3 < parts["aside"] / (parts["develop"] + parts["aside"]) < 0.36

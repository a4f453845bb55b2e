"""What stands in quotation marks stands in the book."""

import pytest

from domain.agent.quotations import LONGEST, Quotations, fold
from tests.domain.agent.passages import TEXT, stands_in_book


def quotations() -> Quotations:
    made = Quotations(stands_in_book)
    made.learn(TEXT)
    return made


@pytest.mark.parametrize(
    "text",
    [
        "“Ann kept the light for forty years”",
        '"ann kept the LIGHT for forty years."',
        "«In 1911 the Perpetua struck the rocks»",
        "“Ann kept the light … Nobody knew why the lamp”",
        "“a so-called lamp”",
        "no quotation at all",
    ],
)
async def test_true_and_short_quotations_are_left_alone(text: str) -> None:
    assert await quotations().check(text) == text


async def test_a_false_quotation_keeps_its_words_and_loses_its_marks() -> None:
    checked = await quotations().check("He wrote “the lamp was never dark at all” there.")
    assert checked == "He wrote the lamp was never dark at all there."


async def test_a_quotation_the_model_was_not_given_is_looked_up_in_the_book() -> None:
    made = Quotations(stands_in_book)
    assert await made.check("“struck the rocks below. Nobody”") == "“struck the rocks below. Nobody”"


@pytest.mark.parametrize(
    ("text", "at"),
    [("all closed “here”", 17), ("and “open", 4), ("an “old\nparagraph", 17), ('odd "quote', 4), ("", 0)],
)
def test_an_open_quotation_is_held_back_from_its_mark_on(text: str, at: int) -> None:
    assert quotations().open_at(text) == at


def test_a_quotation_that_never_ends_is_not_held_back_for_ever() -> None:
    text = "“" + "word " * LONGEST
    assert quotations().open_at(text) == len(text)


def test_folding_makes_typography_alike() -> None:
    assert fold("“It’s  so—ﬁne…”") == '"it\'s so-fine..."'

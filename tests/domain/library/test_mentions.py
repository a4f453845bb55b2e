"""Who somebody is, from the sentences that name them."""

import pytest

from domain.book import Sentence
from domain.reading.portrait import forms_among
from domain.reading.recap import forms_of, introductions, other_names


def sentences(*texts: str) -> list[Sentence]:
    return [Sentence(100 * at, 100 * at + len(text), text) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    "text",
    [
        "Hobb was the ferryman of the island.",
        "Hobb, who rowed us over, took no money.",
        "Hobb, a man of few words, shook his head.",
        "My name is Hobb.",
        "He was called old Hobb.",
        "The ferryman, old Hobb, would not take it.",
        "I met her brother Hobb on the quay.",
        "Es lebte dort ein Fährmann namens Hobb.",
        "Hobb war der Fährmann.",
        "Un passeur nommé Hobb attendait.",
        "Un barquero llamado Hobb esperaba.",
    ],
)
def test_a_sentence_that_introduces_somebody_is_known_by_its_form(text: str) -> None:
    plain = "And then Hobb looked at the sea again."
    assert [sentence.text for sentence in introductions("Hobb", sentences(plain, text, plain), 3)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "[Catches sight of Hobb, who has fixed him with a stony glare.]",
        "After a talk with his friend Hobb left for the mainland.",
        "She was kind, but beneath her pity for her brother, Hobb noticed her joy.",
    ],
)
def test_a_stage_direction_and_what_happens_near_others_introduce_nobody(text: str) -> None:
    tells = "The ferryman Hobb lived by the quay."
    assert introductions("Hobb", sentences(text, tells), 1) == sentences(text, tells)[1:]


def test_the_best_introductions_are_chosen_and_stand_in_order() -> None:
    told = sentences(
        "Hobb was a poor man.",
        "Then Hobb left.",
        "This is Hobb, the ferryman.",
        "Hobb, who was called Hobb, was the new ferryman.",
    )
    assert introductions("Hobb", told, 2) == [told[2], told[3]]
    assert introductions("Hobb", told, 0) == []


@pytest.mark.parametrize(
    ("tells", "less"),
    [
        ("Hobb was a retired sailor.", "Hobb, who was known as a man of few words, was called Hobb."),
        ("All knew the apothecary Hobb.", "Hobb was a man whom all knew."),
        ("It was Hobb, chief clerk of the bank.", "My dear Hobb, a man has to eat."),
        ("Das war ihr Onkel Hobb.", "Hobb war ein guter Mann."),
        ("It was funny to hear my uncle called “Uncle Hobb”.", "Hobb was a man whom all knew."),
    ],
)
def test_what_somebody_is_introduces_them_best(tells: str, less: str) -> None:
    assert introductions("Hobb", sentences(less, tells), 1) == sentences(less, tells)[1:]


@pytest.mark.parametrize(
    "text",
    [
        "But my dear Hobb, take it.",
        "It is open to your view, Hobb.",
        "The gun had touched Hobb, the shot went off.",
        "All that was left to Hobb was a sister.",
        "So they left the good old Hobb.",
    ],
)
def test_who_is_only_spoken_to_or_of_is_not_introduced(text: str) -> None:
    assert introductions("Hobb", sentences(text), 1) == []


def test_a_very_long_sentence_introduces_nobody_if_a_short_one_does() -> None:
    long = f"Now when {'they had seen the sea and the sun and the sand ' * 5} there came the painter Hobb."
    told = sentences(long, "Hobb is a painter.")
    assert introductions("Hobb", told, 1) == told[1:]
    assert introductions("Hobb", told[:1], 1) == told[:1]


def test_names_that_share_a_word_are_counted_without_endings_and_small_words() -> None:
    told = sentences(
        "Then Miss Crake rang.", "It was Hilda Crake’s Bindery.", "Mr. Crake had died.", "Miss Crake paid, Ann."
    )
    forms = forms_of("Hilda Crake", told)
    assert forms == {"Miss Crake": 2, "Hilda Crake": 1, "Mr. Crake": 1}


@pytest.mark.parametrize(
    ("name", "other"),
    [("Lady Crake", "Lord Crake"), ("Mrs. Crake", "Mr. Crake"), ("Prince Karel", "Princess Karel")],
)
def test_somebody_of_the_same_name_with_another_title_is_somebody_else(name: str, other: str) -> None:
    told = sentences(f"Then {name} rang.", f"So {other} rang.", f"It was {name}.", f"Now {other} left.")
    forms = forms_among(name, {name: told})
    assert name in forms
    assert other not in forms


def test_a_name_is_counted_once_as_it_is_mostly_printed() -> None:
    told = sentences("Then Mr. Varley rang.", "It was Mr Varley.", "So Mr.\nVarley paid.", "St. Varley is far.")
    assert forms_of("mr varley", told) == {"Mr. Varley": 3, "St. Varley": 1}


def test_who_is_asked_about_without_a_full_stop_is_introduced_with_one() -> None:
    told = sentences("And then Mr. Varley looked at the sea.", "Mr. Varley was a poor man.")
    assert introductions("Mr Varley", told, 1) == introductions("Mr. Varley", told, 1) == [told[1]]


def test_another_name_is_one_that_is_given_in_so_many_words() -> None:
    told = sentences("Tom Rudd, who was called the Wren by all, came.", "They said Tom Rudd was known as Liddiard.")
    assert other_names("Tom Rudd", told) == ["Wren", "Liddiard"]
    assert other_names("Liddiard", told) == ["Wren"]

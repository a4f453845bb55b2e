"""Words a book does not have, and what it has that is spelt like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.library.indexed import reading_of

TEXT = "Old Helsing met Quincey by the tower. Must Quincey go? Nobody must. WAIT, said Helsing. Then Renfield came."


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ("Helsing and the tower", {}),
        ("Helsng", {"Helsng": ["Helsing"]}),
        ("Quincy’s tower", {"Quincy": ["Quincey"]}),
        ("renfeld", {"renfeld": ["Renfield"]}),
        ("Qiuncey", {"Qiuncey": ["Quincey"]}),
        ("zeppelin", {"zeppelin": []}),
        ("Tower", {"Tower": []}),
        ("Musk", {"Musk": []}),
        ("Wart", {"Wart": []}),
        ("towar", {"towar": ["tower"]}),
        ("Renk", {"Renk": []}),
        ("", {}),
    ],
)
def test_a_missing_word_is_told_with_the_names_it_may_be_meant_for(asked: str, missing: dict[str, list[str]]) -> None:
    assert reading_of(TEXT).missing_words(asked) == missing


@pytest.mark.parametrize(("asked", "meant"), [("Lusy", ["Lucy"]), ("Rose", []), ("Hope", []), ("risy", [])])
def test_a_short_name_is_meant_only_where_it_sounds_alike(asked: str, meant: list[str]) -> None:
    assert reading_of("In Rome he met Lucy. To rise was a hope Lucy had.").missing_words(asked) == {asked: meant}


@pytest.mark.parametrize(("asked", "meant"), [("Fin", ["Finn"]), ("Ahb", ["Ahab"]), ("Bob", []), ("fin", [])])
def test_a_name_of_three_letters_may_be_a_longer_one(asked: str, meant: list[str]) -> None:
    assert reading_of("There Ahab met Finn, and Rob sat by.").missing_words(asked) == {asked: meant}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("hosue", ["house"]),
        ("housr", ["house"]),
        ("hause", ["house"]),
        ("houses", []),
        ("rented", []),
        ("restde", ["rested"]),
    ],
)
def test_an_ordinary_word_is_another_only_by_a_slip(asked: str, meant: list[str]) -> None:
    assert reading_of("He rested in the house.").missing_words(asked).get(asked, []) == meant


def test_a_name_further_on_is_not_told() -> None:
    met = reading_of(TEXT, read_to=TEXT.index("Must"))
    assert met.missing_words("Renfeld") == {"Renfeld": []}
    assert met.missing_words("Renfield") == {"Renfield": []}
    assert met.missing_words("nobodi") == {"nobodi": []}


@given(st.text(max_size=60))
def test_whatever_is_asked_words_of_the_book_are_not_missing(asked: str) -> None:
    missing = reading_of(TEXT).missing_words(f"{asked} Helsing tower")
    assert not {"Helsing", "tower"} & missing.keys()
    assert all(spelt in TEXT for found in missing.values() for spelt in found)

"""Place names: read as people write them, told apart by what the places lie in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.tools.weather import Place, Spelling, choose, fold, spellings


def place(name: str, country: str, code: str, admin1: str | None = None) -> Place:
    return Place(name=name, latitude=0, longitude=0, country=country, country_code=code, admin1=admin1)


PARIS = [
    place("Paris", "France", "FR", "Île-de-France"),
    place("Paris", "United States", "US", "Texas"),
    place("Paris", "Canada", "CA", "Ontario"),
    place("Paris", "Türkiye", "TR"),
    place("Paris", "United Kingdom", "GB"),
]


def test_the_likeliest_reading_comes_first() -> None:
    assert list(spellings(" Springfield , Illinois ")) == [
        Spelling("Springfield, Illinois", ("Illinois",)),
        Spelling("Springfield", ("Illinois",)),
    ]
    assert list(spellings("White Plains NY")) == [
        Spelling("White Plains NY"),
        Spelling("White Plains", ("NY",), strict=True),
        Spelling("White", ("Plains NY",), strict=True),
    ]
    assert list(spellings(" , ")) == []


@pytest.mark.parametrize(
    ("hint", "index"),
    [
        ("France", 0),
        ("fr", 0),
        ("ile de france", 0),
        ("Texas", 1),
        ("TX", 1),
        ("Texas USA", 1),
        ("U.S.", 1),
        ("ON", 2),
        ("Ontario Canada", 2),
        ("Turkey", 3),
        ("UK", 4),
        ("Narnia", 0),
    ],
)
def test_countries_states_and_their_codes_tell_places_apart(hint: str, index: int) -> None:
    assert choose(PARIS, Spelling("Paris", (hint,))) == PARIS[index]


def test_the_place_most_hints_fit_wins() -> None:
    assert choose(PARIS, Spelling("Paris", ("Ontario", "USA", "Canada"))) == PARIS[2]


def test_a_guess_counts_only_if_everything_fits() -> None:
    assert choose(PARIS, Spelling("Paris", ("Narnia",), strict=True)) is None
    assert choose(PARIS, Spelling("Paris", ("TX", "Canada"), strict=True)) is None
    assert choose([], Spelling("Paris")) is None


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Tromsø", "tromso"),
        ("ÎLE-de-France", "ile de france"),
        ("U.S.A.", "usa"),
        ("Łódź", "lodz"),
        ("Straße", "strasse"),
    ],
)
def test_accents_case_and_punctuation_do_not_matter(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_a_place_is_labelled_by_what_it_lies_in_without_repeating_itself() -> None:
    assert PARIS[0].label == "Paris, Île-de-France, France"
    assert place("Singapore", "Singapore", "SG").label == "Singapore"


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_a_few_readings_and_none_of_them_breaks(location: str) -> None:
    readings = list(spellings(location))
    assert len(readings) <= 4
    for spelling in readings:
        choose(PARIS, spelling)

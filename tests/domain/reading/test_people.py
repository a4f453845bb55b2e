"""Which names of a book are persons'."""

import pytest

from domain.reading.portrait import names_in_order, people_among

TEXT = """Count Crake came to Harwich in May. "Wait," said Hobb. Then the Count asked Hobb for the key. He went on to
Harwich, where a Norseman sold him the Petrel, and the Petrel left Harwich. The Ferryman said to the Count that Mrs.
Hobb was in Harwich. "Your Grace, Mr. Hobb waits, and Marta, who has the key," said the Ferryman. Another Norseman,
a Norseman of Harwich, was on the Petrel. Hobb laughed. Marta wept. Your Grace knew Marta. The Captain laughed. That
was Captain Vane. Madam Ottilie, who was Ottilie Vane, wept. Silas Vane was her son. Silas laughed."""


def test_places_peoples_ships_and_addresses_are_no_persons() -> None:
    totals = dict.fromkeys(names_in_order(TEXT), 5)
    assert {"Harwich", "Norseman", "Petrel", "Grace"} <= totals.keys()
    people = people_among(totals, TEXT)
    assert {"Harwich", "Norseman", "Petrel", "Grace"}.isdisjoint(people)
    assert {"Ferryman", "Marta"} <= {*people}


@pytest.mark.parametrize(
    ("totals", "people"),
    [
        ({"Hobb": 9, "Marta": 20}, ["Marta", "Hobb"]),
        ({"Count": 9, "Count Crake": 2}, ["Count Crake"]),
        ({"Mr Hobb": 9, "Mrs Hobb": 8, "Hobb": 7}, ["Mr Hobb", "Mrs Hobb"]),
        ({"Hobb": 400, "Marta": 2}, ["Hobb"]),
        ({"Captain": 9, "Vane": 8}, ["Captain Vane"]),
        ({"Madam Ottilie": 9, "Mrs Vane": 8}, ["Madam Ottilie"]),
        ({"Silas": 9, "Mrs Vane": 8}, ["Silas", "Mrs Vane"]),
        ({}, []),
    ],
)
def test_each_person_is_listed_once_the_most_frequent_first(totals: dict[str, int], people: list[str]) -> None:
    assert people_among(totals, TEXT) == people

"""How often something occurs, in a sentence."""

from typing import Any

import pytest

from bot.providers.extractive.language import Language
from bot.providers.extractive.wording import PHRASES, tally_of

SAY = PHRASES[Language.ENGLISH]
FRONT, DUSK, NIGHT, DAWN = (0, ""), (1, "1. Dusk"), (2, "2. Night"), (3, "3. Dawn")

Counts = dict[tuple[int, str], int]


def result(counts: Counts) -> dict[str, Any]:
    chapters = [
        {"number": number, "title": title, "parent": "Part Two" if number > 2 else "", "count": count}
        for (number, title), count in counts.items()
    ]
    return {"total": sum(counts.values()), "chapters": chapters}


def told(counts: Counts, language: Language = Language.ENGLISH) -> str:
    tally = tally_of(result(counts))
    assert tally is not None
    return tally.sentence("Mara", PHRASES[language])


@pytest.mark.parametrize(
    ("counts", "where"),
    [
        ({DUSK: 3}, ", all in “1. Dusk”"),
        ({DUSK: 1, NIGHT: 2, DAWN: 1}, ": first in “1. Dusk”, last in “3. Dawn”, most often in “2. Night” (2 times)"),
        ({DUSK: 5, DAWN: 1}, ": first in “1. Dusk” (most often there: 5 times), last in “3. Dawn”"),
        ({DUSK: 1, DAWN: 5}, ": first in “1. Dusk”, last in “3. Dawn” (most often there: 5 times)"),
        ({DUSK: 2, DAWN: 2}, ": first in “1. Dusk”, last in “3. Dawn”"),
        (
            {(1, "1. Night: (a play)"): 1, (2, "2. Day; or so"): 1},
            ": first in “1. Night: (a play)”, last in “2. Day; or so”",
        ),
        ({FRONT: 1, DUSK: 1}, ", all in “1. Dusk”"),
        ({FRONT: 9, DUSK: 1, DAWN: 2}, ": first in “1. Dusk”, last in “3. Dawn” (most often there: 2 times)"),
        ({(1, "Chapter I"): 1, (9, "Chapter I"): 2}, ""),
        ({FRONT: 4}, ""),
        ({(at, f"{at}. Day"): 9 if at == 2 else 1 for at in range(1, 60)}, ", most often in “2. Day” (9 times)"),
        ({(at, f"{at}. Day"): 9 if at < 3 else 1 for at in range(1, 60)}, ""),
    ],
)
def test_it_is_said_where_first_where_last_and_where_most(counts: Counts, where: str) -> None:
    total = sum(count for place, count in counts.items() if place != FRONT) or counts[FRONT]
    assert told(counts) == f"{SAY.counted.format('Mara', total)}{where}."


def test_a_great_number_is_told_with_its_thousands() -> None:
    assert told({DUSK: 1_204}).startswith(SAY.counted.format("Mara", "1,204"))


def test_the_chapters_are_listed_up_to_as_many_as_fit_in_a_message() -> None:
    tally = tally_of(result({FRONT: 9, DUSK: 1, DAWN: 2}))
    assert tally is not None
    counted = SAY.counted.format("Mara", 3)
    assert tally.listed("Mara", SAY) == f"{counted}:\n* 1. Dusk (1 ×)\n**Part Two**\n* 3. Dawn (2 ×)"
    many = tally_of(result({(at, f"{at}. Day"): at for at in range(1, 60)}))
    assert many is not None
    assert many.listed("Mara", SAY) == many.sentence("Mara", SAY)


@pytest.mark.parametrize("language", list(Language))
def test_it_is_said_in_every_language(language: Language) -> None:
    said = told({DUSK: 2, NIGHT: 4, DAWN: 3}, language)
    assert all(part in said for part in ("Mara", "9", "1. Dusk", "2. Night", " (4", "3. Dawn"))


def test_a_result_that_says_nothing_of_counts_is_no_tally() -> None:
    assert tally_of(None) is None

"""How often something occurs, in a sentence."""

import pytest

from bot.providers.extractive.language import Language
from bot.providers.extractive.overview import tally_of
from bot.providers.extractive.wording import PHRASES

SAY = PHRASES[Language.ENGLISH]
BUDGET = " About 7,900 words of reading are left for this answer. First and last place:"


@pytest.mark.parametrize(
    ("chapters", "where"),
    [
        ("1. Dusk: 3", ", all in *1. Dusk*"),
        (
            "1. Dusk: 1; 2. Night: 2; 3. Dawn: 1",
            ": first in *1. Dusk*, last in *3. Dawn*, most often in *2. Night* (2 times)",
        ),
        ("1. Dusk: 5; 3. Dawn: 1", ": first in *1. Dusk* (most often there: 5 times), last in *3. Dawn*"),
        ("1. Dusk: 1; 3. Dawn: 5", ": first in *1. Dusk*, last in *3. Dawn* (most often there: 5 times)"),
        ("1. Dusk: 2; 3. Dawn: 2", ": first in *1. Dusk*, last in *3. Dawn*"),
        ("1. Night: (a play): 1; 2. Day; or so: 1", ": first in *1. Night: (a play)*, last in *2. Day; or so*"),
        ("before the first chapter: 1; 1. Dusk: 1", ": first in the pages before the first chapter, last in *1. Dusk*"),
        ("before the first chapter: 4", ""),
        ("2. Night: 9; 5. Dawn: 8; 12 other chapters together: 40", ", most often in *2. Night* (9 times)"),
        ("2. Night: 9; 5. Dawn: 9; 1 other chapter together: 1", ""),
    ],
)
def test_it_is_said_where_first_where_last_and_where_most(chapters: str, where: str) -> None:
    tally = tally_of(f"“Mara” occurs 1,204 times in what has been read ({chapters}).{BUDGET}")
    assert tally is not None
    assert tally.sentence("Mara", SAY) == f"“Mara” occurs 1,204 times in what can be read{where}."


@pytest.mark.parametrize("language", list(Language))
def test_it_is_said_in_every_language(language: Language) -> None:
    tally = tally_of("“Mara” occurs 9 times in what has been read (1. Dusk: 2; 2. Night: 4; 3. Dawn: 3).")
    assert tally is not None
    said = tally.sentence("Mara", PHRASES[language])
    assert all(part in said for part in ("Mara", "9", "*1. Dusk*", "*2. Night* (4", "*3. Dawn*"))


def test_another_result_is_no_tally() -> None:
    assert tally_of("This does not occur in what has been read.") is None

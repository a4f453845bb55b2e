"""Sentences that say something of the book and name no page for it."""

import pytest

from domain.citations.matching import find_uncited
from domain.spoilers.filter import hide


@pytest.mark.parametrize(
    "answer",
    [
        "Ann kept the light for forty years (p. 12).",
        "Ann kept the light for forty years. (pp. 12-13)",
        "Ann kept the light for forty years, (about p. 12). It was dark that night (p. 13, p. 14).",
        "- Ann kept the light for forty years (p. 12)\n- The lamp had been dark that night (p. 13)",
        "I could not find who put the lamp out.",
        "Nothing of that stands in what has been read so far.",
        "Did Ann keep the light for forty years?",
        "These are the keepers of the light in order:",
        "# The keepers of the old light house",
        "**4. A Gap of Two Long Inches**",
        "Good morning!",
        "Ich kann aus dem Buch nur zitieren, nicht deuten.",
        hide("It was Lucian who put out the lamp."),
        f"He came (p. 3). {hide('It was Lucian who put out the lamp.')}",
        "“Ann kept the light for forty years. She never let it go out.” (p. 12)",
        "> “Ann kept the light for forty years,” said Hobb at the door. She never let it go out. (p. 12, p. 13)",
        "“The Perpetua” occurs 11 times in what can be read.",
        "“Varley” appears 9 times so far: first in “1. Sixty-Two Posts”, last in “12. Where? And Who?”.",
        "„Varley“ kommt in dem, was zu lesen ist, 9-mal vor: zuerst in *1. Sixty-Two Old Posts*.",
        "before the first chapter: 1; 1. The Arrival at the Light: 2; 2. The Key under the Stairs: 1",
        "-# A part of this answer is hidden, as it seems to tell something.",
        "",
    ],
)
def test_what_is_cited_or_claims_nothing_is_not_named(answer: str) -> None:
    assert find_uncited(answer) == ()


def test_claims_without_a_reference_are_named_in_order() -> None:
    answer = (
        "Ann kept the light for forty years. She never let it go out (p. 12). In 1911 the Perpetua was lost.\n\n"
        "1. Nobody knew why the lamp was dark."
    )
    assert find_uncited(answer) == (
        "Ann kept the light for forty years.",
        "In 1911 the Perpetua was lost.",
        "Nobody knew why the lamp was dark.",
    )


@pytest.mark.parametrize(
    "claim",
    [
        "We learn that Ann let the light go out.",
        "I think that Ben drowned in the storm.",
        "You can read that Ann left for Java.",
        "I think Ben drowned that very night.",
        "伦菲尔德生于利兹。",
    ],
)
def test_words_that_introduce_a_claim_make_it_none_the_less(claim: str) -> None:
    assert find_uncited(claim) == (claim,)


def test_a_claim_in_bold_is_no_heading() -> None:
    assert find_uncited("**Ann kept the light for forty years.**")


def test_a_reference_belongs_to_the_sentence_before_it_alone() -> None:
    assert find_uncited("Ann kept the light for years. (p. 12) The lamp was dark that night.") == (
        "The lamp was dark that night.",
    )


@pytest.mark.parametrize(
    "answer",
    [
        'Ben says: "It was dark that very night. Nobody knew why it was!" (p. 13) Ann kept the light (p. 12).',
        "„It was dark that very night!“ Hobb asked, and opened the door (p. 12).",
        "« It was dark that very night ! » Hobb asked, and opened the door (p. 12).",
        "「伦菲尔德生于利兹。」と彼は言った (p. 12)。",
    ],
)
def test_a_quotation_and_who_says_it_are_one_claim(answer: str) -> None:
    assert find_uncited(answer) == ()


@pytest.mark.parametrize("quoted", ['"{}!"', "“{}.”", "„{}!“", "»{}!«", "« {} ! »"])
def test_a_sentence_behind_a_quotation_is_a_claim_of_its_own(quoted: str) -> None:
    said = f"Ben says: {quoted.format('It was so dark that night. Nobody knew why')}"
    assert find_uncited(f"{said} Ann kept the light for years (p. 12).") == (said,)
    assert find_uncited(f"{said} (p. 13) Ann kept the light for years.") == ("Ann kept the light for years.",)
    assert find_uncited(f"{said} Ann kept the light for years.") == (said, "Ann kept the light for years.")

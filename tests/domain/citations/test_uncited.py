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


@pytest.mark.parametrize(
    "claim",
    [
        "The Count says, I have no need of mirrors.",
        "You have bewitched me, body and soul, says Darcy.",
        "Dracula is dead.",
        "Van Helsing shot him.",
        "Quincey married Lucy.",
        "Mina fled to Paris.",
        "Renfield begged me to let him marry Mina Harker in the chapel.",
        "Lucy ran to me and said she wanted to ask me a great favour.",
        "Renfield collects insects.",
        "Lucy kills Dracula.",
        "He loves her.",
        "The count died there.",
        "The count is dead.",
        "It was Hobb.",
        "Lucy never came.",
        "Quincey heiratete Lucy.",
        "Dracula ist tot.",
        "Lucy est morte.",
        "I was the Count's prisoner for two months.",
        "We found the Count's box in the chapel.",
        "Dracula takes your blood in the night.",
        "He told me that he was a king.",
        "The book tells us that Lucy dies there.",
        "So many that I have had myself to expostulate.",
        "Renfield bat mich um ein kleines Kätzchen.",
        "I think that Ben drowned in the storm.",
        "My husband went to see the old Count.",
        "She bit me in the neck at night.",
        "Mina didn't marry.",
        "Dr. Seward agrees.",
        "Mina lives.",
        "He's dead.",
        "That was Renfield.",
        "Those were wolves.",
        "It happens in Whitby.",
        "Fifty boxes were sent.",
        "They kill him.",
        "Nobody survived.",
        "Everyone on board died.",
        "All nine men vanished.",
        "There were three women.",
        "It was the Count.",
        "Lucy's grave is empty.",
        "**Lucy** dies in September.",
        "As far as I know, Quincey killed the Count in Paris.",
        "Lucy stirbt im September.",
        "Niemand überlebte.",
        "Er liebt sie.",
        "Il aime Mina.",
        "Personne ne survit.",
        "Él la mata.",
        "Люси умирает в сентябре.",
        "Lucy's dead.",
        "Lucy meurt en septembre.",
        "El conde muere.",
        "Граф мёртв.",
        "Then he dies.",
        "Lucy dies in September, I think.",
        "You see, he was her father all along.",
        "To answer your question: Lucy dies.",
        "I can tell you that Lucy dies there.",
    ],
)
def test_few_words_are_a_claim_and_so_is_what_somebody_in_the_book_tells_as_i_or_me(claim: str) -> None:
    assert find_uncited(claim) == (claim,)


def test_each_of_several_short_claims_is_named() -> None:
    told = "Dracula is dead. Van Helsing shot him. Quincey married Lucy. Mina fled to Paris."
    assert len(find_uncited(told)) == 4
    assert len(find_uncited("Dracula dies. Mina is cured. Jonathan lives.")) == 3


@pytest.mark.parametrize(
    "said",
    [
        "I found nothing.",
        "Nothing found.",
        "Dazu habe ich nichts gefunden.",
        "The book does not say.",
        "Here is a short summary.",
        "Hope this helps, and enjoy the book!",
        "That is all I have.",
        "Das steht nicht im Buch.",
        "The text I was given does not cover this.",
        "There is no mention of a zeppelin in the book.",
        "Interesting thought.",
        "Here's the list.",
        "Nobody else.",
        "That was chapter six.",
        "These are all.",
        "It depends on that.",
        "Lui seul.",
        "Он сам.",
        "Question answered.",
        "The three women.",
        "Fifty boxes of earth.",
        "The old captain",
        "Lucy bitten",
        "I found nothing about zeppelins in the passages.",
        "I found no mention of a zeppelin there.",
        "Let me know if you want to hear more.",
        "Would you like to hear more about Renfield?",
        "I can tell you more about the castle.",
        "I'm sorry, but that is beyond your page.",
        "I am afraid the book does not say so.",
        "Good morning!",
        "Good morning, dear Ann.",
        "Guten Morgen, liebe Ann.",
        "Guten Morgen zusammen.",
        "Happy reading!",
        "Thanks for asking.",
        "Thank you, Ann.",
        "You have read up to the third chapter.",
        "As you asked, here is the list of names.",
        "Just ask me about any of them.",
        "Feel free to ask about the others.",
        "Please tell me how far you are.",
        "Tell me which chapter, and I will look.",
        "We can go on with the next chapter.",
        "Ich kann aus dem Buch nur zitieren, nicht deuten.",
        "Leider konnte ich nichts über Zeppeline finden.",
        "Sag mir, wie weit du bist.",
        "Das ist mir nicht bekannt, tut mir leid.",
        "Je ne trouve rien sur ce sujet.",
        "Let's look at the next chapter together.",
        "Shall I go on?",
        "Of course.",
        "Act 2, scene 3.",
        "In chapter six.",
        "In Kapitel sechs.",
        "Three brown boxes.",
        "The three brides.",
        "Jonathan Harker and Mina.",
        "Seward's diary again.",
        "Not at all.",
        "Yes, of course.",
        "Here they are:",
        "About 100 pages.",
        "Drei Männer im Haus.",
        "Mina, his wife.",
        "Swales, aged ninety.",
        "Name: R. M. Renfield",
        "Age: 59",
        "I find nothing about zeppelins in the book.",
        "The passages given to me do not say.",
        "I don't know who did it there.",
        "I did not find who put it out.",
        "My last answer was about the castle.",
        "Is there anything else you want to know?",
        "Enjoy the book!",
        "You're welcome, Ann.",
        "I can't give pages, but it is in chapter 6, on 8 July.",
    ],
)
def test_talk_with_the_reader_and_what_is_no_sentence_are_not_claims(said: str) -> None:
    assert find_uncited(said) == ()


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

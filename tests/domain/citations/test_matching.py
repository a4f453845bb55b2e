"""A sentence that repeats the book is found in it; one that only sounds like it is not."""

import pytest

from domain.book import Passage, Sentence
from domain.citations.matching import PassageMatcher, leads_elsewhere

SENTENCES = (
    "Marta Quill came to the island in the spring of 1911 with a brass key in her pocket.",
    "She had never seen the lamp at the top of the tower burning.",
    "Hobb told the harbour master that Lucian had not put the lamp out on purpose.",
    "Nobody believed him.",
    "It had been there before him.",
    "Before the storm she almost always counted the seven lamps in the window if her father was away.",
)


def passage() -> Passage:
    at, sentences = 0, []
    for text in SENTENCES:
        sentences.append(Sentence(at, at + len(text), text))
        at += len(text) + 1
    return Passage(1, 0, at - 1, "12", "12", "The Lamp", tuple(sentences))


def found(sentence: str) -> list[int]:
    matcher = PassageMatcher()
    matcher.learn(passage())
    return [SENTENCES.index(each.text) for each in matcher.match(sentence)]


@pytest.mark.parametrize(
    ("sentence", "at"),
    [
        ("Marta Quill came to the island in the spring of 1911 with a brass key in her pocket.", [0]),
        ("Marta came to the island in the spring of 1911.", [0]),
        ("* **Marta** came to the island, with a brass key in her pocket", [0]),
        ("The book says that Hobb told the harbour master that Lucian had not put the lamp out.", [2]),
        ("Marta had never seen the lamp at the top of the tower burning.", [1]),
        ("It had been there before him.", [4]),
        ("Before the storm she almost always counted the seven lamps", [5]),
        ("Hobb told the harbour master Lucian had not put the lamp out on purpose. Nobody believed him.", [2, 3]),
    ],
)
def test_what_the_book_says_is_found(sentence: str, at: list[int]) -> None:
    assert found(sentence) == at


@pytest.mark.parametrize(
    "sentence",
    [
        "Lucian came to the island in the spring of 1911 with a brass key in his pocket.",
        "Marta Quill came to the island in the spring of 1912 with a brass key in her pocket.",
        "Marta Quill came to the island in the spring of 1911 with a stolen brass key in her pocket.",
        "She had seen the lamp at the top of the tower burning.",
        "Hobb told the harbour master that Lucian had put the lamp out on purpose.",
        "The harbour master told Hobb that Lucian had not put the lamp out on purpose.",
        "Marta never came to the island in the spring of 1911.",
        "After the storm she almost always counted the seven lamps.",
        "Before the storm she counted the seven lamps in the window.",
        "Before the storm he counted the seven lamps in the window.",
        "Before the storm she always counted the seven lamps in the window, her father was away.",
        "Marta Quill came to the island in the spring of the tower burning.",
        "It has not been there before him.",
        "Did Marta come to the island in the spring of 1911?",
        "She came to the island.",
        "Nothing of this stands in the passages.",
        "",
    ],
)
def test_what_it_does_not_say_is_not(sentence: str) -> None:
    assert found(sentence) == []


@pytest.mark.parametrize(
    "lead",
    [
        "Harker writes that",
        "In chapter II,",
        "According to Harker,",
        "- **First,**",
        "Meanwhile,",
        "As the book puts it,",
        "**Key point:**",
        "**Her arrival**:",
        "Mina explains to Lucy that",
        "We learn that",
        "Laut Harker:",
    ],
)
def test_what_is_only_introduced_is_found(lead: str) -> None:
    assert found(f"{lead} {SENTENCES[0]}") == [0]


@pytest.mark.parametrize(
    "lead",
    [
        "It is a lie that",
        "Nobody writes that",
        "Mina denies that",
        "In a dream,",
        "The butler sang, and",
        "The butler killed her:",
        "**Wrong:**",
        "Perhaps,",
    ],
)
def test_what_is_denied_or_claimed_besides_is_not(lead: str) -> None:
    assert found(f"{lead} {SENTENCES[0]}") == []


@pytest.mark.parametrize(
    "told",
    [
        "If Hobb sold the brass lamp to the harbour master, Marta would leave.",
        "Marta dreamed that Hobb sold the brass lamp to the harbour master.",
        "Hobb almost sold the brass lamp to the harbour master.",
        "Was it true that Hobb sold the brass lamp to the harbour master?",
        "It was a lie that Hobb sold the brass lamp to the harbour master.",
    ],
)
def test_what_the_book_only_supposes_is_not_told_as_a_fact(told: str) -> None:
    matcher = PassageMatcher()
    matcher.learn(Passage(1, 0, len(told), "12", "12", "The Lamp", (Sentence(0, len(told), told),)))
    assert matcher.match("Hobb sold the brass lamp to the harbour master.") == ()


def test_a_name_stands_for_a_pronoun_only_if_there_is_no_other() -> None:
    matcher = PassageMatcher()
    texts = ("Marta Quill found the keeper asleep beside old Hobb.", "She had never seen the lamp at the top burning.")
    sentences = tuple(Sentence(at * 100, at * 100 + len(text), text) for at, text in enumerate(texts))
    matcher.learn(Passage(1, 0, 200, "12", "12", "The Lamp", sentences))
    assert matcher.match("Hobb had never seen the lamp at the top burning.") == ()


def test_a_chapter_that_is_named_has_to_be_the_right_one() -> None:
    assert leads_elsewhere("In Chapter III, Marta came to the island.", "Chapter XX. The Island")
    assert not leads_elsewhere("In chapter twenty, Marta came to the island.", "Chapter XX. The Island")
    assert not leads_elsewhere("In the first chapter, Marta came to the island.", "Chapter XX. The Island")
    assert not leads_elsewhere("Marta came to the island in chapter 3.", "Chapter XX. The Island")


def test_a_question_of_the_book_is_found_word_for_word_only_and_as_a_question() -> None:
    matcher = PassageMatcher()
    asked = Sentence(0, 45, "“Would you like some sugar for your lamp now?”")
    matcher.learn(Passage(1, 0, 45, "12", "12", "The Lamp", (asked,)))
    assert matcher.match("Would you like some sugar for your lamp now?") == (asked,)
    assert matcher.match("Would you like sugar for your lamp now?") == ()
    assert matcher.match("Would you like some sugar for your lamp now.") == ()

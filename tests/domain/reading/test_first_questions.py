"""The questions a card offers to begin with: of the opening alone, and about what the book is about."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.book import Chapter
from domain.reading.questions import FIRST_QUESTIONS, FirstQuestion, FirstQuestionKind, first_questions, story_start

NOVEL = (
    "It was late when Mrs. Adair came down to the harbour. Mrs. Adair had no lantern. “Is the ferry still running "
    "tonight?” asked Tom Reeve. “No,” said Mrs. Adair, “and it will not.” Tom Reeve laughed. Mrs. Adair went in."
)
PLAY = """
ALBA. Who left the gate of the orchard open?
BRUNO. I did not.
ALBA. Somebody did, and the goats are in the beans.
BRUNO. Then it was the wind.
"""
TALE = (
    "There was once a miller who had a cat. The cat, they said, could speak. One day the miller was ill, and the cat "
    "went to the king. “Sire,” it said to the king, and the king listened. Then the cat came home, and the king came "
    "along with the cat. So the miller was happy."
)
ESSAY = (
    "The glacier is slow. Nobody has seen the glacier move, and yet the glacier has moved since we came. Below the "
    "glacier the moraine is a road of stones; the moraine was a forest. We walk on the moraine."
)


def kinds(opening: str, *names: str) -> list[tuple[FirstQuestionKind, str]]:
    return [(each.kind, each.about) for each in first_questions(opening, names, ["1", "2", "3"])]


def test_a_novel_is_asked_about_who_is_met_there_and_what_is_said() -> None:
    assert kinds(NOVEL, "Mrs Adair", "Tom Reeve") == [
        (FirstQuestionKind.BEGINNING, ""),
        (FirstQuestionKind.MET, "Mrs Adair"),
        (FirstQuestionKind.SAID, "Is the ferry still running tonight?"),
    ]


def test_who_is_asked_about_has_the_name_the_book_prints() -> None:
    asked = kinds(NOVEL, "Mrs. Adair", "Tom Reeve")
    assert (FirstQuestionKind.MET, "Mrs. Adair") in asked
    assert (FirstQuestionKind.SAID, "Is the ferry still running tonight?") in asked
    play = "Mr. Alba. Who left the gate open?\nBruno. I did not.\nMr. Alba. Somebody did, and the goats are out.\n"
    assert (FirstQuestionKind.SAID, "Who left the gate open?") in kinds(play, "Mr. Alba", "Bruno")


def test_a_play_is_asked_about_its_lines() -> None:
    assert (FirstQuestionKind.SAID, "Who left the gate of the orchard open?") in kinds(PLAY)


@pytest.mark.parametrize(("text", "things"), [(TALE, ["the cat", "the king"]), (ESSAY, ["the glacier", "the moraine"])])
def test_where_nobody_has_a_name_things_are_asked_about(text: str, things: list[str]) -> None:
    assert kinds(text)[1:] == [(FirstQuestionKind.THING, thing) for thing in things]


def test_what_stands_in_any_book_is_nothing_to_ask_about() -> None:
    opening = "We live in the country. The country is flat, and the glacier is far. The glacier shines. "
    asked = kinds(opening + "From the house one sees the glacier; the house is old, and the country wide. The house!")
    assert [about for kind, about in asked if kind is FirstQuestionKind.THING] == ["the glacier"]


def test_where_nothing_stands_out_pages_are_asked_about() -> None:
    assert kinds("A grey morning. Rain.")[1:] == [(FirstQuestionKind.PAGE, "2"), (FirstQuestionKind.PAGE, "3")]


def test_german_speech_and_names() -> None:
    text = "Effi saß da. »Willst du nicht endlich aufstehen?« fragte Hulda. Effi schwieg. Hulda ging. Effi sah auf."
    asked = kinds(text, "Effi", "Hulda")
    assert (FirstQuestionKind.SAID, "Willst du nicht endlich aufstehen?") in asked
    assert (FirstQuestionKind.MET, "Effi") in asked


def test_a_name_that_needs_an_article_is_no_persons() -> None:
    text = (
        "The Count said so. Count Orlo came. We saw the Count. “Count Orlo!” Count Orlo bowed. The Carpathians "
        "could be seen. Beyond the Carpathians were the dark Carpathians. Mina said no. Mina wrote. Mina knew it."
    )
    asked = [
        about for kind, about in kinds(text, "Carpathians", "Count", "Mina") if kind is not FirstQuestionKind.THING
    ]
    assert "Mina" in asked
    assert not {"Carpathians", "Count"} & {*asked}


def test_who_has_read_nothing_is_asked_nothing() -> None:
    assert first_questions("", ["Mrs Adair"], ["1"]) == []


def test_prefaces_and_title_pages_are_no_story() -> None:
    chapters = [
        Chapter(1, "Introduction by the Editor", 0, 9_000),
        Chapter(2, "London: The Globe", 9_000, 9_090),
        Chapter(3, "First Act", 9_090, 30_000),
    ]
    assert story_start(chapters, 30_000) == 9_090
    assert story_start(chapters[:1], 9_000) == 0
    assert story_start([], 30_000) == 0
    assert story_start(chapters, 500) == 500, "who reads the introduction has read nothing of the story"


@pytest.mark.parametrize("end", [9_060, 9_090, 30_000])
def test_where_the_story_starts_tells_nothing_of_how_long_the_chapter_is_that_is_being_read(end: int) -> None:
    chapters = [Chapter(1, "Introduction by the Editor", 0, 9_000), Chapter(2, "The Harbour", 9_000, end)]
    assert story_start(chapters, 9_060) == 9_000


@example("::", [" "])
@given(st.text(max_size=2_000), st.lists(st.text(min_size=1, max_size=20), max_size=6))
def test_whatever_stands_there_each_question_is_of_it_and_asked_once(opening: str, names: list[str]) -> None:
    asked = first_questions(opening, names, ["1", "2", "3"])
    assert len(asked) == len(set(asked)) <= FIRST_QUESTIONS
    said = [each for each in asked if each.kind in (FirstQuestionKind.SAID, FirstQuestionKind.THING)]
    assert all(each.about in " ".join(opening.split()) for each in said)
    assert not opening.strip() or asked[0] == FirstQuestion(FirstQuestionKind.BEGINNING)

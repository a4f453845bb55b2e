"""The text of a book, and what is said of it."""

import pytest

from domain.book import BookText, Chapter, Citation, Page, encodable, references, shown_chapter


def test_no_words_of_a_book_are_in_what_is_printed_of_it() -> None:
    text = "Call me Ishmael."
    book = BookText(text, (Page(1, "1", 0, len(text)),), (Chapter(1, "Loomings", 0, len(text)),), "txt")
    assert "Ishmael" not in repr(book)
    assert "Loomings" not in repr(book)


@pytest.mark.parametrize(
    ("number", "title"),
    [(1, "Chapter I. The Rain"), (2, "II. The Lamp"), (3, "3. Sea"), (4, "Chapter 4"), (5, "V"), (1, "Erstes Kapitel")],
)
def test_a_chapter_that_says_its_number_is_shown_without_another(number: int, title: str) -> None:
    assert shown_chapter(number, title) == title


@pytest.mark.parametrize("title", ["I Am Born", "One Day in May", "The Lamp", "Chapter II"])
def test_any_other_chapter_has_its_number_in_front(title: str) -> None:
    assert shown_chapter(1, title) == f"1. {title}"


def cited(start: int, end: int, page: str) -> Citation:
    return Citation(start, end, "So.", page, page, "", estimated=True)


def test_sentences_that_follow_each_other_over_a_page_are_one_reference() -> None:
    made = [cited(0, 40, "20"), cited(42, 80, "21"), cited(400, 440, "23")]
    assert references(made) == "about pp. 20-21, about p. 23"


def test_sentences_with_others_between_them_are_two_references() -> None:
    assert references([cited(0, 40, "20"), cited(90, 130, "21")]) == "about p. 20, about p. 21"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Hobb", "Hobb"),
        ("Königin 🐇", "Königin 🐇"),
        ("a \ud83d\udc07", "a 🐇"),
        ("a \ud83d b", "a \ufffd b"),
        ("\udc07\ud83d", "\ufffd\ufffd"),
    ],
)
def test_halves_side_by_side_are_a_character_and_a_lone_one_is_marked(text: str, whole: str) -> None:
    assert encodable(text) == whole

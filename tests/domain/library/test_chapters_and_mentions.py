"""Whole chapters and all mentions, as far as a reader has read."""

import pytest

from domain.book import BookText, Chapter, Page
from domain.errors import BookError
from domain.library.view import BlockingView
from tests.domain.library.indexed import reading_of

FRONT = "A tale. "
FIRST = "One\n\nAnn came by the ferry. Hobb rowed her. Ann paid. "
SECOND = "Two\n\nThe lamp was dark. Ann’s key fitted. Hobb had drowned."
TEXT = FRONT + FIRST + SECOND


def reading(read_to: int = len(TEXT), *, chapters: bool = True) -> BlockingView:
    second = len(FRONT) + len(FIRST)
    named = (Chapter(1, "One", len(FRONT), second), Chapter(2, "Two", second, len(TEXT)))
    book = BookText(TEXT, (Page(1, "1", 0, len(TEXT)),), named if chapters else (), "txt")
    return reading_of(book, read_to)


def test_a_chapter_is_read_whole() -> None:
    assert reading().read_chapter(1).text == "One Ann came by the ferry. Hobb rowed her. Ann paid."


def test_of_the_chapter_being_read_only_finished_sentences_are_read() -> None:
    assert reading(TEXT.index("key fitted")).read_chapter(2).text == "Two The lamp was dark."


def test_zero_is_what_stands_before_the_first_chapter_or_all_of_a_book_without() -> None:
    assert reading().read_chapter(0).text == "A tale."
    whole = reading(chapters=False).read_chapter(0)
    assert (whole.start, whole.end) == (0, len(TEXT))


@pytest.mark.parametrize(("read_to", "number"), [(len(TEXT), 3), (len(TEXT), -1), (len(FRONT + FIRST), 2), (0, 0)])
def test_a_chapter_that_was_not_reached_is_refused_in_the_same_words_as_one_that_is_not_there(
    read_to: int, number: int
) -> None:
    with pytest.raises(BookError) as caught:
        reading(read_to).read_chapter(number)
    assert caught.value.message == f"There's no chapter {number} in what's been read so far."


def test_somebody_is_met_in_the_story_and_not_in_a_preface() -> None:
    front, preface, told = (
        "Ann. ",
        "Preface\n\nAnn is drawn from life, and so is Bob. ",
        "One\n\nAnn came by the ferry.",
    )
    start, text = len(front + preface), front + preface + told
    chapters = Chapter(1, "Preface", len(front), start), Chapter(2, "One", start, len(text))
    view = reading_of(BookText(text, (Page(1, "1", 0, len(text)),), chapters, "txt"), len(text))
    met = [view.count_mentions(name).in_story for name in ("Ann", "Bob")]
    assert [each and each.quote for each in met] == ["Ann came by the ferry.", "Ann is drawn from life, and so is Bob."]


def test_mentions_are_sentences_in_order_each_once() -> None:
    found = [sentence.text for sentence in reading().mentions("Ann", 10)]
    assert found == ["Ann came by the ferry.", "Ann paid.", "Ann’s key fitted."]
    assert len(reading().mentions("Ann", 2)) == 2


def test_mentions_beyond_the_bound_are_none() -> None:
    assert [sentence.text for sentence in reading(TEXT.index("Hobb had")).mentions("Hobb", 9)] == ["Hobb rowed her."]
    assert reading().mentions("", 9) == []

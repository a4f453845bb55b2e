"""Where people say they are becomes an offset, and what is said of places that are not there tells nothing."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from domain.book import Chapter, Page
from domain.errors import BookError
from domain.library.addressing import end_of_chapter, end_of_page, find_chapter, find_page
from domain.library.progress import ManagePositions
from domain.reading.recap import page_named

Place = TypeVar("Place", Page, Chapter)

PAGES = (Page(1, "xi", 0, 10), Page(2, "xii", 10, 20), Page(3, "1", 20, 30), Page(4, "2", 30, 40))
CHAPTERS = tuple(
    Chapter(number, title, 10 * number, 10 * number + 10)
    for number, title in enumerate(
        [
            "Prologue",
            "Chapter I. The Arrival",
            "Chapter II. The Lamp",
            "3. Down the Stairs",
            "PART TWO",
            "IV",
            "The Lamp",
        ],
        1,
    )
)


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("xii", 2),
        ("XII", 2),
        ("1", 3),
        (" 2 ", 4),
        ("page 2", 4),
        ("p. xi", 1),
        ("Seite 1", 3),
        ("S. 2", 4),
        ("4", 4),
        ("２", 4),
        ("Seite ١", 3),
        ("\u200e2\u200b", 4),
    ],
)
def test_a_page_is_found_by_what_is_printed_on_it_and_failing_that_by_its_place(label: str, number: int) -> None:
    page = find_page(PAGES, label)
    assert page is not None
    assert page.number == number
    assert end_of_page(PAGES, label, estimated=False) == page.end


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("prologue", 1),
        ("chapter i. the arrival", 2),
        ("2", 2),
        ("chapter 2", 3),
        ("Chapter II", 3),
        ("II", 3),
        ("kapitel 3", 4),
        ("chapter IV", 6),
        ("chapter 5", 5),
        ("the lamp", 7),
        ("stairs", 4),
    ],
)
def test_a_chapter_is_found_by_title_by_its_printed_number_by_its_place_and_by_words(name: str, number: int) -> None:
    chapter = find_chapter(CHAPTERS, name)
    assert chapter is not None
    assert chapter.number == number
    assert end_of_chapter(CHAPTERS, name) == chapter.end


@pytest.mark.parametrize("name", ["", "   ", "99", "chapter 99", "the murder", "iiii?", "²"])
def test_a_chapter_that_is_not_there_is_not_found(name: str) -> None:
    assert find_chapter(CHAPTERS, name) is None


def test_what_is_said_of_a_missing_chapter_is_the_same_for_a_longer_book() -> None:
    longer = (*CHAPTERS, Chapter(8, "The Murderer", 80, 90))
    assert refusal(end_of_chapter, CHAPTERS) == refusal(end_of_chapter, longer)


@pytest.mark.parametrize(
    ("pages", "estimated", "told"),
    [
        (PAGES, False, "(it has 4 pages, and they begin with xi)"),
        ([Page(1, "1", 0, 9)], False, "(it has 1 page)"),
        ([Page(number, str(number), number, number + 1) for number in range(1, 37)], True, "(it has about 36 pages)"),
    ],
)
def test_a_missing_page_is_answered_with_how_many_there_are(pages: list[Page], estimated: bool, told: str) -> None:
    with pytest.raises(BookError) as caught:
        end_of_page(pages, "page 9999", estimated=estimated)
    assert caught.value.message == f"There's no page 9999 in this book {told}."


@pytest.mark.parametrize("typed", ["three", "page three", "where Marta wakes"])
def test_words_in_place_of_a_page_are_told_apart_from_a_page_that_is_missing(typed: str) -> None:
    with pytest.raises(BookError) as caught:
        end_of_page(PAGES, typed, estimated=False)
    named = typed.removeprefix("page ")
    assert caught.value.message == f"“{named}” is not a page number (the book has 4 pages)."


def refusal(find: Callable[[Sequence[Place], str], int], places: Sequence[Place]) -> str:
    with pytest.raises(BookError) as caught:
        find(places, "99")
    return caught.value.message


def test_a_book_without_chapters_refuses_in_the_same_words() -> None:
    assert refusal(end_of_chapter, ()) == refusal(end_of_chapter, CHAPTERS)


@pytest.mark.parametrize("blank", [" ", "\t", "\n", "\u00a0", "\u3000"])
async def test_a_place_with_many_blanks_in_it_is_read_in_time_by_its_length(blank: str) -> None:
    """As Discord and other programs pass on what somebody typed."""
    nothing: Any = None
    positions = ManagePositions(readers=nothing, files=nothing, bounds=nothing)

    async def seconds(length: int) -> float:
        typed = f"finished{blank * length}x"
        started = time.thread_time()
        assert page_named(typed) is None
        with pytest.raises(BookError, match="“finished x” is not a page number"):
            end_of_page(PAGES, typed, estimated=False)
        with pytest.raises(BookError, match="I don't understand “finished x”"):
            await positions.follow("ann", nothing, typed)
        return time.thread_time() - started

    assert min([await seconds(32_000) for _ in range(3)]) < 0.1


@pytest.mark.parametrize("typed", ["page 2", " PAGE  2 ", "Seite\u00a02", "p.2", "page\n2"])
def test_blanks_in_a_place_do_not_matter(typed: str) -> None:
    assert page_named(typed) == "2"
    assert end_of_page(PAGES, typed, estimated=False) == 40

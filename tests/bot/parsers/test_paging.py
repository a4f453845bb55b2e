"""Estimated pages are of one size, end where a reader would pause, and begin anew with each chapter."""

from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.draft import PAGE_CHARACTERS, estimated_pages
from tests.bot.parsers.prose import prose


@given(st.text(alphabet="ab .\n", max_size=9_000), st.lists(st.integers(0, 9_000), max_size=5))
def test_pages_cover_any_text_in_order(text: str, chapters: list[int]) -> None:
    pages = estimated_pages(text, sorted({start for start in chapters if start < len(text)}))
    assert "".join(text[page.start : page.end] for page in pages) == text
    assert [page.label for page in pages] == [str(number) for number in range(1, len(pages) + 1)]


def test_pages_end_with_a_paragraph_where_one_is_near() -> None:
    text = prose(1, 60)
    pages = estimated_pages(text, [])
    assert all(text[: page.end].endswith("\n\n") for page in pages[:-1])
    assert all(abs(page.end - page.start - PAGE_CHARACTERS) < PAGE_CHARACTERS / 3 for page in pages)


def test_pages_of_one_long_paragraph_end_with_sentences() -> None:
    text = prose(1, 40).replace("\n\n", " ")
    assert all(text[: page.end].endswith(". ") for page in estimated_pages(text, [])[:-1])


def test_a_chapter_begins_a_page_but_a_mere_heading_has_none_of_its_own() -> None:
    first, heading, second = prose(1, 12), "\n\nPART TWO\n\n", prose(30, 12)
    text = first + heading + second
    part, chapter = len(first) + 2, len(first) + len(heading)
    starts = [page.start for page in estimated_pages(text, [0, part, chapter])]
    assert part in starts
    assert chapter not in starts

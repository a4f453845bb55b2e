"""Cards, made from values alone, and always within what Discord shows."""

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogs.cards import added_card, asked_line, book_card, book_facts, clipped, plain, repeated, usage_line
from cogs.i18n import Speech, speech_for
from domain.book import Book, Chapter, Page, PositionState, ReadingPosition
from domain.library.progress import position_line
from domain.library.shelf import AddedBook
from domain.records import UsageTotal
from domain.tool_use import TokenUsage
from tests.cogs.stage import embed_text
from tests.storage.values import a_book

SAY = speech_for(discord.Locale.american_english)
GERMAN = speech_for(discord.Locale.german)
EMBED_LENGTH = 6000


def test_warnings_are_shown_to_whoever_added_the_file() -> None:
    card = embed_text(added_card(AddedBook(a_book(), True, ("Page 3 has no text.",)), 1.25, SAY))
    assert "Please note\n⚠️ Page 3 has no text." in card
    assert "1.2 s" in card


def test_what_a_book_does_not_have_is_not_told() -> None:
    added = AddedBook(a_book(chapter_count=0, author=""), True)
    assert not {"Chapters", "Author"} & {*embed_text(added_card(added, 0, SAY)).splitlines()}
    assert "chapter" not in book_facts(added.book, SAY)
    whole = AddedBook(a_book(chapter_count=1, author="A. Nonymous"), True)
    assert {"Chapters", "Author"} <= {*embed_text(added_card(whole, 0, SAY)).splitlines()}


def test_tokens_that_nobody_counted_are_said_to_be_estimated() -> None:
    counted = UsageTotal(2, TokenUsage(1_000, 200))
    estimated = UsageTotal(2, TokenUsage(1_000, 200, estimated=True))
    assert usage_line(counted, SAY) == "1,200 tokens · 2 requests"
    assert usage_line(estimated, SAY) == "about 1,200 tokens · 2 requests"
    assert usage_line(estimated, GERMAN).startswith("etwa 1.200 Token")


def test_estimated_pages_are_said_to_be_so() -> None:
    card = embed_text(added_card(AddedBook(a_book(pages_estimated=True), True), 0, SAY))
    assert "about 196 pages" in card


@pytest.mark.parametrize(
    ("estimated", "say", "in_contents", "in_position"),
    [
        (False, SAY, "Dusk · p. 1", "at page 1."),
        (True, SAY, "Dusk · about p. 1", "at about page 1."),
        (False, GERMAN, "Dusk · S. 1", "auf Seite 1."),
        (True, GERMAN, "Dusk · etwa S. 1", "etwa auf Seite 1."),
    ],
)
def test_a_page_that_is_estimated_is_named_as_such(
    estimated: bool, say: Speech, in_contents: str, in_position: str
) -> None:
    book, pages = a_book(pages_estimated=estimated), [Page(1, "1", 0, 99)]
    assert in_contents in embed_text(book_card(book, [Chapter(1, "Dusk", 0, 99)], pages, 99, say))
    assert in_position in position_line(ReadingPosition(PositionState.READING, 99), book, pages, say)


def test_a_book_without_chapters_says_so() -> None:
    book = a_book()
    assert "I found no chapters" in embed_text(book_card(book, [], [], book.length, SAY))


def test_a_long_table_of_contents_is_counted_out() -> None:
    chapters = [Chapter(number, f"Chapter the {number}th", number, number + 1) for number in range(1, 41)]
    card = embed_text(book_card(a_book(), chapters, [Page(1, "1", 0, 99)], 99, SAY))
    assert "30. Chapter the 30th" in card
    assert "… and 10 more" in card


def test_a_number_that_the_title_has_already_is_not_said_twice() -> None:
    chapters = [Chapter(1, "1. Sixty-Two Posts", 0, 99)]
    card = embed_text(book_card(a_book(), chapters, [Page(1, "1", 0, 99)], 99, SAY))
    assert card.count("1.") == 1
    card = embed_text(book_card(a_book(), [Chapter(1, "Kapitel 1", 0, 99)], [Page(1, "1", 0, 99)], 99, GERMAN))
    assert "1. Kapitel" not in card


@given(st.text(max_size=600), st.text(max_size=600), st.lists(st.text(max_size=900), max_size=60))
def test_any_book_fits(title: str, author: str, titles: list[str]) -> None:
    book: Book = a_book(title=title or "x", author=author)
    chapters = [Chapter(number, each, number, number + 1) for number, each in enumerate(titles, start=1)]
    for card in (
        book_card(book, chapters, [Page(1, "1", 0, 99)], 99, SAY),
        added_card(AddedBook(book, True, tuple(titles)), 1, SAY),
    ):
        assert len(card) <= EMBED_LENGTH
        assert len(card.title or "") <= 256
        assert len(card.description or "") <= 4096
        assert all(1 <= len(field.value or "") <= 1024 for field in card.fields)


@given(st.text(), st.integers(1, 50))
def test_what_is_clipped_is_no_longer_than_allowed(text: str, length: int) -> None:
    shown = clipped(text, length)
    assert len(shown) <= length
    assert shown == text or shown.endswith("…")


def test_what_a_reader_has_covered_stays_covered() -> None:
    assert asked_line("Ann", "Is it ||*Lucian*|| or Hobb?", SAY) == "**Ann** asks: Is it ||\\*Lucian\\*|| or Hobb?"
    long = asked_line("Ann", f"Is it ||{'Lucian ' * 100}||?", SAY)
    assert long.count("||") == 2
    assert long.endswith("…||")
    assert repeated(["Who?", f"||{'Lucian ' * 1000}||"]).endswith("…||")
    assert repeated(["Who?", "||Lucian||?"]) == "Who?\n\n||Lucian||?"


def test_words_from_outside_neither_format_nor_ping() -> None:
    shown = plain("**@everyone** [x](http://e.example)\n# big")
    assert "@everyone" not in shown
    assert "\\*\\*" in shown
    assert "\n" not in shown

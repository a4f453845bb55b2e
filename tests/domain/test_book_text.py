"""The text of a book, and what is said of it."""

from domain.book import BookText, Chapter, Page


def test_no_words_of_a_book_are_in_what_is_printed_of_it() -> None:
    text = "Call me Ishmael."
    book = BookText(text, (Page(1, "1", 0, len(text)),), (Chapter(1, "Loomings", 0, len(text)),), "txt")
    assert "Ishmael" not in repr(book)
    assert "Loomings" not in repr(book)

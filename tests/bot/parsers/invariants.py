"""What is true of every book a reader returns."""

from itertools import pairwise

from domain.book import BookText


def check(book: BookText) -> BookText:
    """The book, if its pages cover the text and its chapters are in order."""
    assert book.pages[0].start == 0
    assert book.pages[-1].end == len(book.text)
    assert all(page.end == following.start for page, following in pairwise(book.pages))
    assert all(page.start <= page.end for page in book.pages)
    assert [page.number for page in book.pages] == list(range(1, len(book.pages) + 1))
    assert all(chapter.end <= following.start for chapter, following in pairwise(book.chapters))
    assert all(0 <= chapter.start < chapter.end <= len(book.text) for chapter in book.chapters)
    assert [chapter.number for chapter in book.chapters] == list(range(1, len(book.chapters) + 1))
    assert all(chapter.title.strip() and chapter.level >= 1 for chapter in book.chapters)
    assert all(book.text[chapter.start : chapter.end].strip() for chapter in book.chapters)
    assert all(page.label.strip() and len(page.label) <= 20 for page in book.pages)
    assert book.text.strip()
    assert book.title
    assert book.text.encode()
    return book


def titles(book: BookText) -> list[str]:
    """The chapters as a reader sees them in the contents, indented by their level."""
    return ["  " * (chapter.level - 1) + chapter.title for chapter in book.chapters]

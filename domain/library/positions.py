"""Where people say they are in a book ("page 47", "xii", "chapter 3"), as offsets on its one axis.

What is said when there is no such place tells nothing of the book: neither how long it is nor what its chapters are
called, for whoever asks may not have read them yet.
"""

import re
from collections.abc import Sequence

from domain.book import Chapter, Page
from domain.errors import BookError, BookErrorCode
from domain.library.words import fold, words_of

_PAGE_WORD = re.compile(r"\s*(?:pages?|pp?\.|seiten?|s\.|p[áa]gina|pag\.)\s*(?=\S)", re.IGNORECASE)
_CHAPTER_WORD = r"(?:chapter|chap\.?|ch\.?|kapitel|kap\.?|chapitre|cap[íi]tulo|capitolo|hoofdstuk)"
_NUMERAL = r"(\d{1,4}|[ivxlcdm]+)"
_NUMBERED = re.compile(rf"\s*(?:{_CHAPTER_WORD}\s*)?{_NUMERAL}\.?\s*", re.IGNORECASE)
_PRINTED = re.compile(rf"\s*(?:{_CHAPTER_WORD}\s*)?{_NUMERAL}(?:\b|$)", re.IGNORECASE)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}


def find_page(pages: Sequence[Page], label: str) -> Page | None:
    """The page with that label, "page" in front of it or not; if none is labelled so, the one with that number."""
    wanted = _PAGE_WORD.sub("", label, count=1).strip().casefold()
    by_label = (page for page in pages if page.label.strip().casefold() == wanted)
    by_number = (page for page in pages if str(page.number) == wanted)
    return next(by_label, None) or next(by_number, None)


def end_of_page(pages: Sequence[Page], label: str) -> int:
    """The offset up to which a reader has read who has finished that page.

    Raises:
        BookError: NOT_FOUND, there is no such page.
    """
    page = find_page(pages, label)
    if page is None:
        raise page_missing(label, pages)
    return page.end


def page_missing(label: str, pages: Sequence[Page]) -> BookError:
    first = f"; its first is {pages[0].label}" if pages else ""
    return BookError(BookErrorCode.NOT_FOUND, f"This book has no page {label.strip()!r}{first}. Check the number.")


def title_is_read(chapter: Chapter, read_to: int) -> bool:
    """Whether somebody who has read up to `read_to` has read the chapter's title, which stands at its beginning."""
    return min(chapter.start + max(len(chapter.title), 1), chapter.end) <= read_to


def end_of_chapter(chapters: Sequence[Chapter], name: str) -> int:
    """The offset up to which a reader has read who has finished that chapter, named by number or title.

    Raises:
        BookError: NOT_FOUND, there is no such chapter.
    """
    chapter = find_chapter(chapters, name)
    if chapter is None:
        sentence = f"I can make out no chapter {name.strip()!r} in this book. Say the page you have read to instead."
        raise BookError(BookErrorCode.NOT_FOUND, sentence)
    return chapter.end


def find_chapter(chapters: Sequence[Chapter], name: str) -> Chapter | None:
    """The chapter somebody means: by its whole title, by its number ("3", "chapter 3", "III"), by words of its title.

    A bare figure counts from the beginning of the book; with "chapter", or in Roman figures, the number that is printed
    goes before. Of several that fit the first is taken, which shows the least.
    """
    wanted = _folded(name)
    by_title = (chapter for chapter in chapters if _folded(chapter.title) == wanted)
    by_part = (chapter for chapter in chapters if wanted and f" {wanted} " in f" {_folded(chapter.title)} ")
    return next(by_title, None) or _by_number(chapters, name.strip()) or next(by_part, None)


def _by_number(chapters: Sequence[Chapter], name: str) -> Chapter | None:
    match = _NUMBERED.fullmatch(name)
    if match is None:
        return None
    number = _value(match[1])
    printed = (chapter for chapter in chapters if _printed_number(chapter) == number)
    counted = (chapter for chapter in chapters if chapter.number == number)
    if name.isdecimal():
        return next(counted, None)
    return next(printed, None) or next(counted, None)


def _printed_number(chapter: Chapter) -> int | None:
    match = _PRINTED.match(chapter.title)
    return _value(match[1]) if match else None


def _value(numeral: str) -> int:
    """4 for "4" and for "IV"."""
    if numeral.isdecimal():
        return int(numeral)
    values = [_ROMAN[letter] for letter in numeral.lower()]
    return sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _folded(title: str) -> str:
    return " ".join(fold(word) for word in words_of(title))

"""Where people say they are in a book ("page 47", "xii", "chapter 3"), as offsets on its one axis."""

from collections.abc import Sequence

from domain.book import Chapter, Page
from domain.errors import BookError, BookErrorCode
from domain.library.words import fold, words_of


def find_page(pages: Sequence[Page], label: str) -> Page | None:
    """The page with that label; if no page is labelled so, the one with that number."""
    wanted = label.strip().casefold()
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
    return BookError(BookErrorCode.NOT_FOUND, f"There is no page {label.strip()!r}. {_known_pages(pages)}")


def end_of_chapter(chapters: Sequence[Chapter], name: str) -> int:
    """The offset up to which a reader has read who has finished that chapter, named by number or title.

    Raises:
        BookError: NOT_FOUND, there is no such chapter.
    """
    chapter = find_chapter(chapters, name)
    if chapter is None:
        raise BookError(BookErrorCode.NOT_FOUND, f"There is no chapter {name.strip()!r}. {_known_chapters(chapters)}")
    return chapter.end


def find_chapter(chapters: Sequence[Chapter], name: str) -> Chapter | None:
    """The chapter of that title; failing that, of that number; failing that, the first whose title has those words."""
    wanted = _folded(name)
    by_title = (chapter for chapter in chapters if _folded(chapter.title) == wanted)
    by_number = (chapter for chapter in chapters if str(chapter.number) == name.strip())
    by_part = (chapter for chapter in chapters if wanted and f" {wanted} " in f" {_folded(chapter.title)} ")
    return next(by_title, None) or next(by_number, None) or next(by_part, None)


def _folded(title: str) -> str:
    return " ".join(fold(word) for word in words_of(title))


def _known_pages(pages: Sequence[Page]) -> str:
    if not pages:
        return "It has no pages."
    return f"Its pages run from {pages[0].label} to {pages[-1].label}."


def _known_chapters(chapters: Sequence[Chapter]) -> str:
    if not chapters:
        return "This book has no chapters that could be made out; use a page instead."
    return f"This book has chapters 1 to {len(chapters)}, from “{chapters[0].title}” to “{chapters[-1].title}”."

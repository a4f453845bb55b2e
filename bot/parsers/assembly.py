"""The last step of every reader: from a draft to a BookText with its pages, chapters and title."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.parsers.chapters import Heading, chapters_from, with_numbers_of_contents
from bot.parsers.limits import ReadingLimits
from bot.parsers.text.gutenberg import Wrapping, unwrap
from bot.parsers.text.headings import find_headings
from bot.parsers.titles import author_name, book_title, calm, one_line, page_label, read_title_page, title_from_filename
from domain.book import BookText, Chapter, Page
from domain.characters import encodable
from domain.errors import BookError, BookErrorCode

PAGE_CHARACTERS = 1_800
MOST_PAGES = 20_000
"""More than this is no book: its pages are made anew."""
_SHORTEST_STRETCH = 300
_SLACK = 240
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？][”」』]*\s*")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")


def estimated_pages(text: str, chapter_starts: Iterable[int]) -> tuple[Page, ...]:
    """Pages that cover `text`, numbered from 1."""
    return pages_between([*_cuts(text, chapter_starts)], len(text))


def pages_between(starts: Sequence[int], end: int, labels: Sequence[str] = ()) -> tuple[Page, ...]:
    """Pages from the offsets they start at, in order; without `labels` they are numbered."""
    names = labels or [str(number) for number in range(1, len(starts) + 1)]
    ends = [*starts[1:], end]
    return tuple(
        Page(number, label, start, stop)
        for number, (label, start, stop) in enumerate(zip(names, starts, ends, strict=True), start=1)
    )


def _cuts(text: str, chapter_starts: Iterable[int]) -> Iterator[int]:
    start = 0
    for stretch_end in [*chapter_starts, len(text)]:
        if stretch_end - start >= _SHORTEST_STRETCH or stretch_end == len(text):
            yield from _equal_parts(text, start, stretch_end)
            start = stretch_end


def _equal_parts(text: str, start: int, end: int) -> Iterator[int]:
    if start == end and start:
        return
    yield start
    left = max(1, round((end - start) / PAGE_CHARACTERS))
    while left > 1:
        start = _pause_near(text, start + (end - start) // left, end)
        left -= 1
        if start >= end:
            return
        yield start


def _pause_near(text: str, wish: int, end: int) -> int:
    """The offset after the paragraph, sentence or word that ends nearest to `wish`."""
    low, high = wish - _SLACK, min(wish + _SLACK, end)
    for pause in (_PARAGRAPH_END, _SENTENCE_END):
        ends = [match.end() for match in pause.finditer(text, low, high)]
        if ends:
            return min(ends, key=lambda offset: abs(offset - wish))
    space = text.rfind(" ", low, high)
    return space + 1 if space >= low else wish


_FEWEST_CHAPTERS = 2
_FAR_MORE = 1.5
_VERY_LONG_CHAPTER = 60_000
_LONGEST_MARKED_PAGE = 10_000
FRONT_LABEL = "front"


@dataclass(frozen=True, slots=True)
class PageMark:
    """Where a page begins, and what is printed on it."""

    start: int
    label: str


@dataclass(frozen=True, slots=True)
class BookDraft:
    """What a format's reader found.

    `outlines` are sets of headings, the most trusted first: a table of contents before heading elements before nothing.
    """

    format: str
    text: str
    outlines: Sequence[Sequence[Heading]] = ()
    page_marks: Sequence[PageMark] = ()
    title: str = ""
    author: str = ""
    language: str = ""
    warnings: Sequence[str] = ()


def assemble(draft: BookDraft, filename: str, limits: ReadingLimits, *, as_it_stands: bool = False) -> BookText:
    """The book of a draft. With `as_it_stands`, wrapping such as a licence is kept and counts as text.

    Raises:
        BookError: NO_TEXT or TOO_LARGE.
    """
    check_length(len(draft.text), limits)
    wrapping = Wrapping(0, len(draft.text)) if as_it_stands else unwrap(draft.text)
    draft = _cut(draft, wrapping)
    if not draft.text.strip():
        raise BookError(
            BookErrorCode.NO_TEXT, "There is no text in this file. Please add a file that has the book's text."
        )
    declared_title, named_author = book_title(draft.title)
    chapters = _chapters(draft, declared_title)
    found_title, found_author = _title_page(draft.text, chapters)
    pages, estimated = _pages(draft.text, draft.page_marks, chapters)
    return BookText(
        text=draft.text,
        pages=pages,
        chapters=chapters,
        format=draft.format,
        title=one_line(calm(declared_title or wrapping.title or found_title)) or title_from_filename(filename),
        author=one_line(named_author or wrapping.author or author_name(draft.author) or found_author),
        language=one_line(draft.language or wrapping.language),
        pages_estimated=estimated,
        warnings=tuple(draft.warnings),
    )


def check_length(characters: int, limits: ReadingLimits) -> None:
    """Raise TOO_LARGE beyond the limit; readers that build text piece by piece ask early."""
    if characters > limits.max_characters:
        raise BookError(
            BookErrorCode.TOO_LARGE,
            f"This book is longer than {limits.max_characters:,} characters. Please add it in parts.",
        )


def _cut(draft: BookDraft, wrapping: Wrapping) -> BookDraft:
    start, end = wrapping.start, wrapping.end
    if (start, end) == (0, len(draft.text)):
        return replace(draft, text=encodable(draft.text))
    return replace(
        draft,
        text=encodable(draft.text[start:end]),
        outlines=[[*_cut_headings(headings, start, end)] for headings in draft.outlines],
        page_marks=[*_cut_marks(draft.page_marks, start, end)],
    )


def _cut_headings(headings: Iterable[Heading], start: int, end: int) -> Iterable[Heading]:
    return (
        replace(heading, start=heading.start - start, end=min(heading.end, end) - start)
        for heading in headings
        if start <= heading.start < end
    )


def _cut_marks(marks: Sequence[PageMark], start: int, end: int) -> Iterable[PageMark]:
    before = [mark for mark in marks if mark.start <= start]
    inside = (PageMark(mark.start - start, mark.label) for mark in marks if start < mark.start < end)
    return (*(PageMark(0, mark.label) for mark in before[-1:]), *inside)


def _chapters(draft: BookDraft, title: str) -> tuple[Chapter, ...]:
    """The chapters of the most trusted outline, unless another one divides the book far more finely."""
    best: tuple[Chapter, ...] = ()
    for headings in draft.outlines:
        found = chapters_from(draft.text, headings, title)
        if len(best) < _FEWEST_CHAPTERS or len(found) > _FAR_MORE * len(best):
            best = max(best, found, key=len)
    if len(best) >= _FEWEST_CHAPTERS and len(draft.text) < len(best) * _VERY_LONG_CHAPTER:
        return with_numbers_of_contents(draft.text, best)
    found = chapters_from(draft.text, find_headings(draft.text), title)
    is_regular = sum(1 for chapter in found if chapter.printed) * 10 >= len(found) * 7
    if len(best) < _FEWEST_CHAPTERS or (is_regular and len(found) > 2 * _FAR_MORE * len(best)):
        best = max(best, found, key=len)
    return with_numbers_of_contents(draft.text, best)


def _title_page(text: str, chapters: Sequence[Chapter]) -> tuple[str, str]:
    return read_title_page(text[: chapters[0].start]) if chapters else ("", "")


def _pages(text: str, marks: Sequence[PageMark], chapters: Sequence[Chapter]) -> tuple[tuple[Page, ...], bool]:
    if not marks or len(text) > len(marks) * _LONGEST_MARKED_PAGE or len(marks) > MOST_PAGES:
        return estimated_pages(text, (chapter.start for chapter in chapters)), True
    starts = [mark.start for mark in marks]
    labels = [page_label(mark.label) or str(number) for number, mark in enumerate(marks, start=1)]
    if starts[0] > PAGE_CHARACTERS:
        starts, labels = [0, *starts], [FRONT_LABEL, *labels]
    starts[0] = 0
    return pages_between(starts, len(text), labels), False

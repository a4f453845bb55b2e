"""How far readers are in their books. Only people move positions, each their own."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from domain.book import Binding, Book, Chapter, Page, PositionState, ReadingPosition
from domain.errors import BookError, BookErrorCode
from domain.library.addressing import find_chapter, with_descendants, without_titles
from domain.ports import BookFiles, ReaderRepository
from domain.spoilers.detector import binding_among, bounds_of, label_at, lowest_bound

_PAGE_WORD = re.compile(r"\s*(?:pages?|pp?\.|seiten?|s\.|p[áa]gina|pag\.)\s*(?=\S)", re.IGNORECASE)


def find_page(pages: Sequence[Page], label: str) -> Page | None:
    """The page with that label, with or without "page" in front; if no page is labelled so, the one
    with that number.
    """
    wanted = _PAGE_WORD.sub("", label, count=1).strip().casefold()
    by_label = (page for page in pages if page.label.strip().casefold() == wanted)
    by_number = (page for page in pages if str(page.number) == wanted)
    return next(by_label, None) or next(by_number, None)


def end_of_page(pages: Sequence[Page], label: str, *, estimated: bool) -> int:
    """The offset that a reader who has finished that page has reached.

    Raises:
        BookError: NOT_FOUND, there is no such page.
    """
    page = find_page(pages, label)
    if page is None:
        raise page_missing(label, pages, estimated=estimated)
    return page.end


def page_missing(label: str, pages: Sequence[Page], *, estimated: bool) -> BookError:
    """The error for a page that a book does not have. It says how many pages there are, as the book's card does."""
    count = f"{'about ' if estimated else ''}{len(pages)} {'page' if len(pages) == 1 else 'pages'}"
    begins = f", and they begin with {pages[0].label}" if pages and pages[0].label != "1" else ""
    named = _PAGE_WORD.sub("", label, count=1).strip()
    return BookError(BookErrorCode.NOT_FOUND, f"There's no page {named} in this book (it has {count}{begins}).")


def title_is_read(chapter: Chapter, read_to: int) -> bool:
    """Whether somebody who has read up to `read_to` has read the chapter's title, which is at its beginning."""
    return min(chapter.start + max(len(chapter.title), 1), chapter.end) <= read_to


def end_of_chapter(chapters: Sequence[Chapter], name: str) -> int:
    """The offset that a reader who has finished that chapter or part has reached; it is named by number or title.

    Raises:
        BookError: NOT_FOUND, there is no such chapter, or several parts have one.
    """
    chapter = find_chapter(chapters, name)
    if chapter is None:
        sentence = f"I can't find chapter {name.strip()!r} in this book. Tell me the page you've read to instead."
        raise BookError(BookErrorCode.NOT_FOUND, sentence)
    return with_descendants(chapters, chapter)[-1].end


_ORDER = re.compile(r"\s*(page|chapter|finished|clear)\b\s*(.*?)\s*", re.IGNORECASE | re.DOTALL)

USAGE = "Say: page 12 · chapter 3 · finished · clear"


class ManagePositions:
    """Sets and describes positions."""

    def __init__(self, *, readers: ReaderRepository, files: BookFiles) -> None:
        self._readers = readers
        self._files = files

    async def get(self, reader_id: str, book: Book) -> ReadingPosition:
        return await self._readers.get_position(reader_id, book.id)

    async def lowest(self, people: Iterable[str], book: Book) -> int:
        """How far into the book these people may look together, as an offset."""
        return await lowest_bound(self._readers, people, book)

    async def binding(self, people: Iterable[str], askers: Iterable[str], book: Book) -> Binding | None:
        """The person who limits what the askers are told; None if no asker has read further."""
        askers = [*askers]
        bounds = await bounds_of(self._readers, [*people, *askers], book)
        return binding_among(bounds, askers, book, await (await self._files.open(book)).pages())

    async def lowest_of_all(self, book: Book) -> int:
        """How far into the book everybody who has set a position may look."""
        lowest = await self._readers.lowest_position(book.id)
        return book.length if lowest is None else min(lowest, book.length)

    async def page_at(self, book: Book, read_to: int) -> str:
        """The label of the page at an offset; empty for the beginning."""
        return label_at(await (await self._files.open(book)).pages(), read_to) if read_to else ""

    async def lowest_of(self, people: Iterable[str], book: Book) -> tuple[int, Sequence[str]]:
        """How far these people may look together, and which of them is furthest behind; nobody if the whole book is
        open.
        """
        bounds = {person: (await self.get(person, book)).bound(book.length) for person in sorted({*people} - {""})}
        lowest = min(bounds.values(), default=book.length)
        return lowest, [person for person, bound in bounds.items() if bound == lowest < book.length]

    async def set_page(self, reader_id: str, book: Book, label: str) -> ReadingPosition:
        """The reader has read to the end of a page.

        Raises:
            BookError: NOT_FOUND, there is no such page.
        """
        pages = await (await self._files.open(book)).pages()
        end = end_of_page(pages, label, estimated=book.pages_estimated)
        return await self._set(reader_id, book, ReadingPosition(PositionState.READING, end))

    async def set_chapter(self, reader_id: str, book: Book, name: str) -> ReadingPosition:
        """The reader has read to the end of a chapter, named by number, or by title if they have reached the title.

        Raises:
            BookError: NOT_FOUND, there is no such chapter, or its title has not been reached.
        """
        read_to = (await self.get(reader_id, book)).bound(book.length)
        chapters = [
            each if title_is_read(each, read_to) else replace(each, title=without_titles(each.title))
            for each in await self._chapters(book)
        ]
        return await self._set(reader_id, book, ReadingPosition(PositionState.READING, end_of_chapter(chapters, name)))

    async def reach(self, reader_id: str, book: Book, read_to: int) -> ReadingPosition:
        """The reader has read up to an offset."""
        return await self._set(reader_id, book, ReadingPosition(PositionState.READING, read_to))

    async def finish(self, reader_id: str, book: Book) -> ReadingPosition:
        """The reader has read the whole book."""
        return await self._set(reader_id, book, ReadingPosition(PositionState.FINISHED))

    async def clear(self, reader_id: str, book: Book) -> ReadingPosition:
        """The reader does not want to say: the whole book is open."""
        return await self._set(reader_id, book, ReadingPosition())

    async def follow(self, reader_id: str, book: Book, order: str) -> ReadingPosition:
        """Set a position from what a reader typed: "page 12", "chapter 3", "finished", "clear"; nothing typed changes
        nothing.

        Raises:
            BookError: NOT_FOUND, there is no such place, or the words make no sense.
        """
        match = _ORDER.fullmatch(order)
        kind, name = (match[1].lower(), match[2]) if match else ("", "")
        if kind == "page" and name:
            return await self.set_page(reader_id, book, name)
        if kind == "chapter" and name:
            return await self.set_chapter(reader_id, book, name)
        if kind == "finished" and not name:
            return await self.finish(reader_id, book)
        if kind == "clear" and not name:
            return await self.clear(reader_id, book)
        if order.strip():
            raise BookError(
                BookErrorCode.NOT_FOUND, f"I don't understand {order.strip()!r} as a place in the book. {USAGE}."
            )
        return await self.get(reader_id, book)

    async def describe(self, reader_id: str, book: Book) -> str:
        """A sentence that says where the reader is, and what that means for answers."""
        position = await self.get(reader_id, book)
        match position.state:
            case PositionState.READING if not position.read_to:
                return "You haven't started reading, so I won't reveal anything yet."
            case PositionState.UNSET:
                return "You haven't told me how far you've read, so I may talk about the whole book."
            case PositionState.FINISHED:
                return "You've finished the book, so I may talk about all of it."
            case PositionState.READING:
                return f"You're at {await self._place(book, position.read_to)}. I won't reveal anything after it."

    async def _place(self, book: Book, read_to: int) -> str:
        file = await self._files.open(book)
        page = label_at(await file.pages(), read_to)
        titles = [each.title for each in await file.chapters() if each.start + len(each.title) <= read_to <= each.end]
        inside = f" (in “{titles[-1]}”)" if titles and titles[-1] else ""
        return f"{'about ' if book.pages_estimated else ''}page {page}{inside}"

    async def _chapters(self, book: Book) -> Sequence[Chapter]:
        return await (await self._files.open(book)).chapters()

    async def _set(self, reader_id: str, book: Book, position: ReadingPosition) -> ReadingPosition:
        await self._readers.set_position(reader_id, book.id, position)
        return position

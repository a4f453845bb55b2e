"""The shelf as one MCP client may see it: which books, how far each is open, and where its reader stands."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from domain.book import Book, Page, PositionState, ReadingPosition
from domain.errors import BookError, BookErrorCode
from domain.library.progress import end_of_page, find_page
from domain.library.shelf import Bookshelf
from domain.ports import BookFile, BookView, ReaderRepository
from domain.spoilers.bound import label_at

_LONGEST_CLIENT = 64
_MOST_WATCHED = 200
"""Books whose positions are looked at for changes, every few seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBooks:
    """The shelf as one reader may see it, and no further than `page` of any book where one is given.

    How far a book is open is the position kept for `client`, else the reader's own. `tool_timeout` is in seconds.
    """

    shelf: Bookshelf
    readers: ReaderRepository
    reader_id: str
    page: str = ""
    client: str = ""
    tool_timeout: float = 30.0

    def seen_by(self, client: str) -> "OpenBooks":
        """The shelf as the client of that name may see it."""
        name = " ".join(re.sub(r"[^\w .-]", " ", client).split())[:_LONGEST_CLIENT]
        return replace(self, client=f"mcp:{name}" if name else "mcp")

    async def list(self) -> Sequence[Book]:
        """Newest first."""
        return await self.shelf.list(None)

    async def open(self, reference: str) -> tuple[BookFile, BookView]:
        """A book by its title or id, and the part of it that may be seen.

        Raises:
            BookError: there is no such book, its file is gone, or it has no such page.
        """
        book = await self.shelf.find(reference, shelf=None)
        file = await self.shelf.open(book)
        return file, file.view(await self._bound(book, file))

    async def page_text(self, reference: str, label: str) -> str:
        """A page as it stands in the book; of one that is not read to its end, what has been read of it.

        Raises:
            BookError: as `open`, or the page has not been reached.
        """
        file, view = await self.open(reference)
        page = find_page(await file.pages(), label)
        if page is not None and page.end <= view.read_to:
            return await file.text(page.label)
        return "\n\n".join(passage.text for passage in await view.read_pages(label, label))

    async def describe(self, book: Book) -> dict[str, Any]:
        """What may be told of a book: its id, title and author, and how far it is open, or what is wrong with it."""
        told: dict[str, Any] = {"id": book.id, "title": book.title, "author": book.author}
        try:
            file, view = await self.open(book.id)
        except BookError as error:
            return {**told, "problem": error.message}
        estimated = {"estimated": True} if book.pages_estimated else {}
        return {**told, "open_to": _extent(view, await file.pages()), **estimated}

    async def set_position(self, reference: str, *, page: str = "", finished: bool = False) -> str:
        """Keep how far this client's reader has read in a book, and say how far it is open now.

        Raises:
            BookError: as `open`, or it has no such page.
        """
        book = await self.shelf.find(reference, shelf=None)
        file = await self.shelf.open(book)
        position = ReadingPosition(PositionState.FINISHED)
        if not finished:
            position = ReadingPosition(PositionState.READING, end_of_page(await file.pages(), page))
        await self.readers.set_position(self.client, book.id, position)
        _, view = await self.open(book.id)
        return _extent(view, await file.pages())

    async def state(self) -> tuple[object, ...]:
        """What the resources depend on; when it differs, they have changed. Of a large shelf only the newest count."""
        books = await self.list()
        readers = dict.fromkeys((self.reader_id, self.client))
        positions = [
            await self.readers.get_position(reader, book.id) for book in books[:_MOST_WATCHED] for reader in readers
        ]
        return (*(book.id for book in books), *positions)

    async def _bound(self, book: Book, file: BookFile) -> int:
        position = await self.readers.get_position(self.client, book.id) if self.client else ReadingPosition()
        if position.state is PositionState.UNSET and not self.page:
            position = await self.readers.get_position(self.reader_id, book.id)
        bound = position.bound(book.length)
        return min(bound, _end_of(await file.pages(), self.page, book.length)) if self.page else bound


def _end_of(pages: Sequence[Page], label: str, length: int) -> int:
    """Where a page ends. A number that the book does not have stands for the pages before it: all, if it has no more.

    Raises:
        BookError: NOT_FOUND, the label is no number and no page has it.
    """
    page = find_page(pages, label)
    if page is not None:
        return page.end
    if not label.isdecimal():
        raise BookError(BookErrorCode.NOT_FOUND, f"This book has no page {label!r}, so it stays closed.")
    later = (page.start for page in pages if page.label.isdecimal() and int(page.label) > int(label))
    return next(later, length)


def _extent(view: BookView, pages: Sequence[Page]) -> str:
    if view.read_to >= view.book.length:
        return "the end"
    if not view.read_to:
        return "nothing yet"
    about = "about " if view.book.pages_estimated else ""
    return f"{about}page {label_at(pages, view.read_to)}"

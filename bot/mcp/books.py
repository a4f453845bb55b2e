"""The shelf as one MCP client may see it: the books, how far each is open, and their text as resources."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from mcp import MCPError, types

from domain.book import Book, ContentsEntry, Page, PositionState, ReadingPosition, numbered, page_reference
from domain.errors import BookError, BookErrorCode, MarginaliaError, shortened
from domain.library.addressing import end_of_page, find_chapter, find_page, is_printed
from domain.library.numerals import number_value
from domain.library.progress import label_at
from domain.library.shelf import Bookshelf
from domain.ports import BookFile, BookView, ReaderRepository

_LONGEST_CLIENT = 64
_MOST_WATCHED = 200
"""Books whose positions are checked for changes every few seconds."""

AT_ONCE = 50
"""Resources in one response to resources/list."""
_TEXT = "text/plain"
_BOOK_URI = re.compile(r"book://([^/]+)")
_CHAPTER_URI = re.compile(r"book://([^/]+)/chapters/([^/]+)")
_PAGE_URI = re.compile(r"book://([^/]+)/pages/([^/]+)")
_CURSOR = re.compile(r"([^:]+):(\d{1,6})")
TEMPLATES = (
    types.ResourceTemplate(
        name="chapter",
        title="A chapter of a book",
        uri_template="book://{book}/chapters/{chapter}",
        description="The text of a chapter as far as it has been read; the chapter by the number the book prints "
        "(5, V), or by its place: %2312 is the twelfth line of the contents.",
        mime_type=_TEXT,
    ),
    types.ResourceTemplate(
        name="page",
        title="A page of a book",
        uri_template="book://{book}/pages/{page}",
        description="The text of a page that has been read; the page as printed (12, xii).",
        mime_type=_TEXT,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBooks:
    """The shelf as one reader may see it, and no further than `page` of any book if that is given.

    A book is open up to the position kept for `client`, else to the reader's own. `tool_timeout` is in seconds.
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
        """A page as it is in the book; of an unfinished page, the part that has been read.

        Raises:
            BookError: as `open`, or the page has not been reached.
        """
        file, view = await self.open(reference)
        page = find_page(await file.pages(), label)
        if page is not None and page.end <= view.read_to:
            return await file.text(page.label)
        return "\n\n".join(passage.text for passage in await view.read_pages(label, label))

    async def describe(self, book: Book) -> dict[str, Any]:
        """What may be told about a book: its id, title and author, and how far it is open, or what is wrong with it."""
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
            end = end_of_page(await file.pages(), page, estimated=book.pages_estimated)
            position = ReadingPosition(PositionState.READING, end)
        await self.readers.set_position(self.client, book.id, position)
        _, view = await self.open(book.id)
        return _extent(view, await file.pages())

    async def state(self) -> tuple[object, ...]:
        """What the resources depend on; it differs when they have changed. Of a large shelf only the newest books
        count.
        """
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
    """Where a page ends. A number beyond the last page means the whole book.

    Raises:
        BookError: NOT_FOUND, the label is not a number and no page has it.
    """
    page = find_page(pages, label)
    if page is not None:
        return page.end
    if not label.isdecimal():
        raise BookError(
            BookErrorCode.NOT_FOUND, f"There's no page {shortened(label)!r} in this book, so it stays closed."
        )
    later = (page.start for page in pages if page.label.isdecimal() and int(page.label) > int(label))
    return next(later, length)


def _extent(view: BookView, pages: Sequence[Page]) -> str:
    if view.book.is_all_before(view.read_to):
        return "the end"
    if not view.read_to:
        return "nothing yet"
    about = "about " if view.book.pages_estimated else ""
    return f"{about}page {label_at(pages, view.read_to)}"


async def list_resources(books: OpenBooks, cursor: str | None) -> types.ListResourcesResult:
    """Books, newest first, each followed by its chapters; `cursor` names the book and how many of these were listed.

    Raises:
        MCPError: INVALID_PARAMS, the cursor is invalid, or its book is gone.
    """
    shelf = list(await books.list())
    start, skipped = _position_of(cursor, [book.id for book in shelf])
    found: list[types.Resource] = []
    for book in shelf[start:]:
        async for resource in _resources_of(books, book, skipped):
            if len(found) == AT_ONCE:
                return types.ListResourcesResult(resources=found, next_cursor=f"{book.id}:{skipped}")
            found.append(resource)
            skipped += 1
        skipped = 0
    return types.ListResourcesResult(resources=found)


def _position_of(cursor: str | None, ids: list[str]) -> tuple[int, int]:
    if cursor is None:
        return 0, 0
    match = _CURSOR.fullmatch(cursor)
    if match is None or match[1] not in ids:
        raise MCPError(types.INVALID_PARAMS, "This cursor is not valid any more. List the resources from the start.")
    return ids.index(match[1]), int(match[2])


async def _resources_of(books: OpenBooks, book: Book, skipped: int) -> AsyncIterator[types.Resource]:
    try:
        file, view = await books.open(book.id)
        contents = await view.contents()
        chapters = await _Chapters.of(file, view, contents)
    except BookError:  # list_books says what is wrong with it; here it would be a resource that cannot be read
        return
    if not skipped:
        yield _book_resource(book, _contents_text(view, contents))
    addresses = chapter_addresses(contents)
    for entry in contents[max(skipped - 1, 0) :]:
        yield _chapter_resource(book, entry, addresses[entry.number], chapters.text(entry.number))


@dataclass(frozen=True, slots=True)
class _Chapters:
    """The text of a book up to its bound, and where its chapters stand in it."""

    read: str
    spans: dict[int, tuple[int, int]]

    @classmethod
    async def of(cls, file: BookFile, view: BookView, contents: list[ContentsEntry]) -> "_Chapters":
        reached = {entry.number for entry in contents}
        spans = {each.number: (each.start, each.end) for each in await file.chapters() if each.number in reached}
        return cls((await file.text())[: view.read_to], spans)

    def text(self, number: int) -> str:
        start, end = self.spans[number]
        return self.read[start:end]


def _book_resource(book: Book, contents: str) -> types.Resource:
    by = f" by {book.author}" if book.author else ""
    return types.Resource(
        name=book.id,
        title=book.title,
        uri=f"book://{quote(book.id, safe='')}",
        description=f"“{book.title}”{by}: its contents as far as it has been read",
        mime_type=_TEXT,
        size=len(contents.encode()),
    )


def chapter_addresses(contents: list[ContentsEntry]) -> dict[int, str]:
    """The address of each chapter: its printed number if no other chapter that has been reached has it, else its
    position ("#12"). In a book that prints no numbers, chapters are counted.
    """
    if not is_printed(contents):
        return {entry.number: str(entry.number) for entry in contents}
    values = {entry.number: number_value(entry.printed) for entry in contents}
    times = Counter(values.values())
    return {
        entry.number: entry.printed
        if values[entry.number] is not None and times[values[entry.number]] == 1
        else f"#{entry.number}"
        for entry in contents
    }


def _chapter_resource(book: Book, entry: ContentsEntry, address: str, text: str) -> types.Resource:
    so_far = "" if entry.finished else ", as far as it has been read"
    return types.Resource(
        name=f"{book.id}/{entry.number}",
        title=f"{book.title}: {numbered(entry.number, entry.title, is_counted=entry.is_counted)}",
        uri=f"book://{quote(book.id, safe='')}/chapters/{quote(address, safe='')}",
        description=f"{_where(entry, book)}{so_far}",
        mime_type=_TEXT,
        size=len(text.encode()),
    )


async def read_resource(books: OpenBooks, uri: str) -> types.ReadResourceResult:
    """The text of the book, chapter or page at an address.

    Raises:
        MCPError: INVALID_PARAMS, there is no such resource, or it has not been reached; the message says so.
    """
    readings: dict[re.Pattern[str], Callable[..., Awaitable[str]]] = {
        _BOOK_URI: partial(_read_contents, books),
        _CHAPTER_URI: partial(_read_chapter, books),
        _PAGE_URI: books.page_text,
    }
    try:
        for pattern, read in readings.items():
            if match := pattern.fullmatch(uri):
                text = await read(*map(unquote, match.groups()))
                content = types.TextResourceContents(uri=uri, mime_type=_TEXT, text=text)
                return types.ReadResourceResult(contents=[content])
    except MarginaliaError as error:
        raise MCPError(types.INVALID_PARAMS, error.message, {"uri": uri}) from error
    raise MCPError(types.INVALID_PARAMS, f"There is no resource {shortened(uri)}.", {"uri": uri})


async def _read_contents(books: OpenBooks, reference: str) -> str:
    _, view = await books.open(reference)
    return _contents_text(view, await view.contents())


async def _read_chapter(books: OpenBooks, reference: str, number: str) -> str:
    file, view = await books.open(reference)
    contents = await view.contents()
    entry = await asyncio.to_thread(find_chapter, contents, number)
    if entry is None:
        sentence = f"There's no chapter {number} in what's been read of “{view.book.title}” so far."
        raise BookError(BookErrorCode.NOT_FOUND, sentence)
    return (await _Chapters.of(file, view, contents)).text(entry.number)


def _contents_text(view: BookView, contents: list[ContentsEntry]) -> str:
    title = " by ".join(part for part in (view.book.title, view.book.author) if part)
    return "\n".join([title, "", *[_contents_line(entry, view.book) for entry in contents]])


def _contents_line(entry: ContentsEntry, book: Book) -> str:
    title = numbered(entry.number, entry.title, is_counted=entry.is_counted)
    return f"{'  ' * (entry.level - 1)}{title} ({_where(entry, book)})"


def _where(entry: ContentsEntry, book: Book) -> str:
    return page_reference(entry.page, entry.page, estimated=book.pages_estimated)

"""The resources of the MCP server: every book, and every chapter and page of it that has been read."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote, unquote

from mcp import MCPError, types

from bot.mcp.books import OpenBooks
from domain.book import Book, ContentsEntry, numbered, page_reference
from domain.errors import BookError, BookErrorCode, MarginaliaError
from domain.ports import BookFile, BookView

AT_ONCE = 50
"""Resources in one answer to resources/list."""

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
        description="The text of a chapter as far as it has been read; the chapter by its number in table_of_contents.",
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


async def list_resources(books: OpenBooks, cursor: str | None) -> types.ListResourcesResult:
    """Books, newest first, each followed by its chapters; `cursor` names the book and how many of these were listed.

    Raises:
        MCPError: INVALID_PARAMS, the cursor is none of ours, or its book is gone.
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
        raise MCPError(types.INVALID_PARAMS, "This cursor is not valid (any more). List the resources from the start.")
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
    for entry in contents[max(skipped - 1, 0) :]:
        yield _chapter_resource(book, entry, chapters.text(entry.number))


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


def _chapter_resource(book: Book, entry: ContentsEntry, text: str) -> types.Resource:
    so_far = "" if entry.finished else ", as far as it has been read"
    return types.Resource(
        name=f"{book.id}/{entry.number}",
        title=f"{book.title}: {numbered(entry.number, entry.title, is_counted=entry.is_counted)}",
        uri=f"book://{quote(book.id, safe='')}/chapters/{entry.number}",
        description=f"{_where(entry, book)}{so_far}",
        mime_type=_TEXT,
        size=len(text.encode()),
    )


async def read_resource(books: OpenBooks, uri: str) -> types.ReadResourceResult:
    """
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
    raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri}.", {"uri": uri})


async def _read_contents(books: OpenBooks, reference: str) -> str:
    _, view = await books.open(reference)
    return _contents_text(view, await view.contents())


async def _read_chapter(books: OpenBooks, reference: str, number: str) -> str:
    file, view = await books.open(reference)
    contents = await view.contents()
    if number not in {str(entry.number) for entry in contents}:
        sentence = f"There is no chapter {number} in the part of “{view.book.title}” that has been read."
        raise BookError(BookErrorCode.NOT_FOUND, sentence)
    return (await _Chapters.of(file, view, contents)).text(int(number))


def _contents_text(view: BookView, contents: list[ContentsEntry]) -> str:
    title = " by ".join(part for part in (view.book.title, view.book.author) if part)
    return "\n".join([title, "", *[_contents_line(entry, view.book) for entry in contents]])


def _contents_line(entry: ContentsEntry, book: Book) -> str:
    title = numbered(entry.number, entry.title, is_counted=entry.is_counted)
    return f"{'  ' * (entry.level - 1)}{title} ({_where(entry, book)})"


def _where(entry: ContentsEntry, book: Book) -> str:
    return page_reference(entry.page, entry.page, estimated=book.pages_estimated)

"""A book taken from the folder, and a reader's view of it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from domain.book import Book, Chapter, Citation, ContentsEntry, Mentions, Page, Passage, PhraseHit, Sentence
from domain.errors import BookError, BookErrorCode, MarginaliaError
from domain.library.progress import find_page, page_missing
from domain.library.search.layout import Layout
from domain.library.view import Reading
from domain.ports import BookView
from storage.book_files.open_files import OpenFiles
from storage.book_files.opened import OpenedFile, missing, unreadable

_Result = TypeVar("_Result")


class OpenedBook:
    """One book of the folder."""

    def __init__(self, book: Book, path: Path, open_files: OpenFiles) -> None:
        self._book = book
        self._path = path
        self._open_files = open_files
        self.damage: BookError | None = None
        """As BookFile says."""

    async def check(self) -> None:
        """Raises:
        BookError: INVALID_STATE, the file is missing or unreadable.
        """
        await self.run(lambda file: file.layout)

    async def verify(self) -> None:
        """As BookFile says."""
        await self.run(_refuse_unsound)

    async def text(self, page: str | None = None) -> str:
        return await self.run(lambda file: _text(file, page))

    async def pages(self) -> tuple[Page, ...]:
        return await self.run(lambda file: file.layout.pages)

    async def chapters(self) -> tuple[Chapter, ...]:
        return await self.run(lambda file: file.layout.chapters)

    def view(self, read_to: int) -> BookView:
        return BoundView(self._book, read_to, self)

    async def run(self, work: Callable[[OpenedFile], _Result]) -> _Result:
        """Do blocking work on the file in a thread."""
        return await asyncio.to_thread(self._run, work)

    def _run(self, work: Callable[[OpenedFile], _Result]) -> _Result:
        try:
            if not self._path.exists():
                raise missing()
            with self._open_files.use(self._path) as file:
                return _blaming_damage(work, file)
        except BookError as error:
            if error.code is BookErrorCode.INVALID_STATE:
                self._open_files.drop(self._path)  # it may be mended before it is opened the next time
                self.damage = error
            raise


class BoundView:
    """What a reader who has read up to `read_to` may see of one book."""

    def __init__(self, book: Book, read_to: int, opened: OpenedBook) -> None:
        self._book = book
        self._read_to = read_to
        self._opened = opened
        self._layout: Layout | None = None

    @property
    def book(self) -> Book:
        return self._book

    @property
    def read_to(self) -> int:
        return self._read_to

    async def search(self, queries: Sequence[str], top_k: int = 5) -> list[Passage]:
        return await self._read(lambda reading: reading.search(queries, top_k))

    async def read_pages(self, first: str, last: str) -> list[Passage]:
        return await self._read(lambda reading: reading.read_pages(first, last))

    async def read_around(self, source: str, before: int = 1, after: int = 1) -> Passage:
        return await self._read(lambda reading: reading.read_around(source, before, after))

    async def contents(self) -> list[ContentsEntry]:
        return await self._read(lambda reading: reading.contents())

    async def read_chapter(self, number: int) -> Passage:
        return await self._read(lambda reading: reading.read_chapter(number))

    async def find_phrase(self, text: str, limit: int = 5) -> list[PhraseHit]:
        return await self._read(lambda reading: reading.find_phrase(text, limit))

    async def count_mentions(self, term: str) -> Mentions:
        return await self._read(lambda reading: reading.count_mentions(term))

    async def mentions(self, term: str, limit: int = 1_000) -> list[Sentence]:
        return await self._read(lambda reading: reading.mentions(term, limit))

    async def cite(self, start: int, end: int) -> Citation:
        return await self._read(lambda reading: reading.cite(start, end))

    async def _read(self, work: Callable[[Reading], _Result]) -> _Result:
        return await self._opened.run(lambda file: work(self._reading(file)))

    def _reading(self, file: OpenedFile) -> Reading:
        """The layout is clipped once; two threads that both do it get the same."""
        if self._layout is None:
            self._layout = file.layout.clip(self._read_to, file.read)
        return Reading(file, self._layout, estimated=file.estimated)


def _blaming_damage(work: Callable[[OpenedFile], _Result], file: OpenedFile) -> _Result:
    """Do the work; where it comes to grief over a file that is damaged, that is what is wrong.

    Raises:
        BookError: INVALID_STATE, the file is damaged.
    """
    try:
        return work(file)
    except MarginaliaError:
        raise
    except Exception as error:
        if file.is_sound():
            raise
        raise unreadable() from error


def _refuse_unsound(file: OpenedFile) -> None:
    if not file.is_sound():
        raise unreadable()


def _text(file: OpenedFile, page: str | None) -> str:
    if page is None:
        return file.read(0, file.layout.length)
    found = find_page(file.layout.pages, page)
    if found is None:
        raise page_missing(page, file.layout.pages)
    return file.read(found.start, found.end)

"""A shelf with one short book, as the MCP server serves it."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from bot.mcp.books import OpenBooks
from domain.book import Book, BookText, Chapter, Page
from domain.library.shelf import Bookshelf
from domain.ports import Progress
from storage.book_files.files import SQLiteBookFiles
from storage.opening import Storage, open_storage
from tests.sqlite import lay_out
from tests.storage.values import MIDNIGHT

PAGES = (
    "The lamp on the pier was lit at dusk.\n\nNobody knew who lit it.",
    "Mara counted the boats. There were seven boats, and one was missing.",
    "The lamp keeper was her own grandfather all along.",
)


class PagesReader:
    """A BookParser for a book of these `texts`, each a page of its own; the first is the first chapter. `printed` are
    the numbers of its two chapters.
    """

    def __init__(
        self, texts: Sequence[str] = PAGES, labels: Sequence[str] = (), printed: tuple[str, str] = ("", "")
    ) -> None:
        self.texts = texts
        self.labels = labels
        self.printed = printed

    async def expect(self, filename: str) -> None:
        """It is always ready."""

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        pages, start = [], 0
        labels = self.labels or [str(number) for number in range(1, len(self.texts) + 1)]
        for number, (label, text) in enumerate(zip(labels, self.texts, strict=True), 1):
            pages.append(Page(number, label, start, start + len(text) + 1))
            start += len(text) + 1
        chapters = [Chapter(1, "Dusk", 0, pages[0].end, printed=self.printed[0])]
        if len(pages) > 1:
            chapters.append(Chapter(2, "The Keeper", pages[1].start, pages[-1].end, printed=self.printed[1]))
        text = "\n".join(self.texts) + "\n"
        return BookText(text, tuple(pages), tuple(chapters), "txt", filename, "A. Writer")


@pytest.fixture
def parser() -> PagesReader:
    return PagesReader()


@pytest.fixture
async def storage(tmp_path: Path) -> AsyncIterator[Storage]:
    lay_out(tmp_path / "marginalia.db")
    async with await open_storage(f"sqlite:///{tmp_path / 'marginalia.db'}") as opened:
        yield opened


@pytest.fixture
async def shelf(storage: Storage, tmp_path: Path, parser: PagesReader) -> AsyncIterator[Bookshelf]:
    files = SQLiteBookFiles(tmp_path / "books")
    yield Bookshelf(parser=parser, files=files, books=storage.books, clock=lambda: MIDNIGHT)
    await files.close()


@pytest.fixture
async def book(shelf: Bookshelf) -> Book:
    return (await shelf.add(b"The Lamp", "The Lamp")).book


@pytest.fixture
def books(shelf: Bookshelf, storage: Storage, book: Book) -> OpenBooks:
    return OpenBooks(shelf=shelf, readers=storage.readers, reader_id="terminal")

"""The folder of indexed books."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

from domain.book import Book, BookText
from domain.errors import BookError, BookErrorCode, StorageError, StorageErrorCode
from domain.library.index import index_book
from domain.protocols import BookFile, Progress
from storage.book_files.open_files import OpenFiles
from storage.book_files.views import OpenedBook
from storage.book_files.writer import book_bytes, sweep, write_whole


class SQLiteBookFiles:
    """Books as `<folder>/<sha256>.book`. The folder is made when the first book is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open_files = OpenFiles()
        self._indexer = asyncio.Semaphore(1)
        """Indexing is work for the processor: one thread of it leaves the event loop its share, several do not."""

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None) -> None:
        """Index a book; a book that is there already is left alone.

        Raises:
            StorageError: WRITE_FAILED, the disk refused.
        """
        async with self._indexer:
            await asyncio.to_thread(self._write, sha256, text, progress or _nobody)

    async def open(self, book: Book) -> BookFile:
        opened = OpenedBook(book, self._path(book.sha256), self._open_files)
        await opened.check()
        return opened

    async def remove(self, sha256: str) -> None:
        path = self._path(sha256)
        self._open_files.drop(path)
        await asyncio.to_thread(path.unlink, missing_ok=True)

    async def close(self) -> None:
        """Close all files; they open again when they are used."""
        self._open_files.close()

    def _path(self, sha256: str) -> Path:
        if not sha256.isalnum():
            raise BookError(BookErrorCode.NOT_FOUND, "There is no such book.")
        return self._folder / f"{sha256}.book"

    def _write(self, sha256: str, text: BookText, progress: Progress) -> None:
        path = self._path(sha256)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            sweep(self._folder)
            if self._is_current(path):
                return
            index = index_book(text, partial(progress, "indexing"))
            write_whole(path, book_bytes(text, index))
        except (OSError, sqlite3.Error) as error:
            message = f"The book could not be written to the disk ({error}); check that there is room and try again."
            raise StorageError(StorageErrorCode.WRITE_FAILED, message) from error
        self._open_files.drop(path)
        progress("indexing", 1.0)

    def _is_current(self, path: Path) -> bool:
        """Whether the book is there and can be read; one of an older version is written anew."""
        if not path.exists():
            return False
        try:
            with self._open_files.use(path):
                return True
        except BookError:
            return False


def _nobody(stage: str, share: float) -> None:
    """Progress that nobody follows."""

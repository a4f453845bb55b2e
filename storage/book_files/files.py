"""The folder of indexed books."""

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path

from domain.book import Book, BookText
from domain.errors import BookError, BookErrorCode
from domain.ports import BookFile, Progress
from storage.book_files.indexing import Indexers
from storage.book_files.opened import OpenedBook, OpenFiles
from storage.book_files.writer import sweep, write_book, write_failed

WORTH_A_PROCESS = 100_000
"""Characters. A shorter book is indexed in a thread in less time than a process takes to start."""

INDEXING = "indexing"


class SQLiteBookFiles:
    """Books as `<folder>/<sha256>.book`. The folder is made when the first book is written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open_files = OpenFiles()
        self._indexers = Indexers()
        self._turn = asyncio.Semaphore(1)
        """Indexing is work for the processor: one book at a time leaves some of it to those who wait for answers."""

    def expecting(self, size: int) -> AbstractAsyncContextManager[None]:
        return self._indexers.expecting() if size >= WORTH_A_PROCESS else nullcontext()

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None) -> int:
        """Index a book, and say how many words it has; one that is there already, and sound, is left alone.

        Raises:
            StorageError: WRITE_FAILED, the disk refused.
        """
        path, report = self._path(sha256), partial(progress or _nobody, INDEXING)
        async with self._turn:
            if not await asyncio.to_thread(self._is_in_place, path):
                await self._write(path, text, report)
        return await asyncio.to_thread(self._count_words, path)

    async def open(self, book: Book) -> BookFile:
        opened = OpenedBook(book, self._path(book.sha256), self._open_files)
        await opened.check()
        return opened

    async def remove(self, sha256: str) -> None:
        path = self._path(sha256)
        self._open_files.drop(path)
        await asyncio.to_thread(path.unlink, missing_ok=True)

    async def written_before(self, moment: datetime) -> Sequence[str]:
        return await asyncio.to_thread(self._written_before, moment.timestamp())

    def _written_before(self, moment: float) -> list[str]:
        return [path.stem for path in self._folder.glob("*.book") if path.stat().st_mtime < moment]

    async def close(self) -> None:
        """Close all files; they open again when they are used."""
        self._open_files.close()

    def _path(self, sha256: str) -> Path:
        if not sha256.isalnum():
            raise BookError(BookErrorCode.NOT_FOUND, "There is no such book.")
        return self._folder / f"{sha256}.book"

    async def _write(self, path: Path, text: BookText, report: partial[None]) -> None:
        if len(text.text) < WORTH_A_PROCESS:
            await asyncio.to_thread(_write_here, path, text, report)
        else:
            await self._write_elsewhere(path, text, report)
        self._open_files.drop(path)
        report(1.0)

    async def _write_elsewhere(self, path: Path, text: BookText, report: partial[None]) -> None:
        with _refusals_translated():
            try:
                await self._indexers.index(path, text, report)
            except BaseException:
                await asyncio.to_thread(sweep, self._folder)
                raise

    def _is_in_place(self, path: Path) -> bool:
        """Whether the book is there and sound; one that is damaged, or of an older version, is written anew."""
        with _refusals_translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            sweep(self._folder)
            if not path.exists():
                return False
        try:
            with self._open_files.use(path) as file:
                return file.is_current and file.is_sound()
        except BookError:
            return False

    def _count_words(self, path: Path) -> int:
        with self._open_files.use(path) as file:
            return file.layout.word_count


def _write_here(path: Path, text: BookText, report: partial[None]) -> None:
    with _refusals_translated():
        write_book(path, text, report)


@contextmanager
def _refusals_translated() -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise write_failed(str(error)) from error


def _nobody(stage: str, share: float) -> None:
    """Progress that nobody follows."""

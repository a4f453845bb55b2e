"""Book files in an object store, and the copies that a node caches on its disk."""

import asyncio
import hashlib
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore, from_url

from domain.book import Book, BookText
from domain.errors import (
    BookError,
    BookErrorCode,
    MarginaliaError,
    SettingsError,
    StorageError,
    StorageErrorCode,
)
from domain.ports import BookFile, Progress
from storage.book_files.files import CacheFigures, Confine, SQLiteBookFiles
from storage.book_files.format import reason_of, write_failed, write_whole
from storage.book_files.opened import OpenedBook, OpenedFile, OpenFiles, missing, unreadable
from storage.sql.books import BookObject, SQLBookObjects

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

logger = logging.getLogger(__name__)

MEGABYTE = 1_000_000

CALL_TIMEOUT_S = 60.0
"""For one book, up or down, including retries: a long novel with its index has ten megabytes."""

CLEAN_EVERY_S = 3_600.0
_TRIAL = "trial"
"""The name of an object that is no book."""
BEING_ADDED = timedelta(hours=1)
"""Longer than it takes to add a book, which is on the disk before it is in the store."""

_CLIENT: "ClientConfig" = {"timeout": "30s", "connect_timeout": "5s"}
_ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT")
"""Variables with the address of an S3 of one's own; whoever writes http:// there means it."""
_RETRY: "RetryConfig" = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}

Result = TypeVar("Result")


class CachedBookFiles(SQLiteBookFiles):
    """Books in an object store, with a cache folder that all processes of a node may share.

    A file never changes: its name in the store contains its digest, and the database knows each book's digest.
    """

    def __init__(
        self,
        folder: Path,
        *,
        store: ObjectStore,
        objects: SQLBookObjects,
        cache_mb: int,
        confine: Confine | None = None,
    ) -> None:
        super().__init__(folder, confine=confine)
        self._store = store
        self._objects = objects
        self._limit = cache_mb * MEGABYTE
        self._fetching: dict[str, asyncio.Task[None]] = {}
        self._served = CacheFigures()

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None, *, anew: bool = False) -> int:
        """See BookFiles. Returns when the book is in the store.

        Raises:
            StorageError: WRITE_FAILED, the disk or the store refused.
        """
        if not anew:
            with suppress(BookError):  # there is none yet, or a damaged one
                await self.provide(sha256)
        words = await super().write(sha256, text, progress, anew=anew)
        await self._upload(sha256)
        return words

    async def open(self, book: Book) -> BookFile:
        opened = _CachedBook(book, self._path(book.sha256), self._open_files, self)
        await opened.check()
        return opened

    async def remove(self, sha256: str) -> None:
        await super().remove(sha256)
        if known := await self._objects.get(sha256):
            with suppress(FileNotFoundError):
                await self._call(obstore.delete_async(self._store, _key(known)))
            await self._objects.delete(sha256)  # last: while the store refuses, `written_before` still has it

    async def written_before(self, moment: datetime) -> Sequence[str]:
        return await self._objects.list_before(moment)

    async def keep_copies(self) -> None:
        """Delete this node's copies of books that any node has erased, now and every hour, until cancelled."""
        while True:
            try:
                await self.discard_erased(datetime.now(UTC) - BEING_ADDED)
            except (MarginaliaError, OSError) as error:
                logger.warning("copies of erased books could not be deleted yet: %s", error)
            await asyncio.sleep(CLEAN_EVERY_S)

    async def discard_erased(self, unused_since: datetime) -> None:
        """Delete the copies of erased books; younger copies may be of books that are just being added."""
        for sha256 in await super().written_before(unused_since):
            if await self._objects.get(sha256) is None:
                await asyncio.to_thread(self.discard, self._path(sha256))

    async def provide(self, sha256: str) -> None:
        """Make sure that the book is on the disk, and note that it is in use.

        Raises:
            BookError: INVALID_STATE, it is not in the store, or damaged there; TIMED_OUT, the store cannot be
            reached.
        """
        try:
            os.utime(self._path(sha256))
            self._served.hits += 1
        except FileNotFoundError:
            self._served.misses += 1
            task = self._fetching.get(sha256)
            if task is None:
                task = self._fetching[sha256] = asyncio.create_task(self._fetch(sha256))
                task.add_done_callback(partial(self._fetched, sha256))
            await asyncio.shield(task)

    def _fetched(self, sha256: str, task: asyncio.Task[None]) -> None:
        del self._fetching[sha256]
        if not task.cancelled():
            task.exception()  # counts as retrieved: every waiting caller gets it, and all of them may have gone

    async def _fetch(self, sha256: str) -> None:
        known = await self._objects.get(sha256)
        if known is None:
            raise missing()
        try:
            content = bytes(await self._call(self._download(known)))
        except FileNotFoundError:
            logger.error("the object %s is gone from the store", _key(known))
            raise missing() from None
        except StorageError as error:
            raise BookError(BookErrorCode.TIMED_OUT, error.message) from error
        if await asyncio.to_thread(_digest, content) != known.digest:
            logger.error("the object %s in the store is not what was put there", _key(known))
            raise unreadable()
        try:
            await asyncio.to_thread(self._keep, self._path(sha256), content)
        except OSError as error:
            raise write_failed(reason_of(error)) from error

    async def _download(self, known: BookObject) -> bytes:
        found = await obstore.get_async(self._store, _key(known))
        return bytes(await found.bytes_async())

    def _keep(self, path: Path, content: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
        self._make_room(path)

    async def _upload(self, sha256: str) -> None:
        path = self._path(sha256)
        try:
            content = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            raise write_failed(reason_of(error)) from error
        await self.put(sha256, content)
        await asyncio.to_thread(self._make_room, path)

    async def put(self, sha256: str, content: bytes) -> None:
        """Upload a book's file, and note its digest and length.

        Raises:
            StorageError: WRITE_FAILED, the store refuses or does not answer.
        """
        book = BookObject(sha256, await asyncio.to_thread(_digest, content), len(content), datetime.now(UTC))
        before = await self._objects.get(sha256)
        if before is None:
            await self._objects.put(book)  # first, so that `written_before` has what a kill leaves in the store
        try:
            await self._call(obstore.put_async(self._store, _key(book), content))
        except FileNotFoundError as error:  # no such bucket
            raise _refused(error) from error
        if before is not None:
            await self._objects.put(book)
            if _key(before) != _key(book):
                with suppress(FileNotFoundError, StorageError):  # one object too many does no harm
                    await self._call(obstore.delete_async(self._store, _key(before)))

    async def _call(self, work: Awaitable[Result]) -> Result:
        """Await a call of the store.

        Raises:
            FileNotFoundError: there is no such object.
            StorageError: WRITE_FAILED, the store refuses or does not answer.
        """
        try:
            async with asyncio.timeout(CALL_TIMEOUT_S):
                return await work
        except FileNotFoundError:
            raise
        except (BaseError, OSError, TimeoutError, ValueError) as error:
            raise _refused(error) from error

    def discard(self, path: Path) -> None:
        """Delete a damaged copy."""
        self._open_files.drop(path)
        path.unlink(missing_ok=True)

    def _make_room(self, newest: Path) -> None:
        """Delete the least recently used copies, including those of other processes, until the cache is within its
        limit.

        A copy that is open stays readable until it is closed.
        """
        files = []
        for entry in os.scandir(self._folder):
            with suppress(FileNotFoundError):  # another process makes room too
                if entry.name.endswith(".book"):
                    files.append((entry.stat().st_mtime, entry.stat().st_size, Path(entry.path)))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= self._limit:
                return
            if path != newest:
                self.discard(path)
                self._served.evictions += 1
                total -= size

    def cache_figures(self) -> CacheFigures:
        """See SQLiteBookFiles. Reads the sizes of the copies, those of other processes included."""
        sizes = []
        with suppress(FileNotFoundError):  # nothing was kept so far
            for entry in os.scandir(self._folder):
                with suppress(FileNotFoundError):
                    sizes.append(entry.stat().st_size if entry.name.endswith(".book") else 0)
        return replace(self._served, size=sum(sizes))


class _CachedBook(OpenedBook):
    """A book whose file is downloaded before it is read, and again if the copy is damaged."""

    def __init__(self, book: Book, path: Path, open_files: OpenFiles, files: CachedBookFiles) -> None:
        super().__init__(book, path, open_files)
        self._sha256 = book.sha256
        self._files = files

    async def run(self, work: Callable[[OpenedFile], Result]) -> Result:
        await self._files.provide(self._sha256)
        try:
            return await super().run(work)
        except BookError as error:
            if error.code is not BookErrorCode.INVALID_STATE:
                raise
        await asyncio.to_thread(self._files.discard, self._path)
        self.damage = None
        await self._files.provide(self._sha256)
        return await super().run(work)


def open_store(url: str) -> ObjectStore:
    """The object store of a URL: s3://bucket/prefix, gs://…, az://…, file:///folder.

    Credentials come from the environment, under the names of each provider's own tools.

    Raises:
        SettingsError: the URL names no store.
    """
    try:
        if url.startswith("file:"):
            return from_url(url, mkdir=True)
        if any(os.environ.get(name, "").startswith("http://") for name in _ENDPOINTS):
            return from_url(url, client_options={**_CLIENT, "allow_http": True}, retry_config=_RETRY)
        return from_url(url, client_options=_CLIENT, retry_config=_RETRY)
    except (BaseError, ValueError, OSError) as error:
        may_hold_keys = "@" in url or "?" in url  # and the error repeats the address
        reason = "" if may_hold_keys else f" ({str(error).partition(chr(10))[0]})"
        raise SettingsError(
            "BOOKS_URL must be like s3://bucket/prefix, gs://bucket/prefix, az://container/prefix or "
            f"file:///folder, with the store's credentials in the environment{reason}."
        ) from error


async def try_store(url: str) -> None:
    """Write a small object into the store of a URL, and delete it.

    Raises:
        SettingsError: the URL names no store, or the store refuses; the sentence says why.
    """
    store = open_store(url)
    try:
        await obstore.put_async(store, _TRIAL, b"here")
        await obstore.delete_async(store, _TRIAL)
    except (BaseError, OSError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise SettingsError(
            f"It cannot be written to ({reason}). Check BOOKS_URL, and the store's credentials in the environment."
        ) from error


def _refused(error: Exception) -> StorageError:
    logger.error("the store of books: %s", str(error).partition("\n")[0] or type(error).__name__)
    message = "The store of books does not answer as it should; please try again in a minute."
    return StorageError(StorageErrorCode.WRITE_FAILED, message)


def _key(book: BookObject) -> str:
    return f"{book.sha256}.{book.digest[:16]}.book"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

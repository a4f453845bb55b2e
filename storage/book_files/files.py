"""The folder of indexed books."""

import asyncio
import json
import logging
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from io import FileIO
from pathlib import Path

from domain.book import Book, BookText
from domain.errors import BookError, BookErrorCode, StorageError, StorageErrorCode
from domain.ports import BookFile, Progress
from storage.book_files.format import reason_of, sweep, write_book, write_failed, write_pieces
from storage.book_files.indexer import encode_task
from storage.book_files.opened import OpenedBook, OpenFiles

_LOG = logging.getLogger(__name__)
_PROJECT = str(Path(__file__).resolve().parents[2])
_BOOT = (
    "import sys; sys.path[:0] = PATHS; from importlib import import_module; "
    "from storage.book_files.indexer import main; main(IMAGE, None)"
)
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_LONGEST_COMPLAINT = 4_000

WORTH_A_PROCESS = 100_000
"""Characters. A shorter book is indexed in a thread faster than a process can start."""
INDEXING = "indexing"
_PIECE = 2**16
"""Bytes of a book's file that are in memory at a time; a pipe holds no more."""
_LARGEST = 2**29
"""Bytes of a book's file; the longest book a parser lets through takes a third of this."""
_LONGEST_REASON = 200
_UNSOUND = (EOFError, ValueError, KeyError, TypeError, OverflowError, RecursionError)
"""The errors that follow if an indexer dies or sends something that a sound one does not."""

Confine = Callable[[], object]
"""A function of a module, which the indexing process imports and calls to give up what it does not need."""


@dataclass(frozen=True, slots=True)
class _Indexer:
    """A process that indexes one book, and the pipe for the content of the book's file."""

    process: asyncio.subprocess.Process
    image: FileIO

    async def end(self) -> None:
        """Kill the process, and the forked copy that indexes the other half of a book."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            await self.process.wait()


class Indexers:
    """Runs one indexing process per book. A process may be started while its book is still being parsed."""

    def __init__(self, confine: Confine | None) -> None:
        self._confine = confine
        self._waiting: asyncio.Task[_Indexer] | None = None

    @asynccontextmanager
    async def expecting(self) -> AsyncIterator[None]:
        """Have an indexer ready for the block, unless one is waiting already; it is killed if it is given no book."""
        if self._waiting is not None:
            yield
            return
        waiting = self._waiting = asyncio.create_task(_start(self._confine))
        try:
            yield
        finally:
            if self._waiting is waiting:
                self._waiting = None
                unused = await waiting
                await unused.end()
                unused.image.close()

    async def index(self, path: Path, book: BookText, report: Callable[[float], None]) -> None:
        """Index a book in a separate process, which is killed on cancellation, and write the file it makes.

        Raises:
            StorageError: WRITE_FAILED, the process refused or died.
            OSError: the disk refused.
        """
        waiting, self._waiting = self._waiting, None
        indexer = await (waiting or _start(self._confine))
        try:
            await _send(indexer.process, book)
            await _keep(indexer, path, await _follow(indexer.process, report))
        except _UNSOUND as error:
            await indexer.end()
            raise await _ended_badly(indexer.process) from error
        finally:
            await indexer.end()
            indexer.image.close()


async def _start(confine: Confine | None) -> _Indexer:
    """Start the indexer in a process group of its own, out of reach of Ctrl-C, and without the environment and its
    secrets.

    It stays in the same session: Linux may divide the processor among sessions first, and then niceness has no effect.
    """
    reading, writing = os.pipe()
    image = FileIO(reading)
    try:
        process = await asyncio.create_subprocess_exec(
            *_command(writing, confine),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
            cwd="/",
            pass_fds=(writing,),
            process_group=0,
        )
    except BaseException:
        image.close()
        raise
    finally:
        os.close(writing)
    return _Indexer(process, image)


def _command(image: int, confine: Confine | None) -> list[str]:
    """A bare interpreter: it starts in half the time of one that sets up site packages."""
    paths = [_PROJECT, *(str(Path(path).absolute()) for path in sys.path)]
    boot = _BOOT.replace("PATHS", repr(paths)).replace("IMAGE", str(image))
    if confine:
        boot = boot.replace("None", f"import_module({confine.__module__!r}).{confine.__name__}")
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", boot]


async def _send(process: asyncio.subprocess.Process, book: BookText) -> None:
    assert process.stdin
    pieces = encode_task(book)
    with suppress(BrokenPipeError, ConnectionResetError):  # its output says why it stopped reading
        process.stdin.write(await asyncio.to_thread(next, pieces))  # ten thousand pages take a moment
        for piece in pieces:
            process.stdin.write(piece)
            await process.stdin.drain()
            await asyncio.sleep(0)
        process.stdin.close()


async def _follow(process: asyncio.subprocess.Process, report: Callable[[float], None]) -> int:
    """Pass on the progress the process reports; return the size of the file it has made, in bytes.

    The process handles a stranger's text, so nothing it reports is taken for granted.

    Raises:
        StorageError: WRITE_FAILED, the process names an error.
        EOFError: it ended before.
        others of _UNSOUND: it says something else.
    """
    assert process.stdout
    async for line in process.stdout:
        said = json.loads(line)
        if not isinstance(said, dict):
            report(min(1.0, max(0.0, float(said))))
        elif "error" in said:
            raise write_failed(str(said["error"])[:_LONGEST_REASON])
        elif type(said["size"]) is int and 0 < said["size"] <= _LARGEST:
            return int(said["size"])
        else:
            raise ValueError("a file of no possible size")
    raise EOFError


async def _keep(indexer: _Indexer, path: Path, size: int) -> None:
    """Write the file that the process has made.

    Raises:
        EOFError: the process ended before.
        OSError: the disk refused.
    """
    writing = asyncio.ensure_future(asyncio.to_thread(write_pieces, path, _pieces(indexer.image, size)))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await indexer.end()  # and with it what is being written
        await asyncio.wait([writing])
        writing.exception()
        raise


def _pieces(image: FileIO, size: int) -> Iterator[bytes]:
    while size > 0:
        piece = image.read(min(size, _PIECE))
        if not piece:
            raise EOFError
        size -= len(piece)
        yield piece


async def _ended_badly(process: asyncio.subprocess.Process) -> StorageError:
    assert process.stderr
    complaint = await process.stderr.read(_LONGEST_COMPLAINT)
    _LOG.error("an indexer ended with code %s", process.returncode)
    _LOG.debug("what it said, which may hold words of the book: %r", complaint)
    message = "The book could not be indexed: the process that does it was ended from outside. Please try again."
    return StorageError(StorageErrorCode.WRITE_FAILED, message)


@dataclass(slots=True)
class CacheFigures:
    """How a cache of book files has served since the start: reads with and without a copy, and copies deleted for room.

    `size` is in bytes, of all copies on the disk.
    """

    hits: int = 0
    misses: int = 0
    evictions: int = 0
    size: int = 0


class SQLiteBookFiles:
    """Books as `<folder>/<sha256>.book`. The folder is created when the first book is written.

    With `confine`, the process that indexes a long book gives up all it does not need before it sees the text.
    """

    def __init__(self, folder: Path, *, confine: Confine | None = None) -> None:
        self._folder = folder
        self._open_files = OpenFiles()
        self._indexers = Indexers(confine)
        self._turn = asyncio.Semaphore(1)
        """Indexing is CPU work: taking one book at a time leaves the processor free to answer people."""

    def cache_figures(self) -> CacheFigures:
        """The figures of the cache; zeros where the books themselves are on the disk."""
        return CacheFigures()

    def expecting(self, size: int) -> AbstractAsyncContextManager[None]:
        return self._indexers.expecting() if size >= WORTH_A_PROCESS else nullcontext()

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None, *, anew: bool = False) -> int:
        """Index a book and return how many words it has; a sound file that exists already is kept, unless `anew`.

        Raises:
            StorageError: WRITE_FAILED, the disk refused.
        """
        path, report = self._path(sha256), partial(progress or _nobody, INDEXING)
        async with self._turn:
            await asyncio.to_thread(self._make_folder)
            if anew or not await asyncio.to_thread(self._is_in_place, path):
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

    async def keep_copies(self) -> None:
        """Delete copies of erased books, until cancelled; files that are no copies are not touched."""

    async def written_before(self, moment: datetime) -> Sequence[str]:
        return await asyncio.to_thread(self._written_before, moment.timestamp())

    def _written_before(self, moment: float) -> list[str]:
        return [path.stem for path in self._folder.glob("*.book") if path.stat().st_mtime < moment]

    async def close(self) -> None:
        """Close all files; they are opened again when they are used."""
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

    def _make_folder(self) -> None:
        with _refusals_translated():
            self._folder.mkdir(parents=True, exist_ok=True)
            sweep(self._folder)

    def _is_in_place(self, path: Path) -> bool:
        """Whether a sound file exists; a damaged one, or one of an older version, has to be written again."""
        with _refusals_translated():
            if not path.is_file():
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
        raise write_failed(reason_of(error)) from error


def _nobody(stage: str, share: float) -> None:
    """Ignore progress."""

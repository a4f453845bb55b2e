"""The bot's end of an indexer: start it, hand it the book, follow it, and be sure that it ends."""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from domain.book import BookText
from domain.errors import StorageError, StorageErrorCode
from storage.book_files.indexer import encode_task
from storage.book_files.writer import write_failed

_LOG = logging.getLogger(__name__)
_PROJECT = str(Path(__file__).resolve().parents[2])
_BOOT = "import sys; sys.path[:0] = PATHS; from storage.book_files.indexer import main; main()"
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_LONGEST_COMPLAINT = 4_000


class Indexers:
    """A process for each book. One may be started while its book is still being read."""

    def __init__(self) -> None:
        self._waiting: asyncio.Task[asyncio.subprocess.Process] | None = None

    @asynccontextmanager
    async def expecting(self) -> AsyncIterator[None]:
        """Have an indexer ready in the block, unless one waits already; if it is handed no book, it ends with it."""
        if self._waiting is not None:
            yield
            return
        waiting = self._waiting = asyncio.create_task(_start())
        try:
            yield
        finally:
            if self._waiting is waiting:
                self._waiting = None
                await _end(await waiting)

    async def index(self, path: Path, book: BookText, report: Callable[[float], None]) -> None:
        """Index a book and write its file in a process of its own, which is killed if nobody waits for it any more.

        Raises:
            StorageError: WRITE_FAILED, the disk refused, or the process died.
        """
        waiting, self._waiting = self._waiting, None
        process = await (waiting or _start())
        try:
            await _send(process, path, book)
            refusal = await _hear(process, report)
            if await process.wait() != 0:
                raise write_failed(refusal) if refusal else await _killed(process)
        finally:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it, and the copy of it that indexes the other half of a book."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _start() -> asyncio.subprocess.Process:
    """In a process group of its own, which Ctrl-C does not reach, and without the environment and its secrets.

    Not in a session of its own: Linux may share the processor among sessions first, and niceness would not count.
    """
    return await asyncio.create_subprocess_exec(
        *_command(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
        process_group=0,
    )


def _command() -> list[str]:
    """A bare interpreter, which starts in half the time of one that looks for site packages."""
    paths = [_PROJECT, *(str(Path(path).absolute()) for path in sys.path)]
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT.replace("PATHS", repr(paths))]


async def _send(process: asyncio.subprocess.Process, path: Path, book: BookText) -> None:
    assert process.stdin
    pieces = encode_task(path, book)
    with suppress(BrokenPipeError, ConnectionResetError):  # why it stopped listening is heard at the other end
        process.stdin.write(await asyncio.to_thread(next, pieces))  # ten thousand pages take a moment
        for piece in pieces:
            process.stdin.write(piece)
            await process.stdin.drain()
            await asyncio.sleep(0)
        process.stdin.close()


async def _hear(process: asyncio.subprocess.Process, report: Callable[[float], None]) -> str:
    """Pass on how far it has come; the error it names in the end, or nothing."""
    assert process.stdout
    async for line in process.stdout:
        said = json.loads(line)
        if isinstance(said, dict):
            return str(said["error"])
        report(said)
    return ""


async def _killed(process: asyncio.subprocess.Process) -> StorageError:
    assert process.stderr
    complaint = await process.stderr.read(_LONGEST_COMPLAINT)
    _LOG.error("an indexer ended with code %s", process.returncode)
    _LOG.debug("what it said, which may hold words of the book: %r", complaint)
    message = "The book could not be indexed: the process that does it was ended from outside. Please try again."
    return StorageError(StorageErrorCode.WRITE_FAILED, message)

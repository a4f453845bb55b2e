"""Reads strangers' files in worker processes: a hostile one costs its uploader a sentence and nobody else anything.

Each file gets a process of its own that is told nothing but the file: no environment, no settings, no open files. It
bounds its own memory and processor time, answers in checked frames, and is killed when its time is up or its reader
gives up waiting. Nothing of it is used for the next file.
"""

import asyncio
import weakref

from bot.parsers.formats import named_format
from bot.parsers.limits import DEFAULT_LIMITS
from bot.parsers.sandbox.process import SpareWorker, WorkerBounds, WorkerProcess, out_of_time
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from domain.ports import Progress

_MB = 1_000_000


class SandboxedParser:
    """A BookParser for every supported format."""

    def __init__(
        self,
        *,
        seconds: float = 60.0,
        memory_mb: int = 1_024,
        max_file_mb: int = 50,
        max_characters: int = DEFAULT_LIMITS.max_characters,
        workers: int = 2,
    ) -> None:
        """`seconds` and `memory_mb` (MiB) bound one worker; of more files than `workers`, the others wait."""
        self._bounds = WorkerBounds(seconds, memory_mb, max_characters)
        self._max_file_mb = max_file_mb
        self._free_worker = asyncio.Semaphore(workers)
        self._spare = SpareWorker()
        weakref.finalize(self, self._spare.discard)

    async def expect(self, filename: str) -> None:
        """Start a worker for a file of this name, unless one waits already; it does not wait for long."""
        await asyncio.to_thread(self._spare.expect, named_format(filename) or "")

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        """Read a file of any supported format, without blocking, within the bounds.

        Raises:
            BookError: the file cannot become a book; the sentence says why and what to do.
        """
        self._check_size(data)
        async with self._free_worker:
            worker = WorkerProcess(self._bounds, self._spare)
            reading = asyncio.ensure_future(asyncio.to_thread(worker.run, data, filename, progress))
            try:
                async with asyncio.timeout(self._bounds.seconds):
                    return await asyncio.shield(reading)
            except TimeoutError:
                raise out_of_time() from None
            finally:
                worker.kill()
                await _ended(reading)

    def _check_size(self, data: bytes) -> None:
        if not data:
            raise BookError(BookErrorCode.PARSE_FAILED, "This file is empty. Please add one that has the book's text.")
        if len(data) > self._max_file_mb * _MB:
            raise BookError(
                BookErrorCode.TOO_LARGE,
                f"This file is larger than {self._max_file_mb} MB. "
                "Please add a smaller edition, or one without pictures.",
            )


async def _ended(reading: "asyncio.Future[BookText]") -> None:
    """Wait for the thread that saw a worker to its end, whatever came of it."""
    await asyncio.wait([reading])
    if not reading.cancelled():
        reading.exception()

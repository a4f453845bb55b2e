"""Reads untrusted files in worker processes: a hostile one costs its uploader a sentence and nobody else anything.

Each file gets a process of its own that receives nothing but the file: no environment, no settings, no open files. It
limits its own memory and processor time and answers in checked frames. It is killed when its time is up or when nobody
waits for the book any more. No worker reads a second file.
"""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from bot.parsers.draft import DEFAULT_LIMITS, PicturesOnlyError
from bot.parsers.formats import modules_for, named_format
from bot.parsers.ocr import OcrInstallation, find_ocr
from bot.parsers.sandbox.lockdown import Confinement
from bot.parsers.sandbox.worker import (
    UNSOUND,
    BrokenFrameError,
    FrameKind,
    decode_book,
    read_frame,
    received_sentence,
)
from bot.parsers.titles import last_component
from domain.book import BookText
from domain.errors import BookError, BookErrorCode, Worded
from domain.ports import Progress

_LOG = logging.getLogger(__name__)

_PROJECT = str(Path(__file__).resolve().parents[3])
_BOOT = "import sys; sys.path[:0] = PATHS; from bot.parsers.sandbox import worker; import LIBRARIES; worker.main(OCR)"
_PROBE = (
    "import json, sys; sys.path[:0] = PATHS; from dataclasses import asdict; "
    "from bot.parsers.sandbox import lockdown, worker; print(json.dumps(asdict(CONFINE())))"
)
"""A process that only reports how it is confined."""
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_IDLE_SECONDS = 60.0
_OCR_MEMORY_MB = 1_536
"""Tesseract's models and a large page need 300 MB; a process that may use 1,024 has little left for the book."""


def start_worker(expected_format: str = "", ocr: OcrInstallation | None = None) -> subprocess.Popen[bytes]:
    """Start a bare interpreter without site packages, environment or secrets, in a process group of its own.

    It stays in the same session: Linux may divide the processor among sessions first, and then niceness has no effect.
    It imports what the expected format needs while it waits for its file, which may have any format all the same.
    """
    boot = _BOOT.replace("LIBRARIES", ", ".join(modules_for(expected_format)) or "sys")
    return _start(boot.replace("OCR", repr(astuple(ocr)) if ocr else "None"))


def probe_confinement() -> Confinement:
    """What this machine's kernel gives to confine both a worker and the process that indexes a book; starts one of each
    to find out, and blocks for a moment.

    Raises:
        OSError: no process can be started.
        ValueError: it ended without an answer.
    """
    reads, indexes = map(_probe, ("worker.confine", "lockdown.shut_in"))
    return Confinement(*map(min, astuple(reads), astuple(indexes)))


def _probe(confine: str) -> Confinement:
    with _start(_PROBE.replace("CONFINE", confine)) as process:
        answer, _ = process.communicate()
    if process.returncode < 0:
        raise ValueError(f"it was killed by {signal.Signals(-process.returncode).name}")
    return Confinement(**json.loads(answer))


def _start(boot: str) -> subprocess.Popen[bytes]:
    paths = [_PROJECT, *(str(Path(path).absolute()) for path in sys.path)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter, our own code
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", boot.replace("PATHS", repr(paths))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
        cwd="/",
        process_group=0,
    )


class SpareWorker:
    """At most one started worker that waits for its file, kept as long as another file is likely to come.

    One is started for a file that is on its way, and for the next of files that follow one another within a minute.
    """

    def __init__(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._waiting: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None
        self._last_taken = float("-inf")
        self._files_follow = False

    def take(self) -> subprocess.Popen[bytes]:
        """A worker for one file: the spare one, or else a new one."""
        with self._lock:
            now = time.monotonic()
            self._files_follow = now - self._last_taken < self._idle_seconds
            self._last_taken = now
            waiting = self._release()
        if waiting is not None and waiting.poll() is None:
            return waiting
        _end(waiting)
        return start_worker()

    def refill(self, expected_format: str) -> None:
        """Start the next worker, if files are following one another."""
        if self._files_follow:
            self.expect(expected_format)

    def expect(self, expected_format: str) -> None:
        """Start a worker for a file that will come, unless one waits already."""
        with self._lock:
            if self._waiting is not None:
                return
            self._waiting = start_worker(expected_format)
            self._timer = threading.Timer(self._idle_seconds, self.discard)
            self._timer.daemon = True
            self._timer.start()

    def discard(self) -> None:
        """End the worker that waits."""
        with self._lock:
            waiting = self._release()
        _end(waiting)

    def _release(self) -> subprocess.Popen[bytes] | None:
        if self._timer is not None:
            self._timer.cancel()
        waiting, self._waiting, self._timer = self._waiting, None, None
        return waiting


def _end(worker: subprocess.Popen[bytes] | None) -> None:
    if worker is not None:
        with worker:
            worker.kill()


_BYTES_PER_CHARACTER = 3
"""UTF-8's maximum for the letters of any living language; a book of nothing but emoji may have to be shorter."""
_READING, _RECOGNISING = "reading", "recognising"
_SECONDS_TO_END = 1.0
_LONGEST_KIND = 40
_LONGEST_DETAIL = 4_000
"""Characters of a traceback. It may quote the file, so it is logged at DEBUG only."""


@dataclass(frozen=True, slots=True)
class WorkerBounds:
    """The limits of one worker: seconds of work, MiB of memory, characters of the resulting text."""

    seconds: float
    memory_mb: int
    max_characters: int


@dataclass(frozen=True, slots=True)
class OcrBounds:
    """The limits for recognising the text of one book: pages, and seconds of work; `languages` are
    Tesseract's names.
    """

    pages: int = 400
    seconds: float = 720.0
    languages: tuple[str, ...] = ()


class WorkerProcess:
    """One worker for one file. `run` blocks and belongs in a thread; `kill` may be called from any other one.

    With `ocr`, the worker recognises the text of pages that are pictures.
    """

    def __init__(self, bounds: WorkerBounds, spare: SpareWorker, ocr: OcrInstallation | None = None) -> None:
        self._bounds = bounds
        self._spare = spare
        self._ocr = ocr
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._starting = threading.Lock()

    def run(self, data: bytes, filename: str, progress: Progress | None) -> BookText:
        """The book of a file.

        Raises:
            BookError: what the worker reports, or what follows from its end.
        """
        with self._start() as process:
            try:
                self._send(process, data, filename)
                book = self._receive(process, progress)
            except BrokenFrameError as broken:
                raise out_of_time() if self._killed else _explained(process, broken) from broken
            finally:
                process.kill()
        if self._ocr is None:
            self._spare.refill(book.format)
        return book

    def kill(self) -> None:
        """Kill the worker, or keep it from being started."""
        with self._starting:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._killed:
                raise BookError(BookErrorCode.TIMED_OUT, "Reading was stopped before it began. Please try again.")
            self._process = start_worker(ocr=self._ocr) if self._ocr else self._spare.take()
            return self._process

    def _send(self, process: subprocess.Popen[bytes], data: bytes, filename: str) -> None:
        assert process.stdin is not None
        task = {
            "filename": last_component(filename),
            "seconds": self._bounds.seconds,
            "memory_mb": self._bounds.memory_mb,
            "max_characters": self._bounds.max_characters,
        }
        with suppress(BrokenPipeError), process.stdin as stdin:  # the worker's answer says why it stopped reading
            stdin.write(json.dumps(task).encode() + b"\n")
            stdin.write(data)

    def _receive(self, process: subprocess.Popen[bytes], progress: Progress | None) -> BookText:
        assert process.stdout is not None
        longest_text = self._bounds.max_characters * _BYTES_PER_CHARACTER
        description = b""
        while True:
            kind, payload = read_frame(process.stdout, longest_text)
            if kind is FrameKind.ERROR:
                raise _received_error(payload)
            if kind is FrameKind.TEXT:
                return decode_book(description, payload)
            if kind is FrameKind.BOOK:
                description = payload
            elif progress is not None:
                progress(_RECOGNISING if self._ocr else _READING, _share(payload))


def _share(payload: bytes) -> float:
    try:
        return min(1.0, max(0.0, float(json.loads(payload))))
    except UNSOUND as error:
        raise BrokenFrameError("a share that is no number") from error


def _received_error(payload: bytes) -> BookError:
    try:
        error = json.loads(payload)
        code, message = BookErrorCode(error["code"]), received_sentence(error["message"])
        kind, detail = str(error["kind"]), str(error["detail"])
        pictures = int(error.get("pictures", 0))
    except UNSOUND as broken:
        raise BrokenFrameError("an error that is none") from broken
    if detail:
        kind = kind[:_LONGEST_KIND] if kind.isidentifier() else "an error of no name"
        _LOG.warning("A file could not be read for an unexpected reason: %s", kind)
        _LOG.debug("Where that was: %r", detail[:_LONGEST_DETAIL])
    if pictures > 0:
        return PicturesOnlyError(message, pictures)
    return BookError(code, message)


def _explained(process: subprocess.Popen[bytes], broken: BrokenFrameError) -> BookError:
    """The error for a worker that ended without an answer."""
    try:
        code = process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
        was_interrupted = False  # it hung; that it was killed says nothing
    else:
        was_interrupted = code == -signal.SIGKILL
    if code == -signal.SIGXCPU:
        return out_of_time()
    said = process.stderr.read(_LONGEST_DETAIL) if process.stderr else b""
    _LOG.warning("A parser's worker ended with code %d: %s", code, broken)
    _LOG.debug("What it said in the end: %r", said)
    if was_interrupted:  # by the operator, or by a machine short of memory
        return BookError(
            BookErrorCode.PARSE_FAILED,
            "Reading this file was interrupted. Please try again; if it happens again, try a smaller edition, best an "
            "EPUB.",
        )
    return BookError(
        BookErrorCode.PARSE_FAILED,
        "This file could not be read: it is damaged, or too big to be read. Please try another edition, best an EPUB.",
    )


def out_of_time() -> BookError:
    return BookError(
        BookErrorCode.TIMED_OUT,
        "Reading this file took too long, so I stopped. Please try a smaller or simpler edition, best an EPUB.",
    )


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
        ocr: OcrBounds | None = None,
    ) -> None:
        """`seconds` and `memory_mb` (MiB) limit one worker; files beyond the number of `workers` wait.

        With `ocr`, the text of pages that are pictures is recognised if Tesseract is installed, one book at a time.
        """
        self._bounds = WorkerBounds(seconds, memory_mb, max_characters)
        self._ocr = ocr
        self._recognises = asyncio.Semaphore(1)
        self._max_file_mb = max_file_mb
        self._free_worker = asyncio.Semaphore(workers)
        self._spare = SpareWorker()
        weakref.finalize(self, self._spare.discard)

    async def expect(self, filename: str) -> None:
        """Start a worker for a file with this name, unless one waits already; the worker waits for a limited time."""
        await asyncio.to_thread(self._spare.expect, named_format(filename) or "")

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        """Read a file of any supported format, without blocking, within the limits.

        Raises:
            BookError: the file cannot become a book; the sentence says why and what to do.
        """
        self._check_size(data)
        try:
            async with self._free_worker:
                book = await _run(WorkerProcess(self._bounds, self._spare), self._bounds, data, filename, progress)
        except PicturesOnlyError as refused:
            recognised = await self._recognised(data, filename, progress, refused.pages)
            if recognised is None:
                raise
            return recognised
        if not book.pictures:
            return book
        try:
            return await self._recognised(data, filename, progress, book.pictures) or book
        except BookError as error:
            if error.code is BookErrorCode.INVALID_STATE:
                raise
            return book  # its warning says which pages are missing

    async def _recognised(
        self, data: bytes, filename: str, progress: Progress | None, pictures: int
    ) -> BookText | None:
        """The book with the text of its pictures, None if this bot cannot recognise text.

        Raises:
            BookError: as for `read`; INVALID_STATE if another book is being recognised.
        """
        ocr = await asyncio.to_thread(find_ocr, self._ocr.languages) if self._ocr else None
        if self._ocr is None or ocr is None:
            return None
        self._check_room(pictures, self._ocr.pages)
        bounds = WorkerBounds(self._ocr.seconds, _OCR_MEMORY_MB, self._bounds.max_characters)
        async with self._recognises:
            return await _run(WorkerProcess(bounds, self._spare, ocr), bounds, data, filename, progress)

    def _check_room(self, pages: int, most: int) -> None:
        if pages > most:
            raise BookError(
                BookErrorCode.TOO_LARGE,
                Worded(
                    "{pages:,} pages of this book are pictures, and I recognise the text of {most:,} at most. "
                    "Please run it through text recognition (OCR) first, or add it in parts.",
                    pages=pages,
                    most=most,
                ),
            )
        if self._recognises.locked():
            raise BookError(
                BookErrorCode.INVALID_STATE,
                "The pages of this book are pictures. I am recognising the text of another such book right now, and do "
                "one at a time. Please add this one again in a few minutes.",
            )

    def _check_size(self, data: bytes) -> None:
        if not data:
            raise BookError(BookErrorCode.PARSE_FAILED, "This file is empty. Please add one that has the book's text.")
        if len(data) > self._max_file_mb * _MB:
            raise BookError(
                BookErrorCode.TOO_LARGE,
                Worded(
                    "This file is larger than {most} MB, the limit that the bot's operator has set. Please add a "
                    "smaller edition, or one without pictures.",
                    most=self._max_file_mb,
                ),
            )


async def _run(
    worker: WorkerProcess, bounds: WorkerBounds, data: bytes, filename: str, progress: Progress | None
) -> BookText:
    """The book of a worker, which is killed when its time is up or nobody waits for it any more."""
    reading = asyncio.ensure_future(asyncio.to_thread(worker.run, data, filename, progress))
    try:
        async with asyncio.timeout(bounds.seconds):
            return await asyncio.shield(reading)
    except TimeoutError:
        raise out_of_time() from None
    finally:
        worker.kill()
        await _ended(reading)


async def _ended(reading: "asyncio.Future[BookText]") -> None:
    """Wait until the thread that runs a worker has ended, with or without an error."""
    await asyncio.wait([reading])
    if not reading.cancelled():
        reading.exception()

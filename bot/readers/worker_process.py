"""The bot's end of a worker process: start it, hand it the file, hear it out, and be sure that it ends."""

import json
import logging
import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass

from bot.readers.frames import BrokenFrameError, Kind, decode_book, read_frame
from bot.readers.titles import last_component
from bot.readers.worker_start import SpareWorker
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from domain.ports import Progress

_LOG = logging.getLogger(__name__)
_BYTES_PER_CHARACTER = 3
"""What UTF-8 takes at most for the letters of any living language; a book of nothing but emoji may be shorter."""
_STAGE = "reading"
_SECONDS_TO_END = 1.0
_LONGEST_KIND = 40
_LONGEST_DETAIL = 4_000
"""Traces and complaints may quote the file, so they are for DEBUG alone."""
_LONGEST_SENTENCE = 500


@dataclass(frozen=True, slots=True)
class WorkerBounds:
    """What one worker may take: seconds of work, MiB of memory, characters of text in the end."""

    seconds: float
    memory_mb: int
    max_characters: int


class WorkerProcess:
    """One worker for one file. `run` blocks and belongs in a thread; `kill` may be called from any other."""

    def __init__(self, bounds: WorkerBounds, spare: SpareWorker) -> None:
        self._bounds = bounds
        self._spare = spare
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._starting = threading.Lock()

    def run(self, data: bytes, filename: str, progress: Progress | None) -> BookText:
        """The book of a file.

        Raises:
            BookError: what the worker says, or what its end says.
        """
        with self._start() as process:
            try:
                self._send(process, data, filename)
                book = self._hear(process, progress)
            except BrokenFrameError as broken:
                raise out_of_time() if self._killed else _explained(process, broken) from broken
            finally:
                process.kill()
        self._spare.refill(book.format)
        return book

    def kill(self) -> None:
        """End the worker, or keep it from being started."""
        with self._starting:
            self._killed = True
            if self._process is not None:
                self._process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._killed:
                raise BookError(BookErrorCode.TIMED_OUT, "Reading was stopped before it began. Please try again.")
            self._process = self._spare.take()
            return self._process

    def _send(self, process: subprocess.Popen[bytes], data: bytes, filename: str) -> None:
        assert process.stdin is not None
        task = {
            "filename": last_component(filename),
            "seconds": self._bounds.seconds,
            "memory_mb": self._bounds.memory_mb,
            "max_characters": self._bounds.max_characters,
        }
        with suppress(BrokenPipeError), process.stdin as stdin:  # why it stopped listening is heard at the other end
            stdin.write(json.dumps(task).encode() + b"\n")
            stdin.write(data)

    def _hear(self, process: subprocess.Popen[bytes], progress: Progress | None) -> BookText:
        assert process.stdout is not None
        longest_text = self._bounds.max_characters * _BYTES_PER_CHARACTER
        told = b""
        while True:
            kind, payload = read_frame(process.stdout, longest_text)
            if kind is Kind.ERROR:
                raise _told_error(payload)
            if kind is Kind.TEXT:
                return decode_book(told, payload)
            if kind is Kind.BOOK:
                told = payload
            elif progress is not None:
                progress(_STAGE, _share(payload))


def _share(payload: bytes) -> float:
    try:
        return min(1.0, max(0.0, float(json.loads(payload))))
    except (ValueError, TypeError) as error:
        raise BrokenFrameError("a share that is no number") from error


def _told_error(payload: bytes) -> BookError:
    try:
        told = json.loads(payload)
        code, message = BookErrorCode(told["code"]), str(told["message"])
        kind, detail = str(told["kind"]), str(told["detail"])
    except (ValueError, TypeError, KeyError) as error:
        raise BrokenFrameError("an error that is none") from error
    if detail:
        kind = kind[:_LONGEST_KIND] if kind.isidentifier() else "an error of no name"
        _LOG.warning("A file could not be read for a reason nobody foresaw: %s", kind)
        _LOG.debug("Where that was: %r", detail[:_LONGEST_DETAIL])
    return BookError(code, message[:_LONGEST_SENTENCE])


def _explained(process: subprocess.Popen[bytes], broken: BrokenFrameError) -> BookError:
    """What the end of a worker that said nothing means."""
    try:
        code = process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    if code == -signal.SIGXCPU:
        return out_of_time()
    said = process.stderr.read(_LONGEST_DETAIL) if process.stderr else b""
    _LOG.warning("A reader's worker ended with code %d: %s", code, broken)
    _LOG.debug("What it said in the end: %r", said)
    return BookError(
        BookErrorCode.PARSE_FAILED,
        "This file could not be read: it is damaged, or too big to be read. Please try another edition, best an EPUB.",
    )


def out_of_time() -> BookError:
    return BookError(
        BookErrorCode.TIMED_OUT,
        "Reading this file took too long, so I stopped. Please try a smaller or simpler edition, best an EPUB.",
    )

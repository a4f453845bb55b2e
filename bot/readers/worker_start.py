"""Starting workers, and keeping one warm while book follows on book.

A worker takes 0.05 to 0.1 s to start, as much as a novel takes to read. It is never used for a second file: what a
hostile one may have made of it ends with it.
"""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

_PROJECT = str(Path(__file__).resolve().parents[2])
_BOOT = "import sys; sys.path[:0] = PATHS; from bot.readers import worker; import LIBRARIES; worker.main()"
_LIBRARIES = {
    "epub": "bot.readers.epub, selectolax.lexbor",
    "html": "bot.readers.html, selectolax.lexbor",
    "pdf": "bot.readers.pdf, pypdfium2_raw",
    "docx": "bot.readers.docx",
    "markdown": "bot.readers.markdown, markdown_it",
    "txt": "bot.readers.txt",
}
"""What a worker may import before it knows its file, by the format it expects."""
_KEPT_ENVIRONMENT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_IDLE_SECONDS = 60.0


def start_worker(expected_format: str = "") -> subprocess.Popen[bytes]:
    """A bare interpreter without site packages of its own, environment or secrets, in a process group of its own.

    Not in a session of its own: Linux may share the processor among sessions first, and niceness would not count.
    It imports what the expected format needs while it waits for its file, which may be of any format all the same.
    """
    paths = [_PROJECT, *(str(Path(path).absolute()) for path in sys.path)]
    libraries = _LIBRARIES.get(expected_format, "sys")
    boot = _BOOT.replace("PATHS", repr(paths)).replace("LIBRARIES", libraries)
    return subprocess.Popen(  # noqa: S603 - our own interpreter, our own code
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", boot],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
        cwd="/",
        process_group=0,
    )


class SpareWorker:
    """At most one started worker that waits for its file, kept as long as the next file may well come.

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
        """A worker for one file: the one that waits, or else a new one."""
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

"""A process that reads one file and ends: it locks itself down first, and says what it found in frames.

It is given a line of JSON, then the file, on standard input.
"""

import encodings
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from math import ceil
from pkgutil import walk_packages
from typing import IO, Any

import bot.parsers
from bot.parsers.formats import read_book
from bot.parsers.limits import MIB, ReadingLimits
from bot.parsers.sandbox.frames import FrameKind, encode_book, write_frame
from bot.parsers.sandbox.lockdown import Confinement, code_folders, knows_landlock, lock_down
from domain.errors import BookError, BookErrorCode

_NICENESS = 10
_FIXED_LIMITS = {
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_NPROC: 0,
    resource.RLIMIT_MEMLOCK: 0,
}
"""No files written, no memory dumped, few files opened, no processes started, no memory kept from being swapped."""
_IMPORTED_LATE = (
    "html",
    "markdown_it",
    "pypdfium2_raw",
    "selectolax.lexbor",
    "traceback",
    "urllib.parse",
)
"""What parsers import only when a file needs it."""
_SECONDS_BETWEEN_REPORTS = 0.1
_DAMAGED = "This file is damaged, or made in a way I do not understand. Please try another edition, best an EPUB."
_TOO_BIG = "This file needs more memory to be read than one book may take. Please add a smaller edition."


def main() -> None:
    """Read the file on standard input and write the book, or the reason why there is none, to standard output."""
    out = _private_output()
    gc.disable()  # nothing here goes in circles, and there is much to look through
    confine()
    task = json.loads(sys.stdin.buffer.readline())
    _limit({resource.RLIMIT_AS: task["memory_mb"] * MIB, resource.RLIMIT_CPU: ceil(task["seconds"])})
    limits = ReadingLimits(max_characters=task["max_characters"])
    try:
        book = read_book(sys.stdin.buffer.read(), task["filename"], limits=limits, report=_reporter(out))
        told, text = encode_book(book)
    except BookError as error:
        _say_error(out, error.code, error.message)
    except MemoryError:
        _say_error(out, BookErrorCode.TOO_LARGE, _TOO_BIG)
    except Exception as error:  # noqa: BLE001 - a stranger's file may break anything, and this process does nothing else
        _say_error(out, BookErrorCode.PARSE_FAILED, _DAMAGED, type(error).__name__, _trace())
    else:
        write_frame(out, FrameKind.BOOK, told)
        write_frame(out, FrameKind.TEXT, text)


def confine() -> Confinement:
    """Give up all that reading does not take, before anything of a stranger's is read."""
    os.nice(_NICENESS)
    _limit(_FIXED_LIMITS)
    if not knows_landlock():
        import_everything()
    return lock_down(code_folders(sys.path))


def import_everything() -> None:
    """Import what any format may need; afterwards, this process can open no file, not even to import."""
    for package in (bot.parsers, encodings):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            _import_if_there(module.name)
    for name in _IMPORTED_LATE:
        _import_if_there(name)


def _import_if_there(name: str) -> None:
    with suppress(ImportError):  # of another system, or an extra that is not installed
        import_module(name)


def _private_output() -> IO[bytes]:
    """Standard output for frames alone: whatever a library prints goes nowhere."""
    out = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return out


def _limit(bounds: Mapping[int, int]) -> None:
    """Bounds that hold even if the bot dies."""
    for kind, bound in bounds.items():
        with suppress(ValueError, OSError):  # not every system knows every bound
            resource.setrlimit(kind, (bound, bound))


def _reporter(out: IO[bytes]) -> Callable[[float], None]:
    last = 0.0

    def report(share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_REPORTS:
            last = now
            write_frame(out, FrameKind.PROGRESS, json.dumps(share).encode())

    return report


def _trace() -> str:
    import traceback  # 6 ms that hardly any file needs

    return traceback.format_exc(limit=-6)


def _say_error(out: IO[bytes], code: Any, message: str, kind: str = "", detail: str = "") -> None:
    """`kind` and `detail`, an exception's name and trace, are of failures nobody foresaw."""
    told = {"code": str(code), "message": message, "kind": kind, "detail": detail}
    write_frame(out, FrameKind.ERROR, json.dumps(told).encode())

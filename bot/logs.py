"""What operators see: the log, and the health file for a supervisor."""

import asyncio
import json
import logging
import os
import re
import secrets
import select
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TextIO

from bot.private import redacted

logger = logging.getLogger(__name__)

LIBRARIES = {"aiosqlite": logging.WARNING, "httpx": logging.WARNING, "httpx2": logging.WARNING}
"""Libraries that log more than operators need, whatever LOG_LEVEL says."""


NODE = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
"""Identifies this process among those that share a database. In containers, the programs have the same id, and those on
the host's network its name.
"""

SHARD: ContextVar[int | None] = ContextVar("shard", default=None)
"""The shard on whose behalf the current task works, if there are several."""

TERMINAL_SEQUENCES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which a terminal executes, except line feed and tab; and those that change the direction of text.
"""

PIECE = 1_000
"""Characters written at once: a pipe that is ready for writing has room for four times as many bytes."""
ROOM_PATIENCE_S = 0.02
"""How long the event loop may block for the reader of the log, the first time that the pipe is full."""
LEFT_OUT = "%d lines are missing here, which nobody has read in time"

HEALTH_FILE = "health"
"""In DATA_DIR."""
STALE_AFTER_S = 60.0
"""An older file means that the bot is offline, hangs, or died without removing it."""


class Redacting(logging.Formatter):
    """The output of another formatter without secrets."""

    def __init__(self, inner: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redacted(self._inner.format(record), self._secrets)


class JsonLines(logging.Formatter):
    """One object per line: at, level, node, shard, logger, message, the fields of a turn, and a `traceback`.

    Secrets are removed before the text is encoded, because JSON changes those that contain quotation marks.
    """

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "node": NODE,
            **({} if SHARD.get() is None else {"shard": SHARD.get()}),
            "logger": record.name,
            "message": redacted(record.getMessage(), self._secrets),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = redacted(self.formatException(record.exc_info), self._secrets)
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """One line for people. It names node and shard if there are several.

    Messages may quote other programs, such as tool servers. So that these can neither forge a line nor control a
    terminal, line breaks and control characters are escaped.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(place)s%(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        shard = SHARD.get()
        record.place = "" if shard is None else f"{NODE} shard {shard} "
        return TERMINAL_SEQUENCES.sub(lambda order: ascii(order[0])[1:-1], super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        return super().formatMessage(record).replace("\n", "\\n")


class NonBlockingHandler(logging.StreamHandler[TextIO]):
    """Writes to standard error without blocking: a terminal stopped with Ctrl-S, or a log collector that hangs, would
    otherwise stop the bot. Lines that don't fit into the pipe are dropped, and their number is logged afterwards.
    """

    def __init__(self) -> None:
        super().__init__()
        self._left_out = 0
        self._is_cut = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write(record)
        except Exception:  # noqa: BLE001 - as in the library
            self.handleError(record)

    def _write(self, record: logging.LogRecord) -> None:
        left_out = self._left_out
        text = self.format(record) + self.terminator
        if left_out:
            said = logging.LogRecord(logger.name, logging.WARNING, "", 0, LEFT_OUT, (left_out,), None)
            text = f"{self.terminator * self._is_cut}{self.format(said)}{self.terminator}{text}"
        for start in range(0, len(text), PIECE):
            if not self._has_room(0.0 if left_out else ROOM_PATIENCE_S):
                self._left_out, self._is_cut = left_out + 1, self._is_cut or start > 0
                return
            self.stream.write(text[start : start + PIECE])
            self.flush()
        self._left_out, self._is_cut = 0, False

    def _has_room(self, patience_s: float) -> bool:
        try:
            return bool(select.select([], [self.stream.fileno()], [], patience_s)[1])
        except (OSError, ValueError):  # no file: a test's, or one that is closed
            return True


def set_up_logs(level: str, form: Literal["text", "json"], secrets: Sequence[str]) -> None:
    """Send the log to standard error, in this form only; `secrets` are removed from every line."""
    handler = NonBlockingHandler()
    handler.setFormatter(Redacting(JsonLines(secrets) if form == "json" else TextLines(), secrets))
    handler.setLevel(level)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name, least in LIBRARIES.items():
        logging.getLogger(name).setLevel(max(least, logging.getLogger().level))


class HealthFile:
    """The health file: written every `every_s` seconds while all is well; otherwise the state is checked again after
    `look_s`.
    """

    def __init__(self, folder: Path, *, every_s: float = 15.0, look_s: float = 1.0) -> None:
        self._path = folder / HEALTH_FILE
        self._every_s = every_s
        self._look_s = look_s

    async def keep(self, is_well: Callable[[], Awaitable[bool]]) -> None:
        """Keep the file until cancelled, then remove it."""
        was_well = False
        try:
            while True:
                well = await is_well() and await asyncio.to_thread(self._write)
                if was_well and not well:
                    logger.warning(
                        "%s is not refreshed: the bot is offline, or its storage does not answer", self._path
                    )
                was_well = well
                await asyncio.sleep(self._every_s if well else self._look_s)
        finally:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def _write(self) -> bool:
        """Write the whole file or nothing. False: the disk refuses."""
        told = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "pid": os.getpid()}
        fresh = self._path.with_name(f"{HEALTH_FILE}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(told) + "\n", encoding="utf-8")
            fresh.replace(self._path)
        except OSError:
            return False
        return True


def age_of(folder: Path) -> float | None:
    """Seconds since the file was written; None if there is none."""
    try:
        return time.time() - (folder / HEALTH_FILE).stat().st_mtime
    except OSError:
        return None

"""Logs on standard error: lines for people, or one JSON object a line for machines.

At INFO and above nothing is logged of what anybody wrote; at no level a key, a token or a password.
"""

import json
import logging
import os
import socket
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal

from bot.private import redacted

LIBRARIES = {"aiosqlite": logging.WARNING, "httpx": logging.WARNING, "httpx2": logging.WARNING}
"""Libraries that are louder than this program wants them to be, whatever LOG_LEVEL says."""


NODE = f"{socket.gethostname()}-{os.getpid()}"
"""This process among those that share a database."""

SHARD: ContextVar[int | None] = ContextVar("shard", default=None)
"""The shard on whose behalf the current task works, where there are several."""


class Redacting(logging.Formatter):
    """What another formatter makes of a record, without secrets."""

    def __init__(self, inner: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redacted(self._inner.format(record), self._secrets)


class JsonLines(logging.Formatter):
    """One object a line: at, level, node, shard, logger, message, the fields of a turn, and a `traceback`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "node": NODE,
            **({} if SHARD.get() is None else {"shard": SHARD.get()}),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """A line for people. It names node and shard where there are several."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(place)s%(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        shard = SHARD.get()
        record.place = "" if shard is None else f"{NODE} shard {shard} "
        return super().format(record)


def set_up_logs(level: str, form: Literal["text", "json"], secrets: Sequence[str] = ()) -> None:
    """Send the log to standard error, from now on and in this form only; `secrets` are taken out of every line."""
    handler = logging.StreamHandler()
    handler.setFormatter(Redacting(JsonLines() if form == "json" else TextLines(), secrets))
    handler.setLevel(level)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name, least in LIBRARIES.items():
        logging.getLogger(name).setLevel(max(least, logging.getLogger().level))

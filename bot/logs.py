"""Logs on standard error: lines for people, or one JSON object a line for machines.

At INFO and above nothing is logged of what anybody wrote; at no level a key, a token or a password.
"""

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from bot.private import redacted

LIBRARIES = {"aiosqlite": logging.WARNING, "httpx": logging.WARNING, "httpx2": logging.WARNING}
"""Libraries that are louder than this program wants them to be, whatever LOG_LEVEL says."""


class Redacting(logging.Formatter):
    """What another formatter makes of a record, without secrets."""

    def __init__(self, inner: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return redacted(self._inner.format(record), self._secrets)


class JsonLines(logging.Formatter):
    """One object a line: at, level, logger, message, the fields of a turn, and a `traceback`."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def set_up_logs(level: str, form: Literal["text", "json"], secrets: Sequence[str] = ()) -> None:
    """Send the log to standard error, from now on and in this form only; `secrets` are taken out of every line."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    handler.setFormatter(Redacting(JsonLines() if form == "json" else text, secrets))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name, least in LIBRARIES.items():
        logging.getLogger(name).setLevel(max(least, logging.getLogger().level))

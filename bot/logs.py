"""Logs on standard error: lines for people, or one JSON object a line for machines.

At INFO and above nothing is logged of what anybody wrote.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Literal

LIBRARIES = {"aiosqlite": logging.WARNING, "httpx": logging.WARNING, "httpx2": logging.WARNING}
"""Libraries that are louder than this program wants them to be, whatever LOG_LEVEL says."""


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


def set_up_logs(level: str, form: Literal["text", "json"]) -> None:
    """Send the log to standard error, from now on and in this form only."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if form == "json" else text)
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name, least in LIBRARIES.items():
        logging.getLogger(name).setLevel(max(least, logging.getLogger().level))

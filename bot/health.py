"""The health file: there and fresh while the bot is online and its storage answers, for whatever watches over it."""

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

logger = logging.getLogger(__name__)

NAME = "health"
"""In DATA_DIR."""

STALE_AFTER_S = 60.0
"""A file that is older tells of a bot that is offline, stuck, or gone without a farewell."""


class HealthFile:
    """Written every `every_s` seconds while all is well; where it is not, it is looked again after `look_s`."""

    def __init__(self, folder: Path, *, every_s: float = 15.0, look_s: float = 1.0) -> None:
        self._path = folder / NAME
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
        """All of it or nothing. False: the disk refuses."""
        told = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "pid": os.getpid()}
        fresh = self._path.with_name(f"{NAME}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(told) + "\n", encoding="utf-8")
            fresh.replace(self._path)
        except OSError:
            return False
        return True


def age_of(folder: Path) -> float | None:
    """Seconds since the file was written; None where there is none."""
    try:
        return time.time() - (folder / NAME).stat().st_mtime
    except OSError:
        return None

"""simcord's Discord in real time.

For tests simcord stops the clock: time goes on when a test says so, and whatever is done waits for the bot to rest. At
a page a person waits, and reads along while an answer is written; so here the clock is the real one, timers ring by
themselves, and what is done waits for the bot a moment only. These are inner parts of simcord, whose version is pinned.
"""

import time
from contextlib import suppress
from contextvars import Context
from datetime import UTC, datetime
from typing import Any

from discord import Client
from simcord import Env
from simcord._clock import Clock
from simcord.backend import Backend

MONOTONIC = time.monotonic
"""simcord puts its own in this place later."""


class RealClock(Clock):
    """`elapsed` counts from the same moment as the event loop's own clock."""

    def __init__(self) -> None:
        """Nothing has to be kept."""

    @property
    def elapsed(self) -> float:  # type: ignore[override]
        return MONOTONIC()

    def now(self) -> datetime:
        return datetime.now(UTC)


class RealTimeEnv(Env):
    """After what a person does, the bot is waited for `settle_timeout` seconds at the longest."""

    def __init__(self, bot: Client, *, settle_timeout: float) -> None:
        super().__init__(bot, check_errors=False, settle_timeout=settle_timeout)
        self.backend = Backend(clock=RealClock())

    async def _settle_internal(self, **options: Any) -> None:
        with suppress(TimeoutError):
            await super()._settle_internal(**options)

    def _schedule_timer(self, record: Any, callback: Any, args: tuple[Any, ...], context: Context | None) -> None:
        def ring() -> None:
            if record.handle is not None and not record.handle.cancelled():
                record.handle._run()  # noqa: SLF001 - as the loop does

        assert self._runtime is not None
        record.real_handle = self._runtime.call_at(record.when, ring, context=context)

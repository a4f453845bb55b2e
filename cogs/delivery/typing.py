"""Showing that something is being written, without ever standing in the way of it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from cogs.delivery.body import DeliveryError

logger = logging.getLogger(__name__)

REFRESH_S = 8.0
"""Discord shows it for ten seconds, and has no call to end it but a message."""


class Typing:
    """Shown from `start`, or entering, to `stop`, or leaving; in the background, and only as well as it works."""

    def __init__(
        self, show: Callable[[], Awaitable[None]], *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._show = show
        self._sleep = sleep
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._keep_showing(), name="typing")

    def stop(self) -> None:
        """At once; may be called any number of times."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = self._task
        self.stop()
        if task is not None:
            with suppress(asyncio.CancelledError):
                await task

    async def _keep_showing(self) -> None:
        while True:
            try:
                await self._show()
            except DeliveryError as fault:
                logger.debug("typing is not shown: %s", fault)
            await self._sleep(REFRESH_S)

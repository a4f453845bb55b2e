"""A task that notices when the event loop is held up."""

import asyncio
import time
from types import TracebackType
from typing import Self

INTERVAL_S = 0.005


class Heartbeat:
    """Beats every 5 ms while it is entered; `gaps_ms` are the delays beyond that.

    `busy_ms` is the processor time the loop's thread spent between two beats: what our own code is to blame for on a
    machine that is busy with other things.
    """

    def __init__(self) -> None:
        self.gaps_ms: list[float] = []
        self.busy_ms: list[float] = []

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._beat())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    @property
    def worst_ms(self) -> float:
        return max(self.gaps_ms, default=0.0)

    async def _beat(self) -> None:
        while True:
            started, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(INTERVAL_S)
            self.gaps_ms.append((time.perf_counter() - started - INTERVAL_S) * 1000)
            self.busy_ms.append((time.thread_time() - worked) * 1000)

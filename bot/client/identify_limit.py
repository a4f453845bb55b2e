"""How often new sessions are asked of Discord's gateway: a bot that needs over a thousand a day loses its token."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from bot.logs import NODE
from domain.ports import LeaseRepository

AN_HOUR_S = 3600.0
AN_HOUR_AT_MOST = 40
"""Forty an hour are 960 a day."""


class IdentifyLimit:
    """The session starts of the last hour."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._starts: deque[float] = deque(maxlen=AN_HOUR_AT_MOST)

    def count(self) -> None:
        """Another one."""
        self._starts.append(self._now())

    def wait(self) -> float:
        """Seconds until there may be another one."""
        if len(self._starts) < AN_HOUR_AT_MOST:
            return 0.0
        return max(0.0, self._starts[0] + AN_HOUR_S - self._now())


ASK_AGAIN_S = 0.25
IDENTIFY_S = 5.5
"""Discord lets one shard of each of its buckets ask for a new session in five seconds."""


async def wait_to_identify(leases: LeaseRepository, shard: int, buckets: int) -> None:
    """Return when this shard may ask for a new session; the nodes take turns."""
    name, holder = f"identify/{shard % buckets}", f"{NODE} shard {shard}"
    while True:
        if await leases.acquire(name, holder, IDENTIFY_S):
            return
        await asyncio.sleep(ASK_AGAIN_S)

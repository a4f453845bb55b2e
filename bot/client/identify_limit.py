"""How often new sessions are asked of Discord's gateway: a bot that needs over a thousand a day loses its token."""

import time
from collections import deque
from collections.abc import Callable

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

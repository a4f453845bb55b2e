"""What both SDKs need of the wire: a client made late, and an end to patience."""

import asyncio
import email.utils
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    import httpx2

CONNECT_TIMEOUT: Final = 5.0
"""Seconds to reach the service at all."""

LONGEST_WAIT: Final = 20.0
"""Seconds a request is held back at the service's wish; a longer wait is for the reader to decide on."""

LONGEST_ADVICE: Final = 24 * 3600.0
"""Seconds; nobody is told to come back later than tomorrow."""


class Closable(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class LateClient(Generic[C]):
    """An SDK's client, made at the first request and in a thread: importing an SDK takes more than a second.

    Connections belong to the event loop they were opened in. Where another one runs, as in a script that calls
    asyncio.run more than once, they are gone with theirs, and new ones are opened.
    """

    def __init__(self, build: Callable[[], C]) -> None:
        self._build = build
        self._client: C | None = None
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def get(self) -> C:
        self._settle_in()
        if self._client is not None:
            return self._client
        async with self._lock:
            if self._client is None:
                self._client = await asyncio.to_thread(self._build)
            return self._client

    async def close(self) -> None:
        """Close the connections; the next request would open new ones."""
        self._settle_in()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _settle_in(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._client, self._lock = loop, None, asyncio.Lock()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that a service asks for, in any of the three ways it can be written."""
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    written = headers.get("retry-after", "")
    if (seconds := _number(written)) is not None:
        return seconds
    date = email.utils.parsedate_tz(written)
    return _bounded(email.utils.mktime_tz(date) - time.time()) if date else None


def _number(written: str | None) -> float | None:
    try:
        number = float(written or "")
    except ValueError:
        return None
    return None if math.isnan(number) else _bounded(number)


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_ADVICE)


async def refuse_long_waits(response: "httpx2.Response") -> None:
    """A response hook: tells the SDK not to sleep through a wait longer than LONGEST_WAIT, but to raise."""
    if (retry_after(response.headers) or 0.0) > LONGEST_WAIT:
        response.headers["x-should-retry"] = "false"


def never_connected(error: BaseException) -> bool:
    """Whether an SDK's timeout was one of connecting: that is a line that cannot be had, not a slow model."""
    import httpx2

    return isinstance(error, httpx2.ConnectTimeout) or isinstance(error.__cause__, httpx2.ConnectTimeout)

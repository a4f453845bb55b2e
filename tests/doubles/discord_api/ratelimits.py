"""Rate limits as Discord keeps them: fixed windows per bucket and major parameter, told in headers."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """`limit` requests within `seconds` of the first."""

    limit: int
    seconds: float


MESSAGES = Window(5, 5.0)
"""Creating and, in a bucket of its own, editing messages of one channel; widely observed, not documented."""

RENAMES = Window(2, 600.0)
"""Names of one channel or thread: a hidden limit beneath the bucket's own."""

OTHERS = Window(50, 5.0)
GLOBAL = Window(50, 1.0)


@dataclass(slots=True)
class _Count:
    used: int
    resets_at: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a request; `retry_after` is None for one that may pass."""

    headers: dict[str, str]
    retry_after: float | None = None
    is_global: bool = False


class RateLimits:
    """Counts requests. `windows` may be replaced or widened by a test before the bot starts."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._counts: dict[tuple[str, str], _Count] = {}
        self.windows: dict[str, Window] = {
            "POST /channels/{channel}/messages": MESSAGES,
            "PATCH /channels/{channel}/messages/{message}": MESSAGES,
            "POST /webhooks/{app}/{token}": MESSAGES,
            "PATCH /webhooks/{app}/{token}/messages/{message}": MESSAGES,
            "rename": RENAMES,
            "global": GLOBAL,
        }

    def shorten(self, factor: float) -> None:
        """Let the windows of messages end sooner, with as many requests in each as before."""
        for bucket in (each for each in self.windows if each.startswith(("POST", "PATCH"))):
            self.windows[bucket] = Window(self.windows[bucket].limit, self.windows[bucket].seconds * factor)

    def take(self, bucket: str, major: str, *, counts_globally: bool) -> Verdict:
        """Count one request against its bucket and the bot's global limit."""
        if counts_globally and (wait := self._spend("global", "")) is not None:
            return Verdict({"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}, wait, is_global=True)
        wait = self._spend(bucket, major)
        return Verdict(self._headers(bucket, major), wait)

    def take_rename(self, channel: str) -> float | None:
        """Seconds to wait before this channel may be renamed, or None."""
        return self._spend("rename", channel)

    def _spend(self, bucket: str, major: str) -> float | None:
        window, now = self.windows.get(bucket, OTHERS), self._now()
        count = self._counts.get((bucket, major))
        if count is None or count.resets_at <= now:
            count = self._counts[bucket, major] = _Count(0, now + window.seconds)
        if count.used >= window.limit:
            return count.resets_at - now
        count.used += 1
        return None

    def _headers(self, bucket: str, major: str) -> dict[str, str]:
        window, count = self.windows.get(bucket, OTHERS), self._counts[bucket, major]
        left = max(0.0, count.resets_at - self._now())
        return {
            "X-RateLimit-Limit": str(window.limit),
            "X-RateLimit-Remaining": str(window.limit - count.used),
            "X-RateLimit-Reset": f"{count.resets_at:.3f}",
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": hashlib.md5(bucket.encode(), usedforsecurity=False).hexdigest(),
        }

"""How often a channel may be written to."""

from collections import deque

EDITS = SENDS = 5
WINDOW_S = 5.0
"""Discord lets a bot send, and separately edit, five messages in five seconds per channel. Widely observed, documented
nowhere; discord.py reads the true numbers from headers and waits beyond what is kept here."""

DRAFT_EVERY_S = 1.25
"""Four edits in five seconds: one is always left for the final text."""


class Pace:
    """Keeps the count for one channel. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._edits: deque[float] = deque(maxlen=EDITS)
        self._sends: deque[float] = deque(maxlen=SENDS)
        self._last_draft = float("-inf")

    def until_draft(self, now: float) -> float:
        """Seconds until a draft may be shown again."""
        spent = [at for at in self._edits if at > now - WINDOW_S]
        reserve = spent[0] + WINDOW_S - now if len(spent) >= EDITS - 1 else 0.0
        return max(0.0, self._last_draft + DRAFT_EVERY_S - now, reserve)

    def until_edit(self, now: float) -> float:
        """Seconds until an edit that cannot be left out would not have to wait at Discord."""
        return _until_free(self._edits, now)

    def until_send(self, now: float) -> float:
        return _until_free(self._sends, now)

    def edited(self, now: float, *, draft: bool) -> None:
        self._edits.append(now)
        if draft:
            self._last_draft = now

    def sent(self, now: float, *, draft: bool) -> None:
        self._sends.append(now)
        if draft:
            self._last_draft = now


def _until_free(times: "deque[float]", now: float) -> float:
    full = len(times) == times.maxlen
    return max(0.0, times[0] + WINDOW_S - now) if full else 0.0

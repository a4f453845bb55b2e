"""Leases: which of several processes may do a thing now, and what stops one that may not any more."""

import time
from contextvars import ContextVar
from dataclasses import dataclass

MARGIN_S = 3.0
"""By how much a holder gives a lease up before others may take it: clocks differ in speed, and a request takes time."""


@dataclass(slots=True)
class HeldLease:
    """A lease that this process holds. `epoch` grows whenever the holder changes, so an old holder is told from a new.

    `valid_until` is a moment of time.monotonic(): until then nobody else can have taken it, whatever the database is
    doing. It moves with each renewal.
    """

    name: str
    holder: str
    epoch: int
    valid_until: float

    def is_held(self) -> bool:
        """False after a pause or an outage in which somebody else may have taken it."""
        return time.monotonic() < self.valid_until


CURRENT_LEASE: ContextVar[HeldLease | None] = ContextVar("current_lease", default=None)
"""The lease under which the current task works; None where there is one process. What it begins inherits it."""

ANSWERING: ContextVar[bool] = ContextVar("answering", default=False)
"""Whether the current task shows answers, which only the holder of the lease may do."""

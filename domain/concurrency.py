"""Concurrency: leases between processes, work that a cancellation must not interrupt, and work for another thread.

A lease says which of several processes may do something now. A process that was paused or cut off notices by the clock
that it has lost its lease.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Shard: TypeAlias = tuple[int, int]
"""The number of a shard, and how many there are. A shard receives the events of the servers for which
`(id >> 22) % count` is its number; shard 0 also receives direct messages.
"""
ALL: Shard = (0, 1)
"""The only shard, which receives everything."""

NODES = "node/"
"""How the names of leases begin that say which nodes are running."""

MARGIN_S = 3.0
"""A holder gives up a lease this long before others may take it: clocks differ in speed, and
requests take time.
"""

LOOK_S = 0.1


@dataclass(slots=True)
class HeldLease:
    """A lease that this process holds.

    `epoch` grows whenever the holder changes, so that an old holder can be told from a new one. `valid_until` is a
    moment of time.monotonic() before which nobody else can take the lease, even if the database fails. Each renewal
    moves it. `note` is a text for the next holder; at first it is the one of the last holder. It is stored with each
    renewal, so that it is there even if the holder is killed. `clock_began` is the time by the database's clock, in
    seconds, when time.monotonic() was 0.
    """

    name: str
    holder: str
    epoch: int
    valid_until: float
    note: str = ""
    clock_began: float = 0.0

    def now(self) -> float:
        """The time by the database's clock, which is the same for all holders, in seconds."""
        return self.clock_began + time.monotonic()

    def is_held(self) -> bool:
        """False after a pause or an outage in which somebody else may have taken the lease."""
        return time.monotonic() < self.valid_until

    async def until_held(self, patience_s: float) -> None:
        """Wait until it is held, but for `patience_s` seconds at most."""
        for _ in range(round(patience_s / LOOK_S)):
            if self.is_held():
                return
            await asyncio.sleep(LOOK_S)


CURRENT_LEASE: ContextVar[HeldLease | None] = ContextVar("current_lease", default=None)
"""The lease under which the current task works; None if there is only one process. Tasks it starts inherit it."""


def is_lease_lost(within_s: float = 0.0) -> bool:
    """Whether another process may have taken over from this one by now, or may do so within `within_s` seconds."""
    lease = CURRENT_LEASE.get()
    return lease is not None and time.monotonic() + within_s >= lease.valid_until


ANSWERING: ContextVar[bool] = ContextVar("answering", default=False)
"""Whether the current task posts answers, which only the holder of the lease may do."""


Result = TypeVar("Result")

LONG_ANSWER = 8_000
"""Characters. An answer of this length is searched or rendered in a few milliseconds."""


async def to_the_end(work: Awaitable[Result]) -> Result:
    """Await work to its end and return its result, or raise its error.

    A cancellation meanwhile is not lost: after a result it is raised at the next `await` of the same task, and it
    takes precedence over an error.
    """
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled and not task.cancelled():
        if task.exception() is not None:
            raise asyncio.CancelledError
        _cancel_again()
    return task.result()


async def in_thread_if_long(text: str, most: int, work: Callable[[], Result]) -> Result:
    """The result of work on a text: in a thread if the text has more than `most` characters, otherwise at once."""
    return work() if len(text) <= most else await asyncio.to_thread(work)


def _cancel_again() -> None:
    """Cancel the current task again, without counting the request twice."""
    current = asyncio.current_task()
    assert current is not None
    current.uncancel()
    current.cancel()

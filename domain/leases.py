"""Leases: which of several processes may do something now, and what stops a process that has lost its lease."""

import time
from collections.abc import Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Shard: TypeAlias = tuple[int, int]
"""The number of a shard, and how many there are. Discord tells it about the servers whose id, shifted by 22 bits, is
its number modulo theirs; the first one is also told about direct messages.
"""
ALL: Shard = (0, 1)

MARGIN_S = 3.0
"""A holder gives up a lease this long before others may take it: clocks differ in speed, and
requests take time.
"""


@dataclass(slots=True)
class HeldLease:
    """A lease that this process holds.

    `epoch` grows whenever the holder changes, so that an old holder can be told from a new one. `valid_until` is a
    moment of time.monotonic() before which nobody else can take the lease, even if the database fails. Each renewal
    moves it. `note` is what the holder tells the next one: at first it is what the last holder has told. It is stored
    with each renewal, so that it is known even if the holder is killed.
    """

    name: str
    holder: str
    epoch: int
    valid_until: float
    note: str = ""

    def is_held(self) -> bool:
        """False after a pause or an outage in which somebody else may have taken the lease."""
        return time.monotonic() < self.valid_until


CURRENT_LEASE: ContextVar[HeldLease | None] = ContextVar("current_lease", default=None)
"""The lease under which the current task works; None if there is only one process. Tasks it starts inherit it."""

ANSWERING: ContextVar[bool] = ContextVar("answering", default=False)
"""Whether the current task posts answers, which only the holder of the lease may do."""


class LeaseRepository(Protocol):
    """Leases, each with one holder at a time, timed by the clock of the database.

    Raises (all methods):
        StorageError.
    """

    async def acquire(self, name: str, holder: str, seconds: float) -> HeldLease | None:
        """Take a free lease, with the note of its last holder. None: it is held, possibly by the same holder."""
        ...

    async def renew(
        self, holder: str, seconds: float, notes: Mapping[str, str] | None = None
    ) -> Collection[tuple[str, int]]:
        """Renew everything this holder still holds; returns the name and epoch of each lease.

        `notes` are the notes of some of the leases, by their names. They replace the stored ones.
        """
        ...

    async def release(self, lease: HeldLease) -> None:
        """Give a lease back, with its note; one that somebody else holds by now is left alone."""
        ...

    async def list_held(self, prefix: str) -> Collection[str]:
        """The names with that beginning that are held now."""
        ...

    async def get_note(self, name: str) -> str:
        """The note under a name; empty if there is none."""
        ...

    async def set_note(self, name: str, note: str, under: HeldLease | None = None) -> None:
        """Write a note; not if it is written `under` a lease that somebody else holds by now."""
        ...

    async def clear(self, prefix: str) -> None:
        """Delete all with names of that beginning that nobody has held for an hour: leases and notes."""
        ...

"""The port to leases that several processes share."""

from collections.abc import Collection
from typing import Protocol

from domain.leases import HeldLease


class LeaseRepository(Protocol):
    """Leases, each with one holder at a time, by the clock of the database.

    Raises (all methods): StorageError.
    """

    async def acquire(self, name: str, holder: str, seconds: float) -> HeldLease | None:
        """Take a lease that nobody holds. None: somebody does, the same holder included."""
        ...

    async def renew(self, holder: str, seconds: float) -> Collection[tuple[str, int]]:
        """Hold on to all that this holder still has; the name and the epoch of each."""
        ...

    async def release(self, lease: HeldLease) -> None:
        """Give a lease back; one that somebody else holds by now is left alone."""
        ...

    async def list_held(self, prefix: str) -> Collection[str]:
        """The names with that beginning that somebody holds now."""
        ...

    async def get_note(self, name: str) -> str:
        """What was noted under a name; empty where nothing was."""
        ...

    async def set_note(self, name: str, note: str) -> None: ...

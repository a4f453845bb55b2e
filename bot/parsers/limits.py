"""How much a reader may take and make before it gives up."""

from collections.abc import Callable
from dataclasses import dataclass

MIB = 2**20

Report = Callable[[float], None]
"""Told the share 0..1 of a file that has been read."""


def unheard(_share: float) -> None:
    """The report nobody listens to."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Bounds on one file. War and Peace is 3.2 million characters, the longest novels about three times that.

    `max_unpacked_bytes` is what the texts of an archive may add up to once unpacked; pictures are never unpacked.
    """

    max_characters: int = 20_000_000
    max_unpacked_bytes: int = 256 * MIB


DEFAULT_LIMITS = ReadingLimits()

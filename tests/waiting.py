"""Waiting for what nobody tells of: it is looked up again and again until it is so."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE_S = 90.0
"""Far more than anything here takes, also on a busy machine."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.005, 0.05

T = TypeVar("T")


async def eventually(look: Callable[[], Awaitable[T]], is_so: Callable[[T], object] = bool) -> T:
    """Look until what is found is so, and return it.

    Raises:
        AssertionError: it is not, after much patience; says what was found last.
    """
    pause = FIRST_PAUSE_S
    deadline = asyncio.get_running_loop().time() + PATIENCE_S
    while not is_so(found := await look()):
        assert asyncio.get_running_loop().time() < deadline, f"not so within {PATIENCE_S:.0f} s; found last: {found!r}"
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE_S)
    return found

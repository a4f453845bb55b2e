"""Work that a cancellation must not cut in two."""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")


async def to_the_end(work: Awaitable[Result]) -> Result:
    """Await work to its end. A cancellation meanwhile comes too late; `heed_cancellation` raises it afterwards."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({task})
    return task.result()


def heed_cancellation() -> None:
    """
    Raises:
        asyncio.CancelledError: somebody has asked for this task's end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError

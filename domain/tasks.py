"""Helpers for asyncio: work that a cancellation must not interrupt, and work that must not block the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

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

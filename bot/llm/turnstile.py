"""Letting work through piece by piece, so that many conversations starting at once do not hold up the event loop."""

import asyncio


class Turnstile:
    """Lets one task pass in each round of the event loop.

    Building a request takes some milliseconds without a pause, and so does reading what has come of a reply. When two
    hundred readers write in the same moment, the loop would do two hundred of that before it looked at anything else;
    behind a turnstile, heartbeats, edits and other people's answers come in between.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def __call__(self) -> None:
        """Wait for this task's turn. What it does before its next await is done alone in its round."""
        async with self._lock:
            await asyncio.sleep(0)

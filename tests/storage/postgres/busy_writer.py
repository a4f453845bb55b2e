"""A process that holds turns in the conversation `tea`. Its arguments: a database's URL, a name, how many."""

import asyncio
import sys

from storage.opening import open_storage
from tests.storage.values import hold_turn


async def _write(url: str, name: str, turns: int) -> None:
    async with await open_storage(url) as storage:
        for number in range(turns):
            await hold_turn(storage, f"{name}-{number}", external_id=None)


asyncio.run(_write(sys.argv[1], sys.argv[2], int(sys.argv[3])))

"""Our own time between a reader's message and the request to the model: keep it, find the bound, write the prompt.

    python -m benchmarks.overhead [--messages 100]

Only the first request of every answer counts. The way of a bare request of the same length to the same server is
measured as well, and its median taken off.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from statistics import median

import aiohttp

from benchmarks.model import ask, conversations, double, program
from benchmarks.table import print_memory, print_table, summary

WARMING = 10
BODY = b"x" * 20_000
"""The length of a request in the middle of a conversation."""

Act = Callable[[], Awaitable[object]]


async def measure(messages: int) -> None:
    async with double("benchmarks.arrivals") as url, aiohttp.ClientSession(url) as session, program(url) as app:
        long, *fresh = await conversations(app, messages + 1)
        for _ in range(WARMING):
            await ask(app, long)
            await _post(session)
        way = await _milliseconds(session, [partial(_post, session)] * messages)
        first = await _milliseconds(session, [partial(ask, app, talk) for talk in fresh])
        later = await _milliseconds(session, [partial(ask, app, long)] * messages)
    rows = [["a bare request", *summary(way)]]
    for name, taken in (("the first message", first), (f"message {WARMING + 1} to {WARMING + messages}", later)):
        rows.append([name, *summary([each - median(way) for each in taken])])
    print_table(("", "median ms", "p95 ms"), rows)
    print_memory()


async def _milliseconds(session: aiohttp.ClientSession, acts: Iterable[Act]) -> list[float]:
    """From the start of each act to the arrival of its first request."""
    await _arrivals(session)
    taken = []
    for act in acts:
        started = time.monotonic()
        await act()
        taken.append(((await _arrivals(session))[0] - started) * 1000)
    return taken


async def _arrivals(session: aiohttp.ClientSession) -> list[float]:
    """The moments of the requests since this was asked last."""
    async with session.get("/arrivals") as response:
        moments: list[float] = await response.json()
    return moments


async def _post(session: aiohttp.ClientSession) -> None:
    async with session.post("/bare", data=BODY) as response:
        await response.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100)
    asyncio.run(measure(parser.parse_args().messages))


if __name__ == "__main__":
    main()

"""Choices of conversations while people type, on a server with many conversations.

    python -m benchmarks.choices [--conversations 20000] [--askers 20] [--rounds 10]

One person types while the others do, each another word or nothing yet; ten of the newest conversations are in private
threads, in which Discord has to be asked who is there. The bot, its database and the double of Discord share a process.
"""

import argparse
import asyncio
import random
import tempfile
import time
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path

from benchmarks.table import print_table, summary
from storage.sql.rows import time_to_text
from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import Actor, DiscordDouble
from tests.doubles.discord_api.pointing import pointed_at

PRIVATE = 10
WORDS = ("", "lamp", "the keeper", "title 17", "marta 1999", "dark", "ä")
BATCH = 5_000
_INSERT = "INSERT INTO conversations (id, book_id, title, created_at, owner_id, guild_id, channel_id) VALUES"


async def measure(conversations: int, askers: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with DiscordDouble() as double:
            with pointed_at(double):
                async with scene(double, Path(folder)) as room:
                    await room.prepare()
                    await _furnish(room, conversations)
                    times, asked = await _type(room, askers, rounds)
    names = ["", "median", "p95", "worst"]
    mine, everybody = [took[0] for took in times], [each for took in times for each in took]
    rows = [
        [f"one person, while {askers} others ask, ms", *_figures(mine)],
        ["everybody, ms", *_figures(everybody)],
    ]
    print(f"{conversations} conversations, {rounds} rounds")
    print_table(names, rows)
    print(f"Discord was asked {asked} times who is in a private thread: {asked / (askers + 1):.1f} for each person")


async def _type(room: Scene, askers: int, rounds: int) -> tuple[list[list[float]], int]:
    """Milliseconds of each person in each round, and how often Discord was asked who is in a thread."""
    double, book = room.double, (await room.book()).id
    people = [double.user(f"asker-{number}") for number in range(askers + 1)]
    before, times = len(_memberships(double)), []
    for number in range(rounds):
        times.append(await asyncio.gather(*(_ask(each, number + place, book) for place, each in enumerate(people))))
    return times, len(_memberships(double)) - before


async def _furnish(room: Scene, conversations: int) -> None:
    book, guild, drawn = await room.book(), str(room.double.guild.id), random.Random(7)
    begun = room.app.clock() - timedelta(days=400)
    rows = [
        (
            f"{number:032x}",
            book.id,
            f"Title {number} of the {drawn.choice(('keeper', 'lamp', 'sea'))}, Marta {drawn.randrange(1_000, 3_000)}",
            time_to_text(begun + timedelta(minutes=number)),
            str(drawn.randrange(10**17, 10**18)),
            guild,
            str(room.double.channel.id),
        )
        for number in range(conversations)
    ]
    marks = "(?, ?, ?, ?, ?, ?, ?)"
    for start in range(0, len(rows), BATCH):
        await room.app.storage.engine.atomically(
            lambda transaction, start=start: transaction.run_many(  # type: ignore[misc]
                f"{_INSERT} {marks}", rows[start : start + BATCH]
            ),
            timeout_s=60,
        )
    for number in range(PRIVATE):
        await room.chat(book, title=f"Private {number}", private=True)


async def _ask(person: Actor, number: int, book: str) -> float:
    started = time.perf_counter()
    await person.autocomplete("chat", "conversation", WORDS[number % len(WORDS)], book=book)
    return (time.perf_counter() - started) * 1000


def _memberships(double: DiscordDouble) -> list[object]:
    """The questions to Discord who is in a thread, without those it answered "not now"."""
    asked = [call for call in double.rest_log if call.route == "GET /channels/{channel}/thread-members/{user}"]
    return [call for call in asked if call.status != HTTPStatus.TOO_MANY_REQUESTS]


def _figures(values: list[float]) -> list[str]:
    return [*summary(values), f"{max(values):,.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=20_000)
    parser.add_argument("--askers", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    asyncio.run(measure(options.conversations, options.askers, options.rounds))


if __name__ == "__main__":
    main()

"""Choices while people type, on a server with many conversations, a full shelf and a long book.

    python -m benchmarks.choices [--conversations 20000] [--askers 20] [--rounds 10] [--database URL]

One person types while the others do, each another word or nothing yet; ten of the newest conversations are in private
threads, in which Discord has to be asked who is there. For names, each person is at a place of their own in the book.
The bot, its database and the double of Discord share a process; with --database, it is an empty PostgreSQL elsewhere.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

from benchmarks.table import print_table, summary
from bot.app import SAMPLE
from bot.cli.run import warm_up
from domain.book import Book, PositionState, ReadingPosition
from storage.sql.rows import time_to_text
from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import Actor, DiscordDouble
from tests.doubles.discord_api.pointing import pointed_at

PRIVATE = 10
BOOKS = 300
LONG = 20
"""How often the sample novel is repeated: more than a million characters."""
WORDS = ("", "lamp", "the keeper", "title 17", "marta 1999", "dark", "ä", "%", "keeper sea", "zq", "x" * 100)
FIRST_LETTER_S = 0.5
"""The time to type it."""
LETTERS = ("", "m", "ma", "mar", "zq")
BATCH = 5_000
_INSERT = "INSERT INTO conversations (id, book_id, title, created_at, owner_id, guild_id, channel_id) VALUES"


Type = Callable[[Actor, int], Awaitable[object]]
"""One person types something in a round."""


async def measure(conversations: int, askers: int, rounds: int, database: str) -> None:
    settings: dict[str, Any] = {"database_url": database} if database else {}
    with tempfile.TemporaryDirectory() as folder:
        async with DiscordDouble() as double:
            with pointed_at(double):
                async with scene(double, Path(folder), **settings) as room:
                    await room.prepare()
                    await _furnish(room, conversations)
                    await warm_up(room.model)
                    people = [double.user(f"asker-{number}") for number in range(askers + 1)]
                    times = await _all_type(people, rounds, await _in_conversations(room))
                    asked = len(_memberships(double))
                    others = {
                        name: await _all_type(people, rounds, kind)
                        for name, kind in (await _elsewhere(room, people)).items()
                    }
    mine, everybody = [took[0] for took in times], [each for took in times for each in took]
    rows = [
        [f"one person, while {askers} others ask, ms", *_figures(mine)],
        ["everybody, ms", *_figures(everybody)],
    ]
    rows += [[name, *_figures([each for took in taken for each in took])] for name, taken in others.items()]
    print(f"{conversations} conversations, {rounds} rounds")
    print_table(["", "median", "p95", "worst"], rows)
    print(f"Discord was asked {asked} times who is in a private thread: {asked / (askers + 1):.1f} for each person")


async def _all_type(people: Sequence[Actor], rounds: int, kind: Type) -> list[list[float]]:
    """Milliseconds of each person in each round."""

    async def timed(person: Actor, number: int) -> float:
        started = time.perf_counter()
        await kind(person, number)
        return (time.perf_counter() - started) * 1000

    return [
        await asyncio.gather(*(timed(each, number + place) for place, each in enumerate(people)))
        for number in range(rounds)
    ]


async def _in_conversations(room: Scene) -> Type:
    book = (await room.book()).id
    await room.ann.autocomplete("chat", "conversation", "", book=book)  # as Discord asks when the option is chosen
    await asyncio.sleep(FIRST_LETTER_S)
    return lambda person, number: person.autocomplete("chat", "conversation", WORDS[number % len(WORDS)], book=book)


async def _elsewhere(room: Scene, people: Sequence[Actor]) -> dict[str, Type]:
    long = await _long_book(room)
    for place, person in enumerate(people):
        position = ReadingPosition(PositionState.READING, long.length * (place + 1) // len(people))
        await room.app.storage.readers.set_position(str(person.id), long.id, position)

    def typing(command: str, option: str, **others: Any) -> Type:
        return lambda person, number: person.autocomplete(command, option, LETTERS[number % len(LETTERS)], **others)

    return {
        f"books, of {BOOKS}, everybody, ms": typing("chat", "book"),
        "chapters, everybody, ms": typing("progress", "chapter", book=long.id),
        f"names in {long.length:,} characters, everybody, ms": typing("who", "name", book=long.id),
    }


async def _long_book(room: Scene) -> Book:
    shelf, books = str(room.double.guild.id), room.app.storage.books
    long = (await room.app.shelf.add(SAMPLE.read_bytes() * LONG, SAMPLE.name, shelf=shelf)).book
    for number in range(BOOKS - 1):
        await books.save(replace(long, id=f"{number:032x}", sha256=f"{number:064x}", title=f"Marta's book {number}"))
    return long


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
    parser.add_argument("--database", default="", metavar="URL")
    options = parser.parse_args()
    asyncio.run(measure(options.conversations, options.askers, options.rounds, options.database))


if __name__ == "__main__":
    main()

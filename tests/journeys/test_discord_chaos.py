"""The bot is killed again and again, at any moment, while people write: every message has exactly one answer."""

import asyncio
import random
import sqlite3
from pathlib import Path

import pytest

from tests.doubles.discord_api import Channel, DiscordDouble, Interaction
from tests.doubles.script import Handler
from tests.journeys.discord_process import BotProcess
from tests.journeys.marked_questions import leftovers, marks_in, opened, reply_to, said_twice_or_never

ROUNDS, SEED = 3, 7

pytestmark = pytest.mark.usefixtures("quick_posting")


@pytest.fixture
def handler() -> Handler:
    return reply_to


def damage(folder: Path) -> list[str]:
    database = sqlite3.connect(folder / "data" / "marginalia.db")
    try:
        found = [row[0] for row in database.execute("PRAGMA integrity_check")]
        return [line for line in found if line != "ok"] + [
            str(row) for row in database.execute("PRAGMA foreign_key_check")
        ]
    finally:
        database.close()


def bound_questions(folder: Path) -> list[str]:
    """The marks of all questions that are kept in conversations with a thread."""
    database = sqlite3.connect(folder / "data" / "marginalia.db")
    try:
        kept = database.execute(
            "SELECT content FROM chat_messages JOIN conversations ON conversations.id = conversation_id "
            "WHERE role = 'user' AND thread_id IS NOT NULL"
        )
        return marks_in([row[0] for row in kept])
    finally:
        database.close()


async def test_killed_at_any_moment(bot: BotProcess, discord: DiscordDouble, tmp_path: Path) -> None:
    await chaos(bot, discord, tmp_path, ROUNDS, SEED)


async def chaos(bot: BotProcess, discord: DiscordDouble, folder: Path, rounds: int, seed: int) -> None:
    chance, ann = random.Random(seed), discord.user("ann")
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    threads = await opened(discord)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    asked: dict[str, Channel] = {}
    opening: list[asyncio.Task[Interaction]] = []

    def open_another(number: int) -> None:
        """Ask with /chat, in a thread of its own; the bot may not live to open it."""
        asking = ann.slash("chat", book=book["value"], title=f"Own {number}", message=f"What about Q{900 + number}?")
        opening.append(asyncio.create_task(asking))

    async def write(count: int, pause: float) -> None:
        for _ in range(count):
            mark = f"Q{len(asked) + 1}"
            asked[mark] = chance.choice(threads)
            await ann.say(asked[mark], f"What about {mark}?")
            await asyncio.sleep(chance.random() * pause)

    for number in range(rounds):
        await write(chance.randint(2, 8), 0.15)
        open_another(number)
        await asyncio.sleep(chance.random() * 0.7)
        await bot.kill()
        assert damage(folder) == []
        await write(chance.randint(0, 3), 0.0)
        if number == 0:
            await ann.archive(threads[-1])
        await bot.start()
    await write(3, 0.1)
    await asyncio.gather(*opening, return_exceptions=True)
    asked |= dict.fromkeys(bound_questions(folder), threads[0])
    try:
        await discord.until(lambda: not said_twice_or_never(discord, asked) and not leftovers(discord))
    except AssertionError:
        assert (said_twice_or_never(discord, asked), leftovers(discord)) == ({}, []), discord.transcript()
    await asyncio.sleep(0.5)
    assert (said_twice_or_never(discord, asked), leftovers(discord)) == ({}, [])
    assert await bot.stop() == 0
    assert discord.violations == []

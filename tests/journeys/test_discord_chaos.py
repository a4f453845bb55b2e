"""The bot is killed again and again, at any moment, while people write: every message has exactly one answer."""

import asyncio
import random
import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import Channel, DiscordDouble, Interaction, Message, MessageType
from tests.doubles.discord_api.ratelimits import Window
from tests.doubles.script import Call, Json, Reply, Text
from tests.journeys.discord_process import BotProcess, bot_process
from tests.journeys.test_discord import TALE

THREADS, ROUNDS, SEED = 4, 3, 7
MARK = re.compile(r"Q\d+")
BUSY = ("Stop", "Retry")


def marks_in(value: object) -> list[str]:
    return list(dict.fromkeys(MARK.findall(str(value))))


def reply_to(body: Json) -> Reply:
    """Names the questions it answers; looks something up before, for every second of them."""
    asked, looked_up = unanswered(body)
    if body.get("tools") and not looked_up and int(asked[0][1:]) % 2:
        return Reply((Text("Let me look."), Call("search_book", {"query": " ".join(asked)})), pace=0.01)
    words = f"This answers {' and '.join(asked)} in so many words"
    return Reply(tuple(Text(f"{word} ") for word in words.split()), pace=0.01)


def unanswered(body: Json) -> tuple[list[str], bool]:
    """The questions since the last answer, and whether something was looked up for them."""
    asked: list[str] = []
    looked_up = False
    for message in body["messages"]:
        if message["role"] == "user":
            asked += marks_in(_words(message["content"]))
            continue
        looked_up = "tool_use" in str(message["content"])
        asked = asked if looked_up else []
    return asked, looked_up


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return " ".join(str(block.get("text", "")) for block in content if block["type"] == "text")


@pytest.fixture
async def discord() -> AsyncIterator[DiscordDouble]:
    async with DiscordDouble() as double:
        for route in ("PATCH /channels/{channel}/messages/{message}", "POST /channels/{channel}/messages"):
            double.rest.limits.windows[route] = Window(50, 1.0)
        yield double


@pytest.fixture
async def model() -> AsyncIterator[AnthropicDouble]:
    async with AnthropicDouble(reply_to) as double:
        yield double


@pytest.fixture
async def bot(tmp_path: Path, discord: DiscordDouble, model: AnthropicDouble) -> AsyncIterator[BotProcess]:
    async with bot_process(tmp_path, discord, model) as process:
        yield process


def answers(discord: DiscordDouble, thread: Channel) -> list[Message]:
    own = [each for each in discord.messages(thread) if each.author is discord.bot]
    return [each for each in own if each.content and each.type is MessageType.DEFAULT]


def said_twice_or_never(discord: DiscordDouble, asked: dict[str, Channel]) -> dict[str, int]:
    """Questions that do not have exactly one answer, with how many they have."""
    counts = Counter(
        mark for thread in discord.threads() for each in answers(discord, thread) for mark in marks_in(each.content)
    )
    return {mark: counts[mark] for mark in asked if counts[mark] != 1}


def leftovers(discord: DiscordDouble) -> list[str]:
    """Messages of the bot that are no answers: drafts, status lines, failures, cards of calls that still run."""
    cards = [text for thread in discord.threads() for each in discord.messages(thread) for text in each.embed_texts]
    return [text for text in cards if text.startswith("⏳")] + [
        each.content
        for thread in discord.threads()
        for each in answers(discord, thread)
        if not marks_in(each.content) or any(button.label in BUSY for button in each.buttons)
    ]


async def opened(discord: DiscordDouble) -> list[Channel]:
    ann = discord.user("ann")
    added = await ann.slash("books add", file=discord.file("lamp.txt", TALE.encode()), title="The Lamp")
    await discord.until(lambda: added.original and added.original.embeds)
    [book] = await ann.autocomplete("chat", "book", "lamp")
    for number in range(THREADS):
        await ann.slash("chat", book=book["value"], title=f"Thread {number}")
        await discord.until(partial(_has_welcome, discord, f"Thread {number}"))
    await ann.slash("verbose", channel=discord.threads()[0], mode="on")
    return discord.threads()


def _has_welcome(discord: DiscordDouble, name: str) -> bool:
    return any(len(discord.messages(thread)) > 1 for thread in discord.threads() if thread.name == name)


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


@pytest.mark.timeout(300)
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
        await discord.until(lambda: not said_twice_or_never(discord, asked) and not leftovers(discord), 40)
    except AssertionError:
        assert (said_twice_or_never(discord, asked), leftovers(discord)) == ({}, []), discord.transcript()
    await asyncio.sleep(0.5)
    assert (said_twice_or_never(discord, asked), leftovers(discord)) == ({}, [])
    assert await bot.stop() == 0
    assert discord.violations == []


def _thread_is_open(discord: DiscordDouble, number: int) -> bool:
    """Whether the thread of that number is there, with its card in it."""
    threads = discord.threads()
    return len(threads) > number and len(discord.messages(threads[-1])) > 1

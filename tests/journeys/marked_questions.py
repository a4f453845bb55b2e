"""Questions with a mark each, and a model whose answers name them: so it can be told which have one answer."""

import re
from collections import Counter
from functools import partial

from tests.doubles.discord_api import Channel, DiscordDouble, Message, MessageType
from tests.doubles.script import Call, Json, Reply, Text
from tests.journeys.reading_room import TALE

THREADS = 4
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

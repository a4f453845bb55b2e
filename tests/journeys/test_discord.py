"""The whole journey on Discord, with what goes wrong on the way: nothing is lost, nothing is said twice."""

import pytest

from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.discord_api import Channel, DiscordDouble, Interaction, Message, MessageType, Permission
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Handler, Json, Reply, say
from tests.journeys.discord_process import BotProcess
from tests.journeys.reading_room import TALE

TITLE_PROMPT = "Give this conversation about a book a title"
SEND, EDIT = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"


def titled(body: Json) -> Reply:
    """The honest model, which also knows a title."""
    if TITLE_PROMPT in str(body["messages"]):
        return say("The Dark Lamp on the Island")
    reply = honest_reply(prompt_of(body))
    return Reply(reply.parts, pace=0.02)


@pytest.fixture
def handler() -> Handler:
    return titled


@pytest.fixture(autouse=True)
def may_manage_threads(discord: DiscordDouble) -> None:
    discord.world.grant(discord.guild, discord.bot, Permission.MANAGE_THREADS)


class Reading:
    """A reader's way with the bot."""

    def __init__(self, discord: DiscordDouble) -> None:
        self.discord = discord
        self.ann = discord.user("ann")
        self.thread: Channel

    async def add_book(self) -> None:
        added = await self.ann.slash("books add", file=self.discord.file("lamp.txt", TALE.encode()), title="The Lamp")
        await self.discord.until(lambda: "Added to the shelf" in shown(added))

    async def chat(self) -> None:
        [book] = await self.ann.autocomplete("chat", "book", "lamp")
        await self.ann.slash("chat", book=book["value"])
        await self.discord.until(lambda: self.discord.threads() and "Just write here" in self.everything())
        [self.thread] = self.discord.threads()

    def everything(self) -> str:
        threads = self.discord.threads()
        return "\n".join(
            "\n".join([each.content, *each.embed_texts]) for t in threads for each in self.discord.messages(t)
        )

    @property
    def replies(self) -> list[Message]:
        """Answers: what the bot said in words."""
        own = [each for each in self.discord.messages(self.thread) if each.author is self.discord.bot]
        return [each for each in own if each.type is MessageType.DEFAULT and each.content]

    @property
    def cards(self) -> list[Message]:
        """The cards of tool calls."""
        own = [each for each in self.discord.messages(self.thread) if each.author is self.discord.bot]
        return [
            each for each in own if each.embeds and any(button.custom_id.startswith("tc:") for button in each.buttons)
        ]

    async def ask(self, question: str) -> Message:
        """Ask, and wait for the answer to stand."""
        before = len(self.replies)
        await self.ann.say(self.thread, question)
        return await self.answer(before)

    async def answer(self, before: int) -> Message:
        await self.discord.until(lambda: len(self.replies) > before and is_settled(self.replies[-1]))
        return self.replies[-1]


def shown(interaction: Interaction) -> str:
    known = [interaction.original] if interaction.original else []
    authors = [str(embed.get("author", {}).get("name", "")) for each in known for embed in each.embeds]
    return "\n".join([interaction.text, *authors])


def is_settled(message: Message) -> bool:
    """Whether it is the answer and no draft of it."""
    return bool(message.content) and not any(button.label == "Stop" for button in message.buttons)


async def test_the_whole_journey(bot: BotProcess, discord: DiscordDouble, model: AnthropicDouble) -> None:
    reading = Reading(discord)
    ann = reading.ann
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))

    discord.fail("PATCH /webhooks/*", status=502)
    await reading.add_book()
    await reading.chat()

    first = await reading.ask("Who put the lamp out for his brother?")
    assert "p. 1)" in first.content
    sources = await ann.click(first, label="Sources")
    assert sources.ephemeral
    assert "Hobb" in sources.text
    await discord.until(lambda: reading.thread.name == "The Dark Lamp on the Island")

    discord.fail(SEND, status=503)
    discord.drop(SEND, took_effect=True)
    discord.fail(EDIT, status=429, retry_after=0.3)
    second = await reading.ask("Where did Marta find a brass key?")
    assert second.content.count("brass key") == 1
    assert len(reading.replies) == 2

    await ann.slash("verbose", channel=reading.thread, mode="on")
    discord.fail(EDIT, status=500)
    await reading.ask("Who would not take money?")
    [card] = reading.cards
    await ann.click(card, label="Show search 1")
    assert "**Arguments**" in card.embed_texts[0]

    discord.gateway.replay = 5
    await discord.gateway.drop()
    await reading.ask("When did Marta come to the island?")
    assert discord.gateway.resumes == 1
    assert len(reading.replies) == 4

    await bot.kill()
    await ann.say(reading.thread, "Who drowned in 1887?")
    await bot.start()
    await reading.answer(4)
    assert "1887" in reading.replies[-1].content

    await ann.click(card, label="Hide search 1")
    assert card.embed_texts[0].startswith("▸ 1")

    model.handler = lambda body: Reply(titled(body).parts, pace=0.15)
    await ann.say(reading.thread, "Was the lamp dark on the night of the ninth?")
    await discord.until(lambda: any(button.label == "Stop" for each in reading.replies for button in each.buttons))
    await bot.kill()
    model.handler = titled
    await bot.start()
    await discord.until(lambda: is_settled(reading.replies[-1]))
    assert len(reading.replies) == 6
    assert len(reading.cards) == 4

    await ann.slash("conversations rename", channel=reading.thread, title="Night reading")
    await discord.until(lambda: reading.thread.name == "Night reading")
    listed = await ann.slash("conversations list")
    await discord.until(lambda: "Night reading" in shown(listed))
    exported = await ann.slash("conversations export", channel=reading.thread, format="markdown")
    await discord.until(lambda: exported.messages)
    text = exported.message.attachments[0].data.decode()
    assert [text.count(f"## {who}") for who in ("Ann", "Marginalia")] == [6, 6]

    deleting = await ann.slash("conversations delete", channel=reading.thread)
    await discord.until(lambda: deleting.messages)
    await ann.click(deleting.message, label="Delete it")
    await discord.until(lambda: not discord.threads())
    assert await bot.stop() == 0
    assert discord.violations == []

"""Direct messages over kill -9: what is asked is answered once, in the conversation it was asked in."""

import pytest

from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.discord_api import Actor, Channel, DiscordDouble, Message
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Failure, Handler, Json, Reply
from tests.journeys.discord_process import BotProcess
from tests.journeys.reading_room import TALE


@pytest.fixture
def handler() -> Handler:
    def slow(body: Json) -> Reply:
        return Reply(honest_reply(prompt_of(body)).parts, pace=0.05)

    return slow


def answers(discord: DiscordDouble, place: Channel) -> list[Message]:
    """The answers that stand as they are to be."""
    own = [each for each in discord.messages(place) if each.author is discord.bot]
    return [each for each in own if any(button.label == "Try again" for button in each.buttons)]


async def begin(discord: DiscordDouble, ann: Actor, title: str) -> None:
    place, data = ann.direct_channel, TALE.encode() + title.encode()
    added = await ann.slash("books add", channel=place, file=discord.file("tale.txt", data), title=title)
    await discord.until(lambda: title in added.text and added.message.buttons)
    [book] = await ann.autocomplete("chat", "book", title, channel=place)
    begun = await ann.slash("chat", channel=place, book=book["value"])
    await discord.until(lambda: "Just write here" in begun.text)


async def test_killed_while_it_answers_and_while_somebody_writes(discord: DiscordDouble, bot: BotProcess) -> None:
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    ann = discord.stranger("ann")
    place = ann.direct_channel
    await begin(discord, ann, "The Lamp")
    await ann.say(place, "Who drives the cart?")
    await discord.until(lambda: place.typing_times)
    await bot.kill()
    await ann.say(place, "And what does the sea do?")
    await bot.start()
    await discord.until(lambda: answers(discord, place))
    last = await ann.say(place, "Where is the lamp?")
    await discord.until(lambda: answers(discord, place)[-1].id > last.id)
    assert await bot.stop() == 0
    shown = discord.messages(place)
    await bot.start()
    export = await ann.slash("conversations export", channel=place, format="json")
    await discord.until(lambda: export.messages and export.message.attachments)
    said = export.message.attachments[0].data.decode()
    for question in ("Who drives the cart?", "And what does the sea do?", "Where is the lamp?"):
        assert said.count(f'"content": "{question}"') == 1, said
    assert discord.messages(place) == shown
    assert len(answers(discord, place)) == len([each for each in shown if each.author is discord.bot]) - 2  # two cards
    assert discord.violations == []


async def test_killed_between_a_failure_and_its_retry_and_while_it_can_be_stopped(
    discord: DiscordDouble, bot: BotProcess, handler: Handler, model: AnthropicDouble
) -> None:
    """What the owner presses after the start does what it says, and each question stands once."""
    await bot.start()
    await discord.until(lambda: discord.commands.commands.get(0))
    ann = discord.stranger("ann")
    place = ann.direct_channel
    await begin(discord, ann, "The Lamp")
    model.handler = lambda body: Failure(529)
    await ann.say(place, "Who drives the cart?")
    await discord.until(lambda: labelled(discord, place, "Retry"))
    await bot.kill()
    model.handler = handler
    await bot.start()
    await ann.click(labelled(discord, place, "Retry")[-1], label="Retry")
    await discord.until(lambda: answers(discord, place))
    await ann.say(place, "And what does the sea do?")
    await discord.until(lambda: labelled(discord, place, "Stop"))
    await bot.kill()
    await bot.start()
    await discord.until(lambda: len(answers(discord, place)) == 2)
    assert await bot.stop() == 0
    assert not labelled(discord, place, "Stop")
    assert not labelled(discord, place, "Retry")
    assert discord.violations == []


def labelled(discord: DiscordDouble, place: Channel, label: str) -> list[Message]:
    own = [each for each in discord.messages(place) if each.author is discord.bot]
    return [each for each in own if any(button.label == label for button in each.buttons)]

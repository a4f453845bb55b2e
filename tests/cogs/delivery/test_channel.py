"""Delivery through the real discord.py client, against the loopback Discord."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import suppress

import discord
import pytest

from cogs.delivery.channel import DiscordChannel
from cogs.delivery.message_group import (
    ArchivedThreadError,
    ChannelGoneError,
    DeliveryState,
    MessageGoneError,
    MessagePayload,
    NotAllowedError,
    RefusedError,
    TryLaterError,
)
from cogs.delivery.turn_messages import AnswerMessage, TraceMessage
from cogs.delivery.writer import ChannelWriter
from cogs.rendering.tool_calls import ButtonData, EmbedData
from domain.event import ToolCallFinished, ToolCallStarted
from tests.doubles.discord_api import Channel, DiscordDouble, MessageFlag, Permission, Window

POST = "POST /channels/{channel}/messages"
PATCH = "PATCH /channels/{channel}/messages/{message}"


def make_view(view: Hashable) -> discord.ui.View:
    made = discord.ui.View(timeout=None)
    buttons = view if isinstance(view, tuple) else (view,)
    for button in buttons:
        label, custom_id = (button.label, button.custom_id) if isinstance(button, ButtonData) else (button, button)
        made.add_item(discord.ui.Button(label=label, custom_id=custom_id))
    return made


@pytest.fixture
async def client(double: DiscordDouble) -> AsyncIterator[discord.Client]:
    client = discord.Client(intents=discord.Intents.default(), guild_ready_timeout=0.05, max_ratelimit_timeout=30)
    running = asyncio.create_task(client.start(double.token))
    await double.until(client.is_ready)
    yield client
    await client.close()
    with suppress(asyncio.CancelledError):
        await running


@pytest.fixture
async def thread(double: DiscordDouble, client: discord.Client) -> Channel:
    """A thread that the bot opened."""
    parent = client.get_channel(double.channel.id)
    assert isinstance(parent, discord.TextChannel)
    made = await parent.create_thread(name="Alice", type=discord.ChannelType.public_thread)
    return double.world.channels[made.id]


@pytest.fixture
def channel(client: discord.Client, thread: Channel) -> DiscordChannel:
    found = client.get_channel(thread.id)
    assert isinstance(found, discord.Thread)
    assert client.user
    return DiscordChannel(found, make_view, client.user.id)


async def test_a_message_is_sent_and_edited(double: DiscordDouble, channel: DiscordChannel, thread: Channel) -> None:
    sent = await channel.send(MessagePayload("@everyone draft", view="stop"), "n1")
    [message] = double.messages(thread)
    assert [button.label for button in message.buttons] == ["stop"]
    await channel.edit(sent.message_id, MessagePayload("answer"))
    assert (message.content, message.buttons, message.pings) == ("answer", [], set())
    assert MessageFlag.SUPPRESS_EMBEDS in message.flags


async def test_embeds_are_sent_silently_and_edited(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    sent = await channel.send(MessagePayload(embeds=(EmbedData("one", 1),), silent=True), "n1")
    await channel.edit(sent.message_id, MessagePayload(embeds=(EmbedData("one", 1), EmbedData("two", 2)), silent=True))
    [message] = double.messages(thread)
    assert message.embed_texts == ["one", "two"]
    assert MessageFlag.SUPPRESS_NOTIFICATIONS in message.flags
    assert MessageFlag.SUPPRESS_EMBEDS not in message.flags


async def test_an_earlier_message_of_the_nonce_is_recognised(channel: DiscordChannel) -> None:
    first = await channel.send(MessagePayload("draft", view="stop"), "n1")
    assert first.as_sent
    assert (await channel.send(MessagePayload("draft", view="stop"), "n1")).as_sent
    assert not (await channel.send(MessagePayload("final", view="stop"), "n1")).as_sent
    assert not (await channel.send(MessagePayload("draft"), "n1")).as_sent


async def test_a_message_whose_answer_was_lost_is_found_though_its_nonce_is_forgotten(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    await channel.send(MessagePayload("I do not know."), "n1")
    double.drop(POST, took_effect=True)
    with pytest.raises(TryLaterError):
        await channel.send(MessagePayload("I do not know.", view="sources"), "n2")
    double.advance(3600)
    assert (await channel.send(MessagePayload("I do not know.", view="sources"), "n2")).as_sent
    assert len(double.messages(thread)) == 2


async def test_one_that_was_not_posted_is_not_taken_for_an_earlier_one(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    await channel.send(MessagePayload("I do not know."), "n1")
    double.drop(POST)
    with pytest.raises(TryLaterError):
        await channel.send(MessagePayload("I do not know."), "n2")
    await channel.send(MessagePayload("I do not know."), "n2")
    assert len(double.messages(thread)) == 2


async def test_without_the_right_to_look_it_is_sent_all_the_same(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    double.drop(POST)
    double.fail("GET /channels/{channel}/messages", status=403)
    with pytest.raises(TryLaterError):
        await channel.send(MessagePayload("Hobb."), "n1")
    await channel.send(MessagePayload("Hobb."), "n1")
    assert len(double.messages(thread)) == 1


async def test_faults_have_names(double: DiscordDouble, channel: DiscordChannel, thread: Channel) -> None:
    sent = await channel.send(MessagePayload("text"), "n1")
    double.fail(PATCH, status=503)
    with pytest.raises(TryLaterError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    double.drop(PATCH)
    with pytest.raises(TryLaterError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    double.fail(PATCH, status=429, through_proxy=False)
    with pytest.raises(TryLaterError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    double.fail(PATCH, status=400, code=30046)
    with pytest.raises(MessageGoneError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    double.fail(PATCH, status=403, code=50001)
    with pytest.raises(NotAllowedError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    await double.user("ann").archive(thread)
    with pytest.raises(ArchivedThreadError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    await channel.unarchive()
    await channel.delete(sent.message_id)
    with pytest.raises(MessageGoneError):
        await channel.edit(sent.message_id, MessagePayload("a"))
    await double.user("ann").delete_channel(thread)
    with pytest.raises(ChannelGoneError):
        await channel.edit(sent.message_id, MessagePayload("a"))


async def test_a_body_discord_does_not_take(double: DiscordDouble, channel: DiscordChannel) -> None:
    with pytest.raises(RefusedError):
        await channel.send(MessagePayload("x" * 2001), "n1")
    double.violations.clear()


async def test_typing_is_shown(channel: DiscordChannel, thread: Channel) -> None:
    await channel.typing()
    assert len(thread.typing_times) == 1


async def test_an_answer_comes_through_an_outage_once(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    double.drop(POST, took_effect=True)
    double.fail(POST, status=503)
    answer = AnswerMessage(ChannelWriter(channel), "turn")
    delivery = await answer.settle("The Rabbit took a watch out of its pocket (p. 3).", view="sources")
    assert double.said(thread) == ["The Rabbit took a watch out of its pocket (p. 3)."]
    assert delivery.message_ids == (str(double.messages(thread)[0].id),)


async def test_a_stream_keeps_within_the_limits(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    double.rest.limits.windows[PATCH] = Window(5, 5.0)
    writer = ChannelWriter(channel)
    answer, trace = AnswerMessage(writer, "turn"), TraceMessage(writer, "turn")
    trace.started(ToolCallStarted("c1", 1, "search_book", {"query": "watch"}))
    text = ""
    for number in range(60):
        text += f"Word {number} of the answer. "
        answer.show(text, view="stop")
        await asyncio.sleep(0.05)
    trace.finished(ToolCallFinished("c1", 1, "search_book", "5 passages", "…", False, 12))
    delivery, card = await asyncio.gather(answer.settle(text, view="sources"), trace.settle())
    assert delivery.delivered
    assert card
    assert double.rate_limited == []
    shown = [message for message in double.messages(thread) if message.content]
    assert [message.content for message in shown] == [text.strip()]
    assert [button.label for button in shown[0].buttons] == ["sources"]


async def test_a_deleted_thread_ends_the_delivery(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    await double.user("ann").delete_channel(thread)
    delivery = await AnswerMessage(ChannelWriter(channel), "turn").settle("too late")
    assert delivery.state is DeliveryState.CHANNEL_GONE


async def test_a_channel_that_forbids_ends_the_delivery(
    double: DiscordDouble, channel: DiscordChannel, thread: Channel
) -> None:
    double.world.forbid(double.channel, double.bot, Permission.SEND_MESSAGES_IN_THREADS)
    delivery = await AnswerMessage(ChannelWriter(channel), "turn").settle("may I?")
    assert delivery.state is DeliveryState.NOT_ALLOWED

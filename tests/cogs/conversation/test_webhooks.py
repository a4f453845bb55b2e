"""What another app posts for somebody is not answered: nobody knows how far that person has read."""

from typing import Any

import pytest
from simcord.builders import ChannelHandle

from tests.cogs.stage import Stage


@pytest.fixture
async def thread(stage: Stage) -> ChannelHandle:
    return await stage.chat(await stage.book())


async def proxied(
    stage: Stage, place: ChannelHandle, text: str, *, in_reply_to: dict[str, Any] | None = None
) -> list[str]:
    """What is said in a place once a webhook has posted there, for an app that replies to a command or not."""
    known = {message.id for message in place.history()}
    backend = stage.env.backend
    webhook = backend.create_webhook(stage.channel.id, "PluralKit", stage.ann.id)
    posted = backend.create_message(
        place.id, webhook.id, text, webhook_id=webhook.id, author_name="Mo", interaction_metadata=in_reply_to
    )
    await stage.env.settle()
    return [message.content for message in place.history() if message.id not in {*known, posted.id}]


def mention(stage: Stage) -> str:
    assert stage.bot.user is not None
    return stage.bot.user.mention


async def test_somebody_who_mentions_the_bot_through_one_is_told_once_why(stage: Stage, thread: ChannelHandle) -> None:
    assert await proxied(stage, thread, "Who was it?") == [], "it may not be for the bot"
    [told] = await proxied(stage, thread, f"{mention(stage)} Who was it?")
    assert told.startswith("I don't answer messages that another app, such as PluralKit, posts for you")
    assert await proxied(stage, thread, f"{mention(stage)} Who was it?") == []
    assert stage.model.requests == []


async def test_elsewhere_a_webhook_that_mentions_the_bot_is_left_alone(stage: Stage, thread: ChannelHandle) -> None:
    assert await proxied(stage, stage.channel, f"{mention(stage)} has a new release.") == []


async def test_an_apps_reply_to_a_command_is_left_alone(stage: Stage, thread: ChannelHandle) -> None:
    user = {"id": str(stage.ann.id), "username": "ann", "discriminator": "0", "avatar": None}
    command = {"id": "1", "type": 2, "user": user, "authorizing_integration_owners": {}}
    assert await proxied(stage, thread, f"{mention(stage)} is online.", in_reply_to=command) == []


async def test_whoever_writes_without_it_is_answered(stage: Stage, thread: ChannelHandle) -> None:
    await proxied(stage, thread, f"{mention(stage)} Who was it?")
    stage.model.say("It was Hobb.")
    await stage.ann.send(thread, "Who was it?")
    assert thread.history()[-1].content.startswith("It was Hobb.")

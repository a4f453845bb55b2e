"""Within one session, the bot loses sight of a channel or of a server for a while: nothing written there is lost."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble, Permission
from tests.sampling import a_few

ANSWER = "I do not know."


def forbidden(room: Scene) -> Callable[[], None]:
    world, channel, bot = room.double.world, room.double.channel, room.double.bot
    world.forbid(channel, bot, Permission.VIEW_CHANNEL)
    return lambda: world.allow(channel, bot, Permission.VIEW_CHANNEL)


def forbidden_and_made_administrator(room: Scene) -> Callable[[], None]:
    forbidden(room)
    return lambda: room.double.world.grant(room.double.guild, room.double.bot, Permission.ADMINISTRATOR)


def removed_and_invited_again(room: Scene) -> Callable[[], None]:
    room.double.world.remove_bot(room.double.guild)
    return lambda: room.double.world.invite_bot(room.double.guild)


def lost_by_discord(room: Scene) -> Callable[[], None]:
    room.double.world.lose_guild(room.double.guild)
    return lambda: room.double.world.find_guild(room.double.guild)


Loss = Callable[[Scene], Callable[[], None]]
LOSSES = [forbidden, forbidden_and_made_administrator, removed_and_invited_again, lost_by_discord]


@pytest.fixture
async def asked(room: Scene) -> Scene:
    """Ann has asked something before."""
    await room.ann.say(room.thread, "Before?")
    await room.until_said(ANSWER)
    await room.until_delivered()
    return room


async def settled(room: Scene, turns: int) -> None:
    await room.until_delivered(turns)
    await asyncio.sleep(0.1)


@pytest.mark.parametrize("lose", a_few(LOSSES, 1))
async def test_what_was_written_out_of_sight_is_answered(asked: Scene, lose: Loss) -> None:
    give_back = lose(asked)
    await asked.ann.say(asked.thread, "Do you see this?")
    give_back()
    await asked.until_said(ANSWER, ANSWER)
    await settled(asked, 2)
    assert await asked.kept() == ["Before?", ANSWER, "Do you see this?", ANSWER]


@pytest.mark.parametrize("lose", LOSSES)
async def test_missed_messages_are_answered_although_somebody_writes_first(asked: Scene, lose: Loss) -> None:
    give_back = lose(asked)
    await asked.ann.say(asked.thread, "Do you see this?")
    give_back()
    await asked.ann.say(asked.thread, "Or this?")
    await settled(asked, 2)
    assert await asked.kept() == ["Before?", ANSWER, "Do you see this?", "Or this?", ANSWER]


@pytest.mark.parametrize("lose", a_few(LOSSES, 2))
async def test_where_nothing_was_written_nothing_is_said(asked: Scene, lose: Loss) -> None:
    lose(asked)()
    await asked.until(lambda: asked.double.calls("GET /channels/{channel}/messages"))
    await settled(asked, 1)
    assert asked.said() == [ANSWER]


async def test_what_was_written_in_a_private_thread_without_the_bot_is_answered_when_it_is_added_again(
    room: Scene,
) -> None:
    world, bot = room.double.world, room.double.bot
    thread = await room.chat(await room.book(), private=True)
    await room.ann.say(thread, "Before?")
    await room.until_delivered(1, thread)
    world.remove_thread_member(thread, bot)
    await room.ann.say(thread, "Do you see this?")
    world.add_thread_member(thread, bot, room.ann.user)
    await room.until_delivered(2, thread)
    assert await room.kept(thread) == ["Before?", ANSWER, "Do you see this?", ANSWER]


async def test_a_start_during_an_outage_of_one_server_is_a_start_in_all_others(
    double: DiscordDouble, tmp_path: Path
) -> None:
    elsewhere = double.add_guild("Elsewhere")
    async with scene(double, tmp_path) as before:
        await before.prepare()
    double.world.lose_guild(elsewhere)
    async with again(before) as room:
        await room.ann.say(room.thread, "Do you see this?")
        await room.until_said(ANSWER)

"""What a button shows and does is for those who see the thread of the conversation, wherever its name turns up."""

import pytest

from domain.conversation import TurnState
from domain.errors import LLMError, LLMErrorCode
from tests.cogs.conversation.scene import Scene
from tests.cogs.conversation.test_sources import answered
from tests.doubles.discord_api import Actor, Channel, Message, Permission


@pytest.fixture
async def eve(room: Scene) -> Actor:
    """She may do everything, in another server."""
    elsewhere = room.double.add_guild("Elsewhere")
    eve = room.double.user("eve", elsewhere)
    room.double.world.grant(elsewhere, eve.user, Permission.ADMINISTRATOR)
    return eve


def carried_over(room: Scene, message: Message, eve: Actor) -> Message:
    """A message with the same buttons, in a channel that Eve sees."""
    return room.double.world.post(home_of(room, eve), room.double.bot, "Look!", components=message.components)


def home_of(room: Scene, eve: Actor) -> Channel:
    [guild] = [each for each in room.double.world.guilds.values() if eve.id in each.members]
    return next(iter(guild.channels.values()))


async def test_sources_and_tool_calls_stay_in_their_server(room: Scene, eve: Actor) -> None:
    await room.ann.slash("verbose", channel=room.thread, mode="on")
    await answered(room)
    card, answer = [each for each in room.replies() if each.buttons]
    for message, label, refusal in (
        (answer, "Sources", "no longer available"),
        (card, "Show search 1", "no longer available"),
        (card, "Show everything", "no longer available"),
    ):
        copy = carried_over(room, message, eve)
        pressed = await eve.click(copy, label=label)
        assert pressed.ephemeral
        assert refusal in pressed.text
        assert not pressed.message.attachments
        assert copy.embeds == []


async def test_a_failed_question_of_another_server_is_not_asked_again(room: Scene, eve: Actor) -> None:
    room.model.say(LLMError(LLMErrorCode.REFUSED, "No."))
    await room.ann.say(room.thread, "Who?")
    await room.until_delivered()
    copy = carried_over(room, room.replies()[0], eve)
    await eve.click(copy, label="Retry")
    await room.until(lambda: "already answering" in copied(room, eve))
    assert [turn.state for turn in await room.turns()] == [TurnState.FAILED]


def copied(room: Scene, eve: Actor) -> str:
    known = room.double.interactions.interactions.values()
    return "\n".join(each.text for each in known if each.user is eve.user)


async def test_a_running_answer_of_another_server_goes_on(room: Scene, eve: Actor) -> None:
    release = await room.hold()
    room.model.say("This answer is long enough to be seen while it is being written by the model.")
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: room.replies() and room.replies()[0].buttons)
    pressed = await eve.click(carried_over(room, room.replies()[0], eve), label="Stop")
    assert "already finished" in pressed.text
    release.set()
    await room.until_delivered()
    assert room.said()[0].endswith("by the model.")


async def test_a_server_that_has_the_commands_alone_is_told_how_to_invite_the_bot(room: Scene) -> None:
    guild = room.double.add_guild("Commands alone", with_bot=False)
    guild.has_commands_alone = True
    eve, [channel] = room.double.user("eve", guild), guild.channels.values()
    room.double.world.grant(guild, eve.user, Permission.ADMINISTRATOR)
    for command in ("settings show", "books list", "club plan", "recap"):
        told = await eve.slash(command, channel=channel)
        assert "This server has my commands, but not me." in told.text, command
        assert "scope=bot+applications.commands" in told.text
    for command in ("help", "privacy"):
        assert "invite me" not in (await eve.slash(command, channel=channel)).text
    eve.install()
    assert "invite me" not in (await eve.slash("books list", channel=channel)).text

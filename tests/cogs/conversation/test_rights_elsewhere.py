"""Somebody with other permissions in a conversation's channel than where they type: what each attempt meets."""

from typing import Any

from domain.errors import LLMError, LLMErrorCode
from tests.cogs.conversation.scene import Scene
from tests.doubles.discord_api import Channel, Permission
from tests.doubles.discord_api.actor import Actor
from tests.doubles.discord_api.interactions import Interaction
from tests.doubles.scripted_chat import ScriptedChat

WRITE = Permission.SEND_MESSAGES_IN_THREADS


async def lobby(room: Scene) -> Channel:
    """A channel in which everybody may do everything."""
    return room.double.world.add_channel(room.double.guild, "lobby")


async def tried(room: Scene, who: Actor, command: str, channel: Channel, **options: Any) -> Interaction:
    used = await who.slash(command, channel=channel, **options)
    await room.until(lambda: used.messages)
    return used


async def unchanged(room: Scene, said: list[str], requests: int) -> None:
    conversation = await room.conversation()
    assert conversation.title == "Talk"
    assert room.said() == said
    assert len(room.model.requests) == requests


ATTEMPTS = {
    "conversations rename": {"title": "Mine"},
    "conversations delete": {},
    "conversations export": {},
    "chat": {"book": "The Dark Lamp"},
}


async def test_what_one_does_not_see_does_not_exist(room: Scene) -> None:
    place, talk = await lobby(room), await room.conversation()
    room.double.world.forbid(room.double.channel, room.ben.user, Permission.VIEW_CHANNEL)
    for command, options in ATTEMPTS.items():
        for name in (talk.id, talk.title, "nothing of the kind"):
            met = await tried(room, room.ben, command, place, conversation=name, **options)
            assert met.ephemeral
            assert met.text == "There's no such conversation. /conversations list shows yours.", (command, name)
    assert await room.ben.autocomplete("conversations export", "conversation", "", channel=place) == []
    assert "Talk" not in (await tried(room, room.ben, "conversations list", place)).text
    await unchanged(room, [], 0)


async def test_who_manages_threads_everywhere_else_changes_nothing_here(room: Scene) -> None:
    place, talk = await lobby(room), await room.conversation()
    room.double.world.grant(room.double.guild, room.ben.user, Permission.MANAGE_THREADS)
    room.double.world.forbid(room.double.channel, room.ben.user, Permission.MANAGE_THREADS)
    for command in ("conversations rename", "conversations delete"):
        met = await tried(room, room.ben, command, place, conversation=talk.id, **ATTEMPTS[command])
        assert "whose conversation this is" in met.text, command
        assert met.messages[-1].buttons == []
    await unchanged(room, [], 0)


async def test_nobody_has_the_bot_write_for_them_in_a_thread_they_only_read(room: Scene) -> None:
    place, talk = await lobby(room), await room.conversation()
    room.double.world.forbid(room.double.channel, room.ben.user, WRITE)
    met = await tried(
        room, room.ben, "chat", place, book="The Dark Lamp", conversation=talk.id, message="Read this, all of you!"
    )
    assert "I only write where you're allowed to write" in met.text
    assert "“Send Messages in Threads”" in met.text
    led = await tried(room, room.ben, "chat", place, book="The Dark Lamp", conversation=talk.id)
    assert "continues here" in led.text
    await unchanged(room, [], 0)


async def test_an_archived_thread_is_not_reopened_for_people_who_only_read_it(room: Scene) -> None:
    place, talk = await lobby(room), await room.conversation()
    await room.ann.archive(room.thread)
    room.double.world.forbid(room.double.channel, room.ben.user, WRITE)
    met = await tried(room, room.ben, "chat", place, book="The Dark Lamp", conversation=talk.id)
    assert "I only write where you're allowed to write" in met.text
    assert room.thread.archived


async def test_who_may_write_no_more_has_no_question_tried_again(room: Scene) -> None:
    assert isinstance(room.model, ScriptedChat)
    room.model.say(LLMError(LLMErrorCode.API_CALL_FAILED, "The model is away."), "It was Hobb.")
    await room.ann.say(room.thread, "Who did it?")
    await room.until_delivered()
    requests = len(room.model.requests)
    said = room.said()
    room.double.world.forbid(room.double.channel, room.ann.user, WRITE)
    pressed = await room.ann.click(room.replies()[-1], label="Retry")
    await room.until(lambda: pressed.messages)
    assert "I only write where you're allowed to write" in pressed.text
    assert (room.said(), len(room.model.requests)) == (said, requests)


async def test_nothing_is_posted_for_who_may_not_write_there(room: Scene) -> None:
    commands: dict[str, dict[str, Any]] = {
        "verbose": {"mode": "on"},
        "recap": {"public": True},
        "ask": {"question": "Who did it?", "public": True},
        "who": {"name": "Hobb", "public": True},
        "discuss": {},
    }
    room.double.world.forbid(room.double.channel, room.ben.user, WRITE)
    for command, options in commands.items():
        met = await tried(room, room.ben, command, room.thread, **options)
        assert met.ephemeral, command
        assert "I only write where you're allowed to write" in met.text, command
    await unchanged(room, [], 0)


async def test_a_private_thread_is_taken_up_where_more_manage_threads_only_after_a_question(room: Scene) -> None:
    book = await room.book()
    private = await room.chat(book, title="Of Ann alone", private=True)
    talk = await room.conversation(private)
    place, guard = await lobby(room), room.double.user("guard")
    room.double.world.grant(room.double.guild, guard.user, Permission.MANAGE_THREADS)
    role = next(iter(room.double.guild.members[guard.id].roles))
    room.double.channel.denied[role] = Permission.MANAGE_THREADS
    room.double.world.update_channel(room.double.channel, room.double.guild.owner, {})
    room.double.world.delete_channel(private)
    await room.double.until(lambda: True)
    met = await tried(room, room.ann, "chat", place, book="The Dark Lamp", conversation=talk.id)
    assert "More people can see this channel" in met.text
    assert [button.label for button in met.messages[-1].buttons] == ["Go on here", "Not here"]

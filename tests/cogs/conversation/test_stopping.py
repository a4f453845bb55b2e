"""Stop ends an answer and keeps what was written."""

import time

import discord

from domain.tool_use import TextChunk
from tests.cogs.conversation.scene import Scene
from tests.doubles.discord_api import Interaction, Message, Permission

LONG = "The lamp on the island was dark that night, and nobody knew why; the keeper had not come back from the sea."


async def running(room: Scene) -> Message:
    """The message of an answer that is being written, with some of its words."""
    await room.hold()
    room.model.say([TextChunk(LONG), TextChunk(" And more.")])
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: room.said() and room.said()[0].startswith(LONG[:30]))
    return room.replies()[0]


async def refusal(room: Scene, pressed: Interaction) -> str:
    await room.until(lambda: pressed.messages)
    assert pressed.ephemeral
    return pressed.text


async def test_stop_ends_it_within_a_second_and_keeps_what_was_written(room: Scene) -> None:
    shown = await running(room)
    began = time.monotonic()
    await room.ann.click(shown, label="Stop")
    await room.until_said(f"{LONG}\n\n-# ⏹ Stopped.")
    assert time.monotonic() - began < 5
    assert [button.label for button in shown.buttons] == ["Try again"]
    await room.until_delivered()
    assert await room.kept() == ["Who?", LONG]
    room.model.hold = None
    room.model.say("Hobb.")
    await room.ann.say(room.thread, "But who?")
    await room.until(lambda: room.said()[1:] == ["Hobb."])


async def test_what_is_stopped_before_anything_is_written_says_so_in_the_servers_language(room: Scene) -> None:
    guild = room.state.bot.get_guild(room.double.guild.id)
    assert guild is not None
    guild.preferred_locale = discord.Locale.german
    await room.hold()
    room.model.say("")
    await room.ann.say(room.thread, "Wer?")
    await room.until(lambda: any(button.label == "Stopp" for each in room.replies() for button in each.buttons))
    await room.ann.click(room.replies()[0], label="Stopp")
    await room.until_said("(angehalten, bevor etwas geschrieben war)\n\n-# ⏹ Angehalten.")


async def test_people_who_may_not_stop_an_answer_are_told_why(room: Scene) -> None:
    shown = await running(room)
    pressed = await room.ben.click(shown, label="Stop")
    assert "Only the people who asked" in await refusal(room, pressed)
    assert room.replies()[0].buttons
    await room.ann.click(shown, label="Stop")


async def test_who_manages_threads_may(room: Scene) -> None:
    shown = await running(room)
    room.ben.grant(Permission.MANAGE_THREADS)
    await room.ben.click(shown, label="Stop")
    await room.until_said(f"{LONG}\n\n-# ⏹ Stopped.")


async def test_whoever_asked_may_stop_the_answer_in_somebody_elses_thread(room: Scene) -> None:
    await room.hold()
    room.model.say([TextChunk(LONG)])
    await room.ben.say(room.thread, "Who?")
    await room.until(lambda: room.said() and room.said()[0].startswith(LONG[:30]))
    await room.ben.click(room.replies()[0], label="Stop")
    await room.until_said(f"{LONG}\n\n-# ⏹ Stopped.")


async def test_a_button_of_before_says_that_it_is_over(room: Scene) -> None:
    shown = await running(room)
    components = shown.components
    await room.ann.click(shown, label="Stop")
    await room.until_delivered()
    shown.components = components
    assert "already finished" in await refusal(room, await room.ann.click(shown, label="Stop"))

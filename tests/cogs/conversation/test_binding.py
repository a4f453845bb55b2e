"""Whoever keeps an answer from going as far as its asker has read is named in its last line, and by /progress."""

from dataclasses import replace
from pathlib import Path

from domain.conversation import TurnState
from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_readers_behind import stand_at
from tests.doubles.discord_api import DiscordDouble


async def ask(room: Scene, turns: int, text: str = "Who did it?") -> str:
    """What Ann is answered, its last line."""
    await room.ann.say(room.thread, text, mention=room.double.bot)
    await room.until_delivered(turns)
    return room.said()[-1].split("\n")[-1]


async def test_who_has_read_less_is_named_by_the_name_they_write_by(room: Scene) -> None:
    assert await ask(room, 1) == "I do not know."
    await stand_at(room, room.ben, "2")
    await room.ben.say(room.thread, "And what was found?", mention=room.double.bot)
    await room.until_delivered(2)
    assert room.said()[-1].split("\n")[-1] == "I do not know.", "Ben is told as much as he has read"
    assert await ask(room, 3) == "-# Answering up to p. 2, as far as Ben has read."
    await stand_at(room, room.ann, "1")
    assert await ask(room, 4) == "I do not know.", "Ann binds herself"


async def test_who_writes_to_others_alone_is_named_too_and_so_by_progress(room: Scene) -> None:
    await ask(room, 1)
    await stand_at(room, room.ben, "2")
    await room.ben.say(room.thread, "I am reading along.")
    await room.until(lambda: len(room.said()) == 2)
    named = f"-# Answering up to p. 2, as far as <@{room.ben.id}> has read."
    assert await ask(room, 2) == named
    mine = await room.ann.slash("progress", channel=room.thread)
    await room.until(lambda: mine.messages)
    assert named in mine.text
    theirs = await room.ben.slash("progress", channel=room.thread)
    await room.until(lambda: theirs.messages)
    assert "Answering up to" not in theirs.text


async def test_an_answer_that_is_delivered_after_a_crash_names_them_too(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await stand_at(room, room.ben, "2")
        await room.ben.say(room.thread, "Hello.")
        await room.until_delivered()
        told = await ask(room, 2)
        turn = (await room.turns())[-1]
        await room.app.storage.turns.finish(replace(turn, state=TurnState.ANSWERED, reply_ids=()))
        double.world.delete(room.replies()[-1])
    async with again(room) as after:
        await after.until_delivered(2)
        assert told.startswith("-# Answering up to p. 2")
        assert "Answering up to p. 2, as far as" in after.said()[-1]

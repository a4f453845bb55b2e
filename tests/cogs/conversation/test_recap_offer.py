"""Who writes again after a week is offered once to be told what happened so far."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_readers_behind import stand_at
from tests.doubles.discord_api import DiscordDouble, Message

OFFER = "What's happened so far?"


async def days_pass(room: Scene, days: float) -> None:
    """What was written is so much older."""
    history = await room.history()
    older = [replace(each, created_at=each.created_at - timedelta(days=days)) for each in history]
    await room.app.storage.messages.save_batch(older)


def offers(room: Scene) -> list[Message]:
    return [each for each in room.replies() if [button.label for button in each.buttons] == [OFFER]]


async def ask(room: Scene, turns: int) -> None:
    await room.ann.say(room.thread, f"Question {turns}?")
    await room.until_delivered(turns)


async def test_it_is_offered_once_and_told_to_whoever_presses_at_their_own_page(room: Scene) -> None:
    await stand_at(room, room.ann, "1")
    await ask(room, 1)
    await ask(room, 2)
    assert offers(room) == []
    await days_pass(room, 8)
    await ask(room, 3)
    await room.until(lambda: len(offers(room)) == 1)
    await ask(room, 4)
    assert len(offers(room)) == 1
    told = await room.ann.click(offers(room)[0], label=OFFER)
    await room.until(lambda: told.messages)
    assert "up to p. 1" in told.text
    assert "Marta Quill came to the island" in told.text
    assert "brass key" not in told.text
    other = await room.ben.click(offers(room)[0], label=OFFER)
    await room.until(lambda: other.messages)
    assert "the whole book" in other.text


async def test_six_days_are_no_absence(room: Scene) -> None:
    await ask(room, 1)
    await days_pass(room, 6)
    await ask(room, 2)
    assert offers(room) == []


async def test_the_button_works_after_a_restart(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await ask(room, 1)
        await days_pass(room, 400)
        await ask(room, 2)
        await room.until(lambda: len(offers(room)) == 1)
    async with again(room) as after:
        told = await after.ann.click(offers(after)[0], label=OFFER)
        await after.until(lambda: told.messages)
        assert "Marta Quill" in told.text
        assert len(offers(after)) == 1

"""What was looked up or said when more of the book was open is not shown to somebody who has not read so far."""

from dataclasses import replace
from pathlib import Path

import pytest

from domain.book import PositionState, ReadingPosition
from domain.conversation import TurnState
from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_sources import answered
from tests.doubles.discord_api import DiscordDouble, Message
from tests.doubles.discord_api.actor import Actor
from tests.doubles.scripted_chat import call, calls
from tests.sampling import a_few

CULPRIT = "It was Hobb who had put the lamp out"


async def stand_at(room: Scene, reader: Actor, page: str) -> None:
    moved = await reader.slash("progress", channel=room.thread, page=page)
    await room.until(lambda: moved.messages)
    assert "You're at page" in moved.text


async def told_all(room: Scene) -> tuple[Message, Message]:
    """The card and the answer of a turn in which the last page was read."""
    await room.ann.slash("verbose", channel=room.thread, mode="on")
    room.model.say(calls(call("read_pages", **{"from": "3"})), "He did it.")
    await room.ann.say(room.thread, "Who did it?")
    await room.until_delivered()
    card, answer = room.replies()
    return card, answer


def said_of(room: Scene, request: int = -1) -> str:
    return "\n".join(message.text for message in room.model.requests[request])


@pytest.mark.parametrize("addressed", [True, False])
async def test_whoever_writes_in_the_thread_binds_it_even_if_not_to_the_bot(room: Scene, addressed: bool) -> None:
    await stand_at(room, room.ben, "1")
    await room.ann.say(room.thread, "Hello")
    await room.until_delivered()
    assert "the whole book" in said_of(room)
    await room.ben.say(room.thread, "I am reading this, too!", mention=room.double.bot if addressed else None)
    await room.until_delivered(2) if addressed else await room.until(lambda: len(room.said()) == 2)
    await room.ann.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered(3 if addressed else 2)
    assert "has read to page 1" in said_of(room)
    people = await room.app.storage.messages.list_people((await room.conversation()).id)
    assert set(people) == {str(room.ann.id), str(room.ben.id)}


async def test_who_has_read_none_of_the_sources_is_told_so(room: Scene) -> None:
    await answered(room)
    [reply] = room.replies()
    pressed = await room.ann.click(reply, label="Sources")
    assert "Marta Quill" in pressed.text
    behind = ReadingPosition(PositionState.READING, 20)
    await room.app.storage.readers.set_position(str(room.ben.id), (await room.book()).id, behind)
    pressed = await room.ben.click(reply, label="Sources")
    assert "Marta" not in pressed.text
    assert pressed.text == "All the sources of this answer are on pages you haven't read yet."


async def test_tool_calls_are_not_opened_by_somebody_behind(room: Scene) -> None:
    card, _ = await told_all(room)
    await stand_at(room, room.ben, "1")
    for label in ("Show excerpt 1", "Show everything"):
        pressed = await room.ben.click(card, label=label)
        assert pressed.ephemeral
        assert "more of the book than you've read" in pressed.text
    assert CULPRIT not in "".join(card.embed_texts)
    await room.ann.click(card, label="Show excerpt 1")
    assert CULPRIT in "".join(card.embed_texts), "Ben only looks on"


async def test_where_somebody_behind_writes_too_they_are_shown_to_one_person_alone(room: Scene) -> None:
    card, _ = await told_all(room)
    await stand_at(room, room.ben, "1")
    await room.ben.say(room.thread, "Do not tell me!")
    await room.until(lambda: len(room.said()) == 3)
    pressed = await room.ann.click(card, label="Show excerpt 1")
    assert pressed.ephemeral
    assert "hasn't read this far" in pressed.text
    assert CULPRIT not in "".join(card.embed_texts)
    pressed = await room.ann.click(card, label="Show everything")
    [trace] = pressed.message.attachments
    assert CULPRIT in trace.data.decode()


async def test_an_open_call_is_folded_by_anybody(room: Scene) -> None:
    card, _ = await told_all(room)
    await room.ann.click(card, label="Show excerpt 1")
    await stand_at(room, room.ben, "1")
    await room.ben.click(card, label="Hide excerpt 1")
    assert CULPRIT not in "".join(card.embed_texts)


@pytest.mark.parametrize(
    ("form", "page", "told"),
    a_few([("markdown", "1", False), ("markdown", "3", True), ("json", "1", False), ("json", "3", True)], 2),
)
async def test_an_export_leaves_out_what_its_reader_has_not_reached(
    room: Scene, form: str, page: str, told: bool
) -> None:
    await told_all(room)
    await stand_at(room, room.ann, page)
    exported = await room.ann.slash("conversations export", channel=room.thread, format=form)
    await room.until(lambda: exported.messages)
    text = exported.message.attachments[0].data.decode()
    assert "Who did it?" in text
    assert (CULPRIT in text, "He did it." in text, "Left out" in text) == (told, told, not told)


async def test_an_answer_nobody_has_seen_is_made_anew_once_its_reader_has_moved_back(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        room.model.say("It was Hobb.")
        await room.ann.say(room.thread, "Who did it?")
        await room.until_delivered()
        [turn] = await room.turns()
        await room.app.storage.turns.finish(replace(turn, state=TurnState.ANSWERED, reply_ids=()))
        double.world.delete(room.replies()[-1])
        await stand_at(room, room.ann, "1")
    async with again(room) as after:
        await after.until_delivered()
        assert after.said()[-1:] == ["I do not know."]
        assert "has read to page 1" in said_of(after)
        assert "It was Hobb." not in await after.kept()


async def test_what_was_hidden_in_an_answer_is_not_in_a_file(room: Scene) -> None:
    await stand_at(room, room.ann, "2")
    room.model.say("Nobody knows. It was Lucian, his brother.")
    await room.ann.say(room.thread, "Who did it?")
    await room.until_delivered()
    assert "||It was Lucian, his brother.||" in room.said()[0]
    exported = await room.ann.slash("conversations export", channel=room.thread)
    await room.until(lambda: exported.messages)
    text = exported.message.attachments[0].data.decode()
    assert "Nobody knows. (hidden)" in text
    assert "Lucian" not in text

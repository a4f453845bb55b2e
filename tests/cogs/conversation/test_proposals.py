"""A model may propose how far somebody has read; a button moves the position, and only for the person concerned."""

from dataclasses import replace
from pathlib import Path

import pytest

from domain.book import PositionState, ReadingPosition
from domain.conversation import TurnState
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble, Message
from tests.doubles.discord_api.actor import Actor
from tests.doubles.discord_api.interactions import Interaction
from tests.doubles.scripted_chat import call, calls
from tests.sampling import a_few

LABEL = "I have read to page 2"


async def proposed(room: Scene, page: str = "2", words: str = "I am on page 2 now.") -> Message:
    room.model.say(calls(call("propose_position", page=page)), "Shall I note that?")
    await room.ann.say(room.thread, words)
    await room.until_delivered()
    return room.replies()[-1]


async def press(room: Scene, reader: Actor, reply: Message, label: str) -> Interaction:
    pressed = await reader.click(reply, label=label)
    await room.until(lambda: pressed.messages)
    return pressed


async def position(room: Scene, reader: Actor) -> ReadingPosition:
    return await room.app.storage.readers.get_position(str(reader.id), (await room.book()).id)


async def end_of_page(room: Scene, number: int) -> int:
    pages = await (await room.app.shelf.open(await room.book())).pages()
    return pages[number - 1].end


async def test_the_button_sets_the_position_and_goes(room: Scene) -> None:
    reply = await proposed(room)
    assert await position(room, room.ann) == ReadingPosition()
    pressed = await press(room, room.ann, reply, LABEL)
    assert pressed.ephemeral
    assert "You're at page 2. I won't reveal anything after it." in pressed.text
    assert await position(room, room.ann) == ReadingPosition(PositionState.READING, await end_of_page(room, 2))
    assert [button.label for button in reply.buttons] == ["Try again"]


async def test_what_a_reader_quotes_is_not_what_they_have_written(room: Scene) -> None:
    reply = await proposed(room, words="Ben says:\n> I am on page 2 now.\nIs he?")
    assert [button.label for button in reply.buttons] == ["Try again"]


async def test_nobody_else_can_confirm_it(room: Scene) -> None:
    reply = await proposed(room)
    pressed = await press(room, room.ben, reply, LABEL)
    assert pressed.ephemeral
    assert f"Only <@{room.ann.id}> can confirm that." in pressed.text
    assert await position(room, room.ann) == await position(room, room.ben) == ReadingPosition()
    assert [button.label for button in reply.buttons] == ["Try again", LABEL]


async def test_it_works_after_a_restart(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        reply = await proposed(room)
    async with again(room) as after:
        await press(after, after.ann, reply, LABEL)
        assert (await position(after, after.ann)).read_to == await end_of_page(after, 2)


async def test_an_answer_that_is_delivered_after_a_crash_has_its_button(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        reply = await proposed(room)
        [turn] = await room.turns()
        await room.app.storage.turns.finish(replace(turn, state=TurnState.ANSWERED, reply_ids=()))
        double.world.delete(reply)
    async with again(room) as after:
        await after.until(
            lambda: [button.label for each in after.replies() for button in each.buttons] == ["Try again", LABEL]
        )


async def test_a_page_that_the_book_does_not_have_moves_nothing(room: Scene) -> None:
    reply = await proposed(room, page="900", words="I am on page 900 now.")
    pressed = await press(room, room.ann, reply, "I have read to page 900")
    assert "There's no page 900" in pressed.text
    assert await position(room, room.ann) == ReadingPosition()


@pytest.mark.parametrize("page", a_few(["Lucian Orchard", "the last", "page 2", ""], 2))
async def test_no_words_of_the_model_get_onto_a_button(room: Scene, page: str) -> None:
    reply = await proposed(room, page=page)
    assert [button.label for button in reply.buttons] == ["Try again"]


@pytest.mark.parametrize("page", a_few(["2", "3"], 1))
async def test_what_the_reader_has_not_written_is_not_offered(room: Scene, page: str) -> None:
    reply = await proposed(room, page=page, words="Who is Hobb?")
    assert [button.label for button in reply.buttons] == ["Try again"]


async def test_a_chapter_and_the_end_are_offered_to_whoever_has_written_them(room: Scene) -> None:
    room.model.say(calls(call("propose_position", chapter="1")), "Shall I note that?")
    await room.ann.say(room.thread, "I have finished chapter 1.")
    await room.until_delivered()
    await press(room, room.ann, room.replies()[-1], "I have read to the end of chapter 1")
    chapters = await (await room.app.shelf.open(await room.book())).chapters()
    assert (await position(room, room.ann)).read_to == chapters[0].end
    room.model.say(calls(call("propose_position", finished=True)), "Shall I note that?")
    await room.ann.say(room.thread, "Now I have finished it.")
    await room.until_delivered(2)
    await press(room, room.ann, room.replies()[-1], "I have finished the book")
    assert (await position(room, room.ann)).state is PositionState.FINISHED


async def test_a_button_of_before_moves_to_nothing_that_was_not_written(room: Scene) -> None:
    reply = await proposed(room)
    [_, button] = reply.buttons
    turn = (await room.turns())[0]
    forged = button.custom_id.removesuffix(":2") + ":3"
    assert turn.id in forged
    room.double.world.edit(
        reply,
        {"components": [{"type": 1, "components": [{"type": 2, "style": 2, "label": "I", "custom_id": forged}]}]},
    )
    pressed = await press(room, room.ann, reply, "I")
    assert "You didn't write that" in pressed.text
    assert await position(room, room.ann) == ReadingPosition()


async def test_of_several_who_wrote_it_is_the_one_who_named_the_page(room: Scene) -> None:
    gate = await room.hold()
    room.model.say("Hello.", calls(call("propose_position", page="2")), "Shall I note that?")
    await room.ann.say(room.thread, "Hello")
    await room.until_asked(1)
    await room.ann.say(room.thread, "I am on page 2 now.")
    await room.ben.say(room.thread, "And who is Hobb?", mention=room.double.bot)
    await room.until_kept("Hello", "I am on page 2 now.", "And who is Hobb?")
    room.model.hold = None
    gate.set()
    await room.until_delivered(2)
    await press(room, room.ann, room.replies()[-1], LABEL)
    assert (await position(room, room.ann)).read_to == await end_of_page(room, 2)

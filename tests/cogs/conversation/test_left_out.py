"""Who has asked to be left out: nothing they write is stored or answered, and they hold nobody back."""

import asyncio
from pathlib import Path

import pytest

from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_readers_behind import said_of, stand_at
from tests.doubles.discord_api import Actor, DiscordDouble, Interaction


async def press(room: Scene, person: Actor, label: str) -> Interaction:
    shown = await person.slash("privacy")
    await room.until(lambda: shown.messages)
    pressed = await person.click(shown.message, label=label)
    await room.until(lambda: pressed.acknowledged)
    return pressed


async def words(room: Scene) -> list[str]:
    return [
        each.content for each in await room.app.transcripts.messages((await room.conversation()).id) if each.author_id
    ]


async def test_what_they_write_is_neither_stored_nor_answered_until_they_undo_it(room: Scene) -> None:
    await press(room, room.ben, "Leave me out")
    for text in ("Who did it?", "Hello?"):
        await room.ben.say(room.thread, text, mention=room.double.bot)
    await room.ben.say(room.double.channel, "And here?", mention=room.double.bot)
    await room.ben.direct("And in private?")
    await room.ann.say(room.thread, "Is it dark?")
    await room.until_delivered()
    assert await words(room) == ["Is it dark?"]
    assert not (await room.conversation()).shared
    assert not any(room.double.said())
    assert room.double.said(room.ben.direct_channel) == []
    await press(room, room.ben, "Take part again")
    await room.ben.say(room.thread, "Am I back?", mention=room.double.bot)
    await room.until_delivered(2)
    assert await words(room) == ["Is it dark?", "Am I back?"]


async def test_a_command_of_theirs_is_refused_also_while_the_database_is_held_up_after_a_restart(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(double, tmp_path) as before:
        await before.prepare()
        await press(before, before.ben, "Leave me out")
    async with again(before) as room:

        async def never(reader_id: str) -> bool:
            await asyncio.Event().wait()
            return False

        monkeypatch.setattr(room.app.people._readers, "is_opted_out", never, raising=False)
        asked, listed = await room.ben.slash("ask", question="Who did it?"), await room.ann.slash("books list")
        await room.until(lambda: asked.messages and listed.messages)
        assert "asked me to leave you out" in asked.text
        assert "The Dark Lamp" in listed.text


async def test_people_who_opted_out_limit_nobody(room: Scene) -> None:
    await stand_at(room, room.ben, "1")
    await room.ben.say(room.thread, "I read along", mention=room.double.bot)
    await room.until_delivered()
    await press(room, room.ben, "Leave me out")
    await room.ann.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered(2)
    assert "the whole book" in said_of(room)


async def test_what_they_change_is_not_taken_in_and_what_they_delete_goes(room: Scene) -> None:
    asked = await room.ben.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered()
    await press(room, room.ben, "Leave me out")
    await room.ben.edit(asked, "Somebody else's secret")
    await room.ann.say(room.thread, "Is it dark?", mention=room.double.bot)
    await room.until_delivered(2)
    assert await words(room) == ["Who did it?", "Is it dark?"]


@pytest.mark.parametrize(("locale", "told"), [("en-US", "asked me to leave you out"), ("de", "außen vor lasse")])
async def test_commands_and_buttons_say_why_they_do_nothing(room: Scene, locale: str, told: str) -> None:
    room.ben.locale = locale
    listed = await room.ben.slash("books list")
    shown = await room.ben.slash("privacy")
    await room.until(lambda: shown.messages and listed.messages)
    await room.ben.click(shown.message, custom_id="do:privacy-out:")
    book = await room.book()
    used = [
        await room.ben.slash("chat", book=book.id),
        await room.ben.slash("progress", book=book.id, page="1"),
        await room.ben.slash("verbose", mode="on"),
    ]
    await room.until(lambda: all(each.messages for each in used))
    assert all(told in each.text and each.ephemeral for each in used)
    assert "Marginalia" in (await room.ben.slash("help")).text
    assert len(room.double.threads()) == 1


async def test_it_lasts_over_a_restart_and_holds_for_what_was_written_meanwhile(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await press(room, room.ben, "Leave me out")
        thread = room.thread
    await double.user("ben").say(thread, "Who did it?", mention=double.bot)
    await double.user("ann").say(thread, "Is it dark?")
    async with again(room) as room:
        await room.until_delivered()
        assert await words(room) == ["Is it dark?"]

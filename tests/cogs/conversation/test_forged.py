"""Presses, choices and modals that no client of Discord's would send: a sentence, and no rights beyond one's own."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domain.conversation import Conversation, Turn
from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import Channel, DiscordDouble, Interaction, Message
from tests.doubles.discord_api.actor import Actor
from tests.sampling import a_few

ODD = ("", "²:-1", "a:b:c:d", "9" * 80)
LONG = "9" * 4_000
ABOUT_ONESELF = ("privacy", "help", "keep")
"""What the actions begin with that are about nobody and nothing but whoever presses."""


@dataclass
class Private:
    """Ann has asked something in a private thread; its `turn` was answered."""

    room: Scene
    thread: Channel
    talk: Conversation
    turn: Turn

    @property
    def ids(self) -> tuple[str, ...]:
        turn, question = self.turn.id, self.thread.id
        return self.talk.id, self.talk.book_id, turn, f"{turn}:1", f"{turn}:{self.room.ann.id}:2", str(question)

    async def state(self) -> object:
        talk = await self.room.conversation(self.thread)
        people = await self.room.app.company.of(talk.id)
        said = [each.content for each in self.room.double.messages(self.thread)]
        return talk, await self.room.turns(self.thread), await self.room.history(self.thread), people, said


@pytest.fixture
async def private(double: DiscordDouble, tmp_path: Path) -> AsyncIterator[Private]:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        thread = await room.chat(await room.book(), title="Secret", private=True)
        room.model.say("The cousin did it.")
        await room.ann.say(thread, "Who put the lamp out?")
        await room.until_delivered(1, thread)
        [turn] = await room.turns(thread)
        yield Private(room, thread, await room.conversation(thread), turn)


def pressed_there(room: Scene, channel: Channel) -> Message:
    """A message of the bot's to press something at."""
    return room.double.world.post(channel, room.double.bot, "Hello.")


async def stranger(room: Scene) -> tuple[Actor, Message]:
    """Somebody in another server, and a message of the bot's there."""
    elsewhere = room.double.add_guild("Elsewhere")
    channel = next(iter(elsewhere.channels.values()))
    await room.until(lambda: room.state.bot.get_channel(channel.id))
    return room.double.user("eve", elsewhere), pressed_there(room, channel)


def actions(room: Scene, kind: str) -> Iterator[str]:
    """The actions of the bot's buttons ("do") or menus ("pick")."""
    for item in room.state.bot.handled:
        pattern = item.__discord_ui_compiled_template__.pattern
        if pattern.startswith(f"{kind}:"):
            yield pattern.split(":")[1]


async def outcome(room: Scene, sent: Interaction) -> str:
    """What is said about it, also by a change of the message or by a file; a modal that opens counts as its title."""
    await room.until(lambda: not room.state.bot.at_work)
    parts = [*sent.messages, *([sent.source] if sent.source else [])]
    files = [each.filename for part in parts for each in part.attachments]
    changed = [text for part in parts for text in (part.content, *part.embed_texts) if text != "Hello."]
    return "\n".join([*files, *changed, str((sent.modal or {}).get("title", ""))]).strip()


async def test_every_button_answers_whatever_it_is_made_to_name(private: Private) -> None:
    room, (eve, there) = private.room, await stranger(private.room)
    before = await private.state()
    for action in actions(room, "do"):
        for argument in (*ODD, *private.ids):
            there.content, there.embeds, there.attachments = "Hello.", [], []
            said = await outcome(room, await eve.forge_press(there, f"do:{action}:{argument}"))
            assert said, (action, argument)
            assert "cousin" not in said
            assert "Secret" not in said
    assert await private.state() == before


async def test_who_is_not_in_a_private_thread_does_nothing_with_it(private: Private) -> None:
    """Ben is in Ann's server, where he sees its books, but not her thread."""
    room, before = private.room, await private.state()
    there = pressed_there(room, room.double.channel)
    for action in actions(room, "do"):
        if not action.startswith(ABOUT_ONESELF):
            for argument in private.ids:
                there.content, there.embeds, there.attachments = "Hello.", [], []
                said = await outcome(room, await room.ben.forge_press(there, f"do:{action}:{argument}"))
                assert "cousin" not in said, (action, argument)
                assert "Secret" not in said
    assert await private.state() == before


async def test_every_menu_answers_whatever_is_chosen(private: Private) -> None:
    room, (eve, there) = private.room, await stranger(private.room)
    for action in actions(room, "pick"):
        for values in ([], *([each] for each in (*ODD, *private.ids, "http://127.0.0.1:1/x"))):
            there.content, there.embeds = "Hello.", []
            said = await outcome(room, await eve.forge_press(there, f"pick:{action}:", *values, is_menu=True))
            assert said, (action, values)
            assert "Secret" not in said
    assert await room.app.shelf.list(str(there.channel.guild.id if there.channel.guild else 0)) == []


@pytest.mark.parametrize("is_stranger", a_few([True, False], 1))
async def test_every_modal_answers_whatever_is_written(private: Private, is_stranger: bool) -> None:
    """Of any length, about a book of another server, or of one's own."""
    room = private.room
    person, there = room.ann, pressed_there(room, room.double.channel)
    if is_stranger:
        person, there = await stranger(room)
    for action in (*room.state.bot.forms, "unknown"):
        for argument in ("", "²:-1", private.talk.book_id):
            for fields in (
                {},
                {"page": LONG},
                {"chapter": "x" * 4_000},
                {"question": LONG, "passage": LONG},
                {"page": "²", "question": "?"},
            ):
                sent = await person.forge_modal(there, f"fill:{action}:{argument}", **fields)
                assert await outcome(room, sent), (action, argument, fields)
    position = await room.app.positions.get(str(person.id), await room.book())
    assert not position.is_set


async def test_names_of_any_length_are_refused_in_a_sentence(private: Private) -> None:
    """Where Discord sets no limit to what is typed, or somebody gets around it."""
    room = private.room
    commands: tuple[tuple[str, dict[str, Any]], ...] = (
        ("chat", {"book": LONG}),
        ("chat", {"book": private.talk.book_id, "conversation": LONG}),
        ("progress", {"book": LONG, "page": "1"}),
        ("ask", {"question": "Who?", "book": LONG}),
        ("conversations list", {"book": LONG}),
        ("conversations rename", {"title": "x", "conversation": LONG}),
        ("books info", {"book": LONG}),
    )
    for command, options in commands:
        sent = await room.ben.slash(command, **options)
        said = await outcome(room, sent)
        assert said, command
        assert len(said) < 1_000, command

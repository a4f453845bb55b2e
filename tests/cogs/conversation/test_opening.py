"""/chat where Discord stumbles, tells things twice, or people are quicker: one thread, one answer, no text lost."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.client import client
from tests.cogs.conversation.scene import Scene, scene
from tests.doubles.discord_api import Channel, ChannelType, DiscordDouble, Interaction, Message
from tests.doubles.discord_api.faults import Fault, Moment
from tests.journeys.reading_room import TALE
from tests.sampling import a_few

CALLBACK = "POST /interactions/{interaction}/{token}/callback"
REPLY = "PATCH /webhooks/{app}/{token}/messages/{message}"
TOO_LATE = 10062


async def chat(room: Scene, message: str = "Who?") -> Interaction:
    book = await room.book()
    return await room.ann.slash("chat", book=book.id, title="Night", message=message)


async def opened(room: Scene) -> Channel:
    """The thread of that /chat, once its question has its answer."""
    await room.until(lambda: len(room.double.threads()) == 2)
    thread = room.double.threads()[-1]
    await room.until(lambda: room.said(thread)[-1:] == ["I do not know."])
    await room.until_delivered(1, thread)
    return thread


async def test_an_interaction_that_is_told_twice_is_carried_out_once(room: Scene) -> None:
    await chat(room)
    [session] = room.double.gateway.live
    [event] = [each for each in session.events if each["t"] == "INTERACTION_CREATE"][-1:]
    session.dispatch("INTERACTION_CREATE", event["d"])
    thread = await opened(room)
    session.dispatch("INTERACTION_CREATE", event["d"])
    await room.ann.say(thread, "And when?")
    await room.until_delivered(2, thread)
    assert len(room.double.threads()) == 2
    assert room.said(thread).count("I do not know.") == 2
    assert len(room.double.calls(CALLBACK)) == 2


async def test_an_interaction_repeated_by_a_resumed_session_is_carried_out_once(room: Scene) -> None:
    room.double.gateway.replay = 20
    await chat(room)
    await room.double.gateway.drop()
    await opened(room)
    await room.until(lambda: room.double.gateway.resumes)
    assert len(room.double.threads()) == 2


async def test_an_interaction_that_has_expired_is_carried_out_all_the_same(room: Scene) -> None:
    room.double.fail(CALLBACK, status=404, code=TOO_LATE)
    await chat(room)
    thread = await opened(room)
    assert room.ann.id in thread.members


@pytest.mark.parametrize("took_effect", [False, True])
async def test_an_acknowledgement_that_is_lost_is_said_again(room: Scene, took_effect: bool) -> None:
    room.double.drop(CALLBACK, took_effect=took_effect)
    await chat(room)
    await opened(room)


@pytest.mark.parametrize("status", a_few([404, 0], 1))
async def test_a_reply_that_is_not_taken_does_not_keep_the_thread(room: Scene, status: int) -> None:
    room.double.fail(REPLY, status=status)
    await chat(room)
    await opened(room)


@pytest.mark.parametrize("status", a_few([403, 0, 503], 2))
async def test_a_card_that_is_not_taken_does_not_keep_the_answer(room: Scene, status: int) -> None:
    room.double.fail("POST /channels/{channel}/messages", status=status)
    await chat(room)
    await opened(room)


async def test_who_gave_a_command_that_a_stop_cuts_short_is_told(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "COMMAND_PATIENCE_S", 0.1)
    async with scene(double, tmp_path) as room:
        await room.prepare()
        begun = asyncio.Event()

        async def endless(*args: Any, **options: Any) -> None:
            begun.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(room.app.shelf._parser, "read", endless, raising=False)
        adding = await room.ann.slash("books add", file=double.file("lamp.txt", b"It was dark."))
        await begun.wait()
    assert "I'm restarting and couldn't finish this." in adding.text
    assert not [said for said in double.said() if "lamp.txt" in said], "nothing is left of its progress"


@pytest.mark.parametrize("locale", ["en-US", "de"])
async def test_who_comes_while_it_stops_is_told_to_try_again(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locale: str
) -> None:
    """A command, and the button of a message that stands: both are answered as long as the connection does."""
    used: list[Interaction] = []
    async with scene(double, tmp_path) as room:
        await room.prepare()
        ben = double.user("ben")
        ben.locale = locale
        shown = await ben.slash("privacy")
        bot = room.state.bot
        finish = bot._finish_listening

        async def late() -> None:
            """The cogs are gone by now, and the connection stands."""
            used.append(await ben.slash("help"))
            used.append(await ben.click(shown.message, custom_id="do:privacy-export:"))
            await finish()

        monkeypatch.setattr(bot, "_finish_listening", late)
    told = "try again in a minute" if locale == "en-US" else "in einer Minute noch einmal"
    assert [told in each.text and each.ephemeral for each in used] == [True, True]


async def test_a_command_that_is_nearly_done_is_let_finish(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        double.round_trip = 0.2
        asking = asyncio.create_task(chat(room))
        await room.until(lambda: double.calls(CALLBACK)[1:])
    await asking
    double.round_trip = 0.0
    async with scene(double, tmp_path) as room:
        await opened(room)


async def test_a_stop_that_cuts_an_opening_short_leaves_the_answer_to_the_next_start(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "COMMAND_PATIENCE_S", 0.1)
    async with scene(double, tmp_path) as room:
        await room.prepare()
        double.hold("POST /channels/{channel}/messages")
        await chat(room)
        await room.until(lambda: double.rest.faults.all_struck)
    told = [each.text for each in double.interactions.interactions.values() if "I'm restarting" in each.text]
    assert [each.endswith("If it isn't done in a minute, please try again.") for each in told] == [True]
    async with scene(double, tmp_path) as room:
        await opened(room)


async def test_who_writes_before_the_thread_is_bound_is_answered(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        bind = room.app.conversations.bind

        async def slow_bind(*args: Any, **options: Any) -> Any:
            await room.ann.say(double.threads()[-1], "Am I too early?", mention=double.bot)
            await asyncio.sleep(0.1)  # the bot hears of it
            return await bind(*args, **options)

        monkeypatch.setattr(room.app.conversations, "bind", slow_bind)
        await room.ann.slash("chat", book=(await room.book()).id, title="Early")
        assert room.said(await opened(room)) == ["I do not know."]


async def test_a_question_of_a_books_card_pressed_twice_at_once_opens_one_thread_and_is_asked_once(room: Scene) -> None:
    card = await added(room)
    pressed = await asyncio.gather(*(room.ann.click(card, label="How does the book begin?") for _ in range(2)))
    await room.until(lambda: all("<#" in each.text for each in pressed))
    thread = room.double.threads()[-1]
    await room.until_delivered(1, thread)
    assert await room.kept(thread) == ["How does the book begin?", "I do not know."]
    assert len(room.double.threads()) == 2


async def test_start_reading_pressed_twice_at_once_opens_one_thread(room: Scene) -> None:
    card = await added(room)
    first, second = await asyncio.gather(*(room.ann.click(card, label="Start reading") for _ in range(2)))
    await room.until(lambda: any("You've talked about" in each.text for each in (first, second)))
    assert len(room.double.threads()) == 2


async def test_a_german_readers_card_asks_in_german(room: Scene) -> None:
    room.ann.locale = "de"
    card = await added(room)
    assert [button.label for button in card.buttons][:3] == [
        "Mit dem Lesen beginnen",
        "Inhalt",
        "Wie fängt das Buch an?",
    ]
    pressed = await room.ann.click(card, label="Wie fängt das Buch an?")
    await room.until(lambda: "<#" in pressed.text)
    thread = room.double.threads()[-1]
    await room.until_delivered(1, thread)
    assert (await room.kept(thread))[0] == "Wie fängt das Buch an?"


async def added(room: Scene) -> Message:
    """The card of a book that Ann adds."""
    used = await room.ann.slash("books add", file=room.double.file("tale.txt", TALE.encode()), title="The Boat")
    await room.until(lambda: used.messages and used.message.buttons)
    return used.message


async def test_in_an_announcement_channel_threads_are_of_its_kind(room: Scene) -> None:
    news = room.double.world.add_channel(room.double.guild, "news", ChannelType.ANNOUNCEMENT)
    book = await room.book()
    await room.ann.slash("chat", book=book.id, title="News", channel=news)
    await room.ann.slash("club start", book=book.id, sections=3, gate="open", channel=news)
    await room.until(lambda: len([each for each in room.double.threads() if each.parent is news]) == 1 + 3)
    assert {each.type for each in room.double.threads() if each.parent is news} == {ChannelType.ANNOUNCEMENT_THREAD}
    assert room.double.violations == []


async def test_a_private_thread_that_its_reader_cannot_enter_is_archived(room: Scene) -> None:
    book = await room.book()
    room.double.fail("PUT /channels/*/thread-members/*", status=503, times=9)
    replied = await room.ann.slash("chat", book=book.id, title="Night", private=True)
    await room.until(partial(getattr, replied, "messages"))
    assert "Discord is having trouble." in replied.text
    [opened] = [each for each in room.double.threads() if each.name == "Night"]
    assert opened.archived


@pytest.mark.parametrize("status", [0, 502])
async def test_a_thread_whose_response_was_lost_is_archived(room: Scene, status: int) -> None:
    """Discord has made it at an attempt that discord.py, or the person, repeats."""
    fault = Fault("POST /channels/{channel}/threads", status, moment=Moment.AFTER)
    room.double.rest.faults.add(fault)
    book = await room.book()
    for _ in range(1 if status else 2):
        replied = await room.ann.slash("chat", book=book.id, title="Night", private=True)
        await room.until(partial(getattr, replied, "messages"))
    [first, second] = [each for each in room.double.threads() if each.name == "Night"]
    assert (first.archived, first.messages) == (True, {})
    assert (second.archived, second.mention in replied.text) == (False, True)

"""A shared database that is away for a while: readers are told in plain words, answered later, and the words go."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import discord
import pytest

from bot.client import client
from cogs import removals, services
from cogs.conversation import backfill, worker
from cogs.conversation.buttons import accept_button, view_of
from cogs.errors import sentence_for
from cogs.i18n import speech_at, speech_for
from domain.concurrency import CURRENT_LEASE, HeldLease
from domain.errors import StorageError, StorageErrorCode
from storage.opening import open_storage
from storage.postgres import database
from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_deletions import until_gone
from tests.cogs.conversation.test_direct_messages import Reader
from tests.cogs.conversation.test_shown_questions import asked as asked_elsewhere
from tests.cogs.conversation.test_shown_questions import until_only
from tests.doubles.discord_api import Actor, DiscordDouble
from tests.doubles.discord_api.entities import Permission
from tests.postgres import Wire, a_database, wire_to
from tests.sampling import a_few
from tests.waiting import eventually

AWAY = "⚠️ I can't get at my notes just now. I'll answer as soon as I can."
AWAY_IN_GERMAN = "⚠️ Ich komme gerade nicht an meine Notizen. Ich antworte, sobald es wieder geht."


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "STORE_AGAIN_AFTER_S", (0.3,) * 60)
    monkeypatch.setattr(worker, "COME_BACK_AFTER_S", (0.3,) * 60)
    monkeypatch.setattr(database, "CONNECT_TIMEOUT_S", 0.5)
    monkeypatch.setattr(database, "RECONNECT_TIMEOUT_S", 0.2)  # whoever calls next has it try again at once
    monkeypatch.setattr(database, "PAUSES_S", (0.005, 0.05))
    monkeypatch.setattr(removals, "NOTE_AGAIN_S", 0.3)


@pytest.fixture
def expected_errors() -> list[str]:
    return ["posted messages", "the delivery of turn", "the conversations", "what ", "which answers", "whom message"]


class BreakingWire(Wire):
    """Is cut as soon as a transaction is stored that contains the words in `breaks_after`."""

    breaks_after = b""

    def listener(self, *, to_server: bool) -> Callable[[bytes], None]:
        def hear(data: bytes) -> None:
            if to_server and self.breaks_after and self.breaks_after in data:
                self.breaks_after, self._is_storing = b"", True
            elif not to_server and self._is_storing and b"COMMIT" in data:
                self._is_storing = False
                asyncio.get_running_loop().call_soon(self.cut)

        return hear

    _is_storing = False


@pytest.fixture
async def wire() -> AsyncIterator[BreakingWire]:
    with a_database() as url:
        async with wire_to(url, BreakingWire) as wire:
            assert isinstance(wire, BreakingWire)
            yield wire


@pytest.fixture
async def room(double: DiscordDouble, tmp_path: Path, wire: Wire) -> AsyncIterator[Scene]:
    async with scene(double, tmp_path, database_url=wire.url) as room:
        await room.prepare()
        yield room


@pytest.fixture
async def lease(wire: Wire) -> AsyncIterator[HeldLease]:
    """Held by this process, as where there are several; what is started afterwards works under it."""
    async with await open_storage(wire.url) as storage:
        assert storage.leases is not None
        held = await storage.leases.acquire("shard/0", "me", 600.0)
        assert held is not None
        token = CURRENT_LEASE.set(held)
        yield held
        CURRENT_LEASE.reset(token)


async def until_the_database_answers(room: Scene) -> None:
    """The pool connects again a moment after the way is mended."""
    while not await room.state.bot.is_well():
        await asyncio.sleep(0.05)


async def being_answered(room: Scene) -> asyncio.Event:
    """Ann has asked, and the model has begun; set the event to let it go on."""
    go_on = await room.hold()
    room.model.say("It was Hobb, as everybody in the house knew well enough by then.")
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_asked(1)
    return go_on


async def cut_off_as_it_answers(room: Scene, wire: Wire) -> None:
    """The notice stands where the answer was being made."""
    go_on = await being_answered(room)
    wire.cut()
    go_on.set()
    await room.until_said(AWAY)


async def test_what_is_written_meanwhile_is_answered_and_the_notice_goes(
    room: Scene, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    room.model.say("It was Hobb.")
    wire.cut()
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said(AWAY)
    wire.mend()
    await room.until_said("It was Hobb.")
    await room.until_kept("Who put the lamp out?", "It was Hobb.")
    assert "127.0.0.1" in caplog.text  # which database it is, operators read
    caplog.clear()


async def test_it_is_told_once_in_a_thread_and_all_is_answered_when_the_database_is_back(
    room: Scene, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "STORE_AGAIN_AFTER_S", (600.0,))
    room.model.say("It was Hobb, by night.")
    room.model.say("It was Hobb, by night.")
    wire.cut()
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said(AWAY)
    await room.ann.say(room.thread, "And when?")
    waiting = room.state.bot.cogs["ConversationCog"]._not_kept  # type: ignore[attr-defined]
    await room.until(lambda: len(waiting) == 2)
    assert room.said() == [AWAY]
    wire.mend()
    await until_the_database_answers(room)
    room.state.bot.dispatch("database_back")
    await room.until(lambda: not waiting and {*room.said()} == {"It was Hobb, by night."})
    assert {"Who put the lamp out?", "And when?"} <= {*await room.kept()}


async def test_in_the_servers_language(room: Scene, wire: Wire) -> None:
    guild = room.state.bot.get_guild(room.double.guild.id)
    assert guild is not None
    guild.preferred_locale = discord.Locale.german
    room.model.say("Es war Hobb.")
    wire.cut()
    await room.ann.say(room.thread, "Wer hat die Lampe gelöscht?")
    await room.until_said(AWAY_IN_GERMAN)
    wire.mend()
    await room.until_said("Es war Hobb.")


async def test_in_the_persons_language_in_direct_messages_and_in_all_if_it_is_not_known(
    room: Scene, wire: Wire
) -> None:
    ann, ben = room.double.stranger("ann"), room.double.stranger("ben")
    ann.locale = "de"
    reader = Reader(room.double, room.state, ann)
    await reader.chat(await reader.add("The Lamp"))
    wire.cut()
    await ann.say(ann.direct_channel, "Wer hat die Lampe gelöscht?")
    await room.double.until(lambda: room.double.said(ann.direct_channel)[-1] == AWAY_IN_GERMAN)
    await ben.say(ben.direct_channel, "Dracula")
    await room.double.until(lambda: room.double.said(ben.direct_channel)[-1:] == [f"{AWAY}\n{AWAY_IN_GERMAN}"])
    from_ann = cast(discord.Message, SimpleNamespace(guild=None, author=SimpleNamespace(id=ann.id), content="Stop"))
    assert (await speech_at(room.state.bot.use_cases, from_ann))("Stop") == "Stopp"
    wire.mend()
    await reader.heard("I do not know.")


async def test_who_has_no_conversation_yet_is_told_how_to_begin_one_once_the_database_is_back(
    room: Scene, wire: Wire
) -> None:
    ben = room.double.stranger("ben")
    wire.cut()
    await ben.say(ben.direct_channel, "Hello?")
    await room.double.until(lambda: AWAY in "".join(room.double.said(ben.direct_channel)))
    wire.mend()
    await room.double.until(lambda: ["Let's read a book together" in each for each in said_to(room, ben)] == [True])


def said_to(room: Scene, person: Actor) -> list[str]:
    return room.double.said(person.direct_channel)


async def test_whom_a_notice_shows_is_noted_once_the_database_is_back(
    room: Scene, wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(services, "STORE_AGAIN_AFTER_S", ())  # the notice stays
    wire.cut()
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said(AWAY)
    [notice] = room.replies()
    await room.until(lambda: "is noted later" in caplog.text)
    wire.mend()
    await until_the_database_answers(room)

    async def is_noted() -> bool:
        copy = await room.app.people.export(str(room.ann.user.id))
        return str(notice.id) in str(copy)

    await eventually(is_noted)


async def test_the_note_of_a_post_that_is_deleted_meanwhile_goes_once_the_database_is_back(
    room: Scene, wire: Wire
) -> None:
    async def noted() -> list[str]:
        return [each["message_id"] for each in (await room.app.people.export(str(room.ann.user.id)))["shown_in"]]

    shown = await eventually(noted)
    places = (room.thread, room.double.channel)
    [card] = [each for place in places for each in room.double.messages(place) if str(each.id) == shown[0]]
    wire.cut()
    room.double.world.delete(card)
    await room.until(lambda: room.state.bot.storage_retries._tasks)
    wire.mend()
    await until_the_database_answers(room)
    await eventually(noted, lambda ids: shown[0] not in ids)


async def test_an_answer_that_was_being_made_is_made_again_in_its_place(room: Scene, wire: Wire) -> None:
    await cut_off_as_it_answers(room, wire)
    [notice] = room.replies()
    room.model.say("It was Hobb.")
    wire.mend()
    await room.until_said("It was Hobb.")
    [answer] = room.replies()
    assert answer.id == notice.id
    await room.until_kept("Who put the lamp out?", "It was Hobb.")


async def test_one_notice_stands_where_an_answer_was_being_made_and_more_is_written(
    room: Scene, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    go_on = await being_answered(room)
    wire.cut()
    await room.ann.say(room.thread, "And when?")
    await room.until(lambda: AWAY in room.said())
    go_on.set()
    await room.until(lambda: caplog.text.count("the database is away") == 2)  # both would tell it
    await room.until_said(AWAY)
    waiting = room.state.bot.cogs["ConversationCog"]._not_kept  # type: ignore[attr-defined]
    await room.ann.say(room.thread, "And why?")
    await room.until(lambda: len(waiting) == 2)
    assert room.said() == [AWAY]
    room.model.say("It was Hobb, by night.")
    room.model.say("It was Hobb, by night.")
    room.model.say("It was Hobb, by night.")
    wire.mend()
    await room.until(lambda: not waiting and {*room.said()} == {"It was Hobb, by night."})


async def test_who_writes_below_the_notice_of_an_answer_is_told_nothing_more(room: Scene, wire: Wire) -> None:
    await cut_off_as_it_answers(room, wire)
    waiting = room.state.bot.cogs["ConversationCog"]._not_kept  # type: ignore[attr-defined]
    await room.ann.say(room.thread, "And when?")
    await room.until(lambda: len(waiting) == 1)
    assert room.said() == [AWAY]
    room.model.say("It was Hobb, by night.")
    room.model.say("It was Hobb, by night.")
    wire.mend()
    await room.until(lambda: not waiting and {*room.said()} == {"It was Hobb, by night."})


async def test_it_is_told_where_a_message_is_stored_and_its_conversation_cannot_be_read(
    room: Scene, wire: BreakingWire
) -> None:
    room.model.say("It was Hobb.")
    wire.breaks_after = b"INSERT INTO chat_messages"
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said(AWAY)
    wire.mend()
    await room.until_said("It was Hobb.")


async def test_what_is_posted_is_noted_as_delivered_once_the_database_is_back(
    room: Scene, wire: BreakingWire, caplog: pytest.LogCaptureFixture
) -> None:
    room.model.say("It was Hobb.")
    wire.breaks_after = b"answered"
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until(lambda: "the delivery of turn" in caplog.text)
    wire.mend()
    await until_the_database_answers(room)
    await room.until_delivered()
    await room.until(lambda: room.said() == ["It was Hobb."])  # a notice of the outage goes once all is taken in again


async def test_what_was_being_answered_again_is(room: Scene, wire: Wire) -> None:
    room.model.say("It was Hobb.")
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said("It was Hobb.")
    await room.until_delivered()
    go_on = await room.hold()
    room.model.say("It was Lucian, as everybody in the house knew well enough by then.")
    pressed = await room.ann.click(room.replies()[0], label="Try again")
    await room.until_asked(2)
    wire.cut()
    go_on.set()
    await room.until(lambda: AWAY in room.said())
    room.model.say("It was Hobb, by night.")
    wire.mend()
    await room.until_said("It was Hobb, by night.")
    assert not pressed.followups, "the thread says it"


async def test_what_another_process_has_said_goes_where_this_one_answers(room: Scene) -> None:
    place = room.state.bot.get_partial_messageable(room.thread.id)
    await place.send(AWAY, view=view_of(accept_button(1, speech_for(discord.Locale.american_english))))
    room.model.say(AWAY)
    await room.ann.say(room.thread, f"Repeat: {AWAY}")
    await room.until_said(AWAY)
    await room.until_delivered()
    [answer] = room.replies()
    assert [each.label for each in answer.buttons] == ["Try again"]


async def test_it_is_told_once_where_the_lease_ended_meanwhile(
    lease: HeldLease, double: DiscordDouble, tmp_path: Path, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with scene(double, tmp_path, database_url=wire.url) as room:
        await room.prepare()
        go_on = await being_answered(room)
        held, lease.valid_until = lease.valid_until, 0.0
        wire.cut()
        go_on.set()
        await room.until(lambda: AWAY in room.said())
        waiting = room.state.bot.cogs["ConversationCog"]._not_kept  # type: ignore[attr-defined]
        await room.ann.say(room.thread, "And when?")
        await room.until(lambda: len(waiting) == 1)
        await room.until(lambda: caplog.text.count("the database is away") > 2)  # it was tried again meanwhile
        assert room.said().count(AWAY) == 1
        room.model.say("It was Hobb, by night.")
        room.model.say("It was Hobb, by night.")
        lease.valid_until = held
        wire.mend()
        await room.until(lambda: not waiting and {*room.said()} == {"It was Hobb, by night."})


async def test_who_deletes_the_message_meanwhile_gets_no_answer(room: Scene, wire: Wire) -> None:
    wire.cut()
    asked = await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said(AWAY)
    await room.ann.delete(asked)
    wire.mend()
    await until_the_database_answers(room)
    await room.until_said()
    assert await room.history() == []


async def test_a_question_that_is_edited_meanwhile_is_stored_as_it_says_last(room: Scene, wire: Wire) -> None:
    room.model.say("It was Hobb.")
    asked = await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_kept("Who put the lamp out?", "It was Hobb.")
    wire.cut()
    await room.ann.edit(asked, "Who lit the lamp?")
    await room.ann.edit(asked, "Who broke the lamp?")
    waiting = room.state.bot.cogs["ConversationCog"]._edited  # type: ignore[attr-defined]
    await room.until(lambda: [each.content for each in waiting.values()] == ["Who broke the lamp?"])
    wire.mend()
    await until_the_database_answers(room)
    await room.until_kept("Who broke the lamp?", "It was Hobb.")
    await room.until(lambda: not waiting)


@pytest.mark.parametrize("shown", a_few(["original", "repetition"], 1))
async def test_a_question_is_taken_back_whose_message_elsewhere_is_deleted_meanwhile(
    room: Scene, wire: Wire, shown: str
) -> None:
    first, second = await asked_elsewhere(room), await asked_elsewhere(room, "What has Marta seen?")
    await room.ann.edit(second.original, f"<@{room.double.bot.id}> What has she seen?")
    await until_only(room, "Does my neighbour Hobb know?", "What has she seen?")
    wire.cut()
    room.double.world.delete(getattr(first, shown))
    await room.until(lambda: room.state.bot.storage_retries._tasks)
    wire.mend()
    await until_the_database_answers(room)
    await until_only(room, "What has she seen?")
    await room.until(lambda: first.repetition.deleted)


async def test_a_thread_that_is_deleted_meanwhile_is_noted_once_the_database_is_back(room: Scene, wire: Wire) -> None:
    wire.cut()
    await room.ann.delete_channel(room.thread)
    await room.until(lambda: room.state.bot.storage_retries._tasks)
    wire.mend()
    await until_the_database_answers(room)
    await until_gone(room)


async def test_what_was_said_before_a_kill_goes_with_the_answer_after_it(
    double: DiscordDouble, tmp_path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "STORE_AGAIN_AFTER_S", ())
    async with scene(double, tmp_path, database_url=wire.url) as before:
        await before.prepare()
        wire.cut()
        await before.ann.say(before.thread, "Who put the lamp out?")
        await before.until_said(AWAY)
    wire.mend()
    async with again(before, database_url=wire.url) as after:
        after.model.say("It was Hobb.")
        await after.until_said("It was Hobb.")


async def test_what_was_written_while_both_were_away_is_read_once_the_database_is_back(
    room: Scene, wire: Wire, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backfill, "READ_AGAIN_AFTER_S", (600.0,))
    room.model.say("It was Hobb.")
    wire.cut()
    room.double.gateway.replay = -1  # the message is not among the events that are told after the break
    await room.double.gateway.drop()
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until(lambda: room.double.gateway.resumes == 1)
    await room.until(lambda: "the conversations of guild" in caplog.text)
    wire.mend()
    await until_the_database_answers(room)
    room.state.bot.dispatch("database_back")
    await room.until_said("It was Hobb.")


async def test_what_else_happens_meanwhile_is_dealt_with_once_the_database_is_back(
    room: Scene, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    wire.cut()
    await room.ann.rename(room.thread, "By night")
    await room.ann.say(room.double.channel, f"<@{room.double.bot.id}> hello")
    await room.until(lambda: "the mention in message" in caplog.text)
    await room.until(lambda: f"the name of thread {room.thread.id} is stored later" in caplog.text)
    wire.mend()
    await until_the_database_answers(room)
    room.state.bot.dispatch("database_back")
    await room.until(lambda: "Which book" in room.double.said(room.double.channel)[-1])
    await eventually(room.conversation, lambda talk: talk.title == "By night")


TRY_AGAIN = "I can't get at my notes just now. Please try again in a minute."


async def test_whoever_uses_a_command_a_menu_or_a_button_meanwhile_is_told_before_discord_gives_up(
    double: DiscordDouble, tmp_path: Path, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "CONNECT_TIMEOUT_S", 3.5)  # longer than Discord waits
    monkeypatch.setattr(client, "COMMAND_PATIENCE_S", 0.5)
    async with scene(double, tmp_path, database_url=wire.url) as room:
        await room.prepare()
        ann = room.ann
        ann.grant(Permission.MANAGE_GUILD)
        asked = await ann.say(double.channel, "Who put the lamp out?")
        about_me = (await ann.slash("privacy")).original
        assert about_me is not None
        wire.cut()
        used = await asyncio.gather(
            ann.slash("privacy"),
            ann.slash("settings adders", everyone=True),
            ann.slash("settings language", locale="de"),
            ann.menu("Ask about this", asked),
            ann.menu("Where is this in the book?", asked),
            ann.click(about_me, label="Leave me out"),
        )
        assert await ann.autocomplete("chat", "book", "La") == []

        def heard() -> list[str]:
            shown = [(each.original, *each.followups)[-1] for each in used]
            return [each.content if each else "" for each in shown]

        assert not any(each.failed for each in used)
        await double.until(lambda: heard() == [TRY_AGAIN] * len(used), 30)


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [
        (discord.Locale.american_english, TRY_AGAIN),
        (
            discord.Locale.german,
            "Ich komme gerade nicht an meine Notizen. Bitte versuche es in einer Minute noch einmal.",
        ),
    ],
)
def test_who_uses_a_command_is_told_no_name_of_a_machine(locale: discord.Locale, sentence: str) -> None:
    error = StorageError(StorageErrorCode.UNREACHABLE, "The database marginalia on db.example does not answer.")
    assert sentence_for(error, speech_for(locale)) == sentence

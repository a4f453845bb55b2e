"""“Erase it all” takes what the bot shows of a person, leaves what others wrote, and goes on after a crash."""

import asyncio
import json
from functools import partial
from operator import not_
from pathlib import Path

import pytest

from cogs import removals
from cogs.privacy import Privacy
from cogs.removals import Removals
from domain.conversation import UNTITLED
from domain.records import Removal, RemovalKind, UsageRecord
from domain.tool_use import TokenUsage
from tests.cogs.conversation.scene import Scene, again, scene
from tests.cogs.conversation.test_deletions import in_storage
from tests.cogs.conversation.test_readers_behind import stand_at
from tests.doubles.discord_api import Channel, DiscordDouble, Interaction, Permission
from tests.doubles.discord_api.actor import Actor
from tests.doubles.discord_api.gateway import INTENT_GUILDS
from tests.doubles.discord_api.payloads import thread_for
from tests.sampling import a_few
from tests.waiting import eventually

QUESTION = "Does my neighbour Hobb know?"


async def asked_by_command(room: Scene) -> Channel:
    """A thread that Ann has opened with a question, which the bot repeats under her name."""
    book, known = await room.book(), {each.id for each in room.double.threads()}
    await room.ann.slash("chat", book=book.id, message=QUESTION)
    await room.until(lambda: len(room.double.threads()) > len(known))
    [thread] = [each for each in room.double.threads() if each.id not in known]
    await room.until(lambda: room.said(thread)[-1:] == ["I do not know."])
    await room.until_delivered(1, thread)
    return thread


def let_delete_threads(room: Scene) -> None:
    room.double.world.grant(room.double.guild, room.double.bot, Permission.MANAGE_THREADS)


async def erased(room: Scene, person: Actor | None = None) -> Interaction:
    """The reply to whoever has themselves erased: Ann, unless it is somebody else."""
    person = person or room.ann
    shown = await person.slash("privacy")
    await person.click(shown.messages[0], label="Erase it all")
    await person.click(shown.messages[0], label="Erase it all")
    await room.until(lambda: "Erased" in shown.text and "I'm removing" not in shown.text)
    return shown


def everything_shown(room: Scene) -> str:
    """All that stands on Discord and that the bot has posted, thread names included."""
    mine = [
        json.dumps([message.content, message.embeds])
        for channel in (room.double.channel, *room.double.threads())
        for message in room.double.messages(channel)
        if message.author is room.double.bot
    ]
    return "\n".join([*mine, *(thread.name for thread in room.double.threads())])


async def test_a_thread_where_nobody_else_wrote_goes_with_all_that_led_to_it(room: Scene) -> None:
    await asked_by_command(room)
    let_delete_threads(room)
    assert str(room.ann.user.id) in everything_shown(room)
    shown = await erased(room)
    assert "I couldn't remove" not in shown.text
    assert room.double.threads() == []
    assert str(room.ann.user.id) not in everything_shown(room)
    assert await in_storage(room, str(room.ann.user.id)) == set()
    assert await in_storage(room, "Hobb") == set()


async def test_where_others_wrote_the_thread_stays_without_words_or_name_of_the_one_who_goes(room: Scene) -> None:
    thread = await asked_by_command(room)
    await room.ben.say(thread, "I was here, too.")
    await room.until(lambda: len(room.said(thread)) == 3)  # how to ask in company
    await erased(room)
    left = [message.content for message in room.double.messages(thread) if message.author is not room.double.bot]
    assert left == ["I was here, too."]
    assert thread.name == "The Dark Lamp"
    shown = everything_shown(room)
    assert not [each for each in ("Hobb", "I do not know", str(room.ann.user.id), '"ann"') if each in shown]


async def test_words_of_others_that_the_bot_never_heard_keep_a_thread_as_well(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        thread = await asked_by_command(room)
    await room.ben.say(thread, "While you were away.")
    async with again(room) as after:
        await erased(after)
        assert [each.content for each in double.messages(thread) if each.author is after.ben.user] == [
            "While you were away."
        ]


async def test_a_mention_in_what_others_need_is_taken_out(room: Scene) -> None:
    ann, ben = room.ann.user.id, room.ben.user.id
    channel = room.state.bot.get_channel(room.double.channel.id)
    posted = await channel.send(f"<@{ann}> and <@{ben}> read along.")  # type: ignore[union-attr]
    await room.until(lambda: room.double.messages(room.double.channel)[-1].id == posted.id)
    while str(posted.id) not in json.dumps(await room.app.people.export(str(ann))):
        await asyncio.sleep(0.01)
    await erased(room)
    assert room.double.messages(room.double.channel)[-1].content == f"somebody and <@{ben}> read along."


async def test_what_somebody_else_had_posted_by_command_stays_without_the_name(room: Scene) -> None:
    await stand_at(room, room.ann, "2")
    await room.ann.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered(1)
    told = await room.ben.slash("recap", channel=room.thread, public=True)
    await room.until(lambda: told.text.endswith(f"as far as <@{room.ann.id}> has read."))
    await erased(room)
    await room.until(lambda: told.message.content.endswith("as far as somebody has read."))
    assert not told.message.deleted


async def test_a_name_that_is_part_of_another_word_leaves_that_word(room: Scene) -> None:
    room.double.guild.members[room.ben.id].nick = "ea"
    await stand_at(room, room.ben, "2")
    await room.ben.say(room.thread, "And what was found?", mention=room.double.bot)
    await room.until_delivered(1)
    await room.ann.say(room.thread, "Who did it?", mention=room.double.bot)
    await room.until_delivered(2)
    assert room.said()[-1].endswith("as far as ea has read.")
    await erased(room, room.ben)
    assert room.said()[-1].endswith("as far as somebody has read.")


async def test_who_deletes_the_bots_repetition_of_a_question_deletes_the_question(room: Scene) -> None:
    thread = await asked_by_command(room)
    [repeated] = [each for each in room.double.messages(thread) if QUESTION in "".join(each.embed_texts)]
    room.double.world.delete(repeated)
    reply = room.replies(thread)[-1]
    await room.until(lambda: [each.label for each in reply.buttons][-2:] == ["Keep it", "Remove it"])
    assert await in_storage(room, "Hobb") == set()


async def test_what_discord_refuses_is_named_with_links_then_and_later(room: Scene) -> None:
    thread = await asked_by_command(room)
    shown = await erased(room)  # without “Manage Threads”
    link = f"https://discord.com/channels/{room.double.guild.id}/{thread.id}"
    assert "I couldn't remove" in shown.text
    assert link in shown.text
    assert thread.name == "The Dark Lamp"
    assert link in (await room.ann.slash("privacy")).text


async def test_a_crash_in_the_middle_only_delays_it(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        let_delete_threads(room)
        await asked_by_command(room)
        await room.app.people.erase(str(room.ann.user.id))  # and then the program is killed
        kinds = {each.kind for each in await room.app.people.removals()}
        assert {RemovalKind.THREAD, RemovalKind.MESSAGE, RemovalKind.MENTION} <= kinds
    async with again(room) as after:
        await after.until(lambda: double.threads() == [])
        await after.until(lambda: str(room.ann.user.id) not in everything_shown(after))
        await eventually(after.app.people.removals, not_)
        assert await in_storage(after, str(room.ann.user.id)) == set()


@pytest.mark.parametrize("settings", [{"daily_tokens_per_user": 1}])
async def test_the_tokens_of_the_day_are_not_given_back(room: Scene) -> None:
    await room.app.storage.usage.record(_spent(room))
    await erased(room)
    thread = await room.chat(await room.book())
    await room.ann.say(thread, "And now?")
    await room.until(lambda: any("tokens for the day are used up" in each for each in room.said(thread)))


def _spent(room: Scene) -> UsageRecord:
    return UsageRecord(room.app.clock(), "model", TokenUsage(10, 10), str(room.ann.user.id))


async def test_who_manages_the_server_erases_it(room: Scene) -> None:
    await asked_by_command(room)
    server, channel = str(room.double.guild.id), str(room.double.channel.id)
    await room.app.servers.change_channels(server, add=channel, existing=[channel])
    shown = await room.ann.slash("privacy")
    assert "Erase this server's data" not in [each.label for each in shown.messages[0].buttons]
    room.double.world.grant(room.double.guild, room.ben.user, Permission.MANAGE_GUILD)
    shown = await room.ben.slash("privacy")
    await room.ben.click(shown.messages[0], label="Erase this server's data")
    await room.ben.click(shown.messages[0], label="Erase this server's data")
    await room.until(lambda: "Everything about this server is erased" in shown.text)
    assert await in_storage(room, "Hobb") == set()
    assert await room.app.shelf.list(server) == []
    assert await room.app.servers.may_be_used_in(server, ["another channel"])
    assert not list((room.folder / "books").glob("*.book"))


async def late_name(room: Scene, thread: Channel, name: str) -> None:
    """The event of a renaming comes once more, after everything that followed it."""
    payload = thread_for(room.double.bot, thread) | {"name": name}
    room.double.gateway.emit("THREAD_UPDATE", payload, INTENT_GUILDS)
    seen = room.state.bot.get_channel(thread.id)
    await room.until(lambda: str(seen) == name)
    await asyncio.sleep(0.1)


async def test_a_late_event_of_the_bots_own_renaming_brings_no_title_back(room: Scene) -> None:
    thread = await asked_by_command(room)
    await room.ben.say(thread, "And you?", mention=room.double.bot)
    await room.until_delivered(2, thread)
    await room.until(lambda: thread.name == "I do not know")  # the title that the model made
    await erased(room)
    assert thread.name == "The Dark Lamp"
    await late_name(room, thread, "I do not know")
    assert (await room.conversation(thread)).title == UNTITLED


async def test_a_name_given_before_the_erasure_that_is_heard_of_after_it_is_no_title(room: Scene) -> None:
    """The system message of a person's renaming, read late."""
    thread = await asked_by_command(room)
    await room.ben.say(thread, "And you?", mention=room.double.bot)
    await room.until_delivered(2, thread)
    conversation, renamed = await room.conversation(thread), room.double.world.now()
    await room.app.people.erase(str(room.ann.id))
    await room.app.conversations.rename_with_thread(conversation.id, "Hobb the neighbour", renamed)
    assert (await room.conversation(thread)).title == UNTITLED


class TestEachServerByItself:
    """What is removed in one server does not wait for what is removed in another."""

    GET = "GET /channels/{channel}/messages/{message}"

    async def mentioned(self, room: Scene, person: Actor, channel: Channel) -> None:
        """The bot has posted something there that shows somebody."""
        place = room.state.bot.get_channel(channel.id)
        posted = await place.send(f"<@{person.id}> reads along.")  # type: ignore[union-attr]
        while str(posted.id) not in json.dumps(await room.app.people.export(str(person.id))):
            await asyncio.sleep(0.01)

    async def test_where_discord_does_not_answer_only_its_own_people_wait(self, room: Scene) -> None:
        elsewhere = room.double.add_guild("Elsewhere")
        ben, there = room.double.user("ben", elsewhere), next(iter(elsewhere.channels.values()))
        await room.until(lambda: room.state.bot.get_channel(there.id))
        await self.mentioned(room, room.ann, room.double.channel)
        await self.mentioned(room, ben, there)
        room.double.hold(self.GET)
        await room.app.people.erase(str(room.ann.id))
        cog = room.state.bot.get_cog("Privacy")
        assert isinstance(cog, Privacy)
        cog._removals.wake()
        await room.until(lambda: room.double.calls(self.GET))
        shown = await ben.slash("privacy", channel=there)
        for _ in range(2):
            await ben.click(shown.messages[0], label="Erase it all")
        await room.until(lambda: "Erased" in shown.text and "I'm removing" not in shown.text)
        assert str(ben.id) not in json.dumps([each.content for each in room.double.messages(there)])

    @pytest.mark.parametrize("expected_errors", [["https://discord.com/channels/"]])
    async def test_whatever_keeps_one_from_being_removed_the_others_are_and_the_list_is_looked_at_again(
        self, room: Scene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        let_delete_threads(room)
        genuine = Removals._remove
        failed: list[Removal] = []

        async def remove(of: Removals, removal: Removal) -> bool:
            if removal.message_id == first:
                failed.append(removal)
                raise ValueError("nobody expected this")
            return await genuine(of, removal)

        await self.mentioned(room, room.ann, room.double.channel)
        first = str(room.double.messages(room.double.channel)[-1].id)
        await self.mentioned(room, room.ann, room.double.channel)
        monkeypatch.setattr(Removals, "_remove", remove)
        await room.app.people.erase(str(room.ann.id))
        cog = room.state.bot.get_cog("Privacy")
        assert isinstance(cog, Privacy)
        monkeypatch.setattr(removals, "LOOK_AGAIN_S", 0.01)
        cog._removals.keep_looking()
        await room.until(lambda: len(failed) > 2)
        left = {each.message_id for each in await room.app.people.removals_for(str(room.ann.id))}
        assert left == {first}
        monkeypatch.setattr(Removals, "_remove", genuine)
        await room.until(lambda: str(room.ann.id) not in everything_shown(room))


MOMENTS = a_few([0.0, 0.05, 0.1, 0.2, 0.3, 0.5], 2)
"""Seconds between a question and the press that erases it: before, while and after its answer is posted."""


def parts_of(room: Scene, *parts: str) -> list[str]:
    shown = everything_shown(room)
    return [each for each in parts if each in shown]


async def until_nothing_of(room: Scene, *parts: str) -> None:
    """Until nothing of this is shown by the bot, no turn runs, and nothing is left to be removed."""
    await room.until(lambda: not parts_of(room, *parts) and not room.app.chat.is_busy)
    await eventually(room.app.people.removals, not_)


class TestInTheSameMoment:
    """What is being answered or posted while somebody is erased goes as well."""

    async def press(self, room: Scene, shown: Interaction) -> None:
        await room.ann.click(shown.messages[0], label="Erase it all", wait=False)

    async def asked_to_confirm(self, room: Scene) -> Interaction:
        let_delete_threads(room)
        shown = await room.ann.slash("privacy")
        await room.ann.click(shown.messages[0], label="Erase it all")
        return shown

    async def test_an_answer_that_is_being_written_goes(self, room: Scene) -> None:
        thread, shown = room.thread, await self.asked_to_confirm(room)
        room.model.say("A long answer about Hobb, the neighbour of whom you ask, and of his cart and the sea.")
        held = await room.hold()
        await room.ann.say(thread, QUESTION)
        await room.until_asked(1)
        await room.ben.say(thread, "I am here.")
        await self.press(room, shown)
        await room.until(lambda: "Erased" in shown.text)
        held.set()
        await until_nothing_of(room, "A long answer", "Hobb", str(room.ann.id))
        assert await in_storage(room, "Hobb") == set()
        assert await in_storage(room, str(room.ann.id)) == set()

    @pytest.mark.parametrize("moment", a_few(MOMENTS, 1))
    async def test_an_answer_that_is_being_posted_goes_whenever_that_is(self, room: Scene, moment: float) -> None:
        thread, shown = room.thread, await self.asked_to_confirm(room)
        await room.ben.say(thread, "I am here.")
        await room.until_delivered(1)
        room.double.round_trip = 0.1
        room.model.say("A long answer about Hobb. " * 200)  # of several messages
        await room.ann.say(thread, QUESTION, mention=room.double.bot)
        await asyncio.sleep(moment)
        await self.press(room, shown)
        await room.until(lambda: "Erased" in shown.text)
        await until_nothing_of(room, "A long answer", "Hobb")
        await asyncio.sleep(0.5)
        await until_nothing_of(room, "A long answer", "Hobb", str(room.ann.id))
        assert await in_storage(room, "Hobb") == set()
        assert await in_storage(room, str(room.ann.id)) == set()

    @pytest.mark.parametrize("moment", MOMENTS)
    async def test_a_public_answer_to_a_command_goes(self, room: Scene, moment: float) -> None:
        shown = await self.asked_to_confirm(room)
        room.double.round_trip = 0.1
        asking = await room.ann.slash("ask", question=QUESTION, public=True, wait=False)
        await asyncio.sleep(moment)
        await self.press(room, shown)
        await room.until(lambda: "Erased" in shown.text)
        await room.until(lambda: asking.callback and not room.app.chat.is_busy)
        await asyncio.sleep(0.5)
        await until_nothing_of(room, "I do not know", "Hobb", str(room.ann.id))
        assert await in_storage(room, "Hobb") == set()
        assert await in_storage(room, str(room.ann.id)) == set()

    async def test_others_are_answered_without_words_of_whom_was_erased(self, room: Scene) -> None:
        thread = await asked_by_command(room)
        held = await room.hold()

        def for_ben() -> list[str]:
            """The requests about what Ben said; that for the thread's title may come before them or between them."""
            return [each for each in map(str, room.model.requests) if "And you?" in each]

        await room.ben.say(thread, "And you?", mention=room.double.bot)
        await room.until(lambda: len(for_ben()) == 1)
        assert "Hobb" in for_ben()[0]
        await self.press(room, await self.asked_to_confirm(room))
        await room.until(lambda: len(for_ben()) == 2)
        held.set()
        await room.until_delivered(1, thread)
        assert "Hobb" not in for_ben()[1]
        assert await room.kept(thread) == ["And you?", "I do not know."]

    async def test_who_has_asked_with_them_is_answered_after_all(self, room: Scene) -> None:
        thread, bot, first = await asked_by_command(room), room.double.bot, await room.hold()
        asked: list[str] = []
        second = asyncio.Event()

        def reply(messages: object) -> str:
            if "And you?" in str(messages):
                asked.append(str(messages))
                room.model.hold = second
            return "I do not know."

        room.model.say(reply)
        await room.ben.say(thread, "Good morning!", mention=bot)
        await room.until(lambda: "Good morning!" in str(room.model.requests))
        shown = await self.asked_to_confirm(room)
        await room.ann.say(thread, QUESTION, mention=bot)
        await room.ben.say(thread, "And you?", mention=bot)
        await asyncio.sleep(0.1)
        first.set()
        await room.until(lambda: asked)
        await self.press(room, shown)
        await room.until(lambda: "Erased" in shown.text)
        second.set()
        await eventually(partial(room.kept, thread), lambda kept: kept[-2:] == ["And you?", "I do not know."])
        assert "Hobb" not in asked[-1]

    async def test_a_title_is_not_made_of_what_was_erased(self, room: Scene) -> None:
        await room.ben.slash("conversations create", book=(await room.book()).id)
        await room.until(lambda: len(room.double.threads()) == 2)
        thread = next(each for each in room.double.threads() if each is not room.thread)
        await room.until(lambda: any(each.embeds for each in room.double.messages(thread)))
        room.model.say("An answer.", "Hobb the neighbour")
        shown = await self.asked_to_confirm(room)
        await room.ann.say(thread, QUESTION, mention=room.double.bot)
        await room.until_said("An answer.", thread=thread)
        held = await room.hold()
        await self.press(room, shown)
        await room.until(lambda: "Erased" in shown.text)
        held.set()
        await until_nothing_of(room, "An answer", "Hobb")
        assert thread.name == "The Dark Lamp"

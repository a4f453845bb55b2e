"""What the bot does for clubs of itself: nothing twice, nothing lost, and a sentence where Discord does not let it."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import discord
import pytest
from discord import http as discord_http
from simcord.backend.models import Overwrite
from simcord.builders import ChannelHandle
from simcord.enums import OverwriteType

from cogs.clubs import duties
from cogs.clubs.duties import ClubDuties
from cogs.clubs.work import ClubWork
from domain.clubs.plan import PostState, Vote
from tests.bot.online import online
from tests.cogs.clubs.conftest import ClubStage
from tests.cogs.conversation.scene import scene
from tests.cogs.stage import text_of
from tests.doubles.discord_api import PATIENCE_S, Channel, DiscordDouble

DUE_TOMORROW = {"start": "2026-02-23"}
"""The first of three sections is due on the day after the calendar's first."""


def reminders(reading: ClubStage) -> list[str]:
    return [each for each in reading.said() if each.startswith("📖") or "📖" in each[:40]]


class TestReminders:
    async def test_one_a_day_before_with_no_ping(self, reading: ClubStage) -> None:
        await reading.start(start="2026-02-22")
        assert reminders(reading) == []
        reading.calendar.pass_days(6)
        await reading.sweep()
        await reading.sweep()
        assert reminders(reading) == [
            "📖 Section 2 of “The Dark Lamp” (p. 2) is due on <t:1772964000:D>. "
            "Press **I'm there** when you've read it."
        ]

    async def test_a_role_is_notified_where_one_was_given(self, reading: ClubStage) -> None:
        role = reading.stage.guild.create_role("bookworms")
        host = reading.stage.member("host", mention_everyone=True, create_private_threads=True)
        await host.slash(reading.channel, "club start", book=reading.book.id, sections=3, role=role, **DUE_TOMORROW)
        [told] = reminders(reading)
        assert told.startswith(f"<@&{role.id}> ")

    async def test_a_role_that_was_deleted_meanwhile_is_not_mentioned(self, reading: ClubStage) -> None:
        role = reading.stage.guild.create_role("bookworms")
        host = reading.stage.member("host", mention_everyone=True, create_private_threads=True)
        await host.slash(reading.channel, "club start", book=reading.book.id, sections=3, role=role, start="2026-02-25")
        [known] = [each for each in reading.stage.bot.guilds[0].roles if each.id == role.id]
        await known.delete()
        reading.calendar.pass_days(2)
        await reading.sweep()
        [told] = reminders(reading)
        assert told.startswith("📖 Section 1 of ")

    async def test_whoever_is_further_on_is_not_moved_back_by_its_button(self, reading: ClubStage) -> None:
        await reading.start(start="2026-02-22")
        await reading.ben.slash(reading.channel, "club checkin", section=3)
        reading.calendar.pass_days(6)
        await reading.sweep()
        [reminder] = [each for each in reading.channel.history() if each.content in reminders(reading)]
        stored = reading.stage.app.storage.readers
        before = await stored.get_position(str(reading.ben.id), reading.book.id)
        await reading.ben.click(reminder, label="I'm there")
        assert await stored.get_position(str(reading.ben.id), reading.book.id) == before

    async def test_what_is_older_than_a_day_is_left_out(self, reading: ClubStage) -> None:
        await reading.start()
        reading.calendar.pass_days(8)  # away for a week, over the first reminder
        await reading.stage.restart()
        await reading.sweep()
        assert reminders(reading) == []

    async def test_one_that_is_late_by_less_is_posted_at_the_start(self, reading: ClubStage) -> None:
        await reading.start()
        reading.calendar.pass_days(6.5)
        await reading.stage.restart()
        await reading.sweep()
        assert len(reminders(reading)) == 1

    async def test_one_that_came_due_during_an_outage_is_posted_as_soon_as_the_database_is_back(
        self, reading: ClubStage
    ) -> None:
        await reading.start()
        reading.calendar.pass_days(6)
        reading.stage.bot.dispatch("database_back")
        async with asyncio.timeout(10):
            while not reminders(reading):
                await asyncio.sleep(0.01)

    async def test_what_all_have_read_is_not_reminded_of(self, reading: ClubStage) -> None:
        await reading.start(start="2026-02-22")
        await reading.press(reading.ben, "Join")
        await reading.ann.slash(reading.channel, "club checkin", finished=True)
        await reading.ben.slash(reading.channel, "club checkin", section=2)
        reading.calendar.pass_days(6)
        await reading.sweep()
        assert reminders(reading) == []
        reading.calendar.pass_days(7)
        await reading.sweep()
        [told] = reminders(reading)
        assert told.startswith("📖 Section 3 of")

    async def test_a_club_that_all_have_left_reminds_nobody(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "club leave")
        reading.calendar.pass_days(6)
        await reading.sweep()
        assert reminders(reading) == []

    async def test_dates_that_moved_bring_no_second_one(self, reading: ClubStage) -> None:
        await reading.start(**DUE_TOMORROW)
        assert len(reminders(reading)) == 1
        await reading.ann.slash(reading.channel, "club move", days=5)
        reading.calendar.pass_days(5)
        await reading.sweep()
        assert len(reminders(reading)) == 1


def killed_after(monkeypatch: pytest.MonkeyPatch, method: str, number: int) -> Callable[[], None]:
    """Discord carries out the nth such request, and the program is gone before it hears of it."""
    genuine, count = getattr(discord_http.HTTPClient, method), 0

    async def request(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal count
        answer = await genuine(self, *arguments, **options)
        count += 1
        if count == number:
            raise OSError("the process was killed")
        return answer

    monkeypatch.setattr(discord_http.HTTPClient, method, request)
    return lambda: monkeypatch.setattr(discord_http.HTTPClient, method, genuine)


class TestCrashes:
    """A request that got through, of which the program never heard: after the start it is found and not made again."""

    @pytest.mark.parametrize("number", [1, 2])
    async def test_what_was_posted_is_not_posted_again(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        revive = killed_after(monkeypatch, "send_message", number)
        await reading.start(**DUE_TOMORROW)
        revive()
        reading.calendar.pass_days(0.2)  # Discord has forgotten the nonce
        await reading.stage.restart()
        await reading.sweep()
        await reading.sweep()
        assert len([each for each in reading.channel.history() if each.embeds]) == 1
        assert len(reminders(reading)) == 1

    async def test_a_thread_that_was_made_is_not_made_again(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await reading.start()
        revive = killed_after(monkeypatch, "start_thread_without_message", 1)
        await reading.press(reading.ann, "I'm there")
        revive()
        await reading.stage.restart()
        reading.calendar.pass_days(0.2)
        await reading.sweep()
        [thread] = reading.channel.threads
        assert thread.history(viewer=reading.ann)
        assert len([each for each in reading.said(thread) if "This thread talks about" in each]) == 1
        assert (await reading.club()).sections[0].thread_id == str(thread.id)

    async def test_a_card_that_was_posted_shows_what_has_changed_since(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        revive = killed_after(monkeypatch, "send_message", 1)
        await reading.start()
        revive()
        await reading.stage.app.clubs.join(await reading.club(), str(reading.ben.id))
        reading.calendar.pass_days(0.2)  # Discord has forgotten the nonce
        await reading.stage.restart()
        await reading.sweep()
        assert reading.ben.mention in str(reading.card().embeds[0].fields[0].value)

    async def test_questions_that_were_posted_are_not_posted_again_in_other_words(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deny(reading, create_private_threads=True)
        await reading.start(sections=1)
        await reading.ben.slash(reading.channel, "club checkin", page="1")
        await reading.ann.slash(reading.channel, "club checkin", finished=True)
        revive = killed_after(monkeypatch, "send_message", 2)
        await reading.ann.slash(reading.channel, "club open", section=1)
        await reading.stage.env.settle()
        revive()
        await reading.stage.app.positions.set_page(str(reading.ben.id), reading.book, "2")
        reading.calendar.pass_days(0.2)  # Discord has forgotten the nonce
        await reading.stage.restart()
        await reading.sweep()
        [thread] = reading.channel.threads
        assert len([each for each in reading.said(thread) if each.startswith("**1.")]) == 1
        assert (await reading.club()).sections[0].ready

    async def test_what_was_claimed_and_never_sent_is_sent_after_the_start(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store, club_id = reading.stage.app.clubs.store, ""
        with monkeypatch.context() as patched:
            patched.setattr(ClubWork, "show_card", _nothing)
            await reading.start()
        club_id = (await reading.club()).id
        await store.claim(club_id, "card", reading.calendar())
        await reading.stage.restart()
        await reading.sweep()
        assert len(reading.lines()) == 3
        assert (await store.get_posts(club_id))["card"].state is PostState.DONE

    async def test_a_check_in_whose_consequences_a_crash_cut_off_has_them_after_the_start(
        self, reading: ClubStage
    ) -> None:
        await reading.start()
        club = await reading.club()
        await reading.stage.app.clubs.there(club, str(reading.ann.id))  # kept, and then the lights went out
        await reading.stage.restart()
        await reading.sweep()
        assert len(reading.threads()) == 1


async def _nothing(self: ClubWork) -> None:
    return


def deny(reading: ClubStage, **denied: bool) -> None:
    """Take permissions away from the bot in the channel."""
    backend = reading.stage.env.backend
    bits = discord.PermissionOverwrite(**dict.fromkeys(denied, False)).pair()[1].value
    backend.set_overwrite(reading.channel.id, Overwrite(backend.bot_user.id, OverwriteType.MEMBER, 0, bits))


class TestPermissions:
    async def test_without_private_threads_it_is_public_and_its_name_has_the_number_alone(
        self, reading: ClubStage
    ) -> None:
        deny(reading, create_private_threads=True)
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        [thread] = reading.channel.threads
        assert thread.name == "Section 1"
        assert "up to p. 1" in reading.said(thread)[0]

    async def test_a_public_one_goes_no_further_than_the_active_members(self, reading: ClubStage) -> None:
        deny(reading, create_private_threads=True)
        await reading.start(gate="open")
        await reading.press(reading.ben, "Join")
        await reading.ann.slash(reading.channel, "club checkin", section=2)
        bounds = [(await reading.stage.conversation(each)).read_to for each in reading.channel.threads]
        assert bounds == [0, 0, 0]
        await reading.ben.slash(reading.channel, "club checkin", section=1)
        end = (await reading.club()).sections[0].end
        bounds = [(await reading.stage.conversation(each)).read_to for each in reading.channel.threads]
        assert bounds == [end, end, end]

    async def test_without_any_threads_the_permission_is_named_to_whoever_is_there_and_once_in_the_channel(
        self, reading: ClubStage
    ) -> None:
        deny(reading, create_private_threads=True, create_public_threads=True)
        await reading.start()
        told = text_of(await reading.press(reading.ann, "I'm there"))
        assert "I can't open the section's thread. I'm missing permissions here: “Create Public Threads”." in told
        reading.calendar.pass_days(0.1)
        await reading.sweep()
        [line] = [each for each in reading.said() if each.startswith("⚠️")]
        assert "“Create Public Threads”" in line
        assert reading.threads() == []

    async def test_rights_that_are_withdrawn_before_a_reminder_are_named_once_in_the_moderators_log(
        self, reading: ClubStage
    ) -> None:
        log = reading.stage.guild.create_text_channel("log")
        manager = reading.stage.member("manager", manage_guild=True)
        await manager.slash(reading.channel, "settings log", channel=log)
        await reading.start()
        deny(reading, send_messages=True)
        reading.calendar.pass_days(6)
        for _ in range(3):
            await reading.sweep()
            reading.calendar.pass_days(0.01)
        [told] = [each for each in reading.said(log) if reading.channel.mention in each]
        assert told.endswith("I'm missing there: “Send Messages”.")
        deny(reading)
        await reading.sweep()
        assert len(reminders(reading)) == 1

    async def test_once_it_is_granted_the_thread_opens(self, reading: ClubStage) -> None:
        deny(reading, create_private_threads=True, create_public_threads=True)
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        deny(reading)
        await reading.stage.env.settle()
        assert len(reading.threads()) == 1

    async def test_where_it_may_not_post_nothing_begins(self, reading: ClubStage) -> None:
        deny(reading, embed_links=True)
        assert "“Embed Links”" in text_of(await reading.start())

    async def test_without_create_events_the_club_begins_all_the_same(self, reading: ClubStage) -> None:
        allow_events(reading)
        reading.stage.env.backend.remove_member_role(
            reading.stage.guild.id, reading.stage.env.backend.bot_user.id, reading.stage.guild.roles["events"].id
        )
        told = text_of(await reading.start(events=True))
        assert "The club has begun" in told
        if "I can't create the events." in told:
            assert "“Create Events”" in told


def allow_events(reading: ClubStage) -> None:
    guild, backend = reading.stage.guild, reading.stage.env.backend
    role = guild.create_role("events", permissions=discord.Permissions(create_events=True))
    for who in (backend.bot_user.id, reading.ann.id):
        backend.add_member_role(guild.id, who, role.id)


class TestEvents:
    async def test_who_may_make_none_has_none_made(self, reading: ClubStage) -> None:
        allow_events(reading)
        guild, backend = reading.stage.guild, reading.stage.env.backend
        backend.remove_member_role(guild.id, reading.ann.id, guild.roles["events"].id)
        assert "You need: “Create Events”." in text_of(await reading.start(events=True))
        assert await reading.stage.app.clubs.store.get_running(str(guild.id)) == []
        assert not backend.get_guild(guild.id).scheduled_events

    async def test_there_is_one_for_each_coming_date_which_moves_and_goes_with_it(self, reading: ClubStage) -> None:
        allow_events(reading)
        await reading.start(events=True, start="2026-02-20")

        def events() -> list[tuple[str, str]]:
            found = reading.stage.env.backend.get_guild(reading.stage.guild.id).scheduled_events.values()
            return sorted((each.name, each.scheduled_start_time[:10]) for each in found)

        assert events() == [
            ("Section 2 · The Dark Lamp", "2026-03-06"),
            ("Section 3 · The Dark Lamp", "2026-03-13"),
        ]
        await reading.ann.slash(reading.channel, "club move", days=1)
        assert [day for _, day in events()] == ["2026-03-07", "2026-03-14"]
        asked = await reading.ann.slash(reading.channel, "club end")
        assert asked.response is not None
        await reading.ann.click(asked.response, label="End it")
        assert events() == []

    async def test_a_date_that_moves_into_the_past_has_none(self, reading: ClubStage) -> None:
        guild, backend = reading.stage.guild, reading.stage.env.backend
        allow_events(reading)
        await reading.start(events=True)
        events = backend.get_guild(guild.id).scheduled_events
        await reading.ann.slash(reading.channel, "club move", days=-8)
        assert sorted(each.scheduled_start_time[:10] for each in events.values()) == ["2026-03-07", "2026-03-14"]
        await reading.ann.slash(reading.channel, "club move", days=1)
        assert sorted(each.scheduled_start_time[:10] for each in events.values()) == ["2026-03-08", "2026-03-15"]

    async def test_a_date_that_moves_after_its_event_has_begun_has_another_event(self, reading: ClubStage) -> None:
        guild, backend = reading.stage.guild, reading.stage.env.backend
        allow_events(reading)
        await reading.start(events=True, start="2026-02-22")
        events = backend.get_guild(guild.id).scheduled_events
        [held] = [each.id for each in events.values() if each.scheduled_start_time.startswith("2026-03-01")]
        reading.calendar.pass_days(0.2)
        reading.stage.env.inject_error(
            "PATCH", f"/guilds/*/scheduled-events/{held}", status=400, code=180000, times=None
        )
        await reading.ann.slash(reading.channel, "club move", days=7)
        await reading.sweep()
        coming = sorted(each.scheduled_start_time[:10] for each in events.values() if each.id != held)
        assert coming == ["2026-03-08", "2026-03-15", "2026-03-22"]

    async def test_an_event_that_somebody_begins_early_stays_and_the_others_move(self, reading: ClubStage) -> None:
        guild, backend = reading.stage.guild, reading.stage.env.backend
        allow_events(reading)
        await reading.start(events=True)
        first, *others = sorted(
            backend.get_guild(guild.id).scheduled_events.values(), key=lambda each: each.scheduled_start_time
        )
        first.status = discord.EventStatus.active.value
        await reading.ann.slash(reading.channel, "club move", days=1)
        days = [each.scheduled_start_time[:10] for each in (first, *others)]
        assert days == ["2026-03-08", "2026-03-16", "2026-03-23"]


async def test_dates_that_move_while_a_thread_is_being_opened_stay_moved(
    reading: ClubStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = discord_http.HTTPClient.start_thread_without_message

    async def slow(self: Any, *arguments: Any, **options: Any) -> Any:
        await reading.stage.app.clubs.move(await reading.club(), 3)
        return await genuine(self, *arguments, **options)

    monkeypatch.setattr(discord_http.HTTPClient, "start_thread_without_message", slow)
    await reading.start()
    await reading.press(reading.ann, "I'm there")
    sections = (await reading.club()).sections
    assert [each.due.isoformat() for each in sections] == ["2026-03-11", "2026-03-18", "2026-03-25"]
    assert sections[0].thread_id == str(reading.channel.threads[0].id)


class TestVotes:
    async def test_a_poll_whose_end_is_told_also_after_an_absence(self, reading: ClubStage) -> None:
        told = text_of(await reading.ann.slash(reading.channel, "club vote", choices="Emma; Dracula ;Emma", days=2))
        assert "The vote is on: https://" in told
        [poll] = [each for each in reading.channel.history() if each.poll]
        assert poll.poll is not None
        assert [answer.text for answer in poll.poll.answers] == ["Emma", "Dracula"]
        assert "A vote is already running" in text_of(
            await reading.ann.slash(reading.channel, "club vote", choices="Emma;Ulysses")
        )
        await reading.ben.vote(poll, answer=2)
        [vote] = await reading.stage.app.clubs.store.list_votes(reading.calendar.now + timedelta(days=3))
        reading.calendar.now = vote.ends_at + timedelta(minutes=11)
        await reading.stage.restart()
        await reading.sweep()
        await reading.sweep()
        [told_end] = [each for each in reading.channel.history() if "The vote is over" in each.content]
        assert told_end.content.endswith("“Dracula” has won with the only vote. /club start begins a club on it.")
        assert told_end.reference is not None
        assert told_end.reference.message_id == poll.id
        another = text_of(await reading.ann.slash(reading.channel, "club vote", choices="Emma;Ulysses"))
        assert "The vote is on" in another

    async def test_a_poll_that_somebody_deletes_makes_room_for_another(self, reading: ClubStage) -> None:
        moderator = reading.stage.member("moderator", manage_messages=True)
        await reading.ann.slash(reading.channel, "club vote", choices="Emma;Dracula", days=7)
        [poll] = [each for each in reading.channel.history() if each.poll]
        await moderator.delete(poll)
        told = text_of(await reading.ann.slash(reading.channel, "club vote", choices="Emma;Ulysses", days=7))
        assert "The vote is on: https://" in told
        reading.calendar.pass_days(7.1)
        await reading.sweep()
        assert [each for each in reading.said() if "vote" in each] == ["The vote is over. Nobody has voted."]

    async def test_without_reading_the_channel_there_is_no_vote_whose_end_could_not_be_told(
        self, reading: ClubStage
    ) -> None:
        deny(reading, read_message_history=True)
        refused = text_of(await reading.ann.slash(reading.channel, "club vote", choices="Emma;Dracula"))
        assert "I'm missing permissions here: “Read Message History”." in refused

    async def test_who_may_make_no_poll_has_none_made(self, reading: ClubStage) -> None:
        bits = discord.Permissions(send_polls=True).value
        everybody = reading.stage.guild.default_role.id
        backend = reading.stage.env.backend
        backend.set_overwrite(reading.channel.id, Overwrite(everybody, OverwriteType.ROLE, 0, bits))
        backend.set_overwrite(reading.channel.id, Overwrite(backend.bot_user.id, OverwriteType.MEMBER, bits, 0))
        refused = text_of(await reading.ann.slash(reading.channel, "club vote", choices="Emma;Dracula"))
        assert refused == "I only do for you what you may do here yourself. You need: “Create Polls”."
        assert not [each for each in reading.channel.history() if each.poll]

    async def test_one_that_discord_never_accepts_is_dropped_and_another_can_begin(self, reading: ClubStage) -> None:
        posting = f"/channels/{reading.channel.id}/messages"
        reading.stage.env.inject_error("POST", posting, status=400, code=50035)
        told = text_of(await reading.ann.slash(reading.channel, "club vote", choices="\u200b;\u200b\u200b"))
        assert told == "Discord doesn't accept this vote. Please word the choices differently."
        again = await reading.ann.slash(reading.channel, "club vote", choices="Emma;Dracula")
        assert "The vote is on" in text_of(again)

    async def test_choices_are_between_two_and_ten(self, reading: ClubStage) -> None:
        for choices in ("Emma", "Emma; emma", ";".join(map(str, range(11)))):
            told = text_of(await reading.ann.slash(reading.channel, "club vote", choices=choices))
            assert "2 to 10 different choices" in told

    async def test_titles_of_the_shelf_complete_the_last_of_them(self, reading: ClubStage) -> None:
        offered = await reading.ann.autocomplete(reading.channel, "club vote", "choices", "Emma; dar")
        assert [each["value"] for each in offered] == ["Emma; The Dark Lamp"]

    async def test_a_poll_that_was_posted_before_a_crash_is_not_posted_again(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        revive = killed_after(monkeypatch, "send_message", 1)
        await reading.ann.slash(reading.channel, "club vote", choices="Emma;Dracula")
        revive()
        await reading.stage.restart()
        reading.calendar.pass_days(0.1)
        await reading.sweep()
        assert len([each for each in reading.channel.history() if each.poll]) == 1
        [vote] = await reading.stage.app.storage.engine.read("SELECT message_id FROM votes")
        assert vote["message_id"]


class TestEachByItself:
    """What one club or one vote meets with is no matter to the others."""

    async def two(self, reading: ClubStage) -> tuple[ChannelHandle, ChannelHandle]:
        """The channels of two clubs, the first of them of the club that is looked after first."""
        other = reading.stage.guild.create_text_channel("other-room")
        for channel in (reading.channel, other):
            await reading.ann.slash(channel, "club start", book=reading.book.id, sections=3)
        reading.calendar.pass_days(6)
        return reading.channel, other

    async def reminded(self, reading: ClubStage, channel: ChannelHandle) -> None:
        async with asyncio.timeout(10):
            while not any("📖" in each for each in reading.said(channel)):
                await asyncio.sleep(0.01)

    async def test_one_that_fails_in_a_way_nobody_expected(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        first, second = await self.two(reading)
        genuine = ClubWork.show_card

        async def show_card(work: ClubWork) -> None:
            if work.channel.id == first.id:
                raise ValueError("nobody expected this")
            await genuine(work)

        monkeypatch.setattr(ClubWork, "show_card", show_card)
        await reading.sweep()
        await self.reminded(reading, second)
        assert "nobody expected this" in caplog.text
        caplog.clear()
        monkeypatch.setattr(ClubWork, "show_card", genuine)
        reading.calendar.pass_days(0.1)
        await reading.sweep()
        await self.reminded(reading, first)

    async def test_one_where_discord_is_slow(self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(duties, "STEPS_ASIDE_S", 0.1)
        monkeypatch.setattr(duties, "AT_A_TIME", 1)
        first, second = await self.two(reading)
        genuine, answers = ClubWork.show_card, asyncio.Event()

        async def show_card(work: ClubWork) -> None:
            if work.channel.id == first.id:
                await answers.wait()
            await genuine(work)

        monkeypatch.setattr(ClubWork, "show_card", show_card)
        for _ in range(2):
            await reading.cog.duties.sweep()
        await self.reminded(reading, second)
        answers.set()
        await self.reminded(reading, first)
        assert len(reminders(reading)) == 1

    async def test_a_vote_that_is_held_up_holds_up_no_other(
        self, reading: ClubStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        genuine, answers, first = ClubDuties._do_vote, asyncio.Event(), True

        async def do_vote(of: ClubDuties, vote: Vote, guild: discord.Guild) -> str:
            nonlocal first
            if first:
                first = False
                await answers.wait()
            return await genuine(of, vote, guild)

        monkeypatch.setattr(ClubDuties, "_do_vote", do_vote)
        clubs, guild, channel = reading.stage.app.clubs, str(reading.stage.guild.id), str(reading.channel.id)
        held = await clubs.vote(guild, channel, str(reading.ann.id), ["A", "B"], 3)
        slow = asyncio.create_task(reading.cog.duties.attend_vote(held.id))
        await asyncio.sleep(0.01)
        other = reading.stage.guild.create_text_channel("other-room")
        told = await reading.ann.slash(other, "club vote", choices="C; D")
        assert "The vote is on" in text_of(told)
        answers.set()
        assert await slow

    async def test_nothing_is_remembered_of_what_is_over(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "club vote", choices="C; D", days=1)
        await reading.sweep()
        kept = reading.cog.duties
        assert not [*kept._attendances, *kept._votes, *kept._lacking, *kept._votes_later, *kept._under_way]


async def test_the_periodic_look_goes_on_after_any_error(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(duties, "LOOK_S", 0.01)
    looked = 0
    async with online(double, tmp_path) as state:

        async def list_to_look_at(_: object) -> list[str]:
            nonlocal looked
            looked += 1
            raise ValueError("nobody expected this")

        monkeypatch.setattr(state.app.clubs.store, "list_to_look_at", list_to_look_at)
        await double.until(lambda: looked > 2)
    assert "what is due for clubs cannot be looked up" in caplog.text


async def test_a_thread_that_is_opened_again_within_minutes_has_all_that_the_first_one_had(
    double: DiscordDouble, tmp_path: Path
) -> None:
    """For some minutes, Discord posts nothing with a nonce that it has seen."""
    async with scene(double, tmp_path) as room:
        await room.until(lambda: double.commands.commands.get(0))
        await room.ann.slash("club start", book=(await room.book()).id, sections=3)
        await double.until(double.messages)
        clubs = room.app.clubs.store

        async def opened() -> Channel:
            await room.ann.slash("club open", section=2)
            await double.until(
                lambda: [each for each in double.threads() if "**Section 2**" in "".join(double.said(each))]
            )
            return double.threads()[0]

        await room.ann.delete_channel(await opened())
        async with asyncio.timeout(PATIENCE_S):
            while any(each.thread_id for each in (await clubs.get_running(str(double.guild.id)))[0].sections):
                await asyncio.sleep(0.01)
        await opened()


async def test_where_the_bot_may_not_be_used_any_more_it_posts_nothing(reading: ClubStage) -> None:
    await reading.start(start="2026-03-01")
    await reading.ann.slash(reading.channel, "club vote", choices="Emma;Dracula", days=1)
    servers, server = reading.stage.app.servers, str(reading.stage.guild.id)
    other = str(reading.stage.guild.create_text_channel("hall").id)
    await servers.change_channels(server, add=other, existing=[other])
    before = len(reading.channel.history())
    reading.calendar.pass_days(6.2)
    await reading.sweep()
    await reading.cog.duties.attend((await reading.club()).id)
    assert len(reading.channel.history()) == before
    await servers.change_channels(server, remove=other)
    reading.calendar.pass_days(0.1)
    await reading.sweep()
    assert len(reminders(reading)) == 1
    assert "The vote is over. Nobody has voted." in reading.said()

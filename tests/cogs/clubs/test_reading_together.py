"""A club from its start to its end, as its members see it."""

import logging
from typing import Any

import discord
import pytest
from simcord.actors import MemberActor

from domain.book import PositionState, ReadingPosition
from tests.cogs.clubs.conftest import ClubStage
from tests.cogs.stage import text_of


async def position(reading: ClubStage, reader_id: int) -> ReadingPosition:
    return await reading.stage.app.storage.readers.get_position(str(reader_id), reading.book.id)


class TestStarting:
    async def test_the_card_shows_sections_pages_dates_and_who_takes_part(self, reading: ClubStage) -> None:
        told = await reading.start()
        assert "The club has begun, and you're in it." in text_of(told)
        assert "you count as not having started" in text_of(told)
        assert reading.lines() == [
            "**1** · p. 1 · <t:1772964000:D>",
            "**2** · p. 2 · <t:1773568800:D>",
            "**3** · p. 3 · <t:1774173600:D>",
        ]
        [along, _] = reading.card().embeds[0].fields
        assert along.value == reading.ann.mention

    async def test_chapters_a_section_days_and_a_first_day_can_be_chosen(self, reading: ClubStage) -> None:
        await reading.start(sections=None, chapters=2, every=3, start="2026-02-01")
        assert [line[:13] for line in reading.lines()] == ["**1** · pp. 1", "**2** · p. 3 "]
        assert [each.due.isoformat() for each in (await reading.club()).sections] == ["2026-02-04", "2026-02-07"]

    async def test_a_plan_that_cannot_be_is_refused_in_a_sentence(self, reading: ClubStage) -> None:
        refused: tuple[tuple[dict[str, object], str], ...] = (
            ({"sections": 3, "chapters": 1}, "only one of `sections` and `chapters`"),
            ({"sections": 4}, "it can have 3 sections at most"),
            ({"start": "01.02.2026"}, "like 2026-03-31"),
            ({"start": "1026-02-01"}, "more than ten years away"),
        )
        for options, sentence in refused:
            assert sentence in text_of(await reading.start(**options))
        assert await reading.stage.app.clubs.store.get_running(str(reading.stage.guild.id)) == []

    async def test_a_book_of_one_page_has_one_section(self, reading: ClubStage) -> None:
        leaf = b"One leaf, and no more. Turn it over."
        await reading.ann.slash(reading.channel, "books add", file=("leaf.txt", leaf))
        refused = text_of(await reading.ann.slash(reading.channel, "club start", book="Leaf", sections=2))
        assert refused == "This book has only one page, so it can have only one section."
        await reading.ann.slash(reading.channel, "club start", book="Leaf")
        told = text_of(await reading.ben.slash(reading.channel, "club checkin", section=2))
        assert told == "The plan has only section 1."
        assert "0 of 1 section\n" in text_of(await reading.ann.slash(reading.channel, "club board"))

    async def test_a_channel_has_one_club(self, reading: ClubStage) -> None:
        await reading.start()
        assert "A club is already reading here" in text_of(await reading.start())

    async def test_who_may_open_no_private_threads_begins_no_club_that_has_them(self, reading: ClubStage) -> None:
        dan = reading.stage.member("dan")
        options = {"book": reading.book.id, "sections": 3}
        refused = text_of(await dan.slash(reading.channel, "club start", **options))
        assert "You need: “Create Private Threads”." in refused
        channel = reading.stage.bot.get_channel(reading.channel.id)
        assert isinstance(channel, discord.TextChannel)
        await channel.set_permissions(channel.guild.me, create_private_threads=False)
        await reading.stage.env.settle()
        assert "The club has begun" in text_of(await dan.slash(reading.channel, "club start", **options))

    async def test_nobody_pings_a_role_they_may_not_ping_themselves(self, reading: ClubStage) -> None:
        role = reading.stage.guild.create_role("everybody else")
        assert "You can't notify" in text_of(await reading.start(role=role))

    @pytest.mark.parametrize("mentionable", [True, False])
    async def test_a_role_that_reminders_would_not_notify_is_named(self, reading: ClubStage, mentionable: bool) -> None:
        role = reading.stage.guild.create_role("bookworms", mentionable=mentionable)
        channel = reading.stage.bot.get_channel(reading.channel.id)
        assert isinstance(channel, discord.TextChannel)
        await channel.set_permissions(channel.guild.me, mention_everyone=False)
        host = reading.stage.member("host", mention_everyone=True, create_private_threads=True)
        told = text_of(await host.slash(reading.channel, "club start", book=reading.book.id, sections=3, role=role))
        assert "The club has begun" in told
        assert (f"won't notify {role.mention}" in told) is not mentionable

    async def test_the_host_is_answered_before_anything_is_posted(self, reading: ClubStage) -> None:
        before = len(reading.stage.env.http_requests)
        await reading.start(gate="open")
        answered, *posted = [each.path for each in reading.stage.env.http_requests[before:] if each.method != "GET"][1:]
        assert answered.endswith("/messages/@original")
        assert any(each.endswith("/threads") for each in posted)


class TestTakingPart:
    async def test_people_join_and_leave_by_command_and_by_button(self, reading: ClubStage) -> None:
        await reading.start()
        assert "You're in." in text_of(await reading.press(reading.ben, "Join"))
        assert "You're in already." in text_of(await reading.ben.slash(reading.channel, "club join"))
        assert reading.card().embeds[0].fields[0].value == f"{reading.ann.mention} and {reading.ben.mention}"
        assert "You've left the club." in text_of(await reading.ben.slash(reading.channel, "club leave"))
        assert "You aren't in this club." in text_of(await reading.ben.slash(reading.channel, "club leave"))
        assert reading.card().embeds[0].fields[0].value == reading.ann.mention

    async def test_a_host_who_leaves_hands_over(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        told = text_of(await reading.ann.slash(reading.channel, "club leave"))
        assert f"{reading.ben.mention} is the host now." in told
        assert "can do that" in text_of(await reading.ann.slash(reading.channel, "club move", days=1))
        assert "have moved" in text_of(await reading.ben.slash(reading.channel, "club move", days=1))

    async def test_a_new_host_is_told_so_once_each_time(self, reading: ClubStage) -> None:
        def told() -> list[str]:
            return [each.split()[0] for each in reading.said() if "is the club's host now" in each]

        await reading.start()
        await reading.press(reading.ben, "Join")
        assert told() == []
        await reading.ann.slash(reading.channel, "club leave")
        await reading.press(reading.ann, "Join")
        await reading.stage.restart()
        await reading.sweep()
        assert told() == [reading.ben.mention]
        await reading.ben.slash(reading.channel, "club leave")
        await reading.press(reading.ben, "Join")
        await reading.ann.slash(reading.channel, "club leave")
        assert told() == [reading.ben.mention, reading.ann.mention, reading.ben.mention]

    async def test_who_joins_a_club_that_all_have_left_is_its_host(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "club leave")
        assert "so you're its host now" in text_of(await reading.press(reading.ben, "Join"))
        assert not any("host now" in each for each in reading.said())
        assert "have moved" in text_of(await reading.ben.slash(reading.channel, "club move", days=1))
        assert "host" not in text_of(await reading.press(reading.ann, "Join"))

    async def test_once_all_dates_have_passed_what_is_left_to_read_gets_new_ones(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        reading.calendar.pass_days(60)
        told = text_of(await reading.ann.slash(reading.channel, "club move", days=7))
        assert "The dates have moved. Section 2 is due on <t:1778148000:D> now." in told
        first, second, third = (await reading.club()).sections
        assert [each.due.isoformat() for each in (first, second, third)] == ["2026-03-08", "2026-05-07", "2026-05-14"]
        reading.calendar.pass_days(6)
        await reading.sweep()
        assert any("Section 2 of “The Dark Lamp”" in each for each in reading.said())

    async def test_what_changes_nothing_says_so(self, reading: ClubStage) -> None:
        async def told(command: str, **options: object) -> str:
            return text_of(await reading.ann.slash(reading.channel, command, **options))

        await reading.start()
        assert "Nothing has moved." in await told("club move", days=0)
        assert "You're on the board already." in await told("club board", hide=False)
        assert "not on the board any more" in await told("club board", hide=True)
        assert "You aren't on the board anyway." in await told("club board", hide=True)
        assert "All dates in the plan have passed now." in await told("club move", days=-60)
        assert "All dates in the plan have passed. Say in how many days" in await told("club move", days=-7)
        assert await told("club checkin", finished=True)
        assert "Everybody has finished the last section" in await told("club move", days=7)

    async def test_only_the_pressers_own_position_moves(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        told = text_of(await reading.press(reading.ben, "I'm there"))
        assert told == "You've checked in at p. 1: 1 of 3 sections read."
        end = (await reading.club()).sections[0].end
        assert await position(reading, reading.ben.id) == ReadingPosition(PositionState.READING, end)
        assert await position(reading, reading.ann.id) == ReadingPosition()

    async def test_who_checks_in_without_having_joined_reads_that_they_are_in(self, reading: ClubStage) -> None:
        await reading.start()
        told = text_of(await reading.press(reading.ben, "I'm there"))
        assert told == "You're in.\nYou've checked in at p. 1: 1 of 3 sections read."
        told = text_of(await reading.stage.member("cleo").slash(reading.channel, "club checkin", page="1"))
        assert told.startswith("You're in.\n")

    async def test_who_presses_twice_has_not_read_twice_as_much(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        await reading.press(reading.ben, "I'm there")
        assert "You had read section 1 already" in text_of(await reading.press(reading.ben, "I'm there"))
        assert (await position(reading, reading.ben.id)).read_to == (await reading.club()).sections[0].end

    async def test_a_check_in_names_a_page_a_chapter_a_section_or_the_end(self, reading: ClubStage) -> None:
        await reading.start()
        told = [
            text_of(await reading.ann.slash(reading.channel, "club checkin", **options))
            for options in ({"page": "2"}, {"chapter": "1"}, {"section": 2}, {"finished": True}, {"page": "99"}, {})
        ]
        assert told[:4] == [
            "You've checked in at p. 2: 2 of 3 sections read.",
            "You've checked in at p. 1: 1 of 3 sections read.",
            "You've checked in at p. 2: 2 of 3 sections read.",
            "You've checked in: you've finished the book.",
        ]
        assert "no page 99" in told[4]
        assert told[5] == "You've checked in: you've finished the book."

    async def test_who_has_finished_is_not_asked_whether_they_have_read_on(self, reading: ClubStage) -> None:
        await reading.start(gate="open")
        await reading.ann.slash(reading.channel, "club checkin", finished=True)
        told = text_of(await reading.press(reading.ann, "I'm there"))
        assert told == "You've checked in: you've finished the book."

    async def test_a_position_set_elsewhere_counts(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "progress", book=reading.book.id, page="1")
        await reading.stage.env.settle()
        assert reading.threads() == ["Section 1 · The Dark Lamp"]


class TestTheBoard:
    async def test_a_bar_for_each_and_none_for_who_hides(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "I'm there")
        shown = text_of(await reading.press(reading.ann, "Board"))
        assert "1 of 2 has read section 1" in shown
        assert f"`███░░░░░░░` {reading.ben.mention} · 1 of 3 sections" in shown
        assert "not on the board" in text_of(await reading.ben.slash(reading.channel, "club board", hide=True))
        shown = text_of(await reading.press(reading.ann, "Board"))
        assert reading.ben.mention not in shown
        assert "Nobody on the board has finished section 1 yet." in shown
        assert "1 of" not in reading.lines()[0]
        await reading.ben.slash(reading.channel, "club board", hide=False)
        assert reading.ben.mention in text_of(await reading.press(reading.ann, "Board"))

    async def test_nobody_is_hidden_from_a_board_they_are_not_on(self, reading: ClubStage) -> None:
        await reading.start()
        told = text_of(await reading.ben.slash(reading.channel, "club board", hide=True))
        assert told == "You aren't in this club, so you aren't on its board."

    async def test_whoever_hides_is_not_shown_as_paused_either(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        reading.calendar.pass_days(60)
        await reading.sweep()
        assert f"{reading.ben.mention} (paused)" in text_of(reading.card())
        await reading.ben.slash(reading.channel, "club board", hide=True)
        assert reading.ben.mention in text_of(reading.card())
        assert f"{reading.ben.mention} (paused)" not in text_of(reading.card())

    async def test_the_board_in_the_channel_is_kept_up_to_date(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "club board")
        await reading.press(reading.ben, "I'm there")
        [board] = [
            each for each in reading.channel.history() if each.embeds and "How far" in str(each.embeds[0].author)
        ]
        assert reading.ben.mention in str(board.embeds[0].description)

    async def test_the_board_in_the_channel_is_in_the_servers_language_from_the_beginning(
        self, reading: ClubStage
    ) -> None:
        await reading.start()
        manager = reading.stage.member("manager", manage_guild=True)
        await manager.slash(reading.channel, "settings language", locale="de")
        shown = await reading.ann.slash(reading.channel, "club board")
        assert not shown.ephemeral
        assert "Wie weit der Lesekreis ist" in text_of(shown)
        elsewhere = await reading.ann.slash(reading.stage.guild.create_text_channel("tea"), "club board")
        assert "How far the club is" in text_of(elsewhere)


class TestThreads:
    async def test_a_section_opens_once_all_are_there_and_lets_nobody_in_who_is_behind(
        self, reading: ClubStage
    ) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        await reading.press(reading.ann, "I'm there")
        assert reading.threads() == []
        await reading.press(reading.ben, "I'm there")
        [thread] = reading.channel.threads
        assert thread.name == "Section 1 · The Dark Lamp"
        cas = reading.stage.member("cas")
        await reading.press(cas, "Join")
        assert thread.history(viewer=reading.ben)
        with pytest.raises(Exception, match=r"."):
            thread.history(viewer=cas)
        await reading.press(cas, "I'm there")
        assert thread.history(viewer=cas)

    async def test_it_begins_with_up_to_where_it_speaks_and_questions_from_the_book(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        await reading.stage.env.settle()
        [thread] = reading.channel.threads
        first, questions = reading.said(thread)[:2]
        assert first.startswith("**Section 1** · This thread talks about “The Dark Lamp” up to p. 1.")
        assert "> Marta Quill came to the island on a Tuesday in March. (p. 1)" in questions

    async def test_its_conversation_ends_where_the_section_ends(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "club checkin", finished=True)
        conversation = await reading.stage.conversation(reading.channel.threads[0])
        assert conversation.read_to == (await reading.club()).sections[0].end
        assert (conversation.private, conversation.shared) == (True, True)

    async def test_with_a_date_it_opens_on_its_date_and_whoever_gets_there_is_let_in(self, reading: ClubStage) -> None:
        await reading.start(gate="date")
        await reading.sweep()
        assert reading.threads() == []
        reading.calendar.pass_days(7)
        await reading.sweep()
        [thread] = reading.channel.threads
        await reading.press(reading.ben, "I'm there")
        assert thread.history(viewer=reading.ben)

    async def test_open_ones_are_all_there_at_once(self, reading: ClubStage) -> None:
        await reading.start(gate="open")
        assert sorted(reading.threads()) == [f"Section {number} · The Dark Lamp" for number in (1, 2, 3)]

    async def test_a_ghost_is_paused_and_holds_nobody_up_until_they_check_in(self, reading: ClubStage) -> None:
        await reading.start(start="2026-02-10")
        await reading.press(reading.ben, "Join")
        assert f"{reading.ben.mention} (paused)" in str(reading.card().embeds[0].fields[0].value)
        await reading.press(reading.ann, "I'm there")
        assert len(reading.threads()) == 1
        await reading.ben.slash(reading.channel, "club checkin", page="1")
        assert "(paused)" not in str(reading.card().embeds[0].fields[0].value)

    async def test_who_is_left_out_holds_nobody_up(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        await reading.press(reading.ann, "I'm there")
        await reading.sweep()
        assert reading.threads() == []
        privacy = await reading.ben.slash(reading.channel, "privacy")
        assert privacy.response is not None
        await reading.ben.click(privacy.response, label="Leave me out")
        await reading.sweep()
        assert len(reading.threads()) == 1
        assert reading.card().embeds[0].fields[0].value == reading.ann.mention

    async def test_the_host_opens_one_without_waiting_and_nobody_else_does(self, reading: ClubStage) -> None:
        await reading.start()
        assert "can do that" in text_of(await reading.ben.slash(reading.channel, "club open", section=2))
        told = text_of(await reading.ann.slash(reading.channel, "club open", section=2))
        assert told.startswith("Section 2 is open: <#")
        assert "is open" in text_of(await reading.ann.slash(reading.channel, "club open", section=2))
        assert "sections 1 to 3" in text_of(await reading.ann.slash(reading.channel, "club open", section=9))
        assert reading.threads() == ["Section 2 · The Dark Lamp"]

    async def test_whoever_manages_threads_opens_a_section_without_waiting(self, reading: ClubStage) -> None:
        await reading.start()
        moderator = reading.stage.member("moderator", manage_threads=True)
        told = text_of(await moderator.slash(reading.channel, "club open", section=2))
        assert told.startswith("Section 2 is open: <#")

    @pytest.mark.parametrize(
        ("command", "option", "action"),
        [("open", {"section": 2}, "opened section 2 of a club."), ("move", {"days": 3}, "moved the dates of a club.")],
    )
    async def test_moderators_learn_who_did_what_with_a_club(
        self, reading: ClubStage, caplog: pytest.LogCaptureFixture, command: str, option: dict[str, int], action: str
    ) -> None:
        await reading.start()
        with caplog.at_level(logging.WARNING, "marginalia.audit"):
            await reading.ann.slash(reading.channel, f"club {command}", **option)
            await reading.stage.bot.audit.close()
        assert f"{reading.ann.mention} {action}" in caplog.text

    async def test_where_discord_allows_no_more_threads_the_host_is_told_so(self, reading: ClubStage) -> None:
        await reading.start()
        for path in ("/channels/*/messages/*/threads", "/channels/*/threads"):
            reading.stage.env.inject_error("POST", path, status=400, code=160006)
        told = text_of(await reading.ann.slash(reading.channel, "club open", section=2))
        assert told == "This server has reached Discord's limit of open threads. Archive some and try again."
        assert reading.threads() == []

    async def test_a_section_opens_again_after_its_conversation_was_deleted_by_command(
        self, reading: ClubStage
    ) -> None:
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        manager = reading.stage.member("manager", manage_threads=True)
        section = (await reading.club()).sections[0]
        asked = await manager.slash(reading.channel, "conversations delete", conversation=section.conversation_id)
        assert asked.response is not None
        await manager.click(asked.response, label="Delete it")
        await reading.sweep()
        assert "thread open" not in reading.lines()[0]
        await reading.ann.slash(reading.channel, "club open", section=1)
        assert len(reading.channel.threads) == 1

    async def test_a_thread_that_was_deleted_comes_back_only_when_asked_for(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        await reading.stage.env.settle()
        discord_thread = reading.stage.bot.get_channel(reading.channel.threads[0].id)
        assert isinstance(discord_thread, discord.Thread)
        await discord_thread.delete()
        await reading.stage.env.settle()
        await reading.sweep()
        assert reading.threads() == []
        assert "thread open" not in reading.lines()[0]
        await reading.ann.slash(reading.channel, "club open", section=1)
        [thread] = reading.channel.threads
        assert thread.history(viewer=reading.ann)


class TestEnding:
    async def test_it_ends_after_a_button_and_its_threads_stay(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ann, "I'm there")
        asked = await reading.ann.slash(reading.channel, "club end")
        assert asked.response is not None
        assert "End the club on “The Dark Lamp”?" in text_of(asked)
        assert "The club has ended." in text_of(await reading.ann.click(asked.response, label="End it"))
        ended = next(each for each in reading.channel.history() if each.embeds)
        assert ended.embeds[0].author.name == "This club has ended"
        assert not ended.components
        assert len(reading.threads()) == 1
        assert "No club is reading here." in text_of(await reading.ann.slash(reading.channel, "club plan"))

    async def test_nobody_else_ends_it(self, reading: ClubStage) -> None:
        await reading.start()
        assert "can do that" in text_of(await reading.ben.slash(reading.channel, "club end"))

    async def test_a_book_that_is_removed_stops_it_and_brings_it_back(self, reading: ClubStage) -> None:
        manager = reading.stage.member("manager", manage_guild=True)
        await reading.start()
        asked = await manager.slash(reading.channel, "books remove", book=reading.book.id)
        assert asked.response is not None
        assert "The club that reads it will stop." in text_of(asked)
        await manager.click(asked.response, label="Remove it")
        await reading.stage.env.settle()
        [card] = [each for each in reading.channel.history() if "the club has stopped" in each.content]
        assert not card.embeds
        assert "No club is reading here." in text_of(await reading.ann.slash(reading.channel, "club join"))
        await manager.slash(reading.channel, "books restore", book=reading.book.id)
        await reading.stage.env.settle()
        assert len(reading.lines()) == 3

    async def test_a_channel_that_is_deleted_ends_it(self, reading: ClubStage) -> None:
        await reading.start()
        channel = reading.stage.bot.get_channel(reading.channel.id)
        assert isinstance(channel, discord.TextChannel)
        await channel.delete()
        await reading.stage.env.settle()
        assert (await reading.club()).ended_at is not None


async def test_the_buttons_work_after_a_restart(reading: ClubStage, monkeypatch: pytest.MonkeyPatch) -> None:
    await reading.start()
    await reading.stage.restart()
    assert "You're in." in text_of(await reading.press(reading.ben, "Join"))
    assert "You've checked in" in text_of(await reading.press(reading.ben, "I'm there"))
    assert "1 of 2 has read section 1" in text_of(await reading.press(reading.ben, "Board"))


async def test_buttons_of_another_server_and_of_no_club_end_in_a_sentence(reading: ClubStage) -> None:
    await reading.start()
    app, club = reading.stage.app, await reading.club()
    await app.clubs.end(club)
    assert "This club has ended." in text_of(await reading.press(reading.ben, "Join"))
    await app.storage.books.delete(reading.book.id)
    assert "not on the shelf any more" in text_of(await reading.press(reading.ben, "I'm there"))


async def test_the_plan_shows_titles_to_who_has_reached_them_and_to_nobody_else(reading: ClubStage) -> None:
    await reading.start()
    await reading.press(reading.ben, "Join")
    await reading.ben.slash(reading.channel, "club checkin", section=2)
    own = text_of(await reading.ben.slash(reading.channel, "club plan"))
    assert "I. The Arrival" in own
    assert "II. " in own
    assert "III. " not in own
    assert "I. The Arrival" not in text_of(await reading.ann.slash(reading.channel, "club plan"))
    assert "The Arrival" not in "".join(reading.lines())


class TestFromElsewhere:
    """The server's only club, used in another channel than its own."""

    async def _among_friends(self, reading: ClubStage) -> MemberActor:
        """Somebody whose club reads in a channel that Ben does not see."""
        guild = reading.stage.guild
        friends = guild.create_role("friends", permissions=discord.Permissions(create_private_threads=True))
        hidden, seen = discord.PermissionOverwrite(view_channel=False), discord.PermissionOverwrite(view_channel=True)
        rules: dict[Any, discord.PermissionOverwrite] = {guild.default_role: hidden, friends: seen, guild.me: seen}
        den = guild.create_text_channel("den", overwrites=rules)
        host = guild.add_member(reading.stage.env.create_user("cat"), roles=[friends])
        await host.slash(den, "club start", book=reading.book.id, sections=3)
        return host

    async def test_who_does_not_see_its_channel_is_told_of_no_club(self, reading: ClubStage) -> None:
        host = await self._among_friends(reading)
        for command in ("plan", "board", "join", "leave", "checkin", "end"):
            told = text_of(await reading.ben.slash(reading.channel, f"club {command}"))
            assert told == "No club is reading here. Start one with /club start.", command
        assert await reading.ben.autocomplete(reading.channel, "club checkin", "section", "") == []
        assert [each.reader_id for each in (await reading.club()).members] == [str(host.id)]

    async def test_who_sees_its_channel_uses_it(self, reading: ClubStage) -> None:
        host = await self._among_friends(reading)
        assert "0 of 3 sections" in text_of(await host.slash(reading.channel, "club board"))

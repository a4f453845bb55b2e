"""Whoever or whatever keeps what is told in a club from going further is named, wherever it is told."""

import discord
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType
from simcord.results import InteractionResult

from domain.book import PositionState, ReadingPosition
from tests.cogs.clubs.conftest import ClubStage
from tests.cogs.stage import text_of
from tests.doubles.scripted_chat import call, calls

HIDDEN = "-# Answering only as far as everybody here has read."


async def ann_ahead_of_ben(reading: ClubStage, **options: object) -> None:
    """A club in which Ann has finished, and Ben has read section 1 of three."""
    await reading.start(**options)
    await reading.press(reading.ben, "I'm there")
    await reading.ann.slash(reading.channel, "club checkin", finished=True)
    await reading.stage.env.settle()


def no_private_threads(reading: ClubStage) -> None:
    env = reading.stage.env
    bits = discord.Permissions(create_private_threads=True).value
    env.backend.set_overwrite(reading.channel.id, Overwrite(env.backend.bot_user.id, OverwriteType.MEMBER, 0, bits))


async def answered(reading: ClubStage, number: int) -> str:
    """The last line of what Ann is answered in the thread of a section."""
    thread = next(each for each in reading.channel.threads if f"Section {number}" in str(each.name))
    await reading.ann.send(thread, f"<@{reading.stage.env.backend.bot_user.id}> What about it?")
    await reading.stage.env.settle()
    return reading.said(thread)[-1].split("\n")[-1]


def last_line(shown: InteractionResult) -> str:
    return text_of(shown).split("\n")[-1]


async def test_the_end_of_a_section_binds_its_thread(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    assert await answered(reading, 1) == "-# Answering up to p. 1, the end of section 1."
    [thread] = reading.channel.threads
    assert "Answering up to p. 1, the end of section 1." in text_of(await reading.ann.slash(thread, "progress"))
    assert "Answering up to" not in text_of(await reading.ben.slash(thread, "progress"))
    for command, options in (("recap", {"public": True}), ("discuss", {}), ("who", {"name": "Marta", "public": True})):
        shown = await reading.ann.slash(thread, command, **options)
        assert last_line(shown) == "-# Answering up to p. 1, the end of section 1.", command


async def test_a_thread_that_all_see_is_bound_by_the_slowest_member(reading: ClubStage) -> None:
    no_private_threads(reading)
    await ann_ahead_of_ben(reading, gate="open")
    named = f"-# Answering up to p. 1, as far as {reading.ben.mention} has read."
    assert await answered(reading, 2) == named
    assert sorted(reading.threads()) == ["Section 1", "Section 2", "Section 3"]
    [thread] = [each for each in reading.channel.threads if each.name == "Section 2"]
    greeting = reading.said(thread)[0]
    assert f"-# {reading.ann.mention} hasn't started reading" in greeting, "as it was when it opened"
    await reading.ben.slash(reading.channel, "club board", hide=True)
    assert await answered(reading, 2) == HIDDEN
    await reading.stage.app.clubs.end(await reading.club())
    assert await answered(reading, 2) == "-# Answering up to p. 1, as far as everybody had read when the club ended."


async def test_the_card_names_who_binds_and_so_does_progress(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    named = f"-# Answering up to p. 1, as far as {reading.ben.mention} has read."
    assert named in str(reading.card().embeds[0].fields[1].value)
    assert named in text_of(await reading.ann.slash(reading.channel, "progress"))
    assert named not in text_of(await reading.ben.slash(reading.channel, "progress"))
    await reading.ben.slash(reading.channel, "club board", hide=True)
    assert HIDDEN in str(reading.card().embeds[0].fields[1].value)
    assert HIDDEN in text_of(await reading.ann.slash(reading.channel, "progress"))
    await reading.ben.slash(reading.channel, "club checkin", finished=True)
    assert "Answering up to" not in str(reading.card().embeds[0].fields[1].value)


async def test_where_nobody_is_left_nobody_binds_and_nothing_is_told(reading: ClubStage) -> None:
    await reading.start()
    await reading.ann.slash(reading.channel, "club leave")
    nobody = "-# Nobody is in the club at the moment, so I won't reveal anything here."
    assert nobody in str(reading.card().embeds[0].fields[1].value)
    assert last_line(await reading.ben.slash(reading.channel, "recap", public=True)) == nobody


async def test_who_hides_is_named_nowhere_in_the_clubs_channel(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    await reading.ben.slash(reading.channel, "club board", hide=True)
    commands: dict[str, dict[str, object]] = {
        "recap": {"public": True},
        "discuss": {},
        "ask": {"public": True, "question": "Who came?"},
    }
    for command, options in commands.items():
        shown = await reading.ann.slash(reading.channel, command, **options)
        assert last_line(shown) == HIDDEN, command
        assert reading.ben.mention not in text_of(shown)
        assert "up to" not in text_of(shown), "in a small club, whose page that is would be known all the same"


async def test_who_hides_is_not_named_in_another_thread_on_the_book(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    await reading.ben.slash(reading.channel, "club board", hide=True)
    thread = await reading.stage.chat(reading.book)
    reading.stage.env.backend.add_thread_member(thread.id, reading.ben.id)
    conversation = await reading.stage.conversation(thread)
    await reading.stage.app.company.note_present(conversation.id, str(reading.ben.id))
    shown = await reading.ann.slash(thread, "progress")
    assert HIDDEN in text_of(shown)
    assert shown.response is not None
    told = await reading.ann.click(shown.response, label="Whose page counts")
    assert "I stop where the slowest reader here is. They hide their place, so I won't say where that is." in text_of(
        told
    )
    assert told.response is not None
    await reading.ann.click(told.response, label="Stop waiting for a member who hides their place")
    await reading.stage.env.settle()
    assert any("no longer wait for a member who hides their place" in said for said in reading.said(thread))
    assert HIDDEN not in text_of(await reading.ann.slash(thread, "progress"))
    assert not any(reading.ben.mention in said for said in reading.said(thread))


async def test_who_leaves_the_server_binds_nobody_from_the_next_day_on(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    reading.stage.guild.remove_member(reading.ben)
    before = len(reading.stage.env.http_requests)
    reading.calendar.pass_days(1.1)
    await reading.sweep()
    await reading.sweep()
    asked = [each for each in reading.stage.env.http_requests[before:] if "/members/" in each.path]
    assert len(asked) == 2, "each member is looked for once a day"
    assert [each.reader_id for each in (await reading.club()).taking_part] == [str(reading.ann.id)]
    assert len(reading.threads()) == 3
    assert reading.card().embeds[0].fields[0].value == reading.ann.mention


async def test_who_comes_back_to_the_server_and_joins_again_is_let_into_what_they_have_read(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    await reading.ben.slash(reading.channel, "club checkin", section=2)
    await reading.stage.env.settle()
    first, second = reading.channel.threads
    assert first.history(viewer=reading.ben)
    reading.stage.guild.remove_member(reading.ben)
    reading.calendar.pass_days(1.1)
    await reading.sweep()
    ben = reading.stage.guild.add_member(reading.ben.user)
    await reading.press(ben, "Join")
    await reading.stage.env.settle()
    for thread in (first, second):
        assert thread.history(viewer=ben)


async def test_a_host_who_leaves_the_server_hands_over(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    reading.stage.guild.remove_member(reading.ann)
    reading.calendar.pass_days(1.1)
    await reading.sweep()
    assert (await reading.club()).host_id == str(reading.ben.id)
    assert f"{reading.ben.mention} is the club's host now" in reading.said()[-1]


async def test_a_host_who_is_paused_and_leaves_the_server_hands_over_too(reading: ClubStage) -> None:
    await reading.start()
    await reading.press(reading.ben, "Join")
    reading.calendar.pass_days(25)
    await reading.ben.slash(reading.channel, "club checkin", section=3)
    reading.stage.guild.remove_member(reading.ann)
    reading.calendar.pass_days(1.1)
    await reading.sweep()
    club = await reading.club()
    assert [club.host_id, *(each.reader_id for each in club.taking_part)] == [str(reading.ben.id)] * 2
    assert reading.card().embeds[0].fields[0].value == reading.ben.mention


async def test_while_discord_does_not_say_who_is_there_everybody_binds(reading: ClubStage) -> None:
    await ann_ahead_of_ben(reading)
    reading.stage.guild.remove_member(reading.ben)
    reading.stage.env.inject_error(status=503, method="GET", path="/guilds/*/members/*", times=20)
    reading.calendar.pass_days(1.1)
    await reading.sweep()
    assert len((await reading.club()).taking_part) == 2


class TestElsewhere:
    """In a channel without a club."""

    async def at(self, reading: ClubStage, reader_id: int, read_to: int) -> None:
        here = ReadingPosition(PositionState.READING, read_to)
        await reading.stage.app.storage.readers.set_position(str(reader_id), reading.book.id, here)

    async def test_the_slowest_reader_who_is_still_there_is_named(self, reading: ClubStage) -> None:
        pages = await (await reading.stage.app.shelf.open(reading.book)).pages()
        gone = reading.stage.member("gone")
        await self.at(reading, reading.ann.id, pages[2].end)
        await self.at(reading, reading.ben.id, pages[1].end)
        await self.at(reading, gone.id, pages[0].end)
        shown = last_line(await reading.ann.slash(reading.channel, "recap", public=True))
        assert shown == f"-# Answering up to p. 1, as far as {gone.mention} has read."
        reading.stage.guild.remove_member(gone)
        shown = last_line(await reading.ann.slash(reading.channel, "recap", public=True))
        assert shown == f"-# Answering up to p. 2, as far as {reading.ben.mention} has read."
        assert "as far as" not in last_line(await reading.ben.slash(reading.channel, "recap", public=True))


class TestMembersWhoHaveNotSaidHowFarTheyAre:
    """They count as not having begun, whatever is shown to all, and wherever on the server."""

    async def test_nothing_is_told_publicly_in_another_channel(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.ann.slash(reading.channel, "club checkin", finished=True)
        await reading.press(reading.ben, "Join")
        hall = reading.stage.guild.create_text_channel("hall")
        options = {"book": reading.book.id, "public": True}
        told = await reading.ann.slash(hall, "recap", **options)
        who = reading.ben.mention
        assert last_line(told) == f"-# {who} hasn't started reading, so I won't reveal anything here yet."
        assert "Marta" not in text_of(told)
        reading.calendar.pass_days(60)  # by then Ben is paused
        assert "Marta" in text_of(await reading.ann.slash(hall, "recap", **options))

    async def test_nothing_is_told_them_alone_either_until_they_say_so(self, reading: ClubStage) -> None:
        await reading.start()
        ben, book = reading.ben, {"book": reading.book.id}
        assert "Marta" in text_of(await ben.slash(reading.channel, "recap", **book))
        await reading.press(ben, "Join")
        assert "You haven't started reading." in text_of(await ben.slash(reading.channel, "recap", **book))
        assert await ben.autocomplete(reading.channel, "who", "name", "", **book) == []
        assert await ben.autocomplete(reading.channel, "recap", "since", "", **book) == []
        assert "You haven't started reading" in text_of(await ben.slash(reading.channel, "progress", **book))
        reading.stage.model.say(calls(call("search_book", query="brother drowned")), "I do not know.")
        await ben.slash(reading.channel, "ask", question="Whose brother drowned?", **book)
        assert "search_book" in str(reading.stage.model.requests[-1])
        assert "Lucian" not in str(reading.stage.model.requests[-1])
        await reading.press(ben, "I'm there")
        assert "Marta" in text_of(await ben.slash(reading.channel, "recap", **book))
        await ben.slash(reading.channel, "progress", clear=True, **book)
        await ben.slash(reading.channel, "club leave")
        assert "the whole book" in text_of(await ben.slash(reading.channel, "recap", **book))

    async def test_the_name_of_a_thread_tells_nothing_either(self, reading: ClubStage) -> None:
        await reading.start()
        await reading.press(reading.ben, "Join")
        reading.stage.model.say("It was his brother.", "Lucian drowned")
        thread = await reading.stage.chat(reading.book, message="Why was the lamp put out?")
        await reading.stage.env.settle()
        assert thread.name == "Why was the lamp put out?"
        await reading.ben.slash(reading.channel, "club leave")
        await reading.ann.slash(reading.channel, "club checkin", finished=True)
        reading.stage.model.say("It was his brother.", "Lucian drowned")
        thread = await reading.stage.chat(reading.book, message="And why was the lamp put out?")
        await reading.stage.env.settle()
        assert thread.name == "Lucian drowned"

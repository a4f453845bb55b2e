"""Who is answered: everybody who writes alone in a thread; in company, those who speak to the bot."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from bot.parsers.formats import EXTENSIONS
from cogs.conversation.intake import BOOK_ENDINGS
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import Channel, DiscordDouble, MessageType, Permission
from tests.doubles.discord_api.entities import ChannelType, Poll
from tests.doubles.discord_api.payloads import channel_payload
from tests.sampling import a_few
from tests.waiting import eventually

TOGETHER = "There's more than one of you here now, so I'll only answer when you mention me or reply to me."


async def one_talk(room: Scene) -> None:
    await room.ann.say(room.thread, "Who?")
    await room.until_said("I do not know.")


async def test_once_a_second_person_writes_only_what_is_for_the_bot_is_answered(room: Scene) -> None:
    await one_talk(room)
    await room.ben.say(room.thread, "Oh, you read that one!")
    await room.until_said("I do not know.", TOGETHER)
    room.model.say("Yes, Hobb.")
    await room.ann.say(room.thread, "I do!")
    await room.ben.say(room.thread, "was it Hobb?", mention=room.double.bot)
    await room.until_said("I do not know.", TOGETHER, "Yes, Hobb.")
    await room.ann.say(room.thread, "Why?", reply_to=room.replies()[-1])
    await room.until(lambda: len(room.said()) == 4)
    assert await room.kept() == ["Who?", "I do not know.", "was it Hobb?", "Yes, Hobb.", "Why?", "Yes, Hobb."]


async def test_a_command_that_was_sent_as_a_message_does_nothing_and_says_so(room: Scene) -> None:
    sent = await room.ann.say(room.thread, "/progress page 2")
    await room.until(lambda: len(room.said()) == 1)
    told = "nothing has happened. Choose /progress from the list that Discord shows"
    assert told in room.said()[0]
    await room.ann.edit(sent, "Who is Hobb?")
    await room.until(lambda: len(room.said()) == 2)
    await room.ann.say(room.thread, "/Club checkin page:2", mention=room.double.bot)
    await room.until(lambda: len(room.said()) == 3)
    assert "Choose /club from" in room.said()[-1]
    assert await room.kept() == ["Who is Hobb?", "I do not know."]


@pytest.mark.parametrize("place", ["channel", "direct messages"])
async def test_so_it_does_where_there_is_no_conversation(room: Scene, place: str) -> None:
    where = room.double.channel if place == "channel" else room.ann.direct_channel
    await room.ann.say(where, "/help", mention=room.double.bot)
    await room.until(lambda: "Choose /help from the list" in "".join(room.said(where)))


async def test_a_command_that_asks_is_answered_where_it_was_sent_as_a_message(room: Scene) -> None:
    sent = ("/ask who is Hobb?", "/recap", "/Ask Who is Hobb?", "/ask question: Where is he?", "/who name:Hobb")
    for number, said in enumerate(sent, 1):
        await room.ann.say(room.thread, said)
        await room.until_delivered(number)
    asked = [each for each in await room.kept() if each != "I do not know."]
    assert asked == ["who is Hobb?", "recap", "Who is Hobb?", "Where is he?", "who Hobb"]
    await room.ann.say(room.thread, "/ask")
    await room.until(lambda: len(room.said()) == len(sent) + 1)
    assert room.said()[-1] == "What would you like to know about the book?"


async def test_who_replies_to_somebody_in_a_channel_is_told_that_this_is_not_read(room: Scene) -> None:
    said = await room.ann.say(room.double.channel, "Hobb is hiding something.")
    await room.ben.say(room.double.channel, "what does she mean?", mention=room.double.bot, reply_to=said)
    await room.until(lambda: room.said(room.double.channel))
    lines = room.said(room.double.channel)[-1].splitlines()
    assert "Ask about this" in lines[0]
    assert (
        lines[1] == "Which book is it about? Choose it here, and I'll answer you. If it isn't listed, start with /chat."
    )


async def test_how_to_ask_in_company_is_said_once(room: Scene) -> None:
    await one_talk(room)
    await room.ben.say(room.thread, "Hm.")
    await room.until_said("I do not know.", TOGETHER)
    hint = room.replies()[-1]
    assert hint.pings == set()
    await room.ann.say(room.thread, "Hm hm.")
    await room.ben.say(room.thread, "Right.")
    await room.ben.say(room.thread, "Well?", mention=room.double.bot)
    await room.until(lambda: len(room.said()) == 3)
    assert room.said().count(TOGETHER) == 1


async def test_whoever_writes_first_is_answered_whoever_opened_the_thread(room: Scene) -> None:
    await room.ben.say(room.thread, "Who?")
    await room.until_said("I do not know.")


async def test_a_reply_without_a_ping_is_for_the_bot_all_the_same(room: Scene) -> None:
    await one_talk(room)
    await room.ben.say(room.thread, "Why?", reply_to=room.replies()[0], ping=False)
    await room.until_said("I do not know.", "I do not know.")


async def test_a_reply_to_somebody_else_is_not_for_the_bot(room: Scene) -> None:
    await one_talk(room)
    question = room.double.messages(room.thread)[2]
    await room.ben.say(room.thread, "Good question.", reply_to=question)
    await room.until_said("I do not know.", TOGETHER)


async def test_company_is_remembered_after_a_restart(double: DiscordDouble, tmp_path: Path) -> None:
    async with scene(double, tmp_path) as room:
        await room.prepare()
        await one_talk(room)
        await room.ben.say(room.thread, "Hm.")
        await room.until_said("I do not know.", TOGETHER)
    async with again(room) as after:
        await after.ann.say(after.thread, "Ben and I think so.")
        after.model.say("Yes.")
        await after.ann.say(after.thread, "is it so?", mention=after.double.bot)
        await after.until(lambda: len(after.said()) == 3)
        assert "Ben and I think so." not in await after.kept()


@pytest.mark.parametrize(
    ("text", "kept"),
    a_few(
        [
            ("<@{bot}> who was it?", "who was it?"),
            ("<@!{bot}>, who was it?", "who was it?"),
            ("Tell me, <@{bot}>: who?", "Tell me, : who?"),
            ("<@{bot}> what does <@{ben}> think of <#{channel}>?", "what does @Ben think of #reading-room?"),
            ("<@{bot}> <:lamp:123456789012345678> </chat:123456789012345678>", ":lamp: /chat"),
            ("<@{bot}> - and then?", "and then?"),
            ("<@{bot}> and <@{cy}>?", "and @Cy\xa0lee?"),
        ],
        4,
    ),
)
async def test_the_mention_is_no_part_of_the_question(room: Scene, text: str, kept: str) -> None:
    double = room.double
    ids = {"bot": double.bot.id, "ben": room.ben.id, "cy": double.user("cy lee").id, "channel": double.channel.id}
    await room.ann.say(room.thread, text.format(**ids))
    await room.until(lambda: room.said())
    assert (await room.kept())[0] == kept


async def test_who_calls_others_into_a_thread_of_their_own_asks_nothing(room: Scene) -> None:
    role = next(iter(room.double.guild.roles))
    for called in (room.ben.mention, f"<@&{role}>", "@here", "@everyone"):
        await room.ann.say(room.thread, f"{called} come and see this!")
    await room.ann.say(room.thread, f"what would {room.ben.mention} say?")
    await room.until_said("I do not know.")
    assert await room.kept() == ["what would @Ben say?", "I do not know."]


async def test_bots_and_discord_itself_are_not_answered(room: Scene) -> None:
    machine = room.double.world.add_user("machine", bot=True)
    room.double.world.join(room.double.guild, machine)
    room.double.world.post(room.thread, machine, "Beep?")
    room.double.world.post(room.thread, room.ann.user, "", kind=MessageType.RECIPIENT_ADD, mentions=[room.ben.user])
    await one_talk(room)
    assert await room.kept() == ["Who?", "I do not know."]


async def test_a_thread_that_is_not_bound_is_left_alone(room: Scene) -> None:
    other = await room.ann.start_thread("Our own")
    await room.ann.say(other, "Who?")
    await one_talk(room)
    assert room.said(other) == []


async def test_a_thread_that_has_lost_its_conversation_says_so_once(
    room: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.conversation.cog.OPENING_TAKES", timedelta(0))
    await room.app.storage.conversations.delete((await room.conversation()).id)
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: len(room.said()) == 1)
    assert "Start a new one with /chat" in room.said()[0]
    await room.ann.say(room.thread, "Never mind, Ben and I talk here.")
    other = await room.chat(await room.book())
    await room.ann.say(other, "Who?")
    await room.until_said("I do not know.", thread=other)
    assert len(room.said()) == 1


async def test_a_new_thread_whose_book_was_removed_says_at_once_that_it_has_ended(room: Scene) -> None:
    await room.app.shelf.take_off((await room.conversation()).book_id, by="1")
    await room.ann.say(room.thread, "Who?")
    await room.until(lambda: len(room.said()) == 1)
    assert "Start a new one with /chat" in room.said()[0]


@pytest.mark.parametrize("place", ["channel", "thread"])
async def test_a_mention_where_there_is_no_book_is_told_how_to_start(room: Scene, place: str) -> None:
    where = await room.ann.start_thread("Our own") if place == "thread" else room.double.channel
    await room.ann.say(where, "who was it?", mention=room.double.bot)
    await room.until(
        lambda: "Which book is it about? Choose it here, and I'll answer you." in "".join(room.said(where))
    )


async def test_a_mention_in_a_thread_of_peoples_own_obeys_the_settings_for_its_channel(room: Scene) -> None:
    other = await room.ann.start_thread("Our own")
    server, here, elsewhere = str(room.double.guild.id), str(room.double.channel.id), "7"
    await room.app.servers.change_channels(server, add=elsewhere, existing=[here, elsewhere])
    await room.ann.say(other, "who was it?", mention=room.double.bot)
    await room.until(lambda: "I'm not allowed in this channel." in "".join(room.said(other)))
    await room.app.servers.change_channels(server, add=here, existing=[here, elsewhere])
    await room.ann.say(other, "who was it?", mention=room.double.bot)
    await room.until(
        lambda: "Which book is it about? Choose it here, and I'll answer you." in "".join(room.said(other))
    )


async def test_a_mention_where_there_is_no_book_is_answered_once_one_is_chosen_by_who_wrote_it(room: Scene) -> None:
    book = await room.book()
    await room.ann.say(room.double.channel, "Who was it?", mention=room.double.bot)
    await room.until(lambda: "Which book is it about?" in room.double.said()[-1])
    offer = room.double.messages()[-1]
    refused = await room.ben.select(offer, book.title)
    assert refused.text == "Only the person who asked can choose the book."
    room.model.say("It was Hobb.")
    pressed = await room.ann.select(offer, book.title)
    await room.until(lambda: "It was Hobb." in room.said())
    assert f"continues here: {room.thread.mention}" in pressed.text
    assert any("Who was it?" in each.embed_texts for each in room.double.messages(room.thread))
    await room.until(lambda: offer.deleted)


@pytest.mark.parametrize("place", ["private thread", "hidden channel"])
async def test_what_was_said_where_few_see_it_is_asked_where_no_more_do(room: Scene, place: str) -> None:
    """Also by Ann, who has a conversation about the book that everybody sees."""
    double, book, words = room.double, await room.book(), "Who was it, between us?"
    if place == "private thread":
        here = double.world.start_thread(double.channel, room.ann.user, "Between us", private=True)
        await room.ann.invite(here, double.bot)
    else:
        here = double.world.add_channel(double.guild, "between-us")
        for person in (double.bot, room.ann):
            here.allowed[person.id] = Permission.VIEW_CHANNEL
        here.denied[double.guild.id] = Permission.VIEW_CHANNEL
        double.gateway.emit("CHANNEL_UPDATE", channel_payload(here))
    known = {each.id for each in double.threads()}
    await room.ann.say(here, words, mention=double.bot)
    await room.until(lambda: room.said(here))
    await room.ann.select(room.replies(here)[-1], book.title)
    await room.until(lambda: any(each.id not in known for each in double.threads()))
    [opened] = [each for each in double.threads() if each.id not in known]
    await room.until_said("", "I do not know.", thread=opened)
    assert opened.parent is (double.channel if place == "private thread" else here)
    assert (opened.type is ChannelType.PRIVATE_THREAD) is (place == "private thread")
    shown = [each for seen in (double.channel, room.thread) for each in double.messages(seen)]
    assert not any(words in "".join([each.content, *each.embed_texts]) for each in shown)


async def test_direct_messages_are_answered_with_a_kind_sentence(room: Scene) -> None:
    said = await room.ann.direct("Hello?")
    await room.until(lambda: "add your own with /books add" in "".join(room.said(said.channel)))


@pytest.mark.parametrize(
    ("filename", "expected"),
    a_few(
        [
            ("novel.epub", "use /books add"),
            ("novel.fb2.zip", "use /books add"),
            ("holiday.jpg", "I only read text"),
            ("message.txt", "send it in messages of up to 2,000 characters"),
            ("", "What would you like to know"),
        ],
        3,
    ),
)
async def test_a_message_without_words_is_told_what_is_read(room: Scene, filename: str, expected: str) -> None:
    files = (room.double.file(filename, b"..."),) if filename else ()
    await room.ann.say(room.thread, "", mention=room.double.bot, files=files)
    await room.until(lambda: expected in "".join(room.said()))
    assert await room.kept() == []


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("page.jpg", "-# I only read what you write, not what is attached."),
        ("novel.epub", "-# I only read text here. To add a book, use /books add with the file."),
    ],
)
async def test_one_with_words_is_answered_and_told_what_was_not_read(room: Scene, filename: str, expected: str) -> None:
    await room.ann.say(room.thread, "What does this page mean?", files=(room.double.file(filename, b"..."),))
    await room.until_delivered(1)
    await room.until(lambda: sorted(room.said()) == [expected, "I do not know."])
    assert await room.kept() == ["What does this page mean?", "I do not know."]


def test_a_file_of_every_format_that_can_be_added_is_taken_for_a_book() -> None:
    assert {*BOOK_ENDINGS} == {*EXTENSIONS}


async def test_a_book_that_is_sent_where_there_is_no_conversation_is_told_how_to_add_it(room: Scene) -> None:
    book, where = (room.double.file("novel.epub", b"..."),), room.double.channel
    await room.ann.say(where, "", mention=room.double.bot, files=book)
    told = "I only read text here. To add a book, use /books add with the file."
    await room.until(lambda: room.said(where) == [told])
    await room.ann.say(where, "Read this with us, please.", mention=room.double.bot, files=book)
    await room.until(lambda: len(room.said(where)) == 2)
    lines = room.said(where)[-1].splitlines()
    assert lines[0] == f"-# {told}"
    assert lines[1].startswith("Which book is it about? Choose it here, and I'll answer you.")


async def test_who_replies_to_somebody_elses_message_is_told_that_it_is_not_read(room: Scene) -> None:
    asked = await room.ann.say(room.thread, "Who was it?")
    await room.until_delivered(1)
    said = await room.ben.say(room.thread, "I think it was Hobb.")
    await room.ann.say(room.thread, "Is that right?", mention=room.double.bot, reply_to=said)
    await room.until_delivered(2)
    await room.until(lambda: any(each.startswith("-# I don't read the message you're") for each in room.said()))
    for turn, replied in enumerate((asked, room.replies()[-1]), 3):
        await room.ben.say(room.thread, "What do you say to this?", mention=room.double.bot, reply_to=replied)
        await room.until_delivered(turn)
    assert sum(each.startswith("-# I don't read") for each in room.said()) == 1


async def test_who_replies_with_a_file_is_told_of_both(room: Scene) -> None:
    asked = await room.ann.say(room.thread, "Who was it?")
    await room.until_delivered(1)
    said, files = await room.ben.say(room.thread, "I think it was Hobb."), (room.double.file("page.jpg", b"..."),)
    about_files = "-# I only read what you write, not what is attached."
    await room.ann.say(room.thread, "See here!", mention=room.double.bot, reply_to=asked, files=files)
    await room.until(lambda: about_files in room.said())
    await room.until_delivered(2)
    await room.ann.say(room.thread, "Is that right?", mention=room.double.bot, reply_to=said, files=files)
    await room.until(lambda: any(each.startswith("-# I don't read") for each in room.said()))
    assert any(each.startswith("-# I don't read") and each.endswith(f"\n{about_files}") for each in room.said())
    await room.until_delivered(3)


async def test_a_poll_is_no_question(room: Scene) -> None:
    poll = Poll("Who was it?", {1: "Hobb", 2: "Marta"}, room.app.clock() + timedelta(days=1))
    room.double.world.post(room.thread, room.ann.user, "", poll=poll)
    await room.until_said("I only read text. What would you like to know?")


async def test_what_is_said_below_a_message_needs_no_permission_to_read_the_history(room: Scene) -> None:
    room.double.world.forbid(room.double.channel, room.double.bot, Permission.READ_MESSAGE_HISTORY)
    await room.ann.say(room.thread, "", mention=room.double.bot)
    await room.until_said("What would you like to know about the book?")
    await room.ann.say(room.double.channel, "hello", mention=room.double.bot)
    await room.until(lambda: "Which book is it about?" in room.double.said()[-1])


class TestWithoutTheContentIntent:
    @pytest.fixture
    async def room(self, double: DiscordDouble, tmp_path: Path) -> AsyncIterator[Scene]:
        double.gateway.privileged = 0
        async with scene(double, tmp_path) as room:
            await room.prepare()
            yield room

    async def test_only_mentions_and_replies_are_answered(self, room: Scene) -> None:
        await room.ann.say(room.thread, "Who?")
        await room.ann.say(room.thread, "who was it?", mention=room.double.bot)
        await room.until_said("I do not know.")
        await room.ann.say(room.thread, "Why?", reply_to=room.replies()[0])
        await room.until_said("I do not know.", "I do not know.")
        assert await room.kept() == ["who was it?", "I do not know.", "Why?", "I do not know."]

    async def test_a_mention_is_added_by_an_edit(self, room: Scene) -> None:
        said = await room.ann.say(room.thread, "Who?")
        await room.ann.edit(said, f"<@{room.double.bot.id}> who was it?")
        await room.until_said("I do not know.")

    async def test_a_reply_that_cannot_be_read_is_told_so(self, room: Scene) -> None:
        await room.ann.say(room.thread, "who was it?", mention=room.double.bot)
        await room.until_said("I do not know.")
        await room.ann.say(room.thread, "Why?", reply_to=room.replies()[0], ping=False)
        await room.until_said("I do not know.", "I can't read this message. Mention me in it, then I can.")


async def test_replies_to_what_is_posted_for_a_club_are_for_its_members(room: Scene) -> None:
    double = room.double

    def opened() -> list[Channel]:
        mine = [each for each in double.threads() if each is not room.thread and room.ann.id in each.members]
        return [each for each in mine if len(room.said(each)) == len(("what it is about", "questions"))]

    started = await room.ann.slash("club start", book=(await room.book()).id, sections=3, gate="open")
    await room.until(lambda: "The club has begun" in started.text)
    await room.ann.slash("club checkin", finished=True)
    await room.until(opened)
    section = opened()[0]
    questions = room.replies(section)[-1]
    await eventually(partial(room.app.storage.clubs.has_posted, str(double.guild.id), str(questions.id)))
    await room.ann.say(section, "I think she was afraid.", reply_to=questions)
    card = next(each for each in double.messages() if each.author is double.bot and each.buttons)
    await room.ann.say(double.channel, "Chapter 2 was great!", reply_to=card)
    await room.ann.say(section, "Was she?", mention=double.bot)
    await room.until_delivered(1, section)
    assert [each.content for each in await room.history(section)] == ["Was she?", "I do not know."]
    await room.ann.say(section, "Why not?", reply_to=room.replies(section)[-1])
    await room.until_delivered(2, section)
    assert not any("/chat" in each for each in double.said())

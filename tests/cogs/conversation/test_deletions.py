"""What people delete on Discord is deleted in storage: questions with their answers, threads, channels, servers."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import not_
from pathlib import Path
from typing import Any

import pytest

from cogs.rendering.export import readable
from domain.conversation import UNTITLED, Conversation
from tests.cogs.conversation.scene import Scene, again, scene
from tests.doubles.discord_api import DiscordDouble, Interaction, Message, Permission
from tests.sampling import a_few
from tests.storage.values import tables_with
from tests.waiting import eventually

SECRET = "Does my neighbour Hobb know?"


async def answered(room: Scene, text: str = SECRET) -> tuple[Message, Message]:
    """A question and the bot's reply to it."""
    turns = len(await room.turns())
    question = await room.ann.say(room.thread, text)
    await room.until_delivered(turns + 1)
    return question, room.replies()[-1]


async def asked_to_keep(room: Scene, reply: Message) -> None:
    await room.until(lambda: [each.label for each in reply.buttons][-2:] == ["Keep it", "Remove it"])


def purge(room: Scene, *messages: Message) -> None:
    """Delete messages at once, as bots that moderate do."""
    for each in messages:
        each.channel.messages.pop(each.id)
    data = {"channel_id": str(messages[0].channel.id), "guild_id": str(room.double.guild.id)}
    room.double.gateway.emit("MESSAGE_DELETE_BULK", data | {"ids": [str(each.id) for each in messages]})


async def in_storage(room: Scene, text: str) -> set[str]:
    """The tables in which a text stands."""
    return await tables_with(room.app.storage, text)


async def until_in_storage(room: Scene, text: str) -> None:
    await eventually(partial(in_storage, room, text))


async def until_not_in_storage(room: Scene, text: str) -> None:
    await eventually(partial(in_storage, room, text), not_)


async def until_kept_of(room: Scene, count: int) -> None:
    """Until so many conversations are kept."""
    server = str(room.double.guild.id)
    await eventually(partial(room.app.conversations.in_guild, server), lambda kept: len(kept) == count)


class TestQuestions:
    async def test_the_question_is_gone_and_the_answer_asks_whether_it_may_stay(self, room: Scene) -> None:
        question, reply = await answered(room)
        await room.ann.delete(question)
        await asked_to_keep(room, reply)
        assert reply.content.startswith("I do not know.\n\n-# 🗑 The question was deleted.")
        assert await in_storage(room, "Hobb") == set()

    async def test_one_of_several_leaves_the_answer_to_the_others_who_may_have_it_again(self, room: Scene) -> None:
        go_on = await room.hold()
        await room.ann.say(room.thread, "Who?")
        await room.until_asked(1)
        mine = await room.ann.say(room.thread, SECRET)
        await room.ben.say(room.thread, "When?", mention=room.double.bot)
        await room.until_kept("Who?", SECRET, "When?")
        go_on.set()
        await room.until_delivered(2)
        reply = room.replies()[-1]
        await room.ann.delete(mine)
        await room.until(lambda: [each.label for each in reply.buttons] == ["Answer again"])
        assert await in_storage(room, "Hobb") == set()
        assert reply.content == "I do not know."

    @pytest.mark.parametrize("words_left", a_few(["<@{bot}>", ""], 1))
    async def test_a_question_without_words_left_counts_as_deleted(self, room: Scene, words_left: str) -> None:
        question, reply = await answered(room)
        await room.ann.edit(question, words_left.format(bot=room.double.bot.id))
        await asked_to_keep(room, reply)
        assert await in_storage(room, "Hobb") == set()

    async def test_a_question_emptied_while_the_bot_was_away_counts_as_deleted(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            question, reply = await answered(room)
        await room.ann.edit(question, "")
        async with again(room) as after:
            await asked_to_keep(after, reply)
            assert await in_storage(after, "Hobb") == set()

    async def test_an_export_says_that_the_question_was_deleted(self, room: Scene) -> None:
        question, reply = await answered(room)
        await room.ann.delete(question)
        await asked_to_keep(room, reply)
        shown = "\n".join(each.content for each in readable(await room.history(), 10_000))
        assert shown == "(The question was deleted.)\n\nI do not know."

    async def test_a_deleted_question_and_its_answer_stay_out_of_the_next_prompt(self, room: Scene) -> None:
        question, reply = await answered(room)
        await room.ann.delete(question)
        await asked_to_keep(room, reply)
        room.model.say("Next.")
        await answered(room, "And?")
        said = [message.content for message in room.model.requests[-1] if message.role in ("user", "assistant")]
        assert said == ["And?"]

    async def test_whoever_asked_keeps_the_answer(self, room: Scene) -> None:
        question, reply = await answered(room)
        await room.ann.delete(question)
        await asked_to_keep(room, reply)
        await room.ben.click(reply, label="Keep it")
        assert [each.label for each in reply.buttons] == ["Keep it", "Remove it"]
        await room.ann.click(reply, label="Keep it")
        await room.until(lambda: not reply.buttons)
        assert reply.content == "I do not know.\n\n-# 🗑 The question was deleted."
        assert await room.kept() == ["I do not know."]

    async def test_whoever_asked_has_the_answer_removed(self, room: Scene) -> None:
        question, reply = await answered(room)
        await room.ann.delete(question)
        await asked_to_keep(room, reply)
        await room.ann.click(reply, label="Remove it")
        await room.until_said()
        assert await room.kept() == []

    async def test_where_nobody_says_anything_it_goes_in_time_whatever_happens(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            question, reply = await answered(room)
            await room.ann.delete(question)
            await asked_to_keep(room, reply)
            [turn] = await room.turns()
            assert turn.expires_at is not None
            assert timedelta(hours=23) < turn.expires_at - datetime.now(UTC) < timedelta(hours=25)
            over = (datetime.now(UTC) - timedelta(minutes=1)).isoformat(timespec="microseconds")
            await room.app.storage.engine.write("UPDATE turns SET expires_at = ?", [over])
        async with again(room) as after:
            await after.until_said()
            assert await after.kept() == []

    async def test_the_question_whether_it_stays_is_asked_again_after_a_crash(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            _, reply = await answered(room)
            expires = datetime.now(UTC) + timedelta(hours=1)
            kept = (await room.history())[0]
            await room.app.storage.turns.forget_question(kept.id, expires)  # and then the program is killed
        async with again(room) as after:
            await asked_to_keep(after, reply)

    async def test_a_title_and_the_name_of_the_thread_go_with_the_question_they_were_made_of(self, room: Scene) -> None:
        await room.ann.slash("conversations create", book=(await room.book()).id)
        await room.until(lambda: len(room.double.threads()) == 2)
        thread = next(each for each in room.double.threads() if each is not room.thread)
        await room.until(lambda: room.double.messages(thread)[-1].embeds)
        question = await room.ann.say(thread, SECRET)
        await room.until_delivered(1, thread)
        await room.until(lambda: thread.name == "I do not know")  # the title that the model gave
        await room.ann.delete(question)
        await room.until(lambda: thread.name == "The Dark Lamp")
        assert (await room.conversation(thread)).title == UNTITLED
        assert await in_storage(room, "Hobb") == set()

    async def test_many_at_once_are_dealt_with_like_one(self, room: Scene) -> None:
        pairs = [await answered(room, text) for text in ("First?", "Second?")]
        purge(room, *(question for question, _ in pairs))
        for _, reply in pairs:
            await asked_to_keep(room, reply)
        assert await room.kept() == ["I do not know."] * 2

    async def test_answers_that_are_purged_with_their_questions_do_not_come_back(self, room: Scene) -> None:
        pairs = [await answered(room, text) for text in ("First?", "Second?")]
        purge(room, *(each for pair in pairs for each in pair))
        await room.until_kept()
        _, reply = await answered(room, "Third?")
        assert room.replies() == [reply]

    async def test_whom_a_card_showed_is_forgotten_with_it(self, room: Scene) -> None:
        [card] = room.double.messages(room.double.channel)
        assert "posts" in await in_storage(room, str(card.id))
        purge(room, card)
        await eventually(lambda: in_storage(room, str(card.id)), lambda tables: "posts" not in tables)

    async def test_nor_does_one_that_goes_before_it_can_say_that_its_question_is_gone(self, room: Scene) -> None:
        question, reply = await answered(room)
        room.thread.messages.pop(reply.id)
        await room.ann.delete(question)
        await room.until(lambda: [each for each in room.double.rest_log if each.status == 404])
        room.double.world.delete(reply)
        await room.until_kept()
        assert room.replies() == []

    async def test_what_was_deleted_and_edited_while_the_bot_was_away_is_found(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            question, reply = await answered(room)
            other, _ = await answered(room, "Whi?")
        await room.ann.edit(other, "Who?")
        await room.ann.delete(question)
        async with again(room) as after:
            await asked_to_keep(after, reply)
            await after.until_kept("I do not know.", "Who?", "I do not know.")

    async def test_a_thread_that_cannot_be_read_back_loses_nothing(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            await answered(room)
        hidden = dict(room.thread.messages)
        room.thread.messages.clear()  # what Discord shows to whom it does not let read the history
        async with again(room) as after:
            await after.until(lambda: double.calls("GET /channels/{channel}/messages"))
            await asyncio.sleep(0.2)
            room.thread.messages.update(hidden)
            assert await after.kept() == [SECRET, "I do not know."]

    async def test_a_conversation_that_went_on_in_another_thread_loses_nothing(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            await answered(room)
            conversation = await room.conversation()
            await room.ann.delete_channel(room.thread)
            await until_gone(room)
            await room.ann.slash("chat", book=conversation.book_id, conversation=conversation.id)
            await room.until(lambda: room.double.threads() and room.double.messages(room.double.threads()[0]))
            [room.thread] = room.double.threads()
            await answered(room, "And?")
        async with again(room) as after:
            await after.until(lambda: double.calls("GET /channels/{channel}/messages"))
            await asyncio.sleep(0.2)
            assert await after.kept() == [SECRET, "I do not know.", "And?", "I do not know."]


LONG = "The sea said nothing. " * 150
"""An answer of two messages."""


class TestAnswers:
    """Whoever may delete the bot's messages deletes an answer by deleting any of its messages."""

    async def until_gone(self, room: Scene, *kept: str) -> None:
        await room.until_kept(*kept)
        await room.until(lambda: "sea" not in "".join(room.said()))

    def moderate(self, room: Scene) -> None:
        room.double.world.grant(room.double.guild, room.ben.user, Permission.MANAGE_MESSAGES)

    @pytest.mark.parametrize("which", a_few([0, -1], 1))
    async def test_the_answer_goes_and_its_question_stays(self, room: Scene, which: int) -> None:
        self.moderate(room)
        room.model.say(LONG)
        await answered(room)
        assert len(room.replies()) == 2
        await room.ben.delete(room.replies()[which])
        await self.until_gone(room, SECRET)
        assert await in_storage(room, "The sea said") == set()
        shown = [each.content for each in readable(await room.history(), 10_000)]
        assert shown == [SECRET]

    async def test_it_is_not_in_the_next_prompt_and_not_delivered_again(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            self.moderate(room)
            room.model.say(LONG, "Next.")
            await answered(room)
            await room.ben.delete(room.replies()[0])
            await self.until_gone(room, SECRET)
            await answered(room, "And?")
            said = [message.content for message in room.model.requests[-1] if message.role in ("user", "assistant")]
            assert said == [SECRET, "And?"]
        async with again(room) as after:
            await after.until(lambda: double.calls("GET /channels/{channel}/messages"))
            await answered(after, "Still?")
            assert after.said() == ["Next.", "I do not know."]

    async def test_one_deleted_while_the_bot_was_away_is_found(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            self.moderate(room)
            room.model.say("One.", "Two.")
            first = (await answered(room, "First?"))[1]
            last = (await answered(room, "Last?"))[1]
        await room.ben.delete(first)
        async with again(room) as after:
            await after.until_kept("First?", "Last?", "Two.")
        await room.ben.delete(last)
        async with again(room) as after:
            await after.until_kept("First?", "Last?")

    async def test_what_the_bot_itself_deletes_is_no_answer(self, room: Scene) -> None:
        room.model.say(LONG, "Short.")
        await answered(room)
        await room.ann.click(room.replies()[-1], label="Try again")
        await room.until(lambda: room.said() == ["Short."])
        await room.until_kept(SECRET, "Short.")
        await answered(room, "And?")
        assert await room.kept() == [SECRET, "Short.", "And?", "Short."]

    async def test_an_answer_without_its_question_goes_as_well(self, room: Scene) -> None:
        self.moderate(room)
        question, reply = await answered(room)
        await room.ann.delete(question)
        await asked_to_keep(room, reply)
        await room.ben.delete(reply)
        await room.until_kept()
        assert await room.turns() == []

    async def test_a_public_answer_in_several_messages_goes_whole(self, room: Scene) -> None:
        self.moderate(room)
        room.model.say(LONG)
        posted = await answered_to_all(room)
        assert len(posted) == 3
        await room.ben.delete(posted[1])
        await room.until(lambda: all(each.deleted for each in posted))
        assert await in_storage(room, "The sea said") == set()

    async def test_a_public_answer_to_a_command_goes_whole(self, room: Scene) -> None:
        self.moderate(room)
        asked = await room.ann.slash("ask", question="What does the sea say?", public=True)
        await room.until(lambda: asked.messages and "I do not know." in asked.messages[0].content)
        [aside] = await asides(room)
        await eventually(partial(room.app.transcripts.turns, aside.id), lambda turns: turns[0].reply_ids)
        await room.ben.delete(asked.messages[0])
        await until_not_in_storage(room, "I do not know")
        assert [each.content for each in await room.app.transcripts.messages(aside.id)] == ["What does the sea say?"]


async def answered_to_all(room: Scene, question: str = "What does the sea say?") -> list[Message]:
    """The messages in which a question of /ask is answered publicly, once it is known whom they show."""
    before = {str(each.id) for each in room.double.messages()}
    await room.ann.slash("ask", question=question, public=True)
    shown = await eventually(partial(last_shown, room), lambda shown: shown - before) - before
    export = partial(room.app.people.export, str(room.ann.id))
    await eventually(export, lambda copy: shown <= {each["message_id"] for each in copy["shown_in"]})
    return [each for each in room.double.messages() if str(each.id) in shown]


async def asides(room: Scene) -> list[Conversation]:
    """The conversations with what Ann has asked by /ask."""
    return [each for each in await room.app.conversations.of_reader(str(room.ann.id)) if each.is_aside]


async def last_shown(room: Scene) -> set[str]:
    """The ids of the messages in which the last question of /ask was answered."""
    turns = [turn for each in await asides(room) for turn in await room.app.transcripts.turns(each.id)]
    return {*turns[-1].reply_ids} if turns else set()


class TestConversations:
    """What a deleted conversation shows to everybody outside of a thread goes, too: public answers of /ask."""

    async def deleted(self, room: Scene) -> Interaction:
        [aside] = await asides(room)
        asked = await room.ann.slash("conversations delete", conversation=aside.id)
        await room.until(lambda: asked.messages)
        await room.ann.click(asked.message, label="Delete it")
        await room.until(lambda: "Deleted" in asked.text)
        return asked

    async def test_its_public_answers_go_and_others_stay(self, room: Scene) -> None:
        room.model.say(LONG, "Short.", "Mine.")
        long, short = await answered_to_all(room), await answered_to_all(room, "What else?")
        await room.ben.slash("ask", question="Who?", public=True)
        await room.until(lambda: "Mine." in room.double.messages()[-1].content)
        mine = room.double.messages()[-1]
        assert len(long) == 3
        asked = await self.deleted(room)
        await room.until(lambda: all(each.deleted for each in long + short))
        assert not mine.deleted
        assert asked.text.startswith("Deleted")
        assert "I couldn't remove" not in asked.text
        assert await in_storage(room, "The sea said") == set()

    async def test_an_answer_that_was_made_again_goes_with_its_conversation(self, room: Scene) -> None:
        room.model.say(LONG, "Short.")
        long = await answered_to_all(room)
        await room.ann.click(long[-1], label="Try again")
        await room.until(lambda: "Short." in room.double.messages()[-1].content)
        again = room.double.messages()[-1]
        await self.deleted(room)
        await room.until(lambda: again.deleted and all(each.deleted for each in long))

    async def test_what_discord_refuses_is_named_with_links_then_and_later(self, room: Scene) -> None:
        [posted] = await answered_to_all(room)
        room.double.world.forbid(room.double.channel, room.double.bot, Permission.VIEW_CHANNEL)
        asked = await self.deleted(room)
        link = f"https://discord.com/channels/{room.double.guild.id}/{posted.channel.id}/{posted.id}"
        await room.until(lambda: link in asked.text)
        assert "I couldn't remove" in asked.text
        assert link in (await room.ann.slash("privacy")).text

    async def test_an_answer_that_is_being_posted_goes_too(self, room: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        told = room.app.questions.told

        async def told_too_late(*args: Any) -> bool:
            [aside] = await asides(room)
            await room.app.conversations.delete(aside.id, str(room.ann.id))
            return await told(*args)

        monkeypatch.setattr(room.app.questions, "told", told_too_late)
        room.model.say(LONG)
        asked = await room.ann.slash("ask", question="What does the sea say?", public=True)
        await room.until(lambda: asked.messages and "sea" in asked.message.content)
        await room.until(lambda: "sea" not in "".join(room.double.said()))

    async def test_a_crash_in_the_middle_only_delays_it(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            [posted] = await answered_to_all(room)
            [aside] = await asides(room)
            await room.app.conversations.delete(aside.id, str(room.ann.id))  # and then the program is killed
        async with again(room) as after:
            await after.until(lambda: posted.deleted)


class TestPlaces:
    async def test_a_conversation_whose_thread_was_deleted_goes_after_a_week(self, room: Scene) -> None:
        await answered(room)
        await room.ann.delete_channel(room.thread)
        await until_gone(room)
        await over_a_week(room)
        await room.app.housekeeping.sweep()
        assert await in_storage(room, "Hobb") == set()

    async def test_unless_somebody_who_could_see_it_takes_it_up(self, room: Scene) -> None:
        await answered(room)
        conversation = await room.conversation()
        await room.ann.delete_channel(room.thread)
        await until_gone(room)
        await over_a_week(room)
        await room.ann.slash("chat", book=conversation.book_id, conversation=conversation.id)
        await room.until(lambda: len(room.double.threads()) == 1)
        await eventually(partial(gone, room), not_)
        await room.app.housekeeping.sweep()
        assert await in_storage(room, "Hobb")

    async def test_one_that_was_deleted_while_the_bot_was_away_is_found(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            await answered(room)
        await room.ann.delete_channel(room.thread)
        async with again(room) as after:
            await until_gone(after)

    async def test_a_clubs_thread_that_was_deleted_meanwhile_is_not_linked_to(
        self, double: DiscordDouble, tmp_path: Path
    ) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
            await room.ann.slash("club start", book=(await room.book()).id, sections=3, gate="open")
            await room.until(lambda: cards_of_clubs(double)[-1:] and len(double.threads()) == 1 + 3)
            card, [deleted, *_] = cards_of_clubs(double)[-1], double.threads()[1:]
            await room.until(lambda: card.embed_texts[0].count("thread open") == 3)
            clubs = room.app.clubs
            found = partial(clubs.in_channel, *here(double), lambda _: True)
            await eventually(found, lambda club: all(each.ready for each in club.sections))
        await room.ann.delete_channel(deleted)
        async with again(room) as after:
            await after.until(lambda: card.embed_texts[0].count("thread open") == 2)
            opened = await after.ann.slash("club open", section=1)
            await after.until(lambda: "Section 1 is open" in opened.text)
            assert len(double.threads()) == 1 + 3

    async def test_a_deleted_channel_takes_the_conversations_of_its_threads(self, room: Scene) -> None:
        await room.ann.delete_channel(room.double.channel)
        await until_gone(room)

    async def test_what_was_answered_there_to_a_command_goes_at_once(self, room: Scene) -> None:
        room.model.say("The sea said it.")
        await answered_to_all(room)
        await room.ann.archive(room.thread)  # Discord does not tell that it is gone with its channel
        await room.ann.delete_channel(room.double.channel)
        await until_not_in_storage(room, "The sea said")
        await eventually(partial(room.app.storage.engine.read, "SELECT 1 FROM posts"), not_)
        [aside] = await asides(room)
        assert [each.content for each in await room.app.transcripts.messages(aside.id)] == ["What does the sea say?"]


def cards_of_clubs(double: DiscordDouble) -> list[Message]:
    return [each for each in double.messages() if any(button.label == "Join" for button in each.buttons)]


def here(double: DiscordDouble) -> tuple[str, str]:
    return str(double.guild.id), str(double.channel.id)


async def gone(room: Scene) -> bool:
    return bool(await room.app.storage.engine.read("SELECT 1 FROM conversations WHERE gone_at IS NOT NULL"))


async def until_gone(room: Scene) -> None:
    await eventually(partial(gone, room))


async def over_a_week(room: Scene) -> None:
    then = (datetime.now(UTC) - timedelta(days=8)).isoformat(timespec="microseconds")
    await room.app.storage.engine.write("UPDATE conversations SET gone_at = ?", [then])


class TestServers:
    async def left(self, room: Scene) -> list[str]:
        return [row["guild_id"] for row in await room.app.storage.engine.read("SELECT guild_id FROM left_servers")]

    async def until_left(self, room: Scene, *servers: str) -> None:
        await eventually(partial(self.left, room), lambda left: left == list(servers))

    async def over_a_month(self, room: Scene) -> None:
        then = (datetime.now(UTC) - timedelta(days=31)).isoformat(timespec="microseconds")
        await room.app.storage.engine.write("UPDATE left_servers SET left_at = ?", [then])

    async def test_a_server_that_the_bot_was_removed_from_goes_after_a_month(self, room: Scene) -> None:
        await answered(room)
        guild = room.double.guild
        room.double.world.remove_bot(guild)
        await self.until_left(room, str(guild.id))
        await room.app.housekeeping.sweep()
        assert await in_storage(room, str(guild.id)) > {"left_servers"}
        await self.over_a_month(room)
        swept = await room.app.housekeeping.sweep()
        assert swept.servers == 1
        assert await in_storage(room, str(guild.id)) == set()
        assert await in_storage(room, "Hobb") == set()
        assert not list((room.folder / "books").glob("*.book"))

    async def test_coming_back_before_keeps_it(self, room: Scene) -> None:
        guild = room.double.guild
        room.double.world.remove_bot(guild)
        await self.until_left(room, str(guild.id))
        room.double.world.invite_bot(guild)
        await self.until_left(room)
        await until_kept_of(room, 1)

    async def test_a_removal_while_the_bot_was_away_is_found(self, double: DiscordDouble, tmp_path: Path) -> None:
        async with scene(double, tmp_path) as room:
            await room.prepare()
        double.world.remove_bot(double.guild)
        async with again(room) as after:
            await self.until_left(after, str(double.guild.id))

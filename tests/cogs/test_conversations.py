"""/conversations, and what becomes of them when people change their threads."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import AsyncMock

import discord
import pytest
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.results import InteractionResult

from cogs import conversations, interactions
from cogs.services import Memberships
from domain.conversation import UNTITLED, TitleSource
from tests.cogs.stage import Stage, holding, labels, text_of


async def listed(stage: Stage, member: MemberActor, **options: str) -> str:
    return text_of(await member.slash(stage.channel, "conversations list", **options))


async def test_create_opens_a_thread_without_a_question(stage: Stage) -> None:
    book = await stage.book()
    await stage.chat(book)
    await stage.ann.slash(stage.channel, "conversations create", book=book.id, title="Second reading")
    assert [thread.name for thread in stage.channel.threads] == ["The Dark Lamp", "Second reading"]
    assert stage.model.requests == []


async def test_the_list_is_newest_first_with_links(stage: Stage) -> None:
    book = await stage.book()
    first, second = await stage.chat(book, title="First"), await stage.chat(book, title="Second")
    lines = await listed(stage, stage.ben)
    assert lines.index("Second") < lines.index("First")
    assert f"https://discord.com/channels/{stage.guild.id}/{first.id}" in lines
    assert f"https://discord.com/channels/{stage.guild.id}/{second.id}" in lines
    assert "The Dark Lamp" in lines


async def test_an_empty_list_tells_of_removed_books(stage: Stage) -> None:
    one, other = await stage.book("One"), await stage.book("Other")
    await stage.chat(one)
    await stage.app.shelf.take_off(one.id, by=str(stage.ann.id))
    assert "within 7 days, /books restore brings it back" in await listed(stage, stage.ann)
    assert "somebody with the permission “Manage Server” can bring it back" in await listed(stage, stage.ben)
    assert "You have no conversations yet." in await listed(stage, stage.ann, book=other.id)


async def test_the_list_may_be_of_one_book(stage: Stage) -> None:
    one, other = await stage.book("One"), await stage.book("Other")
    await stage.chat(one, title="About one")
    await stage.chat(other, title="About the other")
    lines = await listed(stage, stage.ann, book=one.id)
    assert "About one" in lines
    assert "About the other" not in lines


async def test_the_list_has_pages_that_turn_and_keep_the_book(stage: Stage) -> None:
    one, other = await stage.book("One"), await stage.book("Other")
    await stage.chat(other, title="Not this")
    for number in range(1, 12):
        await stage.chat(one, title=f"Talk {number:02}")
    shown = await stage.ann.slash(stage.channel, "conversations list", book=one.id)
    assert labels(shown) == ["Next ▶"]
    await stage.restart()
    assert shown.response
    await stage.ann.click(shown.response, label="Next ▶")
    assert "Talk 01" in text_of(shown)
    assert "Not this" not in text_of(shown)


async def test_a_title_cannot_bend_its_link(stage: Stage) -> None:
    book = await stage.book()
    await stage.chat(book, title="here](https://evil.example) [x")
    lines = await listed(stage, stage.ann)
    assert "](https://evil.example" not in lines


class TestSight:
    """A conversation is shown to those who can see its thread."""

    async def test_a_private_one_only_to_members_of_its_thread(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), private=True, title="Secret")
        assert "Secret" in await listed(stage, stage.ann)
        assert "Secret" not in await listed(stage, stage.ben)
        await _shown(stage, thread).add_user(discord.Object(stage.ben.id))
        assert "Secret" in await listed(stage, stage.ben)

    async def test_a_private_one_to_those_who_manage_threads(self, stage: Stage) -> None:
        await stage.chat(await stage.book(), private=True, title="Secret")
        assert "Secret" in await listed(stage, stage.member("mod", manage_threads=True))

    async def test_one_who_was_shown_out_of_a_private_thread_sees_it_no_more(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), private=True, title="Secret")
        await _shown(stage, thread).add_user(discord.Object(stage.ben.id))
        await _shown(stage, thread).remove_user(discord.Object(stage.ben.id))
        assert "Secret" not in await listed(stage, stage.ben)

    async def test_one_in_a_hidden_channel_only_to_those_who_see_the_channel(self, stage: Stage) -> None:
        book = await stage.book()
        everyone, friends = stage.guild.default_role, stage.guild.create_role("friends")
        hidden = stage.guild.create_text_channel(
            "hidden",
            overwrites={
                everyone: discord.PermissionOverwrite(view_channel=False),
                friends: discord.PermissionOverwrite(view_channel=True),
                _me(stage): discord.PermissionOverwrite(view_channel=True),
            },
        )
        friend = stage.guild.add_member(stage.env.create_user("friend"), roles=[friends])
        await friend.slash(hidden, "chat", book=book.id, title="Among friends")
        assert "Among friends" in await listed(stage, friend)
        assert "Among friends" not in await listed(stage, stage.ben)
        assert await stage.ben.autocomplete(stage.channel, "conversations export", "conversation", "friends") == []

    async def test_a_public_one_whose_thread_is_gone_still_to_everybody(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Old talk")
        await _delete(stage, thread)
        lines = await listed(stage, stage.ben)
        assert "Old talk" in lines
        assert "its thread is gone; /chat opens a new one" in lines

    async def test_a_private_one_whose_thread_is_gone_to_its_owner_alone(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), private=True, title="Secret")
        await _delete(stage, thread)
        assert "Secret" in await listed(stage, stage.ann)
        assert "Secret" not in await listed(stage, stage.ben)

    async def test_a_private_one_whose_thread_sleeps_to_its_members_all_the_same(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), private=True, title="Secret")
        await _shown(stage, thread).edit(archived=True)
        await stage.env.settle()
        assert "Secret" in await listed(stage, stage.ann)
        assert "Secret" not in await listed(stage, stage.ben)

    async def test_one_whose_channel_is_gone_to_its_owner_alone(self, stage: Stage) -> None:
        book, doomed = await stage.book(), stage.guild.create_text_channel("doomed")
        await stage.ann.slash(doomed, "chat", book=book.id, title="Old talk")
        channel = stage.bot.get_channel(doomed.id)
        assert isinstance(channel, discord.TextChannel)
        await channel.delete()
        await stage.env.settle()
        assert "Old talk" in await listed(stage, stage.ann)
        assert "Old talk" not in await listed(stage, stage.ben)

    async def test_a_private_one_to_nobody_else_while_discord_has_trouble(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), private=True, title="Secret")
        await _shown(stage, thread).add_user(discord.Object(stage.ben.id))
        stage.env.inject_error("GET", f"/channels/{thread.id}/thread-members/{stage.ben.id}", status=500)
        assert "Secret" not in await listed(stage, stage.ben)

    async def test_nothing_of_it_in_another_guild(self, stage: Stage) -> None:
        conversation = await stage.conversation(await stage.chat(await stage.book(), title="Ours alone"))
        elsewhere = stage.env.create_guild("Rivals")
        channel = elsewhere.create_text_channel("general")
        eve = stage.member("eve", elsewhere, administrator=True)
        assert "Ours alone" not in text_of(await eve.slash(channel, "conversations list"))
        assert await eve.autocomplete(channel, "conversations delete", "conversation", "Ours") == []
        for command, options in (
            ("conversations delete", {}),
            ("conversations export", {}),
            ("conversations rename", {"title": "Mine"}),
        ):
            for reference in (conversation.id, "Ours alone"):
                refused = await eve.slash(channel, command, conversation=reference, **options)
                assert "There's no such conversation" in text_of(refused), command
        assert (await stage.app.conversations.get(conversation.id)).title == "Ours alone"


class TestRename:
    async def test_the_thread_is_renamed_with_it(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book())
        renamed = await stage.ann.slash(thread, "conversations rename", title="Who did it")
        assert "It's now called “Who did it”." in text_of(renamed)
        again = await stage.ann.slash(thread, "conversations rename", title="Who did it")
        assert text_of(again) == "It's called “Who did it” already."
        assert thread.name == "Who did it"
        conversation = await stage.conversation(thread)
        assert (conversation.title, conversation.title_source) == ("Who did it", TitleSource.PERSON)

    async def test_it_is_named_from_anywhere(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Old")
        [choice] = await stage.ann.autocomplete(stage.channel, "conversations rename", "conversation", "old")
        assert re.fullmatch(r"Old · The Dark Lamp · \d+ minutes? ago", choice["name"])
        await stage.ann.slash(stage.channel, "conversations rename", title="New", conversation=choice["value"])
        assert thread.name == "New"

    async def test_those_of_one_name_are_told_apart_by_the_minute(self, stage: Stage) -> None:
        book, begun = await stage.book(), datetime(2026, 3, 1, 9, 5, tzinfo=UTC)
        for minutes in (0, 15):
            opened = await stage.conversation(await stage.chat(book, title="Old"))
            await stage.change(opened, created_at=begun + timedelta(minutes=minutes))
        other = await stage.conversation(await stage.chat(book, title="Older"))
        await stage.change(other, created_at=begun)
        choices = await stage.ann.autocomplete(stage.channel, "conversations rename", "conversation", "old")
        assert {each["name"].replace("\u202f", " ") for each in choices} == {
            "Old · The Dark Lamp · March 1, 2026, 9:05 AM UTC",
            "Old · The Dark Lamp · March 1, 2026, 9:20 AM UTC",
            "Older · The Dark Lamp · March 1, 2026",
        }

    async def test_outside_a_thread_it_has_to_be_named(self, stage: Stage) -> None:
        refused = await stage.ann.slash(stage.channel, "conversations rename", title="New")
        assert "Which one?" in text_of(refused)

    async def test_others_are_told_why_not(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Mine")
        refused = await stage.ben.slash(thread, "conversations rename", title="Yours")
        assert f"Only <@{stage.ann.id}>, whose conversation this is" in text_of(refused)
        assert thread.name == "Mine"

    async def test_who_manages_threads_may(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Mine")
        await stage.member("mod", manage_threads=True).slash(thread, "conversations rename", title="Tidied")
        assert (await stage.conversation(thread)).title == "Tidied"

    async def test_of_two_that_are_called_alike_one_has_to_be_chosen(self, stage: Stage) -> None:
        book = await stage.book()
        for _ in range(2):
            await stage.chat(book, title="Twin")
        refused = await stage.ann.slash(stage.channel, "conversations rename", title="New", conversation="Twin")
        assert "Several conversations have that title" in text_of(refused)

    async def test_a_thread_the_bot_may_not_rename_is_said_to_keep_its_name(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Old")
        stage.env.inject_error("PATCH", f"/channels/{thread.id}", status=403, code=50013)
        told = await stage.ann.slash(thread, "conversations rename", title="New")
        assert "It's now called “New”." in text_of(told)
        assert "I may not rename the thread itself" in text_of(told)

    async def test_a_title_of_blanks_is_refused(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Mine")
        for blank in ("   ", "\u200b", "\u202e \ufeff"):
            refused = await stage.ann.slash(thread, "conversations rename", title=blank)
            assert "A conversation needs a title" in text_of(refused)
            assert thread.name == "Mine"

    async def test_an_archived_thread_is_renamed_too(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Old")
        await _shown(stage, thread).edit(archived=True)
        await stage.env.settle()
        await stage.ann.slash(stage.channel, "conversations rename", title="New", conversation="Old")
        assert thread.name == "New"

    async def test_a_new_name_of_the_thread_that_no_message_tells_of_renames_the_conversation(
        self, stage: Stage
    ) -> None:
        thread = await stage.chat(await stage.book())
        await _shown(stage, thread).edit(name="By hand")
        await stage.env.settle()
        conversation = await stage.conversation(thread)
        assert (conversation.title, conversation.title_source) == ("By hand", TitleSource.PERSON)

    async def test_a_thread_that_gets_its_books_name_back_gives_the_conversation_no_title(self, stage: Stage) -> None:
        book = await stage.book()
        thread = await stage.chat(book, title="Mine")
        conversation = await stage.conversation(thread)
        await stage.app.storage.conversations.update_title(conversation.id, UNTITLED)  # as an erasure leaves it
        await _shown(stage, thread).edit(name=book.title)
        await stage.env.settle()
        assert thread.name == book.title
        assert (await stage.conversation(thread)).title == UNTITLED

    async def test_a_thread_that_is_archived_renames_nothing(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), message="Who is Hobb?")
        await stage.app.storage.conversations.update_title((await stage.conversation(thread)).id, "About Hobb")
        await _shown(stage, thread).edit(archived=True)
        await stage.env.settle()
        assert (await stage.conversation(thread)).title == "About Hobb"


class TestDelete:
    async def ask(self, stage: Stage, thread: ChannelHandle) -> InteractionResult:
        conversation = await stage.conversation(thread)
        return await stage.ann.slash(stage.channel, "conversations delete", conversation=conversation.id)

    async def test_one_without_a_word_goes_without_a_count(self, stage: Stage) -> None:
        asked = text_of(await self.ask(stage, await stage.chat(await stage.book())))
        assert "Nothing has been said in it. This permanently deletes it and the thread." in asked

    async def test_all_of_it_is_gone_after_the_button(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), message="Who is Hobb?")
        conversation = await stage.conversation(thread)
        asked = await self.ask(stage, thread)
        assert asked.ephemeral
        assert "2 messages and the thread" in text_of(asked)
        assert asked.response
        await stage.restart()
        await stage.ann.click(asked.response, label="Delete it")
        assert "Deleted" in text_of(asked)
        assert stage.channel.threads == []
        assert await stage.conversations() == []
        assert await stage.app.storage.messages.get_by_conversation(conversation.id) == []

    async def test_no_file_holds_its_words_any_more(self, stage: Stage, tmp_path: Path) -> None:
        thread = await stage.chat(await stage.book(), message="Who put the zanzibarine lamp out?")
        asked = await self.ask(stage, thread)
        assert holding(b"zanzibarine", tmp_path)
        assert asked.response
        await stage.ann.click(asked.response, label="Delete it")
        await stage.env.settle()
        assert not holding(b"zanzibarine", tmp_path)

    async def test_a_question_of_long_ago_is_asked_again(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = await self.ask(stage, await stage.chat(await stage.book()))
        monkeypatch.setattr(interactions, "VALID_FOR", timedelta(seconds=-1))
        assert asked.response
        pressed = await stage.ann.click(asked.response, label="Delete it")
        assert "has expired" in text_of(pressed)
        assert len(await stage.conversations()) == 1

    async def test_by_a_clock_that_is_ahead_it_is_not_of_long_ago(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = await self.ask(stage, await stage.chat(await stage.book()))
        monkeypatch.setattr(discord.utils, "utcnow", lambda: datetime.now(UTC) + timedelta(hours=2))
        assert asked.response
        await stage.ann.click(asked.response, label="Delete it")
        assert "Deleted" in text_of(asked)

    async def test_it_may_be_kept(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book())
        asked = await self.ask(stage, thread)
        assert asked.response
        await stage.ann.click(asked.response, label="Keep it")
        assert len(await stage.conversations()) == 1

    async def test_a_thread_the_bot_may_not_delete_is_said_to_stay(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book())
        asked = await self.ask(stage, thread)
        stage.env.inject_error("DELETE", f"/channels/{thread.id}", status=403, code=50013)
        assert asked.response
        await stage.ann.click(asked.response, label="Delete it")
        assert "Deleted" in text_of(asked)
        assert "“Manage Threads”" in text_of(asked)
        assert await stage.conversations() == []

    async def test_while_discord_has_trouble_nothing_is_deleted_and_the_button_stays(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        thread = await stage.chat(await stage.book())
        asked = await self.ask(stage, thread)
        assert asked.response
        with monkeypatch.context() as trouble:
            trouble.setattr(conversations, "delete_thread", AsyncMock(side_effect=TimeoutError))
            told = text_of(await stage.ann.click(asked.response, label="Delete it"))
        assert "Discord is having trouble" in told
        assert len(await stage.conversations()) == 1
        await stage.ann.click(asked.response, label="Delete it")
        assert await stage.conversations() == []
        assert stage.channel.threads == []

    @pytest.mark.parametrize("is_asked", [True, False])
    async def test_what_others_wrote_is_deleted_by_who_manages_threads_alone(
        self, stage: Stage, is_asked: bool
    ) -> None:
        thread = await stage.chat(await stage.book())
        asked = await self.ask(stage, thread)
        mention = f"<@{stage.bot.user.id}> " if is_asked and stage.bot.user else ""
        await stage.ben.send(thread, f"{mention}I think it was Hobb.")
        await stage.env.settle()
        assert asked.response
        pressed = await stage.ann.click(asked.response, label="Delete it")
        assert "Others have written in this conversation" in text_of(pressed)
        assert "Others have written in this conversation" in text_of(await self.ask(stage, thread))
        assert len(stage.channel.threads) == len(await stage.conversations()) == 1
        cat = stage.member("cat", manage_threads=True)
        sure = await cat.slash(thread, "conversations delete")
        assert sure.response
        await cat.click(sure.response, label="Delete it")
        assert await stage.conversations() == []

    async def test_others_are_told_why_not(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book())
        refused = await stage.ben.slash(thread, "conversations delete")
        assert "whose conversation this is" in text_of(refused)
        assert len(await stage.conversations()) == 1


class TestExport:
    async def test_markdown_holds_what_was_said(self, stage: Stage) -> None:
        stage.model.say("Hobb put it out.")
        thread = await stage.chat(await stage.book(), message="Who put the lamp out?")
        exported = await stage.ben.slash(thread, "conversations export")
        text = await _file(exported)
        assert "Who put the lamp out?" in text
        assert "Hobb put it out." in text

    async def test_json_can_be_read_by_machines(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), message="Who put the lamp out?")
        exported = await stage.ann.slash(thread, "conversations export", format="json")
        assert json.loads(await _file(exported))["messages"][0]["content"] == "Who put the lamp out?"

    async def test_a_private_one_is_not_handed_to_others(self, stage: Stage) -> None:
        conversation = await stage.conversation(await stage.chat(await stage.book(), private=True))
        refused = await stage.ben.slash(stage.channel, "conversations export", conversation=conversation.id)
        assert "There's no such conversation" in text_of(refused)


class TestOffered:
    """What `conversation` is completed to."""

    async def offered(self, stage: Stage, reader: MemberActor, typed: str = "") -> list[str]:
        choices = await reader.autocomplete(stage.channel, "conversations export", "conversation", typed)
        return [choice["name"].split(" · ")[0] for choice in choices]

    async def test_a_private_one_is_offered_to_those_in_its_thread(self, stage: Stage) -> None:
        thread = await stage.chat(await stage.book(), title="Secret", private=True)
        cat = stage.member("cat", manage_threads=True)
        assert await self.offered(stage, stage.ann) == ["Secret"]
        assert await self.offered(stage, stage.ben) == []
        assert await self.offered(stage, cat) == ["Secret"]
        await _shown(stage, thread).add_user(discord.Object(stage.ben.id))
        stage.bot.memberships = Memberships()  # a minute later
        assert await self.offered(stage, stage.ben) == ["Secret"]

    async def test_whose_it_is_may_come_back_after_leaving(self, stage: Stage) -> None:
        thread = await stage.chat(book := await stage.book(), title="Secret", private=True)
        await _shown(stage, thread).remove_user(discord.Object(stage.ann.id))
        assert await self.offered(stage, stage.ann) == ["Secret"]
        told = await stage.ann.slash(stage.channel, "chat", book=book.id, conversation="Secret")
        assert "continues here" in text_of(told)

    async def test_every_word_that_is_typed_has_to_occur(self, stage: Stage) -> None:
        book = await stage.book()
        for title in ("The night watch", "The long night"):
            await stage.chat(book, title=title)
        assert await self.offered(stage, stage.ann, "night lamp") == ["The long night", "The night watch"]
        assert await self.offered(stage, stage.ann, "watch night") == ["The night watch"]
        assert await self.offered(stage, stage.ann, "day") == []

    async def test_a_long_title_leaves_room_for_the_book(self, stage: Stage) -> None:
        await stage.chat(await stage.book(), title="x" * 100)
        [choice] = await stage.ann.autocomplete(stage.channel, "conversations export", "conversation", "")
        assert len(choice["name"]) == 100
        assert " · The Dark Lamp · " in choice["name"]

    async def test_discord_in_trouble_offers_what_is_certain(self, stage: Stage) -> None:
        book = await stage.book()
        hidden = await stage.chat(book, title="Secret", private=True)
        await stage.chat(book, title="Open")
        stage.env.inject_error("GET", f"/channels/{hidden.id}/thread-members/{stage.ben.id}", status=500)
        assert await self.offered(stage, stage.ben) == ["Open"]


async def test_a_conversation_outlives_its_thread(stage: Stage) -> None:
    thread = await stage.chat(await stage.book(), title="Night reading")
    await _delete(stage, thread)
    [conversation] = await stage.conversations()
    assert conversation.thread_id is None
    assert conversation.title == "Night reading"


def _shown(stage: Stage, thread: ChannelHandle) -> discord.Thread:
    """The thread as the bot knows it."""
    shown = stage.bot.get_channel(thread.id)
    assert isinstance(shown, discord.Thread)
    return shown


async def _delete(stage: Stage, thread: ChannelHandle) -> None:
    await _shown(stage, thread).delete()
    await stage.env.settle()


async def _file(exported: InteractionResult) -> str:
    assert exported.ephemeral
    shown = exported.followups[0] if exported.followups else exported.response
    assert shown
    [attachment] = shown.attachments
    return (await attachment.read()).decode()


def _me(stage: Stage) -> discord.Member:
    assert stage.guild.me
    return stage.guild.me

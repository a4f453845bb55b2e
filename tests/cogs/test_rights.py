"""What somebody may do with a conversation is decided in its own channel, not where they ask for it."""

import discord
import pytest
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle

from tests.cogs.stage import Stage, labels, text_of


def _overwritten(stage: Stage, name: str, **rules: discord.PermissionOverwrite) -> ChannelHandle:
    """A channel in which everybody, or who is named, has other permissions."""
    targets = {"everyone": stage.guild.default_role, "me": stage.guild.me}
    everybody = {targets[who]: rule for who, rule in rules.items()}
    return stage.guild.create_text_channel(name, overwrites=everybody)  # type: ignore[arg-type]


def _moderator_of(stage: Stage, channel_name: str) -> tuple[MemberActor, ChannelHandle]:
    """Somebody who manages threads in one channel alone."""
    role = stage.guild.create_role("moderators")
    own = stage.guild.create_text_channel(
        channel_name, overwrites={role: discord.PermissionOverwrite(manage_threads=True)}
    )
    return stage.guild.add_member(stage.env.create_user("mod"), roles=[role]), own


async def test_who_manages_threads_in_one_channel_does_not_in_another(stage: Stage) -> None:
    moderator, own = _moderator_of(stage, "mods")
    thread = await stage.chat(await stage.book(), title="Of Ann")
    conversation = await stage.conversation(thread)
    commands: dict[str, dict[str, str]] = {"delete": {}, "rename": {"title": "Mine now"}}
    for command, options in commands.items():
        refused = await moderator.slash(own, f"conversations {command}", conversation=conversation.id, **options)
        assert "whose conversation this is" in text_of(refused), command
    assert (await stage.conversation(thread)).title == "Of Ann"


async def test_who_manages_threads_in_its_channel_may_delete_it_from_anywhere(stage: Stage) -> None:
    moderator, own = _moderator_of(stage, "mods")
    book = await stage.book()
    await stage.ann.slash(own, "chat", book=book.id, title="Of Ann")
    [thread] = own.threads
    conversation = await stage.conversation(thread)
    asked = await moderator.slash(stage.channel, "conversations delete", conversation=conversation.id)
    assert labels(asked) == ["Delete it", "Keep it"]


async def test_a_thread_is_opened_only_where_the_person_may_open_one(stage: Stage) -> None:
    quiet = _overwritten(stage, "quiet", everyone=discord.PermissionOverwrite(create_public_threads=False))
    book = await stage.book()
    me = stage.bot.get_channel(quiet.id)
    assert isinstance(me, discord.TextChannel)
    await me.set_permissions(me.guild.me, create_public_threads=True)
    await stage.env.settle()
    refused = await stage.ann.slash(quiet, "chat", book=book.id)
    assert "where you're allowed to" in text_of(refused)
    assert "“Create Public Threads”" in text_of(refused)
    assert list(quiet.threads) == []


@pytest.mark.parametrize("label", ["Try again", "How does the book begin?"])
async def test_in_a_locked_thread_a_button_posts_only_for_who_may_write_there(stage: Stage, label: str) -> None:
    thread = await stage.chat(await stage.book(), message="Who is Hobb?")
    shown = stage.bot.get_channel(thread.id)
    assert isinstance(shown, discord.Thread)
    await shown.edit(locked=True)
    await stage.env.settle()
    [button] = [each for each in thread.history() if label in str([row.to_dict() for row in each.components])]
    asked, said = len(stage.model.requests), len(thread.history())
    assert "You need: “Manage Threads”." in text_of(await stage.ann.click(button, label=label))
    assert (len(stage.model.requests), len(thread.history())) == (asked, said)
    await shown.edit(locked=False)
    await stage.env.settle()
    await stage.ann.click(button, label=label)
    assert len(stage.model.requests) == asked + 1


async def test_what_was_said_is_exported_only_for_who_may_read_it(stage: Stage) -> None:
    few, all_of_it = (discord.PermissionOverwrite(read_message_history=may) for may in (False, True))
    silent = _overwritten(stage, "silent", everyone=few, me=all_of_it)
    book = await stage.book()
    await stage.ann.slash(silent, "chat", book=book.id, message="Who is Hobb?")
    [thread] = silent.threads
    conversation = await stage.conversation(thread)
    for place, options in ((thread, {}), (stage.channel, {"conversation": conversation.id})):
        refused = await stage.ben.slash(place, "conversations export", **options)
        assert text_of(refused) == "You need: “Read Message History”."
    own = await stage.ann.slash(thread, "conversations export")
    assert own.response
    assert own.response.attachments


async def test_manage_server_in_one_channel_alone_is_none(stage: Stage) -> None:
    own = _overwritten(stage, "own", everyone=discord.PermissionOverwrite(manage_guild=True))
    await stage.book()
    shown = await stage.ann.slash(own, "privacy")
    assert labels(shown) == ["Give me a copy", "Erase it all", "Leave me out"]
    assert "This server" not in text_of(await stage.ann.slash(own, "usage"))


class TestMoving:
    """A conversation whose thread is gone is taken up where more people can see it only after a question."""

    async def _begun_among_few(self, stage: Stage) -> tuple[MemberActor, str]:
        friends = stage.guild.create_role("friends")
        few = stage.guild.create_text_channel(
            "few",
            overwrites={
                stage.guild.default_role: discord.PermissionOverwrite(view_channel=False),
                friends: discord.PermissionOverwrite(view_channel=True),
                stage.guild.me: discord.PermissionOverwrite(view_channel=True),  # type: ignore[dict-item]
            },
        )
        friend = stage.guild.add_member(stage.env.create_user("friend"), roles=[friends])
        book = await stage.book()
        await friend.slash(few, "chat", book=book.id, title="Among few")
        [thread] = few.threads
        conversation = await stage.conversation(thread)
        shown = stage.bot.get_channel(thread.id)
        assert isinstance(shown, discord.Thread)
        await shown.delete()
        await stage.env.settle()
        return friend, conversation.id

    async def test_it_is_asked_first_and_then_done(self, stage: Stage) -> None:
        friend, conversation = await self._begun_among_few(stage)
        book = (await stage.app.storage.books.list())[0]
        asked = await friend.slash(stage.channel, "chat", book=book.id, conversation=conversation)
        assert "More people can see this channel" in text_of(asked)
        assert list(stage.channel.threads) == []
        assert asked.response
        await friend.click(asked.response, label="Go on here")
        assert [thread.name for thread in stage.channel.threads] == ["Among few"]

    async def test_of_a_channel_that_is_gone_nothing_is_claimed(self, stage: Stage) -> None:
        book, old = await stage.book(), stage.guild.create_text_channel("short-lived")
        await stage.ann.slash(old, "chat", book=book.id, title="Among all")
        [thread] = old.threads
        conversation = await stage.conversation(thread)
        shown = stage.bot.get_channel(old.id)
        assert isinstance(shown, discord.TextChannel)
        await shown.delete()
        await stage.env.settle()
        asked = await stage.ann.slash(stage.channel, "chat", book=book.id, conversation=conversation.id)
        assert "The channel “Among all” was in is gone, and other people may see this one. Continue" in text_of(asked)

    async def test_it_is_not_asked_in_another_channel_of_the_same_few(self, stage: Stage) -> None:
        friend, conversation = await self._begun_among_few(stage)
        few = stage.bot.get_channel(next(each.id for each in stage.bot.get_all_channels() if each.name == "few"))
        assert isinstance(few, discord.TextChannel)
        also_few = stage.guild.create_text_channel("also-few", overwrites={**few.overwrites})  # type: ignore[dict-item]
        book = (await stage.app.storage.books.list())[0]
        await friend.slash(also_few, "chat", book=book.id, conversation=conversation)
        assert [thread.name for thread in also_few.threads] == ["Among few"]

    async def test_it_is_not_asked_where_the_same_people_see_it(self, stage: Stage) -> None:
        book = await stage.book()
        thread = await stage.chat(book, title="Among all")
        conversation = await stage.conversation(thread)
        shown = stage.bot.get_channel(thread.id)
        assert isinstance(shown, discord.Thread)
        await shown.delete()
        await stage.env.settle()
        await stage.ann.slash(stage.channel, "chat", book=book.id, conversation=conversation.id)
        assert "Among all" in [thread.name for thread in stage.channel.threads]

    async def test_somebody_who_was_kept_out_of_the_old_channel_alone_is_one_more(self, stage: Stage) -> None:
        eve = stage.member("eve")
        shut = discord.PermissionOverwrite(view_channel=False)
        old = stage.guild.create_text_channel("without-eve", overwrites={eve: shut})
        book = await stage.book()
        await stage.ann.slash(old, "chat", book=book.id, title="Not for Eve")
        [thread] = old.threads
        conversation = await stage.conversation(thread)
        shown = stage.bot.get_channel(thread.id)
        assert isinstance(shown, discord.Thread)
        await shown.delete()
        await stage.env.settle()
        asked = await stage.ann.slash(stage.channel, "chat", book=book.id, conversation=conversation.id)
        assert "More people can see this channel" in text_of(asked)

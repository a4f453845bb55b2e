"""/settings: kept, obeyed at once, and whoever is refused is told the rule and who can change it."""

import discord
import pytest
from simcord.actors import MemberActor
from simcord.results import InteractionResult

from domain.records import UsageRecord
from domain.tool_use import ChatResponse, TokenUsage
from tests.cogs.stage import Stage, text_of

TALE = b"CHAPTER 1\n\n" + b"Marta came to the island on a Tuesday. " * 20


@pytest.fixture
def manager(stage: Stage) -> MemberActor:
    return stage.member("max", manage_guild=True)


async def last_words(stage: Stage, thread: object) -> str:
    return str(thread.history()[-1].content)  # type: ignore[attr-defined]


async def test_everything_is_shown(stage: Stage, manager: MemberActor) -> None:
    shown = await manager.slash(stage.channel, "settings show")
    assert shown.ephemeral
    for part in ("everywhere", "everyone", "scripted-1", "books on the shelf: 300", "questions a person may ask"):
        assert part in text_of(shown)


async def test_who_does_not_manage_the_server_is_told_who_can(stage: Stage) -> None:
    [command] = [each for each in await stage.bot.tree.fetch_commands() if each.name == "settings"]
    stage.guild.set_command_permissions(command, {stage.ann: True})
    refused = await stage.ann.slash(stage.channel, "settings show")
    assert "Only somebody with the permission “Manage Server”" in text_of(refused)


async def test_elsewhere_than_in_the_channels_that_were_set_it_is_refused(stage: Stage, manager: MemberActor) -> None:
    book, other = await stage.book(), stage.guild.create_text_channel("elsewhere")
    thread = await stage.chat(book)
    shown = await manager.slash(other, "settings channels", add=other)
    assert other.mention in text_of(shown)
    refused = await stage.ann.slash(stage.channel, "chat", book=book.id, title="No")
    assert "“Manage Server”" in text_of(refused)
    assert "/settings channels" in text_of(refused)
    assert other.mention in text_of(refused)
    await stage.ann.send(thread, "Who is Marta?")
    assert "I'm not allowed in this channel" in await last_words(stage, thread)
    assert stage.model.requests == []
    await manager.slash(stage.channel, "settings channels", add=stage.channel)
    await stage.ann.send(thread, "Who is Marta?")
    assert "not allowed in this channel" not in await last_words(stage, thread)
    assert stage.model.requests
    for channel in (other, stage.channel):
        shown = await manager.slash(stage.channel, "settings channels", remove=channel)
    assert "everywhere" in text_of(shown)


async def test_buttons_obey_too_and_what_is_ones_own_stays_in_reach(stage: Stage, manager: MemberActor) -> None:
    for number in range(11):
        await stage.book(f"Book {number}")
    listed = await stage.ann.slash(stage.channel, "books list")
    await manager.slash(stage.channel, "settings channels", add=stage.guild.create_text_channel("elsewhere"))
    assert listed.response is not None
    assert "not allowed in this channel" in text_of(await stage.ann.click(listed.response, label="Next ▶"))
    kept = await stage.ann.slash(stage.channel, "privacy")
    assert kept.response is not None
    assert "Erase everything?" in text_of(await stage.ann.click(kept.response, label="Erase it all"))


async def _add(stage: Stage, who: MemberActor) -> InteractionResult:
    return await who.slash(stage.channel, "books add", file=("tale.txt", TALE + who.name.encode()))


async def test_only_the_role_adds_books(stage: Stage, manager: MemberActor) -> None:
    role = stage.guild.create_role("librarians")
    librarian = stage.guild.add_member(stage.env.create_user("lib"), roles=[role])
    await manager.slash(stage.channel, "settings adders", role=role)
    refused = text_of(await _add(stage, stage.ann))
    assert role.mention in refused
    assert "/settings adders" in refused
    assert "Added to the shelf" in text_of(await _add(stage, librarian))
    assert "Added to the shelf" in text_of(await _add(stage, manager))
    await manager.slash(stage.channel, "settings adders", everyone=True)
    assert "Added to the shelf" in text_of(await _add(stage, stage.ann))


async def test_a_role_that_is_gone_is_not_named(stage: Stage, manager: MemberActor) -> None:
    role = stage.guild.create_role("librarians")
    await manager.slash(stage.channel, "settings adders", role=role)
    stage.env.backend.delete_role(stage.guild.id, role.id)
    await stage.env.settle()
    assert "The role that may add books here is gone." in text_of(await _add(stage, stage.ann))
    assert "⚠️ that role is gone" in text_of(await manager.slash(stage.channel, "settings show"))


async def test_tool_calls_are_shown_as_the_server_has_it_unless_a_reader_chose(
    stage: Stage, manager: MemberActor
) -> None:
    await manager.slash(stage.channel, "settings verbose", mode="on")
    await stage.ben.slash(stage.channel, "verbose", mode="off")
    book = await stage.book()
    for reader, shown in ((stage.ann, True), (stage.ben, False)):
        call = ChatResponse(tool_invocation=None, text="It is.")
        stage.model.say(call)
        thread = await stage.chat(book, reader)
        told = text_of(await reader.slash(thread, "verbose"))
        assert ("no longer shows" in told) is shown


async def test_tokens_of_the_day_are_limited_by_person_and_by_server(stage: Stage, manager: MemberActor) -> None:
    thread = await stage.chat(await stage.book())
    used = TokenUsage(600, 0)
    now = stage.app.clock()
    await stage.app.storage.usage.record(UsageRecord(now, "m", used, str(stage.ann.id), str(stage.guild.id)))
    await manager.slash(stage.channel, "settings tokens", person=500)
    await stage.ann.send(thread, "Who is Marta?")
    assert "500 tokens for the day on this server" in await last_words(stage, thread)
    assert "/settings tokens" in await last_words(stage, thread)
    await manager.slash(stage.channel, "settings tokens", person=0, server=550)
    await stage.ann.send(thread, "And now?")
    assert "this server's 550 tokens" in await last_words(stage, thread)
    assert stage.model.requests == []
    shown = await manager.slash(stage.channel, "settings tokens", server=0)
    assert "no limit" in text_of(shown)


async def test_a_model_that_is_not_allowed_is_refused(stage: Stage, manager: MemberActor) -> None:
    refused = await manager.slash(stage.channel, "settings model", name="enormous")
    assert "You can choose: `scripted-1`" in text_of(refused)


async def test_what_everybody_reads_is_in_the_servers_language(stage: Stage, manager: MemberActor) -> None:
    shown = await manager.slash(stage.channel, "settings language", locale="de")
    assert "Deutsch" in text_of(shown)
    assert "Settings of this server" in text_of(shown)  # a reply to one person
    thread = await stage.chat(await stage.book())
    assert "Ein Gespräch über ein Buch" in text_of(thread.history()[0])
    await stage.restart()
    await stage.ann.slash(thread, "verbose", mode="on")
    assert "Dieser Thread zeigt" in await last_words(stage, thread)
    await manager.slash(stage.channel, "settings language", locale="discord")
    assert "This thread" in text_of(await stage.ann.slash(thread, "verbose", mode="off"))


async def test_the_log_says_who_changed_which_setting_and_show_says_what_it_lacks(
    stage: Stage, manager: MemberActor
) -> None:
    log = stage.guild.create_text_channel("mod-log")
    await manager.slash(stage.channel, "settings log", channel=log)
    await stage.bot.audit.close()
    assert f"{manager.mention} changed /settings log." in log.history()[-1].content
    shut = stage.guild.create_text_channel(
        "shut",
        overwrites={stage.guild.me: discord.PermissionOverwrite(send_messages=False)},  # type: ignore[dict-item]
    )
    shown = await manager.slash(stage.channel, "settings log", channel=shut)
    assert "missing permissions there: “Send Messages”" in text_of(shown)
    assert "missing permissions" in text_of(await manager.slash(stage.channel, "settings show"))


async def test_channels_where_it_is_of_no_use_are_named(stage: Stage, manager: MemberActor) -> None:
    denied = discord.PermissionOverwrite(create_public_threads=False)
    shut = stage.guild.create_text_channel("shut", overwrites={stage.guild.me: denied})  # type: ignore[dict-item]
    shown = await manager.slash(stage.channel, "settings channels", add=shut)
    assert f"⚠️ {shut.mention} · I'm missing permissions there: “Create Public Threads”" in text_of(shown)
    channel = stage.bot.get_channel(shut.id)
    assert isinstance(channel, discord.TextChannel)
    await channel.delete()
    await stage.env.settle()
    assert "The channels I may be used in are gone." in text_of(await manager.slash(stage.channel, "settings show"))


async def test_settings_are_there_after_a_restart(stage: Stage, manager: MemberActor) -> None:
    await manager.slash(stage.channel, "settings tokens", person=1_234)
    await stage.restart()
    assert "each person: 1,234" in text_of(await manager.slash(stage.channel, "settings show"))


async def test_a_hundred_channels_fit_on_the_card_and_into_a_refusal(stage: Stage, manager: MemberActor) -> None:
    rooms = [stage.guild.create_text_channel(f"room-{number}") for number in range(100)]
    settings = stage.app.servers
    for each in rooms:
        existing = [str(room.id) for room in rooms]
        await settings.change_channels(str(stage.guild.id), add=str(each.id), existing=existing)
    shown = text_of(await manager.slash(stage.channel, "settings show"))
    assert rooms[0].mention in shown
    assert "more" in shown
    assert rooms[0].mention in text_of(await stage.ann.slash(stage.channel, "books list"))


async def test_forums_and_the_chats_of_voice_channels_can_be_set_too(stage: Stage, manager: MemberActor) -> None:
    book, voice = await stage.book(), stage.guild.create_voice_channel("reading aloud")
    for channel in (stage.guild.create_forum_channel("books"), stage.guild.create_stage_channel("readings"), voice):
        shown = await manager.slash(stage.channel, "settings channels", add=channel)
        assert channel.mention in text_of(shown)
    assert "not allowed" not in text_of(await stage.ann.slash(voice, "progress", book=book.id))
    assert "not allowed" in text_of(await stage.ann.slash(stage.channel, "progress", book=book.id))

"""The first words in a server that the bot joins: a few lines, said once, where they can be read."""

import asyncio
from pathlib import Path

from tests.bot.online import Online, online
from tests.doubles.discord_api import Channel, ChannelType, DiscordDouble, Guild, Permission


def new_guild(double: DiscordDouble, *channels: str) -> tuple[Guild, list[Channel]]:
    """A server that does not have the bot yet."""
    guild = double.world.add_guild("Newcomers", with_bot=False)
    return guild, [double.world.add_channel(guild, name) for name in channels]


async def test_the_greeting_is_posted_in_the_channel_of_system_messages(double: DiscordDouble, bot: Online) -> None:
    guild, (first, system) = new_guild(double, "general", "welcome")
    guild.system_channel = system
    double.world.invite_bot(guild)
    await double.until(lambda: double.said(system))
    [words] = double.said(system)
    lines = words.splitlines()
    assert len(lines) == 4
    assert "/books find" in lines[1]
    assert "/settings" in lines[2]
    assert lines[3].startswith("-# Ich spreche auch Deutsch: ")
    assert double.said(first) == []


async def test_without_one_they_are_said_where_the_bot_may_write(double: DiscordDouble, bot: Online) -> None:
    guild, (silent, open_to_all) = new_guild(double, "announcements", "general")
    guild.system_channel = silent
    guild.locale = "de"
    silent.denied[double.bot.id] = Permission.SEND_MESSAGES
    double.world.invite_bot(guild)
    await double.until(lambda: double.said(open_to_all))
    assert "Ich lese Bücher mit euch" in double.said(open_to_all)[0]
    assert double.said(open_to_all)[0].splitlines()[3].startswith("-# I speak English, too: ")
    assert double.said(silent) == []


async def test_the_greeting_is_neither_in_the_rules_nor_in_the_news(double: DiscordDouble, bot: Online) -> None:
    guild, (rules,) = new_guild(double, "rules")
    guild.rules_channel = rules
    news = double.world.add_channel(guild, "news", ChannelType.ANNOUNCEMENT)
    general = double.world.add_channel(guild, "general")
    double.world.invite_bot(guild)
    await double.until(lambda: double.said(general))
    assert double.said(rules) == double.said(news) == []


async def test_the_greeting_is_posted_once_whatever_the_gateway_repeats(double: DiscordDouble, tmp_path: Path) -> None:
    guild, (place,) = new_guild(double, "general")
    async with online(double, tmp_path) as state:
        double.world.invite_bot(guild)
        await double.until(lambda: double.said(place))
        joined = state.bot.get_guild(guild.id)
        for event in ("guild_join", "guild_join", "guild_available"):
            state.bot.dispatch(event, joined)
        await asyncio.gather(*state.bot._listening)
    async with online(double, tmp_path) as state:
        state.bot.dispatch("guild_join", state.bot.get_guild(guild.id))
        await asyncio.gather(*state.bot._listening)
    assert len(double.said(place)) == 1
    assert double.said() == []  # where the bot has been all along


async def test_who_invites_it_while_it_is_offline_reads_them_once_at_the_next_start(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with online(double, tmp_path) as state:
        await asyncio.gather(*state.bot._listening)
    guild, (place,) = new_guild(double, "general")
    double.world.invite_bot(guild)
    double.advance(5)
    for _ in range(2):
        async with online(double, tmp_path) as state:
            await double.until(lambda: double.said(place))
            await asyncio.gather(*state.bot._listening)
    assert len(double.said(place)) == 1
    assert double.said() == []


async def test_who_invites_it_before_its_very_first_start_reads_them(double: DiscordDouble, tmp_path: Path) -> None:
    guild, (place,) = new_guild(double, "general")
    double.world.invite_bot(guild)
    for _ in range(2):
        async with online(double, tmp_path) as state:
            await double.until(lambda: double.said(place))
            await asyncio.gather(*state.bot._listening)
    assert len(double.said(place)) == 1
    assert double.said() == []


async def test_whoever_invites_it_again_reads_them_again(double: DiscordDouble, bot: Online) -> None:
    guild, (place,) = new_guild(double, "general")
    double.world.invite_bot(guild)
    await double.until(lambda: double.said(place))
    double.world.remove_bot(guild)
    await double.until(lambda: bot.bot.get_guild(guild.id) is None)
    await asyncio.gather(*bot.bot._listening)
    double.advance(600)
    double.world.invite_bot(guild)
    await double.until(lambda: len(double.said(place)) == 2)


async def test_where_it_may_write_nowhere_nothing_is_said(double: DiscordDouble, bot: Online) -> None:
    guild, (place,) = new_guild(double, "general")
    place.denied[guild.id] = Permission.SEND_MESSAGES
    double.world.invite_bot(guild)
    await double.until(lambda: bot.bot.get_guild(guild.id) is not None)
    await asyncio.gather(*bot.bot._listening)
    assert double.said(place) == []

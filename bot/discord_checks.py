"""What `marginalia check` asks Discord: is the token good, which intents are on, what may the bot do where."""

import asyncio
from collections.abc import AsyncIterator

import discord

from bot.checks import Finding
from bot.client import point_discord_at
from bot.connection import PORTAL, TOKEN_REFUSED, TROUBLE, reads_messages
from bot.settings import Settings
from cogs.permissions import NEEDED, missing

PATIENCE_S = 30.0
MOST_GUILDS = 20
"""Guilds whose permissions are looked at; each costs two requests."""


async def check_discord(settings: Settings) -> AsyncIterator[Finding]:
    """Token, intents and, guild by guild, permissions."""
    point_discord_at(settings)
    async with discord.Client(intents=discord.Intents(guilds=True)) as client:
        refusal = await _log_in(client, settings.discord_token)
        if refusal:
            yield Finding("Discord token", refusal, ok=False)
            return
        yield Finding("Discord token", f"logs in as {client.user}")
        yield _intents(client)
        try:
            async for finding in _guilds(client, settings):
                yield finding
        except TROUBLE as error:
            yield Finding("Discord servers", f"Discord does not tell about them ({error}). Please try again.", ok=False)


async def _log_in(client: discord.Client, token: str) -> str:
    """What is wrong, or nothing."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            await client.login(token)
    except discord.LoginFailure:
        return TOKEN_REFUSED
    except TROUBLE as error:
        return f"Discord cannot be reached ({error or 'no answer'}). Please check the network and DISCORD_API_URL."
    return ""


def _intents(client: discord.Client) -> Finding:
    if reads_messages(client.application_flags):
        return Finding("Discord intents", "Message Content is on: every message in a thread is answered")
    return Finding(
        "Discord intents",
        "Message Content is off: only mentions and replies are answered. To change that: "
        f"{PORTAL} → Privileged Gateway Intents → Message Content Intent",
    )


async def _guilds(client: discord.Client, settings: Settings) -> AsyncIterator[Finding]:
    seen = [guild.id async for guild in client.fetch_guilds(limit=MOST_GUILDS, with_counts=False)]
    assert client.user is not None
    if not seen:
        invite = discord.utils.oauth_url(client.user.id, permissions=NEEDED, scopes=("bot", "applications.commands"))
        yield Finding("Discord servers", f"The bot is in none yet. Invite it: {invite}", ok=False)
    for guild_id in [each for each in settings.discord_guild_ids if each not in seen]:
        yield Finding(
            "Discord servers",
            f"The bot is not in {guild_id}. Invite it there, or take it out of DISCORD_GUILD_IDS.",
            ok=len(seen) == MOST_GUILDS,
        )
    for guild_id in seen:
        yield await _permissions(client, guild_id)


async def _permissions(client: discord.Client, guild_id: int) -> Finding:
    assert client.user is not None
    guild = await client.fetch_guild(guild_id, with_counts=False)
    me = await guild.fetch_member(client.user.id)
    subject = f"Server {guild.name}"
    if lacking := missing(me.guild_permissions):
        names = ", ".join(name.replace("_", " ").title() for name in lacking)
        sentence = f"The bot lacks {names}. Give it these: Server Settings → Roles → the bot's role."
        return Finding(subject, sentence, ok=False)
    return Finding(subject, "The bot has the permissions it needs")

"""/usage: tokens and what they cost."""

from datetime import datetime, timedelta
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from cogs.cards import INK, usage_line
from cogs.i18n import speech_of
from cogs.interactions import defer_if_slow, reply
from cogs.services import ServingBot, shelf_of
from domain.use_cases import UseCases

LATELY = timedelta(days=30)


class Usage(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="Your tokens and cost, and the server's if you manage it")
    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    async def usage(self, interaction: discord.Interaction[Any]) -> None:
        card = await defer_if_slow(interaction, self._card(interaction))
        await reply(interaction, embed=card)

    async def _card(self, interaction: discord.Interaction[Any]) -> discord.Embed:
        say, reader, people = speech_of(interaction), str(interaction.user.id), self._use_cases.people
        midnight, lately = self._periods()
        today = await people.usage(reader, midnight)
        card = discord.Embed(title=say("Usage"), colour=INK)
        card.add_field(name=say("You, today"), value=usage_line(today, say), inline=False)
        month = await people.usage(reader, lately)
        card.add_field(name=say("You, in 30 days"), value=usage_line(month, say), inline=False)
        if limit := self._use_cases.facts.daily_tokens:
            left = say("{left:,} of {limit:,} tokens", left=max(0, limit - today.tokens), limit=limit)
            card.add_field(name=say("Left today"), value=left, inline=False)
        if interaction.permissions.manage_guild:
            await self._add_guild(card, interaction, midnight, lately)
        card.set_footer(text=f"{self._use_cases.facts.model} · " + say("days start at midnight UTC"))
        return card

    async def _add_guild(
        self, card: discord.Embed, interaction: discord.Interaction[Any], midnight: datetime, lately: datetime
    ) -> None:
        say, guild, people = speech_of(interaction), shelf_of(interaction), self._use_cases.people
        today, month = await people.usage_in_guild(guild, midnight), await people.usage_in_guild(guild, lately)
        card.add_field(name=say("This server, today"), value=usage_line(today, say), inline=False)
        card.add_field(name=say("This server, in 30 days"), value=usage_line(month, say), inline=False)

    def _periods(self) -> tuple[datetime, datetime]:
        now = self._use_cases.clock()
        return now.replace(hour=0, minute=0, second=0, microsecond=0), now - LATELY

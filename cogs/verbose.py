"""/verbose: whether tool calls are shown."""

from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from cogs.access import bound_conversation
from cogs.i18n import speech_of
from cogs.interactions import defer_if_slow, reply
from cogs.services import ServingBot
from domain.use_cases import UseCases

ON, OFF = "on", "off"


class Verbose(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="Show how I find answers: in this thread, or for you everywhere else")
    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    @app_commands.describe(mode="Leave empty to toggle")
    @app_commands.choices(mode=[app_commands.Choice(name="on", value=ON), app_commands.Choice(name="off", value=OFF)])
    async def verbose(self, interaction: discord.Interaction[Any], mode: str | None = None) -> None:
        text, in_thread = await defer_if_slow(interaction, self._switch(interaction, mode))
        await reply(interaction, content=text, ephemeral=not in_thread)

    async def _switch(self, interaction: discord.Interaction[Any], mode: str | None) -> tuple[str, bool]:
        """Switch; what to say, and whether everybody in the thread is concerned."""
        conversation, say = await bound_conversation(interaction), speech_of(interaction)
        reader = str(interaction.user.id)
        default = await self._use_cases.people.verbose(reader)
        default = self._use_cases.facts.verbose_default if default is None else default
        if conversation is None:
            chosen = not default if mode is None else mode == ON
            await self._use_cases.people.set_verbose(reader, chosen)
            text = (
                say("From now on I'll show you how I look things up.")
                if chosen
                else say("I won't show you how I look things up.")
            )
        else:
            now = default if conversation.verbose is None else conversation.verbose
            chosen = not now if mode is None else mode == ON
            await self._use_cases.conversations.show_calls(conversation.id, chosen)
            text = (
                say("This thread now shows how I look things up.")
                if chosen
                else say("This thread no longer shows how I look things up.")
            )
        return text, conversation is not None

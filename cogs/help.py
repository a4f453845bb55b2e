"""/help: how to use this, on one card."""

from collections.abc import Sequence
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from cogs.cards import INK
from cogs.i18n import Speech, speech_of
from cogs.services import ServingBot
from domain.use_cases import UseCases


class Help(commands.Cog):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    @app_commands.command(description="How to read a book with me")
    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    async def help(self, interaction: discord.Interaction[Any]) -> None:
        say, missing = speech_of(interaction), tuple(self._use_cases.missing_tools())
        card = help_card(say, reads_messages=interaction.client.intents.message_content, missing=missing)
        await interaction.response.send_message(embed=card, ephemeral=True)


def help_card(say: Speech, *, reads_messages: bool, missing: Sequence[str] = ()) -> discord.Embed:
    """The card. `missing` are the tool servers that cannot be reached now."""
    card = discord.Embed(title=say("Reading with Marginalia"), colour=INK)
    card.description = say("I answer from the book's own pages, cite the page, and never spoil what you haven't read.")
    reading = [
        say("`/books add` puts a book on the shelf, `/books list` shows what's there."),
        say("`/chat` opens a thread about a book. Ask your questions there; use `/chat` again to continue later."),
        say("`/progress` tells me how far you've read. Only you can change it."),
    ]
    card.add_field(name=say("Getting started"), value="\n".join(reading), inline=False)
    talking = [
        say("If you're alone in a thread, just write. In a group, mention me or reply to me.")
        if reads_messages
        else say("Mention me or reply to me: I can't read other messages here."),
        say("Edit a question and I'll answer it again; delete it to take it back."),
        say("**Stop**, **Sources** and **Retry** are below the answers; `/verbose` shows how I found them."),
    ]
    card.add_field(name=say("In a thread"), value="\n".join(talking), inline=False)
    keeping = [
        say("`/conversations` lists, renames, exports and deletes them."),
        say("`/usage` shows what it costs, `/privacy` what I store about you."),
    ]
    card.add_field(name=say("Your conversations"), value="\n".join(keeping), inline=False)
    if missing:
        sentence = say("I can't reach these right now, so I'll answer without them: {names}.", names=", ".join(missing))
        card.add_field(name=say("Not available right now"), value=sentence, inline=False)
    return card

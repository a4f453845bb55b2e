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
    card.description = say(
        "I answer from a book's own pages, say on which page it stands, and tell nothing from beyond where you are."
    )
    reading = [
        say("`/books add` puts a file on the shelf, `/books list` shows what is there."),
        say("`/chat` opens a thread on a book. Ask there; `/chat` again takes up where you were."),
        say("`/progress` says how far you have read. Only you move it."),
    ]
    card.add_field(name=say("To begin"), value="\n".join(reading), inline=False)
    talking = [
        say("Alone in a thread, just write. In company, mention me or reply to me.")
        if reads_messages
        else say("Mention me or reply to me: I cannot read other messages here."),
        say("Edit a question to have it answered anew, delete it to take it back."),
        say("**Stop**, **Sources** and **Retry** stand under the answers; `/verbose` shows how they were found."),
    ]
    card.add_field(name=say("In a thread"), value="\n".join(talking), inline=False)
    keeping = [
        say("`/conversations list`, `rename`, `export`, `delete`: what has been talked about."),
        say("`/usage` shows what it costs, `/privacy` what is kept about you."),
    ]
    card.add_field(name=say("To keep"), value="\n".join(keeping), inline=False)
    if missing:
        sentence = say("I cannot reach these just now, so I answer without them: {names}.", names=", ".join(missing))
        card.add_field(name=say("Missing today"), value=sentence, inline=False)
    return card

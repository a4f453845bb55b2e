"""Asking twice before something is gone."""

from datetime import timedelta
from typing import Any

import discord
from discord import ButtonStyle
from discord.ui import View

from cogs.errors import Refusal
from cogs.translation import Speech, speech_of
from cogs.views.actions import ActionButton, row

KEEP = "keep"

VALID_FOR = timedelta(minutes=15)
"""As long as Discord lets the reply be changed that holds the question."""


def confirmation(action: str, argument: str, label: str, say: Speech) -> View:
    """A button that does it, and one that does not."""
    return row(
        ActionButton(action, argument, label=label, style=ButtonStyle.danger),
        ActionButton(KEEP, "", label=say("Keep it")),
    )


def assert_fresh(interaction: discord.Interaction[Any]) -> None:
    """Take no answer to a question of long ago: what it named may have grown since.

    Raises:
        Refusal: the question is too old.
    """
    asked = interaction.message
    if asked is not None and discord.utils.utcnow() - asked.created_at > VALID_FOR:
        raise Refusal(speech_of(interaction)("I asked that a while ago. Please use the command again."))


async def keep(interaction: discord.Interaction[Any], argument: str) -> None:
    """Do nothing, and say so."""
    await interaction.response.edit_message(
        content=speech_of(interaction)("Nothing was changed."), embed=None, view=None
    )

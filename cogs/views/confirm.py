"""Asking twice before something is gone."""

from typing import Any

import discord
from discord import ButtonStyle
from discord.ui import View

from cogs.translation import Speech, speech_of
from cogs.views.actions import ActionButton, row

KEEP = "keep"


def confirmation(action: str, argument: str, label: str, say: Speech) -> View:
    """A button that does it, and one that does not."""
    return row(
        ActionButton(action, argument, label=label, style=ButtonStyle.danger),
        ActionButton(KEEP, "", label=say("Keep it")),
    )


async def keep(interaction: discord.Interaction[Any], argument: str) -> None:
    """Do nothing, and say so."""
    await interaction.response.edit_message(
        content=speech_of(interaction)("Nothing was changed."), embed=None, view=None
    )

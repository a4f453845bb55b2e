"""Acknowledging in time: Discord gives an interaction three seconds, and a busy database may take longer."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import discord

from cogs.errors import TOO_LATE

T = TypeVar("T")

PROMPT_S = 1.5
"""How long an interaction may wait for what is looked up; as long is left for the way to Discord."""


async def defer_if_slow(
    interaction: discord.Interaction[Any], work: Coroutine[Any, Any, T], *, thinking: bool = True
) -> T:
    """What comes of `work`. If that takes its time, the interaction is acknowledged meanwhile.

    `thinking`: a reply follows, to the person alone; else the message that was pressed is going to be changed.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task], timeout=PROMPT_S)
        if not task.done() and not interaction.response.is_done():
            await interaction.response.defer(ephemeral=True, thinking=thinking)
        return await task
    finally:
        task.cancel()


async def reply(interaction: discord.Interaction[Any], *, ephemeral: bool = True, **parts: Any) -> None:
    """Answer an interaction, acknowledged or not; `parts` as `discord.InteractionResponse.send_message` takes them."""
    if interaction.response.is_done():
        await interaction.edit_original_response(**parts)
    else:
        await interaction.response.send_message(ephemeral=ephemeral, **parts)


async def change(interaction: discord.Interaction[Any], **parts: Any) -> None:
    """Change the message whose button was pressed, whether or not that was acknowledged."""
    if interaction.response.is_done():
        await interaction.edit_original_response(**parts)
    else:
        await interaction.response.edit_message(**parts)


async def acknowledge(interaction: discord.Interaction[Any], *, ephemeral: bool) -> bool:
    """Say that it is being worked on, where that was not said. False: too late, nothing can be said in reply any more.

    Raises:
        DISCORD_ERRORS: Discord does not take it; it was answered before, by whomever.
    """
    if interaction.response.is_done():
        return True
    thinking = interaction.message is None
    try:
        await interaction.response.defer(ephemeral=ephemeral, thinking=thinking)
    except discord.NotFound as error:
        if error.code != TOO_LATE:
            raise
        return False
    return True


async def take_away(interaction: discord.Interaction[Any], *, answerable: bool) -> None:
    """Delete the message whose button was pressed; `answerable` is what `acknowledge` has said.

    Raises:
        DISCORD_ERRORS: Discord does not take it.
    """
    if answerable:
        await interaction.delete_original_response()
    elif interaction.message is not None:
        await interaction.message.delete()

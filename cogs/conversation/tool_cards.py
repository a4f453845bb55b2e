"""Cards of tool calls that are opened, folded and read in full: while the turn runs, after it, a year later."""

import io
from typing import Any

import discord

from cogs.conversation.buttons import view_of
from cogs.conversation.live import LiveTurns
from cogs.delivery.body import Body
from cogs.delivery.channel import embeds_of
from cogs.delivery.trace_message import card_body
from cogs.errors import Refusal
from cogs.rendering.calls import ShownCall, calls_of
from cogs.rendering.card_state import Press, read_press
from cogs.rendering.trace import TRACE_NAME, trace_markdown
from cogs.services import Services
from cogs.translation import speech_for, speech_of


class ToolCards:
    def __init__(self, services: Services, live: LiveTurns) -> None:
        self._services = services
        self._live = live

    async def press(self, interaction: discord.Interaction[Any], custom_id: str) -> None:
        """Carry out a press of a card's button, told by its name."""
        press = read_press(custom_id)
        assert press is not None, "the pattern of the button and of the press are one"
        live = self._live.get(press.turn_id)
        calls = live.screen.calls if live else await self._calls(interaction, press)
        if press.wants_trace:
            await _hand_out(interaction, calls)
        else:
            body = live.screen.pressed(press) if live else _card(interaction, press, calls)
            await interaction.response.edit_message(embeds=embeds_of(body), view=view_of(body.view or ()))

    async def _calls(self, interaction: discord.Interaction[Any], press: Press) -> list[ShownCall]:
        """The calls as they were kept.

        Raises:
            Refusal: they are kept no more.
        """
        turn = await self._services.turns.get(press.turn_id)
        calls = (
            calls_of(await self._services.messages.get_by_conversation(turn.conversation_id), turn.id) if turn else []
        )
        if not calls:
            raise Refusal(speech_of(interaction)("These tool calls are not kept any more."))
        return calls


def _card(interaction: discord.Interaction[Any], press: Press, calls: list[ShownCall]) -> Body:
    """In the language of the place, as everybody there sees it."""
    locale = interaction.guild_locale or interaction.locale
    return card_body(press.turn_id, calls, press.after(calls), speech_for(locale))


async def _hand_out(interaction: discord.Interaction[Any], calls: list[ShownCall]) -> None:
    file = discord.File(io.BytesIO(trace_markdown(calls)), TRACE_NAME)
    await interaction.response.send_message(file=file, ephemeral=True)

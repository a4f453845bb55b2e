"""Cards of tool calls that are opened, folded and read in full: while the turn runs, after it, a year later."""

import io
from typing import Any

import discord

from cogs.acknowledging import change, in_time
from cogs.conversation.buttons import view_of
from cogs.conversation.live import LiveTurns
from cogs.delivery.body import Body
from cogs.delivery.channel import embeds_of
from cogs.delivery.trace_message import card_body
from cogs.errors import Refusal
from cogs.finding import common_reach, reach_of, within_reach
from cogs.rendering.calls import ShownCall, calls_of
from cogs.rendering.card_state import Press, read_press
from cogs.rendering.trace import TRACE_NAME, trace_markdown
from cogs.services import Services
from cogs.translation import speech_for, speech_of
from domain.conversation import Conversation


class ToolCards:
    def __init__(self, services: Services, live: LiveTurns) -> None:
        self._services = services
        self._live = live

    async def press(self, interaction: discord.Interaction[Any], custom_id: str) -> None:
        """Carry out a press of a card's button, told by its name."""
        press = read_press(custom_id)
        assert press is not None, "the pattern of the button and of the press are one"
        calls = await in_time(interaction, self._calls(interaction, press), thinking=press.wants_trace)
        if press.wants_trace:
            await _hand_out(interaction, calls)
        else:
            live = self._live.get(press.turn_id)
            body = live.screen.pressed(press) if live else _card(interaction, press, calls)
            await change(interaction, embeds=embeds_of(body), view=view_of(body.view or ()))

    async def _calls(self, interaction: discord.Interaction[Any], press: Press) -> list[ShownCall]:
        """The calls as they happen, or as they were kept.

        Raises:
            Refusal: they are kept no more, are not the person's to see, or show more of the book than they have read.
        """
        live = self._live.get(press.turn_id)
        kept = (live.conversation, live.screen.calls, None) if live else await self._kept(press.turn_id)
        conversation, calls, depends_to = kept
        if conversation is None or not calls or not await within_reach(interaction, conversation):
            raise Refusal(speech_of(interaction)("These tool calls are not kept any more."))
        if press.opens(calls):
            await self._refuse_beyond(interaction, conversation, depends_to, alone=press.wants_trace)
        return calls

    async def _refuse_beyond(
        self, interaction: discord.Interaction[Any], conversation: Conversation, depends_to: int | None, *, alone: bool
    ) -> None:
        """`alone`: what is to be seen is for the person only, else for everybody in the thread. The bound of a turn
        that is under way is that of the people in the thread, and so not known by itself (None).

        Raises:
            Refusal: the calls rest on more of the book than that.
        """
        say, mine = speech_of(interaction), await reach_of(interaction, conversation)
        common = await common_reach(interaction, conversation)
        if depends_to is None:
            book = await self._services.shelf.get(conversation.book_id)
            people = [*await self._services.messages.list_people(conversation.id), conversation.owner_id]
            depends_to = await self._services.positions.lowest(people, book)
        if depends_to > mine:
            raise Refusal(say("This shows more of the book than you have read. /progress says where you are."))
        if depends_to > common and not alone:
            raise Refusal(
                say("This shows more of the book than everybody here has read. “Full trace” shows it to you alone.")
            )

    async def _kept(self, turn_id: str) -> tuple[Conversation | None, list[ShownCall], int]:
        turn = await self._services.turns.get(turn_id)
        if turn is None:
            return None, [], 0
        conversation = await self._services.conversation_repository.get(turn.conversation_id)
        history = await self._services.messages.get_by_conversation(turn.conversation_id)
        depends = [message.depends_to or 0 for message in history if message.turn_id == turn.id]
        return conversation, calls_of(history, turn.id), max(depends, default=0)


def _card(interaction: discord.Interaction[Any], press: Press, calls: list[ShownCall]) -> Body:
    """In the language of the place, as everybody there sees it."""
    locale = interaction.guild_locale or interaction.locale
    return card_body(press.turn_id, calls, press.after(calls), speech_for(locale))


async def _hand_out(interaction: discord.Interaction[Any], calls: list[ShownCall]) -> None:
    file = discord.File(io.BytesIO(trace_markdown(calls)), TRACE_NAME)
    if interaction.response.is_done():
        await interaction.followup.send(file=file, ephemeral=True)
    else:
        await interaction.response.send_message(file=file, ephemeral=True)

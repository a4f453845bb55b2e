"""People change and delete what they have written."""

import discord

from cogs.conversation.addressing import words_of
from cogs.conversation.reception import Reception
from cogs.conversation.rounds import Rounds
from cogs.conversation.screen import NOTHING, Leftover
from cogs.services import Services
from domain.turn.chat_with_book import Taken


class Corrections:
    """A message that waits or is being answered is answered as it is now, or not at all; an answered one stays."""

    def __init__(self, services: Services, reception: Reception, rounds: Rounds) -> None:
        self._services = services
        self._reception = reception
        self._rounds = rounds

    async def edited(self, message: discord.Message, bot_id: int) -> None:
        await self._let_it_arrive(message.channel.id)
        self._go_on(await self._services.chat.revise(str(message.id), words_of(message, bot_id)))

    async def deleted(self, message_id: int, channel_id: int) -> None:
        await self._let_it_arrive(channel_id)
        self._go_on(await self._services.chat.take_back(str(message_id)))

    async def _let_it_arrive(self, channel_id: int) -> None:
        """A message may be changed while it is still being taken in. Others need not wait for its answer to end."""
        async with self._reception.order(channel_id):
            return

    def _go_on(self, taken: Taken | None) -> None:
        if taken is not None:
            undone = taken.undone
            leftover = Leftover(undone.reply_ids, undone.trace_id) if undone else NOTHING
            self._rounds.start(taken.message.conversation_id, leftover)

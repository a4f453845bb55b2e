"""What the buttons under answers do. What they show comes from storage, so they work as long as there is something."""

from collections.abc import Collection
from typing import Any

import discord

from cogs.conversation.buttons import AGAIN, RETRY, SOURCES, STOP
from cogs.conversation.live import LiveTurns
from cogs.conversation.rounds import Rounds
from cogs.conversation.screen import Leftover
from cogs.errors import Refusal
from cogs.permissions import may_change
from cogs.rendering.answers import source_pages
from cogs.services import Action, Services
from cogs.translation import Speech, speech_of
from cogs.views import PageOf, page_turner
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Conversation, Turn, TurnState


class Presses:
    def __init__(self, services: Services, rounds: Rounds) -> None:
        self._services = services
        self._rounds = rounds
        self._live: LiveTurns = rounds.live

    def actions(self) -> dict[str, Action]:
        return {STOP: self.stop, RETRY: self.retry, SOURCES: self.sources, AGAIN: self.again}

    async def stop(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        say, live = speech_of(interaction), self._live.get(turn_id)
        if live is None or live.screen.ending is not None:
            raise Refusal(say("This answer is not being written any more."))
        _refuse_others(interaction, live.conversation, live.askers, say)
        self._services.chat.stop(live.conversation.id)
        await interaction.response.defer()

    async def retry(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        say, turn = speech_of(interaction), await self._services.turns.get(turn_id)
        if turn is None or turn.state is not TurnState.FAILED:
            raise Refusal(say("This question is being answered, or has its answer already."))
        conversation, messages = await self._context(turn)
        askers = [message.author_id for message in messages if message.role is MessageRole.USER]
        _refuse_others(interaction, conversation, askers, say)
        await interaction.response.defer()
        await self._services.turns.reopen(turn.id)
        self._rounds.start(conversation.id, Leftover(turn.reply_ids, turn.trace_id))

    async def again(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        """Answer what waits, and take the sentence away that said why it does."""
        await interaction.response.defer()
        await interaction.delete_original_response()
        self._rounds.start(conversation_id, untidy=True)

    async def sources(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """The sentences an answer rests on, to whoever presses; `argument` is the turn, a colon and the page."""
        turn_id, number = argument.split(":")
        say, turn = speech_of(interaction), await self._services.turns.get(turn_id)
        if turn is None:
            raise Refusal(say("This answer is not kept any more, and neither are its sources."))
        _, messages = await self._context(turn)
        pages = source_pages([citation for message in messages for citation in message.citations], say)
        page = PageOf(pages, min(max(1, int(number)), len(pages)), len(pages))
        view = page_turner(SOURCES, turn_id, page, say) or discord.utils.MISSING
        if interaction.message is not None and interaction.message.flags.ephemeral:
            await interaction.response.edit_message(content=pages[page.number - 1], view=view)
        else:
            await interaction.response.send_message(pages[page.number - 1], view=view, ephemeral=True)

    async def _context(self, turn: Turn) -> tuple[Conversation, list[ChatMessage]]:
        """The turn's conversation, and its own messages in it."""
        conversation = await self._services.conversations.get(turn.conversation_id)
        history = await self._services.messages.get_by_conversation(turn.conversation_id)
        return conversation, [message for message in history if message.turn_id == turn.id]


def _refuse_others(
    interaction: discord.Interaction[Any], conversation: Conversation, askers: Collection[str], say: Speech
) -> None:
    """
    Raises:
        Refusal: it is not theirs to press.
    """
    asked = str(interaction.user.id) in askers
    if not asked and not may_change(conversation, interaction.user, interaction.permissions):
        raise Refusal(
            say(
                "Only those who asked, whoever opened this conversation, or somebody with the permission "
                "“Manage Threads” can do that."
            )
        )

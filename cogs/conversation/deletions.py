"""What becomes of answers, threads and channels when people delete something on Discord."""

import asyncio
import logging
from typing import Any
from weakref import WeakValueDictionary

import discord
from discord.ui import DynamicItem

from cogs.conversation.buttons import DROP_ANSWER, KEEP_ANSWER, Buttons, keep_buttons, sources_button
from cogs.conversation.presenter import ThreadContexts
from cogs.delivery.turn_messages import AnswerMessage
from cogs.errors import DISCORD_ERRORS, Refusal
from cogs.i18n import Speech, speech_of
from cogs.interactions import acknowledge, on_press
from cogs.permissions import may_change
from cogs.removals import Removals
from cogs.rendering.answers import answer_note
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Turn
from domain.errors import MarginaliaError
from domain.event import Answer
from domain.turn.conversations import PlayedTurn
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)


class AnswersWithoutQuestion:
    """Asks the person who deleted a question whether its answer should stay, and carries out the decision.

    Until then, or without a decision, the answer is deleted at the time that storage knows.
    """

    def __init__(self, use_cases: UseCases, places: ThreadContexts, removals: Removals) -> None:
        self._use_cases = use_cases
        self._places = places
        self._removals = removals
        self._changing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def items(self) -> tuple[type[DynamicItem[Any]], ...]:
        """The handlers of the buttons."""
        return on_press(KEEP_ANSWER, self._keep), on_press(DROP_ANSWER, self._drop)

    async def ask_all(self) -> None:
        """Ask wherever that may not have been done before the program ended; nothing changes where it was."""
        try:
            for turn in await self._use_cases.chat.answers_to_decide():
                await self.show(turn.id)
        except MarginaliaError as error:
            logger.error("which answers are without their question could not be found out: %s", error)

    async def show(self, turn_id: str) -> None:
        """Show that the question of an answer is gone and, while that is undecided, ask whether the answer should
        stay.
        """
        async with self._change(turn_id):
            await self._show(turn_id)

    async def post_deleted(self, message_id: str, channel_id: int, guild_id: int | None) -> None:
        """Delete an answer of which somebody has deleted a message; what the bot itself deletes shows no answer."""
        where = (message_id, str(channel_id), str(guild_id) if guild_id else None)
        turn_id = await self._use_cases.transcripts.shown_by(*where)
        if turn_id is None:
            return
        async with self._change(turn_id):  # which may itself need fewer messages, and has then recorded which
            is_forgotten = await self._use_cases.transcripts.forget_answer(turn_id, message_id)
        if is_forgotten:
            self._removals.wake()

    def _change(self, turn_id: str) -> asyncio.Lock:
        return self._changing.setdefault(turn_id, asyncio.Lock())

    async def _show(self, turn_id: str) -> None:
        try:
            shown = await self._use_cases.transcripts.played(turn_id)
            place = await self._places.of(shown.conversation) if shown else None
            said = _answer_in(shown) if shown else None
            if shown is None or place is None or said is None:
                return
            answer = Answer(turn_id, said.content, said.citations, stopped=shown.turn.stopped)
            note = "\n".join(filter(None, [answer_note(answer, place.say), _gone_line(shown.turn, place.say)]))
            message = AnswerMessage(place.writer, f"{turn_id} deleted", say=place.say, standing=shown.turn.reply_ids)
            buttons = _buttons(shown.turn, answer, place.say) or None
            delivery = await message.settle(answer.text, note, buttons, cited=answer.citations)
            await self._use_cases.transcripts.record_delivery(turn_id, delivery.message_ids, None)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.warning("the answer of turn %s does not say that its question is gone: %s", turn_id, error)

    async def _keep(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        await acknowledge(interaction, ephemeral=True)
        await self._asked_of(interaction, turn_id, managers=False)
        await self._use_cases.chat.keep_answer(turn_id)
        await self.show(turn_id)

    async def _drop(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        await acknowledge(interaction, ephemeral=True)
        await self._asked_of(interaction, turn_id, managers=True)
        await self._use_cases.chat.drop_answer(turn_id)
        self._removals.wake()

    async def _asked_of(self, interaction: discord.Interaction[Any], turn_id: str, *, managers: bool) -> None:
        """Raises:
        Refusal: the answer is gone, or somebody else has to decide.
        """
        say, shown = speech_of(interaction), await self._use_cases.transcripts.played(turn_id)
        if shown is None or shown.turn.asked_by is None or shown.conversation.place_id != str(interaction.channel_id):
            raise Refusal(say("This answer is gone."))
        is_theirs = shown.turn.asked_by == str(interaction.user.id)
        if not is_theirs and not (managers and may_change(interaction, shown.conversation)):
            raise Refusal(say("Only the person who asked can decide this."))


def _answer_in(shown: PlayedTurn) -> ChatMessage | None:
    said = [each for each in shown.messages if each.role is MessageRole.ASSISTANT and not each.tool_invocations]
    return said[-1] if said else None


def _gone_line(turn: Turn, say: Speech) -> str:
    if turn.expires_at is None:
        return say("-# 🗑 The question was deleted.")
    return say(
        "-# 🗑 The question was deleted. I'll remove this answer {when}, unless the person who asked keeps it.",
        when=discord.utils.format_dt(turn.expires_at, "R"),
    )


def _buttons(turn: Turn, answer: Answer, say: Speech) -> Buttons:
    sources = sources_button(turn.id, say) if answer.citations else ()
    return sources if turn.expires_at is None else sources + keep_buttons(turn.id, say)


async def note_place_gone(use_cases: UseCases, guild_id: int, place_id: int) -> None:
    """A thread, or a channel with its threads, was deleted: its conversations are erased after a while unless resumed.

    Raises:
        StorageError: that could not be stored.
    """
    await use_cases.conversations.note_gone(str(guild_id), str(place_id))
    await use_cases.people.forget_posts_in(str(place_id))

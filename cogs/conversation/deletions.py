"""Follows edits and deletions on Discord: of questions, answers, threads and channels."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import discord
from discord.ui import DynamicItem

from cogs.cards import is_repeated_in, repeated
from cogs.conversation.buttons import DROP_ANSWER, KEEP_ANSWER, Buttons, keep_buttons, sources_button
from cogs.conversation.intake import (
    CaughtUp,
    IntakeResult,
    MessageIntake,
    is_from_a_person,
    mentions,
    message_text,
    whole_text,
)
from cogs.conversation.presenter import NOTHING, PostedMessages, ThreadContexts
from cogs.conversation.worker import ConversationWorkers
from cogs.delivery.turn_messages import AnswerMessage
from cogs.errors import DISCORD_ERRORS, Refusal, retry_transient
from cogs.i18n import Speech, speech_of
from cogs.interactions import acknowledge, on_press
from cogs.permissions import may_change, may_no_longer_write
from cogs.removals import Removals
from cogs.rendering.answers import answer_note
from domain.chat import ChatMessage, MessageRole, PlatformMessage, without_quotation
from domain.conversation import Turn
from domain.errors import MarginaliaError
from domain.event import Answer
from domain.spoilers.filter import without_covers
from domain.turn.chat_with_book import Taken
from domain.turn.history import StoredTurn
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

MENTIONED_WITHIN = timedelta(hours=1)
"""How long somebody who has mentioned the bot in a channel waits for it. Later they have asked again, or given up."""
SHOWN_AT_MOST = 1_000
"""Messages of a deleted channel that are looked for in questions of conversations elsewhere, the newest of them."""


class AnswersWithoutQuestion:
    """Asks the person who deleted a question whether its answer should stay, and carries out the decision.

    If they don't decide, the answer is deleted at the time that is stored with its turn.
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
        """Ask again wherever the program may have ended before asking. Where it had asked, nothing changes."""
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
        """Delete an answer if somebody has deleted one of its messages; a message that the bot deletes itself is no
        longer recorded as showing an answer.
        """
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
            shown = await self._use_cases.transcripts.turn(turn_id)
            place = await self._places.of(shown.conversation) if shown else None
            said = _answer_in(shown) if shown else None
            if shown is None or place is None or said is None:
                return
            answer = Answer(turn_id, said.content, said.citations, stopped=shown.turn.stopped)
            note = "\n".join(filter(None, [answer_note(answer, place.say), _gone_line(shown.turn, place.say)]))
            seed, standing = f"{turn_id} deleted", shown.turn.reply_ids
            message = AnswerMessage(place.writer, seed, say=place.say, standing=standing, reposts=False)
            buttons = _buttons(shown.turn, answer, place.say) or None
            delivery = await message.settle(answer.text, note, buttons, cited=answer.citations)
            if delivery.message_ids:  # else somebody deletes the answer, too, and `post_deleted` is about to be called
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
        """Refuse a person who may not decide about the answer; with `managers`, those who manage threads may.

        Raises:
            Refusal: the answer is gone, or somebody else has to decide.
        """
        say, shown = speech_of(interaction), await self._use_cases.transcripts.turn(turn_id)
        if shown is None or shown.turn.asked_by is None or shown.conversation.place_id != str(interaction.channel_id):
            raise Refusal(say("This answer is gone."))
        is_theirs = shown.turn.asked_by == str(interaction.user.id)
        if not is_theirs and not (managers and may_change(interaction, shown.conversation)):
            raise Refusal(say("Only the person who asked can decide this."))


def _answer_in(shown: StoredTurn) -> ChatMessage | None:
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


class _LastEdits:
    """When messages were edited last, as far as it is known; of the newest `size` messages edited."""

    def __init__(self, size: int = 1_000) -> None:
        self._size = size
        self._times: dict[int, datetime] = {}

    def note(self, message: discord.Message) -> None:
        if message.edited_at is None or not self.is_last(message):
            return
        self._times.pop(message.id, None)
        self._times[message.id] = message.edited_at
        if len(self._times) > self._size:
            del self._times[next(iter(self._times))]

    def is_last(self, message: discord.Message) -> bool:
        """Whether no later edit of the message is known."""
        known = self._times.get(message.id)
        return known is None or (message.edited_at is not None and message.edited_at >= known)


class Corrections:
    """Follows edits and deletions. A message that is waiting or being answered is answered with its new text or, if it
    was deleted, not at all.

    An answered one is stored as it is now, or deleted; its asker then decides what becomes of the answer. A message
    that is meant for the bot only since an edit is accepted, or replied to where there is no conversation.
    """

    def __init__(
        self,
        use_cases: UseCases,
        intake: MessageIntake,
        workers: ConversationWorkers,
        answers: AnswersWithoutQuestion,
        removals: Removals,
        reply_to_mention: Callable[[discord.Message], Awaitable[None]],
    ) -> None:
        self._use_cases = use_cases
        self._intake = intake
        self._workers = workers
        self._answers = answers
        self._removals = removals
        self._reply_to_mention = reply_to_mention
        self._last_edits = _LastEdits()
        self._orders: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    async def edited(self, message: discord.Message, bot_id: int) -> None:
        """Store the new text of an edited message, unless it has been edited again since."""
        self._last_edits.note(message)
        async with self._orders.setdefault(message.id, asyncio.Lock()):
            await self._let_it_arrive(message.channel.id)
            if self._last_edits.is_last(message) and not await self._intake.leaves_out(message.author):
                await self._take_over(message, bot_id)

    async def _take_over(self, message: discord.Message, bot_id: int) -> None:
        words = message_text(message, bot_id)
        questions = await self._use_cases.transcripts.questions_in(str(message.id))
        if not questions and message.edited_at is not None:  # else only a preview was added, or the like
            await self._accept(message, bot_id)
            questions = await self._use_cases.transcripts.questions_in(str(message.id))  # an earlier edit may be one
        for question in questions:
            if await self._is_quoting(question):
                whole = whole_text(message, bot_id) if self._intake.is_readable(message) else question.content
                await self._unquote(question, unless_in=f"{whole}\n{without_covers(whole)}")
            elif words:
                await self._revise(question, words, asks=not may_no_longer_write(message))
            elif self._intake.is_readable(message):  # a question without words is none
                await self._take_back(question)

    async def _accept(self, message: discord.Message, bot_id: int) -> None:
        """Have a message answered that is meant for the bot only since its edit: its words or the mention came late."""
        is_outside = isinstance(message.channel, discord.abc.GuildChannel) and not mentions(message, bot_id)
        if is_outside or not is_from_a_person(message):
            return
        async with self._intake.order(message.channel.id):
            conversation = await self._use_cases.conversations.in_thread(str(message.channel.id))
            if conversation and conversation.shared and not await self._intake.is_for_bot(message, bot_id):
                return
            result = await self._intake.accept(message, conversation, bot_id) if conversation else None
        if conversation is None:
            if mentions(message, bot_id) and discord.utils.utcnow() - message.created_at <= MENTIONED_WITHIN:
                await self._reply_to_mention(message)
        elif result is IntakeResult.ASKED:
            self._workers.start(conversation.id, seen=conversation)
            await self._as_it_is(message)  # it may have been deleted before it was accepted

    async def deleted(self, message_ids: Sequence[int], channel_id: int, guild_id: int | None) -> None:
        """Forget questions and answers that were deleted; answers first, so that those need not say that their
        questions are gone.
        """
        await self._let_it_arrive(channel_id)
        for message_id in message_ids:
            await self._answers.post_deleted(str(message_id), channel_id, guild_id)
        for message_id in message_ids:
            questions = await self._use_cases.transcripts.questions_in(str(message_id))
            await asyncio.gather(*map(self._take_back, questions))  # at once: an answer to one is not waited for

    async def look_again(self, message: discord.Message, bot_id: int) -> None:
        """Follow what happened to a message before it was stored which question it shows."""
        if now := await self._as_it_is(message):
            await self._follow(now, bot_id)

    async def _as_it_is(self, message: discord.Message) -> discord.Message | None:
        """A message as Discord has it now. None: it cannot be looked at, or is gone, and so are its questions then."""
        try:
            return await retry_transient(message.fetch)
        except discord.NotFound:
            await self.deleted([message.id], message.channel.id, message.guild.id if message.guild else None)
        except DISCORD_ERRORS as error:
            logger.info("message %s could not be looked at again: %s", message.id, error)
        return None

    async def _follow(self, message: discord.Message, bot_id: int) -> None:
        """Take over what a person's message says now, or let one of the bot's repeat what is stored."""
        if message.author.id != bot_id:
            await self.edited(message, bot_id)
            return
        known = await self._repeated_in(str(message.id))
        if known and not is_repeated_in(message, [each.content for each in known]):
            await self._repeat(PlatformMessage(str(message.id), str(message.channel.id)))

    async def found(self, caught_up: CaughtUp, channel_id: int, bot_id: int) -> None:
        """Handle what was changed while the bot was away."""
        for message in caught_up.edited:
            await self._follow(message, bot_id)
        await self.deleted(caught_up.deleted, channel_id, None)

    async def _let_it_arrive(self, channel_id: int) -> None:
        """Wait while a message that was changed is still being accepted, but not for its answer."""
        async with self._intake.order(channel_id):
            return

    async def place_gone(self, guild_id: int, place_id: int) -> None:
        """A thread, or a channel with its threads, was deleted. Its conversations are erased after a while unless
        resumed. What people said there and was answered elsewhere, and what /ask answered there, is deleted at once.

        Raises:
            StorageError: that could not be stored.
        """
        server, place = str(guild_id), str(place_id)
        await self._use_cases.conversations.note_gone(server, place)
        for message_id in await self._use_cases.transcripts.shown_in(place, SHOWN_AT_MOST):
            for question in await self._use_cases.transcripts.questions_in(message_id):
                conversation = await self._use_cases.conversations.find(question.conversation_id)
                is_elsewhere = conversation and place not in (conversation.thread_id, conversation.channel_id)
                if is_elsewhere and not await self._is_repetition(message_id, question):
                    await self._take_back(question)
        await self._use_cases.chat.forget_asides_in(server, place)
        await self._use_cases.people.forget_posts_in(place)

    async def _is_repetition(self, message_id: str, question: ChatMessage) -> bool:
        repetitions = await self._use_cases.transcripts.repetitions(question.id)
        return any(each.message_id == message_id for each in repetitions)

    async def _is_quoting(self, question: ChatMessage) -> bool:
        """Whether it is a question of /ask: a message linked with it is quoted in it, and is no question."""
        conversation = await self._use_cases.conversations.find(question.conversation_id)
        return conversation is not None and conversation.is_aside

    async def _unquote(self, question: ChatMessage, *, unless_in: str = "") -> None:
        """Remove a quotation from a question, once its answer is no longer being made."""
        words = without_quotation(question.content, unless_in=unless_in)
        if words != question.content:
            await self._use_cases.chat.settle(question.conversation_id)
            await self._use_cases.chat.revise(question.external_id or "", words)

    async def _take_back(self, question: ChatMessage) -> None:
        if await self._is_quoting(question):
            await self._unquote(question)
            return
        taken = await self._use_cases.chat.take_back(question.external_id or "")
        self._removals.wake()  # of what repeats it, and of a title that may have been made of it
        await self._go_on(taken)
        if taken is None and question.turn_id is not None:  # others asked, too, whose answer stays
            await self._workers.offer_again(question.turn_id)

    async def _revise(self, question: ChatMessage, words: str, *, asks: bool) -> None:
        if question.content == words:
            return
        taken = await self._use_cases.chat.revise(question.external_id or "", words, asks=asks)
        self._removals.wake()  # of a thread's name that was made of the old words
        await self._go_on(taken)
        if taken is None:
            await self._offer_again(question)
        for repetition in await self._use_cases.transcripts.repetitions(question.id):
            await self._repeat(repetition)

    async def _repeat(self, repetition: PlatformMessage) -> None:
        """Let a message of the bot repeat the questions as they are stored."""
        message = self._removals.message(repetition.channel_id, repetition.message_id)
        known = await self._repeated_in(repetition.message_id)

        async def edit() -> None:
            embeds = (await message.fetch()).embeds
            for embed in embeds:
                embed.description = repeated([each.content for each in known])
            await message.edit(embeds=embeds)

        try:
            await retry_transient(partial(self._removals.in_open_thread, repetition.channel_id, edit))
        except DISCORD_ERRORS as error:  # the next start finds it
            logger.info("message %s repeats a question as it was: %s", repetition.message_id, error)

    async def _repeated_in(self, message_id: str) -> list[ChatMessage]:
        """The questions that a message of the bot repeats."""
        known = await self._use_cases.transcripts.questions_in(message_id)
        return [each for each in known if not await self._is_quoting(each)]

    async def _offer_again(self, before: ChatMessage) -> None:
        """If the words of an answered question have changed, let its answer offer to be made again."""
        now = await self._use_cases.transcripts.question(before.external_id or "")
        if now is not None and now.turn_id is not None and now.content != before.content:
            await self._workers.offer_again(now.turn_id)

    async def _go_on(self, taken: Taken | None) -> None:
        if taken is None:
            return
        if taken.answered is not None:
            await self._answers.show(taken.answered.id)
            return
        undone = taken.undone
        leftover = PostedMessages(undone.reply_ids, undone.trace_id) if undone else NOTHING
        self._workers.start(taken.message.conversation_id, leftover)

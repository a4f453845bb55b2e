"""The cog for conversations in threads: passes Discord's events on to intake, workers, backfill and deletions."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import discord
from discord.ext import commands

from cogs.access import assert_may_post
from cogs.cards import BOOKS_IN_A_MENU, books_menu
from cogs.conversation.backfill import Backfill
from cogs.conversation.buttons import ACCEPT, accept_button, offer_recap, tells_of_waiting, view_of
from cogs.conversation.deletions import AnswersWithoutQuestion, Corrections
from cogs.conversation.intake import (
    TALK_ABOUT,
    CaughtUp,
    IntakeResult,
    MessageIntake,
    Thread,
    is_from_a_person,
    mentions,
    on_no_question,
)
from cogs.conversation.presenter import ThreadContexts
from cogs.conversation.presses import AnswerButtons, ToolCallButtons
from cogs.conversation.worker import ConversationWorkers
from cogs.delivery.writer import ChannelWriters
from cogs.errors import (
    DISCORD_ERRORS,
    Refusal,
    conversation_gone,
    hint,
    is_away,
    remove_notice,
    sentence_for,
    tell_kept,
    tells_of_outage,
    waiting_sentence,
)
from cogs.i18n import Speech, known_speeches_at, speech_at, speech_in, speech_of
from cogs.interactions import (
    acknowledge,
    allowed_by,
    is_posted_for_somebody,
    no_webhooks,
    not_here,
    on_custom_id,
    on_press,
    row,
    take_away,
)
from cogs.permissions import FOR_ANSWERS, FOR_READING, granted_to, missing
from cogs.removals import Removals
from cogs.rendering.tool_calls import PATTERN as CARD_BUTTON
from cogs.services import NotifyPrivately, RecentIds, ServingBot, shelf_of
from cogs.threads import NO_THREADS_HERE, TitleUpdates, channel_for_threads
from domain.book import personal_shelf
from domain.conversation import Conversation
from domain.errors import MarginaliaError, StorageError
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

DELIVERED_WITHIN_S = 3.0
"""How long a stop of the program waits for finished answers to be delivered."""
POSTED_WITHIN_S = 1.0
"""How long it then waits for whatever else is being posted."""
STILL_WITHIN_S = 3.0
"""How long an erasure waits for requests to Discord that are under way."""

OPENING_TAKES = timedelta(minutes=1)
"""The longest time from the opening of a thread until it is bound to its conversation, usually a tenth of a second."""


class ConversationCog(commands.Cog):
    """Listens in threads, and answers there."""

    def __init__(self, bot: ServingBot, use_cases: UseCases, removals: Removals) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._writers = ChannelWriters()
        self._titles = TitleUpdates(use_cases)
        self._contexts = contexts = ThreadContexts(bot, use_cases, self._writers, removals)
        self._workers = ConversationWorkers(use_cases, contexts, self._titles)
        self._intake = MessageIntake(use_cases, reads_messages=bot.intents.message_content)
        self._answers = AnswersWithoutQuestion(use_cases, contexts, removals)
        reply = self._reply_to_mention
        self._corrections = Corrections(use_cases, self._intake, self._workers, self._answers, removals, reply)
        self._backfill = Backfill(bot, use_cases, self._intake, self._workers, self._corrections, reply)
        self._listens = True
        self._not_kept: dict[int, discord.Message] = {}
        """Messages that could not be stored, with their current words; deleted ones are dropped."""
        self._edited: dict[int, discord.Message] = {}
        """Messages with an edit that is not stored yet, with their current words."""
        self._is_ready = False
        self._given_up, self._told_webhooks, self._mentioned_in = RecentIds(), RecentIds(), RecentIds()
        """Threads where it has been said that their conversation is gone, and that webhooks are not answered; and
        messages outside conversations that mention the bot.
        """
        cards = ToolCallButtons(use_cases, self._workers.live)
        bot.handle(
            *AnswerButtons(use_cases, self._workers).items(),
            *self._answers.items(),
            on_custom_id(CARD_BUTTON, cards.press),
            on_press(ACCEPT, self._retry, r"\d{1,20}"),
        )

    async def cog_unload(self) -> None:
        """Deliver finished answers; unfinished ones are made after the next start."""
        self._listens = False
        self._backfill.close()
        await self._workers.close(DELIVERED_WITHIN_S)
        await self._titles.close()
        await self._writers.close(POSTED_WITHIN_S)

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """A command tells the person's language, which their direct messages do not."""
        self._use_cases.people.remember_locale(str(interaction.user.id), interaction.locale.value)

    async def opened(self, thread: discord.Thread, conversation: Conversation) -> None:
        """See cogs.services.Conversing."""
        await self._backfill.read_opened(thread, conversation, self._bot_id)

    async def make_current(
        self, interaction: discord.Interaction[Any], conversation: Conversation
    ) -> tuple[discord.PartialMessageable, Conversation]:
        """See cogs.services.Conversing."""
        channel_id, person = int(interaction.channel_id or 0), str(interaction.user.id)
        place = self._bot.direct_channel(channel_id)
        async with self._intake.order(channel_id):
            before = await self._use_cases.conversations.in_thread(str(channel_id))
            if before is not None and await self._catch_up(place, before, discord.Object(interaction.id)):
                self._workers.start(before.id, seen=before)
            await self._use_cases.people.note_locale(person, interaction.locale.value)
            await self._use_cases.transcripts.begin_after(conversation.id, str(interaction.id))
            current = await self._use_cases.conversations.make_current(
                conversation.id, shelf=shelf_of(interaction), channel_id=str(channel_id)
            )
        return place, current

    async def answer_in(self, conversation: Conversation, notify: NotifyPrivately) -> None:
        """See cogs.services.Conversing."""
        await self._workers.start(conversation.id, seen=conversation, notify=notify)

    @asynccontextmanager
    async def standing_still(self, conversations: Sequence[Conversation], erasing: str | None) -> AsyncIterator[None]:
        """See cogs.services.Conversing."""
        places = [int(each.place_id) for each in conversations if each.guild_id and each.place_id]
        async with self._writers.still(places, STILL_WITHIN_S):
            yield
            self._workers.erased({each.id for each in conversations}, erasing)

    # What Discord tells

    @commands.Cog.listener()
    async def on_connect(self) -> None:
        """A new session: nothing is known of what happened before it."""
        self._intake.forget_session()
        self._is_ready = False

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        self._is_ready = True
        await self._backfill.run(self._bot.guilds, self._bot_id)
        await self._backfill.run_direct(self._bot_id)
        await self._answers.ask_all()

    @commands.Cog.listener()
    async def on_resumed(self) -> None:
        """The session continues, with missed events delivered late, though perhaps not all of them."""
        if not self._is_ready:  # resumed from another process: on_ready reads all threads
            return
        self._intake.forget_session()
        await self._backfill.read_open(self._bot.guilds, self._bot_id)

    @commands.Cog.listener("on_guild_unavailable")
    @commands.Cog.listener("on_guild_remove")
    async def lose_sight(self, guild: discord.Guild) -> None:
        """Note that messages in the server are missed from now on, until it is back."""
        self._intake.lose_sight(thread.id for thread in guild.threads)

    @commands.Cog.listener("on_guild_available")
    @commands.Cog.listener("on_guild_join")
    async def see_again(self, guild: discord.Guild) -> None:
        """Discord had lost the server or reported it late (on_ready handles the others), or the bot has joined it."""
        if self._is_ready:
            await self._backfill.run([guild], self._bot_id)

    @commands.Cog.listener()
    async def on_thread_create(self, thread: discord.Thread) -> None:
        self._intake.note_new_thread(thread.id)

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        if not self._listens:
            return
        if message.author.id == self._bot_id and tells_of_waiting(message):
            await self._remove_if_of_another(message)
        if not is_from_a_person(message):
            if is_posted_for_somebody(message) and mentions(message, self._bot_id):
                explain = partial(self._explain_silence, message)
                await self._bot.storage_retries.now_or_later(explain, f"the mention by webhook {message.webhook_id}")
            return
        if message.guild is None or isinstance(message.channel, (discord.Thread, discord.PartialMessageable)):
            await self._handle(message)
        elif mentions(message, self._bot_id):
            await self._reply_to_mention(message)

    async def _reply_to_mention(self, message: discord.Message) -> None:
        if self._mentioned_in.is_new(message.id):
            tell = partial(self._tell_how_to_start, message)
            await self._bot.storage_retries.now_or_later(tell, f"the mention in message {message.id}")

    async def _remove_if_of_another(self, notice: discord.Message) -> None:
        """Remove a message of another process that is cut off from the database, and does not know that this one has
        taken over.
        """
        if not self._contexts.is_outage_told(notice.channel.id) and tells_of_outage(notice.content):
            await remove_notice(notice)

    async def _explain_silence(self, message: discord.Message) -> None:
        """Tell people once in a thread why what they have a webhook post for them is not answered."""
        conversation = await self._use_cases.conversations.in_thread(str(message.channel.id))
        if conversation is not None and self._told_webhooks.is_new(message.channel.id):
            await hint(message, no_webhooks(await speech_at(self._use_cases, message)))

    async def _tell_how_to_start(self, message: discord.Message) -> None:
        """Tell somebody who mentions the bot in a channel, or in a thread that belongs to no conversation."""
        if message.guild is None or not await self._intake.is_for_bot(message, self._bot_id):
            return
        if not await self._intake.leaves_out(message.author):
            ids = allowed_by(message.channel)
            may_be_used = await self._use_cases.servers.may_be_used_in(str(message.guild.id), ids)
            say = speech_in(message.guild)
            await (self._offer_books(message, say) if may_be_used else hint(message, not_here(say)))

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        if payload.message_id in self._not_kept:
            self._not_kept[payload.message_id] = payload.message
        if not payload.message.author.bot:
            self._edited[payload.message_id] = payload.message
            revise = partial(self._revise, payload.message_id)
            await self._bot.storage_retries.now_or_later(revise, f"the edit of message {payload.message_id}")

    @commands.Cog.listener()
    async def on_question_shown(self, message: discord.Message) -> None:
        """That a message shows a question is stored now."""
        await self._corrections.look_again(message, self._bot_id)

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        await self._deleted([payload.message_id], payload)

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        await self._deleted(sorted(payload.message_ids), payload)

    @commands.Cog.listener()
    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        await self._corrections.place_gone(channel.guild.id, channel.id)

    @commands.Cog.listener()
    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """The conversation is kept for a while after its thread is deleted.

        The deletion is noted first, because the conversation can't be found any more without its thread.
        """
        await self._corrections.place_gone(payload.guild_id, payload.thread_id)
        if conversation := await self._use_cases.conversations.unbind(str(payload.thread_id)):
            self._use_cases.chat.withdraw(conversation.id)

    # Events after which the bot may be able to answer again

    @commands.Cog.listener()
    async def on_guild_channel_update(self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel) -> None:
        me = after.guild.me
        if missing(before.permissions_for(me), FOR_ANSWERS) and not missing(after.permissions_for(me), FOR_ANSWERS):
            self._workers.try_again()
        if missing(granted_to(me, before), FOR_READING):
            await self._read_seen_again(after.guild, [after])

    @commands.Cog.listener()
    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        if after.permissions != before.permissions and after in after.guild.me.roles:
            self._workers.try_again()
            if missing(before.permissions, FOR_READING) and not missing(after.permissions, FOR_READING):
                await self._read_seen_again(after.guild, after.guild.channels)

    @commands.Cog.listener()
    async def on_member_update(self, before: discord.Member, after: discord.Member) -> None:
        changes = (after.roles, after.timed_out_until) != (before.roles, before.timed_out_until)
        if after == after.guild.me and changes:
            self._workers.try_again()
            hidden = [each for each in after.guild.channels if missing(granted_to(before, each), FOR_READING)]
            await self._read_seen_again(after.guild, hidden)

    @commands.Cog.listener()
    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        if before.locked and not after.locked:
            self._workers.try_again()

    @commands.Cog.listener()
    async def on_thread_remove(self, thread: discord.Thread) -> None:
        """Somebody has removed the bot from a private thread, and may add it again."""
        self._intake.lose_sight([thread.id])

    @commands.Cog.listener()
    async def on_thread_join(self, thread: discord.Thread) -> None:
        """The bot was added; or a thread that was archived has changed, and was locked before, as far as is known."""
        if not thread.locked:
            self._workers.try_again()
        if conversation := await self._use_cases.conversations.in_thread(str(thread.id)):
            await self._backfill.read_opened(thread, conversation, self._bot_id)

    async def _read_seen_again(self, guild: discord.Guild, channels: Sequence[discord.abc.GuildChannel]) -> None:
        """Read what was written in these channels' threads, as far as the bot may read them now, while it could not."""
        seen = {each.id for each in channels if not missing(granted_to(guild.me, each), FOR_READING)}
        if seen:
            self._intake.lose_sight(thread.id for thread in guild.threads if thread.parent_id in seen)
            await self._backfill.read_seen_again(guild, seen, self._bot_id)

    @commands.Cog.listener()
    async def on_database_back(self) -> None:
        self._writers.hurry()  # what they may not post without the lease
        self._workers.try_again()
        self._backfill.hurry()

    # Messages

    async def _handle(self, message: discord.Message, notify: NotifyPrivately | None = None) -> None:
        """Handle a message in a thread or in direct messages."""
        try:
            result = await self._accept(message, notify)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            notice = None
            if notify or not (is_away(error) and self._contexts.is_outage_told(message.channel.id)):
                notice = await self._tell_trouble(message, error)
            if isinstance(error, StorageError):
                self._retry_later(message, notice)
        else:
            await self._reply_to(message, result)

    async def _tell_trouble(self, message: discord.Message, error: Exception) -> discord.Message | None:
        """Reply to a message that could not be stored, with a button to try again. None: that did not work."""
        away, told = is_away(error), self._contexts.told_below
        if away:  # before it is said, so that it is not said twice meanwhile
            told.add(message.channel.id)
        says = known_speeches_at(self._use_cases, message) if away else [await speech_at(self._use_cases, message)]
        trouble = "\n".join(f"⚠️ {waiting_sentence(error, say)}" for say in says)
        notice = await hint(message, trouble, view_of(accept_button(message.id, says[0])), about="away")
        if notice is None:
            told.discard(message.channel.id)
        return notice

    async def _reply_to(self, message: discord.Message, result: IntakeResult | None) -> None:
        """Tell the author of a message that was meant for the bot what to do if not all of it is answered."""
        say = await speech_at(self._use_cases, message)
        if result is None:
            if message.guild is None:
                await self._offer_books(message, say)
            elif self._is_being_opened(message):
                logger.info("message %s waits until its thread is bound", message.id)
            elif mentions(message, self._bot_id):
                await self._reply_to_mention(message)
            elif self._has_lost_its_conversation(message):
                await hint(message, conversation_gone(say))
        elif text := await self._intake.hint_for(result, message, say, self._bot_id):
            await hint(message, text)

    async def _offer_books(self, message: discord.Message, say: Speech) -> None:
        """Tell somebody who speaks to the bot where there is no conversation how to start one, and let them choose."""
        server, view = message.guild, discord.utils.MISSING
        if told := on_no_question(message, say, self._bot_id):
            await hint(message, told)
            return
        try:
            shelf = str(server.id) if server else personal_shelf(str(message.author.id))
            books = (await self._use_cases.shelf.list(shelf))[:BOOKS_IN_A_MENU]
        except StorageError as error:
            await hint(message, sentence_for(error, say))
            return
        if books and server and channel_for_threads(message.channel) is None:  # a chosen book could not be talked about
            await hint(message, say(NO_THREADS_HERE))
            return
        if books:
            view = row(books_menu(TALK_ABOUT, "", books, say("Choose the book"), say))
        text = await self._intake.how_to_start(message, say, self._bot_id, has_books=bool(books))
        await hint(message, text, view)

    def _retry_later(self, message: discord.Message, notice: discord.Message | None) -> None:
        self._not_kept[message.id] = message
        self._bot.storage_retries.begin(partial(self._accept_later, message.id, notice))

    async def _accept_later(self, message_id: int, notice: discord.Message | None) -> None:
        """Accept a message that could not be stored, once the database is back, if nobody has pressed the button.

        The notice about it is then deleted.
        """

        async def accept() -> None:
            if message := self._not_kept.get(message_id):
                await self._reply_to(message, await self._accept(message, None))

        if await self._bot.storage_retries.until_stored(accept, f"message {message_id}") and notice is not None:
            await remove_notice(notice)
        self._not_kept.pop(message_id, None)
        if notice is not None:
            self._contexts.told_below.discard(notice.channel.id)

    async def _revise(self, message_id: int) -> None:
        """Accept the new words of an edited message, unless it was deleted or accepted since."""
        if message := self._edited.get(message_id):
            await self._corrections.edited(message, self._bot_id)
            if self._edited.get(message_id) is message:
                del self._edited[message_id]

    async def _deleted(
        self, ids: Sequence[int], where: discord.RawMessageDeleteEvent | discord.RawBulkMessageDeleteEvent
    ) -> None:
        for message_id in ids:
            self._not_kept.pop(message_id, None)
            self._edited.pop(message_id, None)
            self._workers.lost(message_id)
        await self._corrections.deleted(ids, where.channel_id, where.guild_id)

    async def _accept(self, message: discord.Message, notify: NotifyPrivately | None) -> IntakeResult | None:
        """Accept a message; None if the thread belongs to no conversation."""
        async with self._intake.order(message.channel.id):
            if await self._intake.leaves_out(message.author):
                return IntakeResult.OVERHEARD
            conversation = await self._use_cases.conversations.in_thread(str(message.channel.id))
            if conversation is None:
                self._note_missed(message)
                return None
            place = self._bot.direct_channel(message.channel.id) if message.guild is None else message.channel
            assert isinstance(place, (discord.Thread, discord.PartialMessageable))
            found = await self._catch_up(place, conversation, message)
            result = await self._intake.accept(message, conversation, self._bot_id)
        if found.asked or result is IntakeResult.ASKED:
            self._workers.start(conversation.id, seen=conversation, notify=notify)
        if found.deleted or found.edited:
            await self._corrections.found(found, message.channel.id, self._bot_id)
        if result is IntakeResult.ASKED:
            await offer_recap(self._use_cases, message, conversation)
        return result

    async def _catch_up(self, thread: Thread, conversation: Conversation, before: discord.abc.Snowflake) -> CaughtUp:
        """Before the first message of a session in a thread, accept the ones that were missed."""
        try:
            return await self._intake.catch_up(thread, conversation, self._bot_id, before=before)
        except DISCORD_ERRORS as error:  # nobody waits for an answer until Discord lets us read what came before
            logger.warning("thread %s could not be read on: %s", thread.id, error)
            self._backfill.come_back_to(thread, conversation, self._bot_id)
            return CaughtUp()

    def _note_missed(self, message: discord.Message) -> None:
        """Remember a message in a thread that is about to be bound, because fast people write before that."""
        if message.guild is None:
            return
        if not isinstance(message.channel, discord.Thread) or message.channel.owner_id == self._bot_id:
            self._intake.note_missed(message.channel.id)

    def _is_being_opened(self, message: discord.Message) -> bool:
        """Whether one of our threads is so new that it may still get its conversation, which then has the message."""
        thread = message.channel
        is_new = message.created_at - discord.utils.snowflake_time(thread.id) <= OPENING_TAKES
        is_ours = isinstance(thread, discord.Thread) and thread.owner_id == self._bot_id
        return is_new and is_ours and not self._backfill.has_opened(thread.id)

    def _has_lost_its_conversation(self, message: discord.Message) -> bool:
        """Whether one of our threads no longer waits for a conversation; true once only, because people may go on
        without the bot.
        """
        thread = message.channel
        is_ours = isinstance(thread, discord.Thread) and thread.owner_id == self._bot_id
        return is_ours and self._given_up.is_new(thread.id)

    async def _retry(self, interaction: discord.Interaction[Any], message_id: str) -> None:
        """Accept a message that could not be stored, and delete the notice about it."""
        answerable = await acknowledge(interaction, ephemeral=True)
        assert_may_post(interaction)
        place = interaction.channel
        message = None
        if isinstance(place, (discord.Thread, discord.DMChannel)):
            message = await place.fetch_message(int(message_id))
        if message is None or not is_from_a_person(message):
            raise Refusal(conversation_gone(speech_of(interaction)))
        await take_away(interaction, answerable=answerable)
        await self._handle(message, partial(tell_kept, interaction))

    @property
    def _bot_id(self) -> int:
        assert self._bot.user is not None, "events come after the log-in"
        return self._bot.user.id

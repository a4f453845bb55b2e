"""After a start or a new session: finishing what a crash interrupted, and reading the messages that were missed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile

import discord

from cogs.conversation.deletions import MENTIONED_WITHIN, Corrections
from cogs.conversation.intake import MessageIntake, Thread, is_from_a_person, mentions, newest_page
from cogs.conversation.worker import ConversationWorkers
from cogs.errors import DISCORD_ERRORS, DiscordCode, retry_transient
from cogs.permissions import FOR_READING, granted_to, missing
from cogs.services import RecentIds, ServingBot
from domain.conversation import Conversation
from domain.errors import MarginaliaError
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

THREADS_AT_A_TIME = 5

ASLEEP_AT_MOST = 500
"""Threads of a server that Discord does not list as open, newest first, which are read all the same, because somebody
may have written there before they were archived. Each costs a request.
"""

DIRECT_AFTER_A_BREAK = 50
"""The same for direct messages, the most recently used first."""

READ_AGAIN_AFTER_S = (5.0, 20.0, 60.0, 300.0)
"""When to retry a thread that could not be read; at once when a database that was away is back."""


class Backfill:
    """Finishes everything that was interrupted, independently for each conversation."""

    def __init__(
        self,
        bot: ServingBot,
        use_cases: UseCases,
        intake: MessageIntake,
        workers: ConversationWorkers,
        corrections: Corrections,
        reply_to_mention: Callable[[discord.Message], Awaitable[None]],
    ) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._intake = intake
        self._workers = workers
        self._corrections = corrections
        self._reply_to_mention = reply_to_mention
        self._running = asyncio.Lock()
        self._opened = RecentIds()
        self._later: set[asyncio.Task[None]] = set()
        self._pauses: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def close(self) -> None:
        self._is_closed = True
        for task in self._later | self._pauses:
            task.cancel()

    def hurry(self) -> None:
        """Retry at once what could not be read, because the database is back."""
        for pause in self._pauses:
            pause.cancel()

    async def run(self, guilds: Iterable[discord.Guild], bot_id: int) -> None:
        async with self._running:
            await self._take_up_unfinished()
            self._workers.open()
            await self._read_all(guilds, bot_id, ASLEEP_AT_MOST)

    async def _take_up_unfinished(self, failures: int = 0) -> None:
        try:
            unfinished = await self._use_cases.transcripts.unfinished(self._bot.shard)
        except MarginaliaError as error:
            logger.error("what was left unfinished could not be found out: %s", error)
            self._come_back(partial(self._take_up_unfinished, failures + 1), failures)
            return
        for conversation_id in unfinished:
            self._workers.start(conversation_id, untidy=True)

    async def run_direct(self, bot_id: int) -> None:
        """Read missed direct messages after a start."""
        async with self._running:
            await self._read_direct(bot_id, ASLEEP_AT_MOST)

    async def read_open(self, guilds: Iterable[discord.Guild], bot_id: int) -> None:
        """Read missed messages in the open threads, after a pause in seconds."""
        async with self._running:
            await self._read_all(guilds, bot_id, 0)
            await self._read_direct(bot_id, DIRECT_AFTER_A_BREAK)

    async def read_seen_again(self, guild: discord.Guild, channels: Collection[int], bot_id: int) -> None:
        """Read missed messages in the threads of channels that the bot could not see or read for a while."""
        async with self._running:
            await self._read(guild, bot_id, asyncio.Semaphore(THREADS_AT_A_TIME), ASLEEP_AT_MOST, channels=channels)

    def has_opened(self, thread_id: int) -> bool:
        """Whether a thread has got its conversation lately, even if that is gone since."""
        return thread_id in self._opened

    async def read_opened(self, thread: discord.Thread, conversation: Conversation, bot_id: int) -> None:
        """Read what was written in a thread before it was bound to its conversation."""
        self._opened.add(thread.id)
        async with self._intake.order(thread.id):
            is_read = self._intake.has_read(thread.id)
        if not is_read:
            await self._read_thread(thread, conversation, bot_id, asyncio.Semaphore())

    def come_back_to(self, thread: Thread, conversation: Conversation, bot_id: int) -> None:
        """Read a thread later because that is not possible now."""
        self._come_back(partial(self._read_thread, thread, conversation, bot_id, asyncio.Semaphore(), 1), 0)

    async def _read_all(self, guilds: Iterable[discord.Guild], bot_id: int, asleep: int) -> None:
        limit = asyncio.Semaphore(THREADS_AT_A_TIME)
        await asyncio.gather(*(self._read(guild, bot_id, limit, asleep) for guild in guilds))

    async def _read(
        self,
        guild: discord.Guild,
        bot_id: int,
        limit: asyncio.Semaphore,
        asleep: int,
        failures: int = 0,
        *,
        channels: Collection[int] | None = None,
    ) -> None:
        """Read missed messages in a server's threads with conversations, and in some of the archived ones; only in
        those of some `channels`, if these are given.
        """
        try:
            known = await self._use_cases.conversations.in_guild(str(guild.id))
            before = await self._use_cases.transcripts.channels_before(str(guild.id))
        except MarginaliaError as error:
            logger.error("the conversations of guild %s could not be read: %s", guild.id, error)
            again = partial(self._read, guild, bot_id, limit, asleep, failures + 1, channels=channels)
            self._come_back(again, failures)
            return
        if channels is not None:
            known = [each for each in known if int(each.channel_id or 0) in channels]
        self._intake.lose_sight(int(each.thread_id) for each in known if each.thread_id)
        threads = self._threads(guild, known, asleep)
        await asyncio.gather(*(self._read_thread(*each, bot_id, limit) for each in threads))
        places = [int(each) for each in before if channels is None or int(each) in channels]
        await asyncio.gather(*(self._look_at(guild.id, each, bot_id, limit) for each in places))
        await asyncio.gather(*(self._find_mentions(*each, bot_id, limit) for each in _channels_to_read(guild, known)))

    async def _find_mentions(
        self, channel: discord.TextChannel, since: int, bot_id: int, limit: asyncio.Semaphore
    ) -> None:
        """Have each person's newest mention that was missed in a channel answered. What stands before a message of the
        bot, or before the id `since`, was answered then.
        """
        try:
            async with limit:
                page = await retry_transient(partial(newest_page, channel))
            missed = takewhile(lambda each: each.id > since and each.author.id != bot_id, page)
            found = [each for each in missed if is_from_a_person(each) and mentions(each, bot_id)]
            for message in {each.author.id: each for each in reversed(found)}.values():
                if not await self._use_cases.transcripts.questions_in(str(message.id)):
                    await self._reply_to_mention(message)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.warning("missed mentions in channel %s could not be found: %s", channel.id, error)

    async def _look_at(
        self, guild_id: int, channel_id: int, bot_id: int, limit: asyncio.Semaphore, failures: int = 0
    ) -> None:
        """Find out what became of questions that were said in a channel before their books were chosen, and of messages
        there that are quoted in others.
        """
        try:
            async with limit:
                channel = self._bot.get_partial_messageable(channel_id)
                found = await self._intake.look_at(channel, channel_id, bot_id)
            await self._corrections.found(found, channel_id, bot_id)
        except (discord.Forbidden, discord.NotFound) as error:
            logger.info("channel %s is out of reach: %s", channel_id, error)
            if error.code == DiscordCode.UNKNOWN_CHANNEL:
                await self._note_gone(guild_id, channel_id)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.warning("channel %s could not be looked at: %s", channel_id, error)
            self._come_back(partial(self._look_at, guild_id, channel_id, bot_id, limit, failures + 1), failures)

    async def _read_direct(self, bot_id: int, at_most: int, failures: int = 0) -> None:
        """Read missed messages in direct messages that have a conversation, up to a number of them."""
        if not self._bot.serves_direct_messages:
            return
        try:
            current = await self._use_cases.conversations.current_in_direct_messages(at_most)
        except MarginaliaError as error:
            logger.error("the conversations in direct messages could not be read: %s", error)
            self._come_back(partial(self._read_direct, bot_id, at_most, failures + 1), failures)
            return
        limit = asyncio.Semaphore(THREADS_AT_A_TIME)
        places = [(self._bot.direct_channel(int(each.place_id or 0)), each) for each in current]
        await asyncio.gather(*(self._read_thread(*each, bot_id, limit) for each in places))

    def _threads(
        self, guild: discord.Guild, known: Sequence[Conversation], at_most: int
    ) -> Iterator[tuple[Thread, Conversation]]:
        """Open threads first."""
        bound = {int(each.thread_id): each for each in known if each.thread_id}
        awake = [thread for thread in guild.threads if thread.id in bound]
        asleep = [number for number in bound if number not in {thread.id for thread in awake}]
        yield from ((thread, bound[thread.id]) for thread in awake)
        yield from ((self._bot.thread_asleep(number, guild.id), bound[number]) for number in asleep[:at_most])

    async def _read_thread(
        self,
        thread: Thread,
        conversation: Conversation,
        bot_id: int,
        limit: asyncio.Semaphore,
        failures: int = 0,
    ) -> None:
        """Read missed messages, have waiting ones answered, and retry later if Discord has trouble."""
        try:
            async with limit, self._intake.order(thread.id):
                found = await self._intake.catch_up(thread, conversation, bot_id)
            await self._use_cases.conversations.note_found(conversation.id)
            await self._corrections.found(found, thread.id, bot_id)
        except (discord.Forbidden, discord.NotFound) as error:
            logger.info("thread %s is out of reach: %s", thread.id, error)
            if error.code == DiscordCode.UNKNOWN_CHANNEL and conversation.guild_id:
                await self._note_gone(int(conversation.guild_id), thread.id)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.warning("thread %s could not be read on: %s", thread.id, error)
            again = partial(self._read_thread, thread, conversation, bot_id, limit, failures + 1)
            self._come_back(again, failures)
        await self._start_if_asked(conversation)

    async def _note_gone(self, guild_id: int, thread_id: int) -> None:
        try:
            await self._corrections.place_gone(guild_id, thread_id)
            if club_id := await self._use_cases.clubs.store.forget_thread(str(guild_id), str(thread_id)):
                self._bot.dispatch("club_changed", club_id)
        except MarginaliaError as error:  # whoever reads the thread next finds it gone as well
            logger.error("that %s was deleted could not be noted: %s", thread_id, error)

    def _come_back(self, read: Callable[[], Awaitable[None]], failures: int) -> None:
        if failures < len(READ_AGAIN_AFTER_S) and not self._is_closed:
            task = asyncio.create_task(self._read_after(READ_AGAIN_AFTER_S[failures], read))
            self._later.add(task)
            task.add_done_callback(self._later.discard)

    async def _read_after(self, seconds: float, read: Callable[[], Awaitable[None]]) -> None:
        pause = asyncio.create_task(asyncio.sleep(seconds))
        self._pauses.add(pause)
        pause.add_done_callback(self._pauses.discard)
        await asyncio.wait([pause])
        await read()

    async def _start_if_asked(self, conversation: Conversation) -> None:
        if self._is_closed:  # what waits does so until the next start
            return
        try:
            if await self._use_cases.chat.waiting(conversation.id):
                self._workers.start(conversation.id, seen=conversation)
        except MarginaliaError as error:
            logger.error("what waits in conversation %s could not be found out: %s", conversation.id, error)


def _channels_to_read(guild: discord.Guild, known: Iterable[Conversation]) -> Iterator[tuple[discord.TextChannel, int]]:
    """The channels of conversations in which something has been written lately, as far as the bot may read them, each
    with the id since when. The bot was there when it opened a thread.
    """
    lately = discord.utils.time_snowflake(discord.utils.utcnow() - MENTIONED_WITHIN)
    opened: dict[int, int] = {}
    for each in known:
        place = int(each.channel_id or 0)
        opened[place] = max(opened.get(place, lately), int(each.thread_id or 0))
    for number, since in opened.items():
        channel = guild.get_channel(number)
        if not isinstance(channel, discord.TextChannel) or (channel.last_message_id or 0) <= since:
            continue
        if not missing(granted_to(guild.me, channel), FOR_READING):
            yield channel, since

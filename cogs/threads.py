"""Threads of conversations: opening, reopening, renaming and deleting them, and what to say if Discord refuses."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Collection, Iterable
from datetime import datetime, timedelta
from functools import partial
from itertools import compress
from typing import Any, Literal, TypeAlias

import discord

from cogs.cards import TITLE_LENGTH, book_title, clipped, plain
from cogs.errors import DISCORD_ERRORS, PASSING_SOON, DiscordCode, Refusal, bot_lacks, edit_reply, retry_transient
from cogs.i18n import Speech, later, speech_for_all, speech_of
from cogs.permissions import (
    FOR_A_PRIVATE_THREAD,
    FOR_A_PRIVATE_THREAD_OF_ONES_OWN,
    FOR_A_PUBLIC_THREAD,
    FOR_A_PUBLIC_THREAD_OF_ONES_OWN,
    granted_to,
    missing,
    permission_names,
    sees_fewer,
)
from cogs.services import is_guest, server_of
from domain.book import Book, one_line
from domain.conversation import UNTITLED, Conversation, TitleSource
from domain.errors import BookError, MarginaliaError
from domain.turn.conversations import ManageConversations
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

NAME_LENGTH = 100
"""Characters Discord allows a thread's name."""
SOME_COMPANY, LOOKED_AT, ASKED_AT_A_TIME, LOOKING_TAKES_S = 2, 20, 5, 1.0
"""Before an answer to so many people or more, Discord is asked whether those who limit it are still there: about so
many of them, so many at once, and within this time.
"""
CARDS_AMONG = 10
"""The first messages of a thread, among which its card and its first question are looked for."""
NO_THREADS_HERE = later("I can't open a thread here. Please use a text channel, or /ask, which works here, too.")
NO_PRIVATE_THREADS_HERE = later("I can't open a private thread in an announcement channel. Please use a text channel.")
ThreadKind: TypeAlias = Literal[
    discord.ChannelType.news_thread, discord.ChannelType.public_thread, discord.ChannelType.private_thread
]
LIBRARY_REPEATS_AFTER, LOST_LATELY = timedelta(seconds=1), timedelta(minutes=5)
"""discord.py repeats a request that long after an error of the server, even if the request had taken effect."""
A_WEEK: Literal[10080] = 10080
"""Minutes without a message after which Discord archives a thread: the longest option."""


def thread_name(conversation: Conversation, book: Book | None = None) -> str:
    """A thread name: the conversation's title, or its book's while it has none."""
    title = book.title if book is not None and conversation.title == UNTITLED else conversation.title
    return title if len(title) <= NAME_LENGTH else f"{title[: NAME_LENGTH - 1].rstrip()}…"


def channel_for_threads(place: object) -> discord.TextChannel | None:
    """The channel in which a thread can be opened from a place; forums and the chats of voice channels have none."""
    channel = place.parent if isinstance(place, discord.Thread) else place
    return channel if isinstance(channel, discord.TextChannel) else None


def home_of(interaction: discord.Interaction[Any], *, private: bool) -> discord.TextChannel:
    """The channel in which a thread can be opened from here.

    Raises:
        Refusal: there is none, or the bot or the person lacks a permission for it.
    """
    say = speech_of(interaction)
    channel = channel_for_threads(interaction.channel)
    if channel is None or (private and channel.is_news()):
        raise Refusal(say(NO_PRIVATE_THREADS_HERE if channel else NO_THREADS_HERE))
    needed = FOR_A_PRIVATE_THREAD if private else FOR_A_PUBLIC_THREAD
    if lacking := missing(granted_to(channel.guild.me, channel), needed):
        raise Refusal(bot_lacks(lacking, say, channel.guild.me))
    own = FOR_A_PRIVATE_THREAD_OF_ONES_OWN if private else FOR_A_PUBLIC_THREAD_OF_ONES_OWN
    person = interaction.user
    granted = granted_to(person, channel) if isinstance(person, discord.Member) else discord.Permissions.none()
    if lacking := missing(granted, own):
        raise Refusal(
            say(
                "I only open threads where you're allowed to open them. You need: {permissions}.",
                permissions=permission_names(lacking, say),
            )
        )
    return channel


def is_seen_by_more(interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
    """Whether a new thread here would show a conversation to people who could not see it before."""
    server = server_of(interaction)
    assert server is not None, "in direct messages a conversation is seen by one person"
    here = home_of(interaction, private=conversation.private)
    before = server.get_channel(int(conversation.channel_id or 0))
    return before != here and sees_fewer(before, here, needed=_to_see(conversation))


def _to_see(conversation: Conversation) -> tuple[str, ...]:
    """The permissions with which somebody who is not in a conversation's thread sees it."""
    return ("view_channel", "manage_threads") if conversation.private else ("view_channel",)


def is_in_private_thread(interaction: discord.Interaction[Any]) -> bool:
    return isinstance(interaction.channel, discord.Thread) and interaction.channel.is_private()


def would_show_more(interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
    """Whether a conversation's thread would show what was said here to people who can't see it here."""
    server, place = server_of(interaction), interaction.channel
    if server is None:
        return False
    if is_in_private_thread(interaction) and not conversation.private:
        return True
    here = place.parent if isinstance(place, discord.Thread) else place
    there = server.get_channel(int(conversation.channel_id or 0))
    if there is None or there == here:
        return False
    return not isinstance(here, discord.abc.GuildChannel) or sees_fewer(here, there, needed=_to_see(conversation))


def assert_can_post(interaction: discord.Interaction[Any]) -> None:
    """Refuse a conversation where only the person has installed the bot: there it can do no more than reply.

    Raises:
        Refusal: it is such a place.
    """
    if is_guest(interaction) and interaction.client.user is not None:
        raise Refusal(
            speech_of(interaction)(
                "I can't hold a conversation here, because I'm not installed here. Use /chat in a direct "
                "message to me: {me}.",
                me=interaction.client.user.mention,
            )
        )


@contextlib.asynccontextmanager
async def announced(
    interaction: discord.Interaction[Any], book: Book, *, wanted: bool
) -> AsyncIterator[discord.Message | None]:
    """Reply with a message that says who reads what, from which a thread can start; it is deleted if no thread starts.

    None if it is not `wanted` or Discord does not allow it; the thread then starts without it.
    """
    announcement = await announce(interaction, book) if wanted else None
    try:
        yield announcement
    except BaseException:
        if announcement:
            with contextlib.suppress(*DISCORD_ERRORS):
                await interaction.delete_original_response()
        raise


async def announce(interaction: discord.Interaction[Any], book: Book) -> discord.Message | None:
    """Reply with a message that says who reads what; None if Discord does not allow it."""
    say = speech_for_all(interaction)
    text = say("{reader} is reading this book here.", reader=interaction.user.mention)
    embed = discord.Embed(title=clipped(plain(book_title(book, say)), TITLE_LENGTH), description=text)
    try:
        return await edit_reply(interaction, content=None, embed=embed)
    except DISCORD_ERRORS as error:
        logger.warning("a reply could not be given, its thread is opened without it: %s", error)
        return None


async def open_private_thread(channel: discord.TextChannel, name: str, reader: discord.abc.User) -> discord.Thread:
    """A thread for one reader, and for people added by its moderators."""
    thread = await create_thread(channel, name, discord.ChannelType.private_thread)
    try:
        await retry_transient(partial(thread.add_user, reader))
    except DISCORD_ERRORS:
        with contextlib.suppress(*DISCORD_ERRORS):
            await thread.edit(archived=True)
        raise
    return thread


async def open_public_thread(
    channel: discord.TextChannel, name: str, message: discord.Message | None = None
) -> discord.Thread:
    """A thread for everybody, started from a message if there is one."""
    if message is not None:
        return await _open_from(message, name)
    return await create_thread(channel, name, public_kind(channel))


async def create_thread(
    channel: discord.TextChannel, name: str, kind: ThreadKind, *, found_again: bool = False
) -> discord.Thread:
    """A new thread. If the response to an attempt is lost, the thread that it may have created is archived, unless
    `found_again`.
    """
    began = discord.utils.utcnow()
    try:
        made = await channel.create_thread(name=name, type=kind, invitable=False, auto_archive_duration=A_WEEK)
    except PASSING_SOON:
        if not found_again:
            await _archive_lost(channel, name)
        raise
    if discord.utils.utcnow() - began >= LIBRARY_REPEATS_AFTER:
        await _archive_lost(channel, name, but=made.id)
    return made


async def _archive_lost(channel: discord.TextChannel, name: str, but: int = 0) -> None:
    """Archive empty threads of this name that were just made here, as far as Discord allows. A message opens them."""
    since = discord.utils.time_snowflake(discord.utils.utcnow() - LOST_LATELY)
    with contextlib.suppress(*DISCORD_ERRORS):
        for each in await channel.guild.active_threads():
            is_ours = (each.owner_id, each.parent_id, each.name) == (channel.guild.me.id, channel.id, name)
            if is_ours and each.id > since and not each.message_count and each.id != but:
                await each.edit(archived=True)


def public_kind(channel: discord.TextChannel) -> ThreadKind:
    """The type of threads that everybody sees; announcement channels have their own, and refuse others."""
    return discord.ChannelType.news_thread if channel.is_news() else discord.ChannelType.public_thread


async def _open_from(message: discord.Message, name: str) -> discord.Thread:
    try:
        return await retry_transient(partial(message.create_thread, name=name, auto_archive_duration=A_WEEK))
    except discord.HTTPException as error:
        if error.code != DiscordCode.THREAD_EXISTS or message.guild is None:
            raise
    # Opened by an attempt whose response was lost.
    opened = await retry_transient(partial(message.guild.fetch_channel, message.id))
    assert isinstance(opened, discord.Thread)
    return opened


async def cards_in(place: discord.abc.Messageable, own_id: int, after: datetime | None = None) -> list[discord.Message]:
    """The messages with embeds that the bot has posted at the beginning of a thread, or in some place after a moment;
    none if it may not look.
    """
    try:
        beginning = [message async for message in place.history(limit=CARDS_AMONG, after=after, oldest_first=True)]
    except discord.Forbidden:
        return []
    return [each for each in beginning if each.author.id == own_id and each.embeds]


async def thread_of(guild: discord.Guild | None, conversation: Conversation) -> discord.Thread | None:
    """The thread of a conversation, archived or not; None if it is gone or out of the bot's reach.

    Conversations in direct messages, without a `guild`, have none.
    """
    if guild is None or conversation.thread_id is None:
        return None
    thread_id = int(conversation.thread_id)
    if thread := guild.get_thread(thread_id):
        return thread
    try:
        channel = await retry_transient(partial(guild.fetch_channel, thread_id))
    except (discord.NotFound, discord.Forbidden):
        return None
    return channel if isinstance(channel, discord.Thread) else None


async def wake(thread: discord.Thread, reader: discord.abc.User, say: Speech) -> None:
    """Reopen an archived thread, and let the reader find it.

    Raises:
        Refusal: it is locked, and neither the reader nor the bot may manage threads.
    """
    locked = say("{thread} is locked. Somebody who manages threads can unlock it.", thread=thread.mention)
    if thread.locked and not _manages(thread, reader):
        raise Refusal(locked)
    try:
        if thread.archived:
            await retry_transient(partial(thread.edit, archived=False))
    except discord.Forbidden as error:
        raise Refusal(locked) from error
    if thread.is_private():
        await retry_transient(partial(thread.add_user, reader))


def _manages(thread: discord.Thread, reader: discord.abc.User) -> bool:
    if thread.parent is None or not isinstance(reader, discord.Member):
        return False
    return thread.parent.permissions_for(reader).manage_threads


async def show_in_list_of(thread: discord.Thread, reader: discord.abc.User) -> None:
    """Make a thread appear in the reader's list, in a place where no reply can link to it."""
    try:
        await retry_transient(partial(thread.add_user, reader))
    except DISCORD_ERRORS as error:
        logger.info("a reader was not led to thread %s: %s", thread.id, error)


async def rename_thread(thread: discord.Thread, name: str, say: Speech) -> str:
    """Rename a thread; returns what to say if Discord refuses, else an empty string.

    Discord allows two renames in ten minutes; the client gives up rather than wait that long.
    """
    if thread.name == name:
        return ""
    try:
        await retry_transient(partial(thread.edit, name=name, archived=False))
    except discord.RateLimited as error:
        minutes = max(1, round(error.retry_after / 60))
        return say(
            "Discord allows two renames of a thread in ten minutes, so the thread keeps its name for now; "
            "use this again in about {minutes} min.",
            minutes=minutes,
        )
    except discord.Forbidden:
        return say(
            "I may not rename the thread itself: I would need {permissions}.",
            permissions=permission_names(_lacking(thread, "view_channel"), say),
        )
    except discord.NotFound:  # nothing is left to change
        pass
    return ""


def _lacking(thread: discord.Thread, *needed: str) -> list[str]:
    """What the bot lacks where Discord does not let it change one of its threads; if nothing does, it is no longer its
    own.
    """
    granted = granted_to(thread.guild.me, thread.parent) if thread.parent else discord.Permissions.none()
    return missing(granted, needed) or ["manage_threads"]


async def take_over_name(
    messages: Iterable[discord.Message], conversation: Conversation, manage: ManageConversations
) -> None:
    """Give a conversation the name of its thread, if the last of Discord's messages about it says that somebody else
    than the bot has changed it.

    Raises:
        ConversationError: NOT_FOUND, the conversation is gone.
        StorageError: the title could not be stored.
        DISCORD_ERRORS: the name could not be found out.
    """
    renames = [message for message in messages if message.type is discord.MessageType.channel_name_change]
    if not renames or (guild := renames[-1].guild) is None or renames[-1].author == guild.me:
        return
    name = renames[-1].content
    if not name:  # without the Message Content intent
        name = (await retry_transient(partial(guild.fetch_channel, renames[-1].channel.id))).name
    if one_line(name) != thread_name(conversation):
        await manage.rename_with_thread(conversation.id, one_line(name), renames[-1].created_at)


async def dismiss_absent(
    thread: discord.Thread, conversation: Conversation, use_cases: UseCases, asking: Collection[str] = ()
) -> None:
    """Stop counting people who still limit what is told in a thread although they have left it or the server.

    Discord is asked about those who are furthest behind, except those who are `asking` there now; if all of them have
    gone, about the next. If Discord does not answer in time, a person still counts.
    """
    company, free = use_cases.company, asyncio.Semaphore(ASKED_AT_A_TIME)

    async def is_dismissed(person: str) -> bool:
        async with free:
            has_gone = await _has_gone(thread, int(person), is_owner=person == conversation.owner_id)
        if has_gone:
            await company.dismiss(conversation.id, person)
        return has_gone

    with contextlib.suppress(TimeoutError, BookError):  # the turn tells that the book is gone
        async with asyncio.timeout(LOOKING_TAKES_S):
            people = {*await company.of(conversation.id)}
            if len(people) < SOME_COMPANY:
                return
            book = await use_cases.shelf.get(conversation.book_id)
            while len(people) >= SOME_COMPANY:
                _, last = await use_cases.positions.lowest_of(people, book)
                asked = [each for each in last if each not in asking and each.isdecimal()][:LOOKED_AT]
                gone = {*compress(asked, await asyncio.gather(*map(is_dismissed, asked)))}
                if not gone or gone < {*last}:
                    return
                people -= gone


async def _has_gone(thread: discord.Thread, person: int, *, is_owner: bool) -> bool:
    """Whether somebody is known to be gone. Authors of messages are in the thread; the opener of a public one need not
    be.
    """
    if is_owner and not thread.is_private():
        return await has_left(thread.guild, str(person))
    try:
        await thread.fetch_member(person)
    except discord.NotFound:
        return True
    except DISCORD_ERRORS as error:
        logger.info("who is in thread %s could not be found out: %s", thread.id, error)
    return False


async def has_left(server: discord.Guild, person: str) -> bool:
    """Whether somebody is known to have left a server, or never to have been there."""
    if not person.isdecimal():
        return True
    try:
        await server.fetch_member(int(person))
    except discord.NotFound:
        return True
    except DISCORD_ERRORS as error:
        logger.info("whether somebody is still on server %s could not be found out: %s", server.id, error)
    return False


async def others_wrote_in(thread: discord.Thread, reader_id: str) -> bool:
    """Whether anybody except this person has written in a thread."""
    async for message in thread.history(limit=None):
        is_said = message.type in (discord.MessageType.default, discord.MessageType.reply)
        if is_said and not message.author.bot and str(message.author.id) != reader_id:
            return True
    return False


async def delete_thread(thread: discord.Thread, say: Speech) -> str:
    """Delete a thread; returns what to say if Discord refuses, else an empty string."""
    try:
        await retry_transient(thread.delete)
    except discord.Forbidden:
        return say(
            "I may not delete the thread {thread} itself: I would need {permissions}. Somebody with the permission "
            "“Manage Threads” can delete it.",
            thread=thread.mention,
            permissions=permission_names(_lacking(thread, "view_channel", "manage_threads"), say),
        )
    except discord.NotFound:  # nothing is left to change
        pass
    return ""


PlaceToTalk: TypeAlias = discord.Thread | discord.PartialMessageable
"""A thread, or the channel of direct messages, which has no name."""


class TitleUpdates:
    """Gives conversations titles in the background; a title that a person chose is never replaced."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._tasks: dict[asyncio.Task[None], str] = {}

    def consider(self, conversation: Conversation, thread: PlaceToTalk, turn_id: str, say: Speech) -> None:
        """Name the conversation if this turn was its first about the book and nobody has named it. Returns at once."""
        if conversation.title_source is not TitleSource.AUTOMATIC:
            return
        task = asyncio.create_task(self._name(conversation, thread, turn_id, say), name=f"title of {conversation.id}")
        self._tasks[task] = conversation.id
        task.add_done_callback(self._tasks.pop)

    def leave_off(self, conversation_ids: Collection[str]) -> None:
        """Don't name these conversations after anything said before now."""
        for task, conversation_id in self._tasks.items():
            if conversation_id in conversation_ids:
                task.cancel()

    async def idle(self) -> None:
        """Return when no title is being made."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _name(self, conversation: Conversation, thread: PlaceToTalk, turn_id: str, say: Speech) -> None:
        try:
            turns = await self._use_cases.transcripts.turns(conversation.id)
            is_first = [turn.id for turn in turns if turn.has_answer] == [turn_id]
            if await self._find_title(conversation.id, turn_id, is_first=is_first) or is_first:
                await self._rename(conversation.id, thread, say)
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.info("conversation %s keeps its title: %s", conversation.id, error)

    async def _find_title(self, conversation_id: str, turn_id: str, *, is_first: bool) -> bool:
        """Have the model name the conversation if the turn is its first one, or the first that is no small talk."""
        titles = self._use_cases.titles
        stored = await self._use_cases.transcripts.turn(turn_id) if titles is not None else None
        if titles is None or stored is None or not (is_first or stored.names_its_conversation):
            return False
        if not stored.questions:  # deleted meanwhile
            return False
        question = stored.questions[-1]
        title = await titles(stored.conversation, question, stored.answer.text)
        if title:
            await self._use_cases.conversations.title_by_model(conversation_id, title, question)
        return bool(title)

    async def _rename(self, conversation_id: str, thread: PlaceToTalk, say: Speech) -> None:
        if not isinstance(thread, discord.Thread):
            return
        current = await self._use_cases.conversations.get(conversation_id)
        if current.title_source is not TitleSource.PERSON and current.title != UNTITLED:
            await rename_thread(thread, thread_name(current), say)

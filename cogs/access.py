"""Which books and conversations a person may see and change, and the choices offered while they type."""

import asyncio
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import discord
from discord import app_commands

from cogs.cards import names_of, names_of_conversations, question_line
from cogs.errors import Refusal, bot_lacks
from cogs.i18n import Speech, later, speech_of
from cogs.permissions import (
    FOR_A_PRIVATE_THREAD_OF_ONES_OWN,
    FOR_A_PUBLIC_THREAD_OF_ONES_OWN,
    FOR_ANSWERS,
    FOR_READING,
    granted_in,
    granted_to,
    has_private_threads,
    lacking_to_post,
    manages_shelf,
    may_restore_book,
    missing,
    permission_names,
)
from cogs.services import Memberships, bot_of, server_of, shelf_of, use_cases_of
from domain.book import Book, Chapter
from domain.conversation import Conversation
from domain.errors import BookError, BookErrorCode
from domain.library.addressing import is_counted, without_titles
from domain.library.progress import title_is_read
from domain.library.search.words import fold
from domain.records import LimitedAction
from domain.use_cases import UseCases

MEMBERSHIPS_ASKED = 50
"""Private threads whose members Discord is asked about for one list, newest first; each costs a request."""
AT_A_TIME = 5
GLANCED_AT = 10
A_GLANCE_S = 0.1
"""The time for the same in autocomplete, which runs at every pause in typing; later results serve the next one."""

MOST_CHOICES = 25
LONGEST_NAME = 100
CONVERSATIONS_LOOKED_AT = (2 * MOST_CHOICES, 200)
"""The newest that match; more only if the person cannot see enough of the first ones to fill the list."""

EMPTY_SHELF = later("The shelf is empty. Find a free book with /books find, or add your own with /books add.")
_NUMBERED = re.compile(r"(?:\w+\s)?(\d+)(?:[.:)]\s*|$)")
"""A title that begins with a chapter's number, which is the group."""


class Visibility:
    """What one person can see of the conversations on a shelf; `guild` is None if the shelf is their own.

    A private thread is visible to its members, to those who manage threads, and to the conversation's owner, who may
    have left it and returns by /chat. If a thread is gone, a public conversation is visible to everybody who sees its
    channel, and a private one to its owner. On a person's own shelf everything is theirs.
    """

    def __init__(
        self, shelf: str, guild: discord.Guild | None, member: discord.abc.User, memberships: Memberships
    ) -> None:
        self._shelf = shelf
        self._memberships = memberships
        self._guild = guild
        self._member = member
        self._granted: dict[int, discord.Permissions] = {}
        """By channel; this object serves one interaction, within which they are taken not to change."""

    async def sees(self, conversation: Conversation) -> bool:
        """Whether they can see it. Discord is asked for the members of a private thread."""
        known = self._known(conversation)
        return await self._is_in_thread(conversation) if known is None else known

    async def of(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """The conversations among these that they can see, in the same order.

        Discord is asked about the members of at most MEMBERSHIPS_ASKED private threads; the others count as invisible.
        """
        known = {each.id: self._known(each) for each in conversations}
        unknown = [each for each in conversations if known[each.id] is None]
        free = asyncio.Semaphore(AT_A_TIME)

        async def ask(conversation: Conversation) -> None:
            async with free:
                known[conversation.id] = await self._is_in_thread(conversation)

        await asyncio.gather(*map(ask, unknown[:MEMBERSHIPS_ASKED]))
        return [each for each in conversations if known[each.id]]

    async def at_a_glance(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """As `of`, fast enough for autocomplete; only the first that fill the list."""
        known: dict[str, bool | None] = {}
        seen = 0
        for each in conversations:
            known[each.id] = self._known(each)
            seen += bool(known[each.id])
            if seen == MOST_CHOICES:
                break
        unknown = [each for each in conversations if each.id in known and known[each.id] is None][:GLANCED_AT]
        ask, member_id = self._memberships.ask, self._member.id
        asked = {each.id: ask(each.thread_id or "", member_id, partial(self._is_in_thread, each)) for each in unknown}
        asking = {key: task for key, task in asked.items() if task is not None}
        if asking:
            await asyncio.wait(asking.values(), timeout=A_GLANCE_S)
        known |= {key: task.result() for key, task in asking.items() if task.done() and not task.exception()}
        return [each for each in conversations if known.get(each.id)]

    def _known(self, conversation: Conversation) -> bool | None:
        """What is known without asking Discord; None if only Discord knows."""
        if conversation.guild_id != self._shelf:
            return False
        if self._guild is None:
            return True
        channel = self._guild.get_channel(int(conversation.channel_id or 0))
        if channel is None or not isinstance(self._member, discord.Member):
            return self._is_own(conversation)
        if channel.id not in self._granted:
            self._granted[channel.id] = channel.permissions_for(self._member)
        granted = self._granted[channel.id]
        if not conversation.private or granted.manage_threads:
            return granted.view_channel
        if conversation.thread_id is None or self._is_own(conversation):
            return self._is_own(conversation) and granted.view_channel
        return None if granted.view_channel else False

    def _is_own(self, conversation: Conversation) -> bool:
        return conversation.owner_id == str(self._member.id)

    async def _is_in_thread(self, conversation: Conversation) -> bool:
        if self._guild is None:
            return False
        thread_id = int(conversation.thread_id or 0)
        thread = self._guild.get_thread(thread_id) or await _fetch_thread(self._guild, thread_id)
        if thread is None:
            return False
        try:
            await thread.fetch_member(self._member.id)
        except (discord.HTTPException, discord.RateLimited):
            return False
        return True


async def _fetch_thread(guild: discord.Guild, thread_id: int) -> discord.Thread | None:
    """Fetch a thread that may be archived and therefore not in the cache. None: it is gone, or hidden from the bot."""
    try:
        channel = await guild.fetch_channel(thread_id)
    except (discord.HTTPException, discord.RateLimited):
        return None
    return channel if isinstance(channel, discord.Thread) else None


def visibility_of(interaction: discord.Interaction[Any]) -> Visibility:
    memberships = bot_of(interaction).memberships
    return Visibility(shelf_of(interaction), server_of(interaction), interaction.user, memberships)


async def bound_conversation(interaction: discord.Interaction[Any]) -> Conversation | None:
    """The conversation of the thread the person is in."""
    found = await use_cases_of(interaction).conversations.in_thread(str(interaction.channel_id))
    return found if found and found.guild_id == shelf_of(interaction) else None


async def resolve_book(interaction: discord.Interaction[Any], reference: str | None) -> Book:
    """The book that is named, or that of the thread, or the only one on the shelf.

    Raises:
        BookError: NOT_FOUND.
        Refusal: there is no book, or it is not clear which one is meant.
    """
    shelf, say = use_cases_of(interaction).shelf, speech_of(interaction)
    if reference is not None:
        try:
            return await shelf.find(reference, shelf=shelf_of(interaction))
        except BookError as error:
            if error.code is BookErrorCode.AMBIGUOUS:
                raise Refusal(say("Several books fit that. Please choose one from the list as you type.")) from None
            if await shelf.list(shelf_of(interaction)):
                raise
            raise Refusal(say(EMPTY_SHELF)) from None
    if conversation := await bound_conversation(interaction):
        return await shelf.get(conversation.book_id, shelf=shelf_of(interaction))
    books = await shelf.list(shelf_of(interaction))
    if len(books) == 1:
        return books[0]
    if not books:
        raise Refusal(say(EMPTY_SHELF))
    if isinstance(interaction.command, app_commands.Command) and interaction.command.get_parameter("book") is None:
        raise Refusal(say("Which book? Use this in a conversation's thread, or in the channel of a club."))
    raise Refusal(say("Which book? Choose one with the `book` option, or use this in a conversation's thread."))


async def restorable_books(interaction: discord.Interaction[Any]) -> Sequence[Book]:
    """The removed books that the person may restore; empty for people who may not."""
    removed = await use_cases_of(interaction).shelf.removed(shelf_of(interaction))
    return [book for book in removed if may_restore_book(interaction, book)]


async def resolve_conversation(interaction: discord.Interaction[Any], reference: str | None) -> Conversation:
    """The conversation named by its id or title; else that of the thread.

    Raises:
        Refusal: the person can see none with that name, or none is named.
    """
    say = speech_of(interaction)
    if reference is None:
        if conversation := await bound_conversation(interaction):
            return conversation
        raise Refusal(say("Which one? Choose it with the `conversation` option, or use this in its thread."))
    conversations, shelf = use_cases_of(interaction).conversations, shelf_of(interaction)
    chosen, wanted = await conversations.find(reference), fold(" ".join(reference.split()))
    named = [chosen] if chosen is not None and chosen.guild_id == shelf else None
    fitting = await visibility_of(interaction).of(
        named or [each for each in await conversations.in_guild(shelf) if fold(each.title) == wanted]
    )
    if len(fitting) > 1:
        raise Refusal(say("Several conversations have that title. Please choose one from the list as you type."))
    if not fitting:
        raise Refusal(say("There's no such conversation. /conversations list shows yours."))
    return fitting[0]


async def within_reach(interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
    """Whether the person may see what a button shows or does: it is in their thread, or in one they can see."""
    if conversation.guild_id != shelf_of(interaction):
        return False
    return conversation.thread_id == str(interaction.channel_id) or await visibility_of(interaction).sees(conversation)


def assert_may_post(interaction: discord.Interaction[Any]) -> None:
    """Refuse to post for a person who may not write here.

    Raises:
        Refusal: they may not.
    """
    _refuse_lacking(lacking_to_post(interaction), _TO_WRITE, interaction)


def assert_may_do(interaction: discord.Interaction[Any], *needed: str) -> None:
    """Refuse to do something for a person who may not do it here themselves.

    Raises:
        Refusal: they may not.
    """
    _refuse_lacking(missing(interaction.permissions, needed), _TO_DO, interaction)


def channel_to_post_in(
    interaction: discord.Interaction[Any], needed: Iterable[str], *, opens_threads: bool = False
) -> discord.TextChannel:
    """The channel to post in; with `opens_threads`, one that can have threads: private ones, if the bot may open those.

    Raises:
        Refusal: it is not that kind of channel, or the bot lacks a `needed` permission, or the person may not do
        it there.
    """
    channel, say = interaction.channel, speech_of(interaction)
    if not isinstance(channel, discord.TextChannel):
        raise Refusal(say("Please use this in a text channel: that's where the club's threads will be."))
    if lacking := missing(granted_to(channel.guild.me, channel), needed):
        raise Refusal(bot_lacks(lacking, say, channel.guild.me))
    assert_may_post(interaction)
    if opens_threads:
        own = FOR_A_PRIVATE_THREAD_OF_ONES_OWN if has_private_threads(channel) else FOR_A_PUBLIC_THREAD_OF_ONES_OWN
        _refuse_lacking(missing(interaction.permissions, own), _TO_WRITE, interaction)
    return channel


def assert_pingable(interaction: discord.Interaction[Any], role: discord.Role | None) -> str | None:
    """The id of a role that reminders will notify; the person must be allowed to notify it themselves.

    Raises:
        Refusal: they may not.
    """
    if role is not None and (role.is_default() or not (role.mentionable or interaction.permissions.mention_everyone)):
        raise Refusal(
            speech_of(interaction)(
                "You can't notify {role} yourself, so I won't do it for you. Choose a role that anybody may mention.",
                role=role.mention,
            )
        )
    return None if role is None else str(role.id)


def notifies(role: discord.Role, channel: discord.TextChannel) -> bool:
    """Whether the role's members are notified when the bot mentions it in this channel."""
    return role.mentionable or granted_to(channel.guild.me, channel).mention_everyone


def assert_may_write_in(interaction: discord.Interaction[Any], conversation: Conversation) -> None:
    """Refuse a person who may not write in the threads of the conversation's own channel, wherever they are now.

    Raises:
        Refusal: they may not.
    """
    server = server_of(interaction)
    if server is not None:
        granted = granted_in(server, conversation, interaction.user)
        _refuse_lacking(missing(granted, FOR_ANSWERS), _TO_WRITE, interaction)


def assert_may_read_back(interaction: discord.Interaction[Any], conversation: Conversation) -> None:
    """Refuse a person who may not read the history of the conversation's channel, unless the conversation is their own.

    Raises:
        Refusal: they may not.
    """
    server = server_of(interaction)
    if server is not None and conversation.owner_id != str(interaction.user.id):
        granted = granted_in(server, conversation, interaction.user)
        _refuse_lacking(missing(granted, FOR_READING), _TO_READ, interaction)


_TO_WRITE = later("I only write where you're allowed to write. You need: {permissions}.")
_TO_DO = later("I only do for you what you may do here yourself. You need: {permissions}.")
_TO_READ = later("You need: {permissions}.")


def _refuse_lacking(lacking: Sequence[str], sentence: str, interaction: discord.Interaction[Any]) -> None:
    if lacking:
        say = speech_of(interaction)
        raise Refusal(say(sentence, permissions=permission_names(lacking, say)))


async def reach_of(interaction: discord.Interaction[Any], conversation: Conversation) -> int:
    """How far into a conversation's book the person may look, as an offset."""
    use_cases = use_cases_of(interaction)
    book = await use_cases.shelf.get(conversation.book_id, shelf=shelf_of(interaction))
    return await use_cases.positions.lowest([str(interaction.user.id)], book)


async def assert_may_add(interaction: discord.Interaction[Any], use_cases: UseCases) -> None:
    """Check that a person may add a book, and count the attempt.

    Raises:
        Refusal: the server's managers do not allow it, or the person has reached their limit.
    """
    await _assert_adder(interaction, use_cases)
    if wait := await use_cases.allowances.take(str(interaction.user.id), LimitedAction.ADD_BOOK):
        raise Refusal(
            speech_of(interaction).counted(
                use_cases.facts.limits.adds_per_hour,
                "You've added {number} book within an hour, or tried to, which is the limit for one person. You can "
                "add the next one {when}. The bot's operator sets this limit.",
                "You've added {number} books within an hour, or tried to, which is the limit for one person. You can "
                "add the next one {when}. The bot's operator sets this limit.",
                when=discord.utils.format_dt(discord.utils.utcnow() + wait, "R"),
            )
        )


async def _assert_adder(interaction: discord.Interaction[Any], use_cases: UseCases) -> None:
    """Refuse a person who is not among those who may add books to this server's shelf.

    Raises:
        Refusal: they may not.
    """
    server, member = server_of(interaction), interaction.user
    role = (await use_cases.servers.settings(str(server.id))).adder_role if server else ""
    if server is None or not role or manages_shelf(interaction):
        return
    if isinstance(member, discord.Member) and member.get_role(int(role)):
        return
    if server.get_role(int(role)) is None:
        rule = later(
            "The role that may add books here is gone. Somebody with the permission “Manage Server” can choose another "
            "with /settings adders."
        )
    else:
        rule = later(
            "Only people with the role {role} may add books here. Somebody with the permission “Manage Server” can "
            "change that with /settings adders."
        )
    raise Refusal(speech_of(interaction)(rule, role=f"<@&{role}>"))


async def first_questions(interaction: discord.Interaction[Any], book: Book, say: Speech) -> list[str]:
    """Questions to begin with, about the opening of a book, as far as the person has read it."""
    use_cases = use_cases_of(interaction)
    position = await use_cases.positions.get(str(interaction.user.id), book)
    questions = await use_cases.reading.first_questions(book, position.bound(book.length))
    return [question_line(each, say) for each in questions]


async def visible_conversations(interaction: discord.Interaction[Any], book_id: str | None) -> Sequence[Conversation]:
    """All conversations that the person can see, newest first; only those about one book if it is given."""
    known = await use_cases_of(interaction).conversations.in_guild(shelf_of(interaction))
    return await visibility_of(interaction).of([each for each in known if book_id in (None, each.book_id)])


Value = TypeVar("Value", str, int)
Choices = list[app_commands.Choice[str]]


async def books(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Books of the server, by title or author."""
    return _book_choices(interaction, typed, await use_cases_of(interaction).shelf.glance(shelf_of(interaction)))


async def removed_books(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Books that the person can restore."""
    return _book_choices(interaction, typed, await restorable_books(interaction))


def _book_choices(interaction: discord.Interaction[Any], typed: str, shown: Sequence[Book]) -> Choices:
    return matching(typed, zip(names_of(shown, speech_of(interaction)), (each.id for each in shown), strict=True))


async def conversations(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Conversations of the server that the person can see, only those on the book chosen before, if any."""
    use_cases, book_id = use_cases_of(interaction), getattr(interaction.namespace, "book", None)
    titles = {each.id: each.title for each in await use_cases.shelf.glance(shelf_of(interaction))}
    if book_id and book_id not in titles:  # a title that was typed and not chosen
        with suppress(BookError, Refusal):
            book_id = (await resolve_book(interaction, book_id)).id
    seen: Sequence[Conversation] = ()
    for limit in CONVERSATIONS_LOOKED_AT:
        known = await use_cases.conversations.find_in_guild(
            shelf_of(interaction), typed.split(), limit, book_id or None
        )
        seen = await visibility_of(interaction).at_a_glance(known)
        if len(seen) == MOST_CHOICES or len(known) < limit:
            break
    shown = seen[:MOST_CHOICES]
    names = names_of_conversations(shown, titles, LONGEST_NAME, speech_of(interaction))
    return [app_commands.Choice(name=name, value=each.id) for name, each in zip(names, shown, strict=True)]


async def chapters(interaction: discord.Interaction[Any], typed: str) -> Choices:
    """Chapters of the book; a reader with a position sees unread ones by number alone."""
    use_cases = use_cases_of(interaction)
    try:
        book = await resolve_book(interaction, getattr(interaction.namespace, "book", None) or None)
        file = await use_cases.shelf.open(book)
    except (BookError, Refusal):
        return []
    position = await use_cases.positions.get(str(interaction.user.id), book)
    return await chapter_choices(await file.chapters(), position.bound(book.length), typed, speech_of(interaction))


async def chapter_choices(
    found: Sequence[Chapter], bound: int, typed: str, say: Speech, *, reached: bool = False
) -> Choices:
    """Chapters by their numbers, and by their titles where these stand before `bound`; with `reached`, only those.

    They are compared in a thread, because some books have thousands.
    """
    counted = is_counted(found)
    offered = (each for each in found if not reached or title_is_read(each, bound))
    names = ((chapter_name(each, bound, say, counted=counted), f"#{each.number}") for each in offered)
    return await asyncio.to_thread(matching, typed, names)


def chapter_name(chapter: Chapter, bound: int, say: Speech, *, counted: bool = True) -> str:
    """A chapter's number, and its title if that is before `bound`; a number within the title is not repeated.

    If the book prints numbers (not `counted`), those are shown instead of positions.
    """
    if not counted:
        if title_is_read(chapter, bound):
            return f"{chapter.title} ({chapter.parent})" if chapter.parent else chapter.title
        if chapter.printed and without_titles(chapter.title) == chapter.title != chapter.printed:
            return chapter.title  # "Sechstes Kapitel": it says no more than the number, and in the book's language
        return say("Chapter {number}", number=chapter.printed) if chapter.printed else "…"
    number = say("Chapter {number}", number=chapter.number)
    own = _NUMBERED.match(chapter.title)
    title = chapter.title[own.end() :] if own and own[1] == str(chapter.number) else chapter.title
    return f"{number}: {title}" if title and title_is_read(chapter, bound) else number


def matching(typed: str, named: Iterable[tuple[str, Value]]) -> list[app_commands.Choice[Value]]:
    """Choices from (name, value) pairs whose names match what was typed."""
    words = fold(typed).split()
    fitting = ((name, value) for name, value in named if fits(words, name))
    return [app_commands.Choice(name=name[:LONGEST_NAME], value=value) for name, value in islice(fitting, MOST_CHOICES)]


def fits(words: Iterable[str], name: str) -> bool:
    """Whether every word that was typed, folded, occurs in the name."""
    folded = fold(name)
    return all(word in folded for word in words)

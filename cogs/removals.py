"""Records which people the bot's messages show, and removes from Discord what is on the list of removals in storage."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import starmap
from typing import Any
from weakref import WeakValueDictionary

import discord

from cogs.errors import DISCORD_ERRORS, TRANSIENT_ERRORS, DiscordCode, log_failures, retry_transient
from cogs.i18n import ENGLISH, Speech, speech_in
from cogs.rendering.inline import as_compared, inert
from cogs.services import ServingBot
from cogs.threads import NAME_LENGTH, others_wrote_in
from domain.chat import ChatMessage
from domain.errors import MarginaliaError
from domain.records import PersonalPost, PostingPlace, Removal, RemovalKind
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

LOOK_AGAIN_S = 300.0
"""How often the list is processed without a trigger: answers expire, and requests to Discord failed."""

NOTE_AGAIN_S = 5.0
"""How often notes are tried again while the database is away."""

WAS_KNOWN = timedelta(seconds=5)
"""How long before a message was posted the people it shows may have been looked up."""

REMEMBERED = 1_000
"""How many posts and places are remembered as recorded: Discord reports an answer with every edit."""

NOTED_FOR = timedelta(minutes=10)
"""How long the record of a place covers everything that is posted there."""

LOST_WITHIN = timedelta(minutes=5)
"""How long a post may be under way before it is recorded, and how much Discord's clock may differ from ours."""

PLACES_KEPT = timedelta(hours=1)
PLACE_PATIENCE_S = 0.3
"""How long a post waits for its place to be recorded, because people wait for the post."""

LOOK_THROUGH_AFTER_S = 2.0
"""How long after a start places are looked through: questions that were missed come first."""

LOOKED_THROUGH, PLACES_LOOKED_THROUGH = 500, 200
"""The most messages of a place, from when it was recorded on, and the most places, the newest."""

_MENTION = re.compile(r"<@!?(\d+)>")


class Removals:
    """Processes the list of removals: on request, and every few minutes."""

    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._order: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._next: dict[str, Sequence[Removal]] = {}
        """By server: the removals that are carried out there next."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._unnoted: list[PersonalPost] = []

    def wake(self) -> None:
        """There may be new entries on the list. Returns at once."""
        self.begin(self._work_off)

    async def note(self, *posts: PersonalPost) -> bool:
        """Record messages of the bot that show somebody. False: the person was erased meanwhile, so they are removed
        soon.

        While the database is away the notes are kept and tried again; what they are about stays as it is until then.
        """
        try:
            may_stand = await self._use_cases.people.note_posts(posts)
        except MarginaliaError as error:
            logger.warning("whom messages %s show is noted later: %s", {each.message_id for each in posts}, error)
            if not self._unnoted:
                self.begin(self._note_later)
            self._unnoted += posts
            return True
        if not may_stand:
            self.wake()
        return may_stand

    async def _note_later(self) -> None:
        while self._unnoted:
            await asyncio.sleep(NOTE_AGAIN_S)
            await log_failures(self._note_what_waits, "whom messages show is noted later")

    async def _note_what_waits(self) -> None:
        posts = tuple(self._unnoted)
        with suppress(MarginaliaError):  # still away
            if not await self._use_cases.people.note_posts(posts):
                self.wake()
            self._unnoted = [each for each in self._unnoted if each not in posts]

    def forget(self, message_id: str) -> None:
        """Don't record a message later that has been deleted."""
        self._unnoted = [each for each in self._unnoted if each.message_id != message_id]

    def keep_looking(self) -> None:
        """Process the list every few minutes until `close`."""
        self.begin(self._look_again)

    async def close(self) -> None:
        """Leave the rest for the next start."""
        self._is_closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def begin(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run work in the background, until `close`."""
        if self._is_closed:
            return
        task = asyncio.create_task(work(), name="removals")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_AGAIN_S)
            self.wake()

    async def _work_off(self) -> None:
        await log_failures(self._take_up, "what is to be removed from Discord could not be found out")

    async def _take_up(self) -> None:
        """Start to process this shard's part of the list, independently for each server."""
        if not self._bot.shard_id:  # one shard does it for all of them
            await self._use_cases.chat.drop_expired_answers()
        mine = [each for each in await self._use_cases.people.removals() if self._bot.serves(each.guild_id or "")]
        for place, removals in _by_place(mine).items():
            is_waiting, self._next[place] = place in self._next, removals
            if not is_waiting:
                self.begin(partial(self._work_next, place))

    async def _work_next(self, place: str) -> None:
        async with self._order_in(place):
            await log_failures(partial(self._work_through, self._next.pop(place)), "what is removed stays on the list")

    async def work(self, removals: Sequence[Removal]) -> None:
        """Carry out these removals, independently for each server, so that a slow one doesn't hold up the others.

        Refusals are recorded; what fails for other reasons stays on the list.
        """
        for ended in await asyncio.gather(*starmap(self._work_in, _by_place(removals).items()), return_exceptions=True):
            if ended is not None:
                raise ended

    async def _work_in(self, place: str, removals: Sequence[Removal]) -> None:
        async with self._order_in(place):
            await self._work_through(removals)

    def _order_in(self, place: str) -> asyncio.Lock:
        return self._order.setdefault(place, asyncio.Lock())

    async def _work_through(self, removals: Sequence[Removal]) -> None:
        gone: set[str] = set()
        for removal in sorted(removals, key=lambda each: each.kind is not RemovalKind.THREAD):
            if removal.channel_id in gone or await self._is_done(removal, gone):
                await self._use_cases.people.removed(removal)

    async def _is_done(self, removal: Removal, gone: set[str]) -> bool:
        """Carry out a removal; deleted threads are added to `gone`."""
        try:
            if await retry_transient(partial(self._remove, removal)):
                gone.add(removal.channel_id)
        except discord.NotFound:
            return True
        except TRANSIENT_ERRORS as error:
            logger.info("%s is removed later: %s", removal.link, error)
            return False
        except DISCORD_ERRORS as error:
            logger.info("%s cannot be removed: %s", removal.link, error)
            await self._use_cases.people.refused(removal)
            return False
        except MarginaliaError:
            raise
        except Exception:  # the others on the list are removed all the same
            logger.exception("%s is removed later", removal.link)
            return False
        return True

    async def _remove(self, removal: Removal) -> bool:
        """Remove it; returns whether its thread is gone now.

        Raises:
            DISCORD_ERRORS: it cannot be done, or not now; NotFound, it is gone already.
        """
        if removal.kind in (RemovalKind.MESSAGE, RemovalKind.MENTION):
            await self.in_open_thread(removal.channel_id, partial(self._remove_message, removal))
            return False
        thread = await self._bot.fetch_channel(int(removal.channel_id))
        if not isinstance(thread, discord.Thread):
            return False
        if removal.kind is RemovalKind.THREAD and not await others_wrote_in(thread, removal.reader_id):
            try:
                await thread.delete()
            except discord.Forbidden:
                await _rename(thread, removal.name)  # that takes no permission where the bot has opened it
                raise
            return True
        await _rename(thread, removal.name)
        return False

    async def in_open_thread(self, channel_id: str, act: Callable[[], Awaitable[None]]) -> None:
        """Do something in a thread, reopening it if Discord requires that, and archiving it again."""
        try:
            await act()
        except discord.HTTPException as error:
            is_archived = error.code == DiscordCode.THREAD_ARCHIVED
            thread = await self._bot.fetch_channel(int(channel_id)) if is_archived else None
            if not isinstance(thread, discord.Thread):
                raise
            await thread.edit(archived=False)
            try:
                await act()
            finally:
                await thread.edit(archived=True)

    async def _remove_message(self, removal: Removal) -> None:
        message = self.message(removal.channel_id, removal.message_id)
        if removal.kind is RemovalKind.MENTION:
            shown, say = await message.fetch(), self._speech_in(removal.guild_id or "")
            if without := _without(shown, removal, say("somebody")):
                await message.edit(**without, allowed_mentions=discord.AllowedMentions.none())
                return
        await message.delete()

    def message(self, channel_id: str, message_id: str) -> discord.PartialMessage:
        """A message, without asking Discord for it."""
        return self._bot.get_partial_messageable(int(channel_id)).get_partial_message(int(message_id))

    def _speech_in(self, place: str) -> Speech:
        """The language of a server; that of direct messages is not known here."""
        guild = self._bot.get_guild(int(place)) if place.isdecimal() else None
        return speech_in(guild) if guild else ENGLISH


def _by_place(removals: Iterable[Removal]) -> dict[str, list[Removal]]:
    """Removals by their server, or by their channel of direct messages."""
    places: dict[str, list[Removal]] = {}
    for each in removals:
        places.setdefault(each.guild_id or each.channel_id, []).append(each)
    return places


async def _rename(thread: discord.Thread, name: str) -> None:
    wanted = name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1].rstrip()}…"
    if thread.name == wanted:
        return
    was_archived = thread.archived
    await thread.edit(name=wanted, archived=False)
    if was_archived:
        await thread.edit(archived=True)


def _without(message: discord.Message, removal: Removal, somebody: str) -> dict[str, Any]:
    """The parts of a message without a person's name, for editing it; empty if the message has to be deleted.

    A reply to a message or a command shows the name of its author, whatever it says. A name that is not a mention is
    removed from small print alone: elsewhere it may be a word of the book.
    """
    reader_id = removal.reader_id
    metadata = message.interaction_metadata
    answered = message.reference.resolved if message.reference else None
    if metadata is not None and str(metadata.user.id) == reader_id:
        return {}
    if isinstance(answered, discord.Message) and str(answered.author.id) == reader_id:
        return {}
    name = re.compile(rf"(?<!\w){re.escape(removal.name)}(?!\w)")  # "Ea" leaves "read" alone

    def clean(text: str) -> str:
        lines = re.sub(rf"<@!?{reader_id}>", somebody, text).split("\n")
        named = [bool(removal.name) and line.startswith("-#") for line in lines]
        pairs = zip(lines, named, strict=True)
        return "\n".join(name.sub(somebody, line) if is_named else line for line, is_named in pairs)

    embeds = [discord.Embed.from_dict(_cleaned(embed.to_dict(), clean)) for embed in message.embeds]
    return {"content": clean(message.content), "embeds": embeds}


def _cleaned(part: Any, clean: Callable[[str], str]) -> Any:
    """A JSON structure with all its texts cleaned."""
    if isinstance(part, str):
        return clean(part)
    if isinstance(part, dict):
        return {key: _cleaned(value, clean) for key, value in part.items()}
    return [_cleaned(each, clean) for each in part] if isinstance(part, list) else part


def shown_in(message: discord.Message) -> list[PersonalPost]:
    """The people that a message of the bot shows: the author of the command, the people mentioned, and the one it
    replies to.
    """
    if message.flags.ephemeral:
        return []
    guild_id = str(message.guild.id) if message.guild else None
    post = PersonalPost(str(message.id), str(message.channel.id), "", guild_id)
    if message.type in (discord.MessageType.thread_created, discord.MessageType.channel_name_change):
        reference = message.reference.channel_id if message.reference else message.channel.id
        name = message.content if message.type is discord.MessageType.channel_name_change else ""
        return [replace(post, thread_id=str(reference), name=name)]
    people = _people_in(message)
    people.pop(message.author.id, None)
    return [replace(post, reader_id=str(person), as_of=people[person]) for person in sorted(people)]


def _people_in(message: discord.Message) -> dict[int, datetime]:
    """The people a message shows, each with the time by which that was known: when they did what it answers, or shortly
    before it was posted.
    """
    as_it_stands = (message.edited_at or message.created_at) - WAS_KNOWN
    texts = _texts(message.content, [each.to_dict() for each in message.embeds], message.components)
    people = {int(person): as_it_stands for text in texts for person in _MENTION.findall(text)}
    answered = message.reference.resolved if message.reference else None
    if isinstance(answered, discord.Message) and not answered.author.bot:
        people[answered.author.id] = answered.created_at
    if (used := message.interaction_metadata) is not None:
        people[used.user.id] = discord.utils.snowflake_time(used.id)
    return people


def _texts(*parts: Any) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield from _texts(*part.values())
        elif isinstance(part, list):
            yield from _texts(*part)
        elif isinstance(part, discord.Component):
            yield from _texts(part.to_dict())


class PostingPlaces:
    """Records the channels in which the bot is about to post.

    What is posted just before the program is killed is recorded nowhere else; the next start looks for it there.
    """

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._began = discord.utils.utcnow()
        self._noted: dict[str, datetime] = {}
        self._notes: set[asyncio.Task[None]] = set()
        self._is_looked_through = False

    async def note(self, channel_id: str, guild_id: str | None) -> None:
        """Record a place, unless that was done in the last minutes. Storage that is held up is not waited for."""
        now = discord.utils.utcnow()
        if channel_id in self._noted and now - self._noted[channel_id] < NOTED_FOR:
            return
        if len(self._noted) > REMEMBERED:
            self._noted = {each: at for each, at in self._noted.items() if now - at < NOTED_FOR}
        self._noted[channel_id] = now
        task = asyncio.create_task(self._record(PostingPlace(channel_id, guild_id, now)), name="posting place")
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)
        await asyncio.wait([task], timeout=PLACE_PATIENCE_S)

    async def _record(self, place: PostingPlace) -> None:
        forget_before = place.at - PLACES_KEPT if self._is_looked_through else None
        try:
            await self._use_cases.people.note_place(place, forget_before)
        except MarginaliaError as error:
            self._noted.pop(place.channel_id, None)
            logger.warning("that something is posted in channel %s is not noted: %s", place.channel_id, error)

    async def last(self, serves: Callable[[str], bool]) -> tuple[Sequence[PostingPlace], datetime]:
        """The channels with posts that may not be recorded, newest first, and the time of the last of these posts.

        After a start, these are the places of the program that ran before.

        Raises:
            MarginaliaError: storage is away.
        """
        known = [each for each in await self._use_cases.people.posting_places() if serves(each.guild_id or "")]
        places = [each for each in known if self._is_looked_through or each.at < self._began]
        newest = max((each.at for each in places), default=self._began)
        lately = [each for each in places if each.at > newest - NOTED_FOR - LOST_WITHIN]
        first = {each.channel_id: each for each in reversed(lately)}
        return list(first.values())[:PLACES_LOOKED_THROUGH], newest + NOTED_FOR + LOST_WITHIN

    def looked_through(self) -> None:
        """Forget these channels: what was posted there is recorded now, as far as possible."""
        self._is_looked_through = True


class PostNotes:
    """Records which people the bot's messages show, from Discord's events, whichever part of the bot posted them."""

    def __init__(self, bot: ServingBot, use_cases: UseCases, removals: Removals, places: PostingPlaces) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._removals = removals
        self._places = places
        self._noted: set[PersonalPost] = set()

    async def note(self, message: discord.Message) -> None:
        """Record a message, if it shows anybody."""
        shown = shown_in(message)
        known = {replace(each, as_of=None) for each in shown}
        if known - self._noted and await self._removals.note(*shown):
            self._noted = known if len(self._noted) > REMEMBERED else self._noted | known

    async def forget(self, message_id: int) -> None:
        """It has been deleted.

        Raises:
            StorageError: the note of it stays; the event has to be handled again.
        """
        self._removals.forget(str(message_id))
        await self._use_cases.people.forget_posts(str(message_id))

    def look_through(self, own_id: int) -> None:
        """Record what was posted just before the program, or the node before this one, was killed. Returns at once.

        What shows somebody who has been erased meanwhile is removed.
        """
        self._removals.begin(partial(self._look_through_all, own_id))

    async def _look_through_all(self, own_id: int) -> None:
        try:
            places, until = await self._places.last(self._bot.serves)
        except MarginaliaError as error:
            logger.error("where posts may not be recorded could not be found out: %s", error)
            return
        if places:
            await asyncio.sleep(LOOK_THROUGH_AFTER_S)
        for place in places:
            try:
                await self._look_through(place, until, own_id)
            except (discord.Forbidden, discord.NotFound) as error:
                logger.info("what stands in channel %s cannot be looked through: %s", place.channel_id, error)
            except Exception as error:  # noqa: BLE001 - the other places are looked through all the same
                logger.warning("what stands in channel %s could not be looked through: %r", place.channel_id, error)
        self._places.looked_through()

    async def _look_through(self, place: PostingPlace, until: datetime, own_id: int) -> None:
        channel_id = int(place.channel_id)
        fetch = partial(self._bot.fetch_channel, channel_id)
        channel = self._bot.get_channel(channel_id) or await retry_transient(fetch)  # archived threads, direct messages
        if not isinstance(channel, discord.abc.Messageable):
            return

        async def page() -> list[discord.Message]:
            posted = []
            after = place.at - LOST_WITHIN
            async for message in channel.history(after=after, limit=LOOKED_THROUGH, oldest_first=True):
                if message.created_at > until:
                    break
                if message.author.id == own_id:
                    posted.append(message)
            return posted

        posted = await retry_transient(page)
        for message in posted:
            await self.note(message)
        if repeated := [message for message in posted if message.embeds and message.embeds[0].author.name]:
            await self._note_repeated(repeated)

    async def _note_repeated(self, posted: Sequence[discord.Message]) -> None:
        """Record which of a thread's messages repeat a question that came with a command, where that is not known."""
        conversation = await self._use_cases.conversations.in_thread(str(posted[0].channel.id))
        said = await self._use_cases.transcripts.messages(conversation.id) if conversation else ()
        asked = [each for each in said if each.external_id and each.external_id.startswith("command:")]
        asked = [each for each in asked if not await self._use_cases.transcripts.repetitions(each.id)]
        unknown = [each for each in posted if not await self._use_cases.transcripts.questions_in(str(each.id))]
        for message in unknown:
            embed = message.embeds[0]
            question = next((each for each in asked if _repeats(embed, each)), None)
            if question is not None:
                asked.remove(question)
                guild_id = str(message.guild.id) if message.guild else None
                where = (str(message.id), str(message.channel.id), question.author_id, guild_id)
                ids, as_of = (question.id,), question.created_at
                await self._removals.note(PersonalPost(*where, name=question.author_name, repeats=ids, as_of=as_of))


def _repeats(embed: discord.Embed, question: ChatMessage) -> bool:
    text = as_compared(embed.description or "").removesuffix("…")
    is_theirs = embed.author.name == question.author_name
    return is_theirs and bool(text) and as_compared(inert(question.content)).startswith(text)

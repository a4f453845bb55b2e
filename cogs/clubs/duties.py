"""The work that the bot does for clubs and votes by itself: when something is due, and after every change."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import discord
from discord.ext import tasks

from cogs.cards import plain
from cogs.clubs import cards
from cogs.clubs.cards import ClubScene
from cogs.clubs.work import ClubWork, Trouble, unseat
from cogs.delivery.channel import CLOCKS_DIFFER, find_post
from cogs.errors import DISCORD_ERRORS, log_failures, retry_transient
from cogs.i18n import Speech, later, speech_in
from cogs.permissions import permission_names
from cogs.services import ServingBot
from cogs.threads import has_left
from domain.clubs.plan import A_DAY, Club, PostState, Section, Vote
from domain.errors import MarginaliaError
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

LOOK_S = 20.0
"""The interval between checks for due work."""
SOON = timedelta(minutes=1)
"""When something is retried with which Discord had trouble."""
LATER = timedelta(minutes=10)
"""When something is retried that Discord or the server's managers did not allow."""
ROLL_CALL = "roll"
"""The key of the time at which Discord was last asked which members are still on the server."""
LOOKED_FOR = 50
"""Members about whom Discord is asked at most."""
LACKING = later("I can't do everything for the club in {channel}. I'm missing there: {permissions}.")
"""What the moderators' log says."""
MOST_VOTE_DAYS = 7
VOTES_COUNTED_WITHIN = timedelta(minutes=10)
"""Discord recounts the votes when a poll ends; after this time its count is taken as it is."""


BAD_REQUEST = 400
"""Discord's status for what is wrong in itself, whenever it is tried."""
AT_A_TIME = 10
"""Clubs and votes for which something is done at the same time, because it is due."""
STEPS_ASIDE_S = 3.0
"""What takes longer, because Discord is slow in its server, goes on beside these."""


@dataclass(slots=True, weakref_slot=True)
class _Attendance:
    """Callers waiting for work on a club: one run serves everybody who asked before it began."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    asked: int = 0
    served: int = 0
    trouble: Trouble = field(default_factory=Trouble)


class ClubDuties:
    """Keeps Discord in line with the clubs in storage."""

    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._clubs = use_cases.clubs
        self._attendances: WeakValueDictionary[str, _Attendance] = WeakValueDictionary()
        self._at_work: set[asyncio.Task[None]] = set()
        self._under_way: set[str] = set()
        """The clubs and votes for which something that is due is being done."""
        self._looking = tasks.loop(seconds=LOOK_S)(self.sweep)
        self._posing: set[tuple[str, int]] = set()
        self._lacking: dict[str, list[str]] = {}
        self._votes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._votes_later: dict[str, datetime] = {}

    def start(self) -> None:
        """Start to work for all clubs in the background."""
        self._in_background(self._keep())

    async def close(self) -> None:
        """Stop; unfinished work is found at the next start."""
        self._looking.cancel()
        looking = self._looking.get_task()
        under_way = [*self._at_work, *([looking] if looking else ())]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _keep(self) -> None:
        await self._bot.wait_until_ready()
        await log_failures(self._clubs.store.look_at_all, "the clubs cannot be looked at")
        self._looking.start()

    def hurry(self) -> None:
        """Do at once what is due, because the database is back."""
        self._in_background(self.sweep())

    async def sweep(self) -> None:
        """Do what is due for all clubs and votes of the servers handled here, independently of each other: one that
        fails or takes long does not hold up the others.
        """
        await log_failures(self._sweep, "what is due for clubs cannot be looked up")

    async def _sweep(self) -> None:
        clubs = await self._clubs.store.list_to_look_at(self._clubs.now())
        votes = [each.id for each in await self._clubs.store.list_votes(self._clubs.now())]
        self._votes_later = {each: moment for each, moment in self._votes_later.items() if each in votes}
        due = {each: partial(self.attend, each) for each in clubs} | {
            each: partial(self.attend_vote, each) for each in votes
        }
        free = asyncio.Semaphore(AT_A_TIME)
        begun = {each: work for each, work in due.items() if each not in self._under_way}
        await asyncio.gather(*(self._tend(each, work, free) for each, work in begun.items()))

    async def _tend(self, of: str, attend: Callable[[], Awaitable[object]], free: asyncio.Semaphore) -> None:
        self._under_way.add(of)
        async with free:
            work = self._in_background(log_failures(attend, f"what is due for {of} is not done"))
            work.add_done_callback(lambda _: self._under_way.discard(of))
            await asyncio.wait([work], timeout=STEPS_ASIDE_S)

    async def attend(self, club_id: str) -> Trouble:
        """Do the work that is due for a club. Never raises; the result says what could not be done."""
        attendance = self._attendances.setdefault(club_id, _Attendance())
        attendance.asked += 1
        mine = attendance.asked
        async with attendance.lock:
            if attendance.served < mine:
                covers = attendance.asked
                attendance.trouble = await self._attend(club_id)
                attendance.served = covers
            return attendance.trouble

    def attend_later(self, club_ids: Sequence[str]) -> None:
        """As `attend`, for several, in the background."""
        for club_id in club_ids:
            self._in_background(self._attend_quietly(club_id))

    async def let_back_in(self, club_id: str, numbers: Collection[int], reader_id: str) -> None:
        """Have the next round add somebody again to sections' threads that they were added to and have left."""
        attendance = self._attendances.setdefault(club_id, _Attendance())
        async with attendance.lock:
            await unseat(self._clubs.store, club_id, numbers, reader_id)

    async def _attend_quietly(self, club_id: str) -> None:
        await self.attend(club_id)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)
        return task

    async def _attend(self, club_id: str) -> Trouble:
        trouble = Trouble()
        try:
            club = await self._clubs.find(club_id)
            if club is None:  # its book is off the shelf, and may come back
                self._lacking.pop(club_id, None)
                await self._clubs.store.look_again(club_id, self._clubs.now() + timedelta(hours=1))
                return trouble
            guild = self._bot.get_guild(int(club.guild_id))
            if guild is None or guild.unavailable:
                return trouble
            channel = await self._channel(guild, club)
            if channel is None:
                self._lacking.pop(club_id, None)
                await self._clubs.end(club)
                await self._clubs.store.look_again(club.id, None)
                return trouble
            if not await self._may_be_used_in(guild, channel):
                await self._clubs.store.look_again(club.id, self._clubs.now() + LATER)
                return trouble
            await self._do_all(club, channel, trouble)
            self._log(club_id, channel, trouble)
            await self._look_again(club_id, trouble)
        except Exception as error:
            is_expected = isinstance(error, (MarginaliaError, *DISCORD_ERRORS))
            logger.log(
                logging.WARNING if is_expected else logging.ERROR,
                "club %s cannot be looked after: %s",
                club_id,
                error,
                exc_info=not is_expected,
            )
            trouble.passing = True
            soon = self._clubs.now() + SOON
            await log_failures(
                partial(self._clubs.store.look_again, club_id, soon), "when to look again cannot be kept"
            )
        return trouble

    def _log(self, club_id: str, channel: discord.TextChannel, trouble: Trouble) -> None:
        """Record in the moderators' log what cannot be done, once for as long as it stays the same."""
        lacking = [*trouble.card, *trouble.threads, *trouble.events]
        told = self._lacking.pop(club_id, [])
        if lacking:
            self._lacking[club_id] = lacking
        if lacking and lacking != told:
            names = permission_names(dict.fromkeys(lacking), speech_in(channel.guild))
            self._bot.audit.note(channel.guild, LACKING, channel=channel.mention, permissions=names)

    async def _do_all(self, club: Club, channel: discord.TextChannel, trouble: Trouble) -> None:
        now, say = self._clubs.now(), speech_in(channel.guild)
        if club.ended_at is None:
            club = await self._without_who_left(club, channel.guild)
            for section in club.to_open(now):
                await self._clubs.open_section(club, section)
            await self._clubs.limit(club)
            club = await self._clubs.get(club.id)
        scene = ClubScene(club, await self._clubs.book_of(club), now)
        work = ClubWork(
            self._use_cases,
            scene,
            channel,
            say,
            await self._clubs.store.get_posts(club.id),
            trouble,
            self._bot.intents.message_content,
        )
        if club.ended_at is None:
            for section in club.sections:
                if section.opened_at is not None and not section.ready:
                    await work.safely(work.open(section))
            work.scene = replace(scene, club=await self._clubs.get(club.id))
            await work.safely(work.add_readers())
        await work.safely(work.show_card())
        await work.safely(work.show_board())
        if club.ended_at is None:
            await work.safely(work.introduce_host())
            await work.safely(work.remind())
        await work.safely(work.make_events())
        for section in work.scene.club.sections:
            if section.thread_id and not section.ready and (club.id, section.number) not in self._posing:
                self._posing.add((club.id, section.number))
                self._in_background(self._pose(work, section))

    async def _without_who_left(self, club: Club, guild: discord.Guild) -> Club:
        """The club without members who have left the server.

        Once a day Discord is asked about each member who has not checked in since: those who bind others first, the
        slowest of them before the rest, then those who are paused.
        """
        now, store = self._clubs.now(), self._clubs.store
        post = await store.claim(club.id, ROLL_CALL, now)
        if post.shown and now < datetime.fromisoformat(post.shown) + A_DAY:
            return club
        silent = [each for each in club.taking_part if (each.checked_in_at or each.joined_at) + A_DAY <= now]
        silent.sort(key=lambda each: (club.is_paused(each, now), each.reached(club.length)))
        for member in silent[:LOOKED_FOR]:
            if await has_left(guild, member.reader_id):
                club = await self._clubs.leave(club, member.reader_id)
        await store.settle(club.id, ROLL_CALL, PostState.DONE, "", now.isoformat())
        return club

    async def _pose(self, work: "ClubWork", section: Section) -> None:
        """Post the questions in a section's thread in the background, because a model takes its time."""
        try:
            await work.safely(work.post_questions(section))
        except MarginaliaError as error:
            logger.warning("no questions in a section's thread: %s", error)
        finally:
            self._posing.discard((work.scene.club.id, section.number))

    async def _look_again(self, club_id: str, trouble: Trouble) -> None:
        """Note when the next round is: when something is due, after a day, or sooner if something is left to do."""
        club, now = await self._clubs.get(club_id), self._clubs.now()
        is_running = club.ended_at is None
        moments = [now + A_DAY, club.next_look(now)] if is_running else []
        is_unready = is_running and any(each.opened_at and not each.ready for each in club.sections)
        if (trouble.passing or is_unready) and not trouble.threads:
            moments.append(now + SOON)
        elif trouble.passing or is_unready or trouble.threads or trouble.events or trouble.card:
            moments.append(now + LATER)
        await self._clubs.store.look_again(club_id, min(filter(None, moments), default=None))

    async def _may_be_used_in(self, guild: discord.Guild, channel: discord.abc.GuildChannel) -> bool:
        """Whether the server's managers allow the bot there; otherwise it posts nothing."""
        ids = (channel.id, channel.category_id)
        return await self._use_cases.servers.may_be_used_in(str(guild.id), [str(each) for each in ids if each])

    async def _channel(self, guild: discord.Guild, club: Club) -> discord.TextChannel | None:
        """The club's channel; None if it was deleted."""
        known = guild.get_channel(int(club.channel_id))
        if known is None:
            try:
                fetched = await retry_transient(partial(guild.fetch_channel, int(club.channel_id)))
            except discord.NotFound:
                return None
            known = fetched if isinstance(fetched, discord.abc.GuildChannel) else None
        return known if isinstance(known, discord.TextChannel) else None

    async def stopped(self, clubs: Sequence[Club], book_title: str) -> None:
        """Update the cards of clubs to say that their book has been removed."""
        for club in clubs:
            guild, posts = self._bot.get_guild(int(club.guild_id)), await self._clubs.store.get_posts(club.id)
            post = posts.get("card")
            if guild is None or post is None or post.state is not PostState.DONE:
                continue
            say = speech_in(guild)
            text = say(
                "“{title}” was removed from the shelf, so the club has stopped. /books restore brings both back "
                "within 7 days.",
                title=plain(book_title),
            )
            place = self._bot.get_partial_messageable(int(club.channel_id), guild_id=guild.id)
            try:
                message = place.get_partial_message(int(post.message_id))
                await retry_transient(partial(message.edit, content=text, embed=None, view=None))
            except DISCORD_ERRORS as error:
                logger.info("the card of a club that stopped was not changed: %s", error)
            await self._clubs.store.settle(club.id, "card", PostState.DONE, post.message_id, "")

    # Votes

    async def attend_vote(self, vote_id: str) -> str:
        """Post a vote that was kept, or announce its result. Returns the link of its poll, if there is one.

        Raises:
            ClubError: Discord will never accept it.
        """
        async with self._order_of(vote_id):
            now = self._clubs.now()
            vote = next((each for each in await self._clubs.store.list_votes(now) if each.id == vote_id), None)
            if vote is None or self._votes_later.get(vote_id, now) > now:
                return ""
            guild = self._bot.get_guild(int(vote.guild_id))
            if guild is None or guild.unavailable:
                return ""
            channel = guild.get_channel(int(vote.channel_id))
            if channel is not None and not await self._may_be_used_in(guild, channel):
                self._votes_later[vote_id] = now + LATER
                return ""
            try:
                return await self._do_vote(vote, guild)
            except discord.NotFound:  # the channel or the poll was deleted
                await self._clubs.close_vote(vote)
            except DISCORD_ERRORS as error:
                logger.warning("a vote cannot be posted or told of: %s", error)
                if not vote.message_id and getattr(error, "status", 0) == BAD_REQUEST:
                    await self._clubs.refuse_vote(vote)
                self._votes_later[vote_id] = now + (LATER if isinstance(error, discord.Forbidden) else SOON)
            return ""

    async def drop_vote_without_poll(self, channel: discord.TextChannel) -> None:
        """Forget the vote that runs in a channel, if somebody has deleted its poll.

        Raises:
            DISCORD_ERRORS: Discord refuses, or has trouble.
        """
        for vote in await self._clubs.store.list_votes(self._clubs.now() + timedelta(days=MOST_VOTE_DAYS + 1)):
            if vote.channel_id == str(channel.id) and vote.message_id:
                async with self._order_of(vote.id):
                    try:
                        await retry_transient(partial(channel.fetch_message, int(vote.message_id)))
                    except discord.NotFound:
                        await self._clubs.close_vote(vote)

    def _order_of(self, vote_id: str) -> asyncio.Lock:
        return self._votes.setdefault(vote_id, asyncio.Lock())

    async def _do_vote(self, vote: Vote, guild: discord.Guild) -> str:
        place = self._bot.get_partial_messageable(int(vote.channel_id), guild_id=guild.id)
        if vote.message_id:
            await self._tell_end(vote, place, speech_in(guild))
            return ""
        question = speech_in(guild)("What shall we read next?")
        message = await find_post(place, vote.created_at, partial(_is_poll_of, vote)) or await self._post_poll(
            vote, place, question
        )
        ends = message.poll.expires_at if message.poll else None
        await self._clubs.store.put_vote(replace(vote, message_id=str(message.id), ends_at=ends or vote.ends_at))
        return message.jump_url

    async def _post_poll(self, vote: Vote, place: discord.PartialMessageable, question: str) -> discord.Message:
        hours = max(1, round((vote.ends_at - self._clubs.now()) / timedelta(hours=1)))
        poll = discord.Poll(question[: cards.POLL_QUESTION_LENGTH], timedelta(hours=hours))
        for choice in vote.choices:
            poll.add_answer(text=choice)
        return await place.send(poll=poll, nonce=f"vote:{vote.id}")

    async def _tell_end(self, vote: Vote, place: discord.PartialMessageable, say: Speech) -> None:
        message = await retry_transient(partial(place.fetch_message, int(vote.message_id)))
        poll = message.poll
        if poll is not None and not poll.is_finalised() and self._clubs.now() < vote.ends_at + VOTES_COUNTED_WITHIN:
            self._votes_later[vote.id] = self._clubs.now() + timedelta(seconds=LOOK_S)
            return
        votes = [answer.vote_count for answer in poll.answers] if poll else []
        told = await find_post(place, vote.ends_at - CLOCKS_DIFFER, partial(_is_reply_to, message.id))
        if told is None and len(votes) == len(vote.choices):
            text = cards.result_line(vote, votes, say)
            await place.send(text, reference=message.to_reference(fail_if_not_exists=False), nonce=f"told:{vote.id}")
        await self._clubs.close_vote(vote)


def _is_poll_of(vote: Vote, message: discord.Message) -> bool:
    return message.poll is not None and [answer.text for answer in message.poll.answers] == list(vote.choices)


def _is_reply_to(message_id: int, message: discord.Message) -> bool:
    """Whether it is an ordinary reply to that message, not Discord's own notice of a poll's end."""
    replied = message.reference is not None and message.reference.message_id == message_id
    return replied and message.type is discord.MessageType.reply

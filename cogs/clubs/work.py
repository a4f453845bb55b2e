"""One round of work for one club: its card, section threads, reminders and events.

Each post is claimed in storage before it is made and marked afterwards. An unfinished claim is first looked up on
Discord, so that a crash at any moment neither loses nor repeats a post.
"""

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

import discord

from cogs.clubs import cards
from cogs.clubs.cards import ClubScene
from cogs.delivery.channel import find_post
from cogs.errors import DISCORD_ERRORS, DiscordCode, bot_lacks, refusal_of_discord, retry_transient
from cogs.i18n import Speech
from cogs.permissions import FOR_A_CARD, FOR_A_PUBLIC_THREAD, FOR_EVENTS, granted_to, has_private_threads, missing
from cogs.rendering.markdown import render
from cogs.rendering.splitting import MESSAGE_LIMIT, units
from cogs.threads import create_thread, public_kind
from domain.clubs.plan import Club, Post, PostState, Section, midnight
from domain.ports import ClubRepository
from domain.reading.companion import Asker
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

QUESTIONS = 3
HAS_LEFT = (DiscordCode.UNKNOWN_MEMBER, DiscordCode.UNKNOWN_USER)


@dataclass(slots=True)
class Trouble:
    """What could not be done for a club: the missing permissions, what Discord said, and whether to try again soon."""

    threads: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    card: list[str] = field(default_factory=list)
    refusal: str = ""
    passing: bool = False

    def sentences(self, say: Speech) -> list[str]:
        """What to tell the person who has just done something."""
        lines = []
        if self.threads:
            lines.append(say("I can't open the section's thread.") + " " + bot_lacks(self.threads, say))
        if self.events:
            lines.append(say("I can't create the events.") + " " + bot_lacks(self.events, say))
        if self.card:
            lines.append(say("I can't post in the club's channel.") + " " + bot_lacks(self.card, say))
        return [f"⚠️ {line}" for line in lines]


@dataclass(slots=True)
class ClubWork:
    """`posts` are those the club has in storage. `reads_messages`: the bot sees messages that are not
    addressed to it.
    """

    use_cases: UseCases
    scene: ClubScene
    channel: discord.TextChannel
    say: Speech
    posts: dict[str, Post]
    trouble: Trouble
    reads_messages: bool

    async def safely(self, work: Awaitable[None]) -> None:
        """Do one part of the work; record Discord's refusals and go on with the rest.

        Raises:
            MarginaliaError: storage or the book cannot be used.
        """
        try:
            await work
        except discord.Forbidden as error:
            logger.warning("club %s: Discord does not let us: %s", self.scene.club.id, error)
            self.trouble.card = self.trouble.card or missing(self._granted, FOR_A_CARD)
            self.trouble.passing = True
        except DISCORD_ERRORS as error:
            logger.warning("club %s: Discord has trouble: %s", self.scene.club.id, error)
            self.trouble.refusal = self.trouble.refusal or refusal_of_discord(error, self.say)
            self.trouble.passing = True

    @property
    def _granted(self) -> discord.Permissions:
        return granted_to(self.channel.guild.me, self.channel)

    @property
    def _store(self) -> Any:
        return self.use_cases.clubs.store

    async def _once(
        self,
        key: str,
        place: discord.abc.Messageable,
        is_it: Callable[[discord.Message], bool],
        make: Callable[[str], Awaitable[discord.Message]],
        shown: str = "",
    ) -> Post:
        """The post with that key, made if it does not exist yet. `make` receives its nonce.

        What it will show is recorded before: one that is found after an interruption may show something older.
        """
        club = self.scene.club
        post: Post = await self._store.claim(club.id, key, self.use_cases.clubs.now())
        if post.state is not PostState.CLAIMED:
            return post
        message = None if post.is_new else await find_post(place, post.claimed_at, is_it)
        if message is None:
            if shown:
                await self._store.settle(club.id, key, PostState.CLAIMED, shown=shown)
            message = await make(f"c:{cards.digest(f'{club.id} {key} {post.claimed_at}')[:12]}")
        else:
            shown = post.shown
        await self._store.settle(club.id, key, PostState.DONE, str(message.id), shown)
        return replace(post, state=PostState.DONE, message_id=str(message.id), shown=shown)

    # The card and the board

    async def show_card(self) -> None:
        """Post the plan card, or update it."""
        club = self.scene.club
        known = self.posts.get("card")
        if known is None and missing(self._granted, FOR_A_CARD):
            self.trouble.card = missing(self._granted, FOR_A_CARD)
            return
        embed = cards.plan_card(self.scene, self.say)
        view = None if club.ended_at else cards.plan_buttons(club, self.say)
        shown = cards.fingerprint(embed, ended=club.ended_at is not None)
        post = await self._once(
            "card",
            self.channel,
            partial(_has_button, f"do:{cards.JOIN}:{club.id}"),
            lambda nonce: self.channel.send(embed=embed, view=view or discord.utils.MISSING, nonce=nonce),
            shown,
        )
        await self._bring_up_to_date(post, shown, embed=embed, view=view, content=None)

    async def show_board(self) -> None:
        """Update the newest public board."""
        post = self.posts.get("board")
        if post is not None:
            embed = cards.board_card(self.scene, self.say)
            await self._bring_up_to_date(post, cards.fingerprint(embed), embed=embed)

    async def _bring_up_to_date(self, post: Post, shown: str, **parts: Any) -> None:
        if post.state is not PostState.DONE or post.shown == shown:
            return
        message = self.channel.get_partial_message(int(post.message_id))
        try:
            await retry_transient(partial(message.edit, **parts))
        except discord.NotFound:
            await self._store.settle(self.scene.club.id, post.key, PostState.GONE)
            return
        except discord.HTTPException as error:
            if error.code != DiscordCode.TOO_MANY_OLD_EDITS:
                raise
            self.trouble.passing = True
            return
        await self._store.settle(self.scene.club.id, post.key, PostState.DONE, post.message_id, shown)

    # Section threads

    async def open(self, section: Section) -> None:
        """Create what is missing of a section's thread, and say how far it goes."""
        clubs, club = self.use_cases.clubs, self.scene.club
        section = (await clubs.get(club.id)).section(section.number)
        if section.thread_id is None:
            private = has_private_threads(self.channel)
            if not private and (lacking := missing(self._granted, FOR_A_PUBLIC_THREAD)):
                self.trouble.threads = lacking
                await self._tell_lacking(section, lacking)
                return
            section = await self._thread(replace(section, private=private))
        thread = self.channel.guild.get_thread(int(section.thread_id or 0)) or await self._fetched(section)
        if thread is not None:
            await self._greet(section, thread)

    async def _tell_lacking(self, section: Section, lacking: Sequence[str]) -> None:
        """Say in the channel, once, why a section has no thread."""
        text = self.say("Section {number} is ready to discuss, but I can't open its thread.", number=section.number)
        mine = f"do:{cards.THERE}:{self.scene.club.id}:{section.number}"
        await self._once(
            f"lack/{section.number}",
            self.channel,
            partial(_is_about, mine, warns=True),
            lambda nonce: self.channel.send(
                f"⚠️ {text} {bot_lacks(lacking, self.say)}",
                view=cards.section_buttons(self.scene.club, section, self.say),
                nonce=nonce,
                silent=True,
            ),
        )

    async def _thread(self, section: Section) -> Section:
        """The section with its thread, which is created if necessary and bound to its conversation."""
        clubs, club = self.use_cases.clubs, self.scene.club
        name = cards.section_name(section, self.scene.book.book.title, self.say)
        conversation = await clubs.conversation_of(club, section, name)
        section = replace(section, conversation_id=conversation.id)
        post: Post = await self._store.claim(club.id, f"thread/{section.number}", clubs.now())
        thread = None if post.is_new else await self._standing_thread(section, post)
        if thread is None:
            kind = discord.ChannelType.private_thread if section.private else public_kind(self.channel)
            thread = await create_thread(self.channel, name, kind, found_again=True)
        section = replace(section, thread_id=str(thread.id), private=thread.is_private())
        await self.use_cases.conversations.bind(
            conversation.id,
            guild_id=str(thread.guild.id),
            channel_id=club.channel_id,
            thread_id=str(thread.id),
            private=section.private,
        )
        await clubs.change(
            club,
            section,
            conversation_id=section.conversation_id,
            thread_id=section.thread_id,
            private=section.private,
        )
        await self._store.settle(club.id, post.key, PostState.DONE, str(thread.id))
        await clubs.limit(await clubs.get(club.id), section)
        return section

    async def _standing_thread(self, section: Section, post: Post) -> discord.Thread | None:
        """The thread that an interrupted attempt has created without recording it."""
        if post.state is PostState.DONE:
            return await self._fetched(replace(section, thread_id=post.message_id))
        title = self.scene.book.book.title
        names = {cards.section_name(replace(section, private=kind), title, self.say) for kind in (True, False)}
        for thread in await retry_transient(self.channel.guild.active_threads):
            is_ours = thread.owner_id == self.channel.guild.me.id and thread.parent_id == self.channel.id
            if is_ours and thread.name in names:
                bound = await self.use_cases.conversations.in_thread(str(thread.id))
                if bound is None or bound.id == section.conversation_id:
                    return thread
        return None

    async def _fetched(self, section: Section) -> discord.Thread | None:
        try:
            found = await retry_transient(partial(self.channel.guild.fetch_channel, int(section.thread_id or 0)))
        except discord.NotFound:
            return None
        return found if isinstance(found, discord.Thread) else None

    async def _greet(self, section: Section, thread: discord.Thread) -> None:
        club = self.scene.club
        text = cards.opening_line(self.scene, section, self.say)
        how = cards.how_to_ask(self.say, reads_messages=self.reads_messages)
        if club.bound_of(section, self.scene.now) < section.end:
            how = f"{how}\n{self.scene.bound_note(self.say)}"
        await self._once(
            f"hello/{section.number}",
            thread,
            partial(_has_button, f"do:{cards.THERE}:{club.id}:{section.number}"),
            lambda nonce: thread.send(
                f"{text}\n{how}", view=cards.section_buttons(club, section, self.say), nonce=nonce, silent=True
            ),
        )

    async def post_questions(self, section: Section) -> None:
        """Post the discussion questions in a section's thread, then mark it as ready."""
        clubs = self.use_cases.clubs
        club = await clubs.get(self.scene.club.id)
        section = club.section(section.number)
        thread = self.channel.guild.get_thread(int(section.thread_id or 0)) or await self._fetched(section)
        if section.ready or thread is None:
            return
        text = await self._questions(club, section)
        if text:
            key = f"talk/{section.number}"
            interrupted = (await self._store.get_posts(club.id)).get(key)
            await self._once(
                key,
                thread,
                lambda message: interrupted is not None and cards.digest(message.content) == interrupted.shown,
                lambda nonce: thread.send(text, nonce=nonce, silent=True),
                cards.digest(text),
            )
        await clubs.change(club, section, ready=True)

    async def _questions(self, club: Club, section: Section) -> str:
        """Questions about the section that depend on nothing beyond its bound; as many as fit into one message."""
        now = self.use_cases.clubs.now()
        bound = club.bound_of(section, now)
        if bound <= section.start:
            return ""
        note = replace(self.scene, club=club, now=now).bound_note(self.say) if bound < section.end else ""
        asker = Asker(club.host, club.guild_id, say=self.say)
        found = await self.use_cases.reading.discuss(self.scene.book.book, bound, section.start, QUESTIONS, asker)
        while found.questions:
            text = "\n".join(filter(None, (render(found.text(self.say)), note)))
            if units(text) <= MESSAGE_LIMIT:
                return text
            found = replace(found, questions=found.questions[:-1])
        return ""

    async def add_readers(self) -> None:
        """Add the members who have read a section to its private thread."""
        club = self.scene.club
        for section in club.sections:
            if not section.private or section.thread_id is None:
                continue
            key = f"seats/{section.number}"
            post = self.posts.get(key)
            seated = post.shown.split() if post else []
            there = [each for each in club.taking_part if each.reached(club.length) >= section.end]
            coming = [each.reader_id for each in there if _mark(club.id, each.reader_id) not in seated]
            if not coming:
                continue
            thread = self.channel.guild.get_thread(int(section.thread_id)) or await self._fetched(section)
            if thread is None:
                continue
            await self._store.claim(club.id, key, self.scene.now)
            try:
                for reader_id in coming:
                    if await self._let_in(thread, reader_id):
                        seated.append(_mark(club.id, reader_id))
            finally:
                await self._store.settle(club.id, key, PostState.DONE, "", " ".join(seated))

    async def _let_in(self, thread: discord.Thread, reader_id: str) -> bool:
        """Add somebody; people who have left the server are skipped. False: the thread is locked.

        Discord adds nobody to an archived thread.
        """
        add = partial(thread.add_user, discord.Object(int(reader_id)))
        try:
            try:
                await retry_transient(add)
            except discord.HTTPException as error:
                if error.code != DiscordCode.THREAD_ARCHIVED:
                    raise
                await retry_transient(partial(thread.edit, archived=False))
                await retry_transient(add)
        except discord.Forbidden:
            if not thread.locked:
                raise
            return False
        except discord.HTTPException as error:
            if error.code not in HAS_LEFT:
                raise
        return True

    # The host, reminders and events

    async def introduce_host(self) -> None:
        """Tell a member that they are the club's host now; nobody is told so at its beginning."""
        club, key = self.scene.club, _key_of_host(self.scene.club)
        known = [each for each in self.posts if each.startswith("host/")]
        if known == [key] or not club.host:
            return
        if not known:
            await note_host(self._store, club, self.scene.now)
            return
        host = f"<@{club.host}>"
        text = self.say("{who} is the club's host now, and may use /club move, /club open and /club end.", who=host)
        await self._once(
            key,
            self.channel,
            lambda message: message.content.startswith(host),
            lambda nonce: self.channel.send(text, nonce=nonce),
        )
        await self._store.forget(club.id, [each for each in known if each != key])

    async def remind(self) -> None:
        """Remind, once, of what is due tomorrow."""
        club = self.scene.club
        for section in club.to_remind(self.scene.now):
            await self._once(
                f"remind/{section.number}",
                self.channel,
                partial(_is_about, f"do:{cards.THERE}:{club.id}:{section.number}", warns=False),
                partial(self._send_reminder, section),
            )

    async def _send_reminder(self, section: Section, nonce: str) -> discord.Message:
        role = self.channel.guild.get_role(int(self.scene.club.role_id or 0))  # somebody may have deleted it
        text = cards.reminder(self.scene, section, self.say, role.mention if role else "")
        pings = discord.AllowedMentions(everyone=False, users=False, roles=[role] if role else False)
        view = cards.section_buttons(self.scene.club, section, self.say)
        return await self.channel.send(text, view=view, allowed_mentions=pings, nonce=nonce)

    async def make_events(self) -> None:
        """Create or update a Discord event for each future date. Events that have begun stay as they are: Discord does
        not allow changes to them.
        """
        club = self.scene.club
        if not club.events:
            return
        granted = self.channel.guild.me.guild_permissions
        if (lacking := missing(granted, FOR_EVENTS)) and not granted.manage_events:
            self.trouble.events = lacking
            return
        for section in club.sections:
            post = self.posts.get(f"event/{section.number}")
            if club.ended_at is None and _starts_at(section.due) > self.scene.now:
                await self._event(section)
            elif post is not None and not self._has_begun(post):
                await self._cancel_event(section, post)

    async def _event(self, section: Section) -> None:
        """Create the event of a date, or move the one of the date before."""
        club, starts, due = self.scene.club, _starts_at(section.due), section.due.isoformat()
        post: Post = await self._store.claim(club.id, f"event/{section.number}", self.use_cases.clubs.now())
        if post.state is PostState.GONE or (post.state is PostState.DONE and post.shown == due):
            return
        try:
            if post.state is PostState.CLAIMED or self._has_begun(post):
                known = None if post.is_new else await self._standing_event(section)
                event = known or await self._new_event(section, starts)
            else:
                event = await self._posted_event(post)
                if event.status is discord.EventStatus.scheduled:  # nobody has begun it by hand
                    await event.edit(start_time=starts, end_time=starts + timedelta(hours=1))
        except discord.NotFound:  # somebody has deleted it
            await self._store.settle(club.id, post.key, PostState.GONE)
            return
        await self._store.settle(club.id, post.key, PostState.DONE, str(event.id), due)

    async def _cancel_event(self, section: Section, post: Post) -> None:
        """Delete the event of a date that does not come."""
        if post.state is PostState.GONE:
            return
        with suppress(discord.NotFound):  # somebody has deleted it
            is_sure = post.state is PostState.DONE
            event = await (self._posted_event(post) if is_sure else self._standing_event(section))
            if event is not None:
                await event.delete()
        await self._store.forget(self.scene.club.id, [post.key])

    def _has_begun(self, post: Post) -> bool:
        """Whether the event of a post has begun."""
        return bool(post.shown) and _starts_at(date.fromisoformat(post.shown)) <= self.scene.now

    async def _posted_event(self, post: Post) -> discord.ScheduledEvent:
        return await retry_transient(partial(self.channel.guild.fetch_scheduled_event, int(post.message_id)))

    async def _standing_event(self, section: Section) -> discord.ScheduledEvent | None:
        name, me = cards.event_name(self.scene, section, self.say), self.channel.guild.me.id
        events = await retry_transient(self.channel.guild.fetch_scheduled_events)
        ours = (each for each in events if each.creator_id == me and each.name == name)
        return next((each for each in ours if each.start_time.date() == section.due), None)

    async def _new_event(self, section: Section, starts: datetime) -> discord.ScheduledEvent:
        return await self.channel.guild.create_scheduled_event(
            name=cards.event_name(self.scene, section, self.say),
            description=cards.event_text(self.scene, section, self.say),
            start_time=starts,
            end_time=starts + timedelta(hours=1),
            entity_type=discord.EntityType.external,
            privacy_level=discord.PrivacyLevel.guild_only,
            location=f"#{self.channel.name}"[:100],
        )


def _starts_at(day: date) -> datetime:
    return midnight(day) + cards.HOUR_OF_A_DATE


def _has_button(custom_id: str, message: discord.Message) -> bool:
    rows = (each for each in message.components if isinstance(each, discord.ActionRow))
    return any(getattr(part, "custom_id", None) == custom_id for each in rows for part in each.children)


def _is_about(custom_id: str, message: discord.Message, *, warns: bool) -> bool:
    """Whether it is about a section, and a warning or a reminder."""
    return _has_button(custom_id, message) and message.content.startswith("⚠️") is warns


async def note_host(store: ClubRepository, club: Club, now: datetime) -> None:
    """Take it that a club's host knows of it."""
    post = await store.claim(club.id, _key_of_host(club), now)
    await store.settle(club.id, post.key, PostState.DONE)


def _key_of_host(club: Club) -> str:
    return f"host/{_mark(club.id, club.host)}"


async def unseat(store: ClubRepository, club_id: str, numbers: Collection[int], reader_id: str) -> None:
    """Forget that somebody was added to sections' threads, so that they are added again."""
    posts, mark = await store.get_posts(club_id), _mark(club_id, reader_id)
    for key in (f"seats/{number}" for number in numbers):
        seated = posts[key].shown.split() if key in posts else []
        if mark in seated:
            kept = " ".join(each for each in seated if each != mark)
            await store.settle(club_id, key, PostState.DONE, "", kept)


def _mark(club_id: str, reader_id: str) -> str:
    """A pseudonym of a member within the club, which remains after they have erased their data."""
    return cards.digest(f"{club_id}:{reader_id}")[:12]

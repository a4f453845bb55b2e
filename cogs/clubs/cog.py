"""/club: a server reads one book by a plan. Only people move a position, each their own."""

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any

import discord
from discord import app_commands
from discord.app_commands import Choice, Range
from discord.ext import commands

from cogs import access
from cogs.clubs import cards
from cogs.clubs.cards import ClubScene
from cogs.clubs.duties import MOST_VOTE_DAYS, ClubDuties
from cogs.clubs.work import note_host
from cogs.errors import Refusal
from cogs.i18n import Speech, speech_in, speech_of
from cogs.interactions import assert_fresh, confirmation, defer_if_slow, on_press, reply
from cogs.permissions import FOR_A_CARD, FOR_POLLS, in_servers, lacking_to_post, runs_club, sees_club
from cogs.services import ServingBot, record_action, server_of, shelf_of
from domain.clubs.manage import PlanRequest
from domain.clubs.plan import MOST_SECTIONS, Club, PostState, Section, ThreadGate
from domain.errors import MarginaliaError
from domain.use_cases import UseCases

LABEL_LENGTH = 100
MOST_DAYS = 60
LONGEST_CHOICES = 1_000


@in_servers
@app_commands.default_permissions(send_messages=True)
class Clubs(commands.GroupCog, group_name="club", group_description="Read a book together, by a plan"):
    def __init__(self, bot: ServingBot, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._clubs = use_cases.clubs
        self.duties = ClubDuties(bot, use_cases)
        bot.handle(
            on_press(cards.JOIN, self._join),
            on_press(cards.THERE, self._there),
            on_press(cards.BOARD, self._show_board),
            on_press(cards.END, self._end),
        )

    async def cog_load(self) -> None:
        self.duties.start()

    async def cog_unload(self) -> None:
        await self.duties.close()

    # The plan

    @app_commands.command(description="Read a book together: a plan, and a thread for each section")
    @app_commands.describe(
        book="The book",
        sections="How many sections; chapters are never split",
        chapters="Or: how many chapters in each section",
        every="Days for each section; 7 if left empty",
        start="The day you start, as YYYY-MM-DD; today if left empty",
        gate="When a section's thread opens",
        role="Who gets the reminders",
        events="Also make an event for each date",
    )
    @app_commands.choices(
        gate=[
            Choice(name="once everyone is there", value=ThreadGate.EVERYONE.value),
            Choice(name="on its date", value=ThreadGate.DATE.value),
            Choice(name="at once", value=ThreadGate.OPEN.value),
        ]
    )
    @app_commands.autocomplete(book=access.books)
    async def start(
        self,
        interaction: discord.Interaction[Any],
        book: str,
        sections: Range[int, 1, MOST_SECTIONS] | None = None,
        chapters: Range[int, 1, 100] | None = None,
        every: Range[int, 1, MOST_DAYS] | None = None,
        start: Range[str, 10, 10] | None = None,
        gate: str = ThreadGate.EVERYONE.value,
        role: discord.Role | None = None,
        events: bool = False,
    ) -> None:
        await interaction.response.defer(ephemeral=True)
        say, channel = speech_of(interaction), access.channel_to_post_in(interaction, FOR_A_CARD, opens_threads=True)
        if sections is not None and chapters is not None:
            raise Refusal(say("Please use only one of `sections` and `chapters`."))
        if events:
            access.assert_may_do(interaction, "create_events")
        found = await access.resolve_book(interaction, book)
        request = PlanRequest(
            start=self._day(start, say),
            sections=sections,
            chapters=chapters,
            every=every or 7,
            gate=ThreadGate(gate),
            role_id=access.assert_pingable(interaction, role),
            events=events,
        )
        club = await self._clubs.start(found, shelf_of(interaction), str(channel.id), str(interaction.user.id), request)
        record_action(interaction, cards.STARTED)
        lines = [say("The club has begun, and you're in it.")]
        if (host := club.member(club.host)) and not host.position.is_set:
            lines.append(cards.not_begun_line(say))
        if role is not None and not access.notifies(role, channel):
            lines.append(cards.silent_role_line(role, say))
        await self._answer(interaction, club, lines)

    def _day(self, typed: str | None, say: Speech) -> date:
        """Today if nothing was typed. Raises Refusal: it is no date."""
        if typed is None:
            return self._clubs.now().date()
        try:
            day = date.fromisoformat(typed)
        except ValueError as error:
            raise Refusal(say("I can't read that date. Please write it like 2026-03-31.")) from error
        if abs((day - self._clubs.now().date()).days) > 3_650:
            raise Refusal(say("That date is more than ten years away. Please check it."))
        return day

    @app_commands.command(description="The club's plan, with the titles of chapters you've reached")
    async def plan(self, interaction: discord.Interaction[Any]) -> None:
        club = await defer_if_slow(interaction, self._here(interaction))
        scene, say = await self._scene(club), speech_of(interaction)
        reached, member = await self._reached(interaction, scene), club.member(str(interaction.user.id))
        card = cards.plan_card(scene, say, bound=reached, reached=reached if member else None)
        await reply(interaction, embed=card, view=cards.plan_buttons(club, say))

    @app_commands.command(description="Move all coming dates of the club's plan; once all have passed, set new ones")
    @app_commands.describe(days="By how many days; a minus sign moves them earlier. For new dates: in how many days")
    async def move(self, interaction: discord.Interaction[Any], days: Range[int, -MOST_DAYS, MOST_DAYS]) -> None:
        await interaction.response.defer(ephemeral=True)
        club = await self._own(interaction)
        moved, say = await self._clubs.move(club, days), speech_of(interaction)
        record_action(interaction, cards.MOVED)
        await self._answer(interaction, moved, [cards.moved_line(moved.next_due(self._clubs.now()), say)])

    @app_commands.command(description="End the club; its threads and conversations stay")
    async def end(self, interaction: discord.Interaction[Any]) -> None:
        club = await defer_if_slow(interaction, self._own(interaction))
        scene, say = await self._scene(club), speech_of(interaction)
        question = say(
            "End the club on “{title}”? Its threads and conversations stay; reminders and dates stop.",
            title=cards.shown_title(scene),
        )
        await reply(interaction, content=question, view=confirmation(cards.END, club.id, say("End it"), say))

    async def _end(self, interaction: discord.Interaction[Any], club_id: str) -> None:
        assert_fresh(interaction)
        await interaction.response.defer()
        club, say = await self._running(interaction, club_id), speech_of(interaction)
        _assert_own(interaction, club)
        await self._clubs.end(club)
        record_action(interaction, cards.ENDED)
        line = say("The club has ended. Thank you for reading together.")
        await interaction.edit_original_response(content=line, view=None)
        await self._follow_up(interaction, club, [line])

    # Members

    @app_commands.command(description="Read along with the club")
    async def join(self, interaction: discord.Interaction[Any]) -> None:
        await self._join_club(interaction, await defer_if_slow(interaction, self._here(interaction)))

    async def _join(self, interaction: discord.Interaction[Any], club_id: str) -> None:
        await self._join_club(interaction, await defer_if_slow(interaction, self._running(interaction, club_id)))

    async def _join_club(self, interaction: discord.Interaction[Any], club: Club) -> None:
        say, reader = speech_of(interaction), str(interaction.user.id)
        known, host = club.member(reader), club.host
        club = await self._clubs.join(club, reader)
        member = club.member(reader)
        lines = [say("You're in already.") if known else say("You're in.")]
        if club.host == reader != host:
            lines.append(say("Nobody else is in the club, so you're its host now."))
            await note_host(self._clubs.store, club, self._clubs.now())
        if member and not member.position.is_set:
            lines.append(cards.not_begun_line(say))
        elif member and club.is_paused(member, self._clubs.now()):
            lines.append(say("You're behind the plan, but you aren't holding anybody up. Check in whenever you like."))
        back_to = [] if known else [each.number for each in club.sections]
        await self._answer(interaction, club, lines, back_to=back_to)

    @app_commands.command(description="Leave the club")
    async def leave(self, interaction: discord.Interaction[Any]) -> None:
        club = await defer_if_slow(interaction, self._here(interaction))
        say, reader = speech_of(interaction), str(interaction.user.id)
        if club.member(reader) is None:
            raise Refusal(say("You aren't in this club."))
        after = await self._clubs.leave(club, reader)
        lines = [say("You've left the club. Your page stays as it is.")]
        if after.host != club.host:
            lines.append(say("{who} is the host now.", who=f"<@{after.host}>"))
        await self._answer(interaction, after, lines)

    @app_commands.command(description="Say how far you've read")
    @app_commands.describe(
        page="The last page you've read",
        chapter="The last chapter you've read",
        section="The last section you've read",
        finished="You've finished the book",
    )
    async def checkin(
        self,
        interaction: discord.Interaction[Any],
        page: Range[str, 1, LABEL_LENGTH] | None = None,
        chapter: Range[str, 1, LABEL_LENGTH] | None = None,
        section: Range[int, 1, MOST_SECTIONS] | None = None,
        finished: bool | None = None,
    ) -> None:
        say, reader = speech_of(interaction), str(interaction.user.id)
        if sum((page is not None, chapter is not None, section is not None, bool(finished))) > 1:
            raise Refusal(say("Please use only one of `page`, `chapter`, `section` and `finished`."))
        club = await defer_if_slow(interaction, self._here(interaction))
        after = await defer_if_slow(
            interaction,
            self._clubs.check_in(club, reader, page=page, chapter=chapter, section=section, finished=bool(finished)),
        )
        about = None if section is None else after.section(section)
        await self._checked_in(interaction, club, after, say, about=about)

    @checkin.autocomplete("chapter")
    async def _chapters(self, interaction: discord.Interaction[Any], typed: str) -> list[Choice[str]]:
        try:
            scene = await self._scene(await self._here(interaction))
        except (MarginaliaError, Refusal):
            return []
        reached = await self._reached(interaction, scene)
        return await access.chapter_choices(scene.book.chapters, reached, typed, speech_of(interaction))

    @checkin.autocomplete("section")
    async def _sections(self, interaction: discord.Interaction[Any], typed: str) -> list[Choice[int]]:
        return await self._section_choices(interaction, typed)

    async def _there(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """ "I'm there", under the plan card, or, with a section's number in the argument, about that section."""
        club_id, _, number = argument.partition(":")
        say, reader = speech_of(interaction), str(interaction.user.id)
        club = await defer_if_slow(interaction, self._running(interaction, club_id))
        asked = club.section(int(number) if number.isdecimal() else 0) if number else None
        if asked is not None:
            member = club.member(reader)
            is_there = member is not None and member.reached(club.length) >= asked.end
            after = await self._clubs.check_in(club, reader, section=None if is_there else asked.number)
        else:
            after, section = await self._clubs.there(club, reader)
            is_there = section is None
        await self._checked_in(interaction, club, after, say, about=asked, was_there=is_there)

    async def _checked_in(
        self,
        interaction: discord.Interaction[Any],
        before: Club,
        club: Club,
        say: Speech,
        *,
        about: Section | None = None,
        was_there: bool = False,
    ) -> None:
        """Answer a check-in, by which people join. The thread of the section it is `about`, else of the last one read,
        is open to them again, if they have left it by hand.
        """
        scene, member = await self._scene(club), club.member(str(interaction.user.id))
        assert member is not None
        interaction.client.dispatch("position_moved", member.reader_id, club.book_id)
        lines = [] if before.member(member.reader_id) else [say("You're in.")]
        lines.append(cards.check_in_line(scene, member, say, was_there=was_there))
        read = club.sections[: club.finished(member)]
        back_to = [about.number] if about else [each.number for each in read if each.thread_id][-1:]
        await self._answer(interaction, club, lines, back_to=back_to)

    async def _answer(
        self, interaction: discord.Interaction[Any], club: Club, lines: Sequence[str], *, back_to: Sequence[int] = ()
    ) -> None:
        """Reply at once, then do what follows, and add what could not be done.

        The person is let into the threads of the sections `back_to` even if they have left them.
        """
        await reply(interaction, content="\n".join(lines))
        if back_to:
            await self.duties.let_back_in(club.id, back_to, str(interaction.user.id))
        await self._follow_up(interaction, club, lines)

    async def _follow_up(self, interaction: discord.Interaction[Any], club: Club, lines: Sequence[str]) -> None:
        """Do what follows from what was answered, and add what could not be done."""
        if trouble := (await self.duties.attend(club.id)).sentences(speech_of(interaction)):
            await interaction.edit_original_response(content="\n".join([*lines, *trouble]))

    @app_commands.command(description="How far everybody has read; no chapter titles")
    @app_commands.describe(hide="Take yourself off the board, or put yourself back on")
    async def board(self, interaction: discord.Interaction[Any], hide: bool | None = None) -> None:
        club = await defer_if_slow(interaction, self._here(interaction), thinking=True)
        say, reader = speech_of(interaction), str(interaction.user.id)
        if hide is None:
            await self._post_board(interaction, club, say)
            return
        if (member := club.member(reader)) is None:
            raise Refusal(say("You aren't in this club, so you aren't on its board."))
        club = await self._clubs.hide(club, reader, hidden=hide)
        interaction.client.dispatch("position_moved", reader, club.book_id)
        line = cards.board_line(member, say, hide=hide)
        await self._answer(interaction, club, [line])

    async def _post_board(self, interaction: discord.Interaction[Any], club: Club, say: Speech) -> None:
        """Show the board to all in the club's channel, where it is kept up to date; elsewhere to the person alone."""
        scene, server = await self._scene(club), server_of(interaction)
        is_elsewhere = str(interaction.channel_id) != club.channel_id or bool(lacking_to_post(interaction))
        if is_elsewhere or interaction.response.is_done() or server is None:
            await reply(interaction, embed=cards.board_card(scene, say))
            return
        shown = await interaction.response.send_message(embed=cards.board_card(scene, speech_in(server)))
        if shown.message_id:
            await self._clubs.store.claim(club.id, "board", self._clubs.now())
            await self._clubs.store.settle(club.id, "board", PostState.DONE, str(shown.message_id))

    async def _show_board(self, interaction: discord.Interaction[Any], argument: str) -> None:
        club = await defer_if_slow(interaction, self._running(interaction, argument.split(":")[0]))
        await reply(interaction, embed=cards.board_card(await self._scene(club), speech_of(interaction)))

    @app_commands.command(name="open", description="Open a section's thread without waiting")
    @app_commands.describe(section="The section's number")
    async def open_section(self, interaction: discord.Interaction[Any], section: Range[int, 1, MOST_SECTIONS]) -> None:
        await interaction.response.defer(ephemeral=True)
        club, say = await self._own(interaction), speech_of(interaction)
        chosen = club.section(section)
        if not await self._clubs.open_section(club, chosen) and chosen.thread_id:
            raise Refusal(say("That section's thread is open: {thread}", thread=f"<#{chosen.thread_id}>"))
        record_action(interaction, cards.OPENED, number=section)
        trouble = await self.duties.attend(club.id)
        opened = (await self._clubs.get(club.id)).section(section)
        lines = trouble.sentences(say)
        if opened.thread_id:
            thread = f"<#{opened.thread_id}>"
            lines = [say("Section {number} is open: {thread}", number=section, thread=thread), *lines]
        elif not lines:
            lines = [trouble.refusal or say("Discord is having trouble. Please try again in a minute.")]
        await interaction.edit_original_response(content="\n".join(lines))

    @open_section.autocomplete("section")
    async def _unopened(self, interaction: discord.Interaction[Any], typed: str) -> list[Choice[int]]:
        return await self._section_choices(interaction, typed, opened=False)

    async def _section_choices(
        self, interaction: discord.Interaction[Any], typed: str, *, opened: bool = True
    ) -> list[Choice[int]]:
        try:
            scene, say = await self._scene(await self._here(interaction)), speech_of(interaction)
        except (MarginaliaError, Refusal):
            return []
        offered = [each for each in scene.club.sections if opened or not each.thread_id]
        return access.matching(
            str(typed), [(f"{each.number} · {scene.pages(each, say)}", each.number) for each in offered]
        )

    # Votes

    @app_commands.command(description="A vote on the next book")
    @app_commands.describe(
        days="For how many days", choices="2 to 10 choices, separated by semicolons; I suggest titles from the shelf"
    )
    async def vote(
        self,
        interaction: discord.Interaction[Any],
        choices: Range[str, 1, LONGEST_CHOICES],
        days: Range[int, 1, MOST_VOTE_DAYS] | None = None,
    ) -> None:
        await interaction.response.defer(ephemeral=True)
        say, channel = speech_of(interaction), access.channel_to_post_in(interaction, FOR_POLLS)
        access.assert_may_do(interaction, "send_polls")
        offered = cards.poll_choices(choices)
        if not 2 <= len(offered) <= cards.POLL_ANSWERS:
            raise Refusal(say("A vote needs 2 to 10 different choices. Put semicolons between them."))
        asker = str(interaction.user.id)
        await self.duties.drop_vote_without_poll(channel)
        vote = await self._clubs.vote(shelf_of(interaction), str(channel.id), asker, offered, days or 3)
        link = await self.duties.attend_vote(vote.id)
        line = say("The vote is on: {link}", link=link)
        if not link:
            line = say("Discord is having trouble. I'll post the vote as soon as I can.")
        await interaction.edit_original_response(content=line)

    @vote.autocomplete("choices")
    async def _titles(self, interaction: discord.Interaction[Any], typed: str) -> list[Choice[str]]:
        """The last of the choices, completed by a title of the shelf that is not among the others."""
        titles = [book.title for book in await self._use_cases.shelf.glance(shelf_of(interaction))]
        whole = cards.completions(typed, titles)
        return [Choice(name=each, value=each) for each in whole if len(each) <= access.LONGEST_NAME][:25]

    # What happens to channels, threads, books and positions

    @commands.Cog.listener()
    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        if club_id := await self._clubs.store.forget_thread(str(payload.guild_id), str(payload.thread_id)):
            await self.duties.attend(club_id)

    @commands.Cog.listener()
    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        for club in await self._clubs.store.get_running(str(channel.guild.id)):
            if club.channel_id == str(channel.id):
                await self.duties.attend(club.id)

    @commands.Cog.listener()
    async def on_guild_channel_update(self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel) -> None:
        if before.overwrites != after.overwrites:
            await self._look_again(after.guild)

    @commands.Cog.listener()
    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        if before.permissions != after.permissions and after in after.guild.me.roles:
            await self._look_again(after.guild)

    async def _look_again(self, guild: discord.Guild) -> None:
        """Open the threads that could not be opened: the bot may have the permission now."""
        running = await self._clubs.store.get_running(str(guild.id))
        unready = [club for club in running if any(each.opened_at and not each.ready for each in club.sections)]
        self.duties.attend_later([club.id for club in unready])

    @commands.Cog.listener()
    async def on_database_back(self) -> None:
        self.duties.hurry()

    @commands.Cog.listener()
    async def on_club_changed(self, club_id: str) -> None:
        self.duties.attend_later([club_id])

    @commands.Cog.listener()
    async def on_position_moved(self, reader_id: str, book_id: str) -> None:
        """Somebody has moved their position elsewhere than here."""
        self.duties.attend_later(await self._clubs.moved_on(reader_id, book_id))

    @commands.Cog.listener()
    async def on_book_removed(self, clubs: Sequence[Club], title: str) -> None:
        await self.duties.stopped(clubs, title)

    @commands.Cog.listener()
    async def on_book_restored(self, book_id: str) -> None:
        self.duties.attend_later([club.id for club in await self._clubs.store.get_by_book(book_id)])

    # Which club is meant

    async def _here(self, interaction: discord.Interaction[Any]) -> Club:
        """The club of the channel, or of the channel that the thread is in; else the only other one they can see.

        Raises:
            ClubError: NO_CLUB.
        """
        place = interaction.channel
        channel_id = place.parent_id if isinstance(place, discord.Thread) else interaction.channel_id
        return await self._clubs.in_channel(shelf_of(interaction), str(channel_id), partial(sees_club, interaction))

    async def _own(self, interaction: discord.Interaction[Any]) -> Club:
        """The channel's club, for its host or somebody who manages threads.

        Raises:
            ClubError: NO_CLUB.
            Refusal: the person is not its host and does not manage threads.
        """
        club = await self._here(interaction)
        _assert_own(interaction, club)
        return club

    async def _running(self, interaction: discord.Interaction[Any], club_id: str) -> Club:
        """The club of a button.

        Raises:
            ClubError: NO_CLUB, its book is gone.
            Refusal: it has ended, or is another server's.
        """
        club, say = await self._clubs.get(club_id), speech_of(interaction)
        if club.guild_id != shelf_of(interaction) or club.ended_at is not None:
            raise Refusal(say("This club has ended. /club start begins another."))
        return club

    async def _reached(self, interaction: discord.Interaction[Any], scene: ClubScene) -> int:
        """How far the person is, as an offset; who has not said has not begun."""
        position = await self._use_cases.positions.get(str(interaction.user.id), scene.book.book)
        return position.bound(scene.club.length) if position.is_set else 0

    async def _scene(self, club: Club) -> ClubScene:
        return ClubScene(club, await self._clubs.book_of(club), self._clubs.now())


def _assert_own(interaction: discord.Interaction[Any], club: Club) -> None:
    """Refuse a person who neither is the club's host nor manages threads in its channel.

    Raises:
        Refusal: they may not.
    """
    if not runs_club(interaction, club):
        say = speech_of(interaction)
        who = f" (<@{club.host}>)" if club.host else ""
        raise Refusal(
            say("Only the club's host{who}, or somebody with the permission “Manage Threads”, can do that.", who=who)
        )

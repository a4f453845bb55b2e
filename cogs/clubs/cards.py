"""What a club looks like: its plan, its board, and the messages in its threads, made from values alone.

Public messages are made with `bound` = the lowest position of the active members: titles after it are left out. A
message for one person uses that person's own position.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import discord
from discord import ButtonStyle
from discord.ui import View

from cogs.access import fits
from cogs.cards import DESCRIPTION_LENGTH, INK, TITLE_LENGTH, clipped, plain
from cogs.i18n import Speech, later
from cogs.interactions import action_button, row
from cogs.rendering.answers import binding_note, page_name
from cogs.rendering.splitting import units
from domain.book import page_reference
from domain.clubs.manage import ClubBook
from domain.clubs.plan import Club, Member, Section, ThreadGate, Vote
from domain.library.progress import binding_in, label_at, title_is_read
from domain.library.search.words import fold

JOIN, THERE, BOARD, END = "club-join", "club-there", "club-board", "club-end"
"""The actions of the buttons, as in their custom_ids."""

CELLS = 10
"""Characters of a bar."""
SHOWN_MEMBERS = 40
TITLES_LENGTH = 60
NAME_LENGTH = 100
"""Characters that Discord allows in the name of a thread or an event."""

POLL_ANSWERS, POLL_ANSWER_LENGTH, POLL_QUESTION_LENGTH = 10, 55, 300
"""Discord's limits for polls."""

HOUR_OF_A_DATE = timedelta(hours=10)
"""A date is shown by this hour in UTC, which is on the same date from Hawaii to New Zealand."""

STARTED = later("{who} began a club.")
MOVED = later("{who} moved the dates of a club.")
ENDED = later("{who} ended a club.")
OPENED = later("{who} opened section {number} of a club.")
"""What the moderators' log says."""


@dataclass(frozen=True, slots=True)
class ClubScene:
    """A club and its book at some moment."""

    club: Club
    book: ClubBook
    now: datetime

    @property
    def public_bound(self) -> int:
        """The offset up to which public messages may tell of the book."""
        return self.club.lowest(self.now)

    def pages(self, section: Section, say: Speech) -> str:
        """ "pp. 1-12", or "about pp. 1-12"."""
        first, last = (plain(label_at(self.book.pages, read_to)) for read_to in (section.start + 1, section.end))
        return page_reference(first, last, estimated=self._estimated, say=say)

    def up_to(self, read_to: int, say: Speech) -> str:
        """ "p. 12", or "about p. 12"."""
        return page_name(plain(label_at(self.book.pages, read_to)), say, estimated=self._estimated)

    def titles(self, section: Section, bound: int) -> str:
        """The titles of a section's chapters that begin before the bound; empty if there are none."""
        reached = [
            plain(each.title)
            for each in self.book.chapters
            if section.start <= each.start < section.end and each.title and title_is_read(each, bound)
        ]
        return clipped(" · ".join(reached), TITLES_LENGTH)

    def bound_note(self, say: Speech) -> str:
        """The line that says how far public answers go and who limits them; empty if they may go to the end."""
        binding = binding_in(self.club, self.book.book, self.book.pages, self.now)
        return binding_note(binding, say) if binding else ""

    @property
    def _estimated(self) -> bool:
        return self.book.book.pages_estimated


def date_mark(section: Section) -> str:
    """A due date, which everybody sees in their own language."""
    return discord.utils.format_dt(section.due_at + HOUR_OF_A_DATE, "D")


def plan_card(scene: ClubScene, say: Speech, *, bound: int | None = None, reached: int | None = None) -> discord.Embed:
    """The plan. `bound` and `reached` belong to the one person who sees it; without them the card is public."""
    club = scene.club
    card = discord.Embed(title=clipped(plain(scene.book.book.title), TITLE_LENGTH), colour=INK)
    card.set_author(name=say("This club has ended") if club.ended_at else say("A club is reading"))
    shown_to = scene.public_bound if bound is None else bound
    lines = [_section_line(scene, each, say, shown_to, reached) for each in club.sections]
    text = "\n".join(lines)
    if units(text) > DESCRIPTION_LENGTH:
        text = "\n".join(_section_line(scene, each, say, 0, reached) for each in club.sections)
    card.description = clipped(text, DESCRIPTION_LENGTH)
    card.add_field(name=say("Reading along"), value=_members(scene, say), inline=False)
    if club.ended_at is None:
        lines = [_gate_line(club.gate, say), _how(say), scene.bound_note(say)]
        card.add_field(name=say("How it works"), value="\n".join(filter(None, lines)), inline=False)
    return card


def _section_line(scene: ClubScene, section: Section, say: Speech, bound: int, reached: int | None) -> str:
    parts = [f"**{section.number}**", scene.pages(section, say), date_mark(section)]
    seen = [each for each in scene.club.taking_part if not each.hidden]
    if there := sum(each.reached(scene.club.length) >= section.end for each in seen):
        parts.append(say.counted(there, "{number} of {all} is there", "{number} of {all} are there", all=len(seen)))
    if section.thread_id and (not section.private or (reached is not None and reached >= section.end)):
        parts.append(f"<#{section.thread_id}>")
    elif section.thread_id:
        parts.append(say("thread open"))
    if titles := scene.titles(section, bound):
        parts.append(titles)
    return " · ".join(parts)


def _members(scene: ClubScene, say: Speech) -> str:
    club = scene.club
    active = club.active(scene.now)
    names = [
        f"<@{each.reader_id}>" if each.hidden or each in active else say("{who} (paused)", who=f"<@{each.reader_id}>")
        for each in club.taking_part
    ]
    return say.listed(names) or say("Nobody yet. Press **Join**.")


def _gate_line(gate: ThreadGate, say: Speech) -> str:
    match gate:
        case ThreadGate.EVERYONE:
            return say("A section's thread opens once everybody is there.")
        case ThreadGate.DATE:
            return say("A section's thread opens on its date.")
        case ThreadGate.OPEN:
            return say("All threads are open. Join one once you've read its section.")


def _how(say: Speech) -> str:
    return say(
        "Press **I'm there** when you've read the next section, or say how far you are with /club checkin. Only you "
        "can move your page."
    )


def plan_buttons(club: Club, say: Speech) -> View:
    """The buttons under the plan card. They carry the club's id, so they work as long as the card exists."""
    return row(
        action_button(JOIN, club.id, label=say("Join"), style=ButtonStyle.primary),
        action_button(THERE, club.id, label=say("I'm there"), style=ButtonStyle.success),
        action_button(BOARD, club.id, label=say("Board")),
    )


def board_card(scene: ClubScene, say: Speech) -> discord.Embed:
    """A bar for each member who is not hidden, the furthest first. It has no titles."""
    club = scene.club
    card = discord.Embed(title=clipped(plain(scene.book.book.title), TITLE_LENGTH), colour=INK)
    card.set_author(name=say("How far the club is"))
    seen = [each for each in club.taking_part if not each.hidden]
    ranked = sorted(seen, key=lambda each: -each.reached(club.length))
    active = {each.reader_id for each in club.active(scene.now)}
    lines = [bar_line(club, each, say, is_paused=each.reader_id not in active) for each in ranked[:SHOWN_MEMBERS]]
    if more := len(ranked) - len(lines):
        lines.append(say.counted(more, "{number} more", "{number} more"))
    card.description = "\n".join([_summary(club, seen, say), "", *lines]) if seen else say("Nobody is on the board.")
    card.set_footer(text=say("To take yourself off, use /club board hide:True"))
    return card


def _summary(club: Club, seen: Sequence[Member], say: Speech) -> str:
    """ "3 of 5 are at section 4": the furthest section that anybody has read."""
    furthest = max(map(club.finished, seen))
    if not furthest:
        return say("Nobody on the board has finished section 1 yet.")
    there = sum(club.finished(each) == furthest for each in seen)
    return say.counted(
        there,
        "{number} of {all} has read section {section}",
        "{number} of {all} have read section {section}",
        all=len(seen),
        section=furthest,
    )


def bar_line(club: Club, member: Member, say: Speech, *, is_paused: bool) -> str:
    """How far a member has read, as a bar of sections."""
    read, of = club.finished(member), len(club.sections)
    full = read * CELLS // of
    where = say.counted(of, "{read} of {number} section", "{read} of {number} sections", read=read)
    paused = f" · {say('paused')}" if is_paused else ""
    return f"`{'█' * full}{'░' * (CELLS - full)}` <@{member.reader_id}> · {where}{paused}"


def not_begun_line(say: Speech) -> str:
    """To a member who has not said how far they are."""
    return say("Until you say how far you are (**I'm there** or /club checkin), you count as not having started.")


def silent_role_line(role: discord.Role, say: Speech) -> str:
    """To a host whose reminders mention a role that the bot may not notify, which is so with every new role."""
    return say(
        "⚠️ My reminders won't notify {role} until anybody may mention it. Somebody who manages roles can allow that "
        "in its settings.",
        role=role.mention,
    )


def moved_line(coming: Section | None, say: Speech) -> str:
    """The outcome of moving the dates; `coming` is the next section that is due."""
    if coming is None:
        return say("The dates have moved. All dates in the plan have passed now.")
    return say(
        "The dates have moved. Section {number} is due on {date} now.",
        number=coming.number,
        date=date_mark(coming),
    )


def board_line(member: Member, say: Speech, *, hide: bool) -> str:
    """The outcome of hiding, or not, for a member as they were before."""
    if hide == member.hidden:
        return say("You aren't on the board anyway.") if hide else say("You're on the board already.")
    return say("You're not on the board any more.") if hide else say("You're on the board again.")


def check_in_line(scene: ClubScene, member: Member, say: Speech, *, was_there: bool) -> str:
    """The outcome of a check-in. `was_there`: they had read the section before."""
    club = scene.club
    read = club.finished(member)
    if member.reached(club.length) >= club.sections[-1].end:
        return say("You've checked in: you've finished the book.")
    if was_there:
        return say(
            "You've checked in. You had read section {number} already; if you've read on, say how far with "
            "/club checkin.",
            number=read,
        )
    if not member.position.is_set:
        return say("You've checked in, but haven't said how far you are. Use `page`, `chapter` or `section`.")
    return say.counted(
        len(club.sections),
        "You've checked in at {page}: {read} of {number} section read.",
        "You've checked in at {page}: {read} of {number} sections read.",
        page=scene.up_to(member.reached(club.length), say),
        read=read,
    )


def shown_title(scene: ClubScene) -> str:
    """The book's title within a sentence."""
    return clipped(plain(scene.book.book.title), 200)


def section_name(section: Section, title: str, say: Speech) -> str:
    """The name of a section's thread. A public one has the number alone."""
    number = say("Section {number}", number=section.number)
    if not section.private:
        return number
    return clipped(f"{number} · {' '.join(title.split())}", NAME_LENGTH)


def opening_line(scene: ClubScene, section: Section, say: Speech) -> str:
    """The first line of a section's thread: how far it goes."""
    return say(
        "**Section {number}** · This thread talks about “{title}” up to {page}. Not there yet? Then don't read on!",
        number=section.number,
        title=shown_title(scene),
        page=scene.up_to(section.end, say),
    )


def how_to_ask(say: Speech, *, reads_messages: bool) -> str:
    if reads_messages:
        return say("-# Talk among yourselves. Mention me, or reply to an answer of mine, to ask me something.")
    return say("-# Talk among yourselves. Mention me to ask me something.")


def section_buttons(club: Club, section: Section, say: Speech) -> View:
    """The buttons under a message about a section. Their custom_ids distinguish it from the bot's other messages."""
    mine = f"{club.id}:{section.number}"
    return row(
        action_button(THERE, mine, label=say("I'm there"), style=ButtonStyle.success),
        action_button(BOARD, mine, label=say("Board")),
    )


def reminder(scene: ClubScene, section: Section, say: Speech, role: str = "") -> str:
    """The reminder in the channel, a day before a section is due; `role` is the mention of those who are notified."""
    return (f"{role} " if role else "") + say(
        "📖 Section {number} of “{title}” ({pages}) is due on {date}. Press **I'm there** when you've read it.",
        number=section.number,
        title=shown_title(scene),
        pages=scene.pages(section, say),
        date=date_mark(section),
    )


def event_name(scene: ClubScene, section: Section, say: Speech) -> str:
    number = say("Section {number}", number=section.number)
    return clipped(f"{number} · {' '.join(scene.book.book.title.split())}", NAME_LENGTH)


def event_text(scene: ClubScene, section: Section, say: Speech) -> str:
    return say("Section {number} is due: {pages}.", number=section.number, pages=scene.pages(section, say))


def poll_choices(typed: str) -> list[str]:
    """The choices of a vote, without duplicates, cut to the length a poll allows."""
    parts = (" ".join(part.split()) for part in typed.split(";"))
    choices: dict[str, str] = {}
    for choice in (_clipped_units(part, POLL_ANSWER_LENGTH) for part in parts if part):
        choices.setdefault(choice.casefold(), choice)
    return list(choices.values())


def completions(typed: str, titles: Sequence[str]) -> list[str]:
    """What was typed, with its last choice completed by each title that is not among the other choices."""
    before, _, last = typed.rpartition(";")
    chosen = {fold(each) for each in poll_choices(before)}
    offered = dict.fromkeys(" ".join(title.split()).replace(";", ",") for title in titles)
    words = fold(last).split()
    left = [title for title in offered if fold(title) not in chosen and fits(words, title)]
    return [f"{before}; {title}" if before else title for title in left]


def _clipped_units(text: str, length: int) -> str:
    while units(text) > length:
        text = clipped(text, min(length, len(text) - 1))
    return text


def result_line(vote: Vote, votes: Sequence[int], say: Speech) -> str:
    """The result of a vote; `votes` are the counts of the choices."""
    best = max(votes, default=0)
    if not best:
        return say("The vote is over. Nobody has voted.")
    first = [plain(choice) for choice, number in zip(vote.choices, votes, strict=True) if number == best]
    if len(first) > 1:
        return say(
            "The vote is over: a tie between {choices}, with {best} of {all} votes each.",
            choices=say.listed([say("“{title}”", title=each) for each in first]),
            best=best,
            all=sum(votes),
        )
    return say.counted(
        sum(votes),
        "The vote is over: “{choice}” has won with the only vote. /club start begins a club on it.",
        "The vote is over: “{choice}” has won with {best} of {number} votes. /club start begins a club on it.",
        choice=first[0],
        best=best,
    )


def fingerprint(embed: discord.Embed, *, ended: bool = False) -> str:
    """Identifies one state of a card."""
    return digest(json.dumps([embed.to_dict(), ended], sort_keys=True))


def digest(text: str) -> str:
    """Identifies a text without containing it."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]

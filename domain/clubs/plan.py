"""A club's plan: a book in sections of whole chapters, its members, and what follows from how far they have read.

Everything here is a pure function of values. Days begin and end at midnight UTC.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from domain.book import Chapter, Page, PositionState, ReadingPosition
from domain.errors import ClubError, ClubErrorCode, Worded
from domain.library.addressing import is_matter

MOST_SECTIONS = 50
"""The most lines that fit on one card."""
MISSED_AT_MOST = 1
"""Due dates a member may miss; one more and they are paused."""
A_DAY = timedelta(days=1)

WORDS_A_WEEK = 20_000
"""The length of a section where the host gives no number: some seventy printed pages."""
FEWEST, MOST_OF_ITSELF = 4, 12

_HEADING_ONLY = 600
"""Characters. A shorter part is a mere heading and belongs to the chapter after it."""


class ThreadGate(StrEnum):
    """When a section's thread opens: once all active members have read it, on its due date, or at once."""

    EVERYONE = "everyone"
    DATE = "date"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch `[start, end)` of the book to be read until `due`; `number` counts from 1.

    `opened_at` is when it was decided to open its thread. `thread_id` is None until the thread exists, and after it
    was deleted. `ready` means that everything belonging to its opening has been posted.
    """

    number: int
    start: int
    end: int
    due: date
    opened_at: datetime | None = None
    conversation_id: str | None = None
    thread_id: str | None = None
    private: bool = False
    ready: bool = False

    @property
    def due_at(self) -> datetime:
        """The beginning of the day it is due."""
        return midnight(self.due)

    def is_over(self, now: datetime) -> bool:
        """Whether its due day has passed."""
        return self.due_at + A_DAY <= now


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who takes part.

    `position` is how far they have said they have read. `hidden` keeps them off the board. `left_at` is when they
    left, or None. `left_out` means that they have opted out of the bot altogether; as long as they do, they count as
    having left.
    """

    reader_id: str
    joined_at: datetime
    position: ReadingPosition = field(default_factory=ReadingPosition)
    checked_in_at: datetime | None = None
    hidden: bool = False
    left_at: datetime | None = None
    left_out: bool = False

    def reached(self, length: int) -> int:
        """How far they have read, as an offset. Members without a position count as not having begun, so that the club
        spoils nothing for them.
        """
        return 0 if self.position.state is PositionState.UNSET else self.position.bound(length)


@dataclass(frozen=True, slots=True)
class Club:
    """A server's channel reading one book of `length` characters by a plan.

    `role_id` is mentioned in reminders. `sections` are in order; `members` in the order of joining, including those
    who left. `ended_at` is None while the club runs.
    """

    id: str
    book_id: str
    guild_id: str
    channel_id: str
    host_id: str
    gate: ThreadGate
    created_at: datetime
    length: int
    sections: tuple[Section, ...]
    members: tuple[Member, ...] = ()
    role_id: str | None = None
    events: bool = False
    ended_at: datetime | None = None

    @property
    def taking_part(self) -> list[Member]:
        """The members who have neither left nor opted out."""
        return [each for each in self.members if each.left_at is None and not each.left_out]

    def member(self, reader_id: str) -> Member | None:
        """The current member with that id."""
        return next((each for each in self.taking_part if each.reader_id == reader_id), None)

    @property
    def host(self) -> str:
        """The id of the person who runs it: `host_id`, or the longest-standing member once that one takes no part."""
        members = [each.reader_id for each in self.taking_part]
        return self.host_id if self.host_id in members or not members else members[0]

    def section(self, number: int) -> Section:
        """The section with that number, from 1.

        Raises:
            ClubError: NO_SECTION.
        """
        if not 1 <= number <= len(self.sections):
            several = Worded("The plan has the sections 1 to {last}.", last=len(self.sections))
            message = several if len(self.sections) > 1 else Worded("The plan has only section 1.")
            raise ClubError(ClubErrorCode.NO_SECTION, message)
        return self.sections[number - 1]

    def is_paused(self, member: Member, now: datetime) -> bool:
        """Whether a member has missed two due dates in a row since their last check-in."""
        since = member.checked_in_at
        missed = [
            each
            for each in self.sections
            if each.is_over(now)
            and each.end > member.reached(self.length)
            and (since is None or each.due_at + A_DAY > since)
        ]
        return len(missed) > MISSED_AT_MOST

    def active(self, now: datetime) -> list[Member]:
        """The members who count for gates and for the public bound."""
        return [each for each in self.taking_part if not self.is_paused(each, now)]

    def lowest(self, now: datetime) -> int:
        """The offset up to which the book may be told publicly: the lowest position of the active members.

        If nobody is active, all members count; if there are no members, it is 0.
        """
        return min((each.reached(self.length) for each in self.slowest(now)), default=0)

    def slowest(self, now: datetime) -> list[Member]:
        """The members who are furthest behind and so limit what is public."""
        binding = self.active(now) or self.taking_part
        lowest = min((each.reached(self.length) for each in binding), default=0)
        return [each for each in binding if each.reached(self.length) == lowest]

    def finished(self, member: Member) -> int:
        """How many sections a member has finished."""
        return sum(each.end <= member.reached(self.length) for each in self.sections)

    def current(self, now: datetime) -> Section:
        """The section the club is reading: with the gate *everyone* the first unopened one, else the next one due."""
        if self.gate is ThreadGate.EVERYONE:
            ahead = (each for each in self.sections if each.opened_at is None)
        else:
            ahead = (each for each in self.sections if not each.is_over(now))
        return next(ahead, self.sections[-1])

    def left_to_read(self, now: datetime) -> list[Section]:
        """The sections that the active members have not all read; if nobody is active, those that nobody has read.

        If there are none, those that somebody else has still to read.
        """
        active = [each.reached(self.length) for each in self.active(now)]
        known = [each.reached(self.length) for each in self.taking_part] or [0]
        front = min(active) if active else max(known)
        read_to = front if front < self.sections[-1].end else min(known)
        return [each for each in self.sections if each.end > read_to]

    def next_due(self, now: datetime) -> Section | None:
        """The next section due that is left to read; if none is, the next one due. None: all dates have passed."""
        coming, left = [each for each in self.sections if not each.is_over(now)], self.left_to_read(now)
        return next((each for each in coming if each in left), coming[0] if coming else None)

    def where_there_is(self, member: Member | None, now: datetime) -> Section | None:
        """The section that a member finishes by "I'm there"; None if they have finished it before.

        It is the first one they have not finished, but never one beyond the club's current section: pressing twice
        does not mean having read twice as much.
        """
        read = self.finished(member) if member else 0
        return self.sections[read] if read < self.current(now).number else None

    def to_open(self, now: datetime) -> list[Section]:
        """The sections whose threads the gate allows to open now."""
        closed = [each for each in self.sections if each.opened_at is None]
        match self.gate:
            case ThreadGate.OPEN:
                return closed
            case ThreadGate.DATE:
                return [each for each in closed if each.due_at <= now]
            case ThreadGate.EVERYONE:
                active, lowest = self.active(now), self.lowest(now)
                return [each for each in closed if each.end <= lowest] if active else []

    def to_remind(self, now: datetime) -> list[Section]:
        """The sections due tomorrow that somebody who takes part has still to read."""
        read_to = min((each.reached(self.length) for each in self.taking_part), default=self.length)
        return [each for each in self.sections if each.due_at - A_DAY <= now < each.due_at and each.end > read_to]

    def bound_of(self, section: Section, now: datetime) -> int:
        """How far the conversation in a section's thread may go: never beyond the section.

        A private thread has only members who have read the section. A public one is visible to all, so the active
        members limit it.
        """
        return section.end if section.private else min(section.end, self.lowest(now))

    def next_look(self, now: datetime) -> datetime | None:
        """When something may have to be done next without anybody's action; None: never."""
        moments = {moment for each in self.sections for moment in _moments(each) if moment > now}
        return min(moments, default=None) if self.ended_at is None else None


class PostState(StrEnum):
    """The state of a post: CLAIMED before it is sent, DONE once it exists, GONE if a person deleted it."""

    CLAIMED = "claimed"
    DONE = "done"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Post:
    """Something the bot posts once per club, identified by its key ("card", "remind/3").

    `is_new` means that the current caller claimed it. A post that is CLAIMED and not new may exist already: its sender
    was interrupted. `message_id` is the id of the message (or event) once it exists; `shown` is its contents.
    """

    key: str
    state: PostState
    claimed_at: datetime
    is_new: bool = False
    message_id: str = ""
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """A poll for the next book. It is kept before it is posted (`message_id` empty); `told` once its result was
    posted.
    """

    id: str
    guild_id: str
    channel_id: str
    asker_id: str
    choices: tuple[str, ...]
    created_at: datetime
    ends_at: datetime
    message_id: str = ""
    told: bool = False


def _moments(section: Section) -> tuple[datetime, ...]:
    """When members are reminded of a section, when it is due, and when that day ends."""
    return section.due_at - A_DAY, section.due_at, section.due_at + A_DAY


def midnight(day: date) -> datetime:
    """The beginning of a day."""
    return datetime.combine(day, time(), UTC)


@dataclass(frozen=True, slots=True)
class Stretch:
    """An indivisible unit: a chapter, or a page if the book has no chapters."""

    start: int
    end: int


def stretches(chapters: Sequence[Chapter], pages: Sequence[Page]) -> tuple[list[Stretch], bool]:
    """The units a book's sections are made of, in order, and whether they are chapters.

    Front and back matter is left out. A part's heading belongs to the chapter after it.
    """
    story = _story(chapters)
    units: list[Stretch] = []
    heading: int | None = None
    for at, each in enumerate(story):
        start = each.start if heading is None else heading
        deeper = at + 1 < len(story) and story[at + 1].level > each.level
        if deeper and each.end - each.start < _HEADING_ONLY:
            heading = start
        else:
            units.append(Stretch(start, each.end))
            heading = None
    if len(units) > 1:
        return units, True
    return [Stretch(page.start, page.end) for page in pages if page.end > page.start], False


def _story(chapters: Sequence[Chapter]) -> list[Chapter]:
    """The chapters without front and back matter; all of them if nothing else remains."""
    told = list(chapters)
    while told and is_matter(told[0].title):
        del told[0]
    while told and is_matter(told[-1].title):
        del told[-1]
    return told or list(chapters)


def usual_number(words: int, available: int) -> int:
    """The number of sections for a book of this many words if the host gives none; at most one per chapter."""
    return max(1, min(available, max(FEWEST, min(MOST_OF_ITSELF, round(words / WORDS_A_WEEK)))))


def divide(units: Sequence[Stretch], count: int) -> list[Stretch]:
    """Divide units into `count` sections that are as even in length as possible: the sum of squares is minimal.

    `count` is at least 1 and at most the number of units. Takes time proportional to `count` · n · log n; call it in a
    thread for a long book.
    """
    ends = [0]
    for unit in units:
        ends.append(ends[-1] + unit.end - unit.start)
    cuts = _cuts(ends, count)
    return [Stretch(units[first].start, units[last - 1].end) for first, last in itertools.pairwise(cuts)]


def _cuts(ends: Sequence[int], count: int) -> list[int]:
    """The indices at which the sections begin, and the end.

    `ends[i]` is the length of the first i units together. The best cut before a unit never moves back as the unit
    moves on, so each half of the units is searched only between the cuts found around it.
    """
    size = len(ends) - 1
    best: list[float] = [float(end) ** 2 for end in ends]
    chosen: list[list[int]] = []
    for parts in range(2, count + 1):
        costs: list[float] = [float("inf")] * (size + 1)
        where = [0] * (size + 1)
        ranges = [(parts, size, parts - 1, size - 1)]
        while ranges:
            low, high, first, last = ranges.pop()
            if low > high:
                continue
            middle = (low + high) // 2
            cost, cut = min(
                (best[at] + (ends[middle] - ends[at]) ** 2, at) for at in range(first, min(last, middle - 1) + 1)
            )
            costs[middle], where[middle] = cost, cut
            ranges += [(low, middle - 1, first, cut), (middle + 1, high, cut, last)]
        best, chosen = costs, [*chosen, where]
    cuts = [size]
    for where in reversed(chosen):
        cuts.append(where[cuts[-1]])
    return [0, *reversed(cuts)]


def grouped(units: Sequence[Stretch], size: int) -> list[Stretch]:
    """Sections of `size` units each; the last one has the rest."""
    groups = [units[at : at + size] for at in range(0, len(units), size)]
    return [Stretch(group[0].start, group[-1].end) for group in groups]


def dated(parts: Iterable[Stretch], start: date, every: int) -> tuple[Section, ...]:
    """Sections that are due at fixed intervals after the start."""
    return tuple(
        Section(number, part.start, part.end, start + timedelta(days=every * number))
        for number, part in enumerate(parts, 1)
    )


def moved(club: Club, days: int, now: datetime) -> dict[int, date]:
    """The due dates, by section, once the coming ones are shifted by some days.

    If all have passed, the sections that are left to read get new ones: the first is due in so many days from now, and
    the others follow at their old distances. Empty if nothing is left to read either.
    """
    coming, by = [each for each in club.sections if not each.is_over(now)], timedelta(days=days)
    if not coming and (coming := club.left_to_read(now)):
        by += now.date() - coming[0].due
    return {each.number: each.due + by if each in coming else each.due for each in club.sections} if coming else {}

"""The use case: a server reads a book together, by a plan. Only people move positions, each their own."""

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, NoReturn

from domain.book import Book, Chapter, Page
from domain.clubs.plan import (
    MOST_SECTIONS,
    Club,
    Member,
    Section,
    Stretch,
    ThreadGate,
    Vote,
    dated,
    divide,
    grouped,
    moved,
    stretches,
    usual_number,
)
from domain.conversation import Conversation, TitleSource
from domain.errors import ClubError, ClubErrorCode, Worded
from domain.library.progress import ManagePositions
from domain.ports import BookFiles, BookRepository, Clock, ClubRepository, ConversationRepository

BOOK_GONE = "This club is over: its book is not on the shelf any more."


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """How to divide a book and date its sections.

    `sections` and `chapters` (per section) are None where the usual number for the book's length applies.
    """

    start: date
    sections: int | None = None
    chapters: int | None = None
    every: int = 7
    gate: ThreadGate = ThreadGate.EVERYONE
    role_id: str | None = None
    events: bool = False


@dataclass(frozen=True, slots=True)
class ClubBook:
    """A club's book with its pages and chapters, for cards."""

    book: Book
    pages: Sequence[Page]
    chapters: Sequence[Chapter]


class ManageClubs:
    """The life of clubs. The front end carries out what follows from a change (threads, cards, reminders)."""

    def __init__(
        self,
        *,
        clubs: ClubRepository,
        books: BookRepository,
        files: BookFiles,
        positions: ManagePositions,
        conversations: ConversationRepository,
        clock: Clock,
    ) -> None:
        self.store = clubs
        self._books = books
        self._files = files
        self._positions = positions
        self._conversations = conversations
        self._clock = clock

    async def start(self, book: Book, guild_id: str, channel_id: str, host_id: str, request: PlanRequest) -> Club:
        """Start a club; its host takes part.

        Raises:
            ClubError: ALREADY_RUNNING, the channel has a club; INVALID_PLAN, the book cannot be divided like that.
            BookError: INVALID_STATE, the book cannot be opened.
        """
        file = await self._files.open(book)
        parts = await self._divided(book, await file.chapters(), await file.pages(), request)
        now = self._clock()
        club = Club(
            id=uuid.uuid4().hex[:16],
            book_id=book.id,
            guild_id=guild_id,
            channel_id=channel_id,
            host_id=host_id,
            gate=request.gate,
            created_at=now,
            length=book.length,
            sections=dated(parts, request.start, request.every),
            members=(Member(host_id, now),),
            role_id=request.role_id,
            events=request.events,
        )
        if not await self.store.create(club):
            raise ClubError(
                ClubErrorCode.ALREADY_RUNNING,
                "A club is already reading here: /club plan shows it. End it with /club end, or use another channel.",
            )
        return await self.get(club.id)

    async def _divided(
        self, book: Book, chapters: Sequence[Chapter], pages: Sequence[Page], request: PlanRequest
    ) -> list[Stretch]:
        """The sections of a plan, as stretches of the book.

        Raises:
            ClubError: INVALID_PLAN.
        """
        units, are_chapters = stretches(chapters, pages)
        if not units:
            raise ClubError(ClubErrorCode.INVALID_PLAN, "There is nothing to read in this book.")
        if request.chapters is not None:
            if not are_chapters:
                raise ClubError(
                    ClubErrorCode.INVALID_PLAN,
                    "I found no chapters in this book. Use `sections` to say how many parts you want.",
                )
            parts = grouped(units, request.chapters)
        else:
            count = request.sections or usual_number(book.word_count, len(units))
            if count > len(units):
                message = Worded(
                    "This book has {pages} pages, so it can have {pages} sections at most.", pages=len(units)
                )
                if len(units) == 1:
                    message = Worded("This book has only one page, so it can have only one section.")
                elif are_chapters:
                    message = Worded(
                        "This book has {chapters} chapters, so it can have {chapters} sections at most.",
                        chapters=len(units),
                    )
                raise ClubError(ClubErrorCode.INVALID_PLAN, message)
            parts = await asyncio.to_thread(divide, units, count)
        if len(parts) > MOST_SECTIONS:
            message = Worded(
                "That makes {sections} sections, but a plan can have at most {most}. "
                "Put more chapters into each section.",
                sections=len(parts),
                most=MOST_SECTIONS,
            )
            raise ClubError(ClubErrorCode.INVALID_PLAN, message)
        return parts

    async def find(self, club_id: str) -> Club | None:
        """The club, ended or not; None if it has been deleted together with its book."""
        return await self.store.get(club_id)

    async def get(self, club_id: str) -> Club:
        """The club, ended or not.

        Raises:
            ClubError: NO_CLUB, it has been deleted together with its book.
        """
        club = await self.store.get(club_id)
        if club is None:
            raise ClubError(ClubErrorCode.NO_CLUB, BOOK_GONE)
        return club

    async def in_channel(self, guild_id: str, channel_id: str, sees: Callable[[Club], bool]) -> Club:
        """The running club of a channel, or the only running one of the server that the person `sees`.

        Raises:
            ClubError: NO_CLUB.
        """
        known = await self.store.get_running(guild_id)
        running = [each for each in known if each.channel_id == channel_id or sees(each)]
        here = [each for each in running if each.channel_id == channel_id]
        if here or len(running) == 1:
            return (here or running)[0]
        sentence = "No club is reading here. Start one with /club start."
        if running:
            sentence = "No club is reading in this channel. Use this in the channel of the club you mean."
        raise ClubError(ClubErrorCode.NO_CLUB, sentence)

    async def book_of(self, club: Club) -> ClubBook:
        """The club's book.

        Raises:
            ClubError: NO_CLUB, the book is gone, and the club with it.
            BookError: INVALID_STATE, its file cannot be opened.
        """
        book = await self._books.get(club.book_id)
        if book is None:
            raise ClubError(ClubErrorCode.NO_CLUB, BOOK_GONE)
        file = await self._files.open(book)
        return ClubBook(book, await file.pages(), await file.chapters())

    async def reading_in(self, guild_id: str, channel_id: str, book_id: str) -> Club | None:
        """The running club of a channel, if it reads that book."""
        running = await self.store.get_running(guild_id)
        return next((each for each in running if (each.channel_id, each.book_id) == (channel_id, book_id)), None)

    # Members

    async def join(self, club: Club, reader_id: str) -> Club:
        """Take part, for the first time or again. Whoever joins a club that all have left becomes its host."""
        known = next((each for each in club.members if each.reader_id == reader_id), None)
        if known is None or known.left_at is not None:
            now = self._clock()
            member = replace(known, joined_at=now, left_at=None) if known else Member(reader_id, now)
            await self.store.put_member(club.id, member)
            if not club.taking_part:
                await self.store.put_host(club.id, reader_id)
        return await self.get(club.id)

    async def leave(self, club: Club, reader_id: str) -> Club:
        """Stop taking part. If the host leaves, the longest-standing member becomes host."""
        member = club.member(reader_id)
        if member is not None:
            await self.store.put_member(club.id, replace(member, left_at=self._clock()))
        others = [each for each in club.taking_part if each.reader_id != reader_id]
        if club.host_id == reader_id and others:
            await self.store.put_host(club.id, others[0].reader_id)
        return await self.get(club.id)

    async def hide(self, club: Club, reader_id: str, *, hidden: bool) -> Club:
        """Show or hide a member on the board; people who do not take part are never on it."""
        member = club.member(reader_id)
        if member is not None:
            await self.store.put_member(club.id, replace(member, hidden=hidden))
        return await self.get(club.id)

    async def check_in(
        self,
        club: Club,
        reader_id: str,
        *,
        page: str | None = None,
        chapter: str | None = None,
        section: int | None = None,
        finished: bool = False,
    ) -> Club:
        """Set a person's position, end their pause, and make them a member if they are not one.

        Without a page or chapter the position stays.

        Raises:
            BookError: NOT_FOUND, there is no such page or chapter.
            ClubError: NO_SECTION, NO_CLUB.
        """
        book = (await self.book_of(club)).book
        if page is not None:
            await self._positions.set_page(reader_id, book, page)
        elif chapter is not None:
            await self._positions.set_chapter(reader_id, book, chapter)
        elif section is not None:
            await self._read(reader_id, book, club, club.section(section))
        elif finished:
            await self._positions.finish(reader_id, book)
        return await self._checked_in(club, reader_id)

    async def there(self, club: Club, reader_id: str) -> tuple[Club, Section | None]:
        """Check in at the end of a section; returns that section, or None if they had reached it before."""
        section = club.where_there_is(club.member(reader_id), self._clock())
        if section is not None:
            await self._read(reader_id, (await self.book_of(club)).book, club, section)
        return await self._checked_in(club, reader_id), section

    async def _read(self, reader_id: str, book: Book, club: Club, section: Section) -> None:
        if section is club.sections[-1]:
            await self._positions.finish(reader_id, book)
        else:
            await self._positions.reach(reader_id, book, section.end)

    async def _checked_in(self, club: Club, reader_id: str) -> Club:
        now, known = self._clock(), club.member(reader_id)
        if known is None:
            club = await self.join(club, reader_id)
            known = club.member(reader_id) or Member(reader_id, now)
        await self.store.put_member(club.id, replace(known, checked_in_at=now))
        return await self.get(club.id)

    async def moved_on(self, reader_id: str, book_id: str) -> list[str]:
        """Somebody's position moved outside the club; returns the ids of the clubs that this may affect."""
        concerned = await self.store.get_by_reader(reader_id, book_id)
        for club in concerned:
            await self.store.look_again(club.id, self._clock())
        return [club.id for club in concerned]

    # The plan

    async def move(self, club: Club, days: int) -> Club:
        """Shift all future dates; where there are none, give the sections that are left to read new ones.

        Raises:
            ClubError: INVALID_PLAN, no date would change, or none of them would be in the future.
        """
        now = self._clock()
        if not days:
            raise ClubError(ClubErrorCode.INVALID_PLAN, "Nothing has moved. Give a number of days, such as 7 or -7.")
        dates = moved(club, days, now)
        if not dates:
            message = (
                "Everybody has finished the last section, so there is no date left to move. /club end ends the club."
            )
            raise ClubError(ClubErrorCode.INVALID_PLAN, message)
        if days < 0 and all(each.is_over(now) for each in club.sections):
            message = "All dates in the plan have passed. Say in how many days the next section is due, such as 7."
            raise ClubError(ClubErrorCode.INVALID_PLAN, message)
        await self.store.change_sections(club.id, lambda each: replace(each, due=dates[each.number]))
        return await self.get(club.id)

    async def end(self, club: Club) -> Club:
        """End the club; threads and conversations stay."""
        await self.store.end(club.id, self._clock())
        return await self.get(club.id)

    # Section threads

    async def change(self, club: Club, section: Section, **fields: Any) -> None:
        """Change fields of a section. The others stay as they are by now: its date may have moved meanwhile."""
        await self.store.change_sections(
            club.id, lambda each: replace(each, **fields) if each.number == section.number else each
        )

    async def open_section(self, club: Club, section: Section) -> bool:
        """Decide to open a section's thread now; False if that was decided before, even if the thread does not exist
        yet.

        A deleted thread is opened again.
        """
        if section.opened_at is not None and section.ready and section.thread_id is None:
            number = section.number
            await self.store.forget(club.id, [f"{kind}/{number}" for kind in ("thread", "hello", "talk", "seats")])
            await self.change(club, section, ready=False)
            return True
        return await self.store.claim_opening(club.id, section.number, self._clock())

    async def conversation_of(self, club: Club, section: Section, title: str) -> Conversation:
        """The conversation of a section, created on first use. In its thread the bot answers only when it is
        addressed.
        """
        known = await self._conversations.get(section.conversation_id) if section.conversation_id else None
        if known is not None:
            return known
        conversation = Conversation(
            id=uuid.uuid4().hex,
            book_id=club.book_id,
            title=title,
            created_at=self._clock(),
            title_source=TitleSource.PERSON,  # the thread of a section is never named after what is said in it
            shared=True,
        )
        await self._conversations.save(conversation)
        await self._conversations.update_read_to(conversation.id, club.bound_of(section, self._clock()))
        await self.change(club, section, conversation_id=conversation.id)
        return conversation

    async def limit(self, club: Club, section: Section | None = None) -> None:
        """Limit the conversations of a running club's public threads, or of one section's, to what its members allow
        now.
        """
        if club.ended_at is not None:
            return
        now = self._clock()
        for each in [club.section(section.number)] if section else club.sections:
            if each.conversation_id is None or (each.private and each.ready):
                continue
            known = await self._conversations.get(each.conversation_id)
            bound = club.bound_of(each, now)
            if known is not None and known.read_to != bound:
                await self._conversations.update_read_to(known.id, bound)

    # Votes

    async def vote(self, guild_id: str, channel_id: str, asker_id: str, choices: Sequence[str], days: int) -> Vote:
        """Keep a vote that is about to be posted.

        Raises:
            ClubError: ALREADY_RUNNING, the channel has a running vote.
        """
        now = self._clock()
        vote = Vote(
            uuid.uuid4().hex[:16], guild_id, channel_id, asker_id, tuple(choices), now, now + timedelta(days=days)
        )
        if not await self.store.put_vote(vote):
            raise ClubError(
                ClubErrorCode.ALREADY_RUNNING, "A vote is already running in this channel. Wait until it ends."
            )
        return vote

    async def close_vote(self, vote: Vote) -> None:
        """Do nothing more for a vote: its result is told, its poll is gone, or it can't be posted."""
        await self.store.put_vote(replace(vote, told=True))

    async def refuse_vote(self, vote: Vote) -> NoReturn:
        """Close a vote that Discord doesn't accept.

        Raises:
            ClubError: INVALID_PLAN, always: whoever has called the vote is told.
        """
        await self.close_vote(vote)
        raise ClubError(
            ClubErrorCode.INVALID_PLAN, "Discord doesn't accept this vote. Please word the choices differently."
        )

    def now(self) -> datetime:
        return self._clock()

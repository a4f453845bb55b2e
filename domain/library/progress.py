"""How far readers are in their books. Only people move positions, each their own; a model may propose one."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from domain.book import (
    Binding,
    BindingKind,
    Book,
    Chapter,
    Page,
    PositionState,
    ReadingPosition,
    one_line,
    page_reference,
)
from domain.chat import ChatMessage, MessageRole
from domain.clubs.plan import Club
from domain.conversation import Conversation
from domain.errors import BookError, BookErrorCode, Say, Worded, in_english
from domain.event import PositionProposed
from domain.library.addressing import (
    end_of_chapter,
    end_of_page,
    is_chapter_word,
    is_same_number,
    last_chapter,
    names_page,
    page_in,
    without_titles,
)
from domain.library.numerals import number_value
from domain.library.search.words import fold
from domain.ports import BookFiles, Clock, ClubRepository, ReaderRepository


def label_at(pages: Sequence[Page], read_to: int) -> str:
    """The label of the last page that a reader at an offset has begun; empty at the beginning of the book."""
    return next((page.label for page in reversed(pages) if page.start < read_to), "")


def title_is_read(chapter: Chapter, read_to: int) -> bool:
    """Whether somebody who has read up to `read_to` has read the chapter's title, which is at its beginning."""
    return min(chapter.start + max(len(chapter.title), 1), chapter.end) <= read_to


_ORDER = re.compile(r"(page|chapter|finished|clear)\b ?(.*)", re.IGNORECASE)

USAGE = "Say: page 12 · chapter 3 · a title you have reached · the last chapter · finished · clear"

_TOTAL = re.compile(r"(?P<number>\b\d+)(?: ?/ ?| (?:of|von|de|di|van|из) )(?P<total>\d+)")
"""A place as people read it off a page or a list: "chapter 12 of 12", "2/300"."""
_ARTICLE = re.compile(r"^(?:the|der|die|das|den|le|la|el|il|de|het|o|a) ", re.IGNORECASE)
_LAST = re.compile(
    r"(?:[^\W\d_]{2,3} |l[’'])?(?:last|final|letzte[ns]?|derni[eè]re?|[uú]ltim[oa]|laatste|последняя)"
    r" (?P<kind>[^\W\d_]+)",
    re.IGNORECASE,
)


class SharedBounds:
    """How far several people may look into a book together, and who or what limits them.

    People without an id do not count. Of a person who hides their place in a club on the book, neither the name nor the
    page is told: in a small club, who is not named is known all the same.
    """

    def __init__(self, *, readers: ReaderRepository, clubs: ClubRepository, clock: Clock) -> None:
        self._readers = readers
        self._clubs = clubs
        self._clock = clock

    async def of(self, people: Iterable[str], book: Book, conversation: Conversation | None = None) -> int:
        """How far these people may look together, as an offset; in a conversation never beyond its own bound."""
        return _within(min((await self.each(people, book)).values(), default=book.length), conversation)

    async def binding(
        self,
        people: Iterable[str],
        askers: Iterable[str],
        book: Book,
        pages: Sequence[Page],
        conversation: Conversation | None = None,
    ) -> tuple[int, Binding | None]:
        """The same offset, and who or what limits what the askers are told; None if no asker has read further."""
        asking = {*askers}
        bounds = await self.each([*people, *asking], book)
        lowest = min(bounds.values(), default=book.length)
        read_to = _within(lowest, conversation)
        if not any(bounds[asker] > read_to for asker in asking & bounds.keys()):
            return read_to, None
        if conversation is not None and conversation.read_to == read_to:
            return read_to, await self.of_thread(conversation, read_to, book, pages)
        last = sorted((person for person, bound in bounds.items() if bound == lowest), key=lambda each: each in asking)
        return read_to, await self.named(last, read_to, book, pages)

    async def named(self, last: Iterable[str], read_to: int, book: Book, pages: Sequence[Page]) -> Binding:
        """The limit set by the first of these people who may be named."""
        for person in last:
            if not await self.hides(person, book):
                return _binding(BindingKind.READER, read_to, book, pages, person)
        return _binding(BindingKind.HIDDEN, read_to, book, pages)

    async def of_thread(
        self, conversation: Conversation, read_to: int, book: Book, pages: Sequence[Page]
    ) -> Binding | None:
        """What limits a conversation itself: the end of a club's section, or in a public thread the slowest member."""
        club = await self._clubs.get_by_conversation(conversation.id)
        ends = {each.conversation_id: each for each in club.sections} if club else {}
        section = ends.get(conversation.id)
        if section is not None and read_to >= section.end:
            return replace(_binding(BindingKind.SECTION, read_to, book, pages), section=section.number)
        if club is None or club.ended_at is not None:
            return _binding(BindingKind.ENDED, read_to, book, pages)
        found = binding_in(club, book, pages, self._clock())
        return found and replace(_binding(found.kind, read_to, book, pages), reader_id=found.reader_id)

    async def positions(self, book: Book) -> Sequence[tuple[int, str]]:
        """The offset and the id of each reader who is in the middle of the book, the slowest first.

        Active members of clubs who have not said how far they are count as not having begun.
        """
        now, clubs = self._clock(), await self._clubs.get_by_book(book.id)
        silent = {each.reader_id for club in clubs for each in club.active(now) if not each.position.is_set}
        return [*((0, each) for each in sorted(silent)), *await self._readers.list_positions(book.id)]

    async def position(self, person: str, book: Book) -> ReadingPosition:
        """Where a person is in the book. Whoever takes part in a club on it and has not said counts as not having
        begun, so that nothing is spoiled for them.
        """
        known = await self._readers.get_position(person, book.id)
        if known.is_set or not await self._readers.is_in_club(person, book.id):
            return known
        return ReadingPosition(PositionState.READING)

    async def hides(self, person: str, book: Book) -> bool:
        """Whether a person hides their place in a club on the book."""
        clubs = await self._clubs.get_by_reader(person, book.id)
        return any(member.hidden for club in clubs if (member := club.member(person)))

    async def each(self, people: Iterable[str], book: Book) -> dict[str, int]:
        """How far each of these people may look, as an offset."""
        known = sorted({*people} - {""})
        positions = await asyncio.gather(*(self.position(person, book) for person in known))
        return {person: position.bound(book.length) for person, position in zip(known, positions, strict=True)}


def binding_in(club: Club, book: Book, pages: Sequence[Page], now: datetime) -> Binding | None:
    """Who limits what is public in a club on the book; None if all of it may be told."""
    lowest, last = club.lowest(now), club.slowest(now)
    if book.is_all_before(lowest):
        return None
    if not last:
        return _binding(BindingKind.NOBODY, lowest, book, pages)
    shown = [each.reader_id for each in last if not each.hidden]
    return _binding(BindingKind.READER if shown else BindingKind.HIDDEN, lowest, book, pages, *shown[:1])


def limit_line(binding: Binding, who: str, say: Say = in_english) -> str:
    """How far an answer goes, and because of whom or what; `who` is what to call a READER."""
    page = page_reference(binding.page, binding.page, estimated=binding.estimated, say=say) if binding.page else ""
    match binding.kind:
        case BindingKind.SECTION:
            return say("Answering up to {page}, the end of section {number}.", page=page, number=binding.section)
        case BindingKind.NOBODY:
            return say("Nobody is in the club at the moment, so I won't reveal anything here.")
        case BindingKind.ENDED if page:
            return say("Answering up to {page}, as far as everybody had read when the club ended.", page=page)
        case BindingKind.ENDED:
            return say("Not everybody had started reading when the club ended, so I won't reveal anything here.")
        case BindingKind.HIDDEN:
            return say("Answering only as far as everybody here has read.")
        case BindingKind.READER if page:
            return say("Answering up to {page}, as far as {who} has read.", page=page, who=who)
    return say("{who} hasn't started reading, so I won't reveal anything here yet.", who=who)


def position_line(
    position: ReadingPosition | None, book: Book, pages: Sequence[Page], say: Say, *, inside: str = ""
) -> str:
    """Where a reader is, and what that means for answers; None: others see it, and the reader hides their place.

    `inside` is put behind the page.
    """
    if position is None:
        return say("I only go as far as you've read.")
    match position.state:
        case PositionState.UNSET:
            return say("You haven't told me how far you've read, so I may talk about the whole book.")
        case PositionState.FINISHED:
            return say("You've finished the book, so I may talk about all of it.")
        case PositionState.READING if not position.read_to:
            return say("You haven't started reading, so I won't reveal anything yet.")
        case PositionState.READING:
            page = label_at(pages, position.read_to) + inside
            if book.pages_estimated:
                return say("You're at about page {page}. I won't reveal anything after it.", page=page)
            return say("You're at page {page}. I won't reveal anything after it.", page=page)


def _within(read_to: int, conversation: Conversation | None) -> int:
    limit = conversation.read_to if conversation is not None else None
    return read_to if limit is None else min(read_to, limit)


def _binding(kind: BindingKind, read_to: int, book: Book, pages: Sequence[Page], reader_id: str = "") -> Binding:
    page = "" if kind is BindingKind.HIDDEN else label_at(pages, read_to)
    return Binding(reader_id, read_to, page, book.pages_estimated, kind=kind)


class ManagePositions:
    """Sets and describes positions."""

    def __init__(self, *, readers: ReaderRepository, files: BookFiles, bounds: SharedBounds) -> None:
        self.bounds = bounds
        self._readers = readers
        self._files = files

    async def get(self, reader_id: str, book: Book) -> ReadingPosition:
        return await self.bounds.position(reader_id, book)

    async def seen_by_others(self, reader_id: str, book: Book) -> ReadingPosition | None:
        """The reader's position as it may be shown to others; None if they hide it in a club on the book."""
        return None if await self.bounds.hides(reader_id, book) else await self.get(reader_id, book)

    async def lowest(self, people: Iterable[str], book: Book) -> int:
        """How far into the book these people may look together, as an offset."""
        return await self.bounds.of(people, book)

    async def binding(
        self, people: Iterable[str], askers: Iterable[str], book: Book, conversation: Conversation | None = None
    ) -> Binding | None:
        """Who or what limits what the askers are told in a conversation; None if no asker has read further."""
        _, binding = await self.bounds.binding(people, askers, book, await self._pages(book), conversation)
        return binding

    async def binding_in(self, club: Club, book: Book, now: datetime) -> Binding | None:
        """Who limits what is public in a club on the book; None if all of it may be told."""
        return binding_in(club, book, await self._pages(book), now)

    async def binding_of_thread(self, conversation: Conversation, book: Book) -> Binding | None:
        """Who or what limits a conversation itself; None if nothing does."""
        if conversation.read_to is None:
            return None
        return await self.bounds.of_thread(conversation, conversation.read_to, book, await self._pages(book))

    async def binding_by(self, last: Iterable[str], read_to: int, book: Book) -> Binding:
        """The limit set by the first of these people who may be named."""
        return await self.bounds.named(last, read_to, book, await self._pages(book))

    async def slowest(self, book: Book) -> Sequence[tuple[int, str]]:
        """See SharedBounds.positions."""
        return await self.bounds.positions(book)

    async def page_at(self, book: Book, read_to: int) -> str:
        """The label of the page at an offset; empty for the beginning."""
        return label_at(await self._pages(book), read_to)

    async def lowest_of(self, people: Iterable[str], book: Book) -> tuple[int, Sequence[str]]:
        """How far these people may look together, and which of them is furthest behind; nobody if the whole book is
        open.
        """
        bounds = await self.bounds.each(people, book)
        lowest = min(bounds.values(), default=book.length)
        return lowest, [person for person, bound in bounds.items() if bound == lowest < book.length]

    async def set_page(self, reader_id: str, book: Book, label: str) -> ReadingPosition:
        """The reader has read to the end of a page.

        Raises:
            BookError: NOT_FOUND, there is no such page.
        """
        end = end_of_page(await self._pages(book), _without_total(label), estimated=book.pages_estimated)
        return await self._set(reader_id, book, ReadingPosition(PositionState.READING, end))

    async def set_chapter(self, reader_id: str, book: Book, name: str) -> ReadingPosition:
        """The reader has read to the end of a chapter, named by number, as the last, or by a title they have reached.

        Raises:
            BookError: NOT_FOUND, there is no such chapter, or its title has not been reached.
        """
        chapters, last = await self._chapters(book), _LAST.fullmatch(name)
        if last and is_chapter_word(last["kind"]) and (found := last_chapter(chapters, last["kind"])):
            name = f"#{found.number}"  # what stands behind it is no chapter
        name = _without_total(name)
        known = chapters if _is_mere_address(name) else await self._known(reader_id, book)
        end = await asyncio.to_thread(end_of_chapter, known, name)
        return await self._set(reader_id, book, ReadingPosition(PositionState.READING, end))

    async def reach(self, reader_id: str, book: Book, read_to: int) -> ReadingPosition:
        """The reader has read up to an offset."""
        return await self._set(reader_id, book, ReadingPosition(PositionState.READING, read_to))

    async def finish(self, reader_id: str, book: Book) -> ReadingPosition:
        """The reader has read the whole book."""
        return await self._set(reader_id, book, ReadingPosition(PositionState.FINISHED))

    async def clear(self, reader_id: str, book: Book) -> ReadingPosition:
        """The reader does not want to say: the whole book is open."""
        return await self._set(reader_id, book, ReadingPosition())

    async def follow(self, reader_id: str, book: Book, order: str) -> ReadingPosition:
        """Set a position from what a reader typed: "page 12", "12" or "Seite 12"; "chapter 3", "Act 2", "the third
        chapter" or the title of a chapter; "finished", "clear". Nothing typed changes nothing.

        Raises:
            BookError: NOT_FOUND, there is no such place, or the words make no sense.
        """
        order = _without_total(one_line(order))
        match = _ORDER.fullmatch(order)
        kind, name = (match[1].lower(), match[2]) if match else ("", "")
        if names_page(order) or order.isdecimal():
            return await self.set_page(reader_id, book, order)
        if kind == "chapter" and name:
            return await self.set_chapter(reader_id, book, name)
        if " " in order and any(map(is_chapter_word, order.split())):
            return await self.set_chapter(reader_id, book, order)
        if kind == "finished" and not name:
            return await self.finish(reader_id, book)
        if kind == "clear" and not name:
            return await self.clear(reader_id, book)
        if order and not kind and await self._is_title(reader_id, book, order):
            return await self.set_chapter(reader_id, book, order)
        if order:
            message = Worded(
                "I don't understand “{order}” as a place in the book. {usage}.",
                order=order,
                usage=Worded(USAGE),
            )
            raise BookError(BookErrorCode.NOT_FOUND, message)
        return await self.get(reader_id, book)

    async def describe(self, reader_id: str, book: Book) -> str:
        """See position_line; in English, and with the title of the chapter in which the reader is."""
        position = await self.get(reader_id, book)
        chapter = _chapter_at(await self._chapters(book), position.bound(book.length))
        inside = f" (in “{chapter.title}”)" if chapter and chapter.title else ""
        return position_line(position, book, await self._pages(book), in_english, inside=inside)

    async def lines(self, reader_id: str, book: Book, say: Say) -> Sequence[str]:
        """See position_line; and another line with the title of the chapter in which the reader is, if it has one."""
        position = await self.get(reader_id, book)
        line = position_line(position, book, await self._pages(book), say)
        read_to = position.bound(book.length)
        chapter = _chapter_at(await self._chapters(book), read_to)
        if position.state is not PositionState.READING or chapter is None or not chapter.title:
            return [line]
        if read_to == chapter.end:
            return [line, say("That's the end of “{title}”.", title=chapter.title)]
        return [line, say("That's in “{title}”.", title=chapter.title)]

    async def _pages(self, book: Book) -> Sequence[Page]:
        return await (await self._files.open(book)).pages()

    async def _chapters(self, book: Book) -> Sequence[Chapter]:
        return await (await self._files.open(book)).chapters()

    async def _is_title(self, reader_id: str, book: Book, order: str) -> bool:
        return order.casefold() in (each.title.casefold() for each in await self._known(reader_id, book))

    async def _known(self, reader_id: str, book: Book) -> Sequence[Chapter]:
        """The chapters; their titles as far as the reader may know them."""
        read_to = (await self.get(reader_id, book)).bound(book.length)
        return [
            each if title_is_read(each, read_to) else replace(each, title=without_titles(each.title))
            for each in await self._chapters(book)
        ]

    async def _set(self, reader_id: str, book: Book, position: ReadingPosition) -> ReadingPosition:
        await self._readers.set_position(reader_id, book.id, position)
        return position


PROPOSE_POSITION = "propose_position"
"""The name of the tool by which a model proposes a position."""
_WORD = re.compile(r"\w+(?:[-.]\w+)*")
_BOOKS = frozenset("book buch livre libro boek книга".split())  # noqa: SIM905
_DONE = re.compile(
    r"\b(?:finish|done\b|complete|read it all|whole book|the end\b|fertig|ausgelesen|durchgelesen|zu ende|beendet|"
    r"geschafft|fini\b|finie?s?\b|termin|acab|finito|finita|uitgelezen|klaar\b)"
)


def _chapter_at(chapters: Sequence[Chapter], read_to: int) -> Chapter | None:
    """The innermost chapter that somebody who has read so far has begun and not left; None if there is none."""
    return next((each for each in reversed(chapters) if title_is_read(each, read_to) and read_to <= each.end), None)


def _without_total(place: str) -> str:
    """A place without how many there are: "chapter 12" of "chapter 12 of 14"; "5 of 2" is in the second part."""
    total = _TOTAL.search(place)
    is_total = total and total.end() == len(place) and int(total["total"]) >= int(total["number"])
    return place[: total.end("number")] if total and is_total else place


def _is_mere_address(name: str) -> bool:
    """Whether a chapter is named by its kind and number, "the third story", so that no title is guessed."""
    words = _ARTICLE.sub("", name).split()
    return without_titles(" ".join(words)).split() == words and any(number_value(word) is not None for word in words)


def proposed(asked: Sequence[ChatMessage], page: str = "", chapter: str = "") -> PositionProposed | None:
    """The proposal of a page, a chapter or, without either, the end of the book, to the last reader who wrote it.

    None if nobody did, so that it is only the model's idea.
    """
    by = next((message for message in reversed(asked) if _names(message.content, page, chapter)), None)
    return PositionProposed(page, by.author_id, chapter, not (page or chapter)) if by else None


def has_said(said: Sequence[ChatMessage], proposal: PositionProposed) -> bool:
    """Whether a proposal is one that its reader has written, in a turn as it was kept."""
    own = [m for m in said if m.role is MessageRole.USER and m.author_id == proposal.reader_id]
    return any(_names(message.content, proposal.page, proposal.chapter) for message in own)


def _names(words: str, page: str, chapter: str) -> bool:
    """Whether words name a number as a page or a chapter, or say that the book is finished.

    Lines that begin with ">" are quoted: they are somebody else's words.
    """
    words = "\n".join(line for line in words.splitlines() if not line.lstrip().startswith(">"))
    tokens = _WORD.findall(words)
    divisions = [is_chapter_word(token) for token in tokens]
    if not (page or chapter):
        return bool(_DONE.search(fold(words))) and not any(_is_part(tokens, at) for at in range(len(tokens)))
    named = [at for at, token in enumerate(tokens) if is_same_number(token, page or chapter)]
    if page:
        return any(not any(divisions[max(0, at - 1) : at]) for at in named)
    return any(any(divisions[max(0, at - 1) : at + 2]) for at in named)  # "chapter 5", "the fifth chapter"


def _is_part(tokens: Sequence[str], at: int) -> bool:
    """Whether a word means a division of the book: "the book" is all of it, and "book two" a part."""
    if fold(tokens[at]) not in _BOOKS:
        return is_chapter_word(tokens[at])
    beside = [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
    return any(number_value(token) is not None for token in beside)


def place_in(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """The page and the chapter that a call of the tool names: one of them or, for the end of the book, neither.

    None if it names several of these, or something else.
    """
    page, chapter = (str(arguments.get(name, "")).strip() for name in ("page", "chapter"))
    if sum((bool(page), bool(chapter), arguments.get("finished") is True)) != 1:
        return None
    labels = tuple(page_in(label) if label else "" for label in (page, chapter))
    return None if None in labels else (labels[0] or "", labels[1] or "")


def proposals_in(said: Sequence[ChatMessage]) -> tuple[PositionProposed, ...]:
    """The proposals of a turn, from its messages as they were kept."""
    asked = [message for message in said if message.role is MessageRole.USER]
    failed = {message.tool_use_id for message in said if message.is_error}
    calls = [
        call
        for message in said
        for call in message.tool_invocations
        if call.tool_name == PROPOSE_POSITION and call.tool_use_id not in failed
    ]
    places = [place for call in calls if (place := place_in(call.arguments)) is not None]
    made = [proposed(asked, *place) for place in places]
    return tuple(dict.fromkeys(each for each in made if each))

"""Everything that a front end can have done."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from domain.book import Book, Citation, personal_shelf
from domain.chat import PlatformMessage
from domain.clubs.manage import ManageClubs
from domain.conversation import Conversation, Turn
from domain.errors import LLMError, LLMErrorCode
from domain.event import Answer, ApprovalAsked, PositionProposed, TextDelta, TurnEvent, TurnFailed
from domain.library.progress import ManagePositions
from domain.library.shelf import Bookshelf
from domain.ports import (
    BookCatalogue,
    BookDownloads,
    Clock,
    OpenReplyRepository,
    PrivacyRepository,
    ReaderRepository,
    UsageRepository,
)
from domain.reading.companion import ReadingCompanion
from domain.records import Erasure, PersonalPost, PostingPlace, Removal, UsageTotal
from domain.servers import LeftServers, ManageServers
from domain.turn.chat_with_book import ChatWithBook, Reader
from domain.turn.conversations import Company, ManageConversations, TitleWriter
from domain.turn.history import Transcripts
from domain.turn.quota import Allowances, Limits

LOCALES = 10_000
"""How many people's languages are remembered for when the database is away."""


class ManagePeople:
    """Preferences, usage and privacy of people, by their ids."""

    def __init__(
        self, *, readers: ReaderRepository, usage: UsageRepository, privacy: PrivacyRepository, shelf: Bookshelf
    ) -> None:
        self._readers = readers
        self._usage = usage
        self._privacy = privacy
        self._shelf = shelf
        self._left_out: set[str] = set()
        self._locales: dict[str, str] = {}

    async def verbose(self, reader_id: str) -> bool | None:
        """Whether they want to see tool calls; None if they have not said."""
        return await self._readers.get_verbose(reader_id)

    async def set_verbose(self, reader_id: str, verbose: bool) -> None:
        await self._readers.set_verbose(reader_id, verbose)

    async def is_left_out(self, reader_id: str) -> bool:
        """Whether they have opted out: nothing they write is stored or answered."""
        left_out = await self._readers.is_opted_out(reader_id)
        self._note(reader_id, left_out=left_out)
        return left_out

    def was_left_out(self, reader_id: str) -> bool:
        """The same as it was last known, for when the database is slow to answer."""
        return reader_id in self._left_out

    async def load_left_out(self) -> None:
        """Load who has opted out, so that it is known at once."""
        self._left_out |= {*await self._readers.list_opted_out()}

    def _note(self, reader_id: str, *, left_out: bool) -> None:
        (self._left_out.add if left_out else self._left_out.discard)(reader_id)

    async def leave_out(self, reader_id: str, *, left_out: bool) -> None:
        """Opt somebody out, so that nothing they write is stored or answered and their position limits nobody; or in
        again.
        """
        await self._readers.set_opted_out(reader_id, left_out)
        self._note(reader_id, left_out=left_out)

    async def locale(self, reader_id: str) -> str | None:
        """The last known language of a person, in their platform's naming; None if unknown."""
        locale = await self._readers.get_locale(reader_id) or self._locales.get(reader_id)
        self.remember_locale(reader_id, locale)
        return locale

    def last_locale(self, reader_id: str) -> str | None:
        """The same as it was last known, for when the database is away; None if it has not been known lately."""
        return self._locales.get(reader_id)

    def remember_locale(self, reader_id: str, locale: str | None) -> None:
        """Keep a person's language in memory only, until they choose one by starting to talk."""
        self._locales.pop(reader_id, None)
        if locale is not None:
            self._locales[reader_id] = locale
        while len(self._locales) > LOCALES:
            del self._locales[next(iter(self._locales))]

    async def note_locale(self, reader_id: str, locale: str) -> None:
        """Record the language to answer them in where messages do not tell it."""
        self.remember_locale(reader_id, locale)
        if await self._readers.get_locale(reader_id) != locale:
            await self._readers.set_locale(reader_id, locale)

    async def usage(self, reader_id: str, since: datetime) -> UsageTotal:
        """What they have used since then."""
        return await self._usage.total_for_reader(reader_id, since)

    async def usage_in_guild(self, guild_id: str, since: datetime) -> UsageTotal:
        """What everybody in a server has used since then."""
        return await self._usage.total_for_guild(guild_id, since)

    async def export(self, reader_id: str) -> dict[str, Any]:
        """All that is kept about them, ready for JSON."""
        return await self._privacy.export(reader_id)

    async def erase(self, reader_id: str, written_before: datetime | None = None) -> Erasure:
        """Erase everything kept about them, at once and for good.

        Posts that show them on the platform are on the list of removals from then on. Messages of theirs from before
        `written_before` (by the platform's clock) that come in later are not stored.
        """
        self.remember_locale(reader_id, None)
        own_books = await self._shelf.all_on(personal_shelf(reader_id))
        erased = await self._privacy.erase(reader_id, written_before)
        await self._shelf.delete_unused(own_books)
        return erased

    async def note_posts(self, posts: Iterable[PersonalPost]) -> bool:
        """Remember messages of the bot that show people, so that they can be removed. False: one has to be removed."""
        return await self._privacy.note_posts(posts)

    async def note_place(self, place: PostingPlace, forget_before: datetime | None = None) -> None:
        """Remember where the bot is about to post, and forget places noted before a time."""
        await self._privacy.note_place(place, forget_before)

    async def posting_places(self) -> Sequence[PostingPlace]:
        """Where the bot has been about to post, oldest first."""
        return await self._privacy.list_places()

    async def forget_posts(self, message_id: str) -> None:
        """A message is gone from the platform."""
        await self._privacy.forget_posts(message_id)

    async def forget_posts_in(self, channel_id: str) -> None:
        """A channel or thread is gone from the platform."""
        await self._privacy.forget_posts_in(channel_id)

    async def removals(self) -> Sequence[Removal]:
        """What has yet to be removed from the platform, oldest first."""
        return await self._privacy.list_removals()

    async def removals_for(self, reader_id: str) -> Sequence[Removal]:
        """What has yet to be removed at somebody's request, refused removals included."""
        return await self._privacy.list_removals_for(reader_id)

    async def removed(self, removal: Removal) -> None:
        """The removal is done."""
        await self._privacy.removed(removal)

    async def refused(self, removal: Removal) -> None:
        """The platform refused the removal; it is retried after a day."""
        await self._privacy.refused(removal)


@dataclass(frozen=True, slots=True)
class Asked:
    """The outcome of a question: how its turn ended, and what the model proposed to its reader meanwhile.

    `citations` are those of the text that was written, also if the turn failed.
    """

    conversation: Conversation
    ending: Answer | TurnFailed
    proposals: tuple[PositionProposed, ...] = ()
    citations: tuple[Citation, ...] = ()


class PersonalQuestions:
    """Answers questions in conversations that are shown in no thread, one question per person at a time."""

    def __init__(self, *, chat: ChatWithBook, conversations: ManageConversations) -> None:
        self._chat = chat
        self._conversations = conversations
        self._locks: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()

    async def ask(
        self,
        book: Book,
        reader: Reader,
        question: str,
        *,
        external_id: str,
        written_at: datetime | None = None,
        quoted: PlatformMessage | None = None,
        read_to: int | None = None,
    ) -> Asked:
        """Answer a question about a book from as far as its reader has read, but no further than `read_to`.

        `external_id` identifies the question, also after a crash; `quoted` is the message that it quotes, `written_at`
        is as in `ChatWithBook.receive`. The caller has to confirm the answer by `told`. Tools that change something are
        not used: nobody could allow it.

        Raises:
            BookError, ConversationError, StorageError: there is no answer, and the sentence says why.
            LLMError: EMPTY_REPLY, the question was deleted meanwhile.
        """
        async with self._locks.setdefault((book.id, book.shelf, reader.id), asyncio.Lock()):
            conversation = await self._conversations.aside(book.id, book.shelf, reader.id)
            await self._forget_unanswered(conversation.id, but=external_id)
            await self._chat.receive(
                conversation.id, question, reader, external_id=external_id, written_at=written_at, said_in=quoted
            )
            return await self._heard(conversation, reader, self._chat.answer(conversation.id, read_to))

    async def ask_again(self, turn: Turn, reader: Reader, *, read_to: int | None = None) -> Asked:
        """Answer one of their questions again; the answer replaces the old one, which stays if this fails.

        Raises:
            as `ask`.
        """
        conversation = await self._conversations.get(turn.conversation_id)
        async with self._locks.setdefault(
            (conversation.book_id, conversation.guild_id or "", reader.id), asyncio.Lock()
        ):
            asked: Asked | None = None
            try:
                asked = await self._heard(conversation, reader, self._chat.answer_again(turn.id, read_to))
            finally:
                if asked is None or isinstance(asked.ending, TurnFailed):
                    await self._chat.delivered(turn.id, turn.reply_ids, turn.trace_id)  # it is shown as before
            return asked

    async def _heard(self, conversation: Conversation, reader: Reader, turn: AsyncGenerator[TurnEvent, None]) -> Asked:
        """The last event of a turn."""
        proposals: dict[PositionProposed, None] = {}
        citations: tuple[Citation, ...] = ()
        ending: Answer | TurnFailed | None = None
        async with aclosing(turn) as events:
            async for event in events:
                match event:
                    case ApprovalAsked(approval_id=approval_id):
                        self._chat.decide(conversation.id, approval_id, reader, allowed=False)
                    case PositionProposed():
                        proposals[event] = None
                    case TextDelta():
                        citations = event.citations
                    case Answer() | TurnFailed():
                        ending = event
        if ending is not None:
            return Asked(conversation, ending, tuple(proposals), citations)
        raise LLMError(LLMErrorCode.EMPTY_REPLY, "This question was withdrawn before it was answered.")

    async def told(self, asked: Asked, message_ids: tuple[str, ...] = ()) -> bool:
        """Record that the reader has the answer, or knows that there is none, and in which messages. The result is that
        of `ChatWithBook.delivered`.
        """
        return await self._chat.delivered(asked.ending.turn_id, message_ids)

    async def _forget_unanswered(self, conversation_id: str, *, but: str) -> None:
        """Delete other questions that a crash or a failure has left without an answer: nobody waits for them."""
        await self._chat.recover(conversation_id)
        for message in await self._chat.waiting(conversation_id):
            if message.external_id != but:
                await self._chat.take_back(message.external_id or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What front ends tell people about the program, and the limits they enforce themselves.

    `provider` is the company whose model answers, empty for a server that the operator has chosen. `daily_tokens` is
    per person, 0 for no limit; `verbose_default` applies where neither a conversation nor its reader has chosen.
    """

    provider: str
    model: str
    max_upload_mb: int
    daily_tokens: int
    verbose_default: bool
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """The core, as front ends know it.

    `titles` is None if no model writes, `catalogue` if the operator has turned it off. `missing_tools` names the tool
    servers that cannot be reached now, and why.
    """

    chat: ChatWithBook
    conversations: ManageConversations
    transcripts: Transcripts
    company: Company
    shelf: Bookshelf
    catalogue: BookCatalogue | None
    downloads: BookDownloads
    positions: ManagePositions
    reading: ReadingCompanion
    questions: PersonalQuestions
    people: ManagePeople
    servers: ManageServers
    left_servers: LeftServers
    allowances: Allowances
    clubs: ManageClubs
    open_replies: OpenReplyRepository
    titles: TitleWriter | None
    clock: Clock
    facts: Facts
    missing_tools: Callable[[], Mapping[str, str]] = dict

    @property
    def has_model(self) -> bool:
        """Whether a model writes the answers, rather than the built-in answerer, which quotes the book."""
        return self.titles is not None

    async def shows_calls(self, reader_id: str | None, server_id: str | None) -> bool:
        """Whether tool calls are shown where that is not chosen for the conversation: as the reader, the server's
        managers or else the operator want it. None: there is no reader, or no server.
        """
        chosen = None if reader_id is None else await self.people.verbose(reader_id)
        if chosen is None:
            chosen = (await self.servers.settings(server_id)).verbose
        return self.facts.verbose_default if chosen is None else chosen

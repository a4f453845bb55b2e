"""Everything that a front end can have done."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.book import personal_shelf
from domain.clubs.manage import ManageClubs
from domain.library.progress import ManagePositions
from domain.library.shelf import Bookshelf, LeftServers
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
from domain.servers import ManageServers
from domain.turn.chat_with_book import ChatWithBook, PersonalQuestions
from domain.turn.conversations import Company, ManageConversations, TitleWriter
from domain.turn.history import Transcripts
from domain.turn.quota import Allowances, Limits
from domain.usage import Erasure, PersonalPost, PostingPlace, Removal, UsageTotal

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

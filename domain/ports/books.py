"""The ports to a book: its file read, indexed, opened, seen as far as a reader has come, and read by clubs."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from domain.book import (
    Book,
    BookText,
    Chapter,
    Citation,
    ContentsEntry,
    DerivedText,
    DownloadedFile,
    Mentions,
    OfferedBook,
    Page,
    Passage,
    PhraseHit,
    Sentence,
)
from domain.clubs.plan import Club, Member, Post, PostState, Section, Vote
from domain.errors import BookError

Progress = Callable[[str, float], None]
"""Told the stage of long work ("reading", "indexing") and its done share 0..1; called from any thread."""


class BookView(Protocol):
    """What a reader who has read up to `read_to` may see of one book.

    Every answer is a function of `text[:read_to]` and nothing else: change the rest, and no byte of any result does.
    """

    @property
    def book(self) -> Book: ...

    @property
    def read_to(self) -> int: ...

    async def search(self, queries: Sequence[str], top_k: int = 5) -> list[Passage]:
        """The passages that fit best, best first; several phrasings of one question are fused."""
        ...

    async def read_pages(self, first: str, last: str) -> list[Passage]:
        """The text of pages (by label), one passage a page.

        Raises:
            BookError: NOT_FOUND, no such page has been reached.
        """
        ...

    async def read_around(self, source: str, before: int = 1, after: int = 1) -> Passage:
        """A passage seen before, widened by whole neighbours.

        Raises:
            BookError: NOT_FOUND, `source` names no passage that has been reached.
        """
        ...

    async def contents(self) -> list[ContentsEntry]:
        """Chapters that the reader has reached."""
        ...

    async def read_chapter(self, number: int) -> Passage:
        """A chapter as far as it has been read; 0 is what stands before the first, or a book without chapters.

        Raises:
            BookError: NOT_FOUND, no such chapter has been reached.
        """
        ...

    async def find_phrase(self, text: str, limit: int = 5) -> list[PhraseHit]:
        """Where a phrase stands, exactly or as half remembered, best first."""
        ...

    async def count_mentions(self, term: str) -> Mentions:
        """Exact counts of a word or name."""
        ...

    async def mentions(self, term: str, limit: int = 1_000) -> list[Sentence]:
        """The sentences that mention a word or name, in order; of more than `limit` the first."""
        ...

    async def missing_words(self, text: str) -> dict[str, list[str]]:
        """The telling words of a text that do not occur, each with words that do and are spelt like it, best first.

        A word with a capital occurs where one does with a capital.
        """
        ...

    async def cite(self, start: int, end: int) -> Citation:
        """The citation of a span.

        Raises:
            BookError: NOT_FOUND, the span is empty or reaches beyond the bound.
        """
        ...


class BookFile(Protocol):
    """An indexed book, opened for reading."""

    @property
    def damage(self) -> BookError | None:
        """INVALID_STATE, if the file was found damaged or gone since it was opened, by whichever view of it."""
        ...

    async def verify(self) -> None:
        """Read all of the file.

        Raises:
            BookError: INVALID_STATE, something in it cannot be read, or does not fit the rest, or it was made by an
                older version of the program, whose books can be searched less well.
        """
        ...

    async def text(self, page: str | None = None) -> str:
        """The text that was indexed, all of it or one page by its label.

        Raises:
            BookError: NOT_FOUND, no such page.
        """
        ...

    async def pages(self) -> tuple[Page, ...]: ...

    async def chapters(self) -> tuple[Chapter, ...]: ...

    def view(self, read_to: int) -> BookView: ...


class BookFiles(Protocol):
    """The folder of indexed books, each named after the file it was made from, written once, read only ever after."""

    def expecting(self, size: int) -> AbstractAsyncContextManager[None]:
        """Be ready for a book in the block; it is being read, from a file of so many bytes, and may never come."""
        ...

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None, *, anew: bool = False) -> int:
        """Index a book, and say how many words it has.

        A book that is there already, and sound, is left alone, or written `anew`, which takes as long as the first
        time: a shelf cannot tell by it what others hold. Nothing is left behind on failure or kill.
        """
        ...

    async def open(self, book: Book) -> BookFile:
        """Open the indexed book.

        Raises:
            BookError: INVALID_STATE, its file is missing or unreadable.
        """
        ...

    async def remove(self, sha256: str) -> None:
        """Unlink the file; a missing one is fine."""
        ...

    async def written_before(self, moment: datetime) -> Sequence[str]:
        """The hashes of books whose files are older than that."""
        ...


class BookParser(Protocol):
    """Turns the bytes of a file into a book's text."""

    async def expect(self, filename: str) -> None:
        """Get ready for a file of this name, which is on its way and may never come."""
        ...

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        """Read a file of any supported format, without blocking, within limits of time, memory and size.

        Raises:
            BookError: the file cannot become a book; the sentence says why and what to do.
        """
        ...


class BookCatalogue(Protocol):
    """A catalogue of books that are free to download."""

    async def find(self, query: str) -> Sequence[OfferedBook]:
        """The books that fit best, best first, ten at most.

        Raises:
            DownloadError: CATALOGUE_DOWN, with a sentence.
        """
        ...


class BookDownloads(Protocol):
    """Fetches files from the hosts that the operator has named, and from nowhere else."""

    async def download(self, url: str, progress: Progress | None = None) -> DownloadedFile:
        """The file at an address.

        Raises:
            DownloadError: it may not be fetched, or cannot be; the sentence says why and what to do.
        """
        ...


class BookRepository(Protocol):
    """Books on shelves."""

    async def save(self, book: Book) -> None:
        """Insert or update.

        Raises:
            BookError: ALREADY_EXISTS, its shelf holds the same file under another id.
        """
        ...

    async def get(self, book_id: str) -> Book | None:
        """The book; None where it is off its shelf, too."""
        ...

    async def get_by_hash(self, shelf: str, sha256: str) -> Book | None:
        """The book of a file, on the shelf or taken off it."""
        ...

    async def list(self, shelf: str | None = None) -> Sequence[Book]:
        """Newest first; all shelves when none is named."""
        ...

    async def list_removed(self, shelf: str | None = None) -> Sequence[Book]:
        """Those that were taken off and are still there to be brought back; the last one first."""
        ...

    async def count_by_hash(self, sha256: str, *, unlike: str = "") -> int:
        """How many shelves hold this file, books taken off included; with `unlike`, as another format than that."""
        ...

    async def delete(self, book_id: str) -> None:
        """With its conversations, messages and positions. Unknown ids are fine."""
        ...


class DerivedTextRepository(Protocol):
    """Texts a model wrote about books; they go with their book."""

    async def get(self, book_id: str, kind: str, key: str, read_to: int) -> DerivedText | None:
        """The text of that kind and key that depends on most of the book, yet on nothing beyond `read_to`."""
        ...

    async def put(self, text: DerivedText) -> None:
        """Insert, or replace the one of the same kind, key and `depends_to`."""
        ...


class ClubRepository(Protocol):
    """Clubs, each with its sections and members. A channel has one running club at most.

    Whatever changes a club lets it be looked at (`list_to_look_at`) at once, until `look_again` says otherwise: so
    nothing that follows from a change is forgotten in a crash.
    """

    async def create(self, club: Club) -> bool:
        """Insert; False, and nothing changed, where its channel has a running club."""
        ...

    async def get(self, club_id: str) -> Club | None:
        """The club, its members with their positions in its book."""
        ...

    async def get_running(self, guild_id: str) -> Sequence[Club]:
        """The clubs of a server that have not ended, oldest first."""
        ...

    async def get_by_book(self, book_id: str) -> Sequence[Club]:
        """Those that have not ended, oldest first."""
        ...

    async def get_by_reader(self, reader_id: str, book_id: str) -> Sequence[Club]:
        """The running clubs on a book in which somebody takes part."""
        ...

    async def get_by_conversation(self, conversation_id: str) -> Club | None:
        """The club, ended or not, one of whose sections has that conversation."""
        ...

    async def put_member(self, club_id: str, member: Member) -> None:
        """Insert or update all but the position; clubs that are gone are fine."""
        ...

    async def put_sections(self, club_id: str, sections: Sequence[Section]) -> None:
        """Update dates, conversations and threads, all or none; when they were opened is left alone."""
        ...

    async def claim_opening(self, club_id: str, number: int, now: datetime) -> bool:
        """Note that a section's thread is opened now; False: it has been before."""
        ...

    async def put_host(self, club_id: str, host_id: str) -> None: ...
    async def end(self, club_id: str, now: datetime) -> None: ...
    async def look_again(self, club_id: str, at: datetime | None) -> None:
        """Nothing is to be done for a club until then; None: until it changes."""
        ...

    async def look_at_all(self) -> None:
        """Let all running clubs be looked at: a crash may have come between a change and what follows from it."""
        ...

    async def list_to_look_at(self, now: datetime) -> Sequence[str]:
        """Ids of the clubs for which something may be to be done."""
        ...

    async def claim(self, club_id: str, key: str, now: datetime) -> Post:
        """The post of that key; where there is none yet it is CLAIMED now, before it is made.

        Raises:
            StorageError: LEASE_LOST, another process serves the server by now.
        """
        ...

    async def settle(self, club_id: str, key: str, state: PostState, message_id: str = "", shown: str = "") -> None:
        """Note what became of a claimed post. `shown` is what it shows, as far as one asks for that again."""
        ...

    async def forget(self, club_id: str, keys: Sequence[str]) -> None:
        """Forget posts, so that they can be made again."""
        ...

    async def get_posts(self, club_id: str) -> dict[str, Post]:
        """All posts of a club by their keys."""
        ...

    async def put_vote(self, vote: Vote) -> bool:
        """Insert or update; False, and nothing changed, for a new one whose channel has one that is not told of."""
        ...

    async def list_votes(self, now: datetime) -> Sequence[Vote]:
        """Votes that are to be posted, or whose end is to be told."""
        ...

    async def get_votes(self, channel_id: str) -> Sequence[Vote]:
        """Votes in a channel that are not told of yet."""
        ...

"""The ports for books: parsing, indexing and opening files, the view up to a reader's position, and clubs."""

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
    ShelfLimits,
)
from domain.clubs.plan import Club, Member, Post, PostState, Section, Vote
from domain.errors import BookError
from domain.library.search.languages import Analyzer

Progress = Callable[[str, float], None]
"""Receives the stage of long work ("reading", "indexing") and its progress 0..1; called from any thread."""


class BookView(Protocol):
    """What a reader who has read up to `read_to` may see of one book.

    Every result is a function of `text[:read_to]` alone: changing the rest changes no byte of any result.
    """

    @property
    def book(self) -> Book: ...

    @property
    def read_to(self) -> int: ...

    async def search(self, queries: Sequence[str], top_k: int = 5) -> list[Passage]:
        """The passages that match best, best first; several phrasings of one question are fused."""
        ...

    async def read_pages(self, first: str, last: str) -> list[Passage]:
        """The text of pages (by label), one passage a page.

        Raises:
            BookError: NOT_FOUND, no such page has been reached.
        """
        ...

    async def read_around(self, source: str, before: int = 1, after: int = 1) -> Passage:
        """A known passage, widened by whole neighbours.

        Raises:
            BookError: NOT_FOUND, `source` names no passage that has been reached.
        """
        ...

    async def contents(self) -> list[ContentsEntry]:
        """Chapters that the reader has reached."""
        ...

    async def read_chapter(self, number: int) -> Passage:
        """A chapter as far as it has been read; 0 is the text before the first, or a book without chapters.

        Raises:
            BookError: NOT_FOUND, no such chapter has been reached.
        """
        ...

    async def find_phrase(self, text: str, limit: int = 5, *, exact: bool = False) -> list[PhraseHit]:
        """Where a phrase occurs word by word; if nowhere, where something similar does, unless `exact`. Best first."""
        ...

    async def count_mentions(self, term: str) -> Mentions:
        """Exact counts of a word or name."""
        ...

    async def mentions(self, term: str, limit: int = 1_000) -> list[Sentence]:
        """The first `limit` sentences that mention a word or name, in order."""
        ...

    async def missing_words(self, text: str) -> dict[str, list[str]]:
        """The telling words of a text that do not occur, each with similarly spelt words that do, best first.

        A capitalised word occurs only where a capitalised one does. One that occurs, but not beside the word it is
        typed beside, is among them if a name that sounds the same stands there, or one like it often: "father maple".
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
        """INVALID_STATE, if the file was found damaged or gone since it was opened, through any of its views."""
        ...

    async def verify(self) -> None:
        """Read the whole file.

        Raises:
            BookError: INVALID_STATE, something cannot be read or is inconsistent, or the file was made by an older
            version of the program, whose books can be searched less well.
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

    async def analyzer(self) -> Analyzer:
        """The analyzer of its language."""
        ...

    def view(self, read_to: int) -> BookView: ...


class BookFiles(Protocol):
    """The folder of indexed books: each is named after the file it was made from, written once, and then read-only."""

    def expecting(self, size: int) -> AbstractAsyncContextManager[None]:
        """Be ready to write a book during the block. It is parsed from a file of so many bytes, and may never come."""
        ...

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None, *, anew: bool = False) -> int:
        """Index a book and return how many words it has.

        A sound file that exists already is kept, or written `anew`, which takes as long as the first time, so that a
        shelf cannot tell what others hold. Nothing is left behind after a failure or a kill.
        """
        ...

    async def open(self, book: Book) -> BookFile:
        """Open the indexed book.

        Raises:
            BookError: INVALID_STATE, its file is missing or unreadable.
        """
        ...

    async def remove(self, sha256: str) -> None:
        """Delete the file; a missing one is ignored."""
        ...

    async def written_before(self, moment: datetime) -> Sequence[str]:
        """The hashes of books whose files are older."""
        ...


class BookParser(Protocol):
    """Turns the bytes of a file into a book's text."""

    async def expect(self, filename: str) -> None:
        """Prepare for a file of this name, which is on its way and may never come."""
        ...

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        """Parse a file of any supported format, without blocking, within limits of time, memory and size.

        Raises:
            BookError: the file cannot become a book; the sentence says why and what to do.
        """
        ...


class BookCatalogue(Protocol):
    """A catalogue of books that are free to download."""

    async def find(self, query: str) -> Sequence[OfferedBook]:
        """The books that match best, best first, ten at most.

        Raises:
            DownloadError: CATALOGUE_DOWN, with a sentence.
        """
        ...


class BookDownloads(Protocol):
    """Downloads files from the hosts that the operator has named, and from nowhere else."""

    async def download(self, url: str, progress: Progress | None = None) -> DownloadedFile:
        """The file at an address.

        Raises:
            DownloadError: it must not or cannot be downloaded; the sentence says why and what to do.
        """
        ...


class BookRepository(Protocol):
    """Books on shelves."""

    async def save(self, book: Book, limits: ShelfLimits | None = None) -> None:
        """Insert or update; with `limits`, only if there is room beside the other books on the shelf, also for those
        that others add at the same moment.

        Raises:
            BookError: ALREADY_EXISTS, its shelf holds the same file under another id; SHELF_FULL.
        """
        ...

    async def get(self, book_id: str) -> Book | None:
        """The book; None if it is off its shelf."""
        ...

    async def get_by_hash(self, shelf: str, sha256: str) -> Book | None:
        """The book of a file, on the shelf or removed from it."""
        ...

    async def list(self, shelf: str | None = None) -> Sequence[Book]:
        """Newest first; of all shelves if none is named."""
        ...

    async def list_removed(self, shelf: str | None = None) -> Sequence[Book]:
        """The removed books that can be restored, the most recently removed first."""
        ...

    async def count_by_hash(self, sha256: str, *, unlike: str = "") -> int:
        """How many shelves hold this file, removed books included; with `unlike`, in another format than that."""
        ...

    async def delete(self, book_id: str) -> None:
        """Delete with its conversations, messages and positions. Unknown ids are ignored."""
        ...


class DerivedTextRepository(Protocol):
    """Texts a model wrote about books; they are deleted with their book."""

    async def get(self, book_id: str, kind: str, key: str, read_to: int) -> DerivedText | None:
        """The text of that kind and key that depends on most of the book, but on nothing beyond `read_to`."""
        ...

    async def put(self, text: DerivedText) -> None:
        """Insert, or replace the one of the same kind, key and `depends_to`."""
        ...


class ClubRepository(Protocol):
    """Clubs, each with its sections and members. A channel has at most one running club.

    Every change to a club makes it due for `list_to_look_at` at once, until `look_again` postpones it, so that a crash
    forgets no consequence of a change.
    """

    async def create(self, club: Club) -> bool:
        """Insert; False, and nothing changed, if its channel has a running club."""
        ...

    async def get(self, club_id: str) -> Club | None:
        """The club, its members with their positions in its book."""
        ...

    async def get_running(self, guild_id: str) -> Sequence[Club]:
        """The clubs of a server that have not ended, oldest first."""
        ...

    async def get_by_book(self, book_id: str) -> Sequence[Club]:
        """The running clubs that read a book, oldest first."""
        ...

    async def get_by_reader(self, reader_id: str, book_id: str) -> Sequence[Club]:
        """The running clubs on a book that somebody is a member of."""
        ...

    async def get_by_conversation(self, conversation_id: str) -> Club | None:
        """The club, ended or not, with a section that has that conversation."""
        ...

    async def put_member(self, club_id: str, member: Member) -> None:
        """Insert or update everything but the position; missing clubs are ignored."""
        ...

    async def change_sections(self, club_id: str, change: Callable[[Section], Section]) -> None:
        """Change dates, conversations and threads, all or none; the time of opening is left alone.

        `change` is given each section as it is at that moment, perhaps several times.
        """
        ...

    async def forget_thread(self, guild_id: str, thread_id: str) -> str | None:
        """A thread was deleted: its section has none, and gets another one only if somebody asks for it. Returns the id
        of the club, or None if it belonged to none.
        """
        ...

    async def claim_opening(self, club_id: str, number: int, now: datetime) -> bool:
        """Record that a section's thread is being opened; False if that was recorded before."""
        ...

    async def put_host(self, club_id: str, host_id: str) -> None: ...
    async def end(self, club_id: str, now: datetime) -> None: ...
    async def look_again(self, club_id: str, at: datetime | None) -> None:
        """Nothing needs to be done for a club until then; None: until it changes."""
        ...

    async def look_at_all(self) -> None:
        """Make all running clubs due: a crash may have come between a change and its consequences."""
        ...

    async def list_to_look_at(self, now: datetime) -> Sequence[str]:
        """Ids of the clubs for which something may have to be done."""
        ...

    async def claim(self, club_id: str, key: str, now: datetime) -> Post:
        """The post with that key; if there is none, it is CLAIMED now, before it is sent.

        Raises:
            StorageError: LEASE_LOST, another process serves the server by now.
        """
        ...

    async def settle(self, club_id: str, key: str, state: PostState, message_id: str = "", shown: str = "") -> None:
        """Record the outcome of a claimed post. `shown` is what it shows, if that is needed later."""
        ...

    async def forget(self, club_id: str, keys: Sequence[str]) -> None:
        """Forget posts, so that they can be sent again."""
        ...

    async def get_posts(self, club_id: str) -> dict[str, Post]:
        """All posts of a club, by key."""
        ...

    async def has_posted(self, guild_id: str, message_id: str) -> bool:
        """Whether a message was posted for one of a server's clubs, or is the poll of one of its votes."""
        ...

    async def put_vote(self, vote: Vote) -> bool:
        """Insert or update; False, and nothing changed, for a new one in a channel with an unannounced vote."""
        ...

    async def list_votes(self, now: datetime) -> Sequence[Vote]:
        """Votes that have to be posted, or whose result has to be announced."""
        ...

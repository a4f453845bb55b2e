"""The shelf: adding, finding, opening and removing books."""

import asyncio
import hashlib
import logging
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from weakref import WeakValueDictionary

from domain.book import Book, BookText, ShelfLimits, one_line
from domain.errors import BookError, BookErrorCode, MarginaliaError, Worded, listed
from domain.library.search.words import fold
from domain.ports import BookFile, BookFiles, BookParser, BookRepository, Clock, Progress

logger = logging.getLogger(__name__)

LOCAL_SHELF = "local"
"""The shelf of the terminal."""


@dataclass(frozen=True, slots=True)
class AddedBook:
    """The result of adding a file. `is_new` False: the shelf had it already and nothing changed, unless it `is_back`:
    restored, with all its data, after it had been removed.
    """

    book: Book
    is_new: bool
    warnings: tuple[str, ...] = ()
    is_back: bool = False


class Bookshelf:
    """The books of all shelves. On other shelves a book does not exist."""

    def __init__(self, *, parser: BookParser, files: BookFiles, books: BookRepository, clock: Clock) -> None:
        self._parser = parser
        self._files = files
        self._books = books
        self._clock = clock
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._listing: dict[str, asyncio.Task[Sequence[Book]]] = {}

    async def expect(self, filename: str) -> None:
        """Prepare for a file of this name, so that slow preparations run while the file is downloaded."""
        await self._parser.expect(filename)

    async def add(
        self,
        data: bytes,
        filename: str,
        *,
        shelf: str = LOCAL_SHELF,
        title: str = "",
        author: str = "",
        added_by: str = "",
        progress: Progress | None = None,
        limits: ShelfLimits | None = None,
    ) -> AddedBook:
        """Parse, index and shelve a file. Adding the same file again changes nothing.

        Raises:
            BookError: the file cannot become a book, or its shelf is full; nothing is left behind.
            StorageError: the disk or the database refused.
        """
        sha256 = await asyncio.to_thread(_digest, data)
        if known := await self._known(shelf, sha256, limits):
            return known
        async with self._files.expecting(len(data)):
            text = await self._parser.read(data, filename, progress)
            if await self._books.count_by_hash(sha256, unlike=text.format):
                # A file's name may decide what it is read as: what others have made of the same bytes is not touched.
                sha256 = await asyncio.to_thread(_digest, data + text.format.encode())
            book = _book(text, sha256, shelf, title, author, added_by, self._clock)
            async with self._lock(sha256):
                return await self._shelve(replace(book, filename=_last_component(filename)), text, progress, limits)

    async def _known(self, shelf: str, sha256: str, limits: ShelfLimits | None) -> AddedBook | None:
        """The result for a file that the shelf has, or had until it was removed; None: it has to be parsed.

        Raises:
            BookError: SHELF_FULL, it would be parsed in vain.
        """
        known = await self._books.get_by_hash(shelf, sha256)
        if known is None and limits is not None:
            books = await self.list(shelf)
            limits.assert_room(len(books), sum(book.length for book in books))
        if known is None or not await self._is_readable(known):
            return None
        return AddedBook(await self.restore(known, limits), is_new=False, is_back=known.removed_at is not None)

    async def _shelve(
        self, book: Book, text: BookText, progress: Progress | None, limits: ShelfLimits | None
    ) -> AddedBook:
        """Index a parsed book and put it on its shelf, unless somebody has done so meanwhile.

        It takes the same steps and time whatever other shelf has the file.
        """
        if twin := await self._known(book.shelf, book.sha256, limits):
            return twin
        words = await self._files.write(book.sha256, text, progress, anew=True)
        known = await self._books.get_by_hash(book.shelf, book.sha256)
        if known is None:
            return await self._put(replace(book, word_count=words), text.warnings, limits)
        renewed = Worded("Its index was missing or out of date and has been rebuilt.")
        return AddedBook(
            await self.restore(known, limits), is_new=False, is_back=known.removed_at is not None, warnings=(renewed,)
        )

    async def _put(self, book: Book, warnings: tuple[str, ...], limits: ShelfLimits | None) -> AddedBook:
        try:
            await self._books.save(book, limits)
        except BookError as error:
            if error.code is BookErrorCode.SHELF_FULL and not await self._books.count_by_hash(book.sha256):
                await self._files.remove(book.sha256)
            twin = await self._books.get_by_hash(book.shelf, book.sha256)
            if error.code is not BookErrorCode.ALREADY_EXISTS or twin is None:
                raise
            return AddedBook(twin, is_new=False)  # another process has been faster
        return AddedBook(book, is_new=True, warnings=warnings)

    async def list(self, shelf: str | None = LOCAL_SHELF) -> Sequence[Book]:
        """The books of a shelf, newest first; of all shelves for None."""
        return await self._books.list(shelf)

    async def glance(self, shelf: str) -> Sequence[Book]:
        """As `list`, for suggestions: those who ask while it is being read share one query."""
        if shelf not in self._listing:
            self._listing[shelf] = asyncio.create_task(self._books.list(shelf))
            self._listing[shelf].add_done_callback(partial(self._note_listed, shelf))
        return await asyncio.shield(self._listing[shelf])

    def _note_listed(self, shelf: str, listing: asyncio.Task[Sequence[Book]]) -> None:
        del self._listing[shelf]
        if not listing.cancelled():
            listing.exception()  # whoever still waits gets it; perhaps nobody does

    async def get(self, book_id: str, *, shelf: str | None = None) -> Book:
        """A book by its id, on one shelf or on any.

        Raises:
            BookError: NOT_FOUND.
        """
        book = await self._books.get(book_id)
        if book is None or shelf not in (None, book.shelf):
            raise BookError(BookErrorCode.NOT_FOUND, "That book isn't on the shelf any more.")
        return book

    async def find(
        self, reference: str, *, shelf: str | None = LOCAL_SHELF, removed: bool = False, in_full: bool = False
    ) -> Book:
        """A book by its id, its title, its file's name or path, or the beginning of its id.

        Case and accents are ignored, and a part of the title is enough if it is unambiguous, unless it is to be named
        `in_full`. `removed` searches the books that can be restored.

        Raises:
            BookError: NOT_FOUND, or AMBIGUOUS; the sentence names the candidates, or the books there are.
        """
        chosen = None if removed else await self._books.get(reference)
        if chosen is not None and shelf in (None, chosen.shelf):
            return chosen
        books = await (self._books.list_removed(shelf) if removed else self._books.list(shelf))
        wanted = fold(" ".join(reference.split()))
        in_part = [b for b in books if wanted and wanted in fold(b.title)]
        for matches in (
            [b for b in books if b.id == reference],
            [b for b in books if fold(b.title) == wanted],
            [b for b in books if b.filename and fold(b.filename) == fold(_last_component(reference))],
            [b for b in books if len(wanted) >= 6 and b.id.startswith(wanted)],
            [] if in_full else in_part,
        ):
            if len(matches) == 1:
                return matches[0]
            if matches:
                message = Worded(
                    "Several books fit “{reference}”: {books}. Give more of the title, or an id in brackets.",
                    reference=reference,
                    books=_with_ids(matches),
                )
                raise BookError(BookErrorCode.AMBIGUOUS, message)
        if in_full and in_part:
            message = Worded(
                "“{reference}” is only a part of a title: {books}. Give the whole title, or the id in brackets.",
                reference=reference,
                books=_with_ids(in_part),
            )
            raise BookError(BookErrorCode.NOT_FOUND, message)
        if removed:
            message = Worded("No book called “{reference}” was removed in the last 7 days.", reference=reference)
            raise BookError(BookErrorCode.NOT_FOUND, message)
        raise BookError(BookErrorCode.NOT_FOUND, _nothing_fits(reference, books))

    async def open(self, book: Book) -> BookFile:
        """Open a book for reading.

        Raises:
            BookError: INVALID_STATE, its file is missing or unreadable.
        """
        return await self._files.open(book)

    async def remove(self, book_id: str) -> Book:
        """Erase a book with its conversations and positions; its file is deleted with its last shelf.

        Raises:
            BookError: NOT_FOUND.
        """
        book = await self.get(book_id)
        await self._erase(book)
        return book

    async def take_off(self, book_id: str, by: str) -> Book:
        """Take a book off its shelf: nobody sees it or its conversations, but they are kept until `erase_removed`.

        Raises:
            BookError: NOT_FOUND.
        """
        removed = replace(await self.get(book_id), removed_at=self._clock(), removed_by=by)
        await self._books.save(removed)
        return removed

    async def removed(self, shelf: str | None) -> Sequence[Book]:
        """The books that can be restored to a shelf, or to any for None; the most recently removed first."""
        return await self._books.list_removed(shelf)

    async def restore(self, book: Book, limits: ShelfLimits | None = None) -> Book:
        """Restore a book to its shelf with all its data; does nothing if it is there.

        Raises:
            BookError: SHELF_FULL.
        """
        if book.removed_at is None:
            return book
        restored = replace(book, removed_at=None, removed_by="")
        await self._books.save(restored, limits)
        return restored

    async def erase_removed(self, before: datetime) -> int:
        """Erase the books that were removed before that time; return how many."""
        over = [book for book in await self._books.list_removed() if book.removed_at and book.removed_at < before]
        for book in over:
            await self._erase(book)
        return len(over)

    async def _erase(self, book: Book) -> None:
        async with self._lock(book.sha256):
            await self._books.delete(book.id)
            if not await self._books.count_by_hash(book.sha256):
                await self._files.remove(book.sha256)

    async def all_on(self, shelf: str | None) -> Sequence[Book]:
        """The books of a shelf, or of all shelves for None, and those that can be restored."""
        return [*await self.list(shelf), *await self.removed(shelf)]

    async def delete_unused(self, books: Iterable[Book]) -> None:
        """Delete the files of erased books that no shelf holds; what cannot be deleted now, the daily sweep deletes."""
        for sha256 in {book.sha256 for book in books}:
            try:
                await self._sweep(sha256)
            except (MarginaliaError, OSError) as error:
                logger.warning("the file of an erased book could not be deleted yet: %s", error)

    async def sweep(self, before: datetime) -> int:
        """Delete older files that no shelf holds, left by a crash between a book and its file; return how many."""
        return sum([await self._sweep(sha256) for sha256 in await self._files.written_before(before)])

    async def _sweep(self, sha256: str) -> bool:
        async with self._lock(sha256):
            is_unused = not await self._books.count_by_hash(sha256)
            if is_unused:
                await self._files.remove(sha256)
            return is_unused

    def _lock(self, sha256: str) -> asyncio.Lock:
        """Additions and removals of a file run one at a time, so that no book loses the file it was just added with."""
        return self._locks.setdefault(sha256, asyncio.Lock())

    async def _is_readable(self, book: Book) -> bool:
        try:
            await (await self._files.open(book)).verify()
        except BookError:
            return False
        return True


def _last_component(filename: str) -> str:
    """A file's own name, without the folders of any system; at most 255 characters."""
    return filename.replace("\\", "/").rstrip("/").rpartition("/")[2].replace("\0", "")[:255]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _book(text: BookText, sha256: str, shelf: str, title: str, author: str, added_by: str, clock: Clock) -> Book:
    """The book of a text; its number of words is known once it is indexed."""
    book = Book(
        id=uuid.uuid4().hex,
        shelf=shelf,
        sha256=sha256,
        title=text.title,
        author=text.author,
        format=text.format,
        page_count=len(text.pages),
        chapter_count=len(text.chapters),
        word_count=0,
        length=len(text.text),
        created_at=clock(),
        pages_estimated=text.pages_estimated,
        added_by=added_by,
    )
    return replace(book, title=one_line(title) or book.title, author=one_line(author) or book.author)


_ID = "[0-9a-f]{32}"
"""What a suggestion stands for; people who have chosen one know nothing of it."""
MOST_FITTING = 5
"""Books that are named, with their ids, to somebody who has not named one of them clearly."""
MOST_NAMED = 8
"""Books that are named to somebody who names none of them."""


def _with_ids(books: Sequence[Book]) -> str:
    """The first of some books, each with the beginning of its id."""
    return listed([Worded("“{title}” ({id})", title=book.title, id=book.id[:8]) for book in books[:MOST_FITTING]])


def _nothing_fits(reference: str, books: Sequence[Book]) -> str:
    is_id = re.fullmatch(_ID, reference) is not None
    if not books:
        if is_id:
            return Worded("That book isn't on this shelf, which is empty. Add one first.")
        return Worded("There's no book called “{reference}”: the shelf is empty. Add one first.", reference=reference)
    named = [Worded("“{title}”", title=book.title) for book in books[:MOST_NAMED]]
    titles = listed(named, len(books) - len(named))
    if is_id:
        return Worded("That book isn't on this shelf, only {titles}.", titles=titles)
    return Worded(
        "There's no book called “{reference}” on the shelf, only {titles}.", reference=reference, titles=titles
    )

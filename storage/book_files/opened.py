"""An opened book file: the layout is kept in memory, text and words are read on demand."""

import asyncio
import sqlite3
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TypeVar
from urllib.parse import quote

from domain.book import Book, Chapter, Citation, ContentsEntry, Mentions, Page, Passage, PhraseHit, Sentence
from domain.errors import BookError, BookErrorCode, MarginaliaError
from domain.library.addressing import find_page, page_missing
from domain.library.search.index import WordForm
from domain.library.search.languages import DEFAULT_ANALYZER, Analyzer
from domain.library.search.layout import BookLayout, Windows
from domain.library.view import BlockingView
from domain.ports import BookView
from storage.book_files.format import (
    ALL_FORMS,
    ALL_ROWS,
    ALL_STEMS,
    APPLICATION_ID,
    CHUNK,
    DAMAGE,
    FIND_ROW,
    FORMAT_VERSION,
    LAYOUT_COLUMNS,
    READABLE_VERSIONS,
    WITH_PRINTED_NUMBERS,
    WITH_THESE_STEMS,
    WordRow,
    decode_forms,
    decode_numbers,
    decode_stems,
    decode_text,
    encode_text,
    find_analyzer,
    is_laid_out,
    is_sound,
)

MAX_OPEN = 32
"""Book files kept open. Each uses a file descriptor and, for a long novel, one to three megabytes of memory."""

READING_THREADS = 8
"""Threads that read at the same time. When their work is done, the tasks that wait for them run in the same round of
the event loop, half a millisecond each; two hundred would block it for a tenth of a second.
"""
STEMS_KEPT = 64
"""Stems whose occurrences stay in memory for each open file: four bytes for each."""

CHUNKS_KEPT = 16
"""Chunks of text that stay in memory for each open file: a search reads one for each passage, and every citation of a
passage reads it again.
"""


class OpenedFile:
    """A connection to one book file, shared by threads: SQLite's share of a search is a fraction of a millisecond."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            BookError: INVALID_STATE, it is missing, damaged or from another version of the program.
        """
        self._lock = Lock()
        self._forms = lru_cache(maxsize=STEMS_KEPT)(self._read_forms)
        self._chunk = lru_cache(maxsize=CHUNKS_KEPT)(self._read_chunk)
        self._db = _connect(path)
        try:
            version = _version(self._db)
            self.is_current = version == FORMAT_VERSION
            self.layout = _read_layout(self._db)
            self.estimated = bool(_about(self._db, "pages_estimated"))
            self.analyzer = find_analyzer(_language(self._db))
            self._has_former_stems = version < WITH_THESE_STEMS and self.analyzer is DEFAULT_ANALYZER
            if not is_laid_out(self.layout):
                raise unreadable()
        except DAMAGE as error:
            self.close()
            raise unreadable() from error
        except BookError:
            self.close()
            raise

    def is_sound(self) -> bool:
        """Whether the whole file can be read and is consistent; this takes a moment."""
        with self._lock:
            return is_sound(self._db, self.layout)

    def forms(self, stem: str) -> Sequence[WordForm]:
        """The forms of a stem. Those of the last stems stay in memory: a search looks each word up three times, and
        readers of a book ask about the same people.

        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        return self._forms(stem)

    def _read_forms(self, stem: str) -> tuple[WordForm, ...]:
        with _damage_translated():
            if not self._has_former_stems:
                return tuple(self._stored_forms(stem))
            stored = chain.from_iterable(map(self._stored_forms, self._former_stems.get(stem, ())))
            return tuple(form for form in stored if self.analyzer.stem(form.written) == stem)

    def _stored_forms(self, stem: str) -> Iterator[WordForm]:
        rows = self._rows(FIND_ROW, encode_text(stem))
        return (form for row in rows for form in WordRow.decode(*row).forms_of(stem))

    @cached_property
    def _former_stems(self) -> dict[str, list[str]]:
        """For each stem that the words have today, the stems under which an older file has them."""
        former: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for row in self._rows(ALL_ROWS):
            words = WordRow.decode(*row)
            for stem, forms in zip(words.stems, words.forms, strict=True):
                for form in forms:
                    former[self.analyzer.stem(form)][stem] = None
        return {stem: list(each) for stem, each in sorted(former.items())}

    def stems(self) -> list[str]:
        """All stems in the index.

        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        with _damage_translated():
            if self._has_former_stems:
                return list(self._former_stems)
            return [stem for (stems,) in self._rows(ALL_STEMS) for stem in decode_stems(stems)]

    def vocabulary(self) -> list[str]:
        """All forms of words in the book.

        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        with _damage_translated():
            return [form for (forms,) in self._rows(ALL_FORMS) for form in decode_forms(forms)]

    def stems_of_spelling(self, spelling: str) -> list[str]:
        """The stems of the words that a spelling may stand for.

        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        with _damage_translated():
            rows = self._rows("SELECT stems FROM spellings WHERE spelling = ?", encode_text(spelling))
            return [stem for (stems,) in rows for stem in decode_stems(stems)]

    def read(self, start: int, end: int) -> str:
        """The text between two offsets.

        Raises:
            BookError: INVALID_STATE, the file is damaged.
        """
        if start >= end:
            return ""
        first, last = start // CHUNK, (end - 1) // CHUNK
        with _damage_translated():
            whole = self._chunk(first) if first == last else "".join(self._read_chunks(first, last))
        text = whole[start - first * CHUNK : end - first * CHUNK]
        if len(text) < min(end, self.layout.length) - start:
            raise unreadable()
        return text

    def _read_chunk(self, number: int) -> str:
        return "".join(self._read_chunks(number, number))

    def _read_chunks(self, first: int, last: int) -> list[str]:
        rows = self._rows("SELECT content FROM text WHERE chunk BETWEEN ? AND ? ORDER BY chunk", first, last)
        return [decode_text(content) for (content,) in rows]

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _rows(self, query: str, *values: object) -> list[tuple[bytes, ...]]:
        with self._lock:
            return self._db.execute(query, values).fetchall()


@contextmanager
def _damage_translated() -> Iterator[None]:
    try:
        yield
    except DAMAGE as error:
        raise unreadable() from error


def _connect(path: Path) -> sqlite3.Connection:
    """Open as immutable, because the file never changes: SQLite then takes no locks and looks for no journal."""
    try:
        return sqlite3.connect(f"file:{quote(bytes(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    except sqlite3.OperationalError as error:
        raise missing() from error


def missing() -> BookError:
    message = "The file of this book is gone from the disk; please add it again, and its conversations go on."
    return BookError(BookErrorCode.INVALID_STATE, message)


def unreadable() -> BookError:
    message = "The file of this book is damaged; please add it again, and its conversations go on."
    return BookError(BookErrorCode.INVALID_STATE, message)


def outdated() -> BookError:
    message = (
        "The file of this book was made by another version of the program; please add it again, and its conversations "
        "go on."
    )
    return BookError(BookErrorCode.INVALID_STATE, message)


def _version(db: sqlite3.Connection) -> int:
    """The version of the file's format.

    Raises:
        BookError: INVALID_STATE, it is not a book file, or has a version that cannot be read.
    """
    application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application != APPLICATION_ID:
        raise unreadable()
    if version not in READABLE_VERSIONS:
        raise outdated()
    return int(version)


def _about(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()[0])


def _language(db: sqlite3.Connection) -> str:
    """The code of the language the words are stemmed in; older files have none."""
    row = db.execute("SELECT value FROM about WHERE name = 'language'").fetchone()
    return str(row[0]) if row else ""


def _read_layout(db: sqlite3.Connection) -> BookLayout:
    columns = {name: decode_numbers(numbers) for name, numbers in db.execute("SELECT name, numbers FROM places")}
    pages = db.execute('SELECT number, label, start, "end" FROM pages ORDER BY number')
    starts, ends, words, runs = (columns[name] for name in LAYOUT_COLUMNS)
    return BookLayout(
        length=_about(db, "length"),
        pages=tuple(Page(number, decode_text(label), start, end) for number, label, start, end in pages),
        chapters=_read_chapters(db),
        starts=starts,
        ends=ends,
        words=words,
        runs=runs,
        windows=Windows(words, runs),
    )


def _read_chapters(db: sqlite3.Connection) -> tuple[Chapter, ...]:
    """The chapters; files older than version 7 have no printed numbers and no parts."""
    names = "printed, parent" if _version(db) >= WITH_PRINTED_NUMBERS else "X'', X''"
    rows = db.execute(f'SELECT number, title, start, "end", level, {names} FROM chapters ORDER BY position')  # noqa: S608
    return tuple(
        Chapter(number, decode_text(title), start, end, level, decode_text(printed), decode_text(parent))
        for number, title, start, end, level, printed, parent in rows
    )


@dataclass(slots=True)
class _Entry:
    file: OpenedFile
    users: int = 0
    dropped: bool = False


class OpenFiles:
    """Opens book files on first use and closes the least recently used ones. Thread-safe."""

    def __init__(self, limit: int = MAX_OPEN) -> None:
        self.free = asyncio.Semaphore(READING_THREADS)
        self._limit = limit
        self._entries: OrderedDict[Path, _Entry] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def use(self, path: Path) -> Iterator[OpenedFile]:
        """The opened file, which stays open while it is in use.

        Raises:
            BookError: INVALID_STATE, it cannot be opened.
        """
        entry = self._take(path)
        try:
            yield entry.file
        finally:
            self._give_back(entry)

    def drop(self, path: Path) -> None:
        """Close a file as soon as nobody uses it."""
        with self._lock:
            entry = self._entries.pop(path, None)
            if entry is not None:
                _retire(entry)

    def close(self) -> None:
        for path in list(self._entries):
            self.drop(path)

    def _take(self, path: Path) -> _Entry:
        with self._lock:
            entry = self._entries.get(path)
            if entry is None:
                entry = self._entries[path] = _Entry(OpenedFile(path))
            self._entries.move_to_end(path)
            entry.users += 1
            while len(self._entries) > self._limit:
                _retire(self._entries.popitem(last=False)[1])
            return entry

    def _give_back(self, entry: _Entry) -> None:
        with self._lock:
            entry.users -= 1
            if entry.dropped and not entry.users:
                entry.file.close()


def _retire(entry: _Entry) -> None:
    entry.dropped = True
    if not entry.users:
        entry.file.close()


_Result = TypeVar("_Result")


class OpenedBook:
    """One book in the folder."""

    def __init__(self, book: Book, path: Path, open_files: OpenFiles) -> None:
        self._book = book
        self._path = path
        self._open_files = open_files
        self._layout: BookLayout | None = None
        self.damage: BookError | None = None
        """See BookFile."""

    async def check(self) -> None:
        """Find out whether the file can be opened.

        Raises:
            BookError: INVALID_STATE, the file is missing or unreadable.
        """
        await self._whole()

    async def verify(self) -> None:
        """See BookFile."""
        await self.run(_refuse_unsound)

    async def text(self, page: str | None = None) -> str:
        return await self.run(lambda file: _text(file, page))

    async def pages(self) -> tuple[Page, ...]:
        return (await self._whole()).pages

    async def chapters(self) -> tuple[Chapter, ...]:
        return (await self._whole()).chapters

    async def analyzer(self) -> Analyzer:
        return await self.run(lambda file: file.analyzer)

    def view(self, read_to: int) -> BookView:
        return BoundView(self._book, read_to, self)

    async def _whole(self) -> BookLayout:
        """The layout of the whole book, read once."""
        if self._layout is None:
            self._layout = await self.run(lambda file: file.layout)
        return self._layout

    async def run(self, work: Callable[[OpenedFile], _Result]) -> _Result:
        """Run blocking work on the file in a thread."""
        async with self._open_files.free:
            return await asyncio.to_thread(self._run, work)

    def _run(self, work: Callable[[OpenedFile], _Result]) -> _Result:
        try:
            if not self._path.is_file():  # waiting for a pipe would have no end
                raise missing()
            with self._open_files.use(self._path) as file:
                return _blaming_damage(work, file)
        except BookError as error:
            if error.code is BookErrorCode.INVALID_STATE:
                self._open_files.drop(self._path)  # it may be repaired before it is opened again
                self.damage = error
            raise


class BoundView:
    """What a reader who has read up to `read_to` may see of one book."""

    def __init__(self, book: Book, read_to: int, opened: OpenedBook) -> None:
        self._book = book
        self._read_to = read_to
        self._opened = opened
        self._layout: BookLayout | None = None

    @property
    def book(self) -> Book:
        return self._book

    @property
    def read_to(self) -> int:
        return self._read_to

    async def search(self, queries: Sequence[str], top_k: int = 5) -> list[Passage]:
        return await self._read(lambda view: view.search(queries, top_k))

    async def read_pages(self, first: str, last: str) -> list[Passage]:
        return await self._read(lambda view: view.read_pages(first, last))

    async def read_around(self, source: str, before: int = 1, after: int = 1) -> Passage:
        return await self._read(lambda view: view.read_around(source, before, after))

    async def contents(self) -> list[ContentsEntry]:
        return await self._read(lambda view: view.contents())

    async def read_chapter(self, number: int) -> Passage:
        return await self._read(lambda view: view.read_chapter(number))

    async def find_phrase(self, text: str, limit: int = 5, *, exact: bool = False) -> list[PhraseHit]:
        return await self._read(lambda view: view.find_phrase(text, limit, exact=exact))

    async def count_mentions(self, term: str) -> Mentions:
        return await self._read(lambda view: view.count_mentions(term))

    async def mentions(self, term: str, limit: int = 1_000) -> list[Sentence]:
        return await self._read(lambda view: view.mentions(term, limit))

    async def missing_words(self, text: str) -> dict[str, list[str]]:
        return await self._read(lambda view: view.missing_words(text))

    async def cite(self, start: int, end: int) -> Citation:
        return await self._read(lambda view: view.cite(start, end))

    async def _read(self, work: Callable[[BlockingView], _Result]) -> _Result:
        return await self._opened.run(lambda file: work(self._view(file)))

    def _view(self, file: OpenedFile) -> BlockingView:
        """The view; its layout is clipped once. If two threads do that at the same time, they get the same result."""
        if self._layout is None:
            self._layout = file.layout.clip(self._read_to, file.read)
        return BlockingView(file, self._layout, estimated=file.estimated)


def _blaming_damage(work: Callable[[OpenedFile], _Result], file: OpenedFile) -> _Result:
    """Do some work, and blame the file for errors if it turns out to be damaged.

    Raises:
        BookError: INVALID_STATE, the file is damaged.
    """
    try:
        return work(file)
    except MarginaliaError:
        raise
    except Exception as error:
        if file.is_sound():
            raise
        raise unreadable() from error


def _refuse_unsound(file: OpenedFile) -> None:
    if not file.is_current:
        raise outdated()
    if not file.is_sound():
        raise unreadable()


def _text(file: OpenedFile, page: str | None) -> str:
    if page is None:
        return file.read(0, file.layout.length)
    found = find_page(file.layout.pages, page)
    if found is None:
        raise page_missing(page, file.layout.pages, estimated=file.estimated)
    return file.read(found.start, found.end)

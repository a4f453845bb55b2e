"""The `.book` format: what is in the file, how it is encoded and checked, and how it is written: all of it or nothing.

A book file is a SQLite file with these tables. All numbers in blobs are unsigned 32-bit, little-endian.

    about      name, value: facts about the book (length in characters, whether its pages are estimated, the code of
               the language its words are stemmed in, which may be empty)
    text       the text in chunks of CHUNK characters, UTF-8; the rowid says which
    pages      in order
    chapters   in order
    places     name, numbers: the columns of the layout (sentences in reading order, edges of chapters), one blob each
    words      first, stems, forms, counts, positions: the written forms of STEMS_A_ROW stems and their places
    spellings  spelling, stems: for words typed without accents, where that changes the stem; in Japanese books,
               for words typed by their reading, the words as written
"""

import fcntl
import os
import sqlite3
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, pairwise
from pathlib import Path
from threading import Lock

from domain.book import BookText, Chapter, Page
from domain.errors import StorageError, StorageErrorCode, Worded
from domain.library.search.index import MemoryIndex, WordForm, index_book, written_forms
from domain.library.search.languages import (
    DEFAULT_ANALYZER,
    LANGUAGES,
    Analyzer,
    analyzer_for,
    book_language,
    language_name,
)
from domain.library.search.layout import BookLayout
from domain.library.search.words import words_of_each

APPLICATION_ID = 0x4D415247
"""Marks a SQLite file as one of ours ("MARG")."""

FORMAT_VERSION = 8
"""Raised whenever what is in a file changes."""

READABLE_VERSIONS = frozenset((5, 6, 7, FORMAT_VERSION))
"""Files of other versions have to be added again. Files of version 5 are read as English books, which is how they were
indexed.
"""

WITH_PRINTED_NUMBERS = 7
"""From this version on, chapters carry their printed number and the part they are in."""

WITH_THESE_STEMS = 8
"""From this version on, English words have the stems of today: "family" is found with "families"."""

CHUNK = 8_192
"""Characters of text per row: few enough to read a passage quickly, many enough to read a whole book quickly."""

_BETWEEN_FORMS = " "
_BETWEEN_STEMS = "\n"

LAYOUT_COLUMNS = ("starts", "ends", "words", "runs")

SCHEMA = f"""
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {FORMAT_VERSION};
    CREATE TABLE about (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE text (chunk INTEGER PRIMARY KEY, content BLOB NOT NULL);
    CREATE TABLE pages (
        number INTEGER PRIMARY KEY, label BLOB NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL
    );
    CREATE TABLE chapters (
        position INTEGER PRIMARY KEY, number INTEGER NOT NULL, title BLOB NOT NULL,
        start INTEGER NOT NULL, "end" INTEGER NOT NULL, level INTEGER NOT NULL,
        printed BLOB NOT NULL, parent BLOB NOT NULL
    );
    CREATE TABLE places (name TEXT PRIMARY KEY, numbers BLOB NOT NULL);
    CREATE TABLE words (
        first BLOB PRIMARY KEY, stems BLOB NOT NULL, forms BLOB NOT NULL, counts BLOB NOT NULL, positions BLOB NOT NULL
    );
    CREATE TABLE spellings (spelling BLOB PRIMARY KEY, stems BLOB NOT NULL) WITHOUT ROWID;
"""


def encode_stems(stems: Iterable[str]) -> bytes:
    return encode_text(_BETWEEN_STEMS.join(stems))


def decode_stems(content: bytes) -> list[str]:
    return decode_text(content).split(_BETWEEN_STEMS)


def encode_text(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates, which come from damaged files, survive the round trip."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def encode_numbers(numbers: "array[int]") -> bytes:
    return little_endian(numbers).tobytes()


def decode_numbers(content: bytes) -> "array[int]":
    numbers = array("I")
    numbers.frombytes(content)
    return little_endian(numbers)


def little_endian(numbers: "array[int]") -> "array[int]":
    """The numbers as the bytes that are stored."""
    if sys.byteorder == "little":
        return numbers
    swapped = numbers[:]
    swapped.byteswap()
    return swapped


STEMS_A_ROW = 16
"""With 4, writing takes half as long again; with 32, a lookup reads twice as much."""

FIND_ROW = "SELECT stems, forms, counts, positions FROM words WHERE first <= ? ORDER BY first DESC LIMIT 1"
ALL_STEMS = "SELECT stems FROM words ORDER BY first"
ALL_FORMS = "SELECT forms FROM words ORDER BY first"
ALL_ROWS = "SELECT stems, forms, counts, positions FROM words ORDER BY first"


def decode_forms(forms: bytes) -> list[str]:
    """The written forms of every stem in a row."""
    return decode_text(forms).replace(_BETWEEN_STEMS, _BETWEEN_FORMS).split(_BETWEEN_FORMS)


@dataclass(frozen=True, slots=True)
class WordRow:
    """The contents of a row: `forms` has one entry per stem, `counts` one per form, `positions` those of all forms."""

    stems: Sequence[str]
    forms: Sequence[Sequence[str]]
    counts: "array[int]"
    positions: "array[int]"

    @classmethod
    def decode(cls, stems: bytes, forms: bytes, counts: bytes, positions: bytes) -> "WordRow":
        """The row that these parts encode.

        Raises:
            ValueError: the parts do not fit together.
        """
        groups = [group.split(_BETWEEN_FORMS) for group in decode_text(forms).split(_BETWEEN_STEMS)]
        row = cls(decode_stems(stems), groups, decode_numbers(counts), decode_numbers(positions))
        if (len(row.stems), sum(map(len, groups)), sum(row.counts)) != (
            len(groups),
            len(row.counts),
            len(row.positions),
        ):
            raise ValueError("a row of words does not fit together")
        return row

    def forms_of(self, stem: str) -> list[WordForm]:
        """The written forms of a stem; empty if the stem is not in the row."""
        if stem not in self.stems:
            return []
        at = self.stems.index(stem)
        first = sum(map(len, self.forms[:at]))
        edges = pairwise(accumulate(self.counts[first : first + len(self.forms[at])], initial=sum(self.counts[:first])))
        return [WordForm(form, self.positions[slice(*edge)]) for form, edge in zip(self.forms[at], edges, strict=True)]


def encode_rows(index: MemoryIndex, analyzer: Analyzer) -> Iterator[tuple[bytearray, ...]]:
    """The rows of all words, in the order of their stems.

    They are bytearrays: SQLite's module takes those as they are, while for bytes it searches for adapters first, which
    takes twice as long.
    """
    stems = index.stems(analyzer)
    for start in range(0, len(stems), STEMS_A_ROW):
        group = stems[start : start + STEMS_A_ROW]
        places = [index.words[form] for form in chain.from_iterable(forms for _, forms in group)]
        yield (
            bytearray(encode_text(group[0][0])),
            bytearray(encode_stems([stem for stem, _ in group])),
            bytearray(encode_text(_BETWEEN_STEMS.join([_BETWEEN_FORMS.join(forms) for _, forms in group]))),
            bytearray(encode_numbers(array("I", map(len, places)))),
            bytearray().join(map(little_endian, places)),
        )


@cache
def find_analyzer(language: str) -> Analyzer:
    """The analyzer for a language code; the default one for English and for unknown codes."""
    if language == "en" or language not in LANGUAGES:
        return DEFAULT_ANALYZER
    return analyzer_for(language, _algorithm(language_name(language)))


def prepare_stemming() -> None:
    """Import what `find_analyzer` may need, for a process that can open no file later on."""
    import snowballstemmer  # type: ignore[import-untyped] # noqa: F401


def _algorithm(name: str) -> Callable[[str], str]:
    """One of Snowball's algorithms. It is stateful, so only one thread at a time may use it."""
    import snowballstemmer  # without its compiled half it brings thirty modules along

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(name).stemWord
    lock = Lock()

    def stem(word: str) -> str:
        with lock:
            return stem_word(word)

    return stem


_UNFINISHED = ".part"

DAMAGE = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError)
"""Errors that reading corrupted bytes may cause: SQLite reports a corrupted length as MemoryError."""


def write_book(path: Path, book: BookText, report: Callable[[float], None]) -> None:
    """Index a book and write its file; `report` receives the progress of the indexing, 0..1."""
    write_whole(path, book_bytes(book, lambda: index_book(book, report)))


def book_bytes(book: BookText, indexed: Callable[[], MemoryIndex]) -> bytes:
    """The contents of a book's file. `index` is called as late as possible, because it may still be computing."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        language = book_language(book)
        _insert_text(db, book, language)
        index, analyzer = indexed(), find_analyzer(language)
        _insert_places(db, index)
        db.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", encode_rows(index, analyzer))
        found = index.spellings(analyzer) or written_forms(book.readings)
        spellings = ((encode_text(each), encode_stems(stems)) for each, stems in found)
        db.executemany("INSERT INTO spellings VALUES (?, ?)", spellings)
        db.commit()
        return db.serialize()


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in place in one step, so that it is there completely or not at all."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """As `write_whole`, as the pieces come; if they end in an error, nothing is left behind."""
    with _unfinished_file(path) as (descriptor, unfinished):
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            for piece in pieces:
                file.write(piece)
        os.fsync(descriptor)
        unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_failed(reason: str) -> StorageError:
    """The error for the person who added the book, when the disk refused it."""
    message = Worded(
        "The book could not be written to the disk ({reason}); check that there is room and try again.",
        reason=reason,
    )
    return StorageError(StorageErrorCode.WRITE_FAILED, message)


def reason_of(error: Exception) -> str:
    """What the system says of an error, without its number and the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or "not enough memory"


def sweep(folder: Path) -> None:
    """Remove the temporary files of killed writers; running writers hold a lock on theirs."""
    for leftover in folder.glob(f"*{_UNFINISHED}"):
        with leftover.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            leftover.unlink(missing_ok=True)


@contextmanager
def _unfinished_file(path: Path) -> Iterator[tuple[int, Path]]:
    descriptor, name = tempfile.mkstemp(prefix=f"{path.stem}.", suffix=_UNFINISHED, dir=path.parent)
    unfinished = Path(name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor, unfinished
    finally:
        unfinished.unlink(missing_ok=True)
        os.close(descriptor)


def _insert_text(db: sqlite3.Connection, book: BookText, language: str) -> None:
    facts = {"length": len(book.text), "pages_estimated": int(book.pages_estimated), "language": language}
    db.executemany("INSERT INTO about VALUES (?, ?)", facts.items())
    chunks = (encode_text(book.text[start : start + CHUNK]) for start in range(0, len(book.text), CHUNK))
    db.executemany("INSERT INTO text VALUES (?, ?)", enumerate(chunks))
    db.executemany(
        "INSERT INTO pages VALUES (?, ?, ?, ?)",
        ((page.number, encode_text(page.label), page.start, page.end) for page in book.pages),
    )
    db.executemany(
        "INSERT INTO chapters (number, title, start, end, level, printed, parent) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                item.number,
                encode_text(item.title),
                item.start,
                item.end,
                item.level,
                encode_text(item.printed),
                encode_text(item.parent),
            )
            for item in book.chapters
        ),
    )


def _insert_places(db: sqlite3.Connection, index: MemoryIndex) -> None:
    columns = ((name, encode_numbers(getattr(index.layout, name))) for name in LAYOUT_COLUMNS)
    db.executemany("INSERT INTO places VALUES (?, ?)", columns)


def is_laid_out(layout: BookLayout) -> bool:
    """Whether pages and chapters are in order and within the text; fast, even for a long book."""
    return (
        len(layout.starts) == len(layout.ends) == len(layout.words) - 1 == layout.runs[-1]
        and layout.runs[0] == layout.words[0] == 0
        and all(left <= right for left, right in pairwise(layout.runs))
        and _follow_each_other(layout.pages, layout.length)
        and _follow_each_other(layout.chapters, layout.length)
        and (not layout.pages or layout.pages[-1].end == layout.length)
    )


def is_sound(db: sqlite3.Connection, layout: BookLayout) -> bool:
    """Read the whole file. Letters that were replaced by other letters go unnoticed."""
    try:
        whole = db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return whole and _fits_together(layout) and _has_text(db, layout) and _has_words(db, layout)
    except DAMAGE:
        return False


def _follow_each_other(items: Sequence[Page] | Sequence[Chapter], length: int) -> bool:
    edges = [0, *(edge for item in items for edge in (item.start, item.end)), length]
    return all(type(edge) is int for edge in edges) and edges == sorted(edges)


def _fits_together(layout: BookLayout) -> bool:
    starts, ends, words = layout.starts, layout.ends, layout.words
    return (
        is_laid_out(layout)
        and all(start < end for start, end in zip(starts, ends, strict=True))
        and all(end <= start for end, start in zip(ends, starts[1:], strict=False))
        and max(ends, default=0) <= layout.length
        and all(left <= right for left, right in pairwise(words))
        and bool(layout.pages)
    )


def _has_text(db: sqlite3.Connection, layout: BookLayout) -> bool:
    """Whether all of the text is there, and its sentences have the recorded numbers of words."""
    text = "".join(decode_text(content) for (content,) in db.execute("SELECT content FROM text ORDER BY chunk"))
    sentences = [text[start:end] for start, end in zip(layout.starts, layout.ends, strict=True)]
    counts = map(len, words_of_each(sentences))
    return len(text) == layout.length and all(
        count == after - before for count, (before, after) in zip(counts, pairwise(layout.words), strict=True)
    )


def _has_words(db: sqlite3.Connection, layout: BookLayout) -> bool:
    """Whether every word of the book has its place."""
    found, last = 0, ""
    for columns in db.execute(ALL_ROWS):
        row = WordRow.decode(*columns)
        stems = [last, *row.stems]
        if max(row.positions) >= layout.word_count or stems != sorted(stems):
            return False
        found, last = found + len(row.positions), stems[-1]
    return found == layout.word_count

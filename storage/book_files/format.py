"""The `.book` format: what is in the file and how it is encoded.

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

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, pairwise
from threading import Lock

from domain.library.search.index import MemoryIndex, WordForm
from domain.library.search.languages import DEFAULT_ANALYZER, LANGUAGES, Analyzer, analyzer_for, language_name

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

"""The `.book` format: what is in the file and how it is encoded.

A book file is a SQLite file with these tables. All numbers in blobs are unsigned 32-bit, little-endian.

    about      name, value: facts about the book (length in characters, whether its pages are estimated)
    text       the text in chunks of CHUNK characters, UTF-8; the rowid says which
    pages      in order
    chapters   in order
    places     name, numbers: the columns of the layout (sentences in reading order, edges of chapters), one blob each
    words      first, stems, forms, counts, positions: see storage.book_files.word_rows
"""

import sys
from array import array

APPLICATION_ID = 0x4D415247
"""Marks a SQLite file as one of ours ("MARG")."""

FORMAT_VERSION = 5
"""Raised whenever a file that was written before would be read wrongly now; such books have to be added again."""

CHUNK = 8_192
"""Characters of text a row holds: few enough to read a passage quickly, many enough to read a book quickly."""

LAYOUT_COLUMNS = ("starts", "ends", "words", "runs")

SCHEMA = f"""
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {FORMAT_VERSION};
    CREATE TABLE about (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE text (chunk INTEGER PRIMARY KEY, content BLOB NOT NULL);
    CREATE TABLE pages (
        number INTEGER PRIMARY KEY, label BLOB NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL
    );
    CREATE TABLE chapters (
        position INTEGER PRIMARY KEY, number INTEGER NOT NULL, title BLOB NOT NULL,
        start INTEGER NOT NULL, "end" INTEGER NOT NULL, level INTEGER NOT NULL
    );
    CREATE TABLE places (name TEXT PRIMARY KEY, numbers BLOB NOT NULL);
    CREATE TABLE words (
        first BLOB PRIMARY KEY, stems BLOB NOT NULL, forms BLOB NOT NULL, counts BLOB NOT NULL, positions BLOB NOT NULL
    );
"""


def encode_text(text: str) -> bytes:
    """UTF-8; lone surrogates, which damaged files bring along, survive the way there and back."""
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
    """The numbers as their bytes are in the file."""
    if sys.byteorder == "little":
        return numbers
    swapped = numbers[:]
    swapped.byteswap()
    return swapped

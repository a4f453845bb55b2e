"""A book file that something has changed on the disk ends in a sentence that says what to do, wherever that is."""

import asyncio
import os
import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest

from bot.parsers.text.parser import read_plain
from domain.book import Book
from domain.errors import BookError, BookErrorCode
from domain.library.search.index import index_book
from domain.library.search.languages import DEFAULT_ANALYZER
from domain.library.search.words import fold, stem_of
from storage.book_files.files import SQLiteBookFiles
from storage.book_files.format import book_bytes, encode_rows
from storage.book_files.opened import OpenedFile
from tests.sampling import a_few

SHA = "d" * 64
TALE = "CHAPTER {0}\n\nHobb the keeper, {0} years old, lit the lamp. Nobody saw it — nobody but Crake.\n\n"
TEXT = read_plain("".join(TALE.format(number) for number in range(1, 300)))
BOOK = Book("b", "local", SHA, "Lamps", "", "txt", 9, 299, 9, len(TEXT.text), datetime.now(UTC))
MISSING = "The file of this book is gone from the disk; please add it again, and its conversations go on."
DAMAGED = "The file of this book is damaged; please add it again, and its conversations go on."
Answer = TypeVar("Answer")
NUMBER = b"\xff\xff\xff\x7f"

DAMAGES = {
    "a word's forms": ("UPDATE words SET forms = ?", b"\xff\xfe"),
    "a word's forms, another number of them": ("UPDATE words SET forms = ?", b"lamp lit"),
    "how often a word stands": ("UPDATE words SET counts = ?", NUMBER * 2),
    "half a number": ("UPDATE words SET counts = ?", b"\0\0\0"),
    "a word's places": ("UPDATE words SET positions = ?", NUMBER),
    "a word's places, no bytes any more": ("UPDATE words SET positions = ?", 5),
    "where sentences begin": ("UPDATE places SET numbers = ? WHERE name = 'starts'", NUMBER * 9),
    "where sentences end": ("UPDATE places SET numbers = ? WHERE name = 'ends'", b"\0\0\0"),
    "how many words there are": ("UPDATE places SET numbers = ? WHERE name = 'words'", b""),
    "edges of chapters": ("UPDATE places SET numbers = ? WHERE name = 'runs'", b"\0\0\0\0" + NUMBER + b"\1\0\0\0"),
    "a column's name": ("UPDATE places SET name = ? WHERE name = 'runs'", "rums"),
    "letters": ("UPDATE text SET content = ?", b"\xff" * 8_192),
    "a piece of the text": ("UPDATE text SET content = ? WHERE chunk = 1", b"Another text, and shorter."),
    "the label of a page": ("UPDATE pages SET label = ?", b"\xff"),
    "where pages are": ("UPDATE pages SET start = ?", -9),
    "where a page ends": ('UPDATE pages SET "end" = ? WHERE number = 2', "x"),
    "where chapters are": ("UPDATE chapters SET start = ?", 2.5),
    "the title of a chapter": ("UPDATE chapters SET title = ?", 7),
    "the length of the text": ("UPDATE about SET value = ? WHERE name = 'length'", 10**12),
}


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    await SQLiteBookFiles(tmp_path).write(SHA, TEXT)
    return tmp_path / f"{SHA}.book"


def spoil(path: Path, damage: str) -> None:
    query, value = DAMAGES[damage]
    with closing(sqlite3.connect(path)) as db, db:
        assert db.execute(query, (value,)).rowcount


async def everything_asked(files: SQLiteBookFiles) -> set[str]:
    """What is wrong when a book is opened, and read and searched in every way, by readers at several places."""
    said: set[str] = set()

    async def hear(answer: Awaitable[Answer]) -> Answer | None:
        try:
            return await answer
        except BookError as error:
            said.update([error.message] if error.code is BookErrorCode.INVALID_STATE else [])
            return None

    if opened := await hear(files.open(BOOK)):
        await hear(opened.text())
        for view in map(opened.view, (BOOK.length, BOOK.length // 2, 100)):
            await hear(view.search(["the lamp of the keeper"]))
            await hear(view.find_phrase("Hobb teh keeper"))
            await hear(view.count_mentions("Crake"))
            await hear(view.mentions("lamp"))
            await hear(view.read_pages("1", "9"))
            await hear(view.read_around("passage-0-60"))
            await hear(view.read_chapter(2))
            await hear(view.cite(0, 90))
            await hear(view.contents())
    await files.close()
    return said


@pytest.mark.parametrize("damage", a_few(DAMAGES, 10))
async def test_damage_is_told_wherever_it_is(path: Path, damage: str) -> None:
    assert await everything_asked(SQLiteBookFiles(path.parent)) == set()
    spoil(path, damage)
    assert await everything_asked(SQLiteBookFiles(path.parent)) == {DAMAGED}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_book_that_is_added_again_is_whole_again(path: Path, damage: str) -> None:
    whole = path.read_bytes()
    spoil(path, damage)
    await SQLiteBookFiles(path.parent).write(SHA, TEXT)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("seed", range(12))
async def test_no_damage_is_more_than_a_sentence(path: Path, seed: int) -> None:
    chance, content = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(4):
        start = chance.randrange(len(content))
        content[start : start + 200] = chance.choice((bytes(200), b"\xff" * 200, chance.randbytes(200)))
    path.write_bytes(content[: chance.choice((len(content), chance.randrange(len(content))))])
    assert await everything_asked(SQLiteBookFiles(path.parent)) <= {DAMAGED}


@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
async def test_what_is_no_file_is_a_missing_one_and_not_waited_for(path: Path, put: Callable[[Path], None]) -> None:
    path.unlink()
    put(path)
    async with asyncio.timeout(20):
        assert await everything_asked(SQLiteBookFiles(path.parent)) == {MISSING}


async def test_a_book_of_an_older_version_is_told_from_a_damaged_one(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 3")
    [said] = await everything_asked(SQLiteBookFiles(path.parent))
    assert said.startswith("The file of this book was made by another version of the program; please add it again")


async def test_a_book_of_the_last_version_is_read_and_renewed_when_it_is_added_again(path: Path) -> None:
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA user_version = 5")
        db.execute("DELETE FROM about WHERE name = 'language'")
        db.execute("DROP TABLE spellings")
    assert await everything_asked(SQLiteBookFiles(path.parent)) == set()
    with pytest.raises(BookError, match="another version"):
        await (await SQLiteBookFiles(path.parent).open(BOOK)).verify()
    await SQLiteBookFiles(path.parent).write(SHA, TEXT)
    assert path.read_bytes() == whole


async def test_words_of_an_older_file_are_found_by_their_stems_of_today(tmp_path: Path) -> None:
    text = read_plain("The families went. A family of foxes hoped. " + "It rained and rained. " * 300)
    index, former = index_book(text), replace(DEFAULT_ANALYZER, stem=fold)
    path = tmp_path / f"{SHA}.book"
    path.write_bytes(book_bytes(text, lambda: index))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM words")
        db.executemany("INSERT INTO words VALUES (?, ?, ?, ?, ?)", encode_rows(index, former))
        db.execute("PRAGMA user_version = 7")
    file = OpenedFile(path)
    assert {form.written: [*form.positions] for form in file.forms(stem_of("family"))} == {
        "families": [1],
        "family": [4],
    }
    assert file.forms("families") == ()
    assert file.stems() == sorted({*map(stem_of, index.words)})
    file.close()


async def test_a_mistake_of_the_programs_own_is_not_put_on_the_file(path: Path) -> None:
    def mistaken(file: OpenedFile) -> None:
        raise IndexError("a mistake")

    files = SQLiteBookFiles(path.parent)
    opened = await files.open(BOOK)
    with pytest.raises(IndexError, match="a mistake"):
        await opened.run(mistaken)  # type: ignore[attr-defined]
    await files.close()

"""A book file that is not as it was written is found out, is a sentence, and is mended by adding the book again."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import Book, BookText, Page
from domain.errors import BookError, BookErrorCode
from storage.book_files.files import SQLiteBookFiles
from storage.book_files.format import write_book
from storage.book_files.opened import OpenedFile
from tests.storage.book_files.test_files import SHA, a_book, a_text

Damage = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "books"


@pytest.fixture
async def files(folder: Path) -> SQLiteBookFiles:
    return SQLiteBookFiles(folder)


def changed(*statements: str) -> Damage:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as book:
            for statement in statements:
                book.execute(statement)
            book.commit()

    return change


def overwritten(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[4096:] = b"\xa5" * len(whole[4096:])
    path.write_bytes(whole)


DAMAGES = [
    pytest.param(lambda path: path.write_bytes(b""), id="empty"),
    pytest.param(lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), id="cut in two"),
    pytest.param(overwritten, id="rubbish behind the first page"),
    pytest.param(changed("DROP TABLE words"), id="no words"),
    pytest.param(changed("DELETE FROM words WHERE rowid % 2"), id="words are gone"),
    pytest.param(changed("UPDATE words SET positions = x'010203'"), id="a number cut in two"),
    pytest.param(changed("UPDATE words SET positions = x''"), id="no places"),
    pytest.param(changed("UPDATE words SET positions = replace(positions, x'00', x'ff')"), id="places beyond the book"),
    pytest.param(changed("UPDATE words SET counts = x'ffffffff'"), id="too many places"),
    pytest.param(changed("UPDATE words SET forms = x'fffefd'"), id="forms that are no text"),
    pytest.param(changed("UPDATE words SET forms = forms || x'2061'"), id="a form too many"),
    pytest.param(changed("DELETE FROM text"), id="no text"),
    pytest.param(changed("UPDATE text SET content = substr(content, 1, 100)"), id="text cut short"),
    pytest.param(changed("UPDATE text SET content = x'ff' || substr(content, 2)"), id="text that is none"),
    pytest.param(changed("UPDATE text SET content = 12"), id="a number for a text"),
    pytest.param(changed("UPDATE places SET numbers = x'010203'"), id="a place cut in two"),
    pytest.param(changed("DELETE FROM places WHERE name = 'words'"), id="no counts of words"),
    pytest.param(changed("UPDATE places SET numbers = substr(numbers, 1, 8) WHERE name = 'starts'"), id="few starts"),
    pytest.param(changed("UPDATE places SET numbers = x'ffffffff' WHERE name = 'ends'"), id="an end beyond all bounds"),
    pytest.param(changed("UPDATE pages SET label = x'ff'"), id="a label that is no text"),
    pytest.param(changed("DELETE FROM pages"), id="no pages"),
    pytest.param(changed("UPDATE chapters SET title = x'ff'"), id="a title that is no text"),
    pytest.param(changed("DELETE FROM about"), id="nothing about it"),
    pytest.param(changed("UPDATE about SET value = 'x'"), id="a length that is no number"),
    pytest.param(changed("UPDATE about SET value = 999999999 WHERE name = 'length'"), id="a wrong length"),
]


async def use(files: SQLiteBookFiles, book: Book) -> None:
    """Everything that is done with a book in a turn."""
    opened = await files.open(book)
    view = opened.view(book.length // 2)
    await view.search(["tide", "wharf"])
    await view.contents()
    await opened.text()
    await opened.verify()


@pytest.mark.parametrize("damage", DAMAGES)
async def test_it_is_a_sentence_wherever_the_damage_is_met(
    files: SQLiteBookFiles, folder: Path, damage: Damage
) -> None:
    text = a_text(20_000)
    await files.write(SHA, text)
    await files.close()
    damage(folder / f"{SHA}.book")
    with pytest.raises(BookError, match=r"damaged; please add it again, and its conversations go on\.$") as caught:
        await use(files, a_book(text))
    assert caught.value.code is BookErrorCode.INVALID_STATE


@pytest.mark.parametrize("damage", DAMAGES)
async def test_writing_the_book_again_mends_it(files: SQLiteBookFiles, folder: Path, damage: Damage) -> None:
    text = a_text(20_000)
    await files.write(SHA, text)
    path = folder / f"{SHA}.book"
    sound = path.read_bytes()
    await files.close()
    damage(path)
    await files.write(SHA, text)
    assert path.read_bytes() == sound
    await use(files, a_book(text))


async def test_damage_that_a_view_meets_is_known_of_the_book(files: SQLiteBookFiles, folder: Path) -> None:
    text = a_text(20_000)
    await files.write(SHA, text)
    await files.close()
    changed("UPDATE words SET positions = x'010203'")(folder / f"{SHA}.book")
    opened = await files.open(a_book(text))
    assert opened.damage is None
    with pytest.raises(BookError) as caught:
        await opened.view(len(text.text)).search(["tide"])
    assert opened.damage is caught.value


async def test_a_file_that_was_found_damaged_is_opened_anew(files: SQLiteBookFiles, folder: Path) -> None:
    text = a_text(20_000)
    await files.write(SHA, text)
    path = folder / f"{SHA}.book"
    sound = path.read_bytes()
    await files.close()
    changed("DELETE FROM text")(path)
    with pytest.raises(BookError):
        await use(files, a_book(text))
    (folder / "restored").write_bytes(sound)
    (folder / "restored").replace(path)
    await use(files, a_book(text))


@given(st.text(max_size=300))
def test_whatever_is_in_a_book_its_file_is_sound(text: str) -> None:
    book = BookText(text, (Page(1, "1", 0, len(text)),), (), "txt")
    with TemporaryDirectory() as folder:
        write_book(path := Path(folder) / "it.book", book, lambda _: None)
        opened = OpenedFile(path)
        assert opened.is_sound()
        opened.close()

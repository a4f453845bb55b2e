"""What becomes of books that are added twice, elsewhere, or taken off their shelf."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app import App, open_app
from bot.settings import Settings
from domain.book import Book, ShelfLimits
from domain.errors import BookError, BookErrorCode
from domain.library.shelf import AddedBook
from domain.servers import KEEP_REMOVED
from domain.spoilers.detector import SpoilerChecks, SpoilerDetector
from storage.book_files.files import SQLiteBookFiles

TALE = b"# The Tin Whistle\n\n## One\n\nPip found a whistle. He blew it.\n\n## Two\n\nNobody came but the fox.\n"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    settings = Settings(_env_file=None, data_dir=tmp_path, llm_provider="extractive")  # type: ignore[call-arg]
    async with open_app(settings) as app:
        yield app


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "books").glob("*.book"))


async def test_a_file_that_another_shelf_has_is_read_and_indexed_all_the_same(
    app: App, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: list[str] = []
    write = SQLiteBookFiles._write

    async def noted(self: SQLiteBookFiles, path: Path, *rest: object) -> None:
        written.append(path.name)
        await write(self, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(SQLiteBookFiles, "_write", noted)
    stages: dict[str, list[str]] = {"one": [], "two": []}

    async def add(shelf: str) -> AddedBook:
        def note(stage: str, share: float) -> None:
            stages[shelf].append(stage)

        return await app.shelf.add(TALE, "whistle.md", shelf=shelf, progress=note)

    added = {shelf: await add(shelf) for shelf in stages}
    assert len(written) == 2
    assert stages["one"] == stages["two"]
    assert added["one"].is_new
    assert added["two"].is_new
    assert files_in(tmp_path) == [f"{added['one'].book.sha256}.book"]
    again = await app.shelf.add(TALE, "whistle.md", shelf="two")
    assert (again.book, again.is_new) == (added["two"].book, False)
    assert len(written) == 2


async def test_people_who_add_a_file_at_the_same_time_have_one_book_and_no_warning(app: App) -> None:
    added = await asyncio.gather(*(app.shelf.add(TALE, "whistle.md", added_by=who) for who in ("ann", "ben", "cleo")))
    assert len({each.book.id for each in added}) == 1
    assert sorted(each.is_new for each in added) == [False, False, True]
    assert all(each.warnings == () for each in added)


async def test_the_same_bytes_read_as_another_format_change_nothing_for_others(app: App) -> None:
    theirs = (await app.shelf.add(TALE, "whistle.md", shelf="one")).book
    before = await (await app.shelf.open(theirs)).text()
    ours = (await app.shelf.add(TALE, "whistle.txt", shelf="two")).book
    assert await (await app.shelf.open(theirs)).text() == before
    assert "##" not in before
    assert "##" in await (await app.shelf.open(ours)).text()
    assert len(await (await app.shelf.open(ours)).text()) == ours.length
    assert (await app.shelf.add(TALE, "whistle.txt", shelf="two")).book == ours
    await app.shelf.remove(ours.id)
    assert await (await app.shelf.open(theirs)).text() == before


async def test_a_book_taken_off_is_gone_until_it_is_brought_back(app: App) -> None:
    book = (await app.shelf.add(TALE, "whistle.md", shelf="one")).book
    talk = await app.conversations.create(book.id, owner_id="7")
    await app.shelf.take_off(book.id, by="8")
    with pytest.raises(BookError) as missing:
        await app.shelf.find("The Tin Whistle", shelf="one")
    assert missing.value.code is BookErrorCode.NOT_FOUND
    assert await app.conversations.find(talk.id) is None
    with pytest.raises(BookError):
        await app.conversations.create(book.id)
    [removed] = await app.shelf.removed("one")
    assert removed.removed_by == "8"
    assert await app.shelf.removed("two") == []
    assert await app.shelf.restore(removed) == book
    assert await app.conversations.find(talk.id) == talk


async def test_adding_the_file_again_brings_the_book_back(app: App) -> None:
    book = (await app.shelf.add(TALE, "whistle.md", shelf="one")).book
    talk = await app.conversations.create(book.id, owner_id="7")
    await app.shelf.take_off(book.id, by="8")
    added = await app.shelf.add(TALE, "whistle.md", shelf="one", added_by="9")
    assert added.is_back
    assert not added.is_new
    assert await app.shelf.list("one") == [book]
    assert await app.conversations.find(talk.id) == talk


async def test_after_its_time_it_is_erased_with_its_file(app: App, tmp_path: Path) -> None:
    book = (await app.shelf.add(TALE, "whistle.md", shelf="one")).book
    other = (await app.shelf.add(TALE, "whistle.md", shelf="two")).book
    talk = await app.conversations.create(book.id, owner_id="7")
    await app.shelf.take_off(book.id, by="8")
    await app.storage.conversations.save(replace(talk, title="Of Pip"))
    assert (await app.housekeeping.sweep()).books == 0
    app.housekeeping._clock = lambda: datetime.now(UTC) + KEEP_REMOVED - timedelta(minutes=1)
    assert (await app.housekeeping.sweep()).books == 0
    app.housekeeping._clock = lambda: datetime.now(UTC) + KEEP_REMOVED + timedelta(minutes=1)
    assert (await app.housekeeping.sweep()).books == 1
    assert await app.shelf.removed("one") == []
    assert files_in(tmp_path) == [f"{book.sha256}.book"]
    rows = await app.storage.engine.read("SELECT title FROM conversations")
    assert rows == []
    await app.shelf.take_off(other.id, by="8")
    assert (await app.housekeeping.sweep()).books == 1
    assert files_in(tmp_path) == []


async def test_a_full_shelf_takes_what_it_has_and_reads_nothing_else(
    app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ShelfLimits(books=1)
    book = (await app.shelf.add(TALE, "whistle.md", shelf="one", limits=limits)).book
    assert (await app.shelf.add(TALE, "whistle.md", shelf="one", limits=limits)).book == book
    (tmp_path / "books" / f"{book.sha256}.book").unlink()
    await app.shelf.add(TALE, "whistle.md", shelf="one", limits=limits)
    assert await (await app.shelf.open(book)).text()
    monkeypatch.setattr(app.shelf._parser, "read", None)
    with pytest.raises(BookError, match="The shelf is full"):
        await app.shelf.add(TALE + b"The end.", "whistle.md", shelf="one", limits=limits)


async def test_a_server_is_erased_with_the_files_of_books_that_had_been_taken_off(app: App, tmp_path: Path) -> None:
    book = (await app.shelf.add(TALE, "whistle.md", shelf="1")).book
    await app.conversations.create(book.id)
    await app.shelf.take_off(book.id, by="8")
    await app.left_servers.erase("1")
    assert await app.storage.engine.read("SELECT id FROM books") == []
    assert files_in(tmp_path) == []


async def test_what_is_made_ready_of_a_book_is_made_for_each_shelf(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    books = [(await app.shelf.add(TALE, "whistle.md", shelf=shelf)).book for shelf in ("one", "two")]
    made: list[str] = []
    detectors = SpoilerChecks._detector

    async def noted(self: SpoilerChecks, book: Book, *, whole: bool) -> SpoilerDetector:
        made.append(book.shelf)
        return await detectors(self, book, whole=whole)

    monkeypatch.setattr(SpoilerChecks, "_detector", noted)
    checks = SpoilerChecks(app.shelf._files)
    for book in (*books, *books):
        check = checks.check(book, book.length - 1)
        assert check is not None
        await check("Pip found a whistle.")
    assert made == ["one", "two"]

"""marginalia backup: a copy from which everything can go on."""

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.__main__ import app
from bot.settings import Settings
from domain.book import Book
from storage.book_files.files import SQLiteBookFiles
from storage.opening import open_storage
from tests.postgres import an_emptied_database
from tests.storage.book_files.test_files import a_text
from tests.storage.values import MIDNIGHT, a_book


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


async def _shelve(folder: Path, book: Book) -> None:
    files = SQLiteBookFiles(folder / "books")
    await files.write(book.sha256, a_text(200))
    await files.close()
    async with await open_storage(f"sqlite:///{folder}/marginalia.db") as storage:
        await storage.books.save(book)


@pytest.mark.usefixtures("environment")
async def test_a_removed_book_can_be_restored_from_the_copy(tmp_path: Path) -> None:
    await _shelve(tmp_path, a_book("here", sha256="a" * 64))
    await _shelve(tmp_path, a_book("removed", sha256="b" * 64, removed_at=MIDNIGHT, removed_by="hatter"))
    made = await asyncio.to_thread(CliRunner().invoke, app, ["backup", "copy"])
    assert made.exit_code == 0, made.output
    assert sorted(each.stem for each in (tmp_path / "copy" / "books").iterdir()) == ["a" * 64, "b" * 64]


@pytest.mark.usefixtures("environment")
async def test_it_needs_no_key_of_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    await _shelve(tmp_path, a_book(sha256="a" * 64))
    monkeypatch.setenv("LLM_PROVIDER", "anthropic")
    monkeypatch.setenv("LLM_MODELS", "another-model")
    made = await asyncio.to_thread(CliRunner().invoke, app, ["backup", "copy"])
    assert made.exit_code == 0, made.output
    asked = await asyncio.to_thread(CliRunner().invoke, app, ["recap", "alice"])
    assert "ANTHROPIC_API_KEY" in asked.output


@pytest.mark.usefixtures("environment")
async def test_where_the_database_is_on_a_server_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    with an_emptied_database() as url:
        monkeypatch.setenv("DATABASE_URL", url)
        refused = await asyncio.to_thread(CliRunner().invoke, app, ["backup", "copy"])
    assert refused.exit_code == 1
    assert "pg_dump" in refused.output
    assert not Path("copy").exists()


@pytest.mark.usefixtures("environment")
async def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["backup", "file/copy"])
    assert refused.exit_code == 1
    assert "cannot be made (Not a directory): choose another folder." in " ".join(refused.output.split())


@pytest.mark.usefixtures("environment")
async def test_of_a_book_that_cannot_be_written_nothing_is_left_behind(tmp_path: Path) -> None:
    await _shelve(tmp_path, a_book("here", sha256="a" * 64))
    in_the_way = tmp_path / "copy" / "books" / f"{'a' * 64}.book"
    in_the_way.mkdir(parents=True)
    refused = await asyncio.to_thread(CliRunner().invoke, app, ["backup", "copy"])
    assert "The copy could not be written to copy: Is a directory." in " ".join(refused.output.split())
    assert refused.exit_code == 1
    assert [*in_the_way.parent.iterdir()] == [in_the_way]


@pytest.mark.usefixtures("environment")
async def test_only_files_are_copied_and_none_to_another_place(tmp_path: Path) -> None:
    await _shelve(tmp_path, a_book("a device", sha256="a" * 64))
    await _shelve(tmp_path, a_book("a book", sha256="b" * 64))
    (tmp_path / "books" / f"{'a' * 64}.book").unlink()
    (tmp_path / "books" / f"{'a' * 64}.book").symlink_to("/dev/zero")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("not a book")
    (tmp_path / "copy" / "books").mkdir(parents=True)
    (tmp_path / "copy" / "books" / f"{'b' * 64}.book.part").symlink_to(elsewhere)
    made = await asyncio.wait_for(asyncio.to_thread(CliRunner().invoke, app, ["backup", "copy"]), 30)
    assert "is gone, so it is not in the copy." in " ".join(made.output.split())
    assert made.exit_code == 1
    assert [each.stem for each in (tmp_path / "copy" / "books").iterdir()] == ["b" * 64]
    assert elsewhere.read_text() == "not a book"


@pytest.mark.usefixtures("environment")
async def test_a_copy_does_not_become_the_folder_that_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    made = await asyncio.to_thread(CliRunner().invoke, app, ["backup", "data"])
    assert "Choose another name." in " ".join(made.output.split())
    assert made.exit_code == 1
    assert not (tmp_path / "data").exists()
    assert (await asyncio.to_thread(CliRunner().invoke, app, ["backup", "copy"])).exit_code == 0

"""marginalia migrate: everything goes to another database and another place, and comes back the same."""

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bot.__main__ import app
from bot.settings import Settings
from domain.book import DerivedText, PositionState, ReadingPosition
from domain.chat import PlatformMessage
from domain.concurrency import NODES
from domain.records import UsageRecord
from domain.tool_use import TokenUsage
from storage.book_files.files import SQLiteBookFiles
from storage.opening import open_storage
from storage.sql.books import BookObject
from tests.postgres import an_emptied_database
from tests.storage.book_files.test_files import a_text
from tests.storage.values import (
    MIDNIGHT,
    a_book,
    a_conversation,
    a_question,
    at,
    everything_about_a_conversation,
    everything_said,
    hold_turn,
)

BOOKS, CONVERSATIONS, TURNS = 12, 60, 1_020
"""A turn here is a question and an answer; there are more of them than are copied at once."""


@pytest.fixture
def postgres() -> Iterator[str]:
    with an_emptied_database() as url:
        yield url


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    asyncio.run(_furnish(folder))
    return folder


@pytest.fixture(autouse=True)
def shelf(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shelf of books, with many messages about them, as DATA_DIR."""
    shutil.copytree(furnished, tmp_path / "data")
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


async def _furnish(folder: Path) -> None:
    files = SQLiteBookFiles(folder / "books")
    async with await open_storage(f"sqlite:///{folder}/marginalia.db") as storage:
        for number in range(BOOKS):
            sha256 = f"{number:064}"
            await files.write(sha256, a_text(2_000))
            await storage.books.save(a_book(f"book-{number}", sha256=sha256, title=f"Volume {number}"))
            await storage.derived_texts.put(DerivedText(f"book-{number}", "summary", "1", 9, "\0", "model", MIDNIGHT))
            await storage.readers.set_position("hatter", f"book-{number}", ReadingPosition(PositionState.READING, 7))
        for number in range(CONVERSATIONS):
            await storage.conversations.save(
                a_conversation(str(number), f"book-{number % BOOKS}", created_at=at(number))
            )
        for number in range(TURNS):
            await hold_turn(storage, f"t{number}", str(number % CONVERSATIONS), external_id=str(number))
        await storage.conversations.save(replace(everything_about_a_conversation(), book_id="book-0"))
        await storage.messages.save_batch(everything_said())
        waits = a_question("waits", "0", external_id="9000", content="half \0 of it 🐇")
        await storage.messages.add_incoming(waits, said_in=PlatformMessage("8999", "channel"))
        await storage.messages.note_present("0", "dormouse")
        await storage.readers.set_verbose("hatter", False)
        await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage(10, 1), "hatter", "g", "0", 5))
        await storage.privacy.erase("nobody")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["migrate", *words])


def everything_in(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a SQLite database but those about its own making."""
    with closing(sqlite3.connect(path)) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in names if name not in {"schema_migrations", "book_objects"}]
        return {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in kept}


def test_there_and_back_again_everything_is_the_same(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"file://{tmp_path}/store"
    there = run("--to", postgres, "--books", store)
    assert there.exit_code == 0, there.output
    assert f"{2 * TURNS + len(everything_said()) + 1:,}" in there.output
    assert f"DATABASE_URL={postgres}" in there.output
    assert f"BOOKS_URL={store}" in there.output

    monkeypatch.setenv("DATABASE_URL", postgres)
    monkeypatch.setenv("BOOKS_URL", store)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "elsewhere"))
    listed = CliRunner().invoke(app, ["books", "list", "--json"])
    assert listed.output.count("Volume") == BOOKS
    text = CliRunner().invoke(app, ["books", "text", "book-7"])
    assert text.output.strip()

    back = run("--to", f"sqlite:///{tmp_path}/back/marginalia.db", "--books", str(tmp_path / "back" / "books"))
    assert back.exit_code == 0, back.output
    assert everything_in(tmp_path / "back" / "marginalia.db") == everything_in(tmp_path / "data" / "marginalia.db")
    for file in (tmp_path / "data" / "books").iterdir():
        assert (tmp_path / "back" / "books" / file.name).read_bytes() == file.read_bytes()


async def test_what_was_copied_can_be_written_on(tmp_path: Path, postgres: str) -> None:
    assert (await asyncio.to_thread(run, "--to", postgres)).exit_code == 0
    async with await open_storage(postgres) as storage:
        turn = await hold_turn(storage, "new", "0", external_id="9001")
        assert turn.number == TURNS // CONVERSATIONS + 1
        await storage.usage.record(UsageRecord(MIDNIGHT, "model", TokenUsage(10, 1), "hatter", "g", "0", 5))
        assert (await storage.usage.total_for_reader("hatter", MIDNIGHT)).requests == 2


async def test_while_nodes_run_nothing_is_copied(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await open_storage(postgres) as storage:
        assert storage.leases is not None
        assert await storage.leases.acquire(f"{NODES}one", "one", 60.0)
        to = await asyncio.to_thread(run, "--to", postgres)
        monkeypatch.setenv("DATABASE_URL", postgres)
        back = await asyncio.to_thread(run, "--to", f"sqlite:///{tmp_path}/back.db")
        assert not await storage.books.list()
    assert (to.exit_code, back.exit_code) == (1, 1)
    assert "Bots are running on the database of --to" in " ".join(to.output.split())
    assert "Bots are running on the database, and" in " ".join(back.output.split())


def test_a_database_that_holds_something_is_left_alone(tmp_path: Path, postgres: str) -> None:
    assert run("--to", postgres).exit_code == 0
    again = run("--to", postgres)
    assert again.exit_code == 1
    assert "name one that is empty" in again.output


async def test_after_an_interruption_the_books_follow_unless_the_copy_is_another_one(
    tmp_path: Path, postgres: str
) -> None:
    books = ("--to", postgres, "--books", f"file://{tmp_path}/store")
    assert (await asyncio.to_thread(run, "--to", postgres)).exit_code == 0  # the database is copied first
    async with await open_storage(postgres) as storage:
        await storage.book_objects.put(BookObject(f"{0:064}", "b" * 64, 5, MIDNIGHT))
    again = await asyncio.to_thread(run, *books)
    assert again.exit_code == 0, again.output
    assert len(list((tmp_path / "store").rglob("*.book"))) == BOOKS
    async with await open_storage(postgres) as storage:
        await storage.readers.set_verbose("hatter", True)
    refused = await asyncio.to_thread(run, *books)
    assert "name one that is empty" in refused.output


def test_the_database_in_use_is_no_target(tmp_path: Path) -> None:
    refused = run("--to", f"sqlite:///{tmp_path}/data/marginalia.db")
    assert refused.exit_code == 1
    assert "in use" in refused.output


async def test_a_removed_book_can_be_restored_from_the_copy(tmp_path: Path) -> None:
    files = SQLiteBookFiles(tmp_path / "data" / "books")
    await files.write("f" * 64, a_text(2_000))
    await files.close()
    async with await open_storage(f"sqlite:///{tmp_path}/data/marginalia.db") as storage:
        await storage.books.save(a_book("removed", sha256="f" * 64, removed_at=MIDNIGHT, removed_by="hatter"))
    copied = await asyncio.to_thread(run, "--to", f"sqlite:///{tmp_path}/copy.db", "--books", "copies")
    assert copied.exit_code == 0, copied.output
    assert (tmp_path / "copies" / f"{'f' * 64}.book").exists()


def test_a_book_whose_file_is_gone_is_named(tmp_path: Path, postgres: str) -> None:
    (tmp_path / "data" / "books" / f"{3:064}.book").unlink()
    copied = run("--to", postgres, "--books", str(tmp_path / "copies"))
    assert copied.exit_code == 1
    assert "Volume 3” is gone" in copied.output
    assert len(list((tmp_path / "copies").iterdir())) == BOOKS - 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--to", "nonsense://"), "--to must begin with one of sqlite://"),
        (("--to", "sqlite://"), "--to needs three slashes"),
        (("--to", "postgresql://u:p@@h/db"), "--to cannot be read"),
        (("--to", "sqlite:///x.db", "--books", "nonsense://x"), "--books must be like s3://"),
    ],
)
def test_a_wrong_address_is_called_by_its_option(words: tuple[str, ...], told: str) -> None:
    refused = run(*words)
    assert refused.exit_code != 0
    assert told in " ".join(refused.output.split())
    assert "_URL" not in refused.output


@pytest.mark.parametrize("books", ["nonsense://x", "a file/books"])
def test_where_the_books_cannot_go_nothing_is_copied(tmp_path: Path, books: str) -> None:
    (tmp_path / "a file").touch()
    refused = run("--to", "sqlite:///x.db", "--books", books)
    assert refused.exit_code == 1
    again = run("--to", "sqlite:///x.db")
    assert again.exit_code == 0, again.output

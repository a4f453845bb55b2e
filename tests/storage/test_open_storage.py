"""A storage is opened by its URL, outlives the program, and can be copied while it is in use."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from domain.conversation import TurnState
from domain.errors import SettingsError, StorageError, StorageErrorCode
from storage.opening import open_storage
from storage.sql.database import migrations_in
from tests.storage.sqlite.tables import threads_of_connections
from tests.storage.values import (
    MIDNIGHT,
    a_book,
    a_conversation,
    a_question,
    an_answer,
    at,
    everything_said,
    furnish,
    hold_turn,
    ids_of,
)

SECRET = "the treacle-well"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://localhost/marginalia", "sqlite://"),
        ("data/marginalia.db", "sqlite://"),
        ("sqlite:data/marginalia.db", "sqlite://"),
        ("", "sqlite://"),
        ("sqlite://", "three slashes"),
        ("sqlite:///", "three slashes"),
        ("sqlite://data/marginalia.db", "three slashes"),
    ],
)
async def test_a_url_that_names_no_database_is_a_setting_to_be_mended(url: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        await open_storage(url)


async def test_three_slashes_are_relative_and_four_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await (await open_storage("sqlite:///data/marginalia.db")).close()
    await (await open_storage(f"sqlite:///{tmp_path}/other/folder/marginalia.db")).close()
    assert (tmp_path / "data" / "marginalia.db").is_file()
    assert (tmp_path / "other" / "folder" / "marginalia.db").is_file()


async def test_a_path_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    await (await open_storage("sqlite:///~/marginalia.db")).close()
    assert (tmp_path / "ann" / "marginalia.db").is_file()


async def test_everything_survives_a_restart(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/marginalia.db"
    async with await open_storage(url) as storage:
        await furnish(storage)
        turn = await hold_turn(storage, "first")
        await storage.messages.save_batch(everything_said())
        history = await storage.messages.get_by_conversation("tea")
    async with await open_storage(url) as storage:
        assert await storage.books.list() == [a_book()]
        assert await storage.messages.get_by_conversation("tea") == history
        assert await storage.turns.list_undelivered() == [turn]


async def test_closing_leaves_no_thread_behind(tmp_path: Path) -> None:
    async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db"):
        assert len(threads_of_connections()) == 2
    (tmp_path / "letter.db").write_text("Dear Alice, " * 500)
    with pytest.raises(StorageError):
        await open_storage(f"sqlite:///{tmp_path}/letter.db")
    assert threads_of_connections() == []


class TestBackup:
    async def test_it_is_whole_while_others_write(self, tmp_path: Path) -> None:
        async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as storage:
            await furnish(storage)
            await hold_turn(storage, "before")

            async def go_on_writing() -> None:
                for number in range(100):
                    await hold_turn(storage, str(number))

            writing = asyncio.create_task(go_on_writing())
            for _ in range(5):
                await storage.backup(tmp_path / "backups" / "marginalia.db")
            await writing
        async with await open_storage(f"sqlite:///{tmp_path}/backups/marginalia.db") as copy:
            assert await copy.integrity_check() == []
            kept = await ids_of(copy)
            assert kept[:2] == ["before-question", "before-answer"]
        assert [file.name for file in (tmp_path / "backups").iterdir()] == ["marginalia.db"]

    async def test_a_database_in_memory_can_be_kept(self, tmp_path: Path) -> None:
        async with await open_storage("sqlite:///:memory:") as storage:
            await furnish(storage)
            await storage.backup(tmp_path / "kept.db")
        async with await open_storage(f"sqlite:///{tmp_path}/kept.db") as copy:
            assert await copy.books.list() == [a_book()]

    async def test_what_a_killed_backup_left_behind_is_no_obstacle(self, tmp_path: Path) -> None:
        (tmp_path / "kept.db.partial").write_text("half of a page")
        async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as storage:
            await storage.backup(tmp_path / "kept.db")
        async with await open_storage(f"sqlite:///{tmp_path}/kept.db") as copy:
            assert await copy.integrity_check() == []

    async def test_the_database_is_never_its_own_backup(self, tmp_path: Path) -> None:
        async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as storage:
            await furnish(storage)
            with pytest.raises(StorageError, match="another file"):
                await storage.backup(tmp_path / "elsewhere" / ".." / "marginalia.db")
            assert await storage.books.list() == [a_book()]

    async def test_a_place_that_cannot_be_written_is_an_error_with_a_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "folder" / "inside").mkdir(parents=True)
        async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as storage:
            with pytest.raises(StorageError) as refused:
                await storage.backup(tmp_path / "folder")
            assert refused.value.code is StorageErrorCode.WRITE_FAILED
            with pytest.raises(StorageError):
                await storage.backup(tmp_path / "marginalia.db" / "inside.db")
        assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "marginalia.db"]


async def test_what_was_erased_is_not_in_the_files_any_more(tmp_path: Path) -> None:
    async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as storage:
        await furnish(storage)
        await hold_turn(storage, "first", author_name=SECRET, content=f"Where is {SECRET}? " * 2000)
        await storage.messages.add_incoming(a_question("waits", content=SECRET, author_id="hatter"))
        assert _holds(tmp_path, SECRET)
        await storage.privacy.erase("hatter")
        assert not _holds(tmp_path, SECRET)


@pytest.mark.parametrize("how", ["made again", "deleted", "expired", "with its server"])
async def test_an_answer_that_was_replaced_or_removed_is_not_in_the_files_any_more(tmp_path: Path, how: str) -> None:
    async with await open_storage(f"sqlite:///{tmp_path}/marginalia.db") as storage:
        await storage.books.save(a_book(shelf="1"))
        await storage.conversations.save(a_conversation(guild_id="1"))
        await storage.messages.add_incoming(a_question("why"))
        turn = await storage.turns.begin("tea", ["why"], MIDNIGHT)
        delivered = replace(turn, state=TurnState.DELIVERED, reply_ids=("3",))
        await storage.turns.finish(delivered, [an_answer("old", content=f"It was {SECRET}. " * 2000)])
        assert _holds(tmp_path, SECRET)
        match how:
            case "made again":
                await storage.turns.supersede(turn.id, replace(delivered, id="new"), [an_answer("better")])
            case "deleted":
                assert await storage.turns.forget_answer(turn.id, "3")
            case "expired":
                await storage.turns.forget_question("why", at(60))
                assert await storage.turns.drop_expired(at(61))
            case _:
                await storage.retention.erase_server("1")
        assert not _holds(tmp_path, SECRET)


def _holds(folder: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.iterdir())


def test_every_migration_has_a_number_to_itself_and_the_same_in_each_database() -> None:
    numbered = {package: migrations_in(f"storage.{package}") for package in ("sqlite", "postgres")}
    names = {package: [(each.version, each.name) for each in found] for package, found in numbered.items()}
    assert names["sqlite"] == names["postgres"]
    assert [version for version, _ in names["sqlite"]] == [*range(1, len(names["sqlite"]) + 1)]

"""Whatever is wrong with the disk or the file: one sentence that says what to do, and no damage done."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from domain.chat import ChatMessage
from domain.errors import StorageError, StorageErrorCode
from storage.opening import Storage, open_storage
from storage.sqlite import connection
from storage.sqlite.database import SQLiteDatabase
from tests.storage.sqlite.conftest import OpenStorage
from tests.storage.sqlite.tables import threads_of_connections
from tests.storage.values import a_conversation, a_question, furnish, hold_turn, ids_of


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with a turn in it, closed."""
    path = tmp_path / "marginalia.db"
    async with await open_storage(f"sqlite:///{path}") as storage:
        await furnish(storage)
        await hold_turn(storage, "first")
    return path


@pytest.fixture
async def storage(path: Path, opened: OpenStorage) -> Storage:
    return await opened(path)


@pytest.fixture
def nobody(path: Path) -> Iterator[Path]:
    """A folder of somebody else's, while the test runs as a person without special rights.

    `path` comes first, so that whatever the program reads from its own folder is read by then.
    """
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)


async def _refused(opened: OpenStorage, path: Path) -> StorageError:
    with pytest.raises(StorageError) as refused:
        await opened(path)
    assert str(path.parent) in refused.value.message
    return refused.value


class TestFullDisk:
    async def test_a_write_that_does_not_fit_is_undone_and_the_rest_goes_on(self, storage: Storage) -> None:
        assert isinstance(storage.engine, SQLiteDatabase)
        async with storage.engine.transaction() as transaction:
            (used,) = await transaction.run("PRAGMA page_count")
            await transaction.run(f"PRAGMA max_page_count = {used['page_count'] + 4}")
        batch = [a_question(f"page-{n}", content="x" * 4000) for n in range(50)]
        with pytest.raises(StorageError, match="free some space") as refused:
            await storage.messages.save_batch(batch)
        assert refused.value.code is StorageErrorCode.WRITE_FAILED
        assert await ids_of(storage) == ["first-question", "first-answer"]
        assert await storage.integrity_check() == []
        await storage.messages.save(a_question("small"))
        assert await ids_of(storage) == ["first-question", "first-answer", "small"]

    async def test_a_turn_that_does_not_fit_stays_as_it_was(self, storage: Storage) -> None:
        assert isinstance(storage.engine, SQLiteDatabase)
        (turn,) = await storage.turns.get_by_conversation("tea")
        async with storage.engine.transaction() as transaction:
            await transaction.run("PRAGMA max_page_count = 1")
        long: list[ChatMessage] = [a_question(f"page-{n}", content="x" * 9000) for n in range(3)]
        with pytest.raises(StorageError):
            await storage.turns.finish(turn, long)
        assert await storage.turns.get(turn.id) == turn


class TestReadOnly:
    async def test_a_file_that_may_not_be_written(self, path: Path, nobody: Path, opened: OpenStorage) -> None:
        copy = nobody / "marginalia.db"
        _as_owner(lambda: copy.write_bytes(path.read_bytes()))
        _as_owner(lambda: copy.chmod(0o444))
        refused = await _refused(opened, copy)
        assert "right to write" in refused.message or "may write" in refused.message

    async def test_a_file_of_another_user_in_a_folder_of_ones_own(
        self, path: Path, nobody: Path, opened: OpenStorage
    ) -> None:
        copy = nobody / "marginalia.db"
        _as_owner(lambda: copy.write_bytes(path.read_bytes()))
        _as_owner(lambda: copy.chmod(0o444))
        _as_owner(lambda: nobody.chmod(0o777))
        assert "is read-only: give this user the right to write" in (await _refused(opened, copy)).message

    async def test_a_folder_that_may_not_be_written(self, nobody: Path, opened: OpenStorage) -> None:
        _as_owner(lambda: nobody.chmod(0o555))
        assert (await _refused(opened, nobody / "marginalia.db")).code is StorageErrorCode.NOT_FOUND
        assert (await _refused(opened, nobody / "new" / "marginalia.db")).code is StorageErrorCode.NOT_FOUND

    async def test_a_connection_that_may_not_write(self, storage: Storage) -> None:
        assert isinstance(storage.engine, SQLiteDatabase)
        async with storage.engine.transaction() as transaction:
            await transaction.run("PRAGMA query_only = ON")
        with pytest.raises(StorageError, match="is read-only"):
            await storage.messages.save(a_question())
        assert await ids_of(storage) == ["first-question", "first-answer"]


class TestLocked:
    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "BUSY_TIMEOUT_S", 0.05)

    async def test_a_write_while_another_program_writes(self, storage: Storage, path: Path) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="Another program") as refused:
            await storage.conversations.save(a_conversation("croquet"))
        assert refused.value.code is StorageErrorCode.WRITE_FAILED
        assert await ids_of(storage) == ["first-question", "first-answer"]
        other.execute("ROLLBACK")
        await storage.conversations.save(a_conversation("croquet"))
        other.close()

    async def test_opening_while_another_program_writes(self, path: Path, opened: OpenStorage) -> None:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        assert "Another program" in (await _refused(opened, path)).message
        other.close()
        await opened(path)


class TestCorrupt:
    async def test_a_file_that_is_no_database_is_left_as_it_is(self, tmp_path: Path, opened: OpenStorage) -> None:
        path = tmp_path / "letter.txt"
        path.write_text("Dear Alice, " * 500)
        refused = await _refused(opened, path)
        assert (refused.code, "not a database" in refused.message) == (StorageErrorCode.DB_CORRUPTED, True)
        assert path.read_text() == "Dear Alice, " * 500

    async def test_a_damaged_schema_is_left_as_it_is(self, path: Path, opened: OpenStorage) -> None:
        damaged = _overwritten(path, start=100, length=3900)
        refused = await _refused(opened, path)
        assert refused.code is StorageErrorCode.DB_CORRUPTED
        assert "backup" in refused.message
        assert path.read_bytes() == damaged

    async def test_damaged_pages_are_found_and_reading_them_is_an_error_with_a_sentence(
        self, path: Path, opened: OpenStorage
    ) -> None:
        with closing(sqlite3.connect(path)) as connected:
            (page,) = connected.execute("SELECT rootpage FROM sqlite_master WHERE name = 'books'").fetchone()
        _overwritten(path, start=(page - 1) * 4096, length=4096)
        storage = await opened(path)
        assert await storage.integrity_check() != []
        with pytest.raises(StorageError) as refused:
            await storage.books.list()
        assert refused.value.code is StorageErrorCode.DB_CORRUPTED

    async def test_a_file_cut_short_is_left_as_it_is(self, path: Path, opened: OpenStorage) -> None:
        cut = path.read_bytes()[:6000]
        path.write_bytes(cut)
        assert (await _refused(opened, path)).code is StorageErrorCode.DB_CORRUPTED
        assert path.read_bytes() == cut

    async def test_a_file_that_is_cut_short_under_the_program_is_no_health(self, storage: Storage, path: Path) -> None:
        assert isinstance(storage.engine, SQLiteDatabase)
        await storage.engine.forget_deleted()  # all of it is in the file now, and the log begins anew
        await storage.messages.save(a_question("later"))
        await storage.ping()
        os.truncate(path, 5_000)
        with pytest.raises(StorageError) as refused:
            await storage.ping()
        assert refused.value.code is StorageErrorCode.DB_CORRUPTED

    async def test_an_entry_that_nobody_can_read_is_an_error_with_a_sentence(self, storage: Storage) -> None:
        assert isinstance(storage.engine, SQLiteDatabase)
        for nonsense in ("not json", "[1]", '[{"quote": "no place"}]'):
            await storage.engine.write("UPDATE chat_messages SET citations = ?", [nonsense])
            with pytest.raises(StorageError, match="restore a backup") as refused:
                await storage.messages.get_by_conversation("tea")
            assert refused.value.code is StorageErrorCode.DB_CORRUPTED

    async def test_a_folder_is_no_database(self, tmp_path: Path, opened: OpenStorage) -> None:
        assert (await _refused(opened, tmp_path)).code is StorageErrorCode.NOT_FOUND

    def test_a_program_that_ends_because_of_it_leaves_no_thread_to_complain(self, tmp_path: Path) -> None:
        """A thread that fails after its loop is closed would make this test, or the next, fail with a warning."""
        for _ in range(30):
            with pytest.raises(StorageError):
                asyncio.run(open_storage(f"sqlite:///{tmp_path}"))
            assert threads_of_connections() == []

    async def test_a_file_is_no_folder(self, path: Path, opened: OpenStorage) -> None:
        assert (await _refused(opened, path / "marginalia.db")).code is StorageErrorCode.NOT_FOUND


class TestGone:
    async def test_nothing_is_written_to_a_file_that_was_deleted(self, storage: Storage, path: Path) -> None:
        path.unlink()
        with pytest.raises(StorageError, match="gone from the disk") as refused:
            await storage.messages.save(a_question())
        assert refused.value.code is StorageErrorCode.NOT_FOUND
        with pytest.raises(StorageError, match="gone from the disk"):
            await storage.ping()

    async def test_once_it_is_back_all_goes_on(self, storage: Storage, path: Path) -> None:
        elsewhere = path.rename(path.with_name("elsewhere.db"))
        with pytest.raises(StorageError, match="gone from the disk"):
            await storage.messages.save(a_question())
        elsewhere.rename(path)
        await storage.ping()
        await storage.messages.save(a_question("later"))
        assert await ids_of(storage) == ["first-question", "first-answer", "later"]


class TestTooMuch:
    async def test_a_number_beyond_64_bits(self, storage: Storage) -> None:
        with pytest.raises(StorageError):
            await storage.messages.save(a_question(depends_to=2**63))
        assert await ids_of(storage) == ["first-question", "first-answer"]


def _overwritten(path: Path, start: int, length: int) -> bytes:
    data = bytearray(path.read_bytes())
    data[start : start + length] = b"\xa5" * len(data[start : start + length])
    path.write_bytes(data)
    return bytes(data)


def _as_owner(action: Callable[[], object]) -> None:
    """Do something with the rights the test was started with."""
    user = os.geteuid()
    os.seteuid(os.getuid())
    try:
        action()
    finally:
        os.seteuid(user)

"""Transactions hold, whatever happens to the tasks that use them."""

import asyncio
import random
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from domain.concurrency import to_the_end
from domain.errors import SettingsError, StorageError
from storage.sqlite.connection import replacing
from storage.sqlite.database import SQLiteDatabase
from tests.storage.sqlite.conftest import OpenNotes
from tests.storage.sqlite.tables import lines_of, threads_of_connections, write_line


@pytest.fixture(params=["file", "memory"])
async def database(request: pytest.FixtureRequest, tmp_path: Path, open_notes: OpenNotes) -> SQLiteDatabase:
    return await open_notes(tmp_path / "notes.db" if request.param == "file" else ":memory:")


async def test_a_library_that_is_too_old_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr("sqlite3.sqlite_version", "3.34.1")
    with pytest.raises(SettingsError, match=r"uses SQLite 3\.34\.1, and 3\.37 or newer is needed"):
        await SQLiteDatabase.open(tmp_path / "new" / "notes.db")
    assert list(tmp_path.iterdir()) == []


class TestTransaction:
    async def test_an_error_undoes_it(self, database: SQLiteDatabase) -> None:
        with pytest.raises(LookupError):
            async with database.transaction() as transaction:
                await write_line(transaction, "one")
                raise LookupError
        assert await lines_of(database) == []

    async def test_an_error_of_sqlite_undoes_it(self, database: SQLiteDatabase) -> None:
        with pytest.raises(StorageError):
            async with database.transaction() as transaction:
                await write_line(transaction, "one")
                await transaction.run("INSERT INTO nowhere VALUES (1)")
        assert await lines_of(database) == []

    async def test_one_inside_another_is_refused_and_not_waited_for(self, database: SQLiteDatabase) -> None:
        with pytest.raises(RuntimeError, match="wait for itself"):
            async with database.transaction() as transaction:
                await write_line(transaction, "one")
                await database.write("INSERT INTO notes (line) VALUES ('two')")
        assert await lines_of(database) == []

    async def test_others_do_not_see_what_is_not_committed(self, tmp_path: Path, open_notes: OpenNotes) -> None:
        database = await open_notes(tmp_path / "notes.db")
        async with database.transaction() as transaction:
            await write_line(transaction, "one")
            assert await lines_of(database) == []
        assert await lines_of(database) == ["one"]


class TestCancellation:
    async def test_in_the_middle_it_undoes_everything(self, database: SQLiteDatabase) -> None:
        written = asyncio.Event()

        async def write_and_wait() -> None:
            async with database.transaction() as transaction:
                await write_line(transaction, "one")
                written.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write_and_wait())
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await lines_of(database) == []
        await database.write("INSERT INTO notes (line) VALUES ('two')")
        assert await lines_of(database) == ["two"]

    async def test_at_any_moment_it_leaves_all_or_nothing(self, database: SQLiteDatabase) -> None:
        """Cancelled after any number of steps of the event loop: in BEGIN, in a statement, in COMMIT, or after it."""
        for steps in range(60):
            task = asyncio.create_task(_write_pair(database, str(steps)))
            for _ in range(steps):
                await asyncio.sleep(0.0001 if steps % 3 == 0 else 0)
            task.cancel()
            task.cancel()
            await asyncio.wait({task})
            lines = await lines_of(database)
            assert lines.count(f"{steps} a") == lines.count(f"{steps} b")
            await database.write("INSERT INTO notes (line) VALUES ('goes on')")

    async def test_a_task_that_waits_for_its_turn_may_be_cancelled(self, database: SQLiteDatabase) -> None:
        async with database.transaction() as transaction:
            waiting = asyncio.create_task(_write_pair(database, "never"))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
            await write_line(transaction, "one")
        assert await lines_of(database) == ["one"]

    async def test_a_deadline_counts_as_one(self, database: SQLiteDatabase) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), database.transaction() as transaction:
                await write_line(transaction, "one")
                await asyncio.sleep(5)
        assert await lines_of(database) == []

    async def test_while_opening_it_leaves_no_thread_and_no_lock(self, tmp_path: Path, open_notes: OpenNotes) -> None:
        path = tmp_path / "notes.db"
        for steps in range(40):
            task = asyncio.ensure_future(open_notes(path))
            for _ in range(steps):
                await asyncio.sleep(0.0005)
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                await (await task).close()
        database = await open_notes(path)
        await _write_pair(database, "free")
        await database.close()
        assert threads_of_connections() == []

    @pytest.mark.parametrize("kind", ["database", "notes"])
    async def test_a_backup_never_takes_the_place_of_anything_but_its_older_copy(
        self, tmp_path: Path, open_notes: OpenNotes, kind: str
    ) -> None:
        database, other = await open_notes(tmp_path / "notes.db"), tmp_path / "other" / "notes.db"
        other.parent.mkdir()
        if kind == "database":
            await (await open_notes(other)).close()
        else:
            other.write_text("My notes.")
        before = other.read_bytes()
        with pytest.raises(StorageError, match="choose another folder"):
            await database.backup(other)
        assert other.read_bytes() == before
        assert [file.name for file in other.parent.iterdir()] == ["notes.db"]

    async def test_a_backup_that_is_given_up_leaves_the_old_copy_or_the_new(
        self, tmp_path: Path, open_notes: OpenNotes
    ) -> None:
        database = await open_notes(tmp_path / "notes.db")
        copy = tmp_path / "backups" / "notes.db"
        await database.backup(copy)
        for steps in range(20):
            await _write_pair(database, str(steps))
            task = asyncio.create_task(database.backup(copy))
            await asyncio.sleep(steps * 0.0005)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            assert [file.name for file in copy.parent.iterdir()] == ["notes.db"]
            kept = await open_notes(copy)
            assert len(await lines_of(kept)) % 2 == 0
            await kept.close()

    async def test_what_was_half_written_goes_however_busy_the_threads_are(self, tmp_path: Path) -> None:
        loop, begun, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))

        async def write() -> None:
            async with replacing(tmp_path / "notes.db") as partial:
                partial.touch()
                loop.run_in_executor(None, go_on.wait)
                begun.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write())
        await begun.wait()
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.wait({task})
        assert [*tmp_path.iterdir()] == []


class TestToTheEnd:
    async def test_a_result_and_an_error_come_through(self) -> None:
        async def fail() -> None:
            raise LookupError

        assert await to_the_end(asyncio.sleep(0, "done")) == "done"
        with pytest.raises(LookupError):
            await to_the_end(fail())

    @pytest.mark.parametrize("fails", [False, True])
    async def test_a_cancellation_waits_until_the_work_is_done(self, fails: bool) -> None:
        go_on, done = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            await go_on.wait()
            done.set()
            if fails:
                raise LookupError

        task = asyncio.create_task(to_the_end(work()))
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
        assert not task.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done.is_set()


class TestManyTasks:
    async def test_the_rollback_of_one_never_takes_what_another_wrote(self, database: SQLiteDatabase) -> None:
        chance = random.Random(7)

        async def write(name: int) -> str | None:
            await asyncio.sleep(chance.random() / 100)
            try:
                async with database.transaction() as transaction:
                    await write_line(transaction, str(name))
                    await asyncio.sleep(0)
                    if chance.random() < 0.5:
                        raise LookupError
            except LookupError:
                return None
            return str(name)

        tasks = [asyncio.create_task(write(name)) for name in range(200)]
        for task in chance.sample(tasks, 40):
            await asyncio.sleep(0.0005)
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        kept = set(await lines_of(database))
        assert {result for result in results if isinstance(result, str)} <= kept
        refused = {str(name) for name, result in enumerate(results) if result is None}
        assert not refused & kept

    async def test_reading_goes_on_while_somebody_writes(self, tmp_path: Path, open_notes: OpenNotes) -> None:
        database = await open_notes(tmp_path / "notes.db")
        await _write_pair(database, "before")
        async with database.transaction() as transaction:
            await write_line(transaction, "unfinished")
            many = await asyncio.gather(*(lines_of(database) for _ in range(50)))
        assert many == [["before a", "before b"]] * 50

    async def test_several_programs_may_share_a_file(self, tmp_path: Path, open_notes: OpenNotes) -> None:
        programs = await asyncio.gather(*(open_notes(tmp_path / "new" / "notes.db") for _ in range(4)))
        await asyncio.gather(*(_write_pair(program, f"{n}") for n in range(15) for program in programs))
        assert len(await lines_of(programs[0])) == 120

    async def test_several_programs_may_make_it_at_once(self, tmp_path: Path, open_notes: OpenNotes) -> None:
        for attempt in range(15):
            await asyncio.gather(*(open_notes(tmp_path / f"{attempt}.db") for _ in range(4)))


class TestClosing:
    async def test_twice_is_fine_and_after_it_there_is_a_sentence(self, database: SQLiteDatabase) -> None:
        await database.close()
        await database.close()
        with pytest.raises(StorageError):
            await lines_of(database)
        with pytest.raises(StorageError):
            await _write_pair(database, "late")
        with pytest.raises(StorageError):
            await database.integrity_check()

    async def test_it_waits_for_the_transaction_under_way(self, tmp_path: Path, open_notes: OpenNotes) -> None:
        database = await open_notes(tmp_path / "notes.db")
        begun = asyncio.Event()

        async def write_slowly() -> None:
            async with database.transaction() as transaction:
                begun.set()
                await asyncio.sleep(0.02)
                await write_line(transaction, "slow")

        task = asyncio.create_task(write_slowly())
        await begun.wait()
        await database.close()
        await task
        again = await open_notes(tmp_path / "notes.db")
        assert await lines_of(again) == ["slow"]


class TestDeletedText:
    async def test_the_log_is_emptied_as_soon_as_nobody_else_reads(
        self, tmp_path: Path, open_notes: OpenNotes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("storage.sqlite.connection.BUSY_TIMEOUT_S", 0.05)
        monkeypatch.setattr("storage.sqlite.database.EMPTY_AGAIN_S", 0.01)
        database, log = await open_notes(tmp_path / "notes.db"), tmp_path / "notes.db-wal"
        await database.write("INSERT INTO notes (line) VALUES ('secret')")
        with closing(sqlite3.connect(tmp_path / "notes.db", isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT line FROM notes").fetchall()
            await database.write("DELETE FROM notes")
            await database.forget_deleted()
            assert b"secret" in log.read_bytes()
        while log.read_bytes():
            await asyncio.sleep(0.01)
        assert b"secret" not in (tmp_path / "notes.db").read_bytes()


async def _write_pair(database: SQLiteDatabase, name: str) -> None:
    async with database.transaction() as transaction:
        await write_line(transaction, f"{name} a")
        await write_line(transaction, f"{name} b")

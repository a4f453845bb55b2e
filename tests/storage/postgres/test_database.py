"""A PostgreSQL that several nodes share: work is done again where it must be, and no connection keeps anything."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from domain.conversation import TurnState
from domain.errors import BookError, ConversationError, SettingsError, StorageError, StorageErrorCode
from storage.opening import Storage, open_storage
from storage.postgres.database import PostgresDatabase, shipped_migrations
from storage.sql.database import Migration, Transaction
from storage.sqlite.database import shipped_migrations as migrations_of_sqlite
from tests.postgres import a_database, an_emptied_database
from tests.storage.values import MIDNIGHT, a_book, a_question, an_answer, furnish, hold_turn, ids_of

PROJECT = Path(__file__).parents[3]


@pytest.fixture
def url() -> Iterator[str]:
    with an_emptied_database() as url:
        yield url


@pytest.fixture
async def storage(url: str) -> AsyncIterator[Storage]:
    async with await open_storage(url) as opened:
        yield opened


def database_of(storage: Storage) -> PostgresDatabase:
    assert isinstance(storage.engine, PostgresDatabase)
    return storage.engine


def end_all_connections(url: str) -> None:
    """As a restart of the server does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def make_read_only(url: str, how: str) -> None:
    """Whether connections that are made from now on may write."""
    with psycopg.connect(url, autocommit=True, options="-c default_transaction_read_only=off") as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}").format(name, how))


class TestWorkIsDoneAgain:
    async def test_where_two_transactions_change_the_same_row(self, storage: Storage) -> None:
        database, both_have_read, runs = database_of(storage), asyncio.Barrier(2), 0
        await storage.books.save(a_book(page_count=0))

        async def count_up(transaction: Transaction) -> None:
            nonlocal runs
            runs += 1
            (row,) = await transaction.run("SELECT page_count FROM books")
            if runs <= 2:
                await both_have_read.wait()
            await transaction.run("UPDATE books SET page_count = ?", [row["page_count"] + 1])

        await asyncio.gather(database.atomically(count_up), database.atomically(count_up))
        book = await storage.books.get("alice")
        assert book is not None
        assert book.page_count == 2
        assert runs == 3

    async def test_where_the_server_has_ended_every_connection(self, url: str, storage: Storage) -> None:
        await furnish(storage)
        await asyncio.gather(*(storage.books.list() for _ in range(10)))
        end_all_connections(url)
        assert [book.id for book in await storage.books.list()] == ["alice"]
        end_all_connections(url)
        await hold_turn(storage, "first")
        assert await ids_of(storage) == ["first-question", "first-answer"]

    async def test_a_turn_whose_commit_was_heard_of_by_nobody_is_begun_once(self, url: str, storage: Storage) -> None:
        """The connection ends after the commit and before its answer: the work meets what it has done itself."""
        await furnish(storage)
        database, broken = database_of(storage), False
        carry_out = database._persist

        async def commit_and_break(work, *rest):  # type: ignore[no-untyped-def]
            nonlocal broken
            if not broken:
                broken = True
                await carry_out(work, *rest)
            return await carry_out(work, *rest)

        await storage.messages.add_incoming(a_question("asked", external_id="1"))
        database._persist = commit_and_break  # type: ignore[method-assign]
        turn = await storage.turns.begin("tea", ["asked"], MIDNIGHT)
        assert await storage.turns.get_by_conversation("tea") == [turn]
        broken = False
        assert await storage.messages.add_incoming(a_question("new", external_id="2"))

    async def test_where_a_connection_leads_to_a_server_that_takes_no_writes_any_more(self) -> None:
        with a_database() as url:
            async with await open_storage(url) as storage:
                make_read_only(url, "on")
                end_all_connections(url)
                with pytest.raises(StorageError) as refused:
                    await storage.books.save(a_book())
                assert refused.value.code is StorageErrorCode.UNREACHABLE, "as an outage: it is over in a moment"
                assert "read-only" in refused.value.message
                await asyncio.gather(*(storage.books.list() for _ in range(10)))
                make_read_only(url, "off")  # for connections that are made from now on, as after a failover
                await storage.books.save(a_book())
                assert [book.id for book in await storage.books.list()] == ["alice"]

    async def test_work_that_keeps_failing_is_given_up(self, storage: Storage) -> None:
        await storage.books.save(a_book())

        async def add_it_blindly(transaction: Transaction) -> None:
            await transaction.run("INSERT INTO derived_texts SELECT 'alice', 'a', 'b', 1, '', '', '' FROM books")
            await transaction.run("INSERT INTO derived_texts SELECT 'alice', 'a', 'b', 1, '', '', '' FROM books")

        with pytest.raises(StorageError, match="contradicts"):
            await database_of(storage).atomically(add_it_blindly)


class TestSeveralNodes:
    async def test_a_question_is_taken_by_one_of_them(self, url: str, storage: Storage) -> None:
        await furnish(storage)
        async with await open_storage(url) as other:
            for number in range(10):
                await storage.messages.add_incoming(a_question(str(number)))
                begun = await asyncio.gather(
                    *(node.turns.begin("tea", [str(number)], MIDNIGHT) for node in (storage, other) * 2),
                    return_exceptions=True,
                )
                assert sum(not isinstance(each, BaseException) for each in begun) == 1
                assert all(isinstance(each, ConversationError) for each in begun if isinstance(each, BaseException))
        assert [turn.number for turn in await storage.turns.get_by_conversation("tea")] == [*range(1, 11)]

    async def test_a_message_is_received_by_one_of_them(self, url: str, storage: Storage) -> None:
        await furnish(storage)
        async with await open_storage(url) as other:
            for number in range(10):
                received = await asyncio.gather(
                    *(
                        node.messages.add_incoming(a_question(f"{number}-{index}", external_id=str(number)))
                        for index, node in enumerate((storage, other) * 2)
                    )
                )
                assert received.count(True) == 1
        assert len(await ids_of(storage)) == 10

    async def test_a_file_added_twice_at_once_is_on_the_shelf_once(self, url: str, storage: Storage) -> None:
        async with await open_storage(url) as other:
            saved = await asyncio.gather(
                *(
                    node.books.save(a_book(name, sha256="same"))
                    for name, node in zip("ab", (storage, other), strict=True)
                ),
                return_exceptions=True,
            )
        assert [type(each) for each in saved if each] == [BookError]
        assert len(await storage.books.list()) == 1

    async def test_an_answer_and_a_question_taken_back_never_both_win(self, url: str, storage: Storage) -> None:
        await furnish(storage)
        async with await open_storage(url) as other:
            for number in range(10):
                name = str(number)
                await storage.messages.add_incoming(a_question(name))
                turn = await storage.turns.begin("tea", [name], MIDNIGHT)
                answered = replace(turn, state=TurnState.ANSWERED)
                await asyncio.gather(
                    storage.turns.finish(answered, [an_answer(f"to {name}")]),
                    other.turns.reopen(turn.id),
                    return_exceptions=True,
                )
                kept = await storage.turns.get(turn.id)
                assert (f"to {name}" in await ids_of(storage)) == (kept is not None)
                await storage.messages.delete_by_conversation("tea")

    async def test_two_processes_write_side_by_side(self, url: str, storage: Storage) -> None:
        await furnish(storage)
        writers = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.storage.postgres.busy_writer", url, name, "20", cwd=PROJECT
            )
            for name in ("one", "two")
        ]
        assert [await writer.wait() for writer in writers] == [0, 0]
        assert len(await ids_of(storage)) == 2 * 2 * 20
        assert [turn.number for turn in await storage.turns.get_by_conversation("tea")] == [*range(1, 41)]


class TestPoolers:
    async def test_nothing_is_left_on_a_connection(self, storage: Storage) -> None:
        """What a pooler in transaction mode would take along to somebody else: settings, statements, locks."""
        await furnish(storage)
        for name in "abcdefgh":
            await hold_turn(storage, name)
        database = database_of(storage)
        async with database._pool.connection() as connection:
            for left in (
                "SELECT name FROM pg_prepared_statements",
                "SELECT locktype FROM pg_locks WHERE locktype = 'advisory'",
                "SELECT channel FROM pg_listening_channels() AS channel",
                # a pooler passes the name on
                "SELECT name FROM pg_settings WHERE source = 'session' AND name <> 'application_name'",
                "SELECT name FROM pg_cursors WHERE name <> ''",
            ):
                assert await (await connection.execute(left.encode())).fetchall() == []

    async def test_every_transaction_may_have_another_connection(self, url: str, storage: Storage) -> None:
        """As many connections as there are statements: each is ended after its first transaction."""
        database = database_of(storage)
        give_back = database._pool.putconn

        async def close_and_give_back(connection: psycopg.AsyncConnection[object]) -> None:
            await connection.close()
            await give_back(connection)  # type: ignore[arg-type]

        database._pool.putconn = close_and_give_back  # type: ignore[assignment]
        await furnish(storage)
        await hold_turn(storage, "first")
        assert await ids_of(storage) == ["first-question", "first-answer"]


class TestTrouble:
    async def test_a_server_that_hangs_is_given_up_with_a_sentence(
        self, url: str, storage: Storage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(StorageError, match="has not answered for"):
            await database_of(storage)._persist(
                lambda connection: connection.execute(b"SELECT pg_sleep(60)"), timeout_s=0.2
            )
        await storage.ping()

    async def test_a_server_that_does_not_cancel_a_statement_is_given_up_with_a_sentence(
        self, storage: Storage
    ) -> None:
        """A machine that is frozen, or cut off. The driver would wait for ten seconds more."""
        [row] = await database_of(storage).read("SELECT pg_backend_pid() AS pid")
        os.kill(row["pid"], signal.SIGSTOP)
        try:
            async with asyncio.timeout(8):
                with pytest.raises(StorageError, match="has not answered for"):
                    await database_of(storage)._persist(
                        lambda connection: connection.execute(b"SELECT pg_sleep(60)"), timeout_s=1
                    )
        finally:
            os.kill(row["pid"], signal.SIGCONT)
        await storage.ping()

    async def test_cancelled_in_the_middle_a_transaction_is_undone(self, storage: Storage) -> None:
        written = asyncio.Event()

        async def write_and_wait(transaction: Transaction) -> None:
            await transaction.run("INSERT INTO readers (id) VALUES ('hatter')")
            written.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(database_of(storage).atomically(write_and_wait))
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await database_of(storage).read("SELECT id FROM readers") == []

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("postgresql://hatter:secret@127.0.0.1:1/tea", "tea on 127.0.0.1 cannot be opened"),
            ("postgresql://hatter:secret@127.0.0.1:1/tea?sslmode=require&pgbouncer=true", "leave pgbouncer out of it"),
            ("postgresql://hatter:top/tea?secret=1@127.0.0.1:1/tea", "cannot be read: write it as"),
        ],
    )
    async def test_a_database_that_cannot_be_opened_is_named_without_its_password(self, url: str, said: str) -> None:
        with pytest.raises((StorageError, SettingsError), match=said) as refused:
            await open_storage(url)
        assert "secret" not in str(refused.value)

    async def test_closing_twice_is_fine_and_after_it_there_is_a_sentence(self, storage: Storage) -> None:
        await storage.close()
        await storage.close()
        with pytest.raises(StorageError):
            await storage.books.list()
        with pytest.raises(StorageError):
            await storage.ping()

    async def test_a_copy_is_left_to_the_tools_of_postgres(self, storage: Storage, tmp_path: Path) -> None:
        with pytest.raises(StorageError, match="pg_dump"):
            await storage.backup(tmp_path / "copy.db")


class TestMigrations:
    def test_migrations_are_numbered_and_named_as_those_of_sqlite(self) -> None:
        ours, theirs = shipped_migrations(), migrations_of_sqlite()
        assert [(each.version, each.name) for each in ours] == [(each.version, each.name) for each in theirs]

    async def test_several_nodes_may_start_on_an_empty_database_at_once(self) -> None:
        with a_database() as url:
            nodes = await asyncio.gather(*(open_storage(url) for _ in range(5)))
            for node in nodes:
                assert await node.integrity_check() == []
                await node.close()

    async def test_a_table_that_another_node_makes_at_the_same_moment_is_looked_at_again(self) -> None:
        """Between looking for a table and making it, PostgreSQL may find its row type, which is made along with it."""
        met: list[object] = []

        async def open_ledger(transaction: Transaction) -> None:
            if met:
                await transaction.run("DROP TYPE ledger")
            met.append(await transaction.run("SELECT 1 FROM pg_type WHERE typname = 'ledger'"))
            await transaction.run("CREATE TABLE IF NOT EXISTS ledger (version BIGINT)")

        with a_database() as url:
            database = await PostgresDatabase.open(url, [])
            await database.write("CREATE TYPE ledger AS ENUM ('first')")
            await database.atomically(open_ledger)
            assert len(met) == 2
            assert await database.read("SELECT version FROM ledger") == []
            await database.close()

    async def test_one_that_fails_leaves_the_version_before(self) -> None:
        first = Migration(1, "notes", "CREATE TABLE notes (line TEXT PRIMARY KEY);")
        bad = Migration(2, "bad", "DELETE FROM notes; CREATE TABLE more (a TEXT); INSERT INTO nowhere VALUES (1);")
        with a_database() as url:
            database = await PostgresDatabase.open(url, [first])
            await database.write("INSERT INTO notes VALUES ('kept')")
            await database.close()
            with pytest.raises(StorageError, match="left as it was") as failed:
                await PostgresDatabase.open(url, [first, bad])
            assert failed.value.code is StorageErrorCode.MIGRATION_FAILED
            database = await PostgresDatabase.open(url, [first])
            assert await database.read("SELECT line FROM notes") == [{"line": "kept"}]
            await database.close()

    async def test_a_newer_database_and_a_foreign_one_are_refused(self) -> None:
        with a_database() as url:
            one, two = (Migration(number, "t", f"CREATE TABLE t{number} (a TEXT);") for number in (1, 2))
            await (await PostgresDatabase.open(url, [one, two])).close()
            with pytest.raises(StorageError, match="newer version"):
                await PostgresDatabase.open(url, [one])
        with a_database() as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE TABLE somebody_elses (a TEXT)")
            with pytest.raises(StorageError, match="another program"):
                await open_storage(url)

    async def test_what_extensions_and_monitors_keep_in_a_database_is_no_other_program(self) -> None:
        with a_database() as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE VIEW pg_stat_statements AS SELECT 'SELECT 1' AS query")
                connection.execute("CREATE TABLE spatial_ref_sys (srid INTEGER PRIMARY KEY)")
                connection.execute("ALTER EXTENSION plpgsql ADD TABLE spatial_ref_sys")
            async with await open_storage(url) as storage:
                assert not {"pg_stat_statements", "spatial_ref_sys"} & (await database_of(storage).tables()).keys()
            await (await open_storage(url)).close()

    async def test_a_schema_may_have_capitals(self) -> None:
        with a_database() as url:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute('CREATE SCHEMA "Tea"')
                name = sql.Identifier(connection.info.dbname)
                connection.execute(sql.SQL("ALTER DATABASE {} SET search_path = {}").format(name, "Tea"))
            async with await open_storage(url) as storage:
                assert "books" in (await database_of(storage).tables())["conversations"].parents

    @pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
    async def test_an_encoding_that_lacks_letters_is_refused(self, encoding: LiteralString) -> None:
        options = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'"
        with a_database(options) as url, pytest.raises(StorageError, match=f"encoding {encoding}.*UTF8"):
            await open_storage(url)

    async def test_the_encoding_of_the_environment_does_not_count(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
        async with await open_storage(url) as storage:
            await storage.books.save(a_book(title="Алиса 🐇"))
            assert [book.title for book in await storage.books.list()] == ["Алиса 🐇"]


def test_without_the_driver_it_is_said_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('not installed')")
    script = (
        "import asyncio; from storage.opening import open_storage; asyncio.run(open_storage('postgresql://here/tea'))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "pip install '.[postgres]'" in ended.stderr

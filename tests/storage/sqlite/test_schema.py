"""Old databases are brought up to date, newer ones and foreign ones are left alone."""

import re
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from domain.errors import StorageError, StorageErrorCode
from storage.opening import open_storage
from storage.sql.database import Migration
from storage.sqlite.database import shipped_migrations
from tests.storage.sqlite.conftest import OpenNotes
from tests.storage.sqlite.tables import NOTES, lines_of

PROJECT = Path(__file__).parents[3]

LEDGER = "CREATE TABLE schema_migrations (version, name, applied_at);"
TITLED = Migration(
    2,
    "titled",
    """-- A table built anew, as SQLite needs it for most changes; pages refer to it.
CREATE TABLE titled (line TEXT NOT NULL, title TEXT NOT NULL) STRICT;
INSERT INTO titled SELECT line, 'a; b' FROM notes;
DROP TABLE notes;
ALTER TABLE titled RENAME TO notes;
CREATE TRIGGER no_blank BEFORE INSERT ON notes WHEN new.line = '' BEGIN
  SELECT raise(ABORT, 'blank');
END;
""",
)


async def test_the_shipped_migrations_are_numbered_without_gaps() -> None:
    shipped = shipped_migrations()
    assert [migration.version for migration in shipped] == list(range(1, len(shipped) + 1))
    for migration in shipped:
        left = re.sub("--.*", "", migration.script[sum(map(len, migration.statements())) :])
        assert not left.strip(), f"{migration.name} ends in a statement without a semicolon"


async def test_each_old_version_can_be_brought_up_to_date(tmp_path: Path, open_notes: OpenNotes) -> None:
    for count in range(len(shipped_migrations()) + 1):
        path = tmp_path / f"{count}.db"
        await (await open_notes(path, shipped_migrations()[:count])).close()
        async with await open_storage(f"sqlite:///{path}") as storage:
            assert await storage.integrity_check() == []


async def test_data_comes_along_and_each_step_is_recorded(tmp_path: Path, open_notes: OpenNotes) -> None:
    old = await open_notes(tmp_path / "notes.db", NOTES)
    await old.write("INSERT INTO notes (line) VALUES ('kept')")
    await old.close()
    new = await open_notes(tmp_path / "notes.db", (*NOTES, TITLED))
    assert [tuple(row) for row in await new.read("SELECT * FROM notes")] == [("kept", "a; b")]
    recorded = await new.read("SELECT version, name, applied_at FROM schema_migrations ORDER BY version")
    assert [(row["version"], row["name"]) for row in recorded] == [(1, "notes"), (2, "titled")]
    assert all(row["applied_at"].endswith("+00:00") for row in recorded)
    with pytest.raises(StorageError, match="blank"):
        await new.write("INSERT INTO notes (line, title) VALUES ('', '')")


async def test_building_a_table_anew_deletes_nothing_that_refers_to_it(tmp_path: Path, open_notes: OpenNotes) -> None:
    parents = Migration(
        1,
        "parents",
        """CREATE TABLE notes (line TEXT PRIMARY KEY) STRICT;
CREATE TABLE pages (line TEXT NOT NULL REFERENCES notes ON DELETE CASCADE) STRICT;
INSERT INTO notes VALUES ('kept');
INSERT INTO pages VALUES ('kept');
""",
    )
    anew = Migration(
        2,
        "anew",
        """CREATE TABLE notes_2 (line TEXT PRIMARY KEY, title TEXT) STRICT;
INSERT INTO notes_2 SELECT line, '' FROM notes;
DROP TABLE notes;
ALTER TABLE notes_2 RENAME TO notes;
""",
    )
    await (await open_notes(tmp_path / "notes.db", (parents,))).close()
    database = await open_notes(tmp_path / "notes.db", (parents, anew))
    assert len(await database.read("SELECT * FROM pages")) == 1
    with pytest.raises(StorageError):
        await database.write("INSERT INTO pages VALUES ('nobody')")


@pytest.mark.parametrize(
    "bad",
    [
        "DELETE FROM notes;\nCREATE TABLE more (a TEXT) STRICT;\nINSERT INTO nowhere VALUES (1);\n",
        "DELETE FROM notes;\nCREATE TABLE more (a TEXT REFERENCES notes (line));\nINSERT INTO more VALUES ('none');\n",
    ],
    ids=["an error", "orphans"],
)
async def test_a_step_that_fails_leaves_the_version_before(tmp_path: Path, bad: str, open_notes: OpenNotes) -> None:
    path = tmp_path / "notes.db"
    keyed = (Migration(1, "notes", "CREATE TABLE notes (line TEXT PRIMARY KEY) STRICT;\n"),)
    old = await open_notes(path, keyed)
    await old.write("INSERT INTO notes (line) VALUES ('kept')")
    await old.close()
    with pytest.raises(StorageError, match="left as it was") as failed:
        await open_notes(path, (*keyed, Migration(2, "bad", bad)))
    assert failed.value.code is StorageErrorCode.MIGRATION_FAILED
    again = await open_notes(path, keyed)
    assert await lines_of(again) == ["kept"]
    assert not await again.read("SELECT 1 FROM sqlite_master WHERE name = 'more'")


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
async def test_a_newer_database_is_refused_and_left_alone(journal: str, tmp_path: Path, open_notes: OpenNotes) -> None:
    path = tmp_path / "notes.db"
    await (await open_notes(path, (*NOTES, TITLED))).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA journal_mode = {journal}")
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"newer version of this program.*update the program") as refused:
        await open_notes(path, NOTES)
    assert refused.value.code is StorageErrorCode.MIGRATION_FAILED
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "theirs",
    [
        "CREATE TABLE passwords (secret TEXT)",
        "CREATE TABLE schema_migrations (version BIGINT, dirty BOOLEAN); INSERT INTO schema_migrations VALUES (3, 0)",
        "CREATE TABLE schema_migrations (version); INSERT INTO schema_migrations VALUES ('20260101')",
        f"{LEDGER} INSERT INTO schema_migrations VALUES ('first', '', '')",
        f"{LEDGER} INSERT INTO schema_migrations VALUES (NULL, '', '')",
    ],
)
@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
async def test_a_database_of_another_program_is_refused_and_left_alone(
    theirs: str, journal: str, tmp_path: Path, open_notes: OpenNotes
) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA journal_mode = {journal}")
        database.executescript(theirs)
    before = path.read_bytes()
    with pytest.raises(StorageError, match="another program") as refused:
        await open_notes(path, None)
    assert refused.value.code is StorageErrorCode.DB_CORRUPTED
    assert path.read_bytes() == before


def test_the_migrations_are_in_what_is_installed(tmp_path: Path) -> None:
    wheel = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(wheel, cwd=PROJECT, check=True, capture_output=True, timeout=60)
    packed = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    shipped = [file.name for file in (files("storage.sqlite") / "migrations").iterdir()]
    assert shipped
    assert {f"storage/sqlite/migrations/{name}" for name in shipped} <= set(packed)

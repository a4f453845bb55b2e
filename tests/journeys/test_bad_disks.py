"""Disks that are full, read-only or locked end in a sentence and an exit code, and damage nothing.

The disks are real ones, mounted in a namespace of their own where the system lets anybody do so.
"""

import asyncio
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from storage.opening import open_storage
from tests.journeys.terminal import Ran, Terminal
from tests.sampling import a_few

LONG = "CHAPTER I\n\n" + "The tide went out at nine, and the lamp was dark. " * 20_000
SHORT = "CHAPTER I\n\nThe ferryman would not take her money.\n"


def _may_mount() -> bool:
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    probe = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not _may_mount(), reason="this system lets nobody mount a disk of their own")


class Disk:
    """DATA_DIR on a disk of `kilobytes`, which is there while a script runs and copied to `kept` at its end. It begins
    as a copy of `shelf`.
    """

    def __init__(self, terminal: Terminal, kilobytes: int, shelf: Path) -> None:
        self._terminal = terminal
        self._shelf = shelf
        self._size = f"{kilobytes}k"
        self.kept = terminal.folder / "kept"
        (terminal.folder / "data").mkdir()

    def run(self, *script: str) -> Ran:
        """Run lines of shell; `$M` is marginalia, `$D` the folder on the disk. The output is that of all lines."""
        mount = f'mount -t tmpfs -o "size={self._size}" tmpfs "$D"'
        fill = f'cp -r "{self._shelf}/." "$D"'
        lines = ["M() { " + f'"{sys.executable}" -m bot "$@"; }}', mount, fill, *script, 'cp -r "$D/." "$K"']
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "\n".join(lines)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._terminal.folder,
            env=self._terminal.environment(D=str(self._terminal.folder / "data"), K=str(self.kept)),
            timeout=240,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    (tmp_path / "kept").mkdir()
    return Terminal(tmp_path)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the book "Short"."""
    terminal = Terminal(tmp_path_factory.mktemp("shelf"))
    terminal.write("short.txt", SHORT)
    assert asyncio.run(terminal.run("books", "add", "short.txt")).code == 0
    return terminal.folder / "data"


@needs_mounts
async def test_output_that_does_not_fit_is_a_sentence(terminal: Terminal, shelf: Path) -> None:
    terminal.write("long.txt", LONG)
    disk = Disk(terminal, 3_000, shelf)
    ran = disk.run("M books add long.txt", 'M books text long > "$D/out"; M books text long > "$D/2"; echo exit $?')
    assert "exit 1" in ran.out
    assert ran.err.splitlines()[-1] == "The disk is full, so this could not be finished. Make room, and try again."


@needs_mounts
async def test_a_book_that_does_not_fit_is_a_sentence_and_leaves_nothing(terminal: Terminal, shelf: Path) -> None:
    terminal.write("long.txt", LONG)
    disk = Disk(terminal, 1_200, shelf)
    ran = disk.run("M books add long.txt; echo exit $?", "M books list --json")
    assert "Traceback" not in ran.err
    assert "check that there is room and try again." in ran.err
    assert "exit 1" in ran.out
    assert [book["title"] for book in json.loads(ran.out.splitlines()[-1])] == ["Short"]
    assert len(list((disk.kept / "books").iterdir())) == 1
    await assert_sound(disk.kept)


@needs_mounts
async def test_a_chat_on_a_full_disk_says_so_and_goes_on_once_there_is_room(terminal: Terminal, shelf: Path) -> None:
    disk = Disk(terminal, 1_500, shelf)
    ran = disk.run(
        'head -c "$(($(df -k --output=avail "$D" | tail -1) - 400))k" /dev/zero > "$D/filler"',
        "yes 'What would the ferryman not take?' | head -30 | M chat short; echo exit $?",
        'rm "$D/filler"',
        "echo 'What would the ferryman not take?' | M chat short --new; echo exit $?",
    )
    assert "Traceback" not in ran.out + ran.err
    full, _, freed = ran.out.partition("exit 1")
    assert "money" in full
    assert "There is no room left for the database" in full
    assert "money" in freed
    assert freed.strip().endswith("exit 0")
    await assert_sound(disk.kept)


@needs_mounts
async def test_a_disk_that_may_only_be_read_is_a_sentence(terminal: Terminal, shelf: Path) -> None:
    terminal.write("short.txt", SHORT)
    disk = Disk(terminal, 1_500, shelf)
    ran = disk.run(
        'mount -o remount,ro "$D"',
        "M books add short.txt; echo exit $?",
        "echo Hello | M chat short; echo exit $?",
    )
    assert "Traceback" not in ran.out + ran.err
    assert ran.out.count("exit 1") == 2
    assert ran.err.count("this user may write in its folder.") == 2
    await assert_sound(disk.kept)


async def test_a_locked_database_is_waited_for_and_then_a_sentence(terminal: Terminal) -> None:
    terminal.write("short.txt", SHORT)
    assert (await terminal.run("books", "add", "short.txt")).code == 0
    with closing(sqlite3.connect(terminal.folder / "data" / "marginalia.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ran = await terminal.run("books", "remove", "short", "--yes")
    assert ran.code == 1
    assert "Another program keeps the database" in ran.err
    assert "Traceback" not in ran.err
    assert (await terminal.run("books", "remove", "short", "--yes")).code == 0


async def test_a_database_that_is_none_is_left_as_it_is(terminal: Terminal) -> None:
    (terminal.folder / "data").mkdir()
    path = terminal.write("data/marginalia.db", "Dear Alice, " * 500)
    ran = await terminal.run("books", "list")
    assert ran.code == 1
    assert "not a database" in ran.err
    assert "Traceback" not in ran.err
    assert path.read_text() == "Dear Alice, " * 500


@pytest.mark.parametrize(
    "damage", a_few(["UPDATE words SET positions = x'01'", "DELETE FROM text", "DELETE FROM places"], 1)
)
async def test_a_damaged_book_is_a_sentence_and_is_mended_by_adding_it_again(terminal: Terminal, damage: str) -> None:
    terminal.write("short.txt", SHORT)
    ask = partial(terminal.run, "chat", "short", "--new", stdin="What would the ferryman not take?\n")
    assert (await terminal.run("books", "add", "short.txt")).code == 0
    [path] = (terminal.folder / "data" / "books").glob("*.book")
    with closing(sqlite3.connect(path)) as book:
        book.execute(damage)
        book.commit()
    damaged = await ask()
    assert "damaged; please add it again" in " ".join((damaged.out + damaged.err).split())
    assert "Traceback" not in damaged.out + damaged.err
    assert "been rebuilt" in (await terminal.run("books", "add", "short.txt")).err
    assert "money" in (await ask()).out


async def assert_sound(folder: Path) -> None:
    """The database is in order, and every book in it can be read to its end."""
    async with await open_storage(f"sqlite:///{folder / 'marginalia.db'}") as storage:
        assert await storage.integrity_check() == []
    for path in (folder / "books").glob("*.book"):
        with closing(sqlite3.connect(path)) as book:
            assert book.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

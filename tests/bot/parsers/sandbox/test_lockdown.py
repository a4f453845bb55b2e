"""A worker or an indexer that somebody has taken over can do nothing but read and answer."""

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from bot.app import open_book_files
from bot.parsers.sandbox import pool
from bot.parsers.sandbox.lockdown import Confinement, code_folders, hide_memory, shut_in
from bot.parsers.sandbox.pool import SandboxedParser
from bot.parsers.text.parser import read_plain
from bot.settings import Settings
from domain.book import BookText
from domain.errors import StorageError, StorageErrorCode
from storage.book_files import files as book_files
from storage.book_files.files import WORTH_A_PROCESS, SQLiteBookFiles
from storage.book_files.indexer import WORTH_TWO
from storage.opening import Storage
from tests.bot.parsers.builders import docx, docx_paragraph, epub
from tests.bot.parsers.invariants import check
from tests.bot.parsers.prose import paragraph, prose
from tests.bot.parsers.sandbox.attacks import WITH_RIGHTS, WITHOUT_RIGHTS, prepared

_IMPORTS = (
    "import sys; sys.path[:0] = PATHS; from bot.parsers.sandbox import lockdown, worker; "
    "from tests.bot.parsers.sandbox import attacks; "
)
_NO_LANDLOCK = "lockdown._landlock_version = lambda: 0; "


@pytest.fixture(scope="module")
def everything() -> None:
    """All that a process can be confined with. Two processes are started to find out what this kernel has of it."""
    given = pool.probe_confinement() if sys.platform == "linux" else Confinement()
    if given.landlock == 0 or not given.seccomp:
        pytest.skip(f"this kernel gives {given} to confine a process with")


needs_everything = pytest.mark.usefixtures("everything")


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def _attacked(folder: Path, port: int, boot: str) -> dict[str, str]:
    target = prepared(folder, port)
    with pool._start(_IMPORTS + boot + "attacks.main()") as worker:
        told, complaint = worker.communicate(json.dumps(asdict(target)).encode() + b"\n")
    assert told, complaint.decode()
    met: dict[str, str] = json.loads(told)
    return met


@pytest.fixture(scope="module", params=["", _NO_LANDLOCK], ids=["with Landlock", "without Landlock"])
def landlock(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@needs_everything
def test_a_worker_that_was_taken_over_is_refused(landlock: str, port: int, tmp_path: Path) -> None:
    assert_refused(_attacked(tmp_path, port, f"{landlock}worker.confine(); "), tmp_path)


def assert_refused(met: dict[str, str], folder: Path) -> None:
    """No attack went through, and the file attacked is what it was."""
    assert [attack for attack in (*WITHOUT_RIGHTS, *WITH_RIGHTS) if met[attack] == ""] == []
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"marginalia.db": "secret"}


def assert_gone_through(met: dict[str, str]) -> None:
    assert {attack: refusal for attack, refusal in met.items() if refusal and attack in WITHOUT_RIGHTS} == {}


@needs_everything
def test_the_same_attacks_work_where_nothing_is_locked(port: int, tmp_path: Path) -> None:
    assert_gone_through(_attacked(tmp_path, port, ""))


_IN_ONE = "bool"
_IN_THE_COPY = "operator.not_"
_ATTACKS = (
    "import operator, os, sys, time; from tests.bot.parsers.sandbox import attacks; "
    "from bot.parsers.sandbox import lockdown; from storage.book_files import indexer; first = os.getpid(); "
    "indexer._decode_task = lambda task, _: (WHERE(os.getpid() == first) and attacks.tell(task), os._exit(0)); "
)


def _boot_with(patch: pytest.MonkeyPatch, code: str) -> None:
    """Run this in an indexer before anything else."""
    patch.setattr(book_files, "_BOOT", book_files._BOOT.replace("from importlib", f"{code}from importlib"))


async def _attacked_indexer(folder: Path, port: int, boot: str, confine: Callable[[], object] | None) -> dict[str, str]:
    """What the attacks meet in the place of the first look at a book, in an indexer or in its copy."""
    target = prepared(folder, port)
    with pytest.MonkeyPatch.context() as patch:
        _boot_with(patch, boot)
        indexer = await book_files._start(confine)
    task = json.dumps(asdict(target)).encode() + b"\n" + b"x" * WORTH_TWO
    told, complaint = await indexer.process.communicate(task)
    indexer.image.close()
    assert told, complaint.decode()
    met: dict[str, str] = json.loads(told)
    return met


@needs_everything
@pytest.mark.parametrize("where", [_IN_ONE, _IN_THE_COPY], ids=["the indexer", "its copy"])
async def test_an_indexer_that_was_taken_over_is_refused(where: str, landlock: str, port: int, tmp_path: Path) -> None:
    boot = _ATTACKS.replace("WHERE", where) + landlock
    assert_refused(await _attacked_indexer(tmp_path, port, boot, shut_in), tmp_path)


@needs_everything
@pytest.mark.parametrize("where", [_IN_ONE, _IN_THE_COPY], ids=["the indexer", "its copy"])
async def test_the_same_attacks_work_in_an_indexer_that_is_not_locked(where: str, port: int, tmp_path: Path) -> None:
    assert_gone_through(await _attacked_indexer(tmp_path, port, _ATTACKS.replace("WHERE", where), None))


_IN_HALVES = "from storage.book_files import indexer; indexer.WORTH_TWO = 1; "


@needs_everything
@pytest.mark.parametrize(("language", "boot"), [("ja", ""), ("de", _NO_LANDLOCK), ("en", ""), ("tr", _NO_LANDLOCK)])
async def test_a_locked_indexer_makes_the_same_file(
    language: str, boot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = replace(_tale(WORTH_A_PROCESS + 10_000), language=language)
    open_to_all, locked = SQLiteBookFiles(tmp_path / "open"), SQLiteBookFiles(tmp_path / "locked", confine=shut_in)
    _boot_with(monkeypatch, _IN_HALVES)
    await open_to_all.write("5" * 64, book)
    _boot_with(monkeypatch, f"from bot.parsers.sandbox import lockdown; {boot}")
    await locked.write("5" * 64, book)
    assert _only_file(tmp_path / "locked") == _only_file(tmp_path / "open")


@cache
def _tale(characters: int) -> BookText:
    chapter = (
        "CHAPTER {}\n\nHobb, der Sohn des Wärters, war nicht da. 潮水在九点退去。 “Who is it?” he asked.\n\nNobody.\n\n"
    )
    return read_plain("".join(chapter.format(number) for number in range(1, characters // len(chapter) + 2)))


def _only_file(folder: Path) -> bytes:
    [path] = folder.iterdir()
    return path.read_bytes()


@pytest.mark.parametrize(
    "said",
    [
        "no JSON",
        "[]",
        '"a share"',
        "{}",
        '{"size": -1}',
        '{"size": 1e9}',
        '{"size": 9000000000}',
        '{"size": 10}',
        "[" * 9_999,
        "9" * 4_000,
        "0.5 " * 25_000,
    ],
)
async def test_what_no_sound_indexer_says_is_a_sentence_and_leaves_nothing(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book_files, "_BOOT", f"import sys; PATHS; IMAGE; sys.stdin.read(); print({said!r})")
    with pytest.raises(StorageError, match="Please try again") as caught:
        await SQLiteBookFiles(tmp_path / "books").write("5" * 64, _tale(WORTH_A_PROCESS))
    assert caught.value.code is StorageErrorCode.WRITE_FAILED
    assert list((tmp_path / "books").iterdir()) == []


def test_the_bot_locks_its_indexers(tmp_path: Path) -> None:
    files = open_book_files(Settings(data_dir=tmp_path), cast(Storage, None))
    assert files._indexers._confine is shut_in


@needs_everything
async def test_every_format_is_read_by_a_worker_that_can_open_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_BOOT", f"{_IMPORTS}{_NO_LANDLOCK}worker.main()")
    files = {
        "a.epub": epub({"a.xhtml": f"<p>{paragraph(1)}&hellip;</p>"}),
        "a.docx": docx(docx_paragraph(paragraph(1))),
        "a.html": f"<p>{paragraph(1)}</p>".encode(),
        "a.md": f"# One\n\n{prose(1)}".encode(),
        "a.txt": paragraph(1).replace("keeper", "kéeper").encode("latin-1"),
    }
    reader = SandboxedParser()
    for name, data in files.items():
        assert "begins here" in check(await reader.read(data, name)).text


@needs_everything
def test_a_process_with_other_threads_is_not_given_a_file() -> None:
    thread = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); "
    with pool._start(f"{_IMPORTS}{thread}worker.main()") as started:
        told, _ = started.communicate(b"{}\n")
    assert started.returncode != 0
    assert told == b""


@pytest.mark.parametrize("folder", [".", "lib", "", "../etc"])
def test_relative_folders_of_a_search_path_open_nothing(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/opt/lib:{folder}")
    folders = code_folders([])
    assert "/opt/lib" in folders
    assert [each for each in folders if not each.startswith("/")] == []


def test_code_is_read_and_what_lies_beside_it_is_not(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DISCORD_TOKEN=secret")
    (tmp_path / "data").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    library = str(tmp_path / "lib" / "site-packages")
    folders = code_folders([str(tmp_path), library, str(tmp_path / "nowhere")])
    assert [folder for folder in folders if folder.startswith(str(tmp_path))] == [str(tmp_path / "package"), library]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who may read a process's memory")
def test_the_bots_memory_is_hidden(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if hide_memory() and _dumpable() == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0


def _dumpable() -> Any:
    import ctypes

    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)

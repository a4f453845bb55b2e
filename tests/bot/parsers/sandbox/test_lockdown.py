"""A worker that somebody has taken over can do nothing but read and answer."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bot.parsers.sandbox import pool
from bot.parsers.sandbox.lockdown import Confinement, code_folders, hide_memory
from bot.parsers.sandbox.pool import SandboxedParser
from tests.bot.parsers.builders import docx, docx_paragraph, epub
from tests.bot.parsers.invariants import check
from tests.bot.parsers.prose import paragraph, prose
from tests.bot.parsers.sandbox.attacks import WITH_RIGHTS, WITHOUT_RIGHTS, prepared

_IMPORTS = (
    "import sys; sys.path[:0] = PATHS; from bot.parsers.sandbox import lockdown, worker; "
    "from tests.bot.parsers.sandbox import attacks; "
)
_NO_LANDLOCK = "lockdown._landlock_version = lambda: 0; "
_GIVEN = pool.probe_confinement() if sys.platform == "linux" else Confinement()

needs_everything = pytest.mark.skipif(
    _GIVEN.landlock == 0 or not _GIVEN.seccomp, reason=f"this kernel gives {_GIVEN} to confine a process with"
)


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
def met(request: pytest.FixtureRequest, port: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each attack met, and that the file attacked is what it was."""
    folder = tmp_path_factory.mktemp("attacked")
    met = _attacked(folder, port, f"{request.param}worker.confine(); ")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"marginalia.db": "secret"}
    return met


@needs_everything
@pytest.mark.parametrize("attack", [*WITHOUT_RIGHTS, *WITH_RIGHTS])
def test_a_worker_that_was_taken_over_is_refused(attack: str, met: dict[str, str]) -> None:
    assert met[attack] != ""


@needs_everything
def test_the_same_attacks_work_where_nothing_is_locked(port: int, tmp_path: Path) -> None:
    met = _attacked(tmp_path, port, "")
    assert {attack: refusal for attack, refusal in met.items() if refusal and attack in WITHOUT_RIGHTS} == {}


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

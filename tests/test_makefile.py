"""`make install` with a Python that only notes what it is asked for."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = """#!/bin/sh
echo "$@" >> asked
case "$1 $2" in "-m venv") mkdir -p .venv/bin; rm -f .venv/bin/python; cp "$0" .venv/bin/python;; esac
"""
WITHOUT_PIP = """#!/bin/sh
test "$2" != pip
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements-pip.txt", "requirements-dev.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    write_program(tmp_path / "python", PYTHON)
    return tmp_path


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    path.chmod(0o700)


def install(folder: Path) -> list[str]:
    """Run `make install`; return what Python was asked for."""
    (folder / "asked").unlink(missing_ok=True)
    environment = {"PATH": os.environ["PATH"]}
    subprocess.run(["make", "install", "PYTHON=./python"], cwd=folder, env=environment, check=True, capture_output=True)
    return (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []


def test_it_is_done_once(folder: Path) -> None:
    assert any("--editable ." in line for line in install(folder))
    assert install(folder) == []


def leads_nowhere(python: Path) -> None:
    """The system has another Python than before."""
    python.unlink()
    python.symlink_to("/usr/bin/python3.0")


def is_half_made(python: Path) -> None:
    """Debian makes it without pip where python3-venv is not installed, and fails."""
    write_program(python, WITHOUT_PIP)
    (python.parent.parent / ".installed").unlink()


@pytest.mark.parametrize("happened", [leads_nowhere, is_half_made])
def test_an_environment_that_is_of_no_use_is_made_anew(folder: Path, happened: Callable[[Path], None]) -> None:
    install(folder)
    happened(folder / ".venv" / "bin" / "python")
    assert "-m venv --clear .venv" in install(folder)
    assert install(folder) == []

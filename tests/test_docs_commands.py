"""The command lines in README.md and docs/ are ones that exist, and those that can run do."""

import ast
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from bot.__main__ import app
from tests.bot.parsers.builders import epub

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

_FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_COMMAND = re.compile(r"(?:^|\| *|\$ )(?:[\w./]*/)?(marginalia|make|python -m) +([^|#\n]+)")
_OPTION = re.compile(r"--[a-z][a-z-]*")


def command_lines(program: str) -> Iterator[tuple[str, str]]:
    """Each page's name and what stands after a program's name, in code."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [line.strip() for block in _FENCED.findall(text) for line in block.splitlines()]
        for line in (*lines, *_INLINE.findall(text)):
            yield from ((page.name, match[2].strip()) for match in _COMMAND.finditer(line) if match[1] == program)


@pytest.mark.parametrize(("page", "line"), sorted(set(command_lines("marginalia"))))
def test_a_command_of_the_program_is_there_with_its_options(page: str, line: str) -> None:
    command: Any = typer.main.get_command(app)
    for word in line.split():
        if not hasattr(command, "commands") or not re.fullmatch(r"[a-z]+", word):
            break
        assert word in command.commands, f"{page} names no command: {line}"
        command = command.commands[word]
    offered = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
    assert set(_OPTION.findall(line)) <= offered


@pytest.mark.parametrize(("page", "line"), sorted(set(command_lines("python -m"))))
def test_a_module_that_is_run_is_there_with_its_options(page: str, line: str) -> None:
    spec = importlib.util.find_spec(line.split()[0])
    assert spec is not None, f"{page} names no module: {line}"
    origin = Path(spec.origin or "")
    source = (origin.with_name("__main__.py") if origin.name == "__init__.py" else origin).read_text(encoding="utf-8")
    words = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert set(_OPTION.findall(line)) <= words


@pytest.mark.parametrize(("page", "line"), sorted(set(command_lines("make"))))
def test_a_target_of_make_is_there(page: str, line: str) -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert line.split()[0] in targets, f"{page} names no target: {line}"


def examples_on_a_book_of_ones_own(page: Path) -> list[str]:
    [block] = [each for each in _FENCED.findall(page.read_text(encoding="utf-8")) if "dracula.epub" in each]
    return [line.split("#")[0].strip() for line in block.splitlines()]


def test_the_examples_on_a_book_of_ones_own_run_as_pasted(tmp_path: Path) -> None:
    examples = examples_on_a_book_of_ones_own(ROOT / "docs" / "cli.md")
    assert {*examples_on_a_book_of_ones_own(ROOT / "README.md")} <= {*examples}
    books, programs = tmp_path / "books", tmp_path / ".venv" / "bin"
    books.mkdir()
    programs.mkdir(parents=True)
    chapters = {f"{number}.xhtml": f"<h1>Chapter {number}</h1><p>{'He eats flies. ' * 8_000}</p>" for number in (1, 2)}
    (books / "dracula.epub").write_bytes(epub(chapters, metadata="<dc:title>Dracula</dc:title>"))
    program = programs / "marginalia"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bot "$@"\n', encoding="utf-8")
    program.chmod(0o700)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "DATA_DIR": "data"}
    ran = subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join(examples)],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Dracula" in ran.stdout

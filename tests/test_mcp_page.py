"""The snippets of docs/mcp.md and README.md, pasted: they start a server that offers the books."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from bot.settings import DATABASE

ROOT = Path(__file__).parent.parent
PAGES = ("docs/mcp.md", "README.md")
PLACEHOLDER = "/path/to/marginalia"
PROGRAM = Path(sys.executable).parent / "marginalia"
UV = Path(sys.executable).parent / "uv"
RECORDS = '#!/bin/sh\nfor word; do printf \'%s\\n\' "$word"; done > "$RECORD"\n'

installed = pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not installed beside this Python")


def blocks(language: str) -> list[str]:
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    return [
        block for text in texts for block in re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def servers() -> list[dict[str, Any]]:
    """The servers of all JSON snippets."""
    snippets = [json.loads(block) for block in blocks("json")]
    found = [next(iter(next(iter(each.values())).values())) for each in snippets]
    return [split(each) for each in found]


def split(server: dict[str, Any]) -> dict[str, Any]:
    """The server with its arguments apart from its command: opencode has both in one list."""
    match server["command"]:
        case [command, *args]:
            return {**server, "command": command, "args": args}
    return server


async def offers_books(command: str, args: list[str], folder: Path, **environment: str) -> str:
    """Start the server in a folder with nothing in it; return what it says on standard error."""
    kept = {"XDG_DATA_HOME": str(folder / "share"), "HOME": str(folder), "PATH": os.environ["PATH"], **environment}
    program = StdioServerParameters(command=command, args=args, env=kept, cwd=folder)
    with (folder / "said").open("w+") as said:
        async with Client(stdio_client(program, said)) as client:
            assert "search_book" in [tool.name for tool in (await client.list_tools()).tools]
        said.seek(0)
        return said.read()


def test_there_are_snippets_for_the_clients_and_uvx() -> None:
    assert len(servers()) == 5
    assert [server["command"] for server in servers()].count("uvx") == 1
    assert len([line for block in blocks("sh") for line in block.splitlines() if line.strip()]) == 6


def local_servers() -> set[tuple[str, ...]]:
    """The different command lines of the JSON snippets for a program that is installed."""
    return {(each["command"], *each["args"]) for each in servers() if each["command"] != "uvx"}


@installed
async def test_the_snippets_start_the_server(tmp_path: Path) -> None:
    for number, (command, *args) in enumerate(sorted(local_servers())):
        (folder := tmp_path / str(number)).mkdir()
        said = await offers_books(command.replace(f"{PLACEHOLDER}/.venv/bin/marginalia", str(PROGRAM)), args, folder)
        assert f"Serving 0 books from {folder / 'share' / 'marginalia'}" in said
        assert (folder / "share" / "marginalia" / DATABASE).exists()


@installed
@pytest.mark.parametrize("line", [line for block in blocks("sh") for line in block.splitlines() if line.strip()])
def test_a_command_line_registers_the_server_of_the_snippets(line: str, tmp_path: Path) -> None:
    client, record = tmp_path / line.split()[0], tmp_path / "record"
    client.write_text(RECORDS)
    client.chmod(0o700)
    home = tmp_path / "project"
    (home / ".venv" / "bin").mkdir(parents=True)
    (home / ".venv" / "bin" / "marginalia").symlink_to(PROGRAM)
    paths = f"{tmp_path}:{os.environ['PATH']}"
    subprocess.run(["/bin/sh", "-c", line], cwd=home, env={"PATH": paths, "RECORD": str(record)}, check=True)
    words = record.read_text().splitlines()
    if "--" in words:
        command, *args = words[words.index("--") + 1 :]
    elif "--add-mcp" in words:
        server = json.loads(words[words.index("--add-mcp") + 1])
        command, args = server["command"], server["args"]
    else:
        command, *args = words[words.index("marginalia") + 1 :]
    assert Path(command) == home / ".venv" / "bin" / "marginalia"
    assert (f"{PLACEHOLDER}/.venv/bin/marginalia", *args) in local_servers()


async def test_uvx_runs_it_from_a_built_wheel(tmp_path: Path) -> None:
    if not UV.exists():
        pytest.skip("uv is not installed beside this Python")
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(built, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (server,) = [each for each in servers() if each["command"] == "uvx"]
    args = [str(wheel) if word == PLACEHOLDER else word for word in server["args"]]
    cache = subprocess.run([UV, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    offline = {"UV_OFFLINE": "1", "UV_CACHE_DIR": cache}
    tried = subprocess.run(
        [UV, "tool", "run", *args[:-1], "--help"], env={**os.environ, **offline}, capture_output=True, text=True
    )
    if tried.returncode:
        pytest.skip("uv has not all of the packages in its cache, and a test asks no package index")
    said = await offers_books(str(UV), ["tool", "run", *args], tmp_path, **offline)
    assert "Serving 0 books from " in said


def test_the_registry_is_told_the_version_there_is() -> None:
    told = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    (package,) = told["packages"]
    assert told["version"] == package["version"] == version("marginalia")
    assert package["transport"] == {"type": "stdio"}
    assert [each["value"] for each in package["packageArguments"] if each["type"] == "positional"] == ["mcp"]

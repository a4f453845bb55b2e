"""How long a whole command takes, from the shell's point of view.

    python -m benchmarks.startup [--rounds 5]

Each command runs in a process of its own over the same folder, with the sample novel on the shelf and the built-in
answerer. "python" is an interpreter that does nothing, which is where every command begins. The second table has
median milliseconds with tool servers: none; a program that never answers; and six, of which that program and a silent
HTTP server never answer. "until online" is until READY from a loopback double of Discord has been dealt with.
"""

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.table import print_memory, print_table, summary
from bot.app import SAMPLE
from tests.doubles.discord_api import DiscordDouble

QUESTION = b"Who is Hilda Crake?\n"
CHAT = ["-m", "bot", "chat", "Ebb", "--new"]
DEAD = "dead=sleep 1000"
WELL = f"PYTHONPATH={Path(__file__).parents[1]} {sys.executable} -m tests.doubles.mcp_server"

COMMANDS = {
    "python": ["-c", "pass"],
    "marginalia --help": ["-m", "bot", "--help"],
    "marginalia books list": ["-m", "bot", "books", "list"],
    "marginalia search": ["-m", "bot", "search", "Ebb", "Who is Hilda Crake?"],
    "marginalia chat, one question": CHAT,
}


async def measure(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(["-m", "bot", "books", "add", str(SAMPLE)], folder)
        rows = []
        for name, command in COMMANDS.items():
            taken = [run(command, folder) for _ in range(rounds)]
            waited, worked = zip(*taken, strict=True)
            rows.append([name, *summary(waited, 0), *summary(worked, 0)])
        print_table(("", "median ms", "p95 ms", "processor ms", "p95"), rows)
        print()
        await with_tool_servers(folder, rounds)
    print_memory()


async def with_tool_servers(folder: str, rounds: int) -> None:
    """Print how long it takes with no servers, with a dead one, and with six, of which two are dead."""
    silent = await asyncio.start_server(lambda reader, writer: asyncio.sleep(0), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    six = [DEAD, f"silent=http://127.0.0.1:{port}/mcp", *(f"well{number}={WELL}" for number in range(4))]
    taken: dict[str, list[list[float]]] = {}
    async with DiscordDouble() as discord:
        for _ in range(rounds):
            for column, servers in enumerate(("", DEAD, ";".join(six))):
                greeting, whole = await chat(folder, servers)
                online = await until_online(folder, servers, discord)
                for name, figure in (("greeting", greeting), ("whole", whole), ("online", online)):
                    taken.setdefault(name, [[], [], []])[column].append(figure)
    silent.close()
    names = {
        "greeting": "marginalia chat, to its first line",
        "whole": "marginalia chat, one question",
        "online": "marginalia run, until online",
    }
    rows = [[names[key], *(f"{median(figures):,.0f}" for figures in columns)] for key, columns in taken.items()]
    print_table(("tool servers", "none", "one, dead", "six, two dead"), rows)


async def chat(folder: str, servers: str) -> tuple[float, float]:
    """Milliseconds to the first line of a chat, and until it has answered a question and ended."""
    started = time.perf_counter()
    process = await _start(CHAT, _environment(folder) | {"MCP_SERVERS": servers})
    assert process.stdout
    await process.stdout.readline()
    first = time.perf_counter()
    await process.communicate(QUESTION)
    assert process.returncode == 0
    return (first - started) * 1_000, (time.perf_counter() - started) * 1_000


async def until_online(folder: str, servers: str, discord: DiscordDouble) -> float:
    """Milliseconds from the start of the bot until it says that it is online."""
    started = time.perf_counter()
    process = await _start(["-m", "bot", "run"], _environment(folder) | discord.environment | {"MCP_SERVERS": servers})
    assert process.stdout
    while b"Online as" not in (line := await process.stdout.readline()):
        assert line, "the bot has ended"
    taken = time.perf_counter() - started
    process.terminate()
    await process.communicate()
    return taken * 1_000


async def _start(command: list[str], environment: dict[str, str]) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=environment
    )


def run(command: list[str], folder: str) -> tuple[float, float]:
    """Milliseconds that the command takes, and of the processor's work on it."""
    before, started = _processor_seconds(), time.perf_counter()
    subprocess.run(
        [sys.executable, *command], input=QUESTION, env=_environment(folder), check=True, capture_output=True
    )
    return (time.perf_counter() - started) * 1_000, (_processor_seconds() - before) * 1_000


def _environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    settings = {"DATA_DIR": folder, "LLM_PROVIDER": "extractive", "DATABASE_URL": f"sqlite:///{folder}/marginalia.db"}
    return kept | settings


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(measure(parser.parse_args().rounds))


if __name__ == "__main__":
    main()

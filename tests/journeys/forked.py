"""The command line in processes that start in an instant, forked from one that has it loaded: for tests with many."""

import asyncio
import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.journeys.terminal import Terminal

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["bot.__main__", "bot.app", "bot.providers.anthropic.client", "anthropic.resources.messages", "genai_prices.data"]
)
_LOOK_S = 0.005


@dataclass(frozen=True)
class Forked:
    """`marginalia` at work in a process of its own, its standard input a file."""

    process: Any
    out: Path

    @property
    def objects(self) -> list[dict[str, Any]]:
        """What it has said so far, a JSON object a line; a line that is not finished is left out."""
        lines = self.out.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    async def says(self, event: str) -> None:
        """Wait until it says that, or has ended."""
        while self.process.is_alive() and event not in {each["event"] for each in self.objects}:
            await asyncio.sleep(_LOOK_S)

    async def end(self) -> int:
        """Wait until it has ended; its exit code."""
        while self.process.is_alive():
            await asyncio.sleep(_LOOK_S)
        code = self.process.exitcode
        self.process.close()
        return int(code)

    async def kill(self) -> None:
        self.process.kill()
        await self.end()


def fork(terminal: Terminal, name: str, *arguments: str, stdin: str, **environment: str) -> Forked:
    """Start `marginalia` with these arguments; `name` is that of the files with its input and output."""
    given, out = terminal.write(f"{name}.in", stdin), terminal.write(f"{name}.out", "")
    whole = terminal.environment(**environment)
    process = _FORKS.Process(target=_run, args=(arguments, whole, terminal.folder, given, out))
    process.start()
    return Forked(process, out)


def _run(arguments: Sequence[str], environment: dict[str, str], folder: Path, given: Path, out: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, path, flags in ((0, given, os.O_RDONLY), (1, out, os.O_WRONLY | os.O_APPEND)):
        os.dup2(os.open(path, flags), number)
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
    sys.argv = ["marginalia", *arguments]
    from bot.__main__ import main

    main()

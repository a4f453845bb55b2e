"""The command line in processes that start in an instant: each is forked from one that has the program loaded."""

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.journeys.preloaded"])

OFFER_S = 30.0
"""What the book says in a model's place has two seconds; a busy machine may take longer."""


class Forked:
    """`marginalia` at work in a process of its own. `files` are its standard input, output and error."""

    def __init__(
        self, arguments: Sequence[str], environment: dict[str, str], folder: Path, files: Sequence[IO[bytes]]
    ) -> None:
        carried = [Connection(os.dup(file.fileno())) for file in files]
        self._process = _FORKS.Process(target=_run, args=(arguments, environment, folder, carried))
        self._process.start()
        for each in carried:
            each.close()

    @property
    def pid(self) -> int:
        assert self._process.pid
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    async def end(self) -> int:
        """Wait until it has ended; its exit code, or the signal's number below zero."""
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self._process.sentinel, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(self._process.sentinel)
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode

    async def kill(self) -> None:
        self._process.kill()
        await self.end()


def _run(arguments: Sequence[str], environment: dict[str, str], folder: Path, files: Sequence[Connection]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
        file.close()
    sys.stdin, sys.stdout = os.fdopen(0, encoding="utf-8"), os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    sys.argv = ["marginalia", *arguments]
    from bot.__main__ import main
    from domain.turn import runner

    runner.OFFER_WITHIN_S = OFFER_S
    main()

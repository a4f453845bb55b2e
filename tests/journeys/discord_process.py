"""The bot as it runs in earnest: a process of its own, which can be killed, on doubles of Discord and the model."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import DiscordDouble
from tests.journeys.terminal import Terminal

ONLINE = b"Online as"
FAREWELL_S = 10.0


class BotProcess:
    """`marginalia run`, again and again on the same folder."""

    def __init__(self, folder: Path, discord: DiscordDouble, model: AnthropicDouble, **settings: str) -> None:
        self._terminal = Terminal(folder)
        self._environment = discord.environment | {
            "ANTHROPIC_API_KEY": model.api_key,
            "ANTHROPIC_BASE_URL": model.base_url,
            "LOG_LEVEL": "WARNING",
            **settings,
        }
        self._process: asyncio.subprocess.Process | None = None
        self._output: list[bytes] = []
        self._reading: asyncio.Task[None] | None = None

    def set(self, **settings: str) -> None:
        """Give it settings, or others, from its next start on."""
        self._environment |= settings

    @property
    def output(self) -> str:
        return b"".join(self._output).decode()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log, where it is written in JSON."""
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]

    @property
    def turns(self) -> int:
        """How many turns the log tells of."""
        return sum(line["logger"] == "marginalia.turns" for line in self.lines)

    async def start(self, timeout: float = 90.0) -> None:
        """Return when it is online."""
        before = self.output.count(ONLINE.decode())
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "run",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._terminal.environment(**self._environment),
            cwd=self._terminal.folder,
        )
        self._reading = asyncio.create_task(self._read(self._process))
        async with asyncio.timeout(timeout):
            while self.output.count(ONLINE.decode()) == before:
                assert self._process.returncode is None, self.output
                await asyncio.sleep(0.01)

    def pause(self) -> None:
        """As a machine that hangs does."""
        os.kill(self.pid, signal.SIGSTOP)

    def wake(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def kill(self) -> None:
        """As a power cut does."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """As systemd or Docker does; the exit code."""
        return await self._end(signal.SIGTERM)

    async def _end(self, by: signal.Signals) -> int:
        assert self._process
        assert self._reading
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(by)
        code = await asyncio.wait_for(self._process.wait(), FAREWELL_S)
        await self._reading
        self._process = None
        return code

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout
        while line := await process.stdout.readline():
            self._output.append(line)

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None


@contextlib.asynccontextmanager
async def bot_process(
    folder: Path, discord: DiscordDouble, model: AnthropicDouble, **settings: str
) -> AsyncIterator[BotProcess]:
    """A process that is ended with the block, whatever happens in it."""
    process = BotProcess(folder, discord, model, **settings)
    try:
        yield process
    finally:
        if process.is_running:
            await process.kill()

"""The bot as it runs in earnest: a process of its own, which can be killed, on doubles of Discord and the model."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.discord_api import DiscordDouble
from tests.journeys.forked import Forked
from tests.journeys.terminal import Terminal

ONLINE = "Online as"
PATIENCE_S = 90.0


class BotProcess:
    """`marginalia run`, again and again on the same folder."""

    def __init__(
        self, folder: Path, discord: DiscordDouble, model: AnthropicDouble, output: IO[bytes], **settings: str
    ) -> None:
        self._terminal = Terminal(folder)
        self._environment = discord.environment | {
            "ANTHROPIC_API_KEY": model.api_key,
            "ANTHROPIC_BASE_URL": model.base_url,
            "LOG_LEVEL": "WARNING",
            **settings,
        }
        self._process: Forked | None = None
        self._output = output

    def set(self, **settings: str) -> None:
        """Give it settings, or others, from its next start on."""
        self._environment |= settings

    @property
    def output(self) -> str:
        """The lines it has written so far, on both streams."""
        size = os.fstat(self._output.fileno()).st_size
        lines, _, _ = os.pread(self._output.fileno(), size, 0).rpartition(b"\n")
        return lines.decode() + "\n"

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The log, where it is written in JSON."""
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]

    @property
    def turns(self) -> int:
        """How many turns the log tells of."""
        return sum(line["logger"] == "marginalia.turns" for line in self.lines)

    async def start(self) -> None:
        """Return when it is online."""
        before = self.output.count(ONLINE)
        environment = self._terminal.environment(**self._environment)
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing, self._output, self._output)
            self._process = Forked(["run"], environment, self._terminal.folder, files)
        async with asyncio.timeout(PATIENCE_S):
            while self.output.count(ONLINE) == before:
                assert self._process.is_alive, self.output
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
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, by)
        code = await asyncio.wait_for(self._process.end(), PATIENCE_S)
        self._process = None
        return code

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
    with TemporaryFile() as output:
        process = BotProcess(folder, discord, model, output, **settings)
        try:
            yield process
        finally:
            if process.is_running:
                await process.kill()

"""marginalia run, as a process of its own."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.cli.run import until_stopped
from domain.errors import SettingsError
from tests.doubles.discord_api import DiscordDouble
from tests.journeys.terminal import Terminal

ROOT = Path(__file__).parents[3]
PATIENCE_S = 90.0


@asynccontextmanager
async def process(double: DiscordDouble, folder: Path, command: str, **settings: str) -> AsyncIterator[Process]:
    """The program, with these settings and no others."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "DATA_DIR": str(folder / "data"),
        "DISCORD_API_URL": double.api_url,
        "DISCORD_GATEWAY_URL": double.gateway_url,
        "DISCORD_TOKEN": double.token,
    } | settings
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", command, cwd=folder, env=environment, stdout=PIPE, stderr=PIPE
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.kill()
        await started.wait()


async def ended(started: Process) -> tuple[int | None, str, str]:
    out, err = await asyncio.wait_for(started.communicate(), PATIENCE_S)
    return started.returncode, out.decode(), err.decode()


async def test_it_comes_online_logs_for_machines_and_goes_when_it_is_asked_to(
    double: DiscordDouble, tmp_path: Path
) -> None:
    double.gateway.privileged = 0
    async with process(double, tmp_path, "start", LOG_FORMAT="json") as started:
        assert started.stdout
        line = await asyncio.wait_for(started.stdout.readline(), PATIENCE_S)
        assert line.decode().strip() == "Online as marginalia in 1 server(s)."
        await double.until(lambda: double.commands.commands.get(0))
        assert "Reading with Marginalia" in (await double.user("ann").slash("help")).text
        started.send_signal(signal.SIGINT)
        code, _, logged = await ended(started)
        assert code == 0
        assert not double.connected
    assert logged.startswith('{"at": "')
    assert "Message Content Intent" in logged.splitlines()[0]


async def test_a_wrong_token_ends_in_a_sentence(double: DiscordDouble, tmp_path: Path) -> None:
    ran = await Terminal(tmp_path).run("run", **double.environment | {"DISCORD_TOKEN": "wrong"})
    assert ran.code == 1
    assert "Discord does not accept DISCORD_TOKEN" in ran.err
    assert "Traceback" not in ran.err


async def test_no_token_ends_in_a_sentence(double: DiscordDouble, tmp_path: Path) -> None:
    ran = await Terminal(tmp_path).run("run", **double.environment | {"DISCORD_TOKEN": ""})
    assert ran.code == 1
    assert "DISCORD_TOKEN is not set" in ran.err


async def test_work_that_ends_by_itself_is_waited_for() -> None:
    done = []

    async def work() -> None:
        done.append("all of it")

    await until_stopped(work())
    assert done


async def test_work_that_fails_says_so() -> None:
    async def work() -> None:
        raise SettingsError("no")

    with pytest.raises(SettingsError):
        await until_stopped(work())


async def test_work_that_does_not_come_to_rest_is_left_behind() -> None:
    stubborn = asyncio.Event()

    async def work() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        while not stubborn.is_set():
            try:
                await stubborn.wait()
            except asyncio.CancelledError:
                continue

    await until_stopped(work(), farewell_s=0.05)
    stubborn.set()

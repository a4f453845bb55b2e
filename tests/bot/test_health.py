"""The health file, kept by the real client on the loopback Discord."""

import asyncio
import json
import os
from functools import partial
from pathlib import Path

import pytest

from bot.client.client import Marginalia
from bot.logs import HEALTH_FILE, HealthFile, age_of
from tests.bot.online import Online, online
from tests.doubles.discord_api import DiscordDouble


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HealthFile.__init__, "__kwdefaults__", {"every_s": 0.05, "look_s": 0.02})


async def refreshed(double: DiscordDouble, folder: Path) -> None:
    """Until the file is written once more; a file that was written under way may be the first we see."""
    for _ in range(2):
        before = written(folder)
        await double.until(partial(is_newer, folder, before))


def is_newer(folder: Path, before: int | None) -> bool:
    return written(folder) not in (None, before)


def written(folder: Path) -> int | None:
    try:
        return (folder / HEALTH_FILE).stat().st_mtime_ns
    except FileNotFoundError:
        return None


async def test_it_is_fresh_while_the_bot_is_online_and_gone_after(double: DiscordDouble, tmp_path: Path) -> None:
    async with online(double, tmp_path):
        await refreshed(double, tmp_path)
        told = json.loads((tmp_path / HEALTH_FILE).read_text())
        assert told["pid"] == os.getpid()
        assert told["at"].endswith("+00:00")
        age = age_of(tmp_path)
        assert age is not None
    assert age_of(tmp_path) is None


async def test_it_grows_stale_while_discord_is_away(double: DiscordDouble, tmp_path: Path) -> None:
    async with online(double, tmp_path) as state:
        await refreshed(double, tmp_path)
        double.gateway.refuse = 10_000
        await double.gateway.drop()
        await stays_stale(state.bot, tmp_path)
        double.gateway.refuse = 0
        await refreshed(double, tmp_path)


async def test_it_grows_stale_while_the_storage_does_not_answer(
    double: DiscordDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with online(double, tmp_path) as state:
        await refreshed(double, tmp_path)
        await break_storage(state)
        await stays_stale(state.bot, tmp_path)


async def break_storage(state: Online) -> None:
    await state.app.storage.close()


async def stays_stale(bot: Marginalia, folder: Path) -> None:
    while await bot.is_well():
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)  # what was under way is written
    before = written(folder)
    await asyncio.sleep(0.3)
    assert written(folder) == before


async def test_a_disk_that_refuses_does_not_end_the_bot(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    looked = asyncio.Event()

    async def is_well() -> bool:
        looked.set()
        return True

    keeping = asyncio.create_task(HealthFile(tmp_path / "data").keep(is_well))
    await looked.wait()
    await asyncio.sleep(0.1)
    assert not keeping.done()
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)

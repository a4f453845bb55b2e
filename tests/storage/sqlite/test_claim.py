"""Two bots on one database would answer everything twice: the second is refused, as long as the first is there."""

import asyncio
import sys
from pathlib import Path

import pytest

from domain.errors import StorageError, StorageErrorCode
from storage.opening import open_storage

PROJECT = Path(__file__).parents[3]
HOLDER = """
import asyncio, sys
from storage.opening import open_storage
async def hold():
    async with await open_storage(sys.argv[1]) as storage:
        await storage.claim()
        print("held", flush=True)
        await asyncio.sleep(60)
asyncio.run(hold())
"""


async def test_the_second_is_refused_until_the_first_has_closed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/marginalia.db"
    first, second = await open_storage(url), await open_storage(url)
    async with second:
        async with first:
            await first.claim()
            await first.claim()
            with pytest.raises(StorageError, match="Another Marginalia is running") as refused:
                await second.claim(0.0)
            assert refused.value.code is StorageErrorCode.IN_USE
        await second.claim(0.0)


async def test_it_waits_for_one_that_is_about_to_go(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/marginalia.db"
    first, second = await open_storage(url), await open_storage(url)
    async with second:
        await first.claim()
        waiting = asyncio.create_task(second.claim(30.0))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await first.close()
        await waiting


async def test_a_kill_ends_it_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/marginalia.db"
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, url, cwd=PROJECT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert holder.stdout
        assert await holder.stdout.readline() == b"held\n"
        async with await open_storage(url) as storage:
            with pytest.raises(StorageError):
                await storage.claim(0.0)
            holder.kill()
            await holder.wait()
            await storage.claim(0.0)
    finally:
        if holder.returncode is None:
            holder.kill()
        await holder.communicate()


async def test_memory_is_nobody_elses(tmp_path: Path) -> None:
    async with await open_storage("sqlite:///:memory:") as one, await open_storage("sqlite:///:memory:") as other:
        await one.claim(0.0)
        await other.claim(0.0)

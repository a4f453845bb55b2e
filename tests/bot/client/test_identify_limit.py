"""Session starts: no more in a day than Discord allows, on all nodes together."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from bot.client import sessions
from bot.client.sessions import AN_HOUR_AT_MOST, RESERVED_SESSIONS, IdentifyLimit, SharedIdentifyLimit
from domain.concurrency import HeldLease
from domain.ports import LeaseRepository
from storage.opening import open_storage
from tests.postgres import a_database


class Time:
    seconds = 0.0

    def __call__(self, _: HeldLease | None = None) -> float:
        return self.seconds


def test_a_few_need_no_wait() -> None:
    starts = IdentifyLimit(Time())
    for _ in range(AN_HOUR_AT_MOST - 1):
        starts.count()
    assert starts.wait() == 0


def test_too_many_wait_until_the_oldest_is_an_hour_old() -> None:
    time = Time()
    starts = IdentifyLimit(time)
    for _ in range(AN_HOUR_AT_MOST):
        starts.count()
        time.seconds += 10
    assert starts.wait() == 3600 - 10 * AN_HOUR_AT_MOST
    time.seconds = 3600
    assert starts.wait() == 0


def test_a_whole_day_of_restarts_stays_below_a_thousand() -> None:
    time, day, count = Time(), 24 * 3600, 0
    starts = IdentifyLimit(time)
    while time.seconds < day:
        time.seconds += max(1.0, starts.wait())
        starts.count()
        count += 1
    assert count < 1000


@pytest.fixture
async def leases(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LeaseRepository]:
    monkeypatch.setattr(sessions, "IDENTIFY_S", 0.0)
    monkeypatch.setattr(sessions, "ASK_AGAIN_S", 0.0)
    monkeypatch.setattr(sessions, "LOOK_AGAIN_S", 0.01)
    with a_database() as url:
        async with await open_storage(url) as storage:
            assert storage.leases is not None
            yield storage.leases


class TestOnAllNodes:
    def nodes(self, leases: LeaseRepository, time: Time, *, shards: int, buckets: int = 1) -> list[SharedIdentifyLimit]:
        limits = [SharedIdentifyLimit(leases, shards, time) for _ in range(3)]
        for limit in limits:
            limit.buckets = buckets
        return limits

    async def begun(self, limits: list[SharedIdentifyLimit], wanted: int) -> int:
        """How many of so many starts that are wanted, by the nodes in turn, there were before they had to wait."""
        for number in range(wanted):
            try:
                await asyncio.wait_for(limits[number % len(limits)].turn(number), 0.5)
            except TimeoutError:
                return number
        return wanted

    async def test_all_nodes_wait_when_the_starts_of_an_hour_are_used_up(self, leases: LeaseRepository) -> None:
        time = Time()
        limits = self.nodes(leases, time, shards=2)
        assert await self.begun(limits, AN_HOUR_AT_MOST + 5) == AN_HOUR_AT_MOST
        time.seconds += 3600
        assert await self.begun(limits, 3) == 3

    async def test_the_next_waits_from_when_a_session_is_asked_for_however_long_it_took_to_connect(
        self, leases: LeaseRepository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions, "IDENTIFY_S", 1.0)
        slow, other, _ = self.nodes(leases, Time(), shards=2)
        await slow.turn(0)
        await asyncio.sleep(0.8)
        await slow.begin(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(other.turn(1), 0.5)

    async def test_all_shards_may_start_twice_in_an_hour(self, leases: LeaseRepository) -> None:
        assert await self.begun(self.nodes(leases, Time(), shards=30, buckets=4), 70) == 60

    async def test_the_last_of_a_day_are_left_alone(self, leases: LeaseRepository) -> None:
        time = Time()
        limits = self.nodes(leases, time, shards=20, buckets=2)
        for limit in limits:
            limit.total = 50
        begun = 0
        for _ in range(5):
            begun += await self.begun(limits, 20)
            time.seconds += 3600
        assert begun == 50 - RESERVED_SESSIONS
        time.seconds += 24 * 3600
        assert await self.begun(limits, 2) == 2

    async def test_one_shard_of_a_bucket_at_a_time(
        self, leases: LeaseRepository, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions, "IDENTIFY_S", 60.0)
        first, second, _ = self.nodes(leases, Time(), shards=4, buckets=2)
        await first.turn(0)
        await second.turn(1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(second.turn(2), 0.2)

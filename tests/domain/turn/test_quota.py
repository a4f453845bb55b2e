"""When somebody has used up what they may use, and what they are told then."""

from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from datetime import timedelta

import pytest

from domain.errors import LLMError, LLMErrorCode
from domain.records import UsageRecord
from domain.servers import ManageServers, Models
from domain.tool_use import TokenUsage
from domain.turn.quota import Allowances, Limits, Quota
from storage.opening import Storage, open_storage
from tests.storage.values import MIDNIGHT

NOON = MIDNIGHT + timedelta(hours=12)
USED = UsageRecord(NOON - timedelta(hours=1), "model", TokenUsage(90, 10), "ann", "here")
"""A hundred tokens, on a server."""


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    async with await open_storage("sqlite:///:memory:") as storage:
        yield storage


async def refused(check: Awaitable[None]) -> LLMError:
    with pytest.raises(LLMError) as refusal:
        await check
    return refusal.value


async def test_a_day_ends_with_the_last_token_and_begins_at_midnight(storage: Storage) -> None:
    await storage.usage.record(USED)
    at_noon = Quota(storage.usage, lambda: NOON, 100)
    error = await refused(at_noon.check_writing("ann", None, counts=False))
    assert error.code is LLMErrorCode.DAILY_LIMIT
    assert "your 100 tokens for the day are used up" in error.message
    await at_noon.check_writing("ben", None, counts=False)
    for more in (101, 0):
        await Quota(storage.usage, lambda: NOON, more).check_writing("ann", None, counts=False)
    next_day = Quota(storage.usage, lambda: MIDNIGHT + timedelta(days=1), 100)
    await next_day.check_writing("ann", None, counts=False)


@pytest.mark.parametrize(("hour", "told"), [(0, "24 hours"), (12.5, "12 hours"), (22, "2 hours"), (23.9, "1 hour")])
async def test_it_is_told_in_how_many_hours_the_day_ends(storage: Storage, hour: float, told: str) -> None:
    await storage.usage.record(replace(USED, at=MIDNIGHT))
    quota = Quota(storage.usage, lambda: MIDNIGHT + timedelta(hours=hour), 100)
    error = await refused(quota.check_writing("ann", None, counts=False))
    assert f"You get new ones in about {told};" in error.message


@pytest.mark.parametrize("limit", ["tokens_per_person", "tokens_per_server"])
async def test_the_limits_of_a_server_hold_there(storage: Storage, limit: str) -> None:
    servers = ManageServers(storage.servers, Models("model"))
    await servers.change("here", **{limit: 100})
    quota = Quota(storage.usage, lambda: NOON, servers=servers)
    await storage.usage.record(replace(USED, usage=TokenUsage(99)))
    await storage.usage.record(replace(USED, guild_id="elsewhere"))
    await quota.check_writing("ann", "here", counts=False)
    await storage.usage.record(replace(USED, usage=TokenUsage(1), reader_id="ann"))
    error = await refused(quota.check_writing("ann", "here", counts=False))
    assert error.code is LLMErrorCode.SERVER_LIMIT
    await quota.check_writing("ann", "elsewhere", counts=False)
    if limit == "tokens_per_person":
        assert "your 100 tokens for the day on this server are used up" in error.message
        await quota.check_writing("ben", "here", counts=False)
    else:
        assert "this server's 100 tokens for the day are used up" in error.message
        assert (await refused(quota.check_writing("ben", "here", counts=False))).code is LLMErrorCode.SERVER_LIMIT


@pytest.mark.parametrize(
    ("later", "told"), [(0, "in 60 seconds;"), (58, "in 2 seconds;"), (59, "in 1 second;"), (59.9, "in 1 second;")]
)
async def test_who_asks_too_fast_is_told_for_how_many_seconds_to_wait(
    storage: Storage, later: float, told: str
) -> None:
    now = NOON
    allowances = Allowances(storage.allowances, Limits(turns_per_minute=1), lambda: now)
    quota = Quota(storage.usage, lambda: now, allowances=allowances)
    await quota.check_writing("ann", None, counts=True, about="1")
    await quota.check_writing("ann", None, counts=True, about="1")
    await quota.check_writing("ann", None, counts=False)
    now += timedelta(seconds=later)
    error = await refused(quota.check_writing("ann", None, counts=True, about="2"))
    assert error.code is LLMErrorCode.TURN_LIMIT
    assert error.retry_after == pytest.approx(60 - later)
    assert "You have asked 1 question within a minute" in error.message
    assert f"Please ask again {told}" in error.message

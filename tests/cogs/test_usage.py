"""/usage: tokens and cost, mine and the guild's."""

from datetime import timedelta
from typing import Any

import pytest

from domain.records import UsageRecord
from domain.tool_use import TokenUsage
from tests.cogs.stage import Stage, text_of


async def spend(stage: Stage, tokens: int, *, days_ago: float = 0, reader: int | None = None, **fields: Any) -> None:
    record = UsageRecord(
        at=stage.app.clock() - timedelta(days=days_ago),
        model="scripted-1",
        usage=TokenUsage(tokens, 0),
        reader_id=str(reader or stage.ann.id),
        guild_id=str(stage.guild.id),
        **{"cost_microdollars": tokens * 10} | fields,
    )
    await stage.app.storage.usage.record(record)


async def test_mine_today_and_lately(stage: Stage) -> None:
    await spend(stage, 1_000)
    await spend(stage, 500, days_ago=10)
    await spend(stage, 9_999, days_ago=40)
    await spend(stage, 7_777, reader=stage.ben.id)
    shown = await stage.ann.slash(stage.channel, "usage")
    assert shown.ephemeral
    assert "You, today\n1,000 tokens · 1 request · $0.01" in text_of(shown)
    assert "You, last 30 days\n1,500 tokens · 2 requests · $0.01" in text_of(shown)
    assert "This server" not in text_of(shown)


async def test_managers_see_the_guilds(stage: Stage) -> None:
    await spend(stage, 1_000)
    await spend(stage, 500, reader=stage.ben.id)
    shown = text_of(await stage.member("boss", manage_guild=True).slash(stage.channel, "usage"))
    assert "You, today\n0 tokens" in shown
    assert "This server, today\n1,500 tokens" in shown


async def test_requests_of_unknown_price_are_said_to_be_so(stage: Stage) -> None:
    await spend(stage, 100, cost_microdollars=None)
    shown = text_of(await stage.ann.slash(stage.channel, "usage"))
    assert "1 request of unknown cost" in shown


class TestLimit:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"daily_tokens_per_user": 2_000}

    async def test_what_is_left_of_the_day(self, stage: Stage) -> None:
        await spend(stage, 500)
        assert "1,500 of 2,000 tokens" in text_of(await stage.ann.slash(stage.channel, "usage"))

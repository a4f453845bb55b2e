"""A club of Ann and Ben on a book of three chapters, and a clock that tests may set."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle
from simcord.results import InteractionResult

from cogs.clubs.cog import Clubs
from domain.book import Book
from domain.clubs.plan import Club
from tests.cogs.stage import Stage


@dataclass
class Calendar:
    """The time as clubs know it."""

    now: datetime

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)


@dataclass
class ClubStage:
    stage: Stage
    calendar: Calendar
    book: Book

    @property
    def ann(self) -> MemberActor:
        return self.stage.ann

    @property
    def ben(self) -> MemberActor:
        return self.stage.ben

    @property
    def channel(self) -> ChannelHandle:
        return self.stage.channel

    @property
    def cog(self) -> Clubs:
        cog = self.stage.bot.get_cog("Clubs")
        assert isinstance(cog, Clubs)
        return cog

    async def club(self) -> Club:
        """The newest of the server's clubs."""
        rows = await self.stage.app.storage.engine.read("SELECT id FROM clubs ORDER BY created_at DESC")
        return await self.stage.app.clubs.get(rows[0]["id"])

    async def start(self, **options: Any) -> InteractionResult:
        return await self.ann.slash(self.channel, "club start", book=self.book.id, **_given({"sections": 3, **options}))

    def card(self) -> Any:
        """The plan card."""
        return next(each for each in self.channel.history() if each.embeds and each.components)

    def lines(self) -> list[str]:
        """The lines of the plan card."""
        return str(self.card().embeds[0].description).splitlines()

    def threads(self) -> list[str]:
        return [str(thread.name) for thread in self.channel.threads]

    def said(self, channel: ChannelHandle | None = None) -> list[str]:
        """What the bot has written in a channel, oldest first, without cards."""
        found = (channel or self.channel).history()
        return [each.content for each in found if each.author.bot and each.content]

    async def press(self, actor: MemberActor, label: str) -> InteractionResult:
        return await actor.click(self.card(), label=label)

    async def sweep(self) -> None:
        await self.cog.duties.sweep()
        await self.stage.env.settle()


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


@pytest.fixture
def calendar() -> Calendar:
    return Calendar(datetime(2026, 3, 1, 9, tzinfo=UTC))


@pytest.fixture
async def reading(stage: Stage, calendar: Calendar, monkeypatch: pytest.MonkeyPatch) -> ClubStage:
    """Nobody has begun a club yet."""
    clock: Callable[[], datetime] = calendar
    monkeypatch.setattr(stage.app.clubs, "_clock", clock)
    monkeypatch.setattr(stage.app.positions.bounds, "_clock", clock)
    return ClubStage(stage, calendar, await stage.book())

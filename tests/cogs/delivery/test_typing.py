"""Typing is shown for as long as something is being written, and never stands in its way."""

import asyncio

from cogs.delivery.channel import REFRESH_S, Typing
from cogs.delivery.message_group import NotAllowedError
from tests.cogs.delivery.fakes import FakeChannel, FakeClock


async def test_it_is_refreshed_before_it_fades(clock: FakeClock, channel: FakeChannel) -> None:
    async with Typing(channel.typing, sleep=clock.sleep):
        await clock.advance(REFRESH_S * 3)
    await clock.advance(60)
    assert [request.at - 100 for request in channel.requests] == [0, 8, 16, 24]


async def test_it_does_not_delay_what_it_announces(clock: FakeClock, channel: FakeChannel) -> None:
    channel.hold()
    async with Typing(channel.typing, sleep=clock.sleep):
        pass
    assert channel.in_flight == 0


async def test_its_failures_are_nobodys_concern(clock: FakeClock, channel: FakeChannel) -> None:
    channel.faults = [NotAllowedError("403")]
    async with Typing(channel.typing, sleep=clock.sleep):
        await clock.advance(REFRESH_S)
    assert len(channel.requests) == 2


async def test_it_may_be_stopped_early_and_twice(clock: FakeClock, channel: FakeChannel) -> None:
    async with Typing(channel.typing, sleep=clock.sleep) as typing:
        await clock.advance(1)
        typing.stop()
        typing.stop()
        await clock.advance(60)
    assert len(channel.requests) == 1
    await asyncio.sleep(0)

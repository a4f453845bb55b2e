"""The card of a turn's calls grows while they run and keeps what a reader opened."""

import asyncio

import pytest

from cogs.delivery.turn_messages import TraceMessage
from cogs.delivery.writer import ChannelWriter
from cogs.rendering.tool_calls import CardState, Press
from domain.event import ToolCallFinished, ToolCallStarted
from tests.cogs.delivery.fakes import FakeChannel, FakeClock


def started(number: int) -> ToolCallStarted:
    return ToolCallStarted(f"c{number}", number, "search_book", {"query": f"query {number}"})


def finished(number: int, *, is_error: bool = False) -> ToolCallFinished:
    return ToolCallFinished(f"c{number}", number, "search_book", "5 passages", "the result", is_error, 12)


@pytest.fixture
def trace(writer: ChannelWriter) -> TraceMessage:
    return TraceMessage(writer, "turn")


def lines(channel: FakeChannel) -> list[str]:
    [body] = channel.shown.values()
    return [embed.description.split("\n")[0] for embed in body.embeds]


async def test_a_card_comes_with_the_first_call(trace: TraceMessage, channel: FakeChannel, clock: FakeClock) -> None:
    trace.started(started(1))
    await clock.advance(0)
    assert lines(channel) == ['⏳ 1 search_book "query 1" …']
    assert channel.requests[0].body
    assert channel.requests[0].body.silent


async def test_calls_that_follow_each_other_cost_few_requests(
    trace: TraceMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    for number in range(1, 6):
        trace.started(started(number))
        trace.finished(finished(number))
        await clock.advance(0.1)
    task = asyncio.create_task(trace.settle())
    await clock.advance(5)
    assert await task
    assert len(channel.requests) <= 2
    assert lines(channel)[4] == '▸ 5 search_book "query 5" · 5 passages · 12 ms'


async def test_what_a_reader_opened_stays_open(trace: TraceMessage, channel: FakeChannel, clock: FakeClock) -> None:
    trace.started(started(1))
    trace.finished(finished(1))
    await clock.advance(2)
    shown = trace.pressed(Press("turn", CardState(), number=1))
    assert shown.embeds[0].description.startswith("▾ 1")
    trace.started(started(2))
    trace.finished(finished(2, is_error=True))
    await clock.advance(5)
    assert [line[:3] for line in lines(channel)] == ["▾ 1", "▾ 2"]


async def test_without_calls_there_is_no_card(trace: TraceMessage, channel: FakeChannel) -> None:
    assert await trace.settle() is None
    assert channel.requests == []


async def test_a_card_that_was_erased_goes_at_once(trace: TraceMessage, channel: FakeChannel, clock: FakeClock) -> None:
    trace.started(started(1))
    await clock.advance(2)
    trace.erase()
    await clock.advance(2)
    assert channel.shown == {}


async def test_none_comes_in_the_place_of_a_card_that_was_erased(
    trace: TraceMessage, channel: FakeChannel, clock: FakeClock
) -> None:
    trace.started(started(1))
    await clock.advance(2)
    channel.hold()
    trace.erase()
    trace.finished(finished(1))
    task = asyncio.create_task(trace.settle())
    await clock.breathe()
    channel.released.set()
    await clock.advance(60)
    await task
    assert channel.shown == {}

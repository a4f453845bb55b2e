"""A channel that does as it is told, by a clock that a test turns, and its writer."""

import pytest

from cogs.delivery.writer import ChannelWriter
from tests.cogs.delivery.fakes import FakeChannel, FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def channel(clock: FakeClock) -> FakeChannel:
    return FakeChannel(clock)


@pytest.fixture
def writer(clock: FakeClock, channel: FakeChannel) -> ChannelWriter:
    return ChannelWriter(channel, now=clock.now, sleep=clock.sleep)

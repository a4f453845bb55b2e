"""The loopback Discord for the tests of the client and of the commands that speak to it."""

from collections.abc import AsyncIterator

import pytest

from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.pointing import loopback_discord


@pytest.fixture
async def double() -> AsyncIterator[DiscordDouble]:
    async with loopback_discord() as double:
        yield double

"""The loopback Discord for every test; neither may the bot break Discord's rules, nor its log hold an error."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.cogs.conversation.scene import Scene, scene
from tests.cogs.logged_errors import unexpected_errors
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.pointing import loopback_discord


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings that are not the default; a test overrides this."""
    return {}


@pytest.fixture
async def double(caplog: pytest.LogCaptureFixture, expected_errors: list[str]) -> AsyncIterator[DiscordDouble]:
    async with loopback_discord() as double:
        yield double
    assert unexpected_errors(caplog, expected_errors) == []


@pytest.fixture
async def room(double: DiscordDouble, tmp_path: Path, settings: dict[str, Any]) -> AsyncIterator[Scene]:
    async with scene(double, tmp_path, **settings) as room:
        await room.prepare()
        yield room

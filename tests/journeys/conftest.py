"""The bot as a process of its own between doubles of Discord and of the model, for the journeys that take all three."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from domain.turn import runner
from tests.doubles.anthropic_api import AnthropicDouble, prompt_of
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.ratelimits import Window
from tests.doubles.honest_model import honest_reply
from tests.doubles.script import Handler
from tests.journeys.discord_process import BotProcess, bot_process
from tests.journeys.forked import OFFER_S

SEND, EDIT = "POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}"


@pytest.fixture(autouse=True)
def time_for_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the book itself says is waited for, also on a busy machine."""
    monkeypatch.setattr(runner, "OFFER_WITHIN_S", OFFER_S)


@pytest.fixture
def handler() -> Handler:
    """How the model replies; a test overrides this."""
    return lambda body: honest_reply(prompt_of(body))


@pytest.fixture
def environment() -> dict[str, str]:
    """Settings of the bot that are not the default; a test overrides this. People in tests ask faster than by hand."""
    return {"MAX_TURNS_PER_MINUTE": "0"}


@pytest.fixture
async def discord() -> AsyncIterator[DiscordDouble]:
    async with DiscordDouble() as double:
        yield double


@pytest.fixture
def quick_posting(discord: DiscordDouble) -> None:
    """Discord takes fifty messages a second, so that a test of very many need not wait."""
    for route in (SEND, EDIT):
        discord.rest.limits.windows[route] = Window(50, 1.0)


@pytest.fixture
async def model(handler: Handler) -> AsyncIterator[AnthropicDouble]:
    async with AnthropicDouble(handler) as double:
        yield double


@pytest.fixture
async def bot(
    tmp_path: Path, discord: DiscordDouble, model: AnthropicDouble, environment: dict[str, str]
) -> AsyncIterator[BotProcess]:
    async with bot_process(tmp_path, discord, model, **environment) as process:
        yield process

from collections.abc import AsyncIterator

import pytest

from bot.providers.anthropic.client import AnthropicChat
from tests.doubles.anthropic_api import AnthropicDouble


@pytest.fixture
async def api() -> AsyncIterator[AnthropicDouble]:
    async with AnthropicDouble() as double:
        yield double


@pytest.fixture
async def claude(api: AnthropicDouble) -> AsyncIterator[AnthropicChat]:
    chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url, timeout=5, max_retries=0)
    yield chat
    await chat.aclose()

from collections.abc import AsyncIterator, Iterator

import pytest

from bot.providers.anthropic.client import AnthropicChat
from tests.doubles.anthropic_api import AnthropicDouble


@pytest.fixture(autouse=True, scope="package")
def no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test here trusts a certificate: to read those of a system takes 25 ms or more for every client."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


@pytest.fixture
async def api() -> AsyncIterator[AnthropicDouble]:
    async with AnthropicDouble() as double:
        yield double


@pytest.fixture
async def claude(api: AnthropicDouble) -> AsyncIterator[AnthropicChat]:
    chat = AnthropicChat(api_key=api.api_key, base_url=api.base_url, timeout=5, max_retries=0)
    yield chat
    await chat.aclose()

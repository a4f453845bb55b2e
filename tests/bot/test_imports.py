"""Nobody pays for an SDK that is not used."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("anthropic", "openai", "httpx2", "mcp", "discord", "genai_prices")
ROOT = Path(__file__).parents[2]


def test_the_program_is_loaded_without_the_sdks() -> None:
    modules = "bot.__main__, bot.fluent, bot.providers.anthropic.client, bot.providers.openai.client"
    code = f"import sys, {modules}; print(*(name for name in {HEAVY} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


def test_an_app_that_downloads_nothing_is_opened_without_aiohttp(tmp_path: Path) -> None:
    code = f"""
import asyncio, sys
from bot.app import open_app
from bot.settings import Settings

async def use():
    async with open_app(Settings(_env_file=None, llm_provider="extractive", data_dir={str(tmp_path)!r})) as app:
        assert await app.shelf.list() == []
        assert app.catalogue and app.downloads

asyncio.run(use())
print(*(name for name in ("aiohttp", *{HEAVY}) if name in sys.modules))
"""
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []


@pytest.mark.parametrize(
    ("opening", "sdk"),
    [
        ("from bot.providers.anthropic.client import AnthropicChat as Chat; chat = Chat(api_key='k')", "anthropic"),
        ("from bot.providers.openai.client import OpenAIChat as Chat; chat = Chat(api_key='k', model='m')", "openai"),
    ],
)
def test_a_provider_loads_its_own_sdk_when_it_is_used(opening: str, sdk: str) -> None:
    code = f"""
import asyncio, sys
{opening}

async def use():
    await chat.warm_up()
    await chat.aclose()

asyncio.run(use())
print(*(name for name in {HEAVY} if name in sys.modules))
"""
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(loaded.stdout.split()) == {sdk, "httpx2"}

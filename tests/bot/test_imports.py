"""Nobody pays for an SDK that is not used, and nobody who presses Ctrl-C meanwhile reads a traceback."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("anthropic", "openai", "httpx2", "mcp", "discord", "genai_prices")
ROOT = Path(__file__).parents[2]


def test_the_program_is_loaded_without_the_sdks_and_leaves_ctrl_c_to_its_commands() -> None:
    modules = "bot.__main__, bot.fluent, bot.providers.anthropic.client, bot.providers.openai.client"
    code = f"""
import signal, sys, {modules}
print(*(name for name in {HEAVY} if name in sys.modules))
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout == "\nTrue\n"


@pytest.mark.parametrize("module", ["typer", "bot.app", "pydantic_settings", "domain.book"])
def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_word(module: str) -> None:
    code = f"""
import os, runpy, signal, sys

class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Impatient())
runpy.run_module("bot", run_name="__main__")
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


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
    "loading",
    [
        "from bot.cli.terminal import load_ahead; load_ahead(); [each.join() for each in enumerate() if each.daemon]",
        "from bot.cli.run import warm_up; from tests.doubles.scripted_chat import ScriptedChat as Chat; "
        "import asyncio; asyncio.run(warm_up(Chat('x')))",
    ],
)
def test_the_first_answer_does_not_wait_for_what_makes_it(loading: str) -> None:
    code = f"import sys; from threading import enumerate; {loading}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"bot.providers.extractive.planning", "bot.providers.extractive.replies"} <= {*loaded.stdout.split()}


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

"""Nobody pays for an SDK that is not used, and nobody who presses Ctrl-C meanwhile reads a traceback."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampling import a_few

HEAVY = ("anthropic", "openai", "httpx2", "mcp", "discord", "genai_prices")
ROOT = Path(__file__).parents[2]


def test_the_program_is_loaded_without_the_sdks_each_of_which_comes_when_it_is_used() -> None:
    code = f"""
import asyncio, signal, sys
import bot.__main__, bot.fluent
from bot.providers.anthropic.client import AnthropicChat
from bot.providers.openai.client import OpenAIChat

def tell():
    print(*(name for name in {HEAVY} if name in sys.modules), sep=", ")

async def use(chat):
    await chat.warm_up()
    await chat.aclose()
    tell()

tell()
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
asyncio.run(use(OpenAIChat(api_key="k", model="m")))
asyncio.run(use(AnthropicChat(api_key="k")))
"""
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    at_first, leaves_ctrl_c, with_openai, with_anthropic = loaded.stdout.splitlines()
    assert at_first == ""
    assert leaves_ctrl_c == "True"
    assert with_openai == "openai, httpx2"
    assert with_anthropic == "anthropic, openai, httpx2"


@pytest.mark.parametrize("module", a_few(["typer", "bot.app", "pydantic_settings", "domain.book"], 2))
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
        "from bot.cli.run import warm_up; from bot.providers.anthropic.client import AnthropicChat as Chat; "
        "import asyncio; asyncio.run(warm_up(Chat(api_key='k'))); "
        "assert {'anthropic.resources.messages', 'genai_prices.data'} <= {*sys.modules}",
    ],
    ids=["terminal", "bot"],
)
def test_the_first_answer_does_not_wait_for_what_makes_it(loading: str) -> None:
    code = f"import sys; from threading import enumerate; {loading}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"bot.providers.extractive.planning", "bot.providers.extractive.replies"} <= {*loaded.stdout.split()}

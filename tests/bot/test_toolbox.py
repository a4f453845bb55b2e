"""The tools of conversations: the book's own always, and those the settings name."""

import json
import sys
from pathlib import Path
from typing import cast

import pytest

from bot.app import open_toolbox
from bot.settings import Settings, load_settings
from bot.tools.book import BOOK_TOOLS
from domain.errors import SettingsError
from domain.ports import BookView
from domain.tools.registry import as_result
from tests.doubles.open_meteo import OpenMeteoDouble

NO_BOOK = cast(BookView, None)
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)


async def test_with_nothing_set_there_are_the_book_tools_alone() -> None:
    async with open_toolbox(load_settings()) as toolbox:
        assert toolbox(NO_BOOK).get_definitions() == list(BOOK_TOOLS)


async def test_the_settings_add_tools_after_those_of_the_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRA_TOOLS", "weather, clock")
    monkeypatch.setattr("bot.mcp.tools.FIRST_TRY_S", 30.0)
    monkeypatch.setenv("MCP_TRUSTED", "double")
    monkeypatch.setenv("MCP_SERVERS", f"double=PYTHONPATH={ROOT} {sys.executable} -m tests.doubles.mcp_server")
    async with open_toolbox(load_settings()) as toolbox:
        await toolbox.servers.ready()
        tools = toolbox(NO_BOOK)
        names = [definition.name for definition in tools.get_definitions()]
        dispatch = tools.build_dispatcher()
        now = as_result(await dispatch("get_current_datetime", {"timezone": "Asia/Tokyo"}))
        echo = as_result(await dispatch("double_echo", {"text": "from afar"}))
    assert names[: len(BOOK_TOOLS)] == [definition.name for definition in BOOK_TOOLS]
    assert names[len(BOOK_TOOLS) :][:3] == ["get_current_datetime", "get_weather", "double_echo"]
    assert json.loads(now.content)["timezone"] == "Asia/Tokyo"
    assert echo.content == "from afar"


async def test_the_weather_is_asked_for_once_and_kept_for_every_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRA_TOOLS", "weather")
    async with OpenMeteoDouble() as service:
        monkeypatch.setenv("OPEN_METEO_URL", service.base_url)
        monkeypatch.setenv("OPEN_METEO_GEOCODING_URL", service.base_url)
        async with open_toolbox(load_settings()) as toolbox:
            first = await toolbox(NO_BOOK).build_dispatcher()("get_weather", {"location": "Ulm"})
            second = await toolbox(NO_BOOK).build_dispatcher()("get_weather", {"location": "Ulm"})
    assert first == second
    assert len(service.requests) == 2, "one search and one forecast"


@pytest.mark.parametrize(("name", "value"), [("EXTRA_TOOLS", "clock,oracle"), ("MCP_SERVERS", "http://nameless/mcp")])
async def test_a_setting_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name):
        async with open_toolbox(load_settings()):
            pass

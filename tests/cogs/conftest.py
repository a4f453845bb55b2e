"""A stage for every test of a cog, and the loopback Discord; what the bot logs as an error fails the test."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import discord
import pytest
from simcord.env import Env

from bot.app import App, open_app
from bot.client.client import Marginalia
from bot.settings import DATABASE, Settings
from storage.book_files.files import SQLiteBookFiles
from tests.bot.online import Online, online
from tests.cogs.logged_errors import unexpected_errors
from tests.cogs.stage import Stage
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.discord_api.pointing import loopback_discord
from tests.doubles.scripted_chat import ScriptedChat
from tests.sqlite import lay_out


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings that are not the default; a test overrides this."""
    return {}


@pytest.fixture
def expected_errors() -> list[str]:
    """Beginnings of what a test expects to be logged as an error; a test overrides this."""
    return []


@pytest.fixture
def model() -> ScriptedChat:
    return ScriptedChat("I do not know.")


@pytest.fixture
async def app(tmp_path: Path, model: ScriptedChat, settings: dict[str, Any]) -> AsyncIterator[App]:
    chosen = Settings(_env_file=None, data_dir=tmp_path, **settings)  # type: ignore[call-arg]
    lay_out(tmp_path / DATABASE)
    async with open_app(chosen, model) as app:
        yield app


@pytest.fixture
async def simcord_env(app: App) -> AsyncIterator[Env]:
    """Discord with the bot connected to it. Refusals pass through its error handler, so they are no errors here."""
    env = Env(Marginalia(app), check_errors=False, settle_timeout=15.0)
    await env.start()
    yield env
    await env.shutdown()


@pytest.fixture
async def stage(
    app: App,
    simcord_env: Env,
    model: ScriptedChat,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    expected_errors: list[str],
) -> AsyncIterator[Stage]:
    guild = simcord_env.create_guild("Bookworms")
    channel = guild.create_text_channel("reading-room")
    may = discord.Permissions(create_private_threads=True, send_polls=True)
    readers = guild.create_role("readers", permissions=may)
    ann, ben = (guild.add_member(simcord_env.create_user(name), roles=[readers]) for name in ("ann", "ben"))
    files = SQLiteBookFiles(tmp_path / "books")
    yield Stage(simcord_env, app, model, guild, channel, ann, ben, files)
    await files.close()
    assert unexpected_errors(caplog, expected_errors) == []


@pytest.fixture
async def double() -> AsyncIterator[DiscordDouble]:
    async with loopback_discord() as double:
        yield double


@pytest.fixture
async def bot(double: DiscordDouble, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> AsyncIterator[Online]:
    """The bot on the loopback Discord, which knows its commands."""
    async with online(double, tmp_path) as state:
        await double.until(lambda: double.commands.commands.get(0))
        yield state
    assert unexpected_errors(caplog) == []

"""What the README and docs/discord.md say is what the code does."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import discord
import simcord
from discord import app_commands

from bot.app import open_app
from bot.client.client import Marginalia
from bot.settings import Settings
from cogs.permissions import NEEDED, PERMISSION_NAMES
from tests.journeys.terminal import Terminal

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DISCORD = (ROOT / "docs" / "discord.md").read_text(encoding="utf-8")

MOST_WORDS = 900


async def test_the_table_of_commands_is_the_command_tree(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)  # type: ignore[call-arg]
    async with open_app(settings) as app, simcord.run(bot := Marginalia(app)):
        commands = [each for each in bot.tree.walk_commands() if isinstance(each, app_commands.Command)]
        offered = {f"/{each.qualified_name}": [_marked(option) for option in each.parameters] for each in commands}
    rows = [line.split("|")[1:3] for line in DISCORD.splitlines() if line.startswith("| `/")]
    assert {command.strip(" `"): re.findall(r"`([a-z]+\*?)`", options) for command, options in rows} == offered
    assert len(rows) == len(offered)


async def test_the_readme_names_every_group_of_commands(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)  # type: ignore[call-arg]
    async with open_app(settings) as app, simcord.run(bot := Marginalia(app)):
        offered = {f"/{command.name}" for command in bot.tree.get_commands(type=discord.AppCommandType.chat_input)}
    assert not [name for name in offered if f"`{name}`" not in README]


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len(README.split()) < MOST_WORDS


def _marked(option: app_commands.Parameter) -> str:
    return f"{option.name}*" if option.required else option.name


async def test_the_transcript_is_what_make_run_prints(tmp_path: Path) -> None:
    [shown] = re.findall(r"^```\n\$ make run\n(DISCORD_TOKEN.*?)^```$", README, re.MULTILINE | re.DOTALL)
    printed = await Terminal(tmp_path).run("start")  # what `make run` calls
    assert printed.out.split() == shown.split()


def test_the_invitation_asks_for_what_the_bot_needs_and_no_more() -> None:
    link, own = re.findall(r"https://discord\.com/oauth2/authorize\S+", DISCORD)
    assert parse_qs(urlsplit(own).query)["scope"] == ["applications.commands"]
    asked = parse_qs(urlsplit(link).query)
    assert asked["permissions"] == [str(NEEDED.value)]
    assert asked["scope"] == ["bot applications.commands"]
    assert ", ".join(PERMISSION_NAMES.values()) in " ".join(DISCORD.split())


def test_every_picture_is_there_and_light_enough_to_load() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\((docs/pictures/[^)]+)\)", README)
    assert pictures
    for picture in pictures:
        assert 5_000 < (ROOT / picture).stat().st_size < 200_000

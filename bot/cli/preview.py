"""marginalia preview: the bot as it looks on Discord, without Discord."""

import importlib.util
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from bot.app import App, open_app, open_toolbox
from bot.cli.run import until_stopped
from bot.cli.running import console, run_async
from bot.logs import set_up_logs
from bot.settings import Settings, load_settings
from domain.errors import SettingsError

QUESTIONS = (
    "Who is Tom Liddiard?",
    "Who says “You can cross at five to”?",
)
"""Asked beforehand, so that there is something to look at and to unfold."""
NOT_INSTALLED = (
    "The preview needs the extra simcord[preview]. `make preview` installs it; by hand, in the project's folder: "
    "pip install '.[preview]'"
)

ABOUT = (
    "It is Marginalia itself in a simulated Discord, in a thread on the sample novel. Write there, press its buttons, "
    "type / for its commands; “Viewing as” makes you the other reader. The page shows this one thread. "
    "Answers: {provider}. All of it is in a temporary folder and gone when you stop it with Ctrl-C."
)


def preview(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port; 0 is any that is free")] = 0,
) -> None:
    """The real bot in a Discord-like page in the browser: no token, no Discord, nothing kept."""
    if not all(map(importlib.util.find_spec, ("simcord", "PIL"))):
        raise SettingsError(NOT_INSTALLED)
    run_async(partial(_preview, port))


async def _preview(port: int) -> None:
    with TemporaryDirectory(prefix="marginalia-preview-") as folder:
        settings = preview_settings(Path(folder))
        # discord.py warns of what a simulated Discord lacks
        quiet = "ERROR" if settings.log_level == "WARNING" else settings.log_level
        set_up_logs(quiet, settings.log_format)
        async with open_toolbox(settings) as tools, open_app(settings, None, tools, tools.missing) as app:
            await until_stopped(_show(app, port))


def preview_settings(folder: Path) -> Settings:
    """The settings of the environment for model and answers; memory and books in a folder that goes away."""
    return load_settings(data_dir=folder, database_url="", discord_guild_ids=())


async def _show(app: App, port: int) -> None:
    from bot.preview.page import open_preview

    costs_nothing = app.settings.provider == "extractive"
    async with open_preview(app, QUESTIONS if costs_nothing else (), port) as page:
        console.print(f"Open this in a browser:\n\n  {page.url}\n", markup=False, soft_wrap=True)
        console.print(ABOUT.format(provider=app.provider.name), markup=False, soft_wrap=True)
        await page.wait_closed()

"""The real bot on the loopback Discord, run as `marginalia run` runs it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bot.app import App, open_app, open_toolbox
from bot.client.client import Marginalia
from bot.client.connection import ReconnectPace, stay_online
from bot.logs import HealthFile
from bot.settings import DATABASE, Settings
from tests.doubles.discord_api import DiscordDouble
from tests.doubles.scripted_chat import Reply, ScriptedChat
from tests.sqlite import lay_out

QUICK = ReconnectPace(first=0.01, longest=0.05, look=0.02, stuck=1.0)


class QuickBot(Marginalia):
    """The bot, without the five seconds that discord.py leaves between sessions."""

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        await super().before_identify_hook(shard_id, initial=True)


class Online:
    """What became of a bot that is being kept online; `bots` are all that were made for it."""

    def __init__(self, model: ScriptedChat) -> None:
        self.bots: list[Marginalia] = []
        self.told: list[str] = []
        self.model = model
        self.app: App
        self.task: asyncio.Task[None]

    @property
    def bot(self) -> Marginalia:
        return self.bots[-1]


@asynccontextmanager
async def online(
    double: DiscordDouble,
    folder: Path,
    *,
    token: str = "",
    pace: ReconnectPace = QUICK,
    wait: bool = True,
    says: Reply = "I do not know.",
    **settings: Any,
) -> AsyncIterator[Online]:
    """Keep a bot online for the length of the block. `says` is what its model says until it is told something else."""
    chosen = Settings(_env_file=None, data_dir=folder, **settings)  # type: ignore[call-arg]
    state = Online(ScriptedChat(says))
    if not chosen.database_url:
        lay_out(folder / DATABASE)
    async with open_toolbox(chosen) as tools, open_app(chosen, state.model, tools) as app:
        state.app = app
        make = partial(QuickBot, app, health=HealthFile(folder), announce=state.told.append, guild_ready_timeout=0.05)

        def make_bot(*, reads_messages: bool) -> Marginalia:
            state.bots.append(make(reads_messages=reads_messages))
            return state.bots[-1]

        state.task = asyncio.create_task(stay_online(make_bot, token or double.token, pace))
        try:
            if wait:
                await double.until(lambda: state.told or state.task.done())
            yield state
        finally:
            state.task.cancel()
            await asyncio.gather(state.task, return_exceptions=True)

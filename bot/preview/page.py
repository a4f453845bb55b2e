"""The page: a thread in which Ann talks with the bot about the sample novel, and Ben may join."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import discord
import simcord
from simcord.preview import Preview

from bot.app import SAMPLE, App
from bot.client import Marginalia
from bot.preview.faces import faces
from bot.preview.real_time import RealTimeEnv
from cogs.cards import INK
from cogs.permissions import NEEDED
from domain.errors import SettingsError

NAME, GUILD, CHANNEL = "Marginalia", "Aldermouth Readers", "reading-room"
READERS = {"Ann": 0x2E7D5B, "Ben": 0xB0562C}
"""Who is there, and the colour of their pictures."""
PATIENCE_S = 1.5
"""How long the page waits for the bot after each thing done there, before it lets the next one be done."""
SOON_S = 0.2
"""Drawing takes time that is the bot's own, so what follows quickly is drawn together."""


@asynccontextmanager
async def open_preview(app: App, questions: Iterable[str] = (), port: int = 0) -> AsyncIterator[Preview]:
    """Serve the page; these questions have been asked and answered there.

    `app` is to be on folders that are only for this: the ids of a simulated Discord are no ids of Discord.

    Raises:
        SettingsError: the port cannot be had, or a part of simcord[preview] is missing.
    """
    bot = Marginalia(app)
    env = RealTimeEnv(bot, settle_timeout=app.settings.turn_timeout_s)
    async with AsyncExitStack() as stack:
        await env.start()
        stack.push_async_callback(env.shutdown)
        stack.push_async_callback(bot.close)
        assert bot.user is not None
        await bot.user.edit(username=NAME)
        guild = env.create_guild(GUILD)
        readers = [guild.add_member(env.create_user(name.lower(), global_name=name, avatar=name)) for name in READERS]
        thread = await _conversation(app, guild, readers[0], questions)
        env.settle_timeout = PATIENCE_S
        pictures = faces(bot.user, INK.value, zip(readers, READERS.keys(), READERS.values(), strict=True))
        try:
            page = await stack.enter_async_context(
                env.preview(thread, viewers=readers, layout="channel", port=port, assets=pictures)
            )
        except simcord.SetupError as error:
            advice = " Without --port, one that is free is taken." if port else ""
            raise SettingsError(f"The page cannot be shown: {error}.{advice}") from error
        showing = asyncio.create_task(_show_as_it_happens(bot, page))
        stack.callback(showing.cancel)
        yield page


async def _conversation(
    app: App, guild: simcord.GuildHandle, ann: simcord.MemberActor, questions: Iterable[str]
) -> simcord.ChannelHandle:
    """What Ann did before the page was opened. The bot may do there what its invitation asks for."""
    assert guild.me is not None
    as_invited = discord.PermissionOverwrite.from_pair(NEEDED, ~NEEDED)
    channel = guild.create_text_channel(CHANNEL, overwrites={guild.me: as_invited})
    added = await app.shelf.add(SAMPLE.read_bytes(), SAMPLE.name, shelf=str(guild.id), added_by=str(ann.id))
    await ann.slash(channel, "chat", book=added.book.id)
    [thread] = channel.threads
    await ann.slash(thread, "verbose", mode="on")
    for question in questions:
        await ann.send(thread, question)
    return thread


async def _show_as_it_happens(bot: Marginalia, page: Preview) -> None:
    """Let messages come and change while they are written: of itself the page shows how things are at the end.

    The public refresh() is refused while anything is done there, and makes the page refuse what is pressed next. The
    revision that a press has to name stays what it was.
    """
    changed = asyncio.Event()

    async def note(_: Any) -> None:
        changed.set()

    for event in ("on_message", "on_raw_message_edit", "on_raw_message_delete", "on_raw_thread_update"):
        bot.add_listener(note, event)
    while True:
        await changed.wait()
        await asyncio.sleep(SOON_S)
        changed.clear()
        for each in page._pages.values():  # noqa: SLF001
            each.revision -= 1
        page._publish_message_pages()  # noqa: SLF001

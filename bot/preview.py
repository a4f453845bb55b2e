"""The bot in a small Discord of its own, shown as a page in the browser: simcord's, for which nothing is patched here.

simcord is an extra of the project, and no module but the command `preview` imports this one.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import discord
import simcord
from PIL import Image, ImageDraw, ImageFont
from simcord.backend.cdn import CDN_BASE
from simcord.preview import Preview

from bot.app import SAMPLE, App
from bot.client import Marginalia
from cogs.cards import INK
from cogs.permissions import NEEDED
from domain.errors import SettingsError

NAME, GUILD, CHANNEL = "Marginalia", "Aldermouth Readers", "reading-room"
READERS = {"Ann": 0x2E7D5B, "Ben": 0xB0562C}
"""Who is there, and the colour of their pictures."""
FACE = 128
"""Pixels."""
REST_S = 30.0
"""Beyond the longest answer: how long the page waits for the bot to come to rest after what was done there."""


@asynccontextmanager
async def open_preview(app: App, questions: Iterable[str] = (), port: int = 0) -> AsyncIterator[Preview]:
    """The page, on a thread that Ann has opened on the sample novel, with these questions asked and answered.

    `app` is to be on folders that are only for this: the ids of a simulated Discord begin anew every time.

    Raises:
        SettingsError: the port cannot be had, or a part of simcord[preview] is missing.
    """
    bot, patience = Marginalia(app), app.settings.turn_timeout_s + REST_S
    async with simcord.run(bot, check_errors=False, settle_timeout=patience) as env:
        await env.advance_time(max(0.0, (datetime.now(UTC) - env.now()).total_seconds()))
        assert bot.user is not None
        await bot.user.edit(username=NAME)
        guild = env.create_guild(GUILD)
        readers = [guild.add_member(env.create_user(name.lower(), global_name=name, avatar=name)) for name in READERS]
        thread = await _conversation(app, guild, readers[0], questions)
        async with AsyncExitStack() as stack:
            try:
                page = await stack.enter_async_context(
                    env.preview(thread, viewers=readers, layout="channel", port=port, assets=_faces(bot, readers))
                )
            except simcord.SetupError as error:
                advice = " Without --port, one that is free is taken." if port else ""
                raise SettingsError(f"The page cannot be shown: {error}.{advice}") from error
            _show_as_it_happens(bot, page)
            yield page


async def _conversation(
    app: App, guild: simcord.GuildHandle, ann: simcord.MemberActor, questions: Iterable[str]
) -> simcord.ChannelHandle:
    """What Ann did before the page was opened: /chat, /verbose, and her questions."""
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


def _show_as_it_happens(bot: Marginalia, page: Preview) -> None:
    """Let messages come and change while they are written: of itself the page shows how things are at the end."""

    async def show(_: Any) -> None:
        page._publish_message_pages()  # noqa: SLF001 - what is public, refresh(), is refused while the bot works

    for event in ("on_message", "on_raw_message_edit", "on_raw_message_delete"):
        bot.add_listener(show, event)


def _faces(bot: Marginalia, readers: Iterable[simcord.MemberActor]) -> dict[str, tuple[str, bytes]]:
    """Pictures of everybody, under the addresses that simcord and discord.py give them."""
    assert bot.user is not None
    faces = {f"{CDN_BASE}/embed/avatars/{(bot.user.id >> 22) % 6}.png": _face(NAME, INK.value)}
    for reader, (name, colour) in zip(readers, READERS.items(), strict=True):
        face, address = _face(name, colour), f"avatars/{reader.id}/{name}.png"
        faces |= {f"{CDN_BASE}/{address}": face, f"{discord.Asset.BASE}/{address}?size=1024": face}
    return faces


def _face(name: str, colour: int) -> tuple[str, bytes]:
    image = Image.new("RGB", (FACE, FACE), f"#{colour:06x}")
    middle = (FACE / 2, FACE / 2)
    ImageDraw.Draw(image).text(middle, name[0], "white", ImageFont.load_default(FACE * 0.6), anchor="mm")
    file = BytesIO()
    image.save(file, "PNG")
    return f"{name}.png", file.getvalue()

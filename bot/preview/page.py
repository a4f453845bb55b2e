"""The preview's pages: a thread in which Ann talks with the bot about the sample novel, the channel, where a club may
be started, and each thread opened there.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from contextvars import Context
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import discord
import simcord
from aiohttp import web
from discord import Asset, Client, ClientUser
from PIL import Image, ImageDraw, ImageFont
from simcord import Env, MemberActor
from simcord._clock import Clock
from simcord.backend import Backend
from simcord.backend.access import can_access_channel
from simcord.backend.cdn import CDN_BASE
from simcord.backend.models import Message
from simcord.preview import Preview, make_preview

from bot.app import SAMPLE, App
from bot.client.client import Marginalia
from bot.private import OwnAddress
from cogs.cards import INK
from cogs.permissions import NEEDED
from domain.errors import SettingsError

SIZE = 128
"""Pixels."""

Picture = tuple[str, bytes]


def avatars(bot: ClientUser, colour: int, readers: Iterable[tuple[MemberActor, str, int]]) -> dict[str, Picture]:
    """Avatars by the addresses that simcord and discord.py give them; a reader's avatar has the reader's name."""
    found = {f"{CDN_BASE}/embed/avatars/{(bot.id >> 22) % 6}.png": _face(bot.name, colour)}
    for reader, name, its_colour in readers:
        face, address = _face(name, its_colour), f"avatars/{reader.id}/{name}.png"
        found |= {f"{CDN_BASE}/{address}": face, f"{Asset.BASE}/{address}?size=1024": face}
    return found


def _face(name: str, colour: int) -> Picture:
    image = Image.new("RGB", (SIZE, SIZE), f"#{colour:06x}")
    middle, letter = (SIZE / 2, SIZE / 2), ImageFont.load_default(SIZE * 0.6)
    ImageDraw.Draw(image).text(middle, name[0], "white", letter, anchor="mm")
    file = BytesIO()
    image.save(file, "PNG")
    return f"{name}.png", file.getvalue()


MONOTONIC = time.monotonic
"""The original function; simcord replaces it later."""


class RealClock(Clock):
    """`elapsed` counts from the same moment as the event loop's own clock."""

    def __init__(self) -> None:
        """There is nothing to store."""

    @property
    def elapsed(self) -> float:  # type: ignore[override]
        return MONOTONIC()

    def now(self) -> datetime:
        return datetime.now(UTC)


class JoinedThreads(Backend):
    """Somebody who writes in a thread is in it from then on, as on Discord; in simcord's own backend they are not."""

    def create_message(self, channel_id: int, author_id: int, *arguments: Any, **options: Any) -> Message:
        message = super().create_message(channel_id, author_id, *arguments, **options)
        if self.channels[channel_id].is_thread:
            self.add_thread_member(channel_id, author_id)
        return message


class RealTimeEnv(Env):
    """Waits for the bot after a person's action, for at most `settle_timeout` seconds."""

    def __init__(self, bot: Client, *, settle_timeout: float) -> None:
        self.pages: list[Preview] = []
        super().__init__(bot, check_errors=False, settle_timeout=settle_timeout)
        self.backend = JoinedThreads(clock=RealClock())

    @property
    def _preview(self) -> Preview | None:
        """The page on which the current task acts; simcord itself supports one page at a time."""
        task = asyncio.current_task()
        return next((page for page in self.pages if page._active_task is task), None)  # noqa: SLF001

    @_preview.setter
    def _preview(self, page: Preview | None) -> None:
        if page is not None:
            self.pages.append(page)

    async def _settle_internal(self, **options: Any) -> None:
        with suppress(TimeoutError):
            await super()._settle_internal(**options)

    def _schedule_timer(self, record: Any, callback: Any, args: tuple[Any, ...], context: Context | None) -> None:
        def ring() -> None:
            if record.handle is not None and not record.handle.cancelled():
                record.handle._run()  # noqa: SLF001 - as the loop does

        assert self._runtime is not None
        record.real_handle = self._runtime.call_at(record.when, ring, context=context)


NAME, GUILD, CHANNEL = "Marginalia", "Aldermouth Readers", "reading-room"
READERS = {"Ann": 0x2E7D5B, "Ben": 0xB0562C}
"""The readers, and the colours of their avatars."""
PATIENCE_S = 1.5
"""How long the page waits for the bot after each action before it allows the next one."""
SOON_S = 0.2
"""Drawing takes the bot's time, so changes in quick succession are drawn together."""


@asynccontextmanager
async def open_preview(
    app: App,
    questions: Iterable[str] = (),
    port: int = 0,
    announce: Callable[[str, str], None] = lambda name, url: None,
) -> AsyncIterator[Preview]:
    """Serve the pages, first that of a thread, in which these questions have been asked and answered.

    The pages of the channel and of each thread opened in it are announced with their names and addresses. `app` has to
    use folders for this purpose only, because the ids of a simulated Discord are not real ones.

    Raises:
        SettingsError: the port cannot be used, or a part of simcord[preview] is missing.
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
        may = discord.Permissions(create_private_threads=True, send_polls=True)
        role = guild.create_role("Readers", permissions=may)
        users = [env.create_user(name.lower(), global_name=name, avatar=name) for name in READERS]
        managers = guild.create_role("Managers", permissions=discord.Permissions(manage_guild=True))
        readers = [guild.add_member(user, roles=[role, managers][: 2 - number]) for number, user in enumerate(users)]
        thread = await _conversation(app, guild, readers[0], questions)
        env.settle_timeout = PATIENCE_S
        pictures = avatars(bot.user, INK.value, zip(readers, READERS.keys(), READERS.values(), strict=True))
        shelf = _Pages(env, bot, readers, pictures, stack)
        try:
            page = await shelf.serve(thread, readers, port)
            channel = await shelf.serve(guild.channels[CHANNEL], readers)
        except simcord.SetupError as error:
            advice = " Without --port, one that is free is taken." if port else ""
            raise SettingsError(f"The page cannot be shown: {error}.{advice}") from error
        following = asyncio.create_task(shelf.follow(channel, {thread.id: set(READERS)}, announce))
        stack.callback(following.cancel)
        yield page


class _Pages:
    """The pages of a simulated Discord, one for each place."""

    def __init__(
        self,
        env: RealTimeEnv,
        bot: Marginalia,
        readers: Sequence[MemberActor],
        pictures: dict[str, Picture],
        stack: AsyncExitStack,
    ) -> None:
        self._env = env
        self._bot = bot
        self._readers = readers
        self._pictures = pictures
        self._stack = stack

    async def serve(self, place: simcord.ChannelHandle, viewers: Sequence[MemberActor], port: int = 0) -> Preview:
        """Serve the page of a place, as these people see it.

        Raises:
            simcord.SetupError: the port cannot be used, or a part of simcord[preview] is missing.
        """
        page = make_preview(
            self._env,
            place,
            viewers=viewers,
            layout="channel",
            display="responsive",
            width=960,
            height=720,
            locale="en-US",
            timezone="UTC",
            presentation_time=None,
            assets=self._pictures,
            sku_presentations=None,
            port=port,
        )
        await self._stack.enter_async_context(page)
        _guard(page)
        showing = asyncio.create_task(_show_as_it_happens(self._bot, page))
        self._stack.callback(showing.cancel)
        return page

    async def follow(self, channel: Preview, shown: dict[int, set[str]], announce: Callable[[str, str], None]) -> None:
        """Serve each thread opened in a channel, and again when somebody is added; `shown` has who sees them."""
        await asyncio.sleep(SOON_S)
        announce(f"#{channel.channel.name}", channel.url)
        while True:
            await asyncio.sleep(SOON_S)
            for thread in channel.channel.threads:
                viewers = [
                    each for each in self._readers if can_access_channel(self._env, thread.id, each, history=True)
                ]
                names = {str(each.name) for each in viewers}
                if len(names) > len(shown.get(thread.id, ())):
                    shown[thread.id] = names
                    page = await self.serve(thread, viewers)
                    announce(f"{thread.name} ({', '.join(sorted(name.title() for name in names))})", page.url)


def _guard(page: Preview) -> None:
    """Refuse pages of other origins: simcord checks Host and Origin too, but accepts the origin "null"."""
    server = page._server  # noqa: SLF001
    address = OwnAddress("127.0.0.1", server.port or 0)
    answer = server.runner.server.request_handler

    async def guarded(request: web.BaseRequest) -> web.StreamResponse:
        headers = request.headers
        refused = address.refusal(headers.getall("Host", []), headers.getall("Origin", []))
        if refused is not None:
            return web.Response(status=refused.status, text=refused.reason)
        response: web.StreamResponse = await answer(request)
        return response

    server.runner.server.request_handler = guarded


async def _conversation(
    app: App, guild: simcord.GuildHandle, ann: simcord.MemberActor, questions: Iterable[str]
) -> simcord.ChannelHandle:
    """What Ann did before the page was opened. The bot has the permissions that its invitation asks for."""
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
    """Show messages while they are written: by itself, the page shows only the final state.

    The public refresh() is refused during an action and makes the page refuse the next press. The revision that a
    press has to name stays the same.
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

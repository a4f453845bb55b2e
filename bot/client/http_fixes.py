"""What discord.py's requests lack.

They are repeated after a broken connection, because a person waits. The channel in which something is about to be
posted is recorded first, and nothing is posted under a lease that may be lost.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any

import aiohttp
import discord
from discord.http import HTTPClient, Route
from discord.webhook.async_ import AsyncWebhookAdapter, async_context

from bot.client.command_sync import CommandLinks
from cogs.errors import DiscordCode
from cogs.services import is_guest
from domain.concurrency import ANSWERING, CURRENT_LEASE

logger = logging.getLogger(__name__)

BROKEN = (aiohttp.ClientConnectionError, ConnectionError)
WAITS_S = (0.05, 0.3)
"""Pauses before the second and third attempts. The second opens a new connection, if the old one was idle for too
long.
"""

LIBRARY_WAITS_S = 1.0

WINDOW_S = 1.0
"""Discord counts fifty requests per second. A request that comes too early meets the limit again, and all requests
pause again.
"""


AUTOCOMPLETE = discord.InteractionResponseType.autocomplete_result.value
DEFERRED = discord.InteractionResponseType.deferred_channel_message.value
EPHEMERAL = discord.MessageFlags(ephemeral=True).value

CURRENT_INTERACTION: ContextVar[discord.Interaction[Any] | None] = ContextVar("CURRENT_INTERACTION", default=None)
"""The interaction that the current task answers; None if it answers none."""

NotePlace = Callable[[str, str | None], Awaitable[None]]
"""Notes the channel, and its server if that is known, in which something is about to be posted."""

NoteReply = Callable[[discord.Interaction[Any], bool], Awaitable[None]]
"""Notes that somebody waits for the reply to an interaction, and whether only that person will see it."""


class LeaseLostError(ConnectionError):
    """This process must not post anything now: it was paused or cut off for so long that another one may have taken
    over.

    Code that posts answers handles it like a connection error: it retries later, if it is still allowed to.
    """


class RetryingAdapter(AsyncWebhookAdapter):
    """discord.py's adapter for answering interactions, with retries."""

    def __init__(self, links: CommandLinks, note_place: NotePlace, note_reply: NoteReply) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._links = links
        self._note_place = note_place
        self._note_reply = note_reply

    async def request(
        self, route: Route, session: aiohttp.ClientSession, *, files: Sequence[discord.File] | None = None, **parts: Any
    ) -> Any:
        """As in discord.py, but with three attempts; at worst a short private message appears twice."""
        waits, started = list(WAITS_S), time.monotonic()
        if interaction := CURRENT_INTERACTION.get():
            await self._note(interaction, parts.get("payload") or {})
        if isinstance(parts.get("payload"), dict):
            parts["payload"] = self._links.in_message(parts["payload"], _server_in_hand())
        while True:
            try:
                return await super().request(route, session, files=files, **parts)
            except BROKEN as fault:
                if not waits:
                    raise
                logger.info("an answer to an interaction is sent again: %r", fault)
            except discord.HTTPException as error:
                if error.code == DiscordCode.ALREADY_ACKNOWLEDGED and _tried_before(waits, started):
                    return {"interaction": {"id": route.webhook_id}}  # an earlier attempt had succeeded
                raise
            await asyncio.sleep(waits.pop(0))
            for file in files or ():
                file.reset()

    async def _note(self, interaction: discord.Interaction[Any], payload: dict[str, Any]) -> None:
        """Note where this is about to be posted, and, if it defers the reply, that somebody waits for it."""
        kind = payload.get("type")
        if kind != AUTOCOMPLETE and interaction.channel_id is not None and not is_guest(interaction):
            server = str(interaction.guild_id) if interaction.guild_id else None
            await self._note_place(str(interaction.channel_id), server)
        if kind == DEFERRED:
            flags = (payload.get("data") or {}).get("flags", 0)
            await self._note_reply(interaction, bool(flags & EPHEMERAL))


def _server_in_hand() -> int | None:
    """The server of the interaction that the current task answers; None if there is none."""
    interaction = CURRENT_INTERACTION.get()
    return interaction.guild_id if interaction else None


def _tried_before(waits: Sequence[float], started: float) -> bool:
    """Whether there was an earlier attempt, ours or one of discord.py's own after a server error; if another process
    has answered, the error comes at once.
    """
    return len(waits) < len(WAITS_S) or time.monotonic() - started > LIBRARY_WAITS_S


def use_retrying_adapter(links: CommandLinks, note_place: NotePlace, note_reply: NoteReply) -> None:
    """Make discord.py answer interactions with a RetryingAdapter, in this task and in all that it starts."""
    async_context.set(RetryingAdapter(links, note_place, note_reply))


def patch_requests(
    http: HTTPClient, links: CommandLinks, server_of: Callable[[Any], int | None], note_place: NotePlace
) -> None:
    """Patch a client's requests: post nothing under a lost lease, make commands clickable, record where something is
    about to be posted, and end a global pause even if the request that has met the rate limit is cancelled.
    """
    request = http.request

    async def patched(route: Route, **parts: Any) -> Any:
        lease = CURRENT_LEASE.get()
        if lease and ANSWERING.get() and route.method != "GET" and not lease.is_held():
            raise LeaseLostError("another process may be answering here")
        if isinstance(parts.get("json"), dict):
            parts["json"] = links.in_message(parts["json"], server_of(route.channel_id) or _server_in_hand())
        if route.channel_id and route.method in ("POST", "PATCH") and not route.path.endswith("/typing"):
            server = server_of(route.channel_id)
            await note_place(str(route.channel_id), str(server) if server else None)
        try:
            return await request(route, **parts)
        except asyncio.CancelledError:
            gate = http._global_over  # noqa: SLF001
            if not gate.is_set():
                asyncio.get_running_loop().call_later(WINDOW_S, gate.set)
            raise

    http.request = patched  # type: ignore[method-assign]

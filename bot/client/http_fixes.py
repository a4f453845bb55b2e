"""Retrying interaction responses after a broken connection: discord.py gives up at once, and a person waits."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import aiohttp
import discord
from discord.gateway import KeepAliveHandler
from discord.http import HTTPClient, Route
from discord.webhook.async_ import AsyncWebhookAdapter, async_context

from bot.client.command_sync import IN_SERVER, CommandLinks
from cogs.errors import ACKNOWLEDGED
from domain.leases import ANSWERING, CURRENT_LEASE

logger = logging.getLogger(__name__)

BROKEN = (aiohttp.ClientConnectionError, ConnectionError)
WAITS_S = (0.05, 0.3)
"""Pauses before the second and third attempts. The second opens a new connection, if the old one was idle for too
long.
"""

LIBRARY_WAITS_S = 1.0

WINDOW_S = 1.0
"""Discord counts fifty requests per second. A request that comes too early meets the limit again and closes the gate
again.
"""


class LeaseLostError(ConnectionError):
    """This process may not post anything now: it was stopped or cut off for so long that another one may have taken
    over.

    For code that posts answers, it is as if Discord could not be reached: it retries later, if it is still allowed to.
    """


class SteadyAdapter(AsyncWebhookAdapter):
    """The adapter by which discord.py answers interactions."""

    def __init__(self, links: CommandLinks) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._links = links

    async def request(
        self, route: Route, session: aiohttp.ClientSession, *, files: Sequence[discord.File] | None = None, **parts: Any
    ) -> Any:
        """As discord.py's own, with three attempts; at worst a small message to one person appears twice."""
        waits, started = list(WAITS_S), time.monotonic()
        if isinstance(parts.get("payload"), dict):
            parts["payload"] = self._links.in_message(parts["payload"], IN_SERVER.get())
        while True:
            try:
                return await super().request(route, session, files=files, **parts)
            except BROKEN as fault:
                if not waits:
                    raise
                logger.info("an answer to an interaction is sent again: %r", fault)
            except discord.HTTPException as error:
                if error.code == ACKNOWLEDGED and _tried_before(waits, started):  # an earlier attempt had succeeded
                    return {"interaction": {"id": route.webhook_id}}
                raise
            await asyncio.sleep(waits.pop(0))
            for file in files or ():
                file.reset()


def _tried_before(waits: Sequence[float], started: float) -> bool:
    """Whether we, or discord.py after a server error, have tried before; another bot's answer is reported at once."""
    return len(waits) < len(WAITS_S) or time.monotonic() - started > LIBRARY_WAITS_S


def keep_interactions_steady(links: CommandLinks) -> None:
    """Applies to everything that the current task does and starts from now on."""
    async_context.set(SteadyAdapter(links))


def keep_requests_going(http: HTTPClient, links: CommandLinks, server_of: Callable[[Any], int | None]) -> None:
    """Reopen this client's gate if a request is cancelled while it is closed; and make commands clickable."""
    request = http.request

    async def steady_request(route: Route, **parts: Any) -> Any:
        lease = CURRENT_LEASE.get()
        if lease and ANSWERING.get() and route.method != "GET" and not lease.is_held():
            raise LeaseLostError("another process may be answering here")
        if isinstance(parts.get("json"), dict):
            parts["json"] = links.in_message(parts["json"], server_of(route.channel_id) or IN_SERVER.get())
        try:
            return await request(route, **parts)
        except asyncio.CancelledError:
            gate = http._global_over  # noqa: SLF001
            if not gate.is_set():
                asyncio.get_running_loop().call_later(WINDOW_S, gate.set)
            raise

    http.request = steady_request  # type: ignore[method-assign]


def stop_heartbeats(bot: discord.Client) -> None:
    """Stop the heartbeat threads: a connection abandoned while it was being made leaves its own thread behind."""
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler) and thread.ws._connection is bot._connection:  # noqa: SLF001
            thread.stop()

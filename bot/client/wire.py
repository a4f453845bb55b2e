"""What discord.py's connections lack: retried requests, limited session starts, and sessions that others can resume.

Requests are repeated after a broken connection, because a person waits; the channel in which something is about to be
posted is recorded first. Session starts are limited, because Discord revokes the token of a bot with too many of them.
"""

import asyncio
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
from discord.gateway import KeepAliveHandler
from discord.http import HTTPClient, Route
from discord.webhook.async_ import AsyncWebhookAdapter, async_context

from bot.client.command_sync import CommandLinks
from bot.logs import NODE
from cogs.errors import DiscordCode
from cogs.services import is_guest
from domain.concurrency import ANSWERING, CURRENT_LEASE, HeldLease
from domain.ports import LeaseRepository

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


def stop_heartbeats(bot: discord.Client) -> None:
    """Stop the heartbeat threads: a connection that is abandoned while it is opened leaves its thread behind."""
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler) and thread.ws._connection is bot._connection:  # noqa: SLF001
            thread.stop()


AN_HOUR_S = 3600.0
AN_HOUR_AT_MOST = 40
"""Forty an hour are 960 a day."""
RESERVED_SESSIONS = 20
"""Session starts that are not used: Discord revokes the token of a bot that uses up its thousand a day."""
ASK_AGAIN_S = 0.25
LOOK_AGAIN_S = 60.0
IDENTIFY_S = 5.5
"""Discord lets one shard per bucket start a session every five seconds."""


class IdentifyLimit:
    """Limits the session starts of one client per hour, which slows down a loop of sessions that keep ending."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._starts: deque[float] = deque(maxlen=AN_HOUR_AT_MOST)

    def count(self) -> None:
        """Count a session start."""
        self._starts.append(self._now())

    def wait(self) -> float:
        """Seconds until the next session start is allowed."""
        if len(self._starts) < AN_HOUR_AT_MOST:
            return 0.0
        return max(0.0, self._starts[0] + AN_HOUR_S - self._now())


class SharedIdentifyLimit:
    """Limits the session starts of all nodes together, because they share a token; counted by the hour in the database.

    `buckets` of shards may ask for sessions side by side, and the token has `total` of them a day: both are Discord's
    own numbers, which change. All shards may start twice within an hour, whatever that takes of the day. The hours are
    those of the database's clock.
    """

    def __init__(self, leases: LeaseRepository, shards: int, now: Callable[[HeldLease], float] = HeldLease.now) -> None:
        self._leases = leases
        self._shards = shards
        self._now = now
        self.buckets = 1
        self.total = 1_000

    async def turn(self, shard: int) -> None:
        """Return when a shard may ask for a new session, which is counted. The nodes take turns."""
        bucket = shard % self.buckets
        while True:
            lease = await self._leases.acquire(f"identify/{bucket}", _asking(shard), IDENTIFY_S)
            if lease is None:
                await asyncio.sleep(ASK_AGAIN_S)
            elif await self._count(bucket, lease):
                return
            else:
                await self._leases.release(lease)
                logger.error("the session starts of this hour or day are used up, on all nodes together; waiting")
                await asyncio.sleep(LOOK_AGAIN_S)

    async def begin(self, shard: int) -> None:
        """Called when a shard whose turn it is asks for its session; from now on the next shard waits. If connecting
        took so long that the turn is over, wait for another.
        """
        if not await self._leases.renew(_asking(shard), IDENTIFY_S):
            await self.turn(shard)

    async def _count(self, bucket: int, lease: HeldLease) -> bool:
        """Count another start, if there may be one; only who holds the bucket's lease writes its hours."""
        hour = int(self._now(lease) // AN_HOUR_S)
        notes = [await self._leases.get_note(f"identified/{number}") for number in range(self.buckets)]
        counted = [{int(at): count for at, count in json.loads(note or "{}").items()} for note in notes]
        of_a_day = [{at: count for at, count in each.items() if hour - 24 < at <= hour} for each in counted]
        in_this_hour = sum(each.get(hour, 0) for each in of_a_day)
        in_this_day = sum(sum(each.values()) for each in of_a_day)
        an_hour_at_most = max(self.total * AN_HOUR_AT_MOST // 1_000, 2 * self._shards)
        if in_this_hour >= an_hour_at_most or in_this_day >= self.total - RESERVED_SESSIONS:
            return False
        mine = of_a_day[bucket]
        mine[hour] = mine.get(hour, 0) + 1
        await self._leases.set_note(f"identified/{bucket}", json.dumps(mine))
        return True


def _asking(shard: int) -> str:
    return f"{NODE} shard {shard}"


@dataclass(frozen=True, slots=True)
class GatewaySession:
    """A session at the gateway that another process can resume. Discord then sends it the events it has missed.

    `sequence` is the number of the last event that was handled, `gateway` the address to resume at. `guilds` are the
    servers in the form of GUILD_CREATE, which Discord does not send again. `interactions` are the ids of those that
    were answered or turned away; None if they are unknown, because the process was killed.
    """

    id: str
    sequence: int
    gateway: str
    interactions: tuple[int, ...] | None = ()
    guilds: tuple[dict[str, Any], ...] = ()


class CannotResumeError(Exception):
    """The session cannot be resumed, and a new one has to wait for its turn."""

"""Sessions at Discord's gateway: how many may start, and how another process resumes one.

Session starts are limited, because Discord revokes the token of a bot with too many of them. A session is stored beside
the lease of its shard, so that the next holder of the shard resumes it, and Discord sends what has happened since.
"""

import asyncio
import base64
import json
import logging
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import discord
from discord.gateway import KeepAliveHandler

from bot.logs import NODE
from domain.concurrency import HeldLease
from domain.errors import MarginaliaError
from domain.ports import LeaseRepository

logger = logging.getLogger(__name__)

AN_HOUR_S = 3600.0
AN_HOUR_AT_MOST = 40
"""Forty an hour are 960 a day."""
RESERVED_SESSIONS = 20
"""Session starts that are not used: Discord revokes the token of a bot that uses up its thousand a day."""
ASK_AGAIN_S = 0.25
"""How often a shard asks whether it is its turn to start a session."""
LOOK_AGAIN_S = 60.0
"""How often a shard looks whether the session starts of an earlier hour no longer count."""
IDENTIFY_S = 5.5
"""Discord lets one shard per bucket start a session every five seconds."""
SESSION_KEPT_S = 120.0
"""How long another process tries to resume a session; Discord ends it after some minutes."""
KEEP_S = 5.0
"""How often the last handled event is noted; the next renewal of the lease stores the note."""
KEEP_GUILDS_S = 120.0
"""The shortest interval between two times that changed servers are stored: a thousand take a megabyte or two."""
NEXT_LOOK_S = 1.0
"""How often to look for a session while there is none."""
GUILDS = "guilds/"
"""How the names of the notes begin that hold the servers of a session."""


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


class ResumableClient(Protocol):
    """The client whose session is stored: `Marginalia`, which imports this module."""

    @property
    def guilds(self) -> Sequence[discord.Guild]: ...

    def add_listener(self, listener: Callable[..., Coroutine[Any, Any, Any]], /, name: str) -> None: ...

    def session(self) -> GatewaySession | None: ...

    async def leave_session(self) -> GatewaySession | None: ...


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_SLOWED = {"rate_limit_per_user": "slowmode_delay", "flags": "_flags"}
_CHANNEL = _same("id", "name", "position", "nsfw", "topic", "default_auto_archive_duration", "last_message_id")
_CHANNEL |= _same("bitrate", "user_limit") | {"parent_id": "category_id"} | _SLOWED
_THREAD = _same("id", "name", "parent_id", "message_count", "member_count", "last_message_id") | _SLOWED
_ROLE = _same("id", "name", "position", "managed", "mentionable", "hoist") | {"flags": "_flags"}
_GUILD = _same("id", "name", "owner_id", "features", "premium_tier") | {
    "system_channel_id": "_system_channel_id",
    "rules_channel_id": "_rules_channel_id",
    "member_count": "_member_count",
}
"""The fields of channels, threads, roles and servers: their names in GUILD_CREATE, and in discord.py."""


def guild_payload(guild: discord.Guild) -> dict[str, Any]:
    """A server as in Discord's GUILD_CREATE event, with the fields that the bot needs."""
    if guild.unavailable:
        return {"id": guild.id, "unavailable": True}
    return _fields(guild, _GUILD) | {
        "unavailable": False,
        "preferred_locale": guild.preferred_locale.value,
        "roles": [_role(role) for role in guild.roles],
        "channels": [_channel(channel) for channel in guild.channels],
        "threads": [_thread(thread) for thread in guild.threads],
        "members": [_member(guild.me)] if guild.me else [],
    }


def _fields(thing: object, names: dict[str, str]) -> dict[str, Any]:
    found = ((key, getattr(thing, name, None)) for key, name in names.items())
    return {key: value for key, value in found if value is not None}


def _role(role: discord.Role) -> dict[str, Any]:
    tags = {"tags": {"bot_id": role.tags.bot_id}} if role.tags and role.tags.bot_id else {}
    return _fields(role, _ROLE) | {"permissions": str(role.permissions.value)} | tags


def _channel(channel: discord.abc.GuildChannel) -> dict[str, Any]:
    overwrites = [each._asdict() for each in channel._overwrites]  # noqa: SLF001
    return _fields(channel, _CHANNEL) | {"type": channel.type.value, "permission_overwrites": overwrites}


def _thread(thread: discord.Thread) -> dict[str, Any]:
    metadata = {
        "archived": thread.archived,
        "auto_archive_duration": thread.auto_archive_duration,
        "archive_timestamp": thread.archive_timestamp.isoformat(),
        "locked": thread.locked,
        "invitable": thread.invitable,
        "create_timestamp": thread.created_at.isoformat() if thread.created_at else None,
    }
    is_ours = thread.guild.me is not None and thread.owner_id == thread.guild.me.id
    owner = {"owner_id": thread.owner_id if is_ours else 0}  # who else has opened it is not needed, and not stored
    told = _fields(thread, _THREAD) | owner | {"type": thread.type.value, "thread_metadata": metadata}
    if thread.me:
        told["member"] = {"join_timestamp": thread.me.joined_at.isoformat(), "flags": thread.me.flags}
    return told


def _member(member: discord.Member) -> dict[str, Any]:
    return {
        "user": {
            "id": member.id,
            "username": member.name,
            "discriminator": member.discriminator,
            "global_name": member.global_name,
            "avatar": None,
            "bot": member.bot,
        },
        "roles": [role.id for role in member.roles if not role.is_default()],
        "nick": member.nick,
        "joined_at": member.joined_at.isoformat() if member.joined_at else None,
        "communication_disabled_until": member.timed_out_until.isoformat() if member.timed_out_until else None,
        "flags": member.flags.value,
    }


_CHANGES = (
    "guild_join", "guild_available", "guild_unavailable", "guild_remove", "guild_update", "guild_role_create",
    "guild_role_update", "guild_role_delete", "guild_channel_create", "guild_channel_update", "guild_channel_delete",
    "thread_create", "thread_join", "thread_update", "thread_remove", "thread_delete", "member_update",
)  # fmt: skip
"""The events that change what is stored of a server."""


class SessionNotes:
    """Stores in the database what the next holder of a shard needs to resume its session, even after a kill.

    The note of the shard's lease holds the session and its last handled event. The servers are in a note of their own,
    because they are larger and seldom change. While they have changes that are not stored yet, the last handled event
    stays where it was when they were stored, so that Discord sends the changes again.
    """

    def __init__(self, leases: LeaseRepository, lease: HeldLease, shard: int, count: int) -> None:
        self._leases = leases
        self._lease = lease
        self._count = count
        self._name = f"{GUILDS}{shard}/{count}"
        self._stored: GatewaySession | None = None
        self._stored_at = 0.0
        self._changed = True
        self._packed: dict[int, str] = {}

    def watch(self, bot: ResumableClient) -> None:
        """Follow the changes of a client's servers."""
        for event in _CHANGES:
            bot.add_listener(self._note_change, f"on_{event}")

    async def _note_change(self, *told: Any) -> None:
        self._changed = True
        self._packed.pop(getattr(told[-1], "guild", told[-1]).id, None)

    async def _pack(self, guilds: Iterable[discord.Guild]) -> str:
        """All servers, one a line. Unchanged ones are not packed again: each takes about a millisecond."""
        lines = []
        for guild in guilds:
            line = self._packed.get(guild.id)
            if line is None:
                packed = zlib.compress(json.dumps(guild_payload(guild)).encode())
                line = self._packed[guild.id] = base64.b85encode(packed).decode()
                await asyncio.sleep(0)
            lines.append(line)
        return "\n".join(lines)

    async def take(self) -> GatewaySession | None:
        """The session of the last holder; None if there is none that can still be resumed."""
        if not self._lease.note:
            return None
        try:
            at, count, session_id, sequence, gateway, known = json.loads(self._lease.note)
            note = await self._leases.get_note(self._name)
            if count != self._count or abs(self._lease.now() - at) > SESSION_KEPT_S or not note:
                return None
            known = None if known is None else tuple(known)
            return GatewaySession(session_id, sequence, gateway, known, await asyncio.to_thread(_unpacked, note))
        except (ValueError, TypeError, zlib.error) as error:  # perhaps another version of the program has written it
            logger.warning("the stored session of a shard cannot be read: %r", error)
            return None

    async def keep(self, bot: Callable[[], ResumableClient | None]) -> None:
        """Note the last handled event of the current client's session every few seconds, until cancelled.

        The event noted is that of the previous round, because later ones may still be in progress.
        """
        before: GatewaySession | None = None
        while True:
            client = bot()
            now = client.session() if client else None
            if client and now:
                await self._keep_guilds(client, now)
                self._note(before if before and before.id == now.id else now)
            before = now
            await asyncio.sleep(KEEP_S if now else NEXT_LOOK_S)

    async def _keep_guilds(self, bot: ResumableClient, now: GatewaySession) -> None:
        is_new = self._stored is None or self._stored.id != now.id
        if is_new or (self._changed and time.monotonic() - self._stored_at >= KEEP_GUILDS_S):
            self._changed, self._stored_at = False, time.monotonic()
            try:
                await self._leases.set_note(self._name, await self._pack(tuple(bot.guilds)), self._lease)
                self._stored = now
            except MarginaliaError as error:
                self._changed = True
                logger.warning("the servers of a shard could not be stored: %s", error)

    def _note(self, session: GatewaySession) -> None:
        if self._stored is None or self._stored.id != session.id:
            return
        reached = min(session.sequence, self._stored.sequence) if self._changed else session.sequence
        known = session.interactions
        self._lease.note = json.dumps([self._lease.now(), self._count, session.id, reached, session.gateway, known])

    async def leave(self, bot: ResumableClient) -> None:
        """Store the bot's session for the next holder of the lease, unless there is one already."""
        session = await bot.leave_session()
        if session is None or not self._lease.is_held():
            return
        try:
            await self._leases.set_note(self._name, await self._pack(tuple(bot.guilds)), self._lease)
            self._stored, self._changed = session, False
            self._note(session)
        except MarginaliaError as error:
            logger.warning("the session of a shard could not be left to another node: %s", error)


def _unpacked(note: str) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(zlib.decompress(base64.b85decode(line))) for line in note.splitlines())


def stop_heartbeats(bot: discord.Client) -> None:
    """Stop the heartbeat threads: a connection that is abandoned while it is opened leaves its thread behind."""
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler) and thread.ws._connection is bot._connection:  # noqa: SLF001
            thread.stop()

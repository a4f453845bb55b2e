"""Shards by lease: every node serves an equal share of them, and takes over those of nodes that disappear."""

import asyncio
import base64
import json
import logging
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import discord

from bot.app import App
from bot.client.client import GatewaySession, Marginalia
from bot.client.connection import DISCORD_ERRORS, TOKEN_REFUSED, stay_online
from bot.logs import NODE, SHARD, HealthFile
from domain.errors import MarginaliaError, SettingsError
from domain.leases import CURRENT_LEASE, MARGIN_S, HeldLease
from domain.ports import LeaseRepository
from domain.tasks import to_the_end

if TYPE_CHECKING:
    from bot.metrics import Metrics

logger = logging.getLogger(__name__)

LEASE_S = 20.0
RENEW_S = 5.0
LOOK_S = 1.0
"""How often a node looks for free shards."""

_SHARD, _NODE = "shard/", "node/"
_COUNT = "shard count"


class ShardKeeper:
    """Holds an equal share of the shards. `serve` runs one shard until it is cancelled, and then shuts it down."""

    def __init__(
        self, leases: LeaseRepository, count: int, serve: Callable[[int], Awaitable[None]], *, node: str = NODE
    ) -> None:
        self._leases = leases
        self._count = count
        self._serve = serve
        self._node = node
        self._presence: HeldLease | None = None
        self._held: dict[int, tuple[HeldLease, asyncio.Task[None]]] = {}
        self._renewed_at = 0.0

    @property
    def held(self) -> list[int]:
        """The shards served by this node."""
        return sorted(self._held)

    async def run(self) -> None:
        """Serve shards until cancelled, then release them.

        Raises:
            SettingsError: a shard ended with an error that waiting does not fix.
        """
        try:
            while True:
                try:
                    await self._look()
                except MarginaliaError as error:  # keep what is held: nobody else can take it now either
                    logger.error("the leases cannot be looked at: %s", error)
                await asyncio.wait(self._tasks() or [asyncio.create_task(asyncio.sleep(LOOK_S))], timeout=LOOK_S)
                self._see_failures()
        finally:
            await to_the_end(self._hand_back())

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [task for _, task in self._held.values()]

    async def _look(self) -> None:
        if time.monotonic() - self._renewed_at >= RENEW_S:
            await self._renew()
        nodes = sorted(name.removeprefix(_NODE) for name in await self._leases.list_held(_NODE))
        share = self._share(nodes)
        for shard in self.held[share:]:
            self._held[shard][1].cancel()  # released once it has shut down
        if len(self._held) < share:
            await self._take(share, nodes)

    async def _renew(self) -> None:
        asked = time.monotonic()
        renewed = set(await self._leases.renew(self._node, LEASE_S))
        self._renewed_at = asked
        if self._presence is None or (self._presence.name, self._presence.epoch) not in renewed:
            self._presence = await self._leases.acquire(f"{_NODE}{self._node}", self._node, LEASE_S)
        lost = []
        for shard, (lease, task) in self._held.items():
            if (lease.name, lease.epoch) in renewed:
                lease.valid_until = asked + LEASE_S - MARGIN_S
            else:
                logger.warning("shard %d has another holder by now", shard)
                lease.valid_until = asked
                task.cancel()
                lost.append(task)
        if lost:
            await asyncio.wait(lost)

    def _share(self, nodes: list[str]) -> int:
        if self._node not in nodes:
            return 0
        even, left = divmod(self._count, len(nodes))
        return even + (nodes.index(self._node) < left)

    async def _take(self, share: int, nodes: list[str]) -> None:
        taken = await self._leases.list_held(_SHARD)
        for shard in _spread(self._count, nodes.index(self._node), len(nodes)):
            if len(self._held) >= share:
                return
            if f"{_SHARD}{shard}" in taken or shard in self._held:
                continue
            if lease := await self._leases.acquire(f"{_SHARD}{shard}", self._node, LEASE_S):
                logger.info("shard %d is served here from now on (epoch %d)", shard, lease.epoch)
                self._held[shard] = lease, asyncio.create_task(self._hold(shard, lease), name=f"shard {shard}")

    async def _hold(self, shard: int, lease: HeldLease) -> None:
        CURRENT_LEASE.set(lease)
        SHARD.set(shard)
        try:
            await self._serve(shard)
        finally:
            with suppress(MarginaliaError):  # it expires in twenty seconds
                await to_the_end(self._leases.release(lease))

    def _see_failures(self) -> None:
        for shard, (_, task) in list(self._held.items()):
            if task.done():
                del self._held[shard]
                if task.cancelled():
                    continue
                error = task.exception()
                if isinstance(error, SettingsError):
                    raise error
                if error is not None:
                    logger.error("shard %d ended", shard, exc_info=error)

    async def _hand_back(self) -> None:
        tasks = self._tasks()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._held.clear()
        if self._presence is not None:
            with suppress(MarginaliaError):
                await self._leases.release(self._presence)


def _spread(count: int, index: int, nodes: int) -> Iterable[int]:
    """All shards, starting at a different one on each node, so that nodes that start together try different ones."""
    return sorted(range(count), key=lambda shard: (shard - index) % nodes)


async def agree_on_count(leases: LeaseRepository, wanted: int) -> int:
    """The number of shards for all nodes: what running nodes use, or else `wanted`."""
    noted = await leases.get_note(_COUNT)
    if noted and await leases.list_held(_NODE):
        if int(noted) != wanted:
            logger.warning("the nodes that run use %s shards, so this one does too; stop all to use %d", noted, wanted)
        return int(noted)
    await leases.set_note(_COUNT, str(wanted))
    return wanted


SESSION_KEPT_S = 120.0
"""How long a session that was left is tried to be gone on with; Discord ends it after some minutes."""

_CHANNEL = {
    "id": "id",
    "name": "name",
    "position": "position",
    "parent_id": "category_id",
    "nsfw": "nsfw",
    "topic": "topic",
    "rate_limit_per_user": "slowmode_delay",
    "default_auto_archive_duration": "default_auto_archive_duration",
    "last_message_id": "last_message_id",
    "bitrate": "bitrate",
    "user_limit": "user_limit",
    "flags": "_flags",
}
_THREAD = {
    "id": "id",
    "name": "name",
    "parent_id": "parent_id",
    "owner_id": "owner_id",
    "message_count": "message_count",
    "member_count": "member_count",
    "rate_limit_per_user": "slowmode_delay",
    "last_message_id": "last_message_id",
    "flags": "_flags",
}
_ROLE = {
    "id": "id",
    "name": "name",
    "position": "position",
    "managed": "managed",
    "mentionable": "mentionable",
    "hoist": "hoist",
    "flags": "_flags",
}
_GUILD = {
    "id": "id",
    "name": "name",
    "owner_id": "owner_id",
    "features": "features",
    "premium_tier": "premium_tier",
    "member_count": "_member_count",
    "system_channel_id": "_system_channel_id",
    "rules_channel_id": "_rules_channel_id",
}
"""What GUILD_CREATE calls the fields of channels, threads, roles and guilds, and what the library does."""


def guild_payload(guild: discord.Guild) -> dict[str, Any]:
    """A guild as GUILD_CREATE would tell of it now: what the bot has use for."""
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
    told = _fields(thread, _THREAD) | {"type": thread.type.value, "thread_metadata": metadata}
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


async def leave_session(leases: LeaseRepository, name: str, bot: Marginalia) -> None:
    """Leave the bot's session at the gateway to the next holder of its shard, unless there is one already."""
    lease = CURRENT_LEASE.get()
    session = await bot.leave_session()
    if session is None or lease is None or not lease.is_held():
        return
    guilds = tuple(bot.guilds)
    try:
        await leases.set_note(name, await asyncio.to_thread(_packed, session, guilds))
    except MarginaliaError as error:
        logger.warning("the session of a shard could not be left to another node: %s", error)


async def take_session(leases: LeaseRepository, name: str) -> GatewaySession | None:
    """Take the session that the last holder of a shard has left, which nobody else can take then."""
    note = await leases.get_note(name)
    if not note:
        return None
    await leases.set_note(name, "")
    try:
        return await asyncio.to_thread(_unpacked, note)
    except (ValueError, TypeError, zlib.error) as error:  # it was left by another version, maybe
        logger.warning("a session that was left cannot be read: %r", error)
        return None


def _packed(session: GatewaySession, guilds: Iterable[discord.Guild]) -> str:
    told = [guild_payload(guild) for guild in guilds]
    kept = [time.time(), session.id, session.sequence, session.gateway, session.interactions, told]
    return base64.b85encode(zlib.compress(json.dumps(kept).encode())).decode()


def _unpacked(note: str) -> GatewaySession | None:
    left_at, session_id, sequence, gateway, interactions, guilds = json.loads(zlib.decompress(base64.b85decode(note)))
    if abs(time.time() - left_at) > SESSION_KEPT_S:
        return None
    return GatewaySession(session_id, sequence, gateway, tuple(interactions), tuple(guilds))


async def serve_shards(
    app: App, make_bot: Callable[..., Marginalia], token: str, health: HealthFile, metrics: "Metrics | None"
) -> None:
    """Serve this node's share of the shards until cancelled. Work that is needed once per bot belongs to the first
    shard.

    Raises:
        SettingsError: an error that waiting does not fix.
    """
    leases = app.storage.leases
    assert leases is not None
    count = await agree_on_count(leases, app.settings.shard_count or await _advised_count(token))
    bots: dict[int, Marginalia] = {}
    sessions: dict[int, GatewaySession] = {}

    def make(shard: int, *, reads_messages: bool) -> Marginalia:
        bots[shard] = make_bot(reads_messages=reads_messages, shard_id=shard, shard_count=count)
        bots[shard].taken_over = sessions.pop(shard, None)
        return bots[shard]

    async def serve(shard: int) -> None:
        duties = [asyncio.create_task(app.housekeeping.keep_house(), name="housekeeping")] if shard == 0 else []
        name = f"session/{shard}/{count}"
        if session := await take_session(leases, name):
            sessions[shard] = session
        try:
            await stay_online(partial(make, shard), token, leave=partial(leave_session, leases, name))
        finally:
            bots.pop(shard, None)
            for duty in duties:
                duty.cancel()
            await asyncio.gather(*duties, return_exceptions=True)

    async def is_well() -> bool:
        if bots:
            return all([await bot.is_well() for bot in bots.values()])
        with suppress(MarginaliaError):
            await app.storage.ping()
            return True
        return False

    keeper = ShardKeeper(leases, count, serve)
    if metrics is not None:
        metrics.watch_shards(lambda: len(keeper.held))
    watching = asyncio.create_task(health.keep(is_well), name="health file")
    try:
        await keeper.run()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _advised_count(token: str) -> int:
    """The number of shards that Discord recommends.

    Raises:
        SettingsError: the token is refused.
    """
    while True:
        try:
            async with discord.Client(intents=discord.Intents.none()) as client:
                await client.login(token)
                count, _, _ = await client.http.get_bot_gateway()
                return count
        except discord.LoginFailure as error:
            raise SettingsError(TOKEN_REFUSED) from error
        except DISCORD_ERRORS as error:
            logger.warning("Discord cannot be asked how many shards it advises (%s); again in 5 s", error)
            await asyncio.sleep(5.0)

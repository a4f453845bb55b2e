"""Shards by lease: every node serves an equal share of the shards, and takes over those of nodes that disappear."""

import asyncio
import base64
import json
import logging
import math
import time
import zlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import discord

from bot.app import App
from bot.client.client import Marginalia
from bot.client.connection import advised_shards, stay_online
from bot.client.wire import GatewaySession
from bot.logs import NODE, SHARD, HealthFile
from domain.concurrency import CURRENT_LEASE, MARGIN_S, NODES, HeldLease, to_the_end
from domain.errors import MarginaliaError, SettingsError
from domain.ports import LeaseRepository

if TYPE_CHECKING:
    from bot.metrics import Metrics

logger = logging.getLogger(__name__)

LEASE_S = 9.0
"""If Discord has ended the sessions of a dead node's four shards, the last begins 17 s later: within half a minute."""
RENEW_S = 2.0
LOOK_S = 1.0  # how often a node looks for free shards
END_AGAIN_S = 8.0
"""When a shard is told again to shut down: it takes some seconds to finish what people wait for."""
GAP_S = LEASE_S - RENEW_S - 2 * LOOK_S
"""If a node got no answer from the database for so long, others may have got none either, and their leases may have
expired.
"""
SETTLING_S = 8.0
"""How long a node doesn't take such leases once it gets answers again, so that their holders can renew them."""
ABANDONED_S = 3_600.0  # a lease that expired longer ago is not waited for

_SHARDS = "shard/"
_COUNT, _GUILDS = "shard count", "guilds/"


class ShardKeeper:
    """Holds an equal share of the shards. `serve` runs one shard until it is cancelled, and then shuts it down.
    `recovered` is called when the database answers again after an outage.
    """

    def __init__(
        self,
        leases: LeaseRepository,
        count: int,
        serve: Callable[[int], Awaitable[None]],
        recovered: Callable[[], None],
        *,
        node: str = NODE,
    ) -> None:
        self._leases = leases
        self._count = count
        self._serve = serve
        self._recovered = recovered
        self._node = node
        self.is_database_away = False
        self._presence: HeldLease | None = None
        self._held: dict[int, tuple[HeldLease, asyncio.Task[None]]] = {}
        self._ending: dict[int, float] = {}
        self._renewed_at = self._answered_at = self._settled_at = -math.inf

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
                await self._look_if_possible()
                await asyncio.wait(self._tasks() or [asyncio.create_task(asyncio.sleep(LOOK_S))], timeout=LOOK_S)
                self._see_failures()
        finally:
            await to_the_end(self._hand_back())

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [task for _, task in self._held.values()]

    async def _look_if_possible(self) -> None:
        try:
            await self._look()
        except MarginaliaError as error:  # keep what is held: nobody else can take it now either
            logger.error("the leases cannot be looked at: %s", error)
            self.is_database_away = True
            return
        if self.is_database_away:
            self.is_database_away = False
            self._recovered()

    async def _look(self) -> None:
        await self._renew()
        nodes = sorted(name.removeprefix(NODES) for name in await self._leases.list_held(NODES))
        self._note_answer()
        share = self._share(nodes)
        staying = [shard for shard in self.held if shard not in self._ending]
        for shard in (*staying[share:], *self._ending):
            self._end(shard)
        if len(self._held) < share:
            await self._take(share, nodes)

    def _note_answer(self) -> None:
        now = time.monotonic()
        if now - self._answered_at > GAP_S:
            self._settled_at = now + SETTLING_S
        self._answered_at = now

    async def _renew(self) -> None:
        asked = time.monotonic()
        if asked - self._renewed_at < RENEW_S:
            return
        notes = {lease.name: lease.note for lease, _ in self._held.values()} | {f"{NODES}{self._node}": ""}
        renewed = set(await self._leases.renew(self._node, LEASE_S, notes))
        self._renewed_at = asked
        if self._presence is None or (self._presence.name, self._presence.epoch) not in renewed:
            self._presence = await self._leases.acquire(f"{NODES}{self._node}", self._node, LEASE_S)
        for shard, (lease, _) in self._held.items():
            if (lease.name, lease.epoch) in renewed:
                lease.valid_until = asked + LEASE_S - MARGIN_S
            elif shard not in self._ending:
                logger.warning("shard %d has another holder by now", shard)
                lease.valid_until = asked
                self._end(shard)

    def _end(self, shard: int) -> None:
        """Have a shard shut down; it is released then. A cancellation can get lost in libraries, so it is repeated."""
        now = time.monotonic()
        if now - self._ending.get(shard, -math.inf) >= END_AGAIN_S:
            self._ending[shard] = now
            self._held[shard][1].cancel()

    def _share(self, nodes: list[str]) -> int:
        if self._node not in nodes:
            return 0
        even, left = divmod(self._count, len(nodes))
        return even + (nodes.index(self._node) < left)

    async def _take(self, share: int, nodes: list[str]) -> None:
        is_settled = time.monotonic() >= self._settled_at
        taken = await self._leases.list_held(_SHARDS, 0.0 if is_settled else ABANDONED_S)
        for shard in _spread(self._count, nodes.index(self._node), len(nodes)):
            if len(self._held) >= share:
                return
            if f"{_SHARDS}{shard}" in taken or shard in self._held:
                continue
            if lease := await self._leases.acquire(f"{_SHARDS}{shard}", self._node, LEASE_S):
                logger.info("shard %d is served here from now on (epoch %d)", shard, lease.epoch)
                self._held[shard] = lease, asyncio.create_task(self._hold(shard, lease), name=f"shard {shard}")

    async def _hold(self, shard: int, lease: HeldLease) -> None:
        CURRENT_LEASE.set(lease)
        SHARD.set(shard)
        try:
            await self._serve(shard)
        finally:
            with suppress(MarginaliaError):  # or else it expires
                await to_the_end(self._leases.release(lease))

    def _see_failures(self) -> None:
        for shard, (_, task) in list(self._held.items()):
            if task.done():
                del self._held[shard]
                self._ending.pop(shard, None)
                if task.cancelled():
                    continue
                error = task.exception()
                if isinstance(error, SettingsError):
                    raise error
                if error is not None:
                    logger.error("shard %d ended", shard, exc_info=error)

    async def _hand_back(self) -> None:
        while running := [task for task in self._tasks() if not task.done()]:
            for shard in self.held:
                self._end(shard)
            with suppress(MarginaliaError):
                await self._renew()
            await asyncio.wait(running, timeout=LOOK_S)
        self._held.clear()
        if self._presence is not None:
            with suppress(MarginaliaError):
                await self._leases.release(self._presence)


def _spread(count: int, index: int, nodes: int) -> Iterable[int]:
    """All shards, starting at a different one on each node, so that nodes that start together try different ones."""
    return sorted(range(count), key=lambda shard: (shard - index) % nodes)


async def agree_on_count(leases: LeaseRepository, wanted: int) -> int:
    """The number of shards for all nodes: what running nodes use, or else `wanted`. Sessions for another number
    are deleted.
    """
    await leases.clear(NODES)
    noted = await leases.get_note(_COUNT)
    if noted and await leases.list_held(NODES, SESSION_KEPT_S):  # they may have been cut off from the database
        if int(noted) != wanted:
            logger.warning("the nodes that run use %s shards, so this one does too; stop all to use %d", noted, wanted)
        return int(noted)
    if noted != str(wanted):
        await leases.clear(_GUILDS)
        await leases.set_note(_COUNT, str(wanted))
    return wanted


SESSION_KEPT_S = 120.0
"""How long another process tries to resume a session; Discord ends it after some minutes."""
KEEP_S = 5.0
"""How often the last handled event is noted; the next renewal of the lease stores the note."""
KEEP_GUILDS_S = 120.0
"""The shortest interval between two times that changed servers are stored: a thousand take a megabyte or two."""


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_SLOWED = {"rate_limit_per_user": "slowmode_delay", "flags": "_flags"}
_CHANNEL = _same("id", "name", "position", "nsfw", "topic", "default_auto_archive_duration", "last_message_id")
_CHANNEL |= _same("bitrate", "user_limit") | {"parent_id": "category_id"} | _SLOWED
_THREAD = _same("id", "name", "parent_id", "message_count", "member_count", "last_message_id") | _SLOWED
_ROLE = _same("id", "name", "position", "managed", "mentionable", "hoist") | {"flags": "_flags"}
_GUILD = _same("id", "name", "owner_id", "features", "premium_tier") | {
    f"{name}_id": f"_{name}_id" for name in ("system_channel", "rules_channel")
} | {"member_count": "_member_count"}  # fmt: skip
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
        self._name = f"{_GUILDS}{shard}/{count}"
        self._stored: GatewaySession | None = None
        self._stored_at = 0.0
        self._changed = True
        self._packed: dict[int, str] = {}

    def watch(self, bot: Marginalia) -> None:
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

    async def keep(self, bot: Callable[[], Marginalia | None]) -> None:
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
            await asyncio.sleep(KEEP_S if now else LOOK_S)

    async def _keep_guilds(self, bot: Marginalia, now: GatewaySession) -> None:
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

    async def leave(self, bot: Marginalia) -> None:
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


async def serve_shards(
    app: App, make_bot: Callable[..., Marginalia], token: str, health: HealthFile, metrics: "Metrics | None"
) -> None:
    """Serve this node's share of the shards until cancelled. Work that is done once for all belongs to the first shard.

    Raises:
        SettingsError: an error that waiting does not fix.
    """
    leases = app.storage.leases
    assert leases is not None
    count = await agree_on_count(leases, app.settings.shard_count or await advised_shards(token))
    bots: dict[int, Marginalia] = {}
    sessions: dict[int, GatewaySession] = {}

    def make(shard: int, notes: SessionNotes, *, reads_messages: bool) -> Marginalia:
        bot = bots[shard] = make_bot(reads_messages=reads_messages, shard_id=shard, shard_count=count)
        bot.taken_over = sessions.pop(shard, None)
        notes.watch(bot)
        return bot

    async def serve(shard: int) -> None:
        lease = CURRENT_LEASE.get()
        assert lease is not None, "a shard is served under its lease"
        notes = SessionNotes(leases, lease, shard, count)
        if session := await notes.take():
            sessions[shard] = session
        duties = [asyncio.create_task(notes.keep(lambda: bots.get(shard)), name=f"session of shard {shard}")]
        if shard == 0:
            duties.append(asyncio.create_task(app.housekeeping.sweep_daily(), name="housekeeping"))
        try:
            await stay_online(partial(make, shard, notes), token, leave=notes.leave)
        finally:
            bots.pop(shard, None)
            for duty in duties:
                duty.cancel()
            await asyncio.gather(*duties, return_exceptions=True)

    async def is_well() -> bool:
        if keeper.is_database_away:  # it may still answer queries, but take no writes
            return False
        if bots:
            return all([await bot.is_well() for bot in bots.values()])
        with suppress(MarginaliaError):
            await app.storage.ping()
            return True
        return False

    def database_is_back() -> None:
        for bot in bots.values():
            bot.dispatch("database_back")

    keeper = ShardKeeper(leases, count, serve, database_is_back)
    if metrics is not None:
        metrics.watch_shards(count, lambda: sum(bot.is_connected for bot in list(bots.values())))
        metrics.watch_database(lambda: keeper.is_database_away)
    watching = asyncio.create_task(health.keep(is_well), name="health file")
    try:
        await keeper.run()
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

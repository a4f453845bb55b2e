"""Shards by lease: every node serves an equal share of the shards, and takes over those of nodes that disappear."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from bot.app import App
from bot.client.client import Marginalia
from bot.client.connection import advised_shards, stay_online
from bot.client.sessions import GUILDS, SESSION_KEPT_S, GatewaySession, SessionNotes
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
_COUNT = "shard count"


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
        await leases.clear(GUILDS)
        await leases.set_note(_COUNT, str(wanted))
    return wanted


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

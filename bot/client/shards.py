"""Shards by lease: every node serves an equal share of them, and takes over those of nodes that disappear."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import discord

from bot.app import App
from bot.client.client import Marginalia
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

    def make(shard: int, *, reads_messages: bool) -> Marginalia:
        bots[shard] = make_bot(reads_messages=reads_messages, shard_id=shard, shard_count=count)
        return bots[shard]

    async def serve(shard: int) -> None:
        duties = [asyncio.create_task(app.housekeeping.keep_house(), name="housekeeping")] if shard == 0 else []
        try:
            await stay_online(partial(make, shard), token)
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

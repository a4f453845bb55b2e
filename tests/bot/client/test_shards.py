"""A shard that is handed over: the next holder goes on with the session, knows the guilds, and misses nothing."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import discord
import pytest
from discord import ChannelType

from bot.app import open_app, open_toolbox
from bot.client import client, sessions, shards
from bot.client.client import Marginalia
from bot.client.sessions import SessionNotes, guild_payload
from bot.client.shards import ShardKeeper, agree_on_count, serve_shards
from bot.logs import HealthFile
from bot.metrics import Metrics
from bot.settings import Settings
from domain.errors import StorageError, StorageErrorCode
from domain.ports import LeaseRepository
from storage.opening import Storage, open_storage
from tests.bot.online import online
from tests.cogs.conversation.scene import Scene
from tests.doubles.discord_api import PATIENCE_S, DiscordDouble
from tests.doubles.scripted_chat import ScriptedChat
from tests.postgres import a_database
from tests.storage.postgres.test_database import end_all_connections, make_read_only


class Node:
    """A process' worth of the program: it serves all shards that it can get."""

    def __init__(self, url: str, folder: Path, double: DiscordDouble) -> None:
        self.settings = Settings(_env_file=None, data_dir=folder, database_url=url, shard_count=1)  # type: ignore[call-arg]
        self.model = ScriptedChat("I do not know.")
        self.metrics = Metrics()
        self.bots: list[Marginalia] = []
        self._double = double

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Node"]:
        async with (
            open_toolbox(self.settings) as tools,
            open_app(self.settings, self.model, tools) as self.app,
        ):
            health = HealthFile(self.settings.data_dir)
            serving = asyncio.create_task(serve_shards(self.app, self._make, self._double.token, health, self.metrics))
            try:
                await self._double.until(lambda: self.bots and self.bots[-1].is_ready())
                yield self
            finally:
                serving.cancel()
                await asyncio.gather(serving, return_exceptions=True)

    def _make(self, **options: Any) -> Marginalia:
        self.bots.append(Marginalia(self.app, guild_ready_timeout=0.05, **options))
        return self.bots[-1]


@pytest.fixture
def nodes(tmp_path: Path, double: DiscordDouble) -> Iterator[Callable[[str], Node]]:
    """Makes nodes by name; they share a database."""
    with a_database() as url:
        yield lambda name: Node(url, tmp_path, double)


async def talked(node: Node, double: DiscordDouble) -> Scene:
    """A thread in which a question has been answered."""
    room = Scene(double, node, node.settings.data_dir)  # type: ignore[arg-type]
    await room.prepare()
    node.model.say("It was Hobb.")
    await room.ann.say(room.thread, "Who put the lamp out?")
    await room.until_said("It was Hobb.")
    await room.until_delivered()
    return room


async def test_a_node_whose_database_takes_no_writes_is_not_well(
    nodes: Callable[[str], Node], double: DiscordDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[Callable[[], Awaitable[bool]]] = []

    async def keep(_: HealthFile, is_well: Callable[[], Awaitable[bool]]) -> None:
        checks.append(is_well)

    monkeypatch.setattr(HealthFile, "keep", keep)
    async with nodes("one").running() as node, asyncio.timeout(PATIENCE_S):
        [is_well] = checks
        while not await is_well():
            await asyncio.sleep(0.05)
        make_read_only(node.settings.database_url, "on")
        end_all_connections(node.settings.database_url)
        while await is_well():
            await asyncio.sleep(0.05)
        assert [book.id for book in await node.app.storage.books.list()] == [], "queries are answered"


async def test_a_shard_that_is_held_but_has_lost_discord_is_not_counted_as_connected(
    nodes: Callable[[str], Node], double: DiscordDouble
) -> None:
    async with nodes("one").running() as node:
        told = node.metrics.registry.get_sample_value
        await double.until(lambda: told("marginalia_shards_connected") == 1)
        double.gateway.refuse = 1_000
        await double.gateway.drop()
        await double.until(lambda: told("marginalia_shards_connected") == 0)
        assert told("marginalia_shards") == 1
        double.gateway.refuse = 0
        await double.until(lambda: told("marginalia_shards_connected") == 1)


async def test_the_next_holder_goes_on_with_the_session(nodes: Callable[[str], Node], double: DiscordDouble) -> None:
    async with nodes("first").running() as first:
        room = await talked(first, double)
    await room.ann.say(room.thread, "And who lit it again?")
    second = nodes("second")
    second.model.say("Nobody did.")
    async with second.running():
        await room.until_said("It was Hobb.", "Nobody did.")
        assert (double.gateway.identifies, double.gateway.resumes) == (1, 1)
        assert "Reading with Marginalia" in (await room.ann.slash("help")).text
        [bot] = second.bots
        [guild], [known] = bot.guilds, first.bots[-1].guilds
        assert [thread.id for thread in guild.threads] == [thread.id for thread in known.threads]
        assert guild_payload(guild) | {"threads": []} == guild_payload(known) | {"threads": []}
    async with nodes("third").running() as third:
        assert (double.gateway.identifies, double.gateway.resumes) == (1, 2)
        third.model.say("I can't tell.")
        await room.ann.say(room.thread, "Why not?")
        await room.until_said("It was Hobb.", "Nobody did.", "I can't tell.")
    assert double.commands.syncs == 1


async def test_what_a_killed_node_has_done_is_not_done_again(
    nodes: Callable[[str], Node], double: DiscordDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its place in the session is some seconds old: the gateway tells the next holder once more what came then."""
    monkeypatch.setattr(sessions, "KEEP_S", 0.05)
    monkeypatch.setattr(shards, "RENEW_S", 0.1)
    monkeypatch.setattr(client, "INTERACTION_S", 0.0)
    first = nodes("first")
    async with first.running(), await open_storage(first.settings.storage_url) as storage:
        room = await talked(first, double)
        known, leases = double.gateway.live[0].events[-1]["s"], storage.leases
        assert leases is not None
        while not (note := await leases.get_note("shard/0")) or json.loads(note)[3] < known:
            await asyncio.sleep(0.05)
        another = await room.chat(await room.book(), title="Another")
        await room.ann.slash("help")
        first.model.say("He lives by the sea.")
        await room.ann.say(room.thread, "Where does he live?")
        await room.until_said("It was Hobb.", "He lives by the sea.")
        await room.until_delivered(2)
    async with await open_storage(first.settings.storage_url) as storage:
        await tell_next_holder(storage, note)
    async with nodes("second").running() as second:
        await double.until(lambda: double.gateway.resumes == 1)
        second.model.say("I can't tell.")
        await room.ann.say(room.thread, "Why?")
        await room.until_said("It was Hobb.", "He lives by the sea.", "I can't tell.")
        assert {thread.id for thread in second.bots[-1].guilds[0].threads} == {room.thread.id, another.id}
        assert "Reading with Marginalia" in (await room.ann.slash("help")).text
    taken_up = [
        call.params["interaction"] for call in double.calls("POST /interactions/{interaction}/{token}/callback")
    ]
    assert len(taken_up) == len(set(taken_up)) == 4
    assert len(double.threads()) == 2
    assert double.gateway.identifies == 1


async def test_a_session_that_discord_has_ended_is_begun_anew(
    nodes: Callable[[str], Node], double: DiscordDouble
) -> None:
    async with nodes("first").running() as first:
        room = await talked(first, double)
    double.gateway.sessions.clear()
    await room.ann.say(room.thread, "And who lit it again?")
    second = nodes("second")
    second.model.say("Nobody did.")
    async with second.running():
        await double.until(lambda: double.gateway.identifies == 2)
        await room.until_said("It was Hobb.", "Nobody did.")


@pytest.mark.parametrize("note", ["", "nonsense", '[1, "a session"]'])
async def test_a_new_session_begins_where_no_stored_one_can_be_read(
    nodes: Callable[[str], Node], double: DiscordDouble, note: str
) -> None:
    node = nodes("first")
    async with await open_storage(node.settings.storage_url) as storage:
        await tell_next_holder(storage, note)
    async with node.running():
        await talked(node, double)
    assert (double.gateway.identifies, double.gateway.resumes) == (1, 0)


async def tell_next_holder(storage: Storage, note: str) -> None:
    assert storage.leases is not None
    lease = await storage.leases.acquire("shard/0", "somebody", 60)
    assert lease is not None
    lease.note = note
    await storage.leases.release(lease)


async def test_what_was_left_is_not_taken_after_minutes_nor_with_another_number_of_shards(
    nodes: Callable[[str], Node], double: DiscordDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = nodes("first")
    async with node.running():
        pass
    async with await open_storage(node.settings.storage_url) as storage:
        leases = storage.leases
        assert leases is not None
        lease = await leases.acquire("shard/0", "second", 60)
        assert lease is not None
        with monkeypatch.context() as patch:
            patch.setattr(time, "time", lambda: 0.0)  # the clocks of the nodes' machines need not agree
            assert await SessionNotes(leases, lease, 0, 1).take() is not None
        assert await SessionNotes(leases, lease, 0, 2).take() is None
        monkeypatch.setattr(sessions, "SESSION_KEPT_S", -1.0)
        assert await SessionNotes(leases, lease, 0, 1).take() is None
        assert await agree_on_count(leases, 2) == 2
        assert await leases.get_note("guilds/0/1") == ""


CHANNELS = (ChannelType.text, ChannelType.voice, ChannelType.category, ChannelType.news, ChannelType.stage_voice)
MORE_CHANNELS = (ChannelType.forum, ChannelType.media)


async def test_a_guild_is_told_of_as_it_is(double: DiscordDouble, tmp_path: Path) -> None:
    """With channels of every kind, roles, a thread, and permissions that differ from channel to channel."""
    async with online(double, tmp_path) as state:
        bot = state.bot
        assert bot.user is not None
        mine = {"id": "70", "type": 0, "allow": "0", "deny": "2048"}
        channels = [
            {"id": str(100 + kind.value), "type": kind.value, "name": kind.name, "position": 1, "parent_id": "104",
             "bitrate": 64_000, "user_limit": 0, "permission_overwrites": [mine]}
            for kind in CHANNELS + MORE_CHANNELS
        ]  # fmt: skip
        thread = {
            "id": "200", "type": 12, "name": "Section 1", "parent_id": "100", "owner_id": str(bot.user.id),
            "message_count": 3, "member_count": 2,
            "member": {"join_timestamp": "2026-01-01T00:00:00+00:00", "flags": 1},
            "thread_metadata": {"archived": False, "auto_archive_duration": 60, "locked": True,
                                "archive_timestamp": "2026-01-01T00:00:00+00:00", "invitable": False},
        }  # fmt: skip
        roles = [
            {"id": "9", "name": "@everyone", "permissions": "3072", "position": 0},
            {"id": "70", "name": "Marginalia", "permissions": "274877975552", "position": 1, "managed": True,
             "tags": {"bot_id": str(bot.user.id)}},
        ]  # fmt: skip
        myself = {"id": str(bot.user.id), "username": "m", "discriminator": "0", "avatar": None, "bot": True}
        joined = "2026-01-01T00:00:00+00:00"
        me = {"user": myself, "roles": ["70"], "joined_at": joined, "nick": "Marg", "flags": 0}
        told: Any = {"id": "9", "name": "Bookworms", "owner_id": "8", "preferred_locale": "de", "member_count": 5,
                     "system_channel_id": "100", "features": ["COMMUNITY"], "roles": roles, "channels": channels,
                     "threads": [thread], "members": [me]}  # fmt: skip
        guild = discord.Guild(data=told, state=bot._connection)
        again = discord.Guild(data=json.loads(json.dumps(guild_payload(guild))), state=bot._connection)
    assert guild_payload(again) == guild_payload(guild)
    assert len(again.channels) == len(channels)
    for before, after in zip([*guild.channels, *guild.threads], [*again.channels, *again.threads], strict=True):
        assert type(after) is type(before)
        assert after.permissions_for(again.me) == before.permissions_for(guild.me)
    assert again.me.bot
    assert again.self_role is not None
    assert again.system_channel is not None
    assert (again.me.nick, again.preferred_locale, again.threads[0].locked) == ("Marg", discord.Locale.german, True)


class Way:
    """The way of one node to the leases, which can be cut."""

    def __init__(self, leases: LeaseRepository) -> None:
        self._leases = leases
        self.is_cut = False

    def __getattr__(self, name: str) -> Any:
        if self.is_cut:
            raise StorageError(StorageErrorCode.UNREACHABLE, "The database does not answer.")
        return getattr(self._leases, name)


class Keepers:
    """Nodes that share four shards, what they serve now, and which shards were begun, in order."""

    def __init__(self, leases: LeaseRepository) -> None:
        self.leases = leases
        self.served: dict[str, set[int]] = {}
        self.begun: list[int] = []
        self.deaf: set[int] = set()
        """Shards in which a cancellation gets lost."""
        self.served_twice: set[int] = set()

    @asynccontextmanager
    async def node(self, name: str) -> AsyncIterator[Way]:
        way, mine = Way(self.leases), self.served.setdefault(name, set())

        async def serve(shard: int) -> None:
            self.begun.append(shard)
            self.served_twice |= {shard} & set().union(*self.served.values())
            mine.add(shard)
            try:
                with suppress(asyncio.CancelledError if shard in self.deaf else ValueError):
                    await asyncio.Event().wait()
                self.deaf.remove(shard)
                await asyncio.Event().wait()
            finally:
                mine.remove(shard)

        keeping = asyncio.create_task(ShardKeeper(way, 4, serve, lambda: None, node=name).run())
        try:
            yield way
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def until(self, *numbers: int) -> None:
        """Until the nodes serve so many shards."""
        async with asyncio.timeout(20):
            while tuple(map(len, self.served.values())) != numbers:
                await asyncio.sleep(0.01)


@pytest.fixture
async def keepers(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Keepers]:
    for name, seconds in {
        "LEASE_S": 0.9,
        "RENEW_S": 0.2,
        "LOOK_S": 0.1,
        "END_AGAIN_S": 0.3,
        "GAP_S": 0.5,
        "SETTLING_S": 0.8,
    }.items():
        monkeypatch.setattr(shards, name, seconds)
    with a_database() as url:
        async with await open_storage(url) as storage:
            assert storage.leases is not None
            yield Keepers(storage.leases)


async def test_after_an_outage_each_node_has_what_it_had_and_only_a_dead_ones_shards_are_taken(
    keepers: Keepers,
) -> None:
    async with keepers.node("first") as first, keepers.node("second") as second:
        await keepers.until(2, 2)
        begun = list(keepers.begun)
        first.is_cut = second.is_cut = True
        await asyncio.sleep(1.2)  # longer than a lease lasts
        first.is_cut = False
        await asyncio.sleep(0.4)  # the second one's connections come back a moment later
        second.is_cut = False
        await asyncio.sleep(1.0)
        assert keepers.begun == begun
        second.is_cut = True
        await keepers.until(4, 2)
        second.is_cut = False
        await keepers.until(2, 2)


async def test_a_cancellation_that_gets_lost_is_repeated(keepers: Keepers) -> None:
    keepers.deaf = {0, 1, 2, 3}
    async with keepers.node("first"):
        await keepers.until(4)
        async with keepers.node("second"):
            await keepers.until(2, 2)
    assert keepers.served == {"first": set(), "second": set()}


async def test_a_node_that_leaves_keeps_each_shard_until_it_has_ended(
    keepers: Keepers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "END_AGAIN_S", 2 * shards.LEASE_S)
    keepers.deaf = {0, 1, 2, 3}
    async with AsyncExitStack() as staying:
        async with keepers.node("leaving"):
            await keepers.until(4)
            await staying.enter_async_context(keepers.node("staying"))
            await keepers.until(2, 2)
        await keepers.until(0, 4)
    assert not keepers.served_twice


async def test_a_node_that_starts_takes_expired_leases_last(keepers: Keepers) -> None:
    """Their holder may have been cut off from the database, and may renew them yet."""
    assert await keepers.leases.acquire("shard/0", "gone", 0.0) is not None
    assert await keepers.leases.acquire("shard/1", "present", 60.0) is not None
    async with keepers.node("first"):
        await keepers.until(3)
    assert keepers.begun == [2, 3, 0]


async def test_who_starts_when_the_database_is_back_counts_shards_as_those_do_who_were_cut_off(
    keepers: Keepers,
) -> None:
    await keepers.leases.set_note("shard count", "4")
    assert await keepers.leases.acquire("node/cut off", "cut off", 0.0) is not None
    assert await agree_on_count(keepers.leases, 8) == 4

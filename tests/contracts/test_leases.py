"""What every storage with leases promises: one holder at a time, and nothing is written by one that lost its lease."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from domain.concurrency import CURRENT_LEASE, HeldLease
from domain.conversation import TurnState
from domain.errors import StorageError, StorageErrorCode
from domain.ports import LeaseRepository
from storage.opening import Storage, open_storage
from tests.postgres import an_emptied_database
from tests.storage.values import MIDNIGHT, a_question, an_answer, furnish, hold_turn

SOON = 0.05
A_MINUTE_S = 60.0


@pytest.fixture
async def storage() -> AsyncIterator[Storage]:
    with an_emptied_database() as url:
        async with await open_storage(url) as opened:
            yield opened


@pytest.fixture
def leases(storage: Storage) -> LeaseRepository:
    assert storage.leases is not None
    return storage.leases


async def taken(leases: LeaseRepository, name: str = "shard/1", holder: str = "one", seconds: float = 60) -> HeldLease:
    lease = await leases.acquire(name, holder, seconds)
    assert lease is not None
    return lease


async def test_of_many_who_ask_at_once_one_gets_it(leases: LeaseRepository) -> None:
    asked = await asyncio.gather(*(leases.acquire("shard/1", str(number), 60) for number in range(20)))
    assert sum(lease is not None for lease in asked) == 1


async def test_it_is_over_when_it_is_not_renewed_and_the_next_holder_has_another_epoch(leases: LeaseRepository) -> None:
    first = await taken(leases, seconds=SOON)
    while (second := await leases.acquire("shard/1", "two", 60)) is None:
        await asyncio.sleep(0.01)
    assert second.epoch == first.epoch + 1
    assert await leases.renew("one", 60) == set()
    assert await leases.renew("two", 60) == {("shard/1", second.epoch)}


async def test_its_clock_is_the_one_of_the_database(leases: LeaseRepository) -> None:
    first, second = await taken(leases), await taken(leases, "shard/2", "two")
    assert abs(first.now() - second.now()) < A_MINUTE_S
    assert abs(first.now() - time.time()) < A_MINUTE_S


async def test_renewed_it_goes_on(leases: LeaseRepository) -> None:
    lease = await taken(leases, seconds=SOON)
    assert await leases.renew("one", 60) == {("shard/1", lease.epoch)}
    await asyncio.sleep(2 * SOON)
    assert await leases.acquire("shard/1", "two", 60) is None
    assert await leases.list_held("shard/") == {"shard/1"}


async def test_late_it_may_be_renewed_as_long_as_nobody_took_it(leases: LeaseRepository) -> None:
    lease = await taken(leases, seconds=SOON)
    await asyncio.sleep(2 * SOON)
    assert await leases.list_held("shard/") == set()
    assert await leases.renew("one", 60) == {("shard/1", lease.epoch)}


async def test_one_that_expired_without_being_given_back_is_told_from_one_that_was(leases: LeaseRepository) -> None:
    await taken(leases, "shard/1", seconds=0.0)
    await leases.release(await taken(leases, "shard/2"))
    assert await leases.list_held("shard/") == set()
    assert await leases.list_held("shard/", 60) == {"shard/1"}


async def test_of_a_holders_leases_those_may_be_renewed_that_it_knows_of(leases: LeaseRepository) -> None:
    known, _ = await taken(leases, "shard/1", seconds=SOON), await taken(leases, "shard/2", seconds=SOON)
    assert await leases.renew("one", 60, {"shard/1": "a note", "shard/3": ""}) == {("shard/1", known.epoch)}
    await asyncio.sleep(2 * SOON)
    assert await leases.list_held("") == {"shard/1"}
    assert await leases.get_note("shard/1") == "a note"


async def test_given_back_it_is_free_at_once_and_only_its_holder_gives_it_back(leases: LeaseRepository) -> None:
    first = await taken(leases)
    await leases.release(first)
    second = await taken(leases, holder="two")
    await leases.release(first)
    assert await leases.list_held("") == {"shard/1"}
    assert second.epoch == first.epoch + 1


async def test_a_note_outlives_whoever_made_it(leases: LeaseRepository) -> None:
    assert await leases.get_note("commands") == ""
    await leases.set_note("commands", "a")
    await leases.set_note("commands", "b")
    assert await leases.get_note("commands") == "b"
    assert await leases.list_held("") == set()


@contextmanager
def under(lease: HeldLease) -> Iterator[None]:
    token = CURRENT_LEASE.set(lease)
    try:
        yield
    finally:
        CURRENT_LEASE.reset(token)


class TestFence:
    """The first holder is stopped for a while; meanwhile the lease has gone to another."""

    @pytest.fixture
    async def old(self, storage: Storage, leases: LeaseRepository) -> HeldLease:
        await furnish(storage)
        old = await taken(leases)
        await leases.release(old)
        await taken(leases, holder="two")
        return old

    async def refused(self, work: object) -> None:
        with pytest.raises(StorageError) as refused:
            await work  # type: ignore[misc]
        assert refused.value.code is StorageErrorCode.LEASE_LOST

    async def test_the_old_holder_begins_no_turn(self, storage: Storage, old: HeldLease) -> None:
        await storage.messages.add_incoming(a_question("asked"))
        with under(old):
            await self.refused(storage.turns.begin("tea", ["asked"], MIDNIGHT))
        assert await storage.turns.get_by_conversation("tea") == []

    async def test_it_ends_none_marks_none_and_takes_none_back(self, storage: Storage, old: HeldLease) -> None:
        await storage.messages.add_incoming(a_question("asked"))
        turn = await storage.turns.begin("tea", ["asked"], MIDNIGHT)
        with under(old):
            await self.refused(storage.turns.finish(replace(turn, state=TurnState.ANSWERED), [an_answer("late")]))
            await self.refused(storage.turns.update_delivery(turn.id, ["1"], None))
            await self.refused(storage.turns.reopen(turn.id))
        assert await storage.turns.get(turn.id) == turn

    async def test_it_replaces_none_and_stores_no_edits_or_deletions(self, storage: Storage, old: HeldLease) -> None:
        turn = await hold_turn(storage, "first")
        before = await storage.messages.get_by_conversation("tea")
        with under(old):
            await self.refused(storage.turns.begin_again(turn.id))
            await self.refused(storage.turns.supersede(turn.id, replace(turn, id="new"), [an_answer("late")]))
            await self.refused(storage.turns.reword_question("first-question", "And now?"))
            await self.refused(storage.turns.forget_question("first-question", MIDNIGHT))
            await self.refused(storage.turns.forget_answer(turn.id, "1"))
            await self.refused(storage.turns.forget_asides_in("1", "2"))
        assert await storage.messages.get_by_conversation("tea") == before

    async def test_the_new_holder_does_all_of_it(self, storage: Storage, leases: LeaseRepository) -> None:
        await furnish(storage)
        with under(await taken(leases)):
            turn = await hold_turn(storage, "first")
            await storage.turns.update_delivery(turn.id, ["1"], None)
        kept = await storage.turns.get(turn.id)
        assert kept is not None
        assert kept.reply_ids == ("1",)

    async def test_the_same_node_under_a_newer_lease_is_not_the_old_one(
        self, storage: Storage, leases: LeaseRepository
    ) -> None:
        await furnish(storage)
        old = await taken(leases)
        await leases.release(old)
        await taken(leases)
        await storage.messages.add_incoming(a_question("asked"))
        with under(old):
            await self.refused(storage.turns.begin("tea", ["asked"], MIDNIGHT))

    async def test_turns_go_on_while_the_lease_is_renewed(self, storage: Storage, leases: LeaseRepository) -> None:
        await furnish(storage)
        with under(await taken(leases)):
            for number in range(20):
                renewals = [leases.renew("one", 60) for _ in range(3)]
                await asyncio.gather(hold_turn(storage, str(number)), *renewals)

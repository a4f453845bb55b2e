"""What is final always stands in the end, once; drafts keep out of its way."""

import asyncio
import logging
from itertools import pairwise

import pytest

from cogs.delivery.message_group import (
    ChannelGoneError,
    Delivery,
    DeliveryError,
    DeliveryState,
    MessageGoneError,
    MessageGroup,
    MessagePayload,
    NotAllowedError,
    RefusedError,
    TryLaterError,
    nonce_seed,
)
from cogs.delivery.writer import DRAFT_EVERY_S, MOST_ATTEMPTS, ChannelWriter, ChannelWriters
from domain.errors import StorageError, StorageErrorCode
from tests.cogs.delivery.fakes import FakeChannel, FakeClock


class Bench:
    """A writer with a group of texts, on a fake channel and clock."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.channel = FakeChannel(self.clock)
        self.writer = ChannelWriter(self.channel, now=self.clock.now, sleep=self.clock.sleep)
        self.group = MessageGroup("turn", "a")

    def show(self, *texts: str) -> None:
        self.writer.show(self.group, lambda: [MessagePayload(text) for text in texts])

    def settle(self, *texts: str) -> asyncio.Task[Delivery]:
        return asyncio.create_task(self.writer.settle(self.group, lambda: [MessagePayload(text) for text in texts]))

    async def settled(self, *texts: str, within: float = 60.0) -> Delivery:
        task = self.settle(*texts)
        await self.clock.advance(within)
        return await task

    async def stream(self, seconds: float, every: float = 0.05) -> None:
        """Text that grows all the time."""
        for number in range(int(seconds / every)):
            self.show("x" * (number + 1))
            await self.clock.advance(every)


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_the_first_draft_is_sent_at_once(bench: Bench) -> None:
    bench.show("first")
    await bench.clock.advance(0)
    assert bench.channel.contents == ["first"]


async def test_only_the_latest_draft_is_shown(bench: Bench) -> None:
    for text in ("a", "ab", "abc", "abcd"):
        bench.show(text)
        await bench.clock.advance(0)
    await bench.clock.advance(DRAFT_EVERY_S)
    assert [request.body and request.body.content for request in bench.channel.requests] == ["a", "abcd"]


async def test_drafts_keep_their_distance(bench: Bench) -> None:
    await bench.stream(20)
    times = [request.at for request in bench.channel.requests]
    assert all(later - earlier >= DRAFT_EVERY_S for earlier, later in pairwise(times))
    assert len(times) >= 15


async def test_a_token_is_left_for_the_final_text(bench: Bench) -> None:
    await bench.stream(20)
    before = bench.clock.now()
    delivery = await bench.settled("final", within=0)
    assert delivery.delivered
    assert bench.channel.requests[-1].at == before


async def test_never_more_than_five_edits_in_five_seconds(bench: Bench) -> None:
    await bench.stream(10)
    await bench.settled("final")
    edits = [request.at for request in bench.channel.requests if request.kind == "edit"]
    assert all(later - earlier >= 5 for earlier, later in zip(edits, edits[5:], strict=False))


async def test_long_answers_wait_for_their_turn_to_be_sent(bench: Bench) -> None:
    delivery = await bench.settled(*map(str, range(12)))
    sends = [request.at for request in bench.channel.requests]
    assert len(delivery.message_ids) == 12
    assert all(later - earlier >= 5 for earlier, later in zip(sends, sends[5:], strict=False))


async def test_what_stands_already_is_not_sent_again(bench: Bench) -> None:
    bench.show("same")
    await bench.clock.advance(2)
    bench.show("same")
    await bench.settled("same")
    assert bench.channel.kinds == ["send"]


async def test_one_request_at_a_time(bench: Bench) -> None:
    bench.channel.hold()
    bench.show("a")
    await bench.clock.advance(5)
    task = bench.settle("b", "c")
    await bench.clock.advance(5)
    assert bench.channel.kinds == ["send"]
    bench.channel.released.set()
    await bench.clock.advance(10)
    assert (await task).delivered
    assert bench.channel.contents == ["b", "c"]
    assert bench.channel.most_in_flight == 1


async def test_drafts_after_the_final_text_do_not_count(bench: Bench) -> None:
    task = bench.settle("final")
    bench.show("late draft")
    await bench.clock.advance(5)
    assert (await task).delivered
    bench.show("later still")
    await bench.clock.advance(5)
    assert bench.channel.contents == ["final"]


async def test_messages_that_are_not_needed_any_more_go(bench: Bench) -> None:
    bench.show("a", "b", "c")
    await bench.clock.advance(5)
    delivery = await bench.settled("only")
    assert bench.channel.contents == ["only"]
    assert delivery.message_ids == ("1",)


async def test_an_outage_is_waited_out(bench: Bench) -> None:
    bench.channel.faults = [TryLaterError("503")] * 6
    delivery = await bench.settled("final", within=120)
    assert delivery.delivered
    waits = [
        later.at - earlier.at
        for earlier, later in zip(bench.channel.requests, bench.channel.requests[1:], strict=False)
    ]
    assert waits == sorted(waits)


async def test_what_was_put_off_is_tried_at_once_when_the_trouble_is_over(bench: Bench) -> None:
    bench.channel.faults = [TryLaterError("503")] * 6
    delivering = bench.settle("final")
    await bench.clock.advance(20)
    assert not delivering.done()
    bench.writer.hurry()
    await bench.clock.advance(0.1)
    assert delivering.done()


async def test_an_endless_outage_is_given_up(bench: Bench) -> None:
    bench.channel.faults = [TryLaterError("503")] * 1000
    delivery = await bench.settled("final", within=3600)
    assert delivery.state is DeliveryState.UNREACHABLE
    assert len(bench.channel.requests) == MOST_ATTEMPTS


async def test_discords_own_advice_is_taken(bench: Bench) -> None:
    bench.channel.faults = [TryLaterError("429", retry_after=42.0)]
    await bench.settled("final")
    first, second = bench.channel.requests
    assert second.at - first.at == pytest.approx(42.0)


async def test_a_send_whose_answer_was_lost_is_not_doubled(bench: Bench) -> None:
    bench.channel.faults_after = [TryLaterError("connection lost")]
    await bench.settled("final")
    first, second = bench.channel.requests
    assert first.nonce == second.nonce
    assert bench.channel.contents == ["final"]


async def test_a_message_found_under_the_nonce_is_brought_up_to_date(bench: Bench) -> None:
    bench.channel.faults_after = [TryLaterError("connection lost")]
    bench.show("draft")
    await bench.clock.advance(0)
    await bench.settled("final")
    assert bench.channel.kinds == ["send", "send", "edit"]
    assert bench.channel.contents == ["final"]


async def test_a_deleted_message_is_sent_anew(bench: Bench) -> None:
    bench.show("draft")
    await bench.clock.advance(2)
    bench.channel.shown.clear()
    delivery = await bench.settled("final")
    assert bench.channel.contents == ["final"]
    assert delivery.message_ids == ("2",)


async def test_the_order_is_kept_when_a_message_in_the_middle_is_deleted(bench: Bench) -> None:
    bench.show("a", "b", "c")
    await bench.clock.advance(10)
    del bench.channel.shown["2"]
    await bench.settled("a", "b, changed", "c")
    assert bench.channel.contents == ["a", "b, changed", "c"]


async def test_a_message_that_is_done_with_and_then_deleted_is_not_left_out(bench: Bench) -> None:
    bench.show("a", "b")
    await bench.clock.advance(10)
    del bench.channel.shown["1"]
    bench.group.lost("1")
    await bench.settled("a", "b", "c")
    assert bench.channel.contents == ["a", "b", "c"]


async def test_a_message_that_is_deleted_while_it_is_edited_is_written_once(bench: Bench) -> None:
    bench.show("draft")
    await bench.clock.advance(10)
    bench.channel.hold()
    answer = bench.settle("final", "and more")
    await bench.clock.advance(10)
    bench.group.lost("1")
    del bench.channel.shown["1"]
    bench.channel.released.set()
    await bench.clock.advance(60)
    assert (await answer).delivered
    assert bench.channel.contents == ["final", "and more"]


async def test_what_others_lose_is_no_loss(bench: Bench) -> None:
    bench.show("a")
    await bench.clock.advance(10)
    bench.group.lost("of somebody else")
    assert bench.group.message_ids == ("1",)


async def test_a_nonce_of_a_deleted_message_is_not_used_again(bench: Bench) -> None:
    bench.channel.nonces[f"{nonce_seed('turn')}:a0"] = "deleted"
    await bench.settled("final")
    assert bench.channel.contents == ["final"]


async def test_a_sleeping_thread_is_woken_for_an_edit(bench: Bench) -> None:
    bench.show("draft")
    await bench.clock.advance(2)
    bench.channel.archived = True
    assert (await bench.settled("final")).delivered
    assert bench.channel.kinds == ["send", "edit", "unarchive", "edit"]


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (NotAllowedError("403"), DeliveryState.NOT_ALLOWED),
        (ChannelGoneError("10003"), DeliveryState.CHANNEL_GONE),
        (RefusedError("50035"), DeliveryState.REFUSED),
    ],
)
async def test_what_cannot_be_is_said_at_once(bench: Bench, fault: DeliveryError, state: DeliveryState) -> None:
    bench.channel.faults = [fault]
    delivery = await bench.settled("final", within=0)
    assert delivery.state is state
    assert len(bench.channel.requests) == 1


@pytest.mark.parametrize("fault", [NotAllowedError("locked"), RefusedError("160006"), MessageGoneError("404")])
async def test_a_thread_that_cannot_be_woken_is_given_up(bench: Bench, fault: DeliveryError) -> None:
    bench.show("draft")
    await bench.clock.advance(2)
    bench.channel.archived = True
    bench.channel.faults = [None, fault]
    assert (await bench.settled("final")).state is DeliveryState.NOT_ALLOWED


async def test_a_refused_draft_does_not_cost_the_answer(bench: Bench) -> None:
    bench.channel.faults = [RefusedError("50035")]
    bench.show("odd draft")
    await bench.clock.advance(2)
    assert (await bench.settled("final")).delivered


async def test_a_draft_refused_while_the_final_text_comes_in_does_not_cost_it_either(bench: Bench) -> None:
    bench.channel.faults = [RefusedError("50035")]
    bench.channel.hold()
    bench.show("odd draft")
    await bench.clock.advance(0)
    task = bench.settle("final")
    bench.channel.released.set()
    await bench.clock.advance(5)
    assert (await task).delivered


async def test_a_fault_in_a_draft_is_known_when_the_answer_comes(bench: Bench) -> None:
    bench.channel.faults = [NotAllowedError("403")]
    bench.show("draft")
    await bench.clock.advance(2)
    assert (await bench.settled("final")).state is DeliveryState.NOT_ALLOWED
    assert len(bench.channel.requests) == 1


async def test_a_bug_is_raised_to_whoever_waits(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.channel.faults = [ValueError("a bug")]
    with pytest.raises(ValueError, match="a bug"):
        await bench.settled("final")
    assert "broke" in caplog.text


async def test_several_groups_share_the_channel(bench: Bench) -> None:
    other = MessageGroup("turn", "t")
    bench.writer.show(other, lambda: [MessagePayload("card")])
    bench.show("text")
    await bench.clock.advance(0)
    for number in range(100):
        bench.writer.show(other, lambda number=number: [MessagePayload(f"card {number}")])  # type: ignore[misc]
        bench.show(f"text {number}")
        await bench.clock.advance(0.1)
    edits = [request for request in bench.channel.requests if request.kind == "edit"]
    assert {request.message_id for request in edits} == {"1", "2"}
    times = [request.at for request in edits]
    assert all(later - earlier >= DRAFT_EVERY_S for earlier, later in pairwise(times))


async def test_ids_are_told_as_soon_as_there_are_any(bench: Bench) -> None:
    told: list[tuple[str, ...]] = []

    async def note(ids: tuple[str, ...]) -> None:
        told.append(ids)

    bench.group = MessageGroup("turn", "a", posted=note)
    await bench.settled("a", "b")
    assert told == [("1",), ("1", "2")]


async def test_what_cannot_be_noted_stands_all_the_same(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    async def note(ids: tuple[str, ...]) -> None:
        raise StorageError(StorageErrorCode.WRITE_FAILED, "The disk is full.")

    bench.group = MessageGroup("turn", "a", posted=note)
    assert (await bench.settled("a")).delivered
    assert "not noted" in caplog.text


async def test_messages_from_before_a_restart_become_the_answer(bench: Bench) -> None:
    bench.channel.shown = {"41": MessagePayload("half"), "42": MessagePayload("of it")}
    bench.group = MessageGroup("turn", "a", standing=["41", "42"])
    assert (await bench.settled("whole")).message_ids == ("41",)
    assert bench.channel.contents == ["whole"]


async def test_without_reposts_the_rest_goes_with_a_message_that_somebody_deletes(bench: Bench) -> None:
    bench.channel.shown = {"41": MessagePayload("one"), "43": MessagePayload("three")}
    bench.group = MessageGroup("turn", "a", standing=["41", "42", "43"], reposts=False)
    assert (await bench.settled("One", "Two", "Three")).message_ids == ()
    assert bench.channel.contents == []


async def test_a_message_from_before_a_crash_is_found_by_its_nonce(bench: Bench) -> None:
    bench.channel.shown = {"41": MessagePayload("half")}
    bench.channel.nonces = {f"{nonce_seed('turn')}:a0": "41"}
    assert (await bench.settled("whole")).message_ids == ("41",)
    assert bench.channel.contents == ["whole"]


async def test_nonces_are_short_and_tell_turns_apart() -> None:
    seeds = {nonce_seed(f"turn {number}") for number in range(1000)}
    assert len(seeds) == 1000
    assert all(len(f"{seed}:a9999999") <= 25 for seed in seeds)


async def test_a_channel_has_one_pump(bench: Bench) -> None:
    writers = ChannelWriters(now=bench.clock.now, sleep=bench.clock.sleep)
    writer = writers.of(bench.channel)
    assert writers.of(FakeChannel(bench.clock, id=7)) is writer
    assert writers.of(FakeChannel(bench.clock, id=8)) is not writer


async def test_closing_lets_go_out_what_can(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    writers = ChannelWriters(now=bench.clock.now, sleep=bench.clock.sleep)
    quick, stuck = writers.of(bench.channel), writers.of(stuck_channel := FakeChannel(bench.clock, id=8))
    stuck_channel.hold()
    said = asyncio.create_task(quick.settle(MessageGroup("one", "a"), lambda: [MessagePayload("said")]))
    unsaid = asyncio.create_task(stuck.settle(MessageGroup("two", "a"), lambda: [MessagePayload("unsaid")]))
    await bench.clock.breathe()
    await writers.close(patience=0.01)
    assert (await said).delivered
    with pytest.raises(asyncio.CancelledError):
        await unsaid


async def test_what_gives_up_waiting_leaves_the_answer_on_its_way(bench: Bench) -> None:
    bench.channel.hold()
    task = bench.settle("final")
    await bench.clock.advance(1)
    task.cancel()
    bench.channel.released.set()
    await bench.clock.advance(1)
    assert bench.channel.contents == ["final"]


async def test_a_deleted_message_may_be_deleted_again(bench: Bench) -> None:
    bench.show("a", "b")
    await bench.clock.advance(5)
    del bench.channel.shown["2"]
    bench.channel.faults = [None, MessageGoneError("10008")]
    assert (await bench.settled("a, changed")).message_ids == ("1",)

"""One writer per channel: the latest text wins, one request at a time, and the final text always goes out."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from weakref import WeakValueDictionary

from cogs.delivery.message_group import (
    ArchivedThreadError,
    Channel,
    ChannelGoneError,
    Compose,
    Delete,
    Delivery,
    DeliveryError,
    DeliveryState,
    Edit,
    MessageGoneError,
    MessageGroup,
    NotAllowedError,
    RefusedError,
    Send,
    Sent,
    Step,
    TryLaterError,
)
from domain.concurrency import ANSWERING

logger = logging.getLogger(__name__)

EDITS = SENDS = 5
WINDOW_S = 5.0
"""Discord lets a bot send, and separately edit, five messages in five seconds per channel.

This is widely observed and documented nowhere; discord.py reads the true numbers from headers and waits beyond these.
"""

DRAFT_EVERY_S = 1.25
"""Four edits in five seconds: one is always left for the final text."""

BACK_OFF_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Pauses after consecutive failures; the last one repeats."""
MOST_ATTEMPTS = 25
"""Attempts for a final text, some ten minutes; a longer outage is left to the next start of the program."""


class RateBudget:
    """Counts requests in one channel. All times are seconds on one clock."""

    def __init__(self) -> None:
        self._edits: deque[float] = deque(maxlen=EDITS)
        self._sends: deque[float] = deque(maxlen=SENDS)
        self._last_draft = float("-inf")

    def until_draft(self, now: float) -> float:
        """Seconds until a draft may be shown again."""
        spent = [at for at in self._edits if at > now - WINDOW_S]
        reserve = spent[0] + WINDOW_S - now if len(spent) >= EDITS - 1 else 0.0
        return max(0.0, self._last_draft + DRAFT_EVERY_S - now, reserve)

    def until_edit(self, now: float) -> float:
        """Seconds until a necessary edit would not have to wait at Discord."""
        return _until_free(self._edits, now)

    def until_send(self, now: float) -> float:
        return _until_free(self._sends, now)

    def edited(self, now: float, *, draft: bool) -> None:
        self._edits.append(now)
        if draft:
            self._last_draft = now

    def sent(self, now: float, *, draft: bool) -> None:
        self._sends.append(now)
        if draft:
            self._last_draft = now


def _until_free(times: "deque[float]", now: float) -> float:
    full = len(times) == times.maxlen
    return max(0.0, times[0] + WINDOW_S - now) if full else 0.0


Now = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class ChannelWriter:
    """Keeps the groups of messages of one channel as they should be. It runs only while there is something to do."""

    def __init__(
        self,
        channel: Channel,
        *,
        now: Now = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        requests: asyncio.Lock | None = None,
    ) -> None:
        self.channel = channel
        self._requests = requests or asyncio.Lock()
        self._now = now
        self._sleep = sleep
        self._budget = RateBudget()
        self._groups: list[MessageGroup] = []
        self._not_before = 0.0
        self._urgent = asyncio.Event()
        self._settled: dict[MessageGroup, asyncio.Future[Delivery]] = {}
        self._task: asyncio.Task[None] | None = None

    def show(self, group: MessageGroup, compose: Compose) -> None:
        """Post these messages as soon as the rate limit allows; a later call replaces an earlier one."""
        if group.outcome is None:
            group.want(compose)
            self._work_on(group)

    async def settle(self, group: MessageGroup, compose: Compose) -> Delivery:
        """Post the final messages; returns when they are posted, or when it is certain that they can't be."""
        if group.outcome is not None:
            return group.outcome
        group.want(compose, final=True)
        settled = self._settled.setdefault(group, asyncio.get_running_loop().create_future())
        self._work_on(group)
        self._urgent.set()
        return await asyncio.shield(settled)

    def take_back(self, group: MessageGroup) -> None:
        """Delete all of it as soon as possible. Returns at once."""
        if group.outcome is None:
            group.want(tuple, final=True)
            self._work_on(group)
            self._urgent.set()

    def hurry(self) -> None:
        """Retry at once what was put off, because the obstacle may be gone."""
        for group in self._groups:
            group.retry_at = 0.0
        self._urgent.set()

    async def idle(self) -> None:
        """Return when there is nothing left to do."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """Stop, whatever is left to do."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _work_on(self, group: MessageGroup) -> None:
        if group not in self._groups:
            self._groups.append(group)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"writer of channel {self.channel.id}")

    async def _run(self) -> None:
        ANSWERING.set(True)  # also where the task of an event has started it, in the middle of an answer
        try:
            while (group := self._choose()) is not None:
                await self._advance(group)
        except asyncio.CancelledError:
            self._abandon(lambda waiting: waiting.cancel())
            raise
        except Exception as error:
            logger.exception("the writer of channel %s broke", self.channel.id)
            broken = error
            self._abandon(lambda waiting: waiting.set_exception(broken))

    def _abandon(self, tell: Callable[[asyncio.Future[Delivery]], object]) -> None:
        """Release callers that wait for something that will not happen."""
        for waiting in self._settled.values():
            if not waiting.done():
                tell(waiting)
        self._settled.clear()
        self._groups.clear()

    def _choose(self) -> MessageGroup | None:
        """Final texts first, then what has waited longest."""
        self._groups = [each for each in self._groups if not each.in_step]
        waiting = sorted(self._groups, key=lambda each: (not each.final, each.retry_at, each.served_at))
        return waiting[0] if waiting else None

    async def _advance(self, group: MessageGroup) -> None:
        """Carry out one step of a group, or wait until it is allowed."""
        if (wait := self._until(group)) > 0:
            await self._wait(wait)
            return
        step = await group.next_step()
        if step is None:
            self._rest(group)
        elif group.final and (wait := self._until_free(step)) > 0:
            await self._wait(wait)
        else:
            await self._carry_out(group, step)

    def _until(self, group: MessageGroup) -> float:
        now = self._now()
        wait = max(self._not_before, group.retry_at) - now
        if not group.final and group.stands:
            wait = max(wait, self._budget.until_draft(now))
        return wait

    def _until_free(self, step: Step) -> float:
        match step:
            case Send():
                return self._budget.until_send(self._now())
            case Edit():
                return self._budget.until_edit(self._now())
            case Delete():
                return 0.0

    async def _wait(self, seconds: float) -> None:
        """Sleep, unless something final arrives."""
        self._urgent.clear()
        sleeping = asyncio.ensure_future(self._sleep(seconds))
        called = asyncio.ensure_future(self._urgent.wait())
        try:
            await asyncio.wait([sleeping, called], return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            called.cancel()

    def _rest(self, group: MessageGroup) -> None:
        """The group is up to date; if it is final, it is finished."""
        group.in_step = True
        if group.final:
            self._end(group, DeliveryState.DELIVERED)

    async def _carry_out(self, group: MessageGroup, step: Step) -> None:
        group.served_at, wishes = self._now(), group.wishes
        async with self._requests:
            if group.wishes == wishes:  # else something else is wanted by now
                await self._try(group, step, wishes)

    async def _try(self, group: MessageGroup, step: Step, wishes: int) -> None:
        try:
            sent = await self._request(group, step)
        except MessageGoneError:
            group.gone(step)
        except ArchivedThreadError:
            await self._wake_thread(group)
        except TryLaterError as trouble:
            self._put_off(group, trouble)
        except NotAllowedError as fault:
            self._end(group, DeliveryState.NOT_ALLOWED, str(fault))
        except ChannelGoneError as fault:
            self._end(group, DeliveryState.CHANNEL_GONE, str(fault))
        except RefusedError as fault:
            self._refuse(group, fault, superseded=group.wishes != wishes)
        else:
            await group.done(step, sent)

    async def _request(self, group: MessageGroup, step: Step) -> Sent | None:
        draft = not group.final
        match step:
            case Send(body=body, nonce=nonce):
                self._budget.sent(self._now(), draft=draft)
                return await self.channel.send(body, nonce)
            case Edit(message_id=message_id, body=body):
                self._budget.edited(self._now(), draft=draft)
                await self.channel.edit(message_id, body)
            case Delete(message_id=message_id):
                await self.channel.delete(message_id)
        return None

    async def _wake_thread(self, group: MessageGroup) -> None:
        try:
            await self.channel.unarchive()
        except TryLaterError as trouble:
            self._put_off(group, trouble)
        except ChannelGoneError as fault:
            self._end(group, DeliveryState.CHANNEL_GONE, str(fault))
        except DeliveryError as fault:  # the thread is locked, or the server has too many open ones
            self._end(group, DeliveryState.NOT_ALLOWED, str(fault))

    def _put_off(self, group: MessageGroup, trouble: TryLaterError) -> None:
        now = self._now()
        if trouble.retry_after is not None:
            self._not_before = now + trouble.retry_after
        group.retry_at = now + BACK_OFF_S[min(group.failures, len(BACK_OFF_S) - 1)]
        group.failures += 1
        logger.warning("channel %s: try %d failed: %s", self.channel.id, group.failures, trouble)
        if group.final and group.failures >= MOST_ATTEMPTS:
            self._end(group, DeliveryState.UNREACHABLE, str(trouble))

    def _refuse(self, group: MessageGroup, fault: RefusedError, *, superseded: bool) -> None:
        """A refused draft is skipped; the next one may succeed."""
        logger.error("channel %s refuses a message: %s", self.channel.id, fault)
        if superseded:
            return
        group.in_step = True
        if group.final:
            self._end(group, DeliveryState.REFUSED, str(fault))

    def _end(self, group: MessageGroup, state: DeliveryState, reason: str = "") -> None:
        group.end(state, reason)
        group.in_step = True
        settled = self._settled.pop(group, None)
        if settled is not None and not settled.done():
            assert group.outcome is not None
            settled.set_result(group.outcome)


class ChannelWriters:
    """The writer of each channel, as long as anybody uses it."""

    def __init__(self, *, now: Now = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._now = now
        self._sleep = sleep
        self._writers: WeakValueDictionary[int, ChannelWriter] = WeakValueDictionary()
        self._requests: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def of(self, channel: Channel) -> ChannelWriter:
        writer = self._writers.get(channel.id)
        if writer is None:
            requests = self._requests_to(channel.id)
            writer = ChannelWriter(channel, now=self._now, sleep=self._sleep, requests=requests)
            self._writers[channel.id] = writer
        return writer

    def hurry(self) -> None:
        for writer in self._writers.values():
            writer.hurry()

    @asynccontextmanager
    async def still(self, channel_ids: Iterable[int], patience: float) -> AsyncIterator[None]:
        """Send, edit and delete nothing in these channels during the block; everything posted before it has been
        recorded.

        A request that takes longer than `patience` seconds is not waited for.
        """
        async with AsyncExitStack() as stack:
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    for channel_id in sorted({*channel_ids}):
                        await stack.enter_async_context(self._requests_to(channel_id))
            yield

    def _requests_to(self, channel_id: int) -> asyncio.Lock:
        return self._requests.setdefault(channel_id, asyncio.Lock())

    async def close(self, patience: float) -> None:
        """Let running work finish for `patience` seconds, then stop."""
        writers = list(self._writers.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await asyncio.gather(*(writer.idle() for writer in writers))
        await asyncio.gather(*(writer.close() for writer in writers))

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
PATIENCE = 25
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
    """Keeps the postings of one channel as they should be. Works only while there is something to do."""

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
        self._pace = RateBudget()
        self._postings: list[MessageGroup] = []
        self._not_before = 0.0
        self._urgent = asyncio.Event()
        self._settled: dict[MessageGroup, asyncio.Future[Delivery]] = {}
        self._task: asyncio.Task[None] | None = None

    def show(self, posting: MessageGroup, compose: Compose) -> None:
        """Post this as soon as the channel's pace allows; a later call replaces an earlier one."""
        if posting.outcome is None:
            posting.want(compose)
            self._work_on(posting)

    async def settle(self, posting: MessageGroup, compose: Compose) -> Delivery:
        """Post this for good; returns when it is done, or certain never to be."""
        if posting.outcome is not None:
            return posting.outcome
        posting.want(compose, final=True)
        settled = self._settled.setdefault(posting, asyncio.get_running_loop().create_future())
        self._work_on(posting)
        self._urgent.set()
        return await asyncio.shield(settled)

    def take_back(self, posting: MessageGroup) -> None:
        """Let nothing of this stand, as soon as may be. Returns at once."""
        if posting.outcome is None:
            posting.want(tuple, final=True)
            self._work_on(posting)
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

    def _work_on(self, posting: MessageGroup) -> None:
        if posting not in self._postings:
            self._postings.append(posting)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name=f"pump of channel {self.channel.id}")

    async def _run(self) -> None:
        try:
            while (posting := self._choose()) is not None:
                await self._advance(posting)
        except asyncio.CancelledError:
            self._abandon(lambda waiting: waiting.cancel())
            raise
        except Exception as error:
            logger.exception("the pump of channel %s broke", self.channel.id)
            broken = error
            self._abandon(lambda waiting: waiting.set_exception(broken))

    def _abandon(self, tell: Callable[[asyncio.Future[Delivery]], object]) -> None:
        """Release callers that wait for something that will not happen."""
        for waiting in self._settled.values():
            if not waiting.done():
                tell(waiting)
        self._settled.clear()
        self._postings.clear()

    def _choose(self) -> MessageGroup | None:
        """Final texts first, then what has waited longest."""
        self._postings = [each for each in self._postings if not each.in_step]
        waiting = sorted(self._postings, key=lambda each: (not each.final, each.retry_at, each.served_at))
        return waiting[0] if waiting else None

    async def _advance(self, posting: MessageGroup) -> None:
        """Carry out one step of a posting, or wait until it is allowed."""
        if (wait := self._until(posting)) > 0:
            await self._wait(wait)
            return
        step = await posting.next_step()
        if step is None:
            self._rest(posting)
        elif posting.final and (wait := self._until_free(step)) > 0:
            await self._wait(wait)
        else:
            await self._carry_out(posting, step)

    def _until(self, posting: MessageGroup) -> float:
        now = self._now()
        wait = max(self._not_before, posting.retry_at) - now
        if not posting.final and posting.stands:
            wait = max(wait, self._pace.until_draft(now))
        return wait

    def _until_free(self, step: Step) -> float:
        match step:
            case Send():
                return self._pace.until_send(self._now())
            case Edit():
                return self._pace.until_edit(self._now())
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

    def _rest(self, posting: MessageGroup) -> None:
        """The posting is up to date; a final one is finished."""
        posting.in_step = True
        if posting.final:
            self._end(posting, DeliveryState.DELIVERED)

    async def _carry_out(self, posting: MessageGroup, step: Step) -> None:
        posting.served_at, wishes = self._now(), posting.wishes
        async with self._requests:
            if posting.wishes == wishes:  # else something else is wanted by now
                await self._try(posting, step, wishes)

    async def _try(self, posting: MessageGroup, step: Step, wishes: int) -> None:
        try:
            sent = await self._request(posting, step)
        except MessageGoneError:
            posting.gone(step)
        except ArchivedThreadError:
            await self._wake_thread(posting)
        except TryLaterError as trouble:
            self._put_off(posting, trouble)
        except NotAllowedError as fault:
            self._end(posting, DeliveryState.NOT_ALLOWED, str(fault))
        except ChannelGoneError as fault:
            self._end(posting, DeliveryState.CHANNEL_GONE, str(fault))
        except RefusedError as fault:
            self._refuse(posting, fault, superseded=posting.wishes != wishes)
        else:
            await posting.done(step, sent)

    async def _request(self, posting: MessageGroup, step: Step) -> Sent | None:
        draft = not posting.final
        match step:
            case Send(body=body, nonce=nonce):
                self._pace.sent(self._now(), draft=draft)
                return await self.channel.send(body, nonce)
            case Edit(message_id=message_id, body=body):
                self._pace.edited(self._now(), draft=draft)
                await self.channel.edit(message_id, body)
            case Delete(message_id=message_id):
                await self.channel.delete(message_id)
        return None

    async def _wake_thread(self, posting: MessageGroup) -> None:
        try:
            await self.channel.unarchive()
        except TryLaterError as trouble:
            self._put_off(posting, trouble)
        except (NotAllowedError, ArchivedThreadError) as fault:
            self._end(posting, DeliveryState.NOT_ALLOWED, str(fault))
        except ChannelGoneError as fault:
            self._end(posting, DeliveryState.CHANNEL_GONE, str(fault))

    def _put_off(self, posting: MessageGroup, trouble: TryLaterError) -> None:
        now = self._now()
        if trouble.retry_after is not None:
            self._not_before = now + trouble.retry_after
        posting.retry_at = now + BACK_OFF_S[min(posting.failures, len(BACK_OFF_S) - 1)]
        posting.failures += 1
        logger.warning("channel %s: try %d failed: %s", self.channel.id, posting.failures, trouble)
        if posting.final and posting.failures >= PATIENCE:
            self._end(posting, DeliveryState.UNREACHABLE, str(trouble))

    def _refuse(self, posting: MessageGroup, fault: RefusedError, *, superseded: bool) -> None:
        """A refused draft is skipped; the next one may succeed."""
        logger.error("channel %s refuses a message: %s", self.channel.id, fault)
        if superseded:
            return
        posting.in_step = True
        if posting.final:
            self._end(posting, DeliveryState.REFUSED, str(fault))

    def _end(self, posting: MessageGroup, state: DeliveryState, reason: str = "") -> None:
        posting.end(state, reason)
        posting.in_step = True
        settled = self._settled.pop(posting, None)
        if settled is not None and not settled.done():
            assert posting.outcome is not None
            settled.set_result(posting.outcome)


class ChannelWriters:
    """The writer of each channel, as long as anybody uses it."""

    def __init__(self, *, now: Now = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._now = now
        self._sleep = sleep
        self._pumps: WeakValueDictionary[int, ChannelWriter] = WeakValueDictionary()
        self._requests: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def of(self, channel: Channel) -> ChannelWriter:
        pump = self._pumps.get(channel.id)
        if pump is None:
            requests = self._requests_to(channel.id)
            pump = ChannelWriter(channel, now=self._now, sleep=self._sleep, requests=requests)
            self._pumps[channel.id] = pump
        return pump

    @asynccontextmanager
    async def still(self, channel_ids: Iterable[int], patience: float) -> AsyncIterator[None]:
        """Send, edit and delete nothing in these channels during the block: whatever was posted before is noted.

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
        pumps = list(self._pumps.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await asyncio.gather(*(pump.idle() for pump in pumps))
        await asyncio.gather(*(pump.close() for pump in pumps))

"""A clock that a test turns by hand, and a channel that does as it is told."""

import asyncio
import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from cogs.delivery.message_group import ArchivedThreadError, DeliveryError, MessageGoneError, MessagePayload, Sent

SETTLE_ROUNDS = 30
"""Turns of the event loop in which everything that can happen without time passing has happened."""


class FakeClock:
    """Seconds pass only in `advance`, which wakes sleepers one by one in their order."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.seconds + seconds, next(self._order), waiting))
        await waiting

    async def advance(self, seconds: float) -> None:
        end = self.seconds + seconds
        await self.breathe()
        while self._sleepers and self._sleepers[0][0] <= end:
            at, _, waiting = heapq.heappop(self._sleepers)
            self.seconds = max(self.seconds, at)
            if not waiting.done():
                waiting.set_result(None)
            await self.breathe()
        self.seconds = end

    async def breathe(self) -> None:
        for _ in range(SETTLE_ROUNDS):
            await asyncio.sleep(0)


@dataclass
class Request:
    """`at` is the clock's time."""

    kind: str
    at: float
    body: MessagePayload | None = None
    message_id: str = ""
    nonce: str = ""


@dataclass
class FakeChannel:
    """A channel as Discord keeps it. `faults` strike the next requests, one each; None lets one pass.

    A `held` channel takes requests and does not answer them until it is released.
    """

    clock: FakeClock
    id: int = 7
    shown: dict[str, MessagePayload] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[DeliveryError | Exception | None] = field(default_factory=list)
    faults_after: list[DeliveryError] = field(default_factory=list)
    """Faults of requests that took effect."""
    archived: bool = False
    in_flight: int = 0
    most_in_flight: int = 0
    nonces: dict[str, str] = field(default_factory=dict)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.released.set()
        self._numbers = itertools.count(1)

    def hold(self) -> None:
        self.released.clear()

    async def send(self, body: MessagePayload, nonce: str) -> Sent:
        return await self._take(Request("send", self.clock.now(), body, nonce=nonce), lambda: self._send(body, nonce))

    async def edit(self, message_id: str, body: MessagePayload) -> None:
        await self._take(Request("edit", self.clock.now(), body, message_id), lambda: self._edit(message_id, body))

    async def delete(self, message_id: str) -> None:
        await self._take(Request("delete", self.clock.now(), None, message_id), lambda: self._delete(message_id))

    async def unarchive(self) -> None:
        await self._take(Request("unarchive", self.clock.now()), self._unarchive)

    async def typing(self) -> None:
        await self._take(Request("typing", self.clock.now()), lambda: Sent(""))

    @property
    def kinds(self) -> list[str]:
        return [request.kind for request in self.requests]

    @property
    def contents(self) -> list[str]:
        return [body.content for body in self.shown.values()]

    async def _take(self, request: Request, act: Callable[[], Sent]) -> Sent:
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.released.wait()
            if self.faults and (fault := self.faults.pop(0)) is not None:
                raise fault
            sent = act()
            if self.faults_after:
                raise self.faults_after.pop(0)
            return sent
        finally:
            self.in_flight -= 1

    def _send(self, body: MessagePayload, nonce: str) -> Sent:
        if (known := self.nonces.get(nonce)) is not None:
            if known not in self.shown:
                raise MessageGoneError("deleted")
            return Sent(known, as_sent=self.shown[known] == body)
        message_id = str(next(self._numbers))
        self.archived = False
        self.nonces[nonce] = message_id
        self.shown[message_id] = body
        return Sent(message_id)

    def _edit(self, message_id: str, body: MessagePayload) -> Sent:
        if message_id not in self.shown:
            raise MessageGoneError("deleted")
        if self.archived:
            raise ArchivedThreadError("asleep")
        self.shown[message_id] = body
        return Sent(message_id)

    def _delete(self, message_id: str) -> Sent:
        if self.shown.pop(message_id, None) is None:
            raise MessageGoneError("deleted")
        return Sent(message_id)

    def _unarchive(self) -> Sent:
        self.archived = False
        return Sent("")

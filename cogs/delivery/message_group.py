"""A group of messages: what each shows, the steps to what it should show, and the port to the channel."""

import base64
import hashlib
import logging
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cogs.rendering.tool_calls import EmbedData
from domain.errors import MarginaliaError

logger = logging.getLogger(__name__)

NONCE_DIGEST_BYTES = 12
"""Sixteen characters; with kind and number a nonce stays below Discord's limit of 25."""


@dataclass(frozen=True, slots=True)
class MessagePayload:
    """A message as a comparable value. `view` represents its buttons, in whatever form the channel's adapter
    understands. A `silent` message notifies nobody.
    """

    content: str = ""
    embeds: tuple[EmbedData, ...] = ()
    view: Hashable | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A posted message. `as_sent` False: it existed under that nonce, and shows something else."""

    message_id: str
    as_sent: bool = True


class Channel(Protocol):
    """A place for messages.

    Raises (all methods): DeliveryError.
    """

    @property
    def id(self) -> int: ...

    async def send(self, body: MessagePayload, nonce: str) -> Sent:
        """Post a message, or find the one that was posted with this nonce a few minutes ago."""
        ...

    async def edit(self, message_id: str, body: MessagePayload) -> None: ...
    async def delete(self, message_id: str) -> None: ...
    async def unarchive(self) -> None: ...
    async def typing(self) -> None:
        """Show for some ten seconds that something is being written."""
        ...


class DeliveryError(Exception):
    """Something did not get into the channel."""


class MessageGoneError(DeliveryError):
    """The message was deleted, or can no longer be edited."""


class ChannelGoneError(DeliveryError):
    """The channel or thread was deleted."""


class NotAllowedError(DeliveryError):
    """The bot may not do this here."""


class ArchivedThreadError(DeliveryError):
    """The thread is archived, and nothing in it can change until it is reopened."""


class RefusedError(DeliveryError):
    """Discord will never accept this body."""


class TryLaterError(DeliveryError):
    """Discord or the network has trouble. `retry_after` is Discord's advice in seconds, if any."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class DeliveryState(StrEnum):
    DELIVERED = "delivered"
    NOT_ALLOWED = "not_allowed"
    CHANNEL_GONE = "channel_gone"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of a group. `message_ids` are its messages, in order; `reason` is for the log."""

    state: DeliveryState
    message_ids: tuple[str, ...] = ()
    reason: str = ""

    @property
    def delivered(self) -> bool:
        return self.state is DeliveryState.DELIVERED


Messages = Sequence[MessagePayload | None]
"""What should be posted. None stands for an existing message that stays as it is."""

Compose = Callable[[], Messages | Awaitable[Messages]]
"""Makes the messages that should be posted; called when it is time to post, not at every change."""

Posted = Callable[[tuple[str, ...]], Awaitable[None]]
"""Receives the ids of all messages of a group whenever one is added."""


@dataclass(frozen=True, slots=True)
class Send:
    body: MessagePayload
    nonce: str


@dataclass(frozen=True, slots=True)
class Edit:
    message_id: str
    body: MessagePayload


@dataclass(frozen=True, slots=True)
class Delete:
    message_id: str


Step = Send | Edit | Delete


@dataclass(slots=True)
class _Standing:
    """`body` None: it is unknown what the message shows."""

    message_id: str
    body: MessagePayload | None


class MessageGroup:
    """One or more messages that form a unit: an answer, or the card of its tool calls.

    `kind` and the turn's id make up the nonces of its messages, so that a message sent again after a lost connection
    or a crash is not doubled. `standing` are existing messages. If somebody deletes one, it is posted again; without
    `reposts`, the others are deleted instead.
    """

    def __init__(
        self,
        turn_id: str,
        kind: str,
        *,
        standing: Sequence[str] = (),
        posted: Posted | None = None,
        reposts: bool = True,
    ) -> None:
        self._seed = f"{nonce_seed(turn_id)}:{kind}"
        self._sent = len(standing)
        self._standing = [_Standing(message_id, None) for message_id in standing]
        self._stale: list[str] = []
        self._compose: Compose = tuple
        self._bodies: tuple[MessagePayload | None, ...] = ()
        self._composed = 0
        self._posted = posted
        self._reposts = reposts
        self.wishes = 0
        self.final = False
        self.in_step = True
        self.failures = 0
        self.retry_at = 0.0
        self.served_at = 0.0
        self.outcome: Delivery | None = None

    @property
    def message_ids(self) -> tuple[str, ...]:
        return tuple(each.message_id for each in self._standing)

    @property
    def stands(self) -> bool:
        """Whether any of it is in the channel yet."""
        return bool(self._standing)

    def want(self, compose: Compose, *, final: bool = False) -> None:
        """Set what should be posted. After a final call drafts are ignored."""
        if self.final and not final:
            return
        self._compose = compose
        self.wishes += 1
        self.in_step = False
        if final:
            self.final, self.retry_at = True, 0.0

    async def next_step(self) -> Step | None:
        """The next step towards what should be posted; None when nothing is left to do.

        A draft is shown even if a newer one has arrived while it was composed: otherwise no draft of a fast model would
        ever be shown. It is not shown if the final text has arrived.
        """
        while True:
            if self._composed != self.wishes:
                await self._make_bodies()
            is_newest = self._composed == self.wishes
            if is_newest or not self.final:
                step = self._difference()
                if step is not None or is_newest:
                    return step

    async def _make_bodies(self) -> None:
        wishes = self.wishes
        made = self._compose()
        self._bodies = tuple(await made if isinstance(made, Awaitable) else made)
        self._composed = wishes

    def _difference(self) -> Step | None:
        if self._stale:
            return Delete(self._stale[0])
        if not self._bodies and not self.final:
            return None
        for index, body in enumerate(self._bodies):
            if body is None:
                continue
            if index == len(self._standing):
                return Send(body, f"{self._seed}{self._sent}")
            if self._standing[index].body != body:
                return Edit(self._standing[index].message_id, body)
        surplus = self._standing[len(self._bodies) :]
        return Delete(surplus[-1].message_id) if surplus else None

    async def done(self, step: Step, sent: Sent | None = None) -> None:
        """Record that a step succeeded."""
        self.failures = 0
        match step:
            case Send(body=body):
                assert sent is not None
                self._sent += 1
                self._standing.append(_Standing(sent.message_id, body if sent.as_sent else None))
                await self._tell()
            case Edit(message_id=message_id, body=body):
                for each in self._standing:
                    if each.message_id == message_id:
                        each.body = body
            case Delete(message_id=message_id):
                self._forget(message_id)

    def gone(self, step: Step) -> None:
        """Record that the step's message does not exist."""
        match step:
            case Send():
                self._sent += 1
            case Edit(message_id=message_id):
                self.lost(message_id)
            case Delete(message_id=message_id):
                self._forget(message_id)

    def lost(self, message_id: str) -> None:
        """Record that somebody has deleted a message; it and the ones after it are sent again with the next step, or
        all are deleted.
        """
        ids = self.message_ids
        if message_id in ids:
            index = ids.index(message_id)
            self._stale += ids[index + 1 :]
            del self._standing[index:]
            if not self._reposts:
                self.want(tuple, final=True)

    def shown(self, body: MessagePayload) -> None:
        """Record that the only message of this group was changed elsewhere: it shows `body` now."""
        if self._standing:
            self._standing[0].body = body

    def as_it_stands(self) -> Messages:
        """The messages as they are now; passed to `want`, it freezes the group."""
        return [None] * len(self._standing)

    def end(self, state: DeliveryState, reason: str = "") -> None:
        self.outcome = Delivery(state, self.message_ids, reason)

    async def _tell(self) -> None:
        """Report the ids; a posted message counts even if that fails."""
        try:
            if self._posted is not None:
                await self._posted(self.message_ids)
        except MarginaliaError as error:
            logger.error("posted messages %s were not noted: %s", self.message_ids, error)

    def _forget(self, message_id: str) -> None:
        self._stale = [each for each in self._stale if each != message_id]
        self._standing = [each for each in self._standing if each.message_id != message_id]


def nonce_seed(turn_id: str) -> str:
    digest = hashlib.blake2b(turn_id.encode(), digest_size=NONCE_DIGEST_BYTES).digest()
    return base64.urlsafe_b64encode(digest).decode()

"""What a message shows, and the port through which it gets into a channel."""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from cogs.rendering.tool_calls import EmbedData


@dataclass(frozen=True, slots=True)
class MessagePayload:
    """A message, as a value that can be compared.

    `view` stands for its buttons: whatever the channel's adapter makes a view of. A `silent` message notifies nobody
    when it is sent.
    """

    content: str = ""
    embeds: tuple[EmbedData, ...] = ()
    view: Hashable | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that stands. `as_sent` False: it was there before under that nonce, and shows something else."""

    message_id: str
    as_sent: bool = True


class Channel(Protocol):
    """A place for messages.

    Raises (all methods): DeliveryError.
    """

    @property
    def id(self) -> int: ...

    async def send(self, body: MessagePayload, nonce: str) -> Sent:
        """Post a message, or find the one that was posted under this nonce a few minutes ago."""
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
    """The message was deleted, or may be edited no more."""


class ChannelGoneError(DeliveryError):
    """The channel or thread was deleted."""


class NotAllowedError(DeliveryError):
    """The bot may not do this here."""


class ArchivedThreadError(DeliveryError):
    """The thread sleeps, and nothing in it may be changed until it is woken."""


class RefusedError(DeliveryError):
    """Discord will never take this body."""


class TryLaterError(DeliveryError):
    """Discord, or the way to it, is in trouble. `retry_after` is its own advice in seconds, where it gave one."""

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
    """What became of a posting. `message_ids` are the messages that stand, in order; `reason` is for the log."""

    state: DeliveryState
    message_ids: tuple[str, ...] = ()
    reason: str = ""

    @property
    def delivered(self) -> bool:
        return self.state is DeliveryState.DELIVERED

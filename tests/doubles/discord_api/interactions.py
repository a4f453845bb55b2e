"""Interactions: their deadlines, their one acknowledgement, and what came of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from tests.doubles.discord_api.entities import Channel, Json, Message, MessageFlag, User, as_read

ACKNOWLEDGE_WITHIN_S = 3.0
TOKEN_LIVES_S = 15 * 60.0


class InteractionType(IntEnum):
    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Callback(IntEnum):
    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE = 7
    CHOICES = 8
    MODAL = 9


ALLOWED = {
    InteractionType.COMMAND: {Callback.MESSAGE, Callback.DEFERRED_MESSAGE, Callback.MODAL},
    InteractionType.COMPONENT: set(Callback) - {Callback.CHOICES},
    InteractionType.AUTOCOMPLETE: {Callback.CHOICES},
    InteractionType.MODAL: set(Callback) - {Callback.CHOICES, Callback.MODAL},
}
"""Which callbacks answer which interactions."""


@dataclass(slots=True, eq=False)
class Interaction:
    """What a person did, and everything the bot answered to it."""

    id: int
    token: str
    type: InteractionType
    user: User
    channel: Channel
    created_at: float
    now: Callable[[], float] = field(repr=False)
    source: Message | None = None
    """The message whose button was pressed."""
    installs: Json = field(default_factory=dict)
    """`authorizing_integration_owners`: by which installation it is allowed here, and whose that is."""
    callback: Callback | None = None
    original: Message | None = None
    followups: list[Message] = field(default_factory=list)
    choices: list[Json] | None = None
    modal: Json | None = None

    @property
    def by_person_alone(self) -> bool:
        """Whether nobody but the person has installed the application here."""
        return "0" not in self.installs

    @property
    def acknowledged(self) -> bool:
        return self.callback is not None

    @property
    def late(self) -> bool:
        return not self.acknowledged and self.now() - self.created_at > ACKNOWLEDGE_WITHIN_S

    @property
    def expired(self) -> bool:
        return self.now() - self.created_at > TOKEN_LIVES_S

    @property
    def failed(self) -> bool:
        """The person reads "The application did not respond"."""
        return self.late

    @property
    def thinking(self) -> bool:
        """The person reads "… is thinking"."""
        return self.original is not None and MessageFlag.LOADING in self.original.flags

    @property
    def messages(self) -> list[Message]:
        """What the bot said to it that still stands, in order."""
        own = [self.original] if self.original and self.original is not self.source else []
        return [each for each in (*own, *self.followups) if not each.deleted and MessageFlag.LOADING not in each.flags]

    @property
    def message(self) -> Message:
        """The one thing said; AssertionError while there is none."""
        assert self.messages, f"nothing was said: {self}"
        return self.messages[0]

    @property
    def text(self) -> str:
        """All of it, embeds included, as a person reads it."""
        return "\n".join("\n".join([as_read(each.content), *each.embed_texts]) for each in self.messages)

    @property
    def ephemeral(self) -> bool:
        return self.message.ephemeral

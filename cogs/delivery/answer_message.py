"""The messages of an answer, by one path from the first draft to the final text."""

from collections.abc import Hashable, Sequence

from cogs.delivery.body import Body, Delivery
from cogs.delivery.posting import Posted, Posting
from cogs.delivery.pump import Pump
from cogs.rendering.answers import with_note
from cogs.rendering.markdown import render
from cogs.rendering.spoilers import split_with_spoilers

FIRST_WORDS = 40
"""Characters before a draft is shown at all: what is sent first is what a phone notifies with."""


class AnswerMessage:
    """An answer in a channel: as many messages as it needs, the buttons under the last.

    `seed` names what is answered: two attempts at the same are never two messages. `standing` are messages of an
    earlier attempt that are known to stand, and are made into the answer; `posted` is told of every message that is
    added.
    """

    def __init__(
        self,
        pump: Pump,
        seed: str,
        *,
        standing: Sequence[str] = (),
        posted: Posted | None = None,
    ) -> None:
        self._pump = pump
        self._posting = Posting(seed, "a", standing=standing, posted=posted)

    @property
    def message_ids(self) -> tuple[str, ...]:
        return self._posting.message_ids

    def show(self, text: str, note: str = "", view: Hashable | None = None) -> None:
        """Let this draft be seen when the channel's pace allows. Returns at once."""
        if note or len(text) >= FIRST_WORDS or self._posting.stands:
            self._pump.show(self._posting, lambda: self._bodies(text, note, view))

    async def settle(self, text: str, note: str = "", view: Hashable | None = None) -> Delivery:
        """Let this be the answer; returns when all of it stands, or never will."""
        return await self._pump.settle(self._posting, lambda: self._bodies(text, note, view))

    async def leave(self) -> tuple[str, ...]:
        """Change nothing any more; return the messages that stand, once no request for them is under way."""
        return (await self._pump.settle(self._posting, self._posting.as_it_stands)).message_ids

    def lost(self, message_id: str) -> None:
        """Somebody has deleted a message of the channel: if it is one of these, it is not left out."""
        self._posting.lost(message_id)

    async def remove(self) -> Delivery:
        """Take back all that stands of it."""
        return await self._pump.settle(self._posting, tuple)

    def _bodies(self, text: str, note: str, view: Hashable | None) -> list[Body]:
        *others, last = [Body(message) for message in messages_of(text, note)] or [Body("…")]
        return [*others, Body(last.content, view=view)]


def messages_of(text: str, note: str = "") -> list[str]:
    """The messages that show an answer."""
    return split_with_spoilers(with_note(render(text), note))

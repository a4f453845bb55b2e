"""The messages that show an answer and its tool calls, from the first draft to the final text."""

from collections.abc import Hashable, Iterable, Sequence
from functools import partial

from cogs.delivery.message_group import Delivery, MessageGroup, MessagePayload, Posted
from cogs.delivery.writer import ChannelWriter
from cogs.rendering.answers import with_note
from cogs.rendering.markdown import render
from cogs.rendering.splitting import split_with_spoilers, with_covers
from cogs.rendering.tool_calls import CallState, CardState, Press, ShownCall, first_state, render_card
from domain.book import Citation
from domain.citations.keys import in_language
from domain.concurrency import LONG_ANSWER, in_thread_if_long
from domain.errors import Say, in_english
from domain.event import NOTHING_WRITTEN, ToolCallFinished, ToolCallStarted

FIRST_WORDS = 40
"""Characters before a draft is shown at all, because a phone's notification shows what is sent first."""


class AnswerMessage:
    """An answer in a channel: as many messages as it needs, the buttons under the last.

    `say` is the channel's language. `seed` names what is answered: two attempts at the same never become two messages.
    `standing` are messages of an earlier attempt, which become this answer; `posted` is called for every new message.
    `reposts` is as for `MessageGroup`.
    """

    def __init__(
        self,
        writer: ChannelWriter,
        seed: str,
        *,
        say: Say = in_english,
        standing: Sequence[str] = (),
        posted: Posted | None = None,
        reposts: bool = True,
    ) -> None:
        self._writer = writer
        self._say = say
        self._group = MessageGroup(seed, "a", standing=standing, posted=posted, reposts=reposts)
        self._is_erased = False

    @property
    def message_ids(self) -> tuple[str, ...]:
        return self._group.message_ids

    def show(self, text: str, note: str = "", view: Hashable | None = None, *, cited: Sequence[Citation] = ()) -> None:
        """Show this draft when the channel's pace allows; `cited` is what it cites so far. Returns at once."""
        if note or len(text) >= FIRST_WORDS or self._group.stands:
            self._writer.show(self._group, lambda: self._bodies(text, note, view, cited))

    async def settle(
        self, text: str, note: str = "", view: Hashable | None = None, *, cited: Sequence[Citation] = ()
    ) -> Delivery:
        """Show this as the answer; returns once all of it is posted, or when it never can be."""
        return await self._writer.settle(self._group, lambda: self._bodies(text, note, view, cited))

    async def leave(self) -> tuple[str, ...]:
        """Stop changing anything; returns the existing messages once no request for them is running."""
        if self._is_erased:
            return (await self.remove()).message_ids
        return (await self._writer.settle(self._group, self._group.as_it_stands)).message_ids

    def lost(self, message_id: str) -> None:
        """Somebody has deleted a message of the channel, perhaps one of these."""
        self._group.lost(message_id)

    async def remove(self) -> Delivery:
        """Delete everything posted for it."""
        return await self._writer.settle(self._group, tuple)

    def erase(self) -> None:
        """Delete everything posted for it, and post nothing later, whatever is asked for. Returns at once."""
        self._is_erased = True
        self._writer.take_back(self._group)

    async def _bodies(
        self, text: str, note: str, view: Hashable | None, cited: Sequence[Citation]
    ) -> list[MessagePayload]:
        if self._is_erased:
            return []
        make = partial(messages_of, text, note, cited=cited, say=self._say)
        messages = await in_thread_if_long(text, LONG_ANSWER, make)
        *others, last = [MessagePayload(message) for message in messages] or [MessagePayload("…")]
        return [*others, MessagePayload(last.content, view=view)]


def messages_of(text: str, note: str = "", *, cited: Sequence[Citation] = (), say: Say = in_english) -> list[str]:
    """The messages that show an answer, its references to what is `cited` in the language of whoever reads it."""
    told = say(NOTHING_WRITTEN) if text == NOTHING_WRITTEN else in_language(text, cited, say)
    return split_with_spoilers(with_note(render(with_covers(told)), note))


class TraceMessage:
    """The card of tool calls, posted silently with the first call. Whatever a reader opened or folded stays so.

    `turn_id` is what its buttons carry; `seed` is that of the answer; `calls` are earlier ones.
    """

    def __init__(
        self,
        writer: ChannelWriter,
        turn_id: str,
        *,
        seed: str = "",
        say: Say = in_english,
        standing: str | None = None,
        posted: Posted | None = None,
        calls: Sequence[ShownCall] = (),
    ) -> None:
        self._writer = writer
        self._turn_id = turn_id
        self._say = say
        self._calls = {str(call.number): call for call in calls}
        self._chosen: CardState | None = None
        self._is_erased = False
        self._group = MessageGroup(seed or turn_id, "t", standing=[standing] if standing else [], posted=posted)

    def replace(self, calls: Iterable[ShownCall]) -> None:
        """Show these calls from the next update on."""
        self._calls = {str(call.number): call for call in calls}

    @property
    def calls(self) -> list[ShownCall]:
        return sorted(self._calls.values(), key=lambda call: call.number)

    def started(self, event: ToolCallStarted) -> None:
        self._calls[event.call_id] = ShownCall.started(event)
        self._show()

    def finished(self, event: ToolCallFinished) -> None:
        call = self._calls[event.call_id] = self._calls[event.call_id].finished(event)
        if call.state is CallState.FAILED and self._chosen is not None:
            self._chosen = self._chosen.with_open([call.number])
        self._show()

    def pressed(self, press: Press) -> MessagePayload:
        """The contents after a press while the turn runs; later calls keep to it."""
        self._chosen = press.after(self.calls)
        body = self._body()
        self._group.shown(body)
        return body

    @property
    def message_id(self) -> str | None:
        return next(iter(self._group.message_ids), None)

    async def leave(self) -> str | None:
        """Stop changing anything; returns the message, if it exists, once no request for it is running."""
        if self._is_erased:
            delivery = await self.remove()
        else:
            delivery = await self._writer.settle(self._group, self._group.as_it_stands)
        return next(iter(delivery.message_ids), None)

    async def remove(self) -> Delivery:
        """Delete the card."""
        return await self._writer.settle(self._group, tuple)

    def erase(self) -> None:
        """Delete the card, and post nothing later, whatever is asked for. Returns at once."""
        self._is_erased = True
        self._writer.take_back(self._group)

    async def settle(self) -> Delivery | None:
        """Return when the card is up to date; None if there were no calls."""
        return await self._writer.settle(self._group, self._bodies) if self._calls else None

    def _show(self) -> None:
        self._writer.show(self._group, self._bodies)

    def _bodies(self) -> list[MessagePayload]:
        return [] if self._is_erased else [self._body()]

    def _body(self) -> MessagePayload:
        state = self._chosen or first_state(self.calls)
        return card_body(self._turn_id, self.calls, state, self._say)


def card_body(turn_id: str, calls: list[ShownCall], state: CardState, say: Say = in_english) -> MessagePayload:
    """The card as a message; its view is its buttons."""
    card = render_card(turn_id, calls, state, say)
    return MessagePayload(embeds=card.embeds, view=card.buttons, silent=True)

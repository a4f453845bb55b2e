"""After a crash or an outage: answers that were made but not delivered, and turns that were interrupted."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import discord

from cogs.conversation.buttons import turn_shown_by, turn_traced_by
from cogs.conversation.presenter import PostedMessages, Showing, ThreadContext
from cogs.delivery.turn_messages import messages_of
from cogs.errors import retry_transient
from cogs.rendering.answers import answer_note
from cogs.rendering.inline import as_compared
from cogs.rendering.tool_calls import calls_of
from domain.book import Binding
from domain.chat import ChatMessage, MessageRole
from domain.citations.matching import uncited_in
from domain.conversation import Conversation, Turn, TurnState
from domain.event import Answer
from domain.tools.context import proposals_in
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

LOOKED_AT = 100
"""Messages after the oldest unanswered one: one request's worth."""


@dataclass(slots=True)
class Standing:
    """The bot's own messages, by the turn their buttons name; `plain` are those without such buttons, by text."""

    replies: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    traces: dict[str, str] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)

    def of(self, turn_id: str) -> PostedMessages:
        return PostedMessages(tuple(self.replies.get(turn_id, ())), self.traces.get(turn_id))

    def others_than(self, known: Iterable[str]) -> set[str]:
        """The turns other than these that have posted something."""
        return {*self.replies, *self.traces} - set(known)


async def look_around(place: ThreadContext, since: int | None) -> Standing:
    """What the bot has posted in the thread after the message with that id, else last; empty if it may not look.

    Raises:
        TRANSIENT_ERRORS: Discord has trouble; continuing without a look might post something twice.
    """
    standing, thread = Standing(), place.thread
    try:
        for message in await retry_transient(partial(_page, thread, since)):
            if message.author.id == place.own_id:
                _note(standing, message)
    except (discord.Forbidden, discord.NotFound) as fault:
        logger.warning("what stands in thread %s could not be read: %s", thread.id, fault)
    return standing


async def _page(thread: discord.abc.Messageable, since: int | None) -> list[discord.Message]:
    """Oldest first."""
    if since is None:
        return [message async for message in thread.history(limit=LOOKED_AT)][::-1]
    after = discord.Object(since)
    return [message async for message in thread.history(after=after, limit=LOOKED_AT, oldest_first=True)]


def _note(standing: Standing, message: discord.Message) -> None:
    names = list(_button_names(message))
    shown = next(filter(None, map(turn_shown_by, names)), None)
    traced = next(filter(None, map(turn_traced_by, names)), None)
    if shown:
        standing.replies[shown].append(str(message.id))
    elif traced:
        standing.traces.setdefault(traced, str(message.id))
    else:
        standing.plain.setdefault(as_compared(message.content), str(message.id))


def _button_names(message: discord.Message) -> Iterator[str]:
    for row in message.components:
        if isinstance(row, discord.ActionRow):
            yield from (part.custom_id for part in row.children if part.custom_id)


class Recovery:
    """Puts a conversation in order before anything new is answered in it."""

    def __init__(self, use_cases: UseCases, showing: Showing) -> None:
        self._use_cases = use_cases
        self._showing = showing

    async def clear_up(self, conversation: Conversation, place: ThreadContext) -> tuple[PostedMessages, bool]:
        """Deliver finished answers, and let interrupted questions wait again.

        Returns what interrupted turns have posted in the thread, and whether all finished answers are delivered now.
        """
        await self._use_cases.chat.withhold(conversation.id)
        history = await self._use_cases.transcripts.messages(conversation.id)
        turns = await self._use_cases.transcripts.turns(conversation.id)
        standing = await self._look_around(place, history, turns)
        answered = [turn for turn in turns if turn.state is TurnState.ANSWERED]
        delivered = [await self._deliver(turn, conversation, place, history, standing) for turn in answered]
        interrupted = await self._use_cases.chat.recover(conversation.id)
        gone = {turn.id for turn in interrupted}
        leftover = await self._orphans(standing, [turn.id for turn in turns if turn.id not in gone])
        for turn in interrupted:
            leftover += PostedMessages(turn.reply_ids, turn.trace_id)
        return leftover, all(delivered)

    async def _orphans(self, standing: Standing, known: Sequence[str]) -> PostedMessages:
        """What is left of deleted turns; direct messages may contain messages of other conversations too."""
        orphans = [each for each in standing.others_than(known) if not await self._use_cases.transcripts.played(each)]
        return sum(map(standing.of, orphans), PostedMessages())

    async def show_again(self, turn_id: str, conversation: Conversation, place: ThreadContext, remark: str) -> bool:
        """Show an answer as it was before it was to be made again, with a remark below; returns whether that worked.

        An answer that is gone needs no showing.
        """
        played = await self._use_cases.transcripts.played(turn_id)
        if played is None or played.turn.state is not TurnState.ANSWERED:
            return True
        return await self._deliver(played.turn, conversation, place, played.messages, Standing(), remark)

    async def _look_around(
        self, place: ThreadContext, history: Sequence[ChatMessage], turns: Sequence[Turn]
    ) -> Standing:
        """What has been posted after the oldest unfinished message."""
        done = {turn.id for turn in turns if turn.state is TurnState.DELIVERED or turn.told}
        questions = [message for message in history if message.role is MessageRole.USER and message.turn_id not in done]
        ids = [message.external_id for message in questions if message.external_id]
        # A question that came with a command has no message of its own, so there is nothing to look after.
        after_all = [int(each) for each in ids] if all(each.isdecimal() for each in ids) else []
        return await look_around(place, min(after_all, default=None)) if ids else Standing()

    async def _deliver(
        self,
        turn: Turn,
        conversation: Conversation,
        place: ThreadContext,
        history: Sequence[ChatMessage],
        standing: Standing,
        remark: str = "",
    ) -> bool:
        """Post an answer from storage, in the messages that exist for it already."""
        said = [message for message in history if message.turn_id == turn.id]
        asked = [message for message in said if message.role is MessageRole.USER]
        text = said[-1].content
        binding = await self._binding(conversation, asked, said[-1].depends_to)
        uncited = await uncited_in(text)
        answer = Answer(turn.id, text, said[-1].citations, stopped=turn.stopped, uncited=uncited, binding=binding)
        leftover = PostedMessages(turn.reply_ids, turn.trace_id) + standing.of(turn.id)
        verbose = bool(leftover.trace) or await self._showing.is_verbose(
            conversation, [each.author_id for each in asked]
        )
        note = answer_note(answer, place.say, verbose=verbose)
        messages = messages_of(text, note, cited=answer.citations, say=place.say)
        leftover += _unmarked(messages, leftover, standing)
        screen = self._showing.screen(
            turn.id,
            place,
            seed=asked[0].id,
            verbose=verbose,
            leftover=leftover,
            calls=calls_of(history, turn.id) if verbose else (),
        )
        screen.remark = remark
        for proposal in proposals_in(said):
            screen.follow(proposal)
        screen.follow(answer)
        return await self._showing.conclude(screen, place)

    async def _binding(
        self, conversation: Conversation, asked: Sequence[ChatMessage], depends_to: int | None
    ) -> Binding | None:
        """Who kept an answer from going further; None if nobody did, or somebody has moved since."""
        people = await self._use_cases.company.of(conversation.id)
        book = await self._use_cases.shelf.get(conversation.book_id)
        askers = [each.author_id for each in asked]
        found = await self._use_cases.positions.binding(people, askers, book, conversation)
        return found if found and found.read_to == depends_to else None


def _unmarked(messages: Sequence[str], known: PostedMessages, standing: Standing) -> PostedMessages:
    """Posted parts of an answer that were not recorded, identified by their text."""
    texts = map(as_compared, messages)
    found = {standing.plain[text] for text in texts if text in standing.plain} - {*known.replies}
    return PostedMessages(tuple(found))

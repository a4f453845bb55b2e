"""The actions of the buttons under answers. They read from storage, so a button works as long as its turn is stored."""

import asyncio
import io
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import discord
from discord.ui import DynamicItem

from cogs.access import assert_may_post, reach_of, within_reach
from cogs.cards import place_of
from cogs.conversation.buttons import (
    AGAIN,
    ALLOW,
    MOVE,
    PROPOSAL,
    REDO,
    REFUSE,
    RETRY,
    SOURCES,
    STOP,
    buttons_left,
    proposal_of,
    view_of,
)
from cogs.conversation.presenter import LiveTurn, LiveTurns, PostedMessages
from cogs.conversation.worker import ConversationWorkers
from cogs.delivery.channel import embeds_of
from cogs.delivery.message_group import MessagePayload
from cogs.delivery.turn_messages import card_body
from cogs.errors import Refusal, tell_kept
from cogs.i18n import Speech, speech_in, speech_of
from cogs.interactions import (
    acknowledge,
    change,
    defer_if_slow,
    on_press,
    page_asked,
    page_of,
    page_turner,
    reply,
    take_away,
)
from cogs.permissions import may_change
from cogs.rendering.answers import source_pages
from cogs.rendering.export import TRACE_NAME, trace_markdown
from cogs.rendering.tool_calls import Press, ShownCall, calls_of, read_press
from cogs.services import Action, server_of, shelf_of
from domain.book import Book, Citation, Surroundings
from domain.conversation import Conversation, TurnState
from domain.errors import BookError
from domain.event import PositionProposed
from domain.library.progress import has_said
from domain.turn.chat_with_book import Reader
from domain.turn.history import StoredTurn
from domain.turn.state import Decision
from domain.use_cases import UseCases


class AnswerButtons:
    """Acts on presses of the buttons under answers, questions and notices."""

    def __init__(self, use_cases: UseCases, workers: ConversationWorkers) -> None:
        self._use_cases = use_cases
        self._workers = workers
        self._live: LiveTurns = workers.live

    def items(self) -> tuple[type[DynamicItem[Any]], ...]:
        """The handlers of the buttons."""
        acts: dict[str, Action] = {
            STOP: self.stop,
            RETRY: self.retry,
            REDO: self.redo,
            SOURCES: self.sources,
            AGAIN: self.again,
            ALLOW: partial(self.decide, allowed=True),
            REFUSE: partial(self.decide, allowed=False),
        }
        return on_press(MOVE, self.move, PROPOSAL), *(on_press(action, act) for action, act in acts.items())

    async def stop(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        say, live = speech_of(interaction), self._live.get(turn_id)
        seen = live is not None and await defer_if_slow(interaction, within_reach(interaction, live.conversation))
        if live is None or not seen or live.presenter.ending is not None:
            raise Refusal(say("This answer is already finished."))
        _refuse_others(interaction, live.conversation, live.askers, say)
        self._use_cases.chat.stop(live.conversation.id)
        if not interaction.response.is_done():
            await interaction.response.defer()

    async def decide(self, interaction: discord.Interaction[Any], argument: str, *, allowed: bool) -> None:
        """Allow a call, or refuse it; `argument` is the turn, a colon and the question's id."""
        turn_id, _, approval_id = argument.partition(":")
        say, live = speech_of(interaction), self._live.get(turn_id)
        if live is None:
            raise Refusal(say("This no longer needs an answer."))
        reader = Reader(str(interaction.user.id), interaction.user.display_name)
        decision = self._use_cases.chat.decide(live.conversation.id, approval_id, reader, allowed=allowed)
        if decision is Decision.NOT_YOURS:
            raise Refusal(say("Only the person who asked can decide this."))
        if decision is Decision.GONE:
            raise Refusal(say("This no longer needs an answer."))
        await interaction.response.defer()

    async def retry(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        """Answer again, even if Discord has already reported the press as failed."""
        await acknowledge(interaction, ephemeral=True)
        say, shown = speech_of(interaction), await self._shown(interaction, turn_id)
        if shown is None or shown.turn.state is not TurnState.FAILED:
            raise Refusal(say("I'm already answering this question, or have answered it."))
        turn, conversation = shown.turn, shown.conversation
        _refuse_others(interaction, conversation, shown.askers, say)
        assert_may_post(interaction)
        await self._use_cases.transcripts.reopen(turn.id)
        leftover = PostedMessages(turn.reply_ids, turn.trace_id)
        self._workers.start(conversation.id, leftover, seen=conversation, notify=partial(tell_kept, interaction))

    async def redo(self, interaction: discord.Interaction[Any], turn_id: str) -> None:
        """Answer an answered question again; the new answer replaces the one above the button."""
        await acknowledge(interaction, ephemeral=True)
        say, shown = speech_of(interaction), await self._shown(interaction, turn_id)
        if shown is None or not shown.turn.has_answer:
            raise Refusal(say("This answer is no longer available, so it can't be made again."))
        if str(interaction.user.id) not in shown.askers:
            raise Refusal(say("Only the person who asked can have this answered again."))
        if shown.conversation.place_id != str(interaction.channel_id):
            raise Refusal(say("This conversation has moved elsewhere, so I can't answer again here."))
        if self._workers.answers_again(shown.turn):
            raise Refusal(say("I'm already answering this again."))
        assert_may_post(interaction)
        notify = partial(tell_kept, interaction)
        self._workers.start(shown.conversation.id, seen=shown.conversation, again=shown.turn.id, notify=notify)

    async def again(self, interaction: discord.Interaction[Any], conversation_id: str) -> None:
        """Answer what is waiting, and delete the message that explained the delay."""
        answerable = await acknowledge(interaction, ephemeral=True)
        conversation = await self._use_cases.conversations.find(conversation_id)
        if conversation is None or not await within_reach(interaction, conversation):
            raise Refusal(speech_of(interaction)("I'm already answering this question, or have answered it."))
        assert_may_post(interaction)
        await take_away(interaction, answerable=answerable)
        self._workers.start(conversation_id, seen=conversation, untidy=True, notify=partial(tell_kept, interaction))

    async def sources(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """Show the sentences an answer is based on to the person who presses; `argument` is the turn, a colon and the
        page.
        """
        (turn_id, number), say = page_asked(argument), speech_of(interaction)
        turning = interaction.message is not None and interaction.message.flags.ephemeral
        shown = await defer_if_slow(interaction, self._shown(interaction, turn_id), thinking=not turning)
        if shown is None:
            raise Refusal(say("This answer and its sources are no longer available."))
        citations = shown.citations
        reach, around = await defer_if_slow(
            interaction, self._around(interaction, shown.conversation, citations), thinking=not turning
        )
        pages = source_pages(citations, say, read_to=reach, around=around)
        page = page_of(pages, number, size=1)
        view = page_turner(SOURCES, turn_id, page, say) or discord.utils.MISSING
        await (change if turning else reply)(interaction, content=page.items[0], view=view)

    async def _around(
        self, interaction: discord.Interaction[Any], conversation: Conversation, citations: Sequence[Citation]
    ) -> tuple[int, Mapping[Citation, Surroundings]]:
        """How far the person may look, and the context of the citations up to there."""
        reach = await reach_of(interaction, conversation)
        book = await self._use_cases.shelf.get(conversation.book_id, shelf=shelf_of(interaction))
        try:
            return reach, await self._use_cases.reading.around(book, reach, citations)
        except BookError:  # its file is gone; the quotations are stored
            return reach, {}

    async def move(self, interaction: discord.Interaction[Any], argument: str) -> None:
        """Set the position that was proposed; `argument` is the turn, the reader and the place, separated by colons."""
        (turn_id, proposal), say = proposal_of(argument), speech_of(interaction)
        reader_id = proposal.reader_id
        if str(interaction.user.id) != reader_id:
            who = f"<@{reader_id}>"
            raise Refusal(say("Only {who} can confirm that. Set your own page with /progress.", who=who))
        await interaction.response.defer()
        shown = await self._shown(interaction, turn_id)
        if shown is None:
            raise Refusal(say("This answer is no longer available. Set your page with /progress."))
        if not has_said(shown.messages, proposal):
            raise Refusal(say("You didn't write that. Set your page with /progress."))
        book = await self._use_cases.shelf.get(shown.conversation.book_id, shelf=shelf_of(interaction))
        await self._move(proposal, book)
        interaction.client.dispatch("position_moved", reader_id, book.id)
        line = await place_of(reader_id, book, self._use_cases.positions, say)
        assert interaction.message is not None
        left = buttons_left(interaction.message, f"do:{MOVE}:{argument}")
        await interaction.edit_original_response(view=view_of(left) if left else None)
        await interaction.followup.send(line, ephemeral=True)

    async def _move(self, proposal: PositionProposed, book: Book) -> None:
        positions = self._use_cases.positions
        if proposal.chapter:
            await positions.set_chapter(proposal.reader_id, book, proposal.chapter)
        elif proposal.finished:
            await positions.finish(proposal.reader_id, book)
        else:
            await positions.set_page(proposal.reader_id, book, proposal.page)

    async def _shown(self, interaction: discord.Interaction[Any], turn_id: str) -> StoredTurn | None:
        """The turn that a button belongs to; None if it is no longer available, or the person may not see it."""
        stored = await self._use_cases.transcripts.turn(turn_id)
        if stored is None:
            return None
        is_here = interaction.message is not None and str(interaction.message.id) in stored.turn.reply_ids
        return stored if is_here or await within_reach(interaction, stored.conversation) else None


def _refuse_others(
    interaction: discord.Interaction[Any], conversation: Conversation, askers: Collection[str], say: Speech
) -> None:
    """Refuse a person who neither asked nor may change the conversation.

    Raises:
        Refusal: they may not.
    """
    asked = str(interaction.user.id) in askers
    if not asked and not may_change(interaction, conversation):
        raise Refusal(
            say(
                "Only the people who asked, the person who opened this conversation, or somebody with the "
                "permission “Manage Threads” can do that."
            )
        )


class ToolCallButtons:
    """Acts on presses of the buttons at the cards of tool calls."""

    def __init__(self, use_cases: UseCases, live: LiveTurns) -> None:
        self._use_cases = use_cases
        self._live = live

    async def press(self, interaction: discord.Interaction[Any], custom_id: str) -> None:
        """Carry out a press of a card's button, identified by its name."""
        press = read_press(custom_id)
        assert press is not None, "the pattern of the button and of the press are one"
        calls = await defer_if_slow(interaction, self._calls(interaction, press), thinking=press.wants_trace)
        if press.wants_trace:
            await _hand_out(interaction, calls)
        else:
            live = self._under_way(press.turn_id)
            body = live.presenter.pressed(press) if live else _card(interaction, press, calls)
            await change(interaction, embeds=embeds_of(body), view=view_of(body.view or ()))

    def _under_way(self, turn_id: str) -> LiveTurn | None:
        """The turn if it is running; a card stays with its own turn while that is being answered again."""
        live = self._live.get(turn_id)
        return live if live is not None and live.presenter.turn_id == turn_id else None

    async def _calls(self, interaction: discord.Interaction[Any], press: Press) -> list[ShownCall]:
        """The calls as they happen, or as they were stored.

        Raises:
            Refusal: they are no longer available, the person may not see them, or they show more of the book than the
            person has read.
        """
        live = self._under_way(press.turn_id)
        kept = (live.conversation, live.presenter.calls, None) if live else await self._kept(press.turn_id)
        conversation, calls, depends_to = kept
        if conversation is None or not calls or not await within_reach(interaction, conversation):
            raise Refusal(speech_of(interaction)("These lookups are no longer available."))
        if press.opens(calls):
            await self._refuse_beyond(interaction, conversation, depends_to, alone=press.wants_trace)
        return calls

    async def _refuse_beyond(
        self, interaction: discord.Interaction[Any], conversation: Conversation, depends_to: int | None, *, alone: bool
    ) -> None:
        """Refuse to show calls that depend on more of the book than may be seen.

        `alone`: only the person will see it, else everybody in the thread. The bound of a running turn is that of the
        people in the thread and therefore unknown here (None).

        Raises:
            Refusal: the calls depend on more of the book than that.
        """
        say, mine = speech_of(interaction), await reach_of(interaction, conversation)
        positions, asker = self._use_cases.positions, str(interaction.user.id)
        book = await self._use_cases.shelf.get(conversation.book_id)
        people = await self._use_cases.company.of(conversation.id)
        if depends_to is None:
            depends_to = await positions.lowest(people, book)
        if depends_to > mine:
            raise Refusal(say("This shows more of the book than you've read. /progress shows where you are."))
        if alone or depends_to <= await positions.bounds.of([*people, asker], book, conversation):
            return
        binding = await positions.binding(people, [asker], book, conversation)
        if binding is None or not binding.reader_id:
            raise Refusal(say("Somebody here hasn't read this far. “Show everything” shows it only to you."))
        who = f"<@{binding.reader_id}>"
        raise Refusal(say("{who} hasn't read this far. “Show everything” shows it only to you.", who=who))

    async def _kept(self, turn_id: str) -> tuple[Conversation | None, list[ShownCall], int]:
        stored = await self._use_cases.transcripts.turn(turn_id)
        if stored is None:
            return None, [], 0
        return stored.conversation, calls_of(stored.messages, turn_id), stored.depends_to


def _card(interaction: discord.Interaction[Any], press: Press, calls: list[ShownCall]) -> MessagePayload:
    """In the language of the place, as everybody there sees it."""
    server = server_of(interaction)
    say = speech_of(interaction) if server is None else speech_in(server)
    return card_body(press.turn_id, calls, press.after(calls), say)


async def _hand_out(interaction: discord.Interaction[Any], calls: list[ShownCall]) -> None:
    trace = await asyncio.to_thread(trace_markdown, calls, say=speech_of(interaction))
    file = discord.File(io.BytesIO(trace), TRACE_NAME)
    if interaction.response.is_done():
        await interaction.followup.send(file=file, ephemeral=True)
    else:
        await interaction.response.send_message(file=file, ephemeral=True)

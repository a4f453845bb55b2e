"""The display of one turn: a status line that becomes the answer, and the tool calls if people want to see them."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import discord

from cogs.conversation.buttons import (
    Buttons,
    approval_buttons,
    buttons_of_edited,
    move_buttons,
    redo_button,
    retry_button,
    sources_button,
    stop_button,
    view_of,
)
from cogs.delivery.channel import DiscordChannel
from cogs.delivery.message_group import Delivery, DeliveryError, DeliveryState, MessagePayload
from cogs.delivery.turn_messages import FIRST_WORDS, AnswerMessage, TraceMessage
from cogs.delivery.writer import ChannelWriter, ChannelWriters
from cogs.errors import DISCORD_ERRORS, is_away, retry_transient, sentence_for
from cogs.i18n import Speech, direct_speech, last_direct_speeches, later, speech_in
from cogs.permissions import FOR_ANSWERS, granted_to, missing
from cogs.removals import WAS_KNOWN, Removals
from cogs.rendering.answers import answer_note, approval_note, failure_note, status_line
from cogs.rendering.inline import escape, inert
from cogs.rendering.tool_calls import Press, ShownCall
from cogs.services import ServingBot
from cogs.threads import thread_of
from domain.book import Citation
from domain.concurrency import ANSWERING
from domain.conversation import Conversation, Turn
from domain.errors import LLMErrorCode, MarginaliaError
from domain.event import (
    Answer,
    ApprovalAsked,
    ApprovalSettled,
    DraftDiscarded,
    PositionProposed,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEvent,
    TurnFailed,
)
from domain.records import PersonalPost
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

STATUS_AFTER_S = 1.5
"""How long a turn shows nothing before the status line appears, with its Stop button."""
STATUS_BEFORE_CALLS_S = 4.0
"""The same where tool calls are shown: it takes a little longer, so that their card comes above the answer."""
PREAMBLE = 300
"""Characters that a model may say before a tool call and then take back."""

ONES_OWN_LIMITS = frozenset({LLMErrorCode.DAILY_LIMIT, LLMErrorCode.TURN_LIMIT})
"""Failures that concern only the asker."""

Record = Callable[[Sequence[str], str | None], Awaitable[None]]
"""Records which messages show a turn: its answer's, and the card of its tool calls."""


@dataclass(frozen=True, slots=True)
class PostedMessages:
    """Messages of a failed attempt, which the next attempt reuses."""

    replies: tuple[str, ...] = ()
    trace: str | None = None

    def __add__(self, other: "PostedMessages") -> "PostedMessages":
        replies = sorted({*self.replies, *other.replies}, key=int)
        return PostedMessages(tuple(replies), self.trace or other.trace)

    def __bool__(self) -> bool:
        return bool(self.replies or self.trace)


NOTHING = PostedMessages()


class TurnPresenter:
    """Shows the events of one turn in a channel. `seed` identifies what is answered, across attempts."""

    def __init__(
        self,
        writer: ChannelWriter,
        turn_id: str,
        *,
        seed: str,
        say: Speech,
        verbose: bool,
        record: Record,
        leftover: PostedMessages = NOTHING,
        calls: Sequence[ShownCall] = (),
    ) -> None:
        self.turn_id = turn_id
        self.shown_as = turn_id
        """The turn that the buttons name while this one runs."""
        self.ending: Answer | TurnFailed | None = None
        self._writer = writer
        self._seed = seed
        self._say = say
        self._verbose = verbose
        self._record = record
        self._stop = stop_button(turn_id, say)
        self._answer = self._answer_message(seed, leftover.replies)
        self._trace = TraceMessage(
            writer, turn_id, seed=seed, say=say, standing=leftover.trace, posted=self._posted, calls=calls
        )
        self._calls = {str(call.number): call for call in calls}
        self._text = ""
        self._cited: tuple[Citation, ...] = ()
        self._proposals: list[PositionProposed] = []
        self._approvals: dict[str, ApprovalAsked] = {}
        self._visible = bool(leftover.replies)
        self._held: Answer | None = None
        self.remark = ""
        """An additional remark below an answer."""
        self.began_at: datetime | None = None
        """A time, by the program's clock, before anything that the turn shows about people was read."""
        self._settling: asyncio.Task[Delivery] | None = None
        self._removing: asyncio.Task[Delivery] | None = None
        wait = STATUS_BEFORE_CALLS_S if verbose else STATUS_AFTER_S
        self._timer = asyncio.get_running_loop().call_later(wait, self._show_status)

    @property
    def shown(self) -> PostedMessages:
        """The messages that show the turn now."""
        return PostedMessages(self._answer.message_ids, self._trace.message_id)

    def hold(self, earlier: Answer) -> None:
        """Keep an earlier answer on display until this turn has one, with the progress below it.

        Until then the messages belong to the earlier turn, in case this one never ends.
        """
        self._held = earlier
        self.shown_as = earlier.turn_id
        self._stop = stop_button(self.shown_as, self._say)
        self._timer.cancel()
        self._show()

    def follow(self, event: TurnEvent) -> None:
        """Show an event as soon as the channel's pace allows. Returns at once."""
        match event:
            case TextDelta():
                self._text += event.text
                self._cited = event.citations
            case DraftDiscarded():
                self._text, self._cited = "", ()
            case PositionProposed():
                self._proposals.append(event)
            case ApprovalAsked():
                self._approvals[event.approval_id] = event
            case ApprovalSettled(approval_id=approval_id):
                self._approvals.pop(approval_id, None)
            case ToolCallStarted():
                self._call_started(event)
            case ToolCallFinished():
                self._call_finished(event)
            case Answer() | TurnFailed():
                self._end(event)
        self._show()

    def lost(self, message_id: str) -> None:
        """Somebody has deleted a message of the channel."""
        self._answer.lost(message_id)

    def erase(self) -> None:
        """Delete everything posted for the turn, and post nothing more, because it was erased. Returns at once."""
        self._timer.cancel()
        self._answer.erase()
        self._trace.erase()

    def pressed(self, press: Press) -> MessagePayload:
        """The contents of the card of tool calls after a press of one of its buttons."""
        return self._trace.pressed(press)

    @property
    def calls(self) -> list[ShownCall]:
        return self._trace.calls

    async def settled(self) -> Delivery:
        """Return when the turn's end is posted, or never will be."""
        assert self._settling is not None, "the turn has not ended"
        return await asyncio.shield(self._settling)

    async def leave(self) -> PostedMessages:
        """Stop showing anything, because the turn was taken back. The next attempt reuses its messages."""
        self._timer.cancel()
        return PostedMessages(await self._answer.leave(), await self._trace.leave())

    async def pause(self) -> None:
        """Say that the answer will be made after a restart. The Stop button stays, because it identifies the message's
        turn.
        """
        self._timer.cancel()
        if self._answer.message_ids and self._held is None:
            note = self._say("-# ⏸ I'm restarting and will start this answer again in a moment.")
            await self._answer.settle("", note, self._stop)

    def _call_started(self, event: ToolCallStarted) -> None:
        self._calls[event.call_id] = ShownCall.started(event)
        self._visible = True
        if self._verbose and self._held is None:
            if self._answer.message_ids and self._trace.message_id is None:
                self._move_below()
            self._trace.started(event)

    def _call_finished(self, event: ToolCallFinished) -> None:
        self._calls[event.call_id] = self._calls[event.call_id].finished(event)
        if self._verbose and self._held is None:
            self._trace.finished(event)

    def _move_below(self) -> None:
        """Post the answer again, because the new card belongs above it."""
        self._removing = asyncio.create_task(self._answer.remove())
        self._answer = self._answer_message(f"{self._seed} below", ())

    def _show_status(self) -> None:
        self._visible = True
        self._show()

    def _show(self) -> None:
        """Show the text, or a status line while there is none.

        Where calls are shown, a short text may be what a model says before one. A call that waits for its asker's
        decision takes precedence, because nothing continues without it.
        """
        earlier, cited = (self._held.text, self._held.citations) if self._held else ("", ())
        if self.ending is None and self._approvals:
            asked = next(iter(self._approvals.values()))
            buttons = approval_buttons(self.shown_as, asked.approval_id, self._say) + self._stop
            self._answer.show(earlier, approval_note(asked, self._say), buttons, cited=cited)
            return
        if self.ending is None and self._held:
            doing = status_line(list(self._calls.values()), self._say)
            note = "\n".join(filter(None, [answer_note(self._held, self._say), doing]))
            self._answer.show(earlier, note, self._stop, cited=cited)
            return
        if self.ending is not None or not (self._visible or len(self._text) >= (PREAMBLE if self._verbose else 1)):
            return
        if len(self._text) >= FIRST_WORDS or (self._text and self._answer.message_ids):
            self._answer.show(self._text, "", self._stop, cited=self._cited)
        elif self._visible:
            note = status_line([] if self._verbose else list(self._calls.values()), self._say)
            self._answer.show("", note, self._stop)

    def _end(self, event: Answer | TurnFailed) -> None:
        self._timer.cancel()
        self.ending = event
        if self._held and isinstance(event, TurnFailed):
            return  # the earlier answer is shown as it was
        self._settling = asyncio.create_task(self._settle(event))

    async def _settle(self, event: Answer | TurnFailed) -> Delivery:
        if self._held and self._verbose:
            self._trace.replace(self._calls.values())
        if self._calls and self._verbose and self._trace.message_id is None:
            await self._trace.settle()
        if isinstance(event, Answer):
            note = "\n".join(filter(None, [answer_note(event, self._say, verbose=self._verbose), self.remark]))
            buttons = self._buttons(event) or None
            delivery = await self._answer.settle(event.text, note, buttons, cited=event.citations)
        else:
            note = failure_note(event, self._say.failure(event.code, event.message), self._say)
            retry = retry_button(event.turn_id, self._say)
            delivery = await self._answer.settle(event.partial, note, retry, cited=self._cited)
        if await self._trace.settle() is None and self._trace.message_id is not None:
            await self._trace.remove()
        return delivery

    def _buttons(self, answer: Answer) -> Buttons:
        sources = sources_button(answer.turn_id, self._say) if answer.citations else ()
        redo = redo_button(answer.turn_id, self._say)
        return sources + redo + move_buttons(answer.turn_id, dict.fromkeys(self._proposals), self._say)

    def _answer_message(self, seed: str, standing: Sequence[str]) -> AnswerMessage:
        return AnswerMessage(self._writer, seed, say=self._say, standing=standing, posted=self._posted)

    async def _posted(self, _: object) -> None:
        await self._record(self._answer.message_ids, self._trace.message_id)


def failure_of(turn_id: str, error: Exception, say: Speech) -> TurnFailed:
    """The final event of a turn that an error has ended."""
    if isinstance(error, MarginaliaError):
        return TurnFailed(turn_id, error.code, error.message)
    return TurnFailed(turn_id, "internal", sentence_for(error, say))


class ThreadContext:
    """A thread or the channel of direct messages, and everything needed to post there. `own_id` is the bot's id."""

    def __init__(
        self,
        thread: discord.Thread | discord.PartialMessageable,
        bot: ServingBot,
        writers: ChannelWriters,
        removals: Removals,
        say: Speech,
    ) -> None:
        assert bot.user is not None, "places are looked for after the log-in"
        self.thread = thread
        self.audit = bot.audit
        self.removals = removals
        self.retries = bot.storage_retries
        self.own_id = bot.user.id
        self.channel = DiscordChannel(thread, view_of, self.own_id)
        self.writer: ChannelWriter = writers.of(self.channel)
        self.say = say

    @property
    def lacking(self) -> list[str]:
        """The permissions the bot lacks for writing here, as far as is known."""
        thread = self.thread
        if not isinstance(thread, discord.Thread) or thread.parent is None:
            return []
        return missing(granted_to(thread.guild.me, thread.parent), FOR_ANSWERS)

    @property
    def obstacle(self) -> str:
        """What prevents writing here, for the operator; empty if nothing does, as far as is known."""
        return f"in thread {self.thread.id} the bot lacks {', '.join(self.lacking)}" if self.lacking else ""


class ThreadContexts:
    """Finds the thread of each conversation, and remembers where a message says that the database is away."""

    def __init__(self, bot: ServingBot, use_cases: UseCases, writers: ChannelWriters, removals: Removals) -> None:
        self._bot = bot
        self._use_cases = use_cases
        self._writers = writers
        self._removals = removals
        self.told_below: set[int] = set()
        """The threads with such a notice below a message that could not be stored."""
        self.told_above: set[int] = set()
        """The threads with such a notice in place of an answer."""

    def is_outage_told(self, thread_id: int) -> bool:
        """Whether a message in a thread says that the database is away; one of the two is enough."""
        return thread_id in self.told_below or thread_id in self.told_above

    async def of(self, conversation: Conversation, *, is_away: bool = False) -> ThreadContext | None:
        """The place of a conversation; None if it has none that the bot can reach. `is_away`: the database is, so the
        language of direct messages is the last that was known.

        Raises:
            discord.HTTPException: Discord has trouble.
            StorageError: the language to use there cannot be looked up.
        """
        if conversation.guild_id is None or conversation.place_id is None:
            return None
        if conversation.is_direct:
            if not self._bot.serves_direct_messages:
                return None
            if is_away:
                say = last_direct_speeches(self._use_cases, conversation.owner_id)[0]
            else:
                say = await direct_speech(self._use_cases, conversation.owner_id)
            return self._context(self._bot.direct_channel(int(conversation.place_id)), say)
        guild = self._bot.get_guild(int(conversation.guild_id))
        thread = await thread_of(guild, conversation)
        return self._context(thread, speech_in(thread.guild)) if thread else None

    async def tell_without_lease(self, note: str, buttons: Buttons, place: ThreadContext) -> PostedMessages:
        """Say in a message of its own that the database is away, unless one says so. Whoever answers next deletes it.
        Drafts stay as they are: if only this process is cut off, another one writes its answer there.

        Raises:
            DeliveryError: Discord refuses, or has trouble.
        """
        if self.is_outage_told(place.thread.id):
            return NOTHING
        self.told_above.add(place.thread.id)
        answering = ANSWERING.set(False)
        try:
            sent = await place.channel.send(MessagePayload(note, view=buttons), secrets.token_hex(8))
        except DeliveryError:
            self.told_above.discard(place.thread.id)
            raise
        finally:
            ANSWERING.reset(answering)
        return PostedMessages((sent.message_id,))

    def _context(self, place: discord.Thread | discord.PartialMessageable, say: Speech) -> ThreadContext:
        return ThreadContext(place, self._bot, self._writers, self._removals, say)


class TurnPresenters:
    """Makes presenters for turns, and records what they have delivered."""

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases

    async def is_verbose(self, conversation: Conversation, askers: Sequence[str]) -> bool:
        """Whether tool calls are shown: as chosen for the thread, else as the last author has it."""
        if conversation.verbose is not None:
            return conversation.verbose
        return await self._use_cases.shows_calls(askers[-1] if askers else None, conversation.server_id)

    def make(
        self,
        turn_id: str,
        place: ThreadContext,
        *,
        seed: str,
        verbose: bool,
        leftover: PostedMessages = NOTHING,
        calls: Sequence[ShownCall] = (),
    ) -> TurnPresenter:
        presenter = TurnPresenter(
            place.writer,
            turn_id,
            seed=seed,
            say=place.say,
            verbose=verbose,
            record=partial(self._use_cases.transcripts.record_delivery, turn_id),
            leftover=leftover,
            calls=calls,
        )
        presenter.began_at = self._use_cases.clock() - WAS_KNOWN
        return presenter

    async def conclude(self, presenter: TurnPresenter, place: ThreadContext) -> bool:
        """Deliver the end of a turn to its readers. False: it has to be retried later."""
        delivery = await presenter.settled()
        if isinstance(presenter.ending, TurnFailed) and presenter.ending.code not in ONES_OWN_LIMITS:
            reason = place.say.failure(presenter.ending.code, presenter.ending.message)
            text = later("An answer failed in {thread}: {reason}")
            place.audit.trouble(place.thread.guild, text, thread=place.thread.mention, reason=inert(reason, ours=True))
        if delivery.state is DeliveryState.REFUSED:
            text = place.say("⚠️ Discord refuses this answer. You can read it with /conversations export.")
            delivery = await AnswerMessage(place.writer, f"{presenter.turn_id} refused").settle("", text)
        if not delivery.delivered:
            reason = place.obstacle or delivery.reason
            logger.warning("turn %s was not delivered: %s, %s", presenter.turn_id, delivery.state, reason)
            text = later("I couldn't show an answer in {thread}.")
            place.audit.trouble(place.thread.guild, text, thread=place.thread.mention)
            return False
        binding = presenter.ending.binding if isinstance(presenter.ending, Answer) else None
        if binding is not None and binding.name and delivery.message_ids:  # until it is noted, nothing is delivered
            guild_id = str(place.thread.guild.id) if place.thread.guild else None
            where = (delivery.message_ids[-1], str(place.thread.id), binding.reader_id, guild_id)
            name = escape(binding.name)
            await place.removals.note(PersonalPost(*where, name=name, as_of=presenter.began_at, as_of_turn=True))
        delivered = partial(
            self._use_cases.chat.delivered, presenter.turn_id, delivery.message_ids, presenter.shown.trace
        )
        try:
            if not await delivered():
                await self.remove(presenter.shown, place)
        except MarginaliaError as error:  # it is posted; if it is not noted later, the next start will find it
            logger.error("the delivery of turn %s was not noted: %s", presenter.turn_id, error)
            if is_away(error):
                place.retries.begin(partial(place.retries.until_stored, delivered, f"delivery {presenter.turn_id}"))
        return True

    async def offer_again(self, turn: Turn, place: ThreadContext) -> None:
        """Add a button to an answer that makes it again, because its question was edited."""
        try:
            message = await retry_transient(partial(place.thread.fetch_message, int(turn.reply_ids[-1])))
            view = view_of(buttons_of_edited(message, turn.id, place.say))
            await retry_transient(partial(message.edit, view=view))
        except DISCORD_ERRORS as error:
            logger.info("turn %s could not offer to be answered again: %s", turn.id, error)

    async def remove(self, leftover: PostedMessages, place: ThreadContext) -> None:
        """Delete what a turn has posted if it gets no answer."""
        if leftover.replies:
            await AnswerMessage(place.writer, "leftover", standing=leftover.replies).remove()
        if leftover.trace:
            await TraceMessage(place.writer, "leftover", standing=leftover.trace).remove()


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """`askers` are the ids of the authors of the questions."""

    presenter: TurnPresenter
    conversation: Conversation
    askers: tuple[str, ...]


LiveTurns = dict[str, LiveTurn]

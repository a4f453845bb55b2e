"""Answering everything that is waiting in one conversation, turn by turn."""

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from functools import partial

import discord

from cogs.conversation.buttons import again_button
from cogs.conversation.presenter import (
    NOTHING,
    LiveTurn,
    LiveTurns,
    PostedMessages,
    ThreadContext,
    ThreadContexts,
    TurnPresenter,
    TurnPresenters,
    failure_of,
)
from cogs.conversation.recovery import Recovery
from cogs.delivery.channel import Typing
from cogs.delivery.turn_messages import AnswerMessage
from cogs.errors import DISCORD_ERRORS, TRANSIENT_ERRORS, TakeBack, is_away, waiting_sentence
from cogs.permissions import timed_out_for
from cogs.rendering.answers import kept_note
from cogs.services import NotifyPrivately
from cogs.threads import TitleUpdates, dismiss_absent
from domain.concurrency import ANSWERING, is_lease_lost
from domain.conversation import Conversation, Turn, TurnState
from domain.errors import ConversationError, ConversationErrorCode, StorageError, StorageErrorCode
from domain.event import Answer, TurnEvent, TurnFailed, TurnStarted
from domain.turn.history import StoredTurn
from domain.use_cases import UseCases

logger = logging.getLogger(__name__)

POSTING_TAKES_S = 1.0
"""A lease that ends sooner may be lost before a message is posted under it."""

COME_BACK_AFTER_S = (5.0, 20.0, 60.0, 300.0, 900.0, 1800.0)
"""When to retry in a conversation in which Discord refused a post; after that, the next start does."""


class ConversationWorker:
    """Answers in one conversation until nothing is waiting there.

    `leftover` are messages of earlier attempts, for the next turn to reuse. `untidy` holds the conversations that have
    to be put in order before anything is answered.
    """

    def __init__(
        self,
        conversation_id: str,
        *,
        use_cases: UseCases,
        places: ThreadContexts,
        presenters: TurnPresenters,
        titles: TitleUpdates,
        live: LiveTurns,
        untidy: set[str],
    ) -> None:
        self._id = conversation_id
        self._use_cases = use_cases
        self._places = places
        self._presenters = presenters
        self._recovery = Recovery(use_cases, presenters)
        self._titles = titles
        self._live = live
        self._presenter: TurnPresenter | None = None
        self._untidy = untidy
        self.leftover = NOTHING
        self.again: list[str] = []
        """The turns that are to be answered again, in order; the current one comes first."""
        self.notifies: list[NotifyPrivately] = []
        """How to notify people who wait for an answer outside the thread."""
        self.seen: Conversation | None = None
        """The conversation as it was when it was last read."""
        self.wanted = True
        self.closing = False
        self.told: list[TakeBack] = []
        """The private notices sent to these people, to be deleted once the answer is posted."""
        self.cut_short = False
        """Whether it ended with a failure that no reader was told about, so that it has to be retried."""
        self.timed_out_for = 0.0
        """The seconds until a retry makes sense, if a moderator has put the bot in timeout."""

    @property
    def is_delivering(self) -> bool:
        """Whether an answer is finished and being delivered."""
        return self._presenter is not None and self._presenter.ending is not None

    def take_over(self, last: "ConversationWorker") -> None:
        """Continue where a worker has ended: with the notice it posted about a failure, and what it still had to do."""
        self.leftover, self.told, self.seen = last.leftover, last.told, last.seen
        if last.cut_short:
            self.again, self.notifies = last.again, last.notifies

    async def run(self, opened: asyncio.Event) -> None:
        """Answer what is waiting and what arrives meanwhile. Never raises: failures end in a sentence in the thread."""
        ANSWERING.set(True)
        await opened.wait()
        while self.wanted and not self.closing:
            self.wanted = self.cut_short = is_told = False
            place = None
            try:
                self.seen = conversation = await self._use_cases.conversations.find(self._id)
                place = await self._places.of(conversation) if conversation else None
                if conversation and place:
                    await self._answer_all(conversation, place)
                elif conversation:
                    await self._tell_privately([])
            except Exception as error:  # noqa: BLE001 - whatever it is, the reader is told
                is_told = await self._tell(error, place)
            self.timed_out_for = timed_out_for(place.thread) if place else 0.0
            if self.cut_short and not is_told:
                await self._tell_privately(place.lacking if place else [])

    async def _answer_all(self, conversation: Conversation, place: ThreadContext) -> None:
        """Answer turn by turn, but stop while a finished answer can't be delivered: others would only cost tokens."""
        async with Typing(place.channel.typing):
            if self._id in self._untidy:
                await self._tidy(conversation, place)
            while not (self.closing or self.cut_short):
                if self.again:
                    await self._answer_again(self.again[0], conversation, place)
                    self.again = self.again[1:]
                elif not await self._answer_next(conversation, place):
                    break
                conversation = await self._use_cases.conversations.get(self._id)
        leftover, self.leftover = self.leftover, NOTHING
        await self._presenters.remove(leftover, place)
        self._places.told_above.discard(place.thread.id)
        if not (self.closing or self.cut_short):
            await self._take_back()

    async def _tidy(self, conversation: Conversation, place: ThreadContext) -> None:
        found = await self._recovery.clear_up(conversation, place)
        self._keep(found.leftover)
        self.again += [each for each in found.again if each not in self.again]
        if found.is_tidy:
            self._untidy.discard(self._id)
        self.cut_short = not found.is_tidy

    async def _answer_next(self, conversation: Conversation, place: ThreadContext) -> bool:
        """Run one turn; False if nothing is waiting, or the conversation is no longer shown here."""
        if conversation.place_id != str(place.thread.id):
            return False
        try:
            waiting = await self._use_cases.chat.waiting(conversation.id)
            if waiting:
                await self._look_who_is_there(conversation, place, [message.author_id for message in waiting])
            await self._run_turn(self._use_cases.chat.answer(conversation.id), conversation, place)
            return self._presenter is not None and await self._conclude(self._presenter, conversation, place)
        finally:
            self._forget_presenter()

    async def _look_who_is_there(self, conversation: Conversation, place: ThreadContext, asking: Sequence[str]) -> None:
        if isinstance(place.thread, discord.Thread):
            await dismiss_absent(place.thread, conversation, self._use_cases, {*asking})

    async def _answer_again(self, turn_id: str, conversation: Conversation, place: ThreadContext) -> None:
        """Answer again what a turn has answered; if that fails, show its answer as it was."""
        replaced = await self._use_cases.transcripts.turn(turn_id)
        if replaced is None or not replaced.is_answered or conversation.place_id != str(place.thread.id):
            return
        await self._look_who_is_there(conversation, place, replaced.askers)
        try:
            await self._run_turn(self._use_cases.chat.answer_again(turn_id), conversation, place, replaced)
            if self._presenter is not None and isinstance(self._presenter.ending, Answer):
                is_shown = await self._presenters.conclude(self._presenter, place)
            else:
                is_shown = await self._show_as_it_was(replaced.turn, conversation, place)
        finally:
            self._forget_presenter()
        if not is_shown:
            self._untidy.add(self._id)
            self.cut_short = True

    async def _show_as_it_was(self, turn: Turn, conversation: Conversation, place: ThreadContext) -> bool:
        remark, shown = "", NOTHING
        await self._use_cases.chat.leave_as_it_was(turn.id)
        if self._presenter is not None:
            shown = await self._presenter.leave()
            if isinstance(failed := self._presenter.ending, TurnFailed):
                remark = kept_note(place.say.failure(failed.code, failed.message), place.say)
        stored = await self._use_cases.transcripts.turn(turn.id)
        if stored is None or not stored.is_answered:  # it is gone, and so goes what shows it
            self._keep(shown)
        if stored is None or stored.turn.state is not TurnState.ANSWERED:
            return True
        return await self._recovery.show_again(stored, shown, conversation, place, remark)

    def _keep(self, posted: PostedMessages) -> None:
        """Keep messages for the next turn to reuse.

        Not by `self.leftover += await …`, which would forget what a press of "Retry" hands over meanwhile.
        """
        self.leftover += posted

    def _forget_presenter(self) -> None:
        if self._presenter is not None:
            self._live.pop(self._presenter.shown_as, None)
        self._presenter = None

    async def _run_turn(
        self,
        turn: AsyncGenerator[TurnEvent, None],
        conversation: Conversation,
        place: ThreadContext,
        replaced: StoredTurn | None = None,
    ) -> None:
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    if isinstance(event, TurnStarted):
                        await self._show(event, conversation, place, replaced)
                    elif isinstance(event, TurnFailed) and event.code is StorageErrorCode.UNREACHABLE:
                        raise StorageError(event.code, event.message)
                    elif self._presenter is not None:
                        self._presenter.follow(event)
        except asyncio.CancelledError:
            if self._presenter is not None and not self.is_delivering:
                await self._presenter.pause()
            raise
        except Exception as error:
            if self._presenter is None or self.is_delivering:
                raise
            if is_away(error) and replaced is None:
                self._keep(await self._presenter.leave())
                raise
            self._untidy.add(self._id)
            self._presenter.follow(failure_of(self._presenter.turn_id, error, place.say))

    async def _show(
        self, started: TurnStarted, conversation: Conversation, place: ThreadContext, replaced: StoredTurn | None
    ) -> None:
        running = self._use_cases.chat.running(conversation.id)
        askers = running.askers if running else ()
        if replaced is not None:
            leftover = PostedMessages(replaced.turn.reply_ids, replaced.turn.trace_id)
        else:
            leftover, self.leftover = self.leftover, NOTHING
            self._places.told_above.discard(place.thread.id)
        self._presenter = self._presenters.make(
            started.turn_id,
            place,
            seed=started.turn_id if replaced else started.messages[0],
            verbose=await self._presenters.is_verbose(conversation, askers),
            leftover=leftover,
        )
        if replaced is not None:
            self._presenter.hold(replaced.answer)
        self._live[self._presenter.shown_as] = LiveTurn(self._presenter, conversation, askers)
        if leftover and replaced is None:
            await self._use_cases.transcripts.record_delivery(started.turn_id, leftover.replies, leftover.trace)

    async def _conclude(self, presenter: TurnPresenter, conversation: Conversation, place: ThreadContext) -> bool:
        """Deliver the end of a turn to its readers. False: no further turn should run now."""
        if presenter.ending is None:  # taken back
            self._keep(await presenter.leave())
            return True
        if not await self._presenters.conclude(presenter, place):
            self._untidy.add(self._id)
            self.cut_short = True
        elif isinstance(presenter.ending, Answer):
            self._titles.consider(conversation, place.thread, presenter.turn_id, place.say)
        return self._id not in self._untidy

    async def _tell(self, error: Exception, place: ThreadContext | None) -> bool:
        """Say what went wrong where no turn could say it. A conversation that was deleted meanwhile is no trouble.

        The next answer takes the place of what is said, and is made without anybody asking again once a database
        that was away is back. True: the thread says that it is away.
        """
        if isinstance(error, ConversationError) and error.code is ConversationErrorCode.NOT_FOUND:
            return False
        self._untidy.add(self._id)
        self.cut_short = away = is_away(error)
        try:
            if away and place is None and self.seen is not None:
                place = await self._places.of(self.seen, is_away=True)
            if place is None or isinstance(error, TRANSIENT_ERRORS):
                logger.warning("the thread of conversation %s is out of reach: %r", self._id, error)
                self.cut_short = True
                return False
            note, buttons = f"⚠️ {waiting_sentence(error, place.say)}", again_button(self._id, place.say)
            if away and is_lease_lost(POSTING_TAKES_S):
                self._keep(await self._places.tell_without_lease(note, buttons, place))
                return True
            if away and place.thread.id in self._places.told_below:
                leftover, self.leftover = self.leftover, NOTHING
                await self._presenters.remove(leftover, place)
                return True
            if away:
                self._places.told_above.add(place.thread.id)
            message = AnswerMessage(place.writer, uuid.uuid4().hex, standing=self.leftover.replies)
            delivery = await message.settle("", note, buttons)
            self.leftover += PostedMessages(delivery.message_ids)
            if not delivery.delivered:
                self.cut_short = True
                self._places.told_above.discard(place.thread.id)
            return away and delivery.delivered
        except Exception:
            logger.exception("trouble in conversation %s could not be told", self._id)
            return False

    async def _tell_privately(self, lacking: Sequence[str]) -> None:
        notifies, self.notifies = self.notifies, []
        for notify in notifies:
            try:
                self.told.append(await notify(lacking))
            except DISCORD_ERRORS as error:
                logger.warning("nobody could be told of conversation %s: %s", self._id, error)

    async def _take_back(self) -> None:
        told, self.told = self.told, []
        for take_back in told:
            try:
                await take_back()
            except DISCORD_ERRORS as error:
                logger.info("words about conversation %s stay: %s", self._id, error)


class ConversationWorkers:
    """Starts and ends workers. None runs before `open` is called, because crash recovery comes first."""

    def __init__(self, use_cases: UseCases, places: ThreadContexts, titles: TitleUpdates) -> None:
        self.live: LiveTurns = {}
        self._use_cases = use_cases
        self._places = places
        self._presenters = TurnPresenters(use_cases)
        self._titles = titles
        self._workers: dict[str, tuple[ConversationWorker, asyncio.Task[None]]] = {}
        self._untidy: set[str] = set()
        self._left: dict[str, ConversationWorker] = {}
        """Workers that have ended in trouble, for the next to continue."""
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._failures: Counter[str] = Counter()
        self._opened = asyncio.Event()
        self._closing = False

    def open(self) -> None:
        self._opened.set()

    def start(
        self,
        conversation_id: str,
        leftover: PostedMessages = NOTHING,
        *,
        seen: Conversation | None = None,
        untidy: bool = False,
        again: str = "",
        notify: NotifyPrivately | None = None,
    ) -> asyncio.Task[None]:
        """Start to answer everything that is waiting in a conversation; the task ends when that is done.

        `leftover` are messages for the next answer to reuse; `untidy` says that earlier turns may be unfinished.
        `again` is an answered turn to be answered again. `notify` is called if the answer cannot be shown in its
        thread. `seen` is the conversation, if it is known.
        """
        if untidy:
            self._untidy.add(conversation_id)
        worker, task = self._workers.get(conversation_id) or self._begin(conversation_id)
        if task.done():
            worker, task = self._begin(conversation_id)
        worker.wanted = True
        worker.seen = worker.seen or seen
        worker.leftover += leftover
        worker.again += [again] if again and again not in worker.again else []
        worker.notifies += [notify] if notify else []
        return task

    def answers_again(self, turn: Turn) -> bool:
        """Whether a turn is being answered again, or about to be."""
        worker, _ = self._workers.get(turn.conversation_id, (None, None))
        return worker is not None and turn.id in worker.again

    async def offer_again(self, turn_id: str) -> None:
        """Let the answer to an edited question offer to be made again."""
        stored = await self._use_cases.transcripts.turn(turn_id)
        if stored is None or stored.turn.state is not TurnState.DELIVERED or not stored.turn.reply_ids:
            return
        place = None if self.answers_again(stored.turn) else await self._places.of(stored.conversation)
        if place is not None:
            await self._presenters.offer_again(stored.turn, place)

    def lost(self, message_id: int) -> None:
        """Somebody has deleted a message; if it is part of an answer in the making, it is posted again."""
        for live in self.live.values():
            live.presenter.lost(str(message_id))

    def erased(self, conversation_ids: Collection[str], reader_id: str | None) -> None:
        """Somebody was erased, or everybody (None): take running turns and their posts back. Returns at once."""
        for conversation_id in conversation_ids:
            self._use_cases.chat.withdraw(conversation_id)
        self._titles.leave_off(conversation_ids)
        for live in self.live.values():
            if live.conversation.id in conversation_ids and (reader_id is None or reader_id in live.askers):
                live.presenter.erase()

    def try_again(self) -> None:
        """Retry at once wherever something is undelivered, because Discord may allow it now.

        Running workers may have been refused already, so they run once more when they are done.
        """
        for conversation_id in self._untidy | self._workers.keys():
            if timer := self._later.pop(conversation_id, None):
                timer.cancel()
            self._failures.pop(conversation_id, None)
            self.start(conversation_id)

    async def close(self, patience: float) -> None:
        """End all workers: finished answers are delivered within `patience` seconds, unfinished ones wait again."""
        self._closing = True
        for timer in self._later.values():
            timer.cancel()
        for worker, task in self._workers.values():
            worker.closing = True
            if not worker.is_delivering:
                task.cancel()
        tasks = [task for _, task in self._workers.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, conversation_id: str) -> tuple[ConversationWorker, asyncio.Task[None]]:
        worker = ConversationWorker(
            conversation_id,
            use_cases=self._use_cases,
            places=self._places,
            presenters=self._presenters,
            titles=self._titles,
            live=self.live,
            untidy=self._untidy,
        )
        worker.closing = self._closing
        if last := self._left.pop(conversation_id, None):
            worker.take_over(last)
        task = asyncio.create_task(worker.run(self._opened), name=f"answers in conversation {conversation_id}")
        self._workers[conversation_id] = worker, task
        task.add_done_callback(lambda _: self._forget(conversation_id))
        return worker, task

    def _forget(self, conversation_id: str) -> None:
        worker, task = self._workers[conversation_id]
        if not task.done():
            return
        del self._workers[conversation_id]
        if worker.leftover or worker.told or worker.cut_short:
            self._left[conversation_id] = worker
        if worker.cut_short and not self._closing:
            self._come_back(conversation_id, worker.timed_out_for)
        else:
            self._failures.pop(conversation_id, None)

    def _come_back(self, conversation_id: str, timed_out_for: float) -> None:
        failures = 0 if timed_out_for else self._failures[conversation_id]
        if conversation_id not in self._later and failures < len(COME_BACK_AFTER_S):
            self._failures[conversation_id] = failures + 1
            wait, start = timed_out_for + COME_BACK_AFTER_S[failures], partial(self._start_again, conversation_id)
            self._later[conversation_id] = asyncio.get_running_loop().call_later(wait, start)

    def _start_again(self, conversation_id: str) -> None:
        del self._later[conversation_id]
        self.start(conversation_id, untidy=True)

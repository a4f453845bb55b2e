"""Runs one turn: from the readers' messages to the stored answer."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.citations.matching import uncited_in
from domain.citations.resolver import Composition
from domain.concurrency import to_the_end
from domain.conversation import Conversation, Turn, TurnState
from domain.errors import (
    ConversationError,
    ConversationErrorCode,
    LLMError,
    LLMErrorCode,
    MarginaliaError,
    StorageError,
    StorageErrorCode,
    Worded,
)
from domain.event import (
    NOTHING_WRITTEN,
    Answer,
    DraftDiscarded,
    StrategyEvent,
    StrategyOutcome,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnEvent,
    TurnFailed,
    TurnStarted,
)
from domain.ports import BookView, ChatProvider, Clock, RetrievalStrategy, TurnRepository
from domain.spoilers.filter import COVERED, redacted
from domain.tool_use import CitationMark, RequestSent, TextBlockEnd, TextChunk
from domain.tools.registry import MakeToolbox
from domain.turn.preparer import TurnPreparer
from domain.turn.quota import UsageMeter, metered
from domain.turn.state import NO_OFFER, Emit, Ending, FallbackAnswer, RunningTurn, TurnDraft, TurnRequest

logger = logging.getLogger(__name__)

OFFER_WITHIN_S = 2.0
"""The time for a fallback answer: its reader has waited long enough already."""

SHARE_FOR_AN_OFFER = 0.1
"""The most that is kept back for it of the time that a turn may take."""

OFFERS_AT_ONCE = 2
"""Fallback answers made at the same time: a model that cannot be reached fails for everybody at once."""

_NO_MODEL_ANSWERED = frozenset(
    {
        LLMErrorCode.API_CALL_FAILED,
        LLMErrorCode.API_KEY_MISSING,
        LLMErrorCode.CONNECTION_LOST,
        LLMErrorCode.NOT_LOADED,
        LLMErrorCode.OUT_OF_CREDIT,
        LLMErrorCode.OVERLOADED,
        LLMErrorCode.RATE_LIMITED,
        LLMErrorCode.TIMEOUT,
        LLMErrorCode.UNKNOWN_ADDRESS,
        LLMErrorCode.UNKNOWN_MODEL,
    }
)

REOPEN_S = 1.0
"""How long a database that has just not answered may take to put a turn back: the readers wait to be told."""

_NO_WORDS = " \n.…"
"""Characters that may be left of an answer that had only keys and page numbers, all of which were removed."""
NOTHING_CHECKED = (
    "The model answered with nothing but a page or a source that I can't check against the book, so I left it out. "
    "Please ask in other words."
)

WENT_WRONG = Worded("Something went wrong on my side; it has been logged. Please try again.")


class FallbackAnswerer:
    """Answers with a provider that is always available, from the same part of the book, if no model has answered."""

    def __init__(self, provider: ChatProvider, strategy: RetrievalStrategy, toolbox: MakeToolbox) -> None:
        self._provider = provider
        self._strategy = strategy
        self._toolbox = toolbox
        self._free = asyncio.Semaphore(OFFERS_AT_ONCE)

    async def offer(
        self, messages: Sequence[PromptMessage], view: BookView, compose: Callable[[], Composition], seconds: float
    ) -> FallbackAnswer:
        """An answer to the messages in the book's own sentences, if there is one in time. Never raises."""
        answer = compose()
        try:
            async with asyncio.timeout(seconds), self._free:
                await self._write(messages, view, answer)
        except (TimeoutError, MarginaliaError):
            return NO_OFFER
        except Exception:
            logger.exception("the fallback answerer failed unexpectedly")
            return NO_OFFER
        return FallbackAnswer(answer.text.strip(), tuple(answer.citations)) if answer.citations else NO_OFFER

    async def _write(self, messages: Sequence[PromptMessage], view: BookView, answer: Composition) -> None:
        toolbox = self._toolbox(view)
        dispatch = toolbox.build_dispatcher(timeout=OFFER_WITHIN_S)
        work = self._strategy.execute(self._provider, messages, toolbox.get_definitions(), dispatch)
        async with aclosing(work) as events:
            async for event in events:
                await answer.follow(event)
        await answer.finish()


class TurnRunner:
    """Makes answers: prepares, runs the strategy, composes, stores. `model_of` returns a conversation's model."""

    def __init__(
        self,
        *,
        preparer: TurnPreparer,
        model_of: Callable[[Conversation], Awaitable[ChatProvider]],
        strategy: RetrievalStrategy,
        turns: TurnRepository,
        meter: UsageMeter,
        fallback: FallbackAnswerer | None,
        clock: Clock,
        turn_timeout: float,
    ) -> None:
        self._preparer = preparer
        self._model_of = model_of
        self._strategy = strategy
        self._turns = turns
        self._meter = meter
        self._fallback = fallback
        self._clock = clock
        self._turn_timeout = turn_timeout

    async def run(self, request: TurnRequest, running: RunningTurn, emit: Emit) -> None:
        """Run one turn to a defined end: an Answer or a TurnFailed is emitted and stored.

        If it is cancelled without an ending chosen by a person, or withdrawn, the turn leaves no trace: its messages
        wait again, unless they were erased. A turn that replaces an answered one takes its place once it has an
        answer, and leaves no trace otherwise; the old answer then stays, to be shown again.
        """
        provider = await self._model_of(request.conversation)
        turn = await to_the_end(self._begin(request))
        turn = replace(turn, model=provider.model_name)
        asked = [replace(message, turn_id=turn.id) for message in request.asked]
        draft = TurnDraft(turn, asked, provider, approvals=running.approvals, replaces=request.replaces)
        log = draft.log

        def tell(event: TurnEvent) -> None:
            log.follow(event)
            emit(event)

        tell(TurnStarted(turn.id, tuple(message.id for message in request.asked)))
        try:
            await asyncio.sleep(0)  # a cancellation that came while the turn was begun is raised here
            outcome = await self._in_time(self._work(request, draft, tell), draft)
            await to_the_end(self._keep(draft, outcome, tell))
        except TimeoutError:
            message = Worded(
                "This took longer than {seconds} seconds, so I stopped. Please try again.",
                seconds=round(self._turn_timeout),
            )
            await self._fail(draft, running, LLMErrorCode.TIMEOUT, message, tell)
        except MarginaliaError as error:
            if isinstance(error, ConversationError) and error.code is ConversationErrorCode.NOT_FOUND:
                raise asyncio.CancelledError from error  # erased while it ran
            await self._fail(draft, running, error.code, error.message, tell, error)
        except asyncio.CancelledError:
            if running.ending is Ending.STOPPED and request.replaces is None:
                await self._keep_stopped(draft, running, tell)
            else:
                await self._turns.reopen(turn.id)
                raise
        except Exception:
            logger.exception("turn %s failed unexpectedly", turn.id)
            await self._fail(draft, running, "internal", WENT_WRONG, tell)
        finally:
            log.write(draft.turn, request.asked[-1].author_id, request.conversation.server_id)

    async def _begin(self, request: TurnRequest) -> Turn:
        conversation_id, replaces = request.conversation.id, request.replaces
        if replaces is None:
            return await self._turns.begin(conversation_id, [message.id for message in request.asked], self._clock())
        return Turn(
            uuid.uuid4().hex,
            conversation_id,
            replaces.number,
            TurnState.RUNNING,
            self._clock(),
            reply_ids=replaces.reply_ids,
            trace_id=replaces.trace_id,
        )

    async def _in_time(self, work: Awaitable[StrategyOutcome], draft: TurnDraft) -> StrategyOutcome:
        """Work for at most as long as a turn may take; if the model cannot be reached, search the book itself."""
        kept_back = min(OFFER_WITHIN_S, self._turn_timeout * SHARE_FOR_AN_OFFER) if self._fallback else 0.0
        try:
            async with asyncio.timeout(self._turn_timeout - kept_back):
                return await work
        except (TimeoutError, LLMError) as error:
            if draft.fall_back and _no_model_answered(error):
                draft.offer = await draft.fall_back(kept_back)
            raise

    async def _work(self, request: TurnRequest, draft: TurnDraft, emit: Emit) -> StrategyOutcome:
        prepared = await self._preparer.prepare(request, draft, emit)
        answer = draft.answer = prepared.compose()
        if self._fallback:
            draft.fall_back = partial(self._fallback.offer, prepared.messages, prepared.view, prepared.compose)
        draft.log.reach("prepared_ms")
        spent = partial(self._meter.record, conversation=request.conversation, draft=draft, emit=emit)
        strategy = self._strategy.execute(draft.provider, prepared.messages, prepared.tools, prepared.dispatch)
        async with aclosing(metered(strategy, spent)) as events:
            async for event in events:
                if isinstance(event, StrategyOutcome):
                    outcome = event
                    continue
                if isinstance(event, ToolCallFinished) and prepared.file.damage:
                    raise prepared.file.damage  # a model that cannot look anything up would answer from memory
                await _show(event, answer, draft, emit)
        _emit_text(await answer.finish(), answer, emit)
        if not draft.text.strip(_NO_WORDS):
            draft.offer = await draft.fall_back(OFFER_WITHIN_S) if draft.fall_back else draft.offer
            raise LLMError(LLMErrorCode.EMPTY_REPLY, NOTHING_CHECKED)
        return outcome

    async def _keep(self, draft: TurnDraft, outcome: StrategyOutcome, emit: Emit) -> None:
        text = draft.text
        *rounds, last = draft.kept(outcome.messages, outcome.calls, self._clock())
        last = replace(last, content=text, citations=draft.citations)
        await self._finish(draft, TurnState.ANSWERED, [*rounds, last])
        cut = outcome.cut or draft.is_cut
        uncited = await uncited_in(text)
        emit(Answer(draft.turn.id, text, draft.citations, cut=cut, uncited=uncited, binding=draft.binding))

    async def _keep_stopped(self, draft: TurnDraft, running: RunningTurn, emit: Emit) -> None:
        if draft.answer:
            await draft.answer.finish()
        text = draft.text or str(NOTHING_WRITTEN)
        calls = draft.kept_calls(running, self._clock())
        [last] = draft.kept([PromptMessage(MessageRole.ASSISTANT, text)], {}, self._clock())
        draft.turn = replace(draft.turn, stopped=True)
        await self._finish(draft, TurnState.ANSWERED, [*calls, replace(last, citations=draft.citations)])
        uncited = await uncited_in(text)
        emit(Answer(draft.turn.id, text, draft.citations, stopped=True, uncited=uncited, binding=draft.binding))

    async def _fail(
        self,
        draft: TurnDraft,
        running: RunningTurn,
        code: str,
        message: str,
        emit: Emit,
        error: MarginaliaError | None = None,
    ) -> None:
        draft.turn = replace(draft.turn, error=code)
        try:
            if code is StorageErrorCode.UNREACHABLE:
                async with asyncio.timeout(REOPEN_S):
                    await self._turns.reopen(draft.turn.id)  # its messages wait until the database is back
            else:
                if draft.answer:
                    # held back until now, as it might have become a reference
                    _emit_text(await draft.answer.finish(), draft.answer, emit)
                await self._finish(draft, TurnState.FAILED, draft.kept_calls(running, self._clock()))
        except TimeoutError:  # recovery finds the turn running and takes it back
            logger.info("turn %s is put back later", draft.turn.id)
        except StorageError as fault:  # the same
            code, message = fault.code, fault.message
        except MarginaliaError as fault:
            logger.info("turn %s was not put back: %s", draft.turn.id, fault)
        emit(
            TurnFailed(
                draft.turn.id,
                code,
                message,
                partial=draft.text if draft.text.strip(_NO_WORDS) else "",
                retry_after=getattr(error, "retry_after", None),
                offer=draft.offer.text,
                citations=draft.offer.citations,
                said=getattr(error, "said", ""),
            )
        )

    async def _finish(self, draft: TurnDraft, state: TurnState, messages: Sequence[ChatMessage]) -> None:
        draft.turn = replace(draft.turn, state=state, finished_at=self._clock(), usage=draft.usage)
        if draft.replaces is None:
            await self._turns.finish(draft.turn, [*draft.asked, *messages])
        elif state is TurnState.ANSWERED:
            await self._turns.supersede(draft.replaces.id, draft.turn, [*draft.asked, *messages])


def _no_model_answered(error: Exception) -> bool:
    """Whether a turn failed because no model answered, and not because of the question.

    A refused key and an unknown model count: whoever asks can mend neither, and both last until the operator does.
    """
    return isinstance(error, TimeoutError) or getattr(error, "code", None) in _NO_MODEL_ANSWERED


async def _show(event: StrategyEvent, answer: Composition, draft: TurnDraft, emit: Emit) -> None:
    """Emit an event, covered where it reveals too much; of the model's words only those that may be shown by now."""
    if isinstance(event, DraftDiscarded):
        # Nothing can be a reference any more that was held back. What would be hidden is left out of a mere draft.
        _emit_text(redacted(await answer.finish()), answer, emit)
    shown = await answer.presentable(event)
    if isinstance(shown, ToolCallStarted) and shown != event:
        draft.covered_arguments[shown.call_id] = shown.arguments
    _emit_text(await answer.follow(event), answer, emit)
    match shown:
        case ToolCallFinished(is_error=True) | ToolCallFinished(is_of_book=False):  # it may repeat what was asked
            shown = replace(shown, content=COVERED) if shown.call_id in draft.covered_arguments else shown
    if not isinstance(shown, TextChunk | CitationMark | TextBlockEnd | RequestSent | StrategyOutcome):
        emit(shown)


def _emit_text(text: str, answer: Composition, emit: Emit) -> None:
    if text:
        emit(TextDelta(text, tuple(answer.citations)))

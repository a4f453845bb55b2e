"""Playing one turn: from the readers' messages to the answer that is kept."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from domain.agent.aids import Aids, MakeToolbox
from domain.agent.allowance import Allowance
from domain.agent.briefer import Briefer
from domain.agent.composition import compose
from domain.agent.context import as_said, presentable, within_bound
from domain.agent.draft import Draft
from domain.agent.expenses import Expenses
from domain.agent.leak_checks import LeakChecks
from domain.agent.prompts import Prompts
from domain.agent.proposals import proposed
from domain.agent.running_turn import Emit, Ending, RunningTurn
from domain.agent.stand_in import LONGEST_S, StandIn, stayed_away
from domain.agent.summaries import ChapterSummaries
from domain.agent.to_the_end import heed_cancellation, to_the_end
from domain.agent.unsupported import unsupported
from domain.book import Book
from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.conversation import Conversation, TurnState
from domain.errors import BookError, BookErrorCode, LLMError, LLMErrorCode, MarginaliaError
from domain.event import (
    Answer,
    StrategyOutcome,
    TextDelta,
    ToolCallStarted,
    TurnEvent,
    TurnFailed,
    TurnStarted,
    UsageReported,
)
from domain.library.bound import lowest_bound, note_for
from domain.protocols import (
    AskAside,
    BookFile,
    BookFiles,
    BookRepository,
    BookView,
    ChatProvider,
    Clock,
    ConversationContextStrategy,
    ConversationRepository,
    ReaderRepository,
    RetrievalStrategy,
    TurnRepository,
)
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk

logger = logging.getLogger(__name__)


class AnswerMaker:
    """Makes answers: finds the bound, writes the prompt, runs the strategy, composes, keeps."""

    def __init__(
        self,
        *,
        provider: ChatProvider,
        strategy: RetrievalStrategy,
        ask_aside: AskAside,
        context: ConversationContextStrategy,
        toolbox: MakeToolbox,
        prompts: Prompts,
        books: BookRepository,
        files: BookFiles,
        conversations: ConversationRepository,
        turns: TurnRepository,
        readers: ReaderRepository,
        expenses: Expenses,
        allowance: Allowance,
        leaks: LeakChecks,
        summaries: ChapterSummaries | None,
        stand_in: StandIn | None,
        clock: Clock,
        tool_timeout: float,
        turn_timeout: float,
    ) -> None:
        self._provider = provider
        self._strategy = strategy
        self._ask_aside = ask_aside
        self._context = context
        self._toolbox = toolbox
        self._briefer = Briefer(prompts, conversations)
        self._books = books
        self._files = files
        self._turns = turns
        self._readers = readers
        self._expenses = expenses
        self._allowance = allowance
        self._leaks = leaks
        self._summaries = summaries
        self._stand_in = stand_in
        self._clock = clock
        self._tool_timeout = tool_timeout
        self._turn_timeout = turn_timeout

    @property
    def reach(self) -> int:
        """How many of a conversation's newest turns an answer may rest on."""
        return self._context.reach

    async def bound(self, conversation: Conversation, people: Sequence[str]) -> int:
        """How far into its book the people in a conversation may look now.

        Raises:
            BookError: NOT_FOUND, it is not on the shelf any more.
        """
        book = await self._book(conversation)
        return await lowest_bound(self._readers, {*people, conversation.owner_id}, book)

    async def play(
        self,
        conversation: Conversation,
        people: Sequence[str],
        history: Sequence[ChatMessage],
        waiting: Sequence[ChatMessage],
        running: RunningTurn,
        emit: Emit,
    ) -> None:
        """Play one turn to a defined end: an Answer or a TurnFailed is emitted and kept.

        `people` are the ids of all who have ever written in the thread, `history` its newest turns.
        Cancelled without an ending chosen by a person, or withdrawn, the turn leaves no trace: its messages wait again.
        """
        turn = await to_the_end(self._turns.begin(conversation.id, [m.id for m in waiting], self._clock()))
        turn = replace(turn, model=self._provider.model_name)
        draft = Draft(turn, [replace(message, turn_id=turn.id) for message in waiting])
        log = draft.log

        def tell(event: TurnEvent) -> None:
            log.follow(event)
            emit(event)

        tell(TurnStarted(turn.id, tuple(message.id for message in waiting)))
        try:
            heed_cancellation()
            outcome = await self._in_time(self._work(conversation, people, history, draft, tell), draft)
            await to_the_end(self._keep(draft, outcome, tell))
        except TimeoutError:
            message = f"This took longer than {self._turn_timeout:.0f} seconds, so I stopped. Please try again."
            await self._fail(draft, running, LLMErrorCode.TIMEOUT, message, tell)
        except MarginaliaError as error:
            await self._fail(draft, running, error.code, error.message, tell, getattr(error, "retry_after", None))
        except asyncio.CancelledError:
            if running.ending is Ending.STOPPED:
                await self._keep_stopped(draft, running, tell)
            else:
                await self._turns.reopen(turn.id)
                raise
        except Exception:
            logger.exception("turn %s failed unexpectedly", turn.id)
            message = "Something went wrong on my side; it has been logged. Please try again."
            await self._fail(draft, running, "internal", message, tell)
        finally:
            log.write(draft.turn, waiting[-1].author_id, conversation.guild_id)

    async def _in_time(self, work: Awaitable[StrategyOutcome], draft: Draft) -> StrategyOutcome:
        """Work for as long as a turn may take; where the model stays away, see what the book itself says."""
        kept_back = min(LONGEST_S, self._turn_timeout / 10) if self._stand_in else 0.0
        try:
            async with asyncio.timeout(self._turn_timeout - kept_back):
                return await work
        except (TimeoutError, LLMError) as error:
            if draft.stand_in and stayed_away(error):
                draft.offer = await draft.stand_in(kept_back)
            raise

    async def _work(
        self,
        conversation: Conversation,
        people: Sequence[str],
        history: Sequence[ChatMessage],
        draft: Draft,
        emit: Emit,
    ) -> StrategyOutcome:
        await self._allowance.check(draft.asked[-1].author_id, self._clock())
        book = await self._book(conversation)
        file = await self._files.open(book)
        view, note = await self._view(conversation, people, book, file)
        draft.depends_to = view.read_to
        draft.asked = [replace(m, note=note(m.author_name), depends_to=view.read_to) for m in draft.asked]
        toolbox = self._toolbox(view, self._aids(view, conversation, draft, emit))
        briefing = await self._briefer.brief(conversation, book, toolbox)
        turns = await self._turns.get_recent(conversation.id, self.reach + 1)
        past = self._context.build_context(within_bound(presentable(history, turns), view.read_to))
        talk = [*past, *draft.asked]
        fresh = partial(compose, book, view, talk, self._leaks.check(book, view.read_to, _known(book, talk)))
        answer = draft.answer = fresh()
        messages = [
            PromptMessage("system", briefing.system),
            *map(as_said, talk),
        ]
        if self._stand_in:
            draft.stand_in = partial(self._stand_in.offer, messages, view, fresh)
        dispatch = toolbox.build_dispatcher(timeout=self._tool_timeout)
        draft.log.reach("prepared_ms")
        async with aclosing(self._strategy.execute(self._provider, messages, briefing.tools, dispatch)) as events:
            async for event in events:
                if isinstance(event, StrategyOutcome):
                    outcome = event
                    continue
                if isinstance(event, UsageReported):
                    await self._expenses.record(event, conversation, draft)
                shown = await answer.presentable(event)
                if isinstance(shown, ToolCallStarted) and shown != event:
                    draft.covered_arguments[shown.call_id] = shown.arguments
                _emit_text(await answer.follow(event), emit)
                if not isinstance(shown, TextChunk | CitationMark | TextBlockEnd | StrategyOutcome):
                    emit(shown)
        _emit_text(await answer.finish(), emit)
        return outcome

    def _aids(self, view: BookView, conversation: Conversation, draft: Draft, emit: Emit) -> Aids:
        """What the tools of this turn may use: the model, on the reader's account, and a word to the reader."""

        async def spent(event: UsageReported) -> None:
            await self._expenses.record(event, conversation, draft)
            emit(event)

        ask = partial(self._ask_aside, self._provider, spent)
        return Aids(
            digests=self._summaries.of(view, ask).digests if self._summaries else None,
            propose=lambda page: emit(proposed(page, draft.asked)),
        )

    async def _book(self, conversation: Conversation) -> Book:
        book = await self._books.get(conversation.book_id)
        if book is None:
            raise BookError(BookErrorCode.NOT_FOUND, "The book of this conversation is not on the shelf any more.")
        return book

    async def _view(
        self, conversation: Conversation, people: Sequence[str], book: Book, file: BookFile
    ) -> tuple[BookView, Callable[[str], str]]:
        """The book as far as everybody in the conversation has read, and the note that tells the model so."""
        read_to = await lowest_bound(self._readers, {*people, conversation.owner_id}, book)
        pages, now = await file.pages(), self._clock()
        return file.view(read_to), lambda name: note_for(name, pages, read_to, book.length, now)

    async def _keep(self, draft: Draft, outcome: StrategyOutcome, emit: Emit) -> None:
        text = draft.text
        if not text:  # keys and page numbers that nothing stands behind are no words
            raise LLMError(LLMErrorCode.EMPTY_REPLY, "The model came back with nothing to say. Please ask again.")
        *rounds, last = draft.kept(outcome.messages, outcome.calls, self._clock())
        last = replace(last, content=text, citations=draft.citations)
        await self._finish(draft, TurnState.ANSWERED, [*rounds, last])
        emit(Answer(draft.turn.id, text, draft.citations, cut=outcome.cut, uncited=unsupported(text)))

    async def _keep_stopped(self, draft: Draft, running: RunningTurn, emit: Emit) -> None:
        if draft.answer:
            await draft.answer.finish()
        text = draft.text or "(stopped before anything was written)"
        calls = draft.kept_calls(running, self._clock())
        [last] = draft.kept([PromptMessage(MessageRole.ASSISTANT, text)], {}, self._clock())
        draft.turn = replace(draft.turn, stopped=True)
        await self._finish(draft, TurnState.ANSWERED, [*calls, replace(last, citations=draft.citations)])
        emit(Answer(draft.turn.id, text, draft.citations, stopped=True, uncited=unsupported(text)))

    async def _fail(
        self,
        draft: Draft,
        running: RunningTurn,
        code: str,
        message: str,
        emit: Emit,
        retry_after: float | None = None,
    ) -> None:
        draft.turn = replace(draft.turn, error=code)
        try:
            await self._finish(draft, TurnState.FAILED, draft.kept_calls(running, self._clock()))
        except MarginaliaError as error:  # the disk, mostly: the next start finds the turn running and takes it back
            message = error.message
        offer = draft.offer
        emit(TurnFailed(draft.turn.id, code, message, draft.text, retry_after, offer.text, offer.citations))

    async def _finish(self, draft: Draft, state: TurnState, messages: Sequence[ChatMessage]) -> None:
        draft.turn = replace(draft.turn, state=state, finished_at=self._clock(), usage=draft.usage)
        await self._turns.finish(draft.turn, [*draft.asked, *messages])


def _emit_text(text: str, emit: Emit) -> None:
    if text:
        emit(TextDelta(text))


def _known(book: Book, messages: Sequence[ChatMessage]) -> str:
    """What is no secret to the readers: the book's title and author, their own names and words."""
    readers = [m for m in messages if m.role is MessageRole.USER]
    return "\n".join([book.title, book.author, *(f"{m.author_name}\n{m.content}" for m in readers)])

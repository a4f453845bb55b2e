"""What comes before the model is asked: how far everybody has read, which tools there are, what of the talk goes in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from domain.book import Book
from domain.chat import ChatMessage, MessageRole, PromptMessage
from domain.citations.resolver import Composition, compose
from domain.conversation import Conversation, SystemPrompt
from domain.errors import BookError, BookErrorCode
from domain.event import UsageReported
from domain.library.summaries import ChapterSummaries
from domain.ports import (
    BookFile,
    BookFiles,
    BookRepository,
    BookView,
    ChatProvider,
    Clock,
    ConversationContextStrategy,
    ConversationRepository,
    Dispatcher,
    ReaderRepository,
    Toolbox,
    TurnRepository,
)
from domain.spoilers.bound import lowest_bound, note_for
from domain.spoilers.detector import SpoilerChecks
from domain.strategies.complete_once import complete_once
from domain.tool_use import ToolDefinition
from domain.tools.context import MakeToolbox, ToolContext, proposed
from domain.turn.history import as_said, presentable, within_bound
from domain.turn.prompts import Prompts
from domain.turn.quota import Quota, UsageMeter
from domain.turn.state import Emit, TurnDraft


class SystemPrompts:
    """Renders a briefing once and keeps it with its conversation: prompt caches and signed thinking want it unchanged.

    It is made anew when the tools are no longer the same: a setting was changed, the program brought up to date, or a
    tool server came up or went. That costs the cache of one request; otherwise a conversation that began while a server
    was down would never learn of its tools, and one that knows a tool which is gone would go on calling it.
    """

    def __init__(self, prompts: Prompts, conversations: ConversationRepository) -> None:
        self._prompts = prompts
        self._conversations = conversations

    async def brief(self, conversation: Conversation, book: Book, toolbox: Toolbox) -> SystemPrompt:
        """The briefing of the conversation, for the tools there are now."""
        tools = tuple(toolbox.get_definitions())
        kept = conversation.briefing
        if kept is not None and kept.tools == tools:
            return kept
        name = f"“{book.title}” by {book.author}" if book.author else f"“{book.title}”"
        briefing = SystemPrompt(self._prompts.conversation_system.substitute(book=name), tools)
        current = await self._conversations.get(conversation.id) or conversation
        await self._conversations.save(replace(current, briefing=briefing))
        return briefing


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """All that a strategy is handed, the book and the view it may look at, and `compose`, which makes its answer."""

    file: BookFile
    view: BookView
    messages: list[PromptMessage]
    tools: tuple[ToolDefinition, ...]
    dispatch: Dispatcher
    compose: Callable[[], Composition]


class TurnPreparer:
    """Finds the bound of a turn, and makes its prompt and its tools from there."""

    def __init__(
        self,
        *,
        provider: ChatProvider,
        context: ConversationContextStrategy,
        toolbox: MakeToolbox,
        briefer: SystemPrompts,
        books: BookRepository,
        files: BookFiles,
        turns: TurnRepository,
        readers: ReaderRepository,
        expenses: UsageMeter,
        allowance: Quota,
        leaks: SpoilerChecks,
        summaries: ChapterSummaries | None,
        clock: Clock,
        tool_timeout: float,
    ) -> None:
        self._provider = provider
        self._context = context
        self._toolbox = toolbox
        self._briefer = briefer
        self._books = books
        self._files = files
        self._turns = turns
        self._readers = readers
        self._expenses = expenses
        self._allowance = allowance
        self._leaks = leaks
        self._summaries = summaries
        self._clock = clock
        self._tool_timeout = tool_timeout

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

    async def prepare(
        self,
        conversation: Conversation,
        people: Sequence[str],
        history: Sequence[ChatMessage],
        draft: TurnDraft,
        emit: Emit,
    ) -> PreparedTurn:
        """Make a turn ready to be asked; its readers' messages get the note that tells the model how far they are.

        Raises:
            LLMError: DAILY_LIMIT, the reader has nothing left for today.
            BookError: NOT_FOUND, INVALID_STATE, the book is gone, or its file.
            StorageError: something could not be read or kept.
        """
        await self._allowance.check(draft.asked[-1].author_id, self._clock())
        book = await self._book(conversation)
        file = await self._files.open(book)
        view, note = await self._view(conversation, people, book, file)
        draft.depends_to = view.read_to
        draft.asked = [replace(m, note=note(m.author_name), depends_to=view.read_to) for m in draft.asked]
        toolbox = self._toolbox(view, self._aids(view, conversation, draft, emit))
        briefing = await self._briefer.brief(conversation, book, toolbox)
        talk = await self._talk(conversation, history, draft)
        tells = self._leaks.check(book, view.read_to, _known(book, talk))
        return PreparedTurn(
            file,
            view,
            [PromptMessage("system", briefing.system), *map(as_said, talk)],
            briefing.tools,
            toolbox.build_dispatcher(timeout=self._tool_timeout),
            partial(compose, book, view, talk, tells),
        )

    async def _talk(
        self, conversation: Conversation, history: Sequence[ChatMessage], draft: TurnDraft
    ) -> list[ChatMessage]:
        """What of the history goes in, and what is asked now."""
        turns = await self._turns.get_recent(conversation.id, self.reach + 1)
        assert draft.depends_to is not None, "the bound comes first"
        past = self._context.build_context(within_bound(presentable(history, turns), draft.depends_to))
        return [*past, *draft.asked]

    def _aids(self, view: BookView, conversation: Conversation, draft: TurnDraft, emit: Emit) -> ToolContext:
        """What the tools of this turn may use: the model, on the reader's account, and a word to the reader."""

        async def spent(event: UsageReported) -> None:
            await self._expenses.record(event, conversation, draft)
            emit(event)

        ask = partial(complete_once, self._provider, spent)
        return ToolContext(
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


def _known(book: Book, messages: Sequence[ChatMessage]) -> str:
    """What is no secret to the readers: the book's title and author, their own names and words."""
    readers = [m for m in messages if m.role is MessageRole.USER]
    return "\n".join([book.title, book.author, *(f"{m.author_name}\n{m.content}" for m in readers)])

"""Preparing a turn: how far everybody has read, the tools, and the part of the history that goes in."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from domain.book import Binding, Book, Chapter, Page
from domain.chat import ChatMessage, MessageRole, PromptKind, PromptMessage, Prompts
from domain.citations.resolver import Composition, compose
from domain.conversation import Conversation, SystemPrompt, Turn
from domain.errors import BookError, BookErrorCode
from domain.event import Approval, ToolCallStarted
from domain.library.progress import SharedBounds, label_at, proposed
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
    HasPhrases,
    Toolbox,
    TurnRepository,
)
from domain.spoilers.detector import SpoilerChecks
from domain.spoilers.filter import without_covers
from domain.tool_use import ToolDefinition
from domain.tools.registry import MakeToolbox, ToolContext
from domain.turn.history import as_said, presentable, unanswered, within_bound, without_calls
from domain.turn.quota import Quota, UsageMeter, complete_once
from domain.turn.state import Emit, TurnDraft, TurnRequest


class SystemPrompts:
    """Renders a conversation's system prompt once and keeps it, because prompt caches and signed thinking need it
    unchanged.

    It is rendered again when the tools have changed: by a setting, an update, or a tool server that started or
    stopped. That costs the cache of one request; otherwise a conversation begun while a server was down would never
    learn of its tools, or one would go on calling a tool that is gone.
    """

    def __init__(self, prompts: Prompts, conversations: ConversationRepository) -> None:
        self._prompts = prompts
        self._conversations = conversations

    async def for_conversation(self, conversation: Conversation, book: Book, toolbox: Toolbox) -> SystemPrompt:
        """The system prompt of the conversation, for the current tools."""
        tools = tuple(toolbox.get_definitions())
        kept = conversation.system_prompt
        if kept is not None and kept.tools == tools:
            return kept
        name = f"“{book.title}” by {book.author}" if book.author else f"“{book.title}”"
        rendered = SystemPrompt(self._prompts.conversation_system.substitute(book=name), tools)
        await self._conversations.change(conversation.id, lambda it: replace(it, system_prompt=rendered))
        return rendered


@dataclass(frozen=True, slots=True)
class OpenedView:
    """A conversation's book, as far as everybody in it has read.

    `page` is the last one they have read, empty if they have not begun; `place` has that of whoever asks, and the
    chapter that ends there, if one does. `note` makes the line in front of a reader's message that tells the model
    their name, position and the date. `binding` is who or what limits it, if an asker has read more.
    """

    book: Book
    file: BookFile
    view: BookView
    page: str
    place: Mapping[str, str]
    note: Callable[[str], str]
    binding: Binding | None = None


class BoundBooks:
    """Opens the book of a conversation up to the lowest position of the people in it."""

    def __init__(self, *, books: BookRepository, files: BookFiles, bounds: SharedBounds, clock: Clock) -> None:
        self._books = books
        self._files = files
        self._bounds = bounds
        self._clock = clock

    async def bound(self, conversation: Conversation, people: Sequence[str]) -> int:
        """How far into its book the people in a conversation may look now, as an offset.

        Raises:
            BookError: NOT_FOUND, the book is no longer on the shelf.
        """
        return await self._bounds.of(people, await self._book(conversation), conversation)

    async def open(self, conversation: Conversation, people: Sequence[str], askers: Sequence[str] = ()) -> OpenedView:
        """The book up to that bound; `askers` are the people who asked.

        Raises:
            BookError: NOT_FOUND, INVALID_STATE, the book or its file is gone.
        """
        book = await self._book(conversation)
        file = await self._files.open(book)
        pages = await file.pages()
        read_to, binding = await self._bounds.binding(people, askers, book, pages, conversation)
        note = partial(self._note, pages=pages, read_to=read_to, length=book.length)
        own = min((await self._bounds.each(askers, book)).values(), default=read_to) if binding else read_to
        place = {"page": label_at(pages, own), "chapter": _ending_at(own, await file.chapters())}
        return OpenedView(book, file, file.view(read_to), label_at(pages, read_to), place, note, binding)

    def _note(self, name: str, *, pages: Sequence[Page], read_to: int, length: int) -> str:
        return note_for(name, pages, read_to, length, self._clock())

    async def _book(self, conversation: Conversation) -> Book:
        book = await self._books.get(conversation.book_id)
        if book is None:
            raise BookError(BookErrorCode.NOT_FOUND, "The book of this conversation is not on the shelf any more.")
        return book


def _ending_at(read_to: int, chapters: Sequence[Chapter]) -> str:
    """The number of the chapter that ends at an offset, as people call it; empty if none does."""
    return next((each.printed or str(each.number) for each in reversed(chapters) if each.end == read_to), "")


_LONGEST_NAME = 64
_BETWEEN = " · "


def note_for(name: str, pages: Sequence[Page], read_to: int, length: int, now: datetime) -> str:
    """The line in front of a reader's message. It contains nothing that depends on unread text, not even a page
    count.
    """
    if read_to >= length:
        extent = "the whole book is open"
    else:
        page = _unmarked(label_at(pages, read_to))
        extent = f"has read to page {page}" if read_to > 0 else "has not begun to read"
    return _bracketed(name, extent, now)


def note_without_position(name: str, when: datetime) -> str:
    """The same line for a message whose turn ended before its reader's position was looked up."""
    return _bracketed(name, "", when)


def _bracketed(name: str, extent: str, when: datetime) -> str:
    parts = (_unmarked(name)[:_LONGEST_NAME], extent, when.date().isoformat())
    return f"[{_BETWEEN.join(filter(None, parts))}]"


def _unmarked(text: str) -> str:
    """A name or label as one part of the note: it can neither end the note nor begin another part."""
    return " ".join(text.replace("[", "(").replace("]", ")").replace("·", " ").split())


async def _at_once() -> None: ...


class TurnTools:
    """Makes the tools of a turn, bound to its view of the book. `timeout` is in seconds, per call; `ready` returns when
    the tools can be used, and does not take long.
    """

    def __init__(
        self,
        make_toolbox: MakeToolbox,
        *,
        meter: UsageMeter,
        summaries: ChapterSummaries | None,
        timeout: float,
        ready: Callable[[], Awaitable[None]] = _at_once,
    ) -> None:
        self._make_toolbox = make_toolbox
        self.ready = ready
        self._meter = meter
        self._summaries = summaries
        self.timeout = timeout

    def of(self, view: BookView, conversation: Conversation, draft: TurnDraft, emit: Emit) -> Toolbox:
        """The toolbox. Tools may ask the model, charged to the reader, and propose a position to the reader."""

        async def approve(tool: str, arguments: dict[str, Any]) -> Approval:
            call = ToolCallStarted("", 0, tool, arguments)
            shown = await draft.answer.presentable(call) if draft.answer else call
            assert isinstance(shown, ToolCallStarted)
            return await draft.approvals.ask(draft.asked[-1].author_id, tool, shown.arguments, emit)

        def propose(page: str, chapter: str) -> bool:
            proposal = proposed(draft.asked, page, chapter)
            if proposal is not None:
                emit(proposal)
            return proposal is not None

        spent = partial(self._meter.record, conversation=conversation, draft=draft, emit=emit)
        ask = partial(complete_once, draft.provider, spent, kind=PromptKind.SUMMARY)
        context = ToolContext(
            digests=self._summaries.of(view, ask).digests if self._summaries else None,
            propose=propose,
            approve=approve,
        )
        return self._make_toolbox(view, context)


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """Everything that a strategy receives, the book and the visible view of it, and `compose`, which builds its
    answer.
    """

    file: BookFile
    view: BookView
    messages: list[PromptMessage]
    tools: tuple[ToolDefinition, ...]
    dispatch: Dispatcher
    compose: Callable[[], Composition]


class TurnPreparer:
    """Makes the prompt and the tools of a turn, given how far its readers have read."""

    def __init__(
        self,
        *,
        books: BoundBooks,
        tools: TurnTools,
        system_prompts: SystemPrompts,
        context: ConversationContextStrategy,
        turns: TurnRepository,
        quota: Quota,
        spoilers: SpoilerChecks,
    ) -> None:
        self._books = books
        self._tools = tools
        self._system_prompts = system_prompts
        self._context = context
        self._turns = turns
        self._quota = quota
        self._spoilers = spoilers

    @property
    def reach(self) -> int:
        """From how many of a conversation's newest turns an answer may be made."""
        return self._context.reach

    async def refused(self, conversation: Conversation, askers: Sequence[str]) -> Collection[str]:
        """Those among several askers who have used up their tokens, while others have not: together, their questions
        would be at the others' cost, or keep the others' from being answered.
        """
        return await self._quota.refused({*askers}, conversation.guild_id)

    async def prepare(self, request: TurnRequest, draft: TurnDraft, emit: Emit) -> PreparedTurn:
        """Prepare a turn; its readers' messages get the note that tells the model how far they have read.

        Raises:
            LLMError: DAILY_LIMIT, SERVER_LIMIT, TURN_LIMIT, the reader may not ask now.
            BookError: NOT_FOUND, INVALID_STATE, the book or its file is gone.
            StorageError: something could not be read or kept.
        """
        question, conversation, history = draft.asked[-1], request.conversation, request.history
        about = "" if draft.replaces else "\n".join(f"{each.id} {each.content}" for each in draft.asked)
        await self._quota.check(question.author_id, conversation, about)
        await self._tools.ready()
        opened, turns = await asyncio.gather(
            self._books.open(conversation, request.people, [message.author_id for message in draft.asked]),
            self._turns.get_recent(conversation.id, self.reach + 1),
        )
        book, view = opened.book, opened.view
        draft.depends_to = view.read_to
        draft.binding = _named(opened.binding, [*history, *draft.asked])
        draft.asked = [replace(m, note=opened.note(m.author_name), depends_to=view.read_to) for m in draft.asked]
        toolbox = self._tools.of(view, conversation, draft, emit)
        system = await self._system_prompts.for_conversation(conversation, book, toolbox)
        messages = self._messages(turns, history, draft)
        check = self._spoilers.check(book, view.read_to, _known(book, messages, draft.provider))
        failed = unanswered(history, turns)
        prompts = [_as_prompt(each, failed) for each in messages]
        return PreparedTurn(
            opened.file,
            view,
            [PromptMessage("system", system.system, data=_about(opened)), *prompts],
            system.tools,
            toolbox.build_dispatcher(timeout=self._tools.timeout),
            partial(compose, book, view, messages, check),
        )

    def _messages(self, turns: Sequence[Turn], history: Sequence[ChatMessage], draft: TurnDraft) -> list[ChatMessage]:
        """The part of the history that goes into the prompt, and the current messages.

        A model without tools is sent no calls and results, so these take no room then. They stay with their turns all
        the same, because an answer may cite what was found for an earlier one.
        """
        assert draft.depends_to is not None, "the bound comes first"
        past = within_bound(presentable(history, turns), draft.depends_to)
        if draft.provider.supports_tools:
            past = self._context.build_context(past)
        else:
            kept = {message.turn_id for message in self._context.build_context(without_calls(past))}
            past = [message for message in past if message.turn_id in kept]
        return [*map(_with_note, past), *draft.asked]


def _with_note(message: ChatMessage) -> ChatMessage:
    """A past message: the model always reads who wrote it, and when."""
    if message.note or message.role is not MessageRole.USER:
        return message
    return replace(message, note=note_without_position(message.author_name, message.created_at))


def _as_prompt(message: ChatMessage, failed: Collection[str | None]) -> PromptMessage:
    prompt = as_said(message)
    is_unanswered = message.role is MessageRole.USER and message.turn_id in failed
    return replace(prompt, kind=PromptKind.UNANSWERED) if is_unanswered else prompt


def _named(binding: Binding | None, said: Sequence[ChatMessage]) -> Binding | None:
    """The binding with the name that the reader writes under, if they have written."""
    if binding is None or not binding.reader_id:
        return binding
    names = (message.author_name for message in reversed(said) if message.author_id == binding.reader_id)
    return replace(binding, name=next(names, ""))


def _about(opened: OpenedView) -> dict[str, object]:
    """What the system prompt says about the book, how far its readers are, and whether all of it is open."""
    book, is_open = opened.book, opened.book.is_all_before(opened.view.read_to)
    known = {"title": book.title, "author": book.author, "pages": book.page_count, "estimated": book.pages_estimated}
    return {**known, "page": opened.page, "place": opened.place, "open": is_open}


def _known(book: Book, messages: Sequence[ChatMessage], provider: ChatProvider) -> str:
    """What is no secret to the readers: the book's title, author and length, their own names and words, but for those
    they have covered, and sentences that the provider says of any book.
    """
    phrases = provider.phrases if isinstance(provider, HasPhrases) else ""
    readers = [m for m in messages if m.role is MessageRole.USER]
    said = (f"{m.author_name}\n{without_covers(m.content)}" for m in readers)
    length = f"{book.page_count} {book.chapter_count} {book.word_count}"
    return "\n".join([book.title, book.author, length, phrases, *said])

"""The ports: what the brain needs from the world. Adapters live in bot/ and storage/ and are chosen in bot/app.py."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from domain.book import (
    Book,
    BookText,
    Chapter,
    Citation,
    ContentsEntry,
    DerivedText,
    Mentions,
    Page,
    Passage,
    PhraseHit,
    ReadingPosition,
    Sentence,
)
from domain.chat import ChatMessage, PromptMessage
from domain.conversation import Conversation, TitleSource, Turn
from domain.event import StrategyEvent, UsageReported
from domain.privacy import Erasure
from domain.tool_use import ChatResponse, ProviderEvent, ToolDefinition, ToolResult
from domain.usage import UsageRecord, UsageTotal

Clock = Callable[[], datetime]
"""Now, with a time zone."""

Progress = Callable[[str, float], None]
"""Told the stage of long work ("reading", "indexing") and its done share 0..1; called from any thread."""

ToolOutput = str | ToolResult
ToolHandler = Callable[[dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out a call. A plain string is JSON, and an object of the form {"error": …} is a failure."""

Dispatcher = Callable[[str, dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out the call of the tool of that name; never raises but on cancellation."""


class ChatProvider(Protocol):
    """A language model.

    Raises (all methods): LLMError, and nothing else.
    """

    @property
    def name(self) -> str:
        """The provider's own name: anthropic, openai, extractive."""
        ...

    @property
    def model_name(self) -> str: ...

    @property
    def supports_tools(self) -> bool: ...

    async def chat(self, messages: Sequence[PromptMessage]) -> str:
        """A reply without tools."""
        ...

    async def chat_with_tools(self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition]) -> ChatResponse:
        """A reply that may be calls. Without tools it is `chat`.

        Raises:
            LLMError: UNSUPPORTED_FEATURE where the model cannot use tools.
        """
        ...

    def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """As `chat_with_tools`, piece by piece; the last event is the whole ChatResponse.

        With `call_tools` False the tools are sent (the history may hold calls of them) but no call may come back.
        """
        ...

    async def check(self) -> str:
        """Ask the provider whether key and model are good; return a sentence that says what was found."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class BookView(Protocol):
    """What a reader who has read up to `read_to` may see of one book.

    Every answer is a function of `text[:read_to]` and nothing else: change the rest, and no byte of any result does.
    """

    @property
    def book(self) -> Book: ...

    @property
    def read_to(self) -> int: ...

    async def search(self, queries: Sequence[str], top_k: int = 5) -> list[Passage]:
        """The passages that fit best, best first; several phrasings of one question are fused."""
        ...

    async def read_pages(self, first: str, last: str) -> list[Passage]:
        """The text of pages (by label), one passage a page.

        Raises:
            BookError: NOT_FOUND, no such page has been reached.
        """
        ...

    async def read_around(self, source: str, before: int = 1, after: int = 1) -> Passage:
        """A passage seen before, widened by whole neighbours.

        Raises:
            BookError: NOT_FOUND, `source` names no passage that has been reached.
        """
        ...

    async def contents(self) -> list[ContentsEntry]:
        """Chapters that the reader has reached."""
        ...

    async def read_chapter(self, number: int) -> Passage:
        """A chapter as far as it has been read; 0 is what stands before the first, or a book without chapters.

        Raises:
            BookError: NOT_FOUND, no such chapter has been reached.
        """
        ...

    async def find_phrase(self, text: str, limit: int = 5) -> list[PhraseHit]:
        """Where a phrase stands, exactly or as half remembered, best first."""
        ...

    async def count_mentions(self, term: str) -> Mentions:
        """Exact counts of a word or name."""
        ...

    async def mentions(self, term: str, limit: int = 1_000) -> list[Sentence]:
        """The sentences that mention a word or name, in order; of more than `limit` the first."""
        ...

    async def cite(self, start: int, end: int) -> Citation:
        """The citation of a span.

        Raises:
            BookError: NOT_FOUND, the span is empty or reaches beyond the bound.
        """
        ...


class BookFile(Protocol):
    """An indexed book, opened for reading."""

    async def text(self, page: str | None = None) -> str:
        """The text that was indexed, all of it or one page by its label.

        Raises:
            BookError: NOT_FOUND, no such page.
        """
        ...

    async def pages(self) -> tuple[Page, ...]: ...

    async def chapters(self) -> tuple[Chapter, ...]: ...

    def view(self, read_to: int) -> BookView: ...


class BookFiles(Protocol):
    """The folder of indexed books, each named after the file it was made from, written once, read only ever after."""

    async def write(self, sha256: str, text: BookText, progress: Progress | None = None) -> None:
        """Index a book; a book that is there already is left alone. Nothing is left behind on failure or kill."""
        ...

    async def open(self, book: Book) -> BookFile:
        """Open the indexed book.

        Raises:
            BookError: INVALID_STATE, its file is missing or unreadable.
        """
        ...

    async def remove(self, sha256: str) -> None:
        """Unlink the file; a missing one is fine."""
        ...

    async def written_before(self, moment: datetime) -> Sequence[str]:
        """The hashes of books whose files are older than that."""
        ...


class BookReader(Protocol):
    """Turns the bytes of a file into a book's text."""

    async def read(self, data: bytes, filename: str, progress: Progress | None = None) -> BookText:
        """Read a file of any supported format, without blocking, within limits of time, memory and size.

        Raises:
            BookError: the file cannot become a book; the sentence says why and what to do.
        """
        ...


class RetrievalStrategy(Protocol):
    """How the model gets to see the book: by calling tools, or by being handed passages."""

    def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """Events as they happen, then exactly one StrategyOutcome.

        Raises:
            LLMError: no answer came of it.
        """
        ...


class AskAside(Protocol):
    """Puts one question to a model, apart from the talk with readers: for a query, a summary, a title."""

    async def __call__(
        self, chat_provider: ChatProvider, spent: Callable[[UsageReported], Awaitable[None]], question: str, /
    ) -> str:
        """The answer in words; blank where the model declines or has nothing to say. `spent` is told what it used.

        Raises:
            LLMError: there was no answer.
        """
        ...


class ConversationContextStrategy(Protocol):
    """Chooses what of a history goes into the prompt."""

    @property
    def reach(self) -> int:
        """How many of the newest turns it chooses from."""
        ...

    def build_context(self, history: Sequence[ChatMessage]) -> list[ChatMessage]: ...


class BookRepository(Protocol):
    """Books on shelves."""

    async def save(self, book: Book) -> None:
        """Insert or update.

        Raises:
            BookError: ALREADY_EXISTS, its shelf holds the same file under another id.
        """
        ...

    async def get(self, book_id: str) -> Book | None: ...
    async def get_by_hash(self, shelf: str, sha256: str) -> Book | None: ...
    async def list(self, shelf: str | None = None) -> Sequence[Book]:
        """Newest first; all shelves when none is named."""
        ...

    async def count_by_hash(self, sha256: str) -> int:
        """How many shelves hold this file."""
        ...

    async def delete(self, book_id: str) -> None:
        """With its conversations, messages and positions. Unknown ids are fine."""
        ...


class ConversationRepository(Protocol):
    async def save(self, conversation: Conversation) -> None:
        """Insert or update."""
        ...

    async def get(self, conversation_id: str) -> Conversation | None: ...
    async def get_by_thread(self, thread_id: str) -> Conversation | None: ...
    async def get_by_book(self, book_id: str) -> Sequence[Conversation]:
        """Newest first."""
        ...

    async def get_by_guild(self, guild_id: str) -> Sequence[Conversation]:
        """Newest first."""
        ...

    async def delete(self, conversation_id: str) -> None:
        """With its messages and turns. Unknown ids are fine."""
        ...

    async def update_title(self, conversation_id: str, title: str, source: TitleSource = TitleSource.PERSON) -> bool:
        """Rename; nothing else of the conversation is written. Unknown ids are fine.

        False, and nothing changed, where the title it has comes from a stronger source: only a person replaces what a
        person or a model chose.

        Raises:
            ConversationError: INVALID_STATE, the title is blank.
        """
        ...


class ChatMessageRepository(Protocol):
    """Messages in the order a model is to see them: turn by turn, those without a turn last."""

    async def save(self, message: ChatMessage) -> None:
        """Insert or update."""
        ...

    async def save_batch(self, messages: Sequence[ChatMessage]) -> None:
        """All or none."""
        ...

    async def add_incoming(self, message: ChatMessage) -> bool:
        """Insert a reader's message; False, and nothing changed, if its `external_id` is known already."""
        ...

    async def get_by_conversation(self, conversation_id: str) -> Sequence[ChatMessage]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[ChatMessage]:
        """Those of the newest `turns` turns, and all that wait; as quick in a conversation of years as in a new one."""
        ...

    async def get_by_external_id(self, external_id: str) -> ChatMessage | None: ...
    async def get_newest_external_id(self, conversation_id: str) -> str | None:
        """The largest number among the ids of messages that are known there, erased ones included."""
        ...

    async def list_authors(self, conversation_id: str) -> Sequence[str]:
        """Who has written there, the bot and its tools left out."""
        ...

    async def note_present(self, conversation_id: str, reader_id: str) -> None:
        """Remember that somebody writes in its thread, though not to the bot; for conversations that are gone, not."""
        ...

    async def list_people(self, conversation_id: str) -> Sequence[str]:
        """Who reads along, as far as is known: all who have written in its thread, to the bot or not."""
        ...

    async def list_waiting(self) -> Sequence[str]:
        """The conversations in which a reader's message waits for its turn."""
        ...

    async def delete(self, message_id: str) -> None: ...
    async def delete_by_conversation(self, conversation_id: str) -> None: ...


class TurnRepository(Protocol):
    """Turns, each change one transaction together with the messages it concerns."""

    async def begin(self, conversation_id: str, message_ids: Sequence[str], now: datetime) -> Turn:
        """Open the next turn for these readers' messages and give them to it.

        Messages that were deleted meanwhile are passed over.

        Raises:
            ConversationError: NOT_FOUND, the conversation is gone; INVALID_STATE, a message is in another turn or
                conversation, or none of them is left.
        """
        ...

    async def finish(self, turn: Turn, messages: Sequence[ChatMessage] = ()) -> None:
        """Write the turn's new state and the messages it brought forth, all or none.

        `reply_ids` and `trace_id` that are empty here leave what `update_delivery` has written.

        Raises:
            ConversationError: NOT_FOUND, the turn is gone (its conversation was deleted, its question taken back).
        """
        ...

    async def get(self, turn_id: str) -> Turn | None: ...
    async def get_by_conversation(self, conversation_id: str) -> Sequence[Turn]: ...
    async def get_recent(self, conversation_id: str, turns: int) -> Sequence[Turn]:
        """The newest ones, in order."""
        ...

    async def reopen(self, turn_id: str) -> None:
        """Undo a turn that brought no answer: its readers' messages wait again and the turn is gone.

        Unknown ids are fine.

        Raises:
            ConversationError: INVALID_STATE, the turn has its answer.
        """
        ...

    async def update_delivery(self, turn_id: str, reply_ids: Sequence[str], trace_id: str | None) -> None: ...
    async def list_undelivered(self) -> Sequence[Turn]:
        """Turns that are RUNNING or ANSWERED, and FAILED ones of which nobody was told, oldest first.

        At start-up these are the ones that were interrupted.
        """
        ...


class ReaderRepository(Protocol):
    """What is kept about a person: positions in books, and the verbose default."""

    async def get_position(self, reader_id: str, book_id: str) -> ReadingPosition: ...
    async def set_position(self, reader_id: str, book_id: str, position: ReadingPosition) -> None:
        """UNSET forgets the position."""
        ...

    async def lowest_position(self, book_id: str) -> int | None:
        """The offset of the reader who is least far in a book; None where nobody is underway in it."""
        ...

    async def get_verbose(self, reader_id: str) -> bool | None: ...
    async def set_verbose(self, reader_id: str, verbose: bool) -> None: ...


class UsageRepository(Protocol):
    """What requests to models used. It outlives conversations and, without their names, readers."""

    async def record(self, record: UsageRecord) -> None: ...
    async def total_for_reader(self, reader_id: str, since: datetime) -> UsageTotal: ...
    async def total_for_guild(self, guild_id: str, since: datetime) -> UsageTotal: ...
    async def total_for_conversation(self, conversation_id: str) -> UsageTotal: ...


class DerivedTextRepository(Protocol):
    """Texts a model wrote about books; they go with their book."""

    async def get(self, book_id: str, kind: str, key: str, read_to: int) -> DerivedText | None:
        """The text of that kind and key that depends on most of the book, yet on nothing beyond `read_to`."""
        ...

    async def put(self, text: DerivedText) -> None:
        """Insert, or replace the one of the same kind, key and `depends_to`."""
        ...


class PrivacyRepository(Protocol):
    """Everything that is kept about one person."""

    async def export(self, reader_id: str) -> dict[str, Any]:
        """All of it, ready for JSON."""
        ...

    async def erase(self, reader_id: str) -> Erasure:
        """Erase it at once and for good; what is left stays valid for those it belongs to.

        Positions and preferences go. So do conversations that are theirs alone, and elsewhere the turns they wrote in,
        whole, with the answers. Usage and books stay without their name. A message that is erased is still recognised
        by `add_incoming`, so that it is not answered a second time.
        """
        ...


class RetentionRepository(Protocol):
    """Erases what is not to be kept any longer, for good. What is still at work is left alone."""

    async def erase_conversations(self, idle_since: datetime) -> int:
        """Conversations in which nothing was written since then, and nothing waits; how many there were."""
        ...

    async def erase_unopened(self, before: datetime) -> int:
        """Conversations begun on Discord before then for which no thread came to be; how many there were."""
        ...

    async def erase_tool_calls(self, before: datetime) -> int:
        """Calls and results of turns that ended before then; how many results. Questions and answers stay."""
        ...


class Toolbox(Protocol):
    """The tools of one turn, bound to one view of one book."""

    def get_definitions(self) -> list[ToolDefinition]: ...
    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher: ...

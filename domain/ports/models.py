"""The ports for language models, what they have used and people may do, tools, the clock and leases."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from domain.chat import ChatMessage, PromptMessage
from domain.concurrency import HeldLease
from domain.event import StrategyEvent
from domain.records import LimitedAction, UsageRecord, UsageTotal
from domain.tool_use import ChatResponse, ProviderEvent, RequestSent, ToolDefinition, ToolResult


@runtime_checkable
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
        """A reply that may contain calls. Without tools it is `chat`.

        Raises:
            LLMError: UNSUPPORTED_FEATURE if the model cannot use tools.
        """
        ...

    def stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[ProviderEvent, None]:
        """As `chat_with_tools`, piece by piece; the last event is the complete ChatResponse. If an error comes after
        it, the reply is no answer, but its tokens are spent.

        With `call_tools` False the tools are sent (the history may contain calls of them), but the reply may contain
        no call.
        """
        ...

    async def check(self) -> str:
        """Ask the provider whether key and model work; return a sentence with the result."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


@runtime_checkable
class HasPhrases(Protocol):
    """A provider that says sentences of its own, whatever the book is: they reveal nothing of it."""

    @property
    def phrases(self) -> str: ...


@runtime_checkable
class Metered(Protocol):
    """A provider that tells what requests cost that bring no answer."""

    def metered_stream(
        self, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition] = (), *, call_tools: bool = True
    ) -> AsyncGenerator[RequestSent | ProviderEvent, None]:
        """As `ChatProvider.stream`, with a RequestSent in front."""
        ...


class UsageRepository(Protocol):
    """The tokens that requests used. The records outlive conversations and, without their names, readers."""

    async def record(self, record: UsageRecord) -> None:
        """Count a request. The record replaces the one before of the same request; without tokens, it removes that."""
        ...

    async def total_for_reader(self, reader_id: str, since: datetime) -> UsageTotal: ...
    async def total_for_guild(self, guild_id: str, since: datetime) -> UsageTotal: ...
    async def total_in_guild(self, reader_id: str, guild_id: str, since: datetime) -> UsageTotal:
        """What one reader has used in one server."""
        ...

    async def spent_before_erasure(self, reader_id: str, at: datetime, guild_id: str = "") -> int:
        """Tokens used on that day, anywhere or in one server, before the person erased their data."""
        ...


class AllowanceRepository(Protocol):
    """How often each person has recently done things that are limited.

    People are identified by a salted hash of their ids, for a day at most, so that erasing one's data does not reset
    the limits.
    """

    async def take(
        self, person: str, action: LimitedAction, most: int, span: timedelta, now: datetime, about: str = ""
    ) -> datetime | None:
        """Record that a person does something once more, and return None. Repeating it `about` the same thing counts
        once.

        If they have done it `most` times within `span` (a day at most), nothing is recorded, and the result is when
        they may do it again.
        """
        ...


ToolOutput = str | ToolResult
ToolHandler = Callable[[dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out a call. A plain string is JSON; an object of the form {"error": …} is a failure."""

Dispatcher = Callable[[str, dict[str, Any]], Awaitable[ToolOutput]]
"""Carries out the call of the tool with that name; raises nothing but CancelledError."""


class Toolbox(Protocol):
    """The tools of one turn, bound to one view of one book."""

    def get_definitions(self) -> list[ToolDefinition]: ...
    def build_dispatcher(self, timeout: float | None = 30.0, max_retries: int = 0) -> Dispatcher: ...


class RetrievalStrategy(Protocol):
    """How the model gets to see the book: by calling tools, or by being given passages."""

    def execute(
        self,
        chat_provider: ChatProvider,
        messages: Sequence[PromptMessage],
        tools: Sequence[ToolDefinition],
        dispatch: Dispatcher,
    ) -> AsyncGenerator[StrategyEvent, None]:
        """Events as they happen, then exactly one StrategyOutcome.

        Raises:
            LLMError: there is no answer.
        """
        ...


class ConversationContextStrategy(Protocol):
    """Chooses the part of a history that goes into the prompt."""

    @property
    def reach(self) -> int:
        """From how many of the newest turns it chooses."""
        ...

    def build_context(self, history: Sequence[ChatMessage]) -> list[ChatMessage]: ...


Clock = Callable[[], datetime]
"""Now, with a time zone."""


class LeaseRepository(Protocol):
    """Leases, each with one holder at a time, timed by the clock of the database.

    Raises (all methods):
        StorageError.
    """

    async def acquire(self, name: str, holder: str, seconds: float) -> HeldLease | None:
        """Take a free lease, with the note of its last holder. None: it is held, possibly by the same holder."""
        ...

    async def renew(
        self, holder: str, seconds: float, notes: Mapping[str, str] | None = None
    ) -> Collection[tuple[str, int]]:
        """Renew what this holder still holds; returns the name and epoch of each lease.

        `notes` are notes of leases by their names, which replace the stored ones; then only these are renewed. A lease
        that the holder got without learning of it, because the connection broke, expires that way.
        """
        ...

    async def release(self, lease: HeldLease) -> None:
        """Give a lease back, with its note; one that somebody else holds by now is left alone."""
        ...

    async def list_held(self, prefix: str, late_s: float = 0.0) -> Collection[str]:
        """The names with that beginning that are held now, or have expired less than `late_s` seconds ago without
        being given back.
        """
        ...

    async def get_note(self, name: str) -> str:
        """The note under a name; empty if there is none."""
        ...

    async def set_note(self, name: str, note: str, under: HeldLease | None = None) -> None:
        """Write a note; not if it is written `under` a lease that somebody else holds by now."""
        ...

    async def clear(self, prefix: str) -> None:
        """Delete all with names of that beginning that nobody has held for an hour: leases and notes."""
        ...

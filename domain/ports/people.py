"""The ports to what is kept about people, and to its erasure."""

from datetime import datetime
from typing import Any, Protocol

from domain.book import ReadingPosition
from domain.usage import Erasure, UsageRecord, UsageTotal


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

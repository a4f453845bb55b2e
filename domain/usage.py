"""What is counted of people's use, what limits it, and what becomes of what is kept about them."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.tool_use import TokenUsage


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """One request to a model.

    `cost_microdollars` is None where the price of the model is not known. An empty `reader_id` is nobody in particular:
    the reader was erased, or there was none.
    """

    at: datetime
    model: str
    usage: TokenUsage
    reader_id: str = ""
    guild_id: str | None = None
    conversation_id: str | None = None
    cost_microdollars: int | None = None


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """Several requests taken together. `cost_microdollars` leaves out the `unpriced` requests among them."""

    requests: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_microdollars: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """All tokens, read and written: what a daily limit counts."""
        return self.usage.input_tokens + self.usage.output_tokens


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased, and what is left to remove where it was shown.

    `thread_ids` are the threads of conversations that are gone. `replies` are answers that are gone from conversations
    that go on, each as (id of the thread, id of the message).
    """

    messages: int = 0
    conversations: int = 0
    thread_ids: tuple[str, ...] = ()
    replies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Sweep:
    """What has been erased because its time was over: counts."""

    conversations: int = 0
    tool_results: int = 0
    book_files: int = 0
    books: int = 0

    def __bool__(self) -> bool:
        return bool(self.conversations or self.tool_results or self.book_files or self.books)


class Deed(StrEnum):
    """What one person may do only so often."""

    ADD_BOOK = "add_book"
    OPEN_CONVERSATION = "open_conversation"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What those who manage a server have chosen for it; an empty value leaves it to people or the operator.

    `channels` are the ids of the channels (or categories) where the bot may be used, none for everywhere. `adder_role`
    is the id of the role whose members may add books, none for everybody. `verbose` holds where neither a conversation
    nor its reader has chosen. Tokens are per day, 0 for no limit of the server's own. `language` is Discord's code of
    one. `log_channel` is the id of the channel of the moderators' log.
    """

    channels: tuple[str, ...] = ()
    adder_role: str = ""
    verbose: bool | None = None
    tokens_per_person: int = 0
    tokens_per_server: int = 0
    model: str = ""
    language: str = ""
    log_channel: str = ""

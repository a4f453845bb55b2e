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
    """What was erased of a person. What is left to remove where it was shown is in the list of removals."""

    messages: int = 0
    conversations: int = 0


@dataclass(frozen=True, slots=True)
class PersonalPost:
    """A message of the bot's own that shows a person, by their id.

    `name` is what they are called in it, blank where it mentions or answers them. `words`: it repeats what they wrote.
    `thread_id` is the thread whose name the message shows; then `reader_id` may be empty: whose words the name was made
    of is known from the thread's conversation.
    """

    message_id: str
    channel_id: str
    reader_id: str
    guild_id: str | None = None
    name: str = ""
    thread_id: str | None = None
    words: bool = False


class RemovalKind(StrEnum):
    """What is to be taken from Discord: a message, a mention of a person in one, a thread, or a thread's name."""

    MESSAGE = "message"
    MENTION = "mention"
    THREAD = "thread"
    THREAD_NAME = "thread_name"


@dataclass(frozen=True, slots=True)
class Removal:
    """Something that is still to be removed from Discord.

    A THREAD where other people wrote stays, and is renamed. A message with a MENTION goes where it answers the person,
    else it loses their name. `name` is the new name of a thread, or what the person is called in the small print of a
    message. `reader_id` is who wished it; empty where nobody did. `refused`: Discord did not let us.
    """

    kind: RemovalKind
    channel_id: str
    message_id: str = ""
    guild_id: str | None = None
    reader_id: str = ""
    name: str = ""
    refused: bool = False

    @property
    def link(self) -> str:
        """Where it is, for a person who looks for it."""
        where = self.guild_id if self.guild_id and self.guild_id.isdecimal() else "@me"
        place = f"https://discord.com/channels/{where}/{self.channel_id}"
        return f"{place}/{self.message_id}" if self.message_id else place


@dataclass(frozen=True, slots=True)
class Sweep:
    """What has been erased because its time was over: counts."""

    conversations: int = 0
    tool_results: int = 0
    book_files: int = 0
    books: int = 0
    servers: int = 0

    def __bool__(self) -> bool:
        return bool(self.conversations or self.tool_results or self.book_files or self.books or self.servers)


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

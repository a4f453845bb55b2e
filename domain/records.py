"""What is recorded of people and servers: usage and its limits, settings, and the posts that show somebody."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.tool_use import TokenUsage


@dataclass(frozen=True, slots=True)
class UsageRecord:
    """One request to a model.

    `cost_microdollars` is None if the price of the model is unknown. An empty `reader_id` means that the reader was
    erased, or that there was none. `asked_at` is when the reader wrote the message that the request answers (None: the
    same as `at`); if the reader is erased after that, the record is kept without the reader. Records with the same
    `request_id` belong to one request, and the last one counts.
    """

    at: datetime
    model: str
    usage: TokenUsage
    reader_id: str = ""
    guild_id: str | None = None
    conversation_id: str | None = None
    cost_microdollars: int | None = None
    asked_at: datetime | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class UsageTotal:
    """The sum of several requests. `cost_microdollars` excludes the `unpriced` ones, whose model has no known price."""

    requests: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost_microdollars: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Input and output tokens, which a daily limit counts."""
        return self.usage.input_tokens + self.usage.output_tokens


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased of a person. Posts that still have to be removed are on the list of removals."""

    messages: int = 0
    conversations: int = 0


@dataclass(frozen=True, slots=True)
class PersonalPost:
    """A message of the bot that shows a person, or the name of a thread that was made from a person's words."""

    message_id: str
    channel_id: str
    reader_id: str
    """The person; may be empty with a `thread_id`, because the thread's conversation says whose words its name
    contains.
    """
    guild_id: str | None = None
    name: str = ""
    """The name by which the message shows the person; blank if it mentions or answers them. With a `thread_id`: the new
    name of the thread, blank if it was opened with that name.
    """
    thread_id: str | None = None
    """The thread whose name the message shows."""
    repeats: tuple[str, ...] = ()
    """The ids of the person's questions whose words the message repeats."""
    as_of: datetime | None = None
    """It shows what was known at this time, by the platform's clock; if the person is erased after it, the message has
    to go too. None: erasures of the person are not looked up.
    """
    as_of_turn: bool = False
    """Whether `as_of` comes from a turn, and so is by the program's clock."""


@dataclass(frozen=True, slots=True)
class PostingPlace:
    """A channel in which the bot posts from `at` on, for some minutes. `guild_id` is None if it is not known."""

    channel_id: str
    guild_id: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class OpenReply:
    """A reply to a command that is still being made, while a person waits for it.

    `token` is the platform's key to it, which is valid for 15 minutes. `about` is JSON with what the program needs to
    continue it, without ids of people or servers. `lease` and `epoch` are those of the process that makes it; "" and 0
    if there is only one process.
    """

    id: str
    reader_id: str
    guild_id: str | None
    channel_id: str | None
    token: str
    about: str
    began_at: datetime
    lease: str = ""
    epoch: int = 0


class RemovalKind(StrEnum):
    """What to remove from Discord: a message, a person's mention in one, a thread, or a thread's name."""

    MESSAGE = "message"
    MENTION = "mention"
    THREAD = "thread"
    THREAD_NAME = "thread_name"


@dataclass(frozen=True, slots=True)
class Removal:
    """An entry of the list of things to remove from Discord.

    A THREAD where other people wrote stays, and is renamed. A message with a MENTION is deleted if it answers the
    person; otherwise their name is removed from it. `name` is the new name of a thread, or the person's name in the
    small print of a message. `reader_id` is the person who requested it, or empty. `refused`: Discord did not allow
    it.
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
        """A link to it, for people."""
        where = self.guild_id if self.guild_id and self.guild_id.isdecimal() else "@me"
        place = f"https://discord.com/channels/{where}/{self.channel_id}"
        return f"{place}/{self.message_id}" if self.message_id else place


@dataclass(frozen=True, slots=True)
class Sweep:
    """The numbers of things that were erased because their retention period was over."""

    conversations: int = 0
    tool_results: int = 0
    book_files: int = 0
    books: int = 0
    servers: int = 0

    def __bool__(self) -> bool:
        return bool(self.conversations or self.tool_results or self.book_files or self.books or self.servers)


class LimitedAction(StrEnum):
    """An action that each person may do only so often."""

    ADD_BOOK = "add_book"
    OPEN_CONVERSATION = "open_conversation"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What the managers of a server have chosen for it; an empty value leaves the choice to people or the operator.

    `channels` are the ids of the channels (or categories) where the bot may be used, none for everywhere. `adder_role`
    is the id of the role whose members may add books, none for everybody. `verbose` applies where neither a
    conversation nor its reader has chosen. Tokens are per day, 0 for no limit of the server's own. `language` is a
    Discord language code. `log_channel` is the id of the channel with the moderators' log.
    """

    channels: tuple[str, ...] = ()
    adder_role: str = ""
    verbose: bool | None = None
    tokens_per_person: int = 0
    tokens_per_server: int = 0
    model: str = ""
    language: str = ""
    log_channel: str = ""

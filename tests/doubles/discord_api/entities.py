"""What stands in the double's Discord: people, guilds, channels, threads, messages."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, IntFlag
from typing import Any

Json = dict[str, Any]


class Permission(IntFlag):
    """The permission bits a chat bot meets."""

    KICK_MEMBERS = 1 << 1
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    MANAGE_GUILD = 1 << 5
    ADD_REACTIONS = 1 << 6
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_EVENTS = 1 << 33
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38
    CREATE_EVENTS = 1 << 44
    SEND_POLLS = 1 << 49


EVERYDAY = (
    Permission.ADD_REACTIONS
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)
"""What everyone in a fresh guild may do."""


class ChannelType(IntEnum):
    TEXT = 0
    DM = 1
    GROUP_DM = 3
    ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12


THREADS = (ChannelType.ANNOUNCEMENT_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD)


class MessageType(IntEnum):
    DEFAULT = 0
    RECIPIENT_ADD = 1
    CHANNEL_NAME_CHANGE = 4
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_INPUT_COMMAND = 20
    THREAD_STARTER_MESSAGE = 21
    CONTEXT_MENU_COMMAND = 23
    POLL_RESULT = 46


class MessageFlag(IntFlag):
    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12


NO_FLAGS = MessageFlag(0)


@dataclass(slots=True, eq=False)
class User:
    id: int
    name: str
    bot: bool = False
    has_app: bool = False
    """Whether they have installed the application for themselves."""


@dataclass(slots=True, eq=False)
class Role:
    id: int
    name: str
    permissions: Permission
    position: int = 0


@dataclass(slots=True, eq=False)
class Member:
    user: User
    joined_at: datetime
    roles: set[int] = field(default_factory=set)
    nick: str | None = None
    timed_out_until: datetime | None = None


@dataclass(slots=True, eq=False)
class Guild:
    id: int
    name: str
    owner: User
    roles: dict[int, Role] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    channels: dict[int, "Channel"] = field(default_factory=dict)
    events: dict[int, Json] = field(default_factory=dict)
    """Scheduled events, as the wire has them."""
    locale: str = "en-US"
    system_channel: "Channel | None" = None
    rules_channel: "Channel | None" = None
    has_commands_alone: bool = False
    """Whether it has installed the application's commands without its bot."""

    @property
    def everyone(self) -> Role:
        return self.roles[self.id]


@dataclass(slots=True, eq=False)
class Attachment:
    id: int
    filename: str
    data: bytes
    url: str
    content_type: str = "application/octet-stream"
    description: str | None = None
    used: bool = False


@dataclass(slots=True, frozen=True)
class Button:
    """A button as a person sees it."""

    label: str
    custom_id: str
    style: int
    disabled: bool = False


@dataclass(slots=True, eq=False)
class Poll:
    """A native poll. `votes` maps a person to the ids of the answers they chose; `is_final`: the votes are counted."""

    question: str
    answers: dict[int, str]
    expiry: datetime
    multiselect: bool = False
    votes: dict[int, set[int]] = field(default_factory=dict)
    is_final: bool = False

    def count(self, answer: int) -> int:
        return sum(answer in chosen for chosen in self.votes.values())


@dataclass(slots=True, eq=False)
class Message:
    id: int
    channel: "Channel"
    author: User
    content: str
    created_at: datetime
    type: MessageType = MessageType.DEFAULT
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    mentions: list[User] = field(default_factory=list)
    pings: set[int] = field(default_factory=set)
    """Who was notified: users' and roles' ids, and the guild's own id for everyone."""
    flags: MessageFlag = NO_FLAGS
    nonce: str | None = None
    edited_at: datetime | None = None
    revisions: list[str] = field(default_factory=list)
    """Contents the message had before, oldest first."""
    reference: "Message | None" = None
    thread: "Channel | None" = None
    reactions: list[tuple[str, int]] = field(default_factory=list)
    interaction_id: int | None = None
    invoker: User | None = None
    installs: Json = field(default_factory=dict)
    """Of a reply to an interaction: who had installed the application there."""
    pinned: bool = False
    poll: Poll | None = None
    deleted: bool = False

    @property
    def ephemeral(self) -> bool:
        return MessageFlag.EPHEMERAL in self.flags

    @property
    def buttons(self) -> list[Button]:
        return [
            Button(part.get("label", ""), part.get("custom_id", ""), part["style"], part.get("disabled", False))
            for row in self.components
            for part in row.get("components", [])
            if part["type"] == 2
        ]

    @property
    def embed_texts(self) -> list[str]:
        """Each embed as the words a person reads."""
        return [embed_text(embed) for embed in self.embeds]


def as_read(text: str) -> str:
    """A text as a client shows it: a command that can be clicked is its name."""
    return re.sub(r"</([\w -]+):\d+>", r"/\1", text)


def embed_text(embed: Json) -> str:
    fields = [text for each in embed.get("fields", []) for text in (each["name"], each["value"])]
    footer = embed.get("footer", {}).get("text", "")
    return as_read("\n".join(text for text in (embed.get("title"), embed.get("description"), *fields, footer) if text))


@dataclass(slots=True, eq=False)
class Channel:
    """A text or announcement channel, a thread or a direct message."""

    id: int
    type: ChannelType
    name: str
    guild: Guild | None
    created_at: datetime
    parent: "Channel | None" = None
    owner: User | None = None
    position: int = 0
    allowed: dict[int, Permission] = field(default_factory=dict)
    denied: dict[int, Permission] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    recipients: list[User] = field(default_factory=list)
    members: dict[int, datetime] = field(default_factory=dict)
    archived: bool = False
    archived_at: datetime | None = None
    locked: bool = False
    invitable: bool = True
    auto_archive_minutes: int = 4320
    slowmode: int = 0
    deleted: bool = False
    typing_times: list[float] = field(default_factory=list)

    @property
    def is_thread(self) -> bool:
        return self.type in THREADS

    @property
    def threads_for_all(self) -> ChannelType:
        """The type of its threads that everybody sees."""
        is_news = self.type is ChannelType.ANNOUNCEMENT
        return ChannelType.ANNOUNCEMENT_THREAD if is_news else ChannelType.PUBLIC_THREAD

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"

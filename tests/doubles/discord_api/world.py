"""The state of the double's Discord and everything that may happen in it, each told to the gateway."""

import itertools
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.doubles.discord_api import errors
from tests.doubles.discord_api import gateway as gw
from tests.doubles.discord_api.entities import (
    EVERYDAY,
    Attachment,
    Channel,
    ChannelType,
    Guild,
    Json,
    Member,
    Message,
    MessageFlag,
    MessageType,
    Permission,
    Role,
    User,
)
from tests.doubles.discord_api.gateway import Gateway
from tests.doubles.discord_api.payloads import (
    channel_payload,
    guild_payload,
    member_payload,
    message_payload,
    role_payload,
    thread_for,
    thread_member_payload,
    user_payload,
)
from tests.doubles.discord_api.permissions import sees

EPOCH_MS = 1420070400000
LONG_AGO = timedelta(days=30)
"""How long the bot has been in a server that has it from the beginning."""

_USER_MENTION = re.compile(r"<@!?(\d+)>")


class World:
    """Guilds, channels and messages. Times are the double's own clock, which a test may move forward."""

    def __init__(self, gateway: Gateway, bot: User, now: Callable[[], float]) -> None:
        self.gateway = gateway
        self.bot = bot
        self.users: dict[int, User] = {bot.id: bot}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.attachments: dict[int, Attachment] = {}
        self.cdn_url = ""
        self.changed: Callable[[], None] = lambda: None
        self._now = now
        self._counter = itertools.count(1)
        self._lost: dict[int, Member] = {}

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)

    def snowflake(self) -> int:
        """Ids that grow, and tell their time as Discord's do."""
        return (int(self._now() * 1000) - EPOCH_MS) << 22 | next(self._counter) & 0x3FFFFF

    # People and places

    def add_user(self, name: str, *, bot: bool = False) -> User:
        user = User(self.snowflake(), name, bot)
        self.users[user.id] = user
        return user

    def add_guild(self, name: str, *, with_bot: bool = True) -> Guild:
        owner = self.add_user(f"owner of {name}")
        guild = Guild(self.snowflake(), name, owner)
        guild.roles[guild.id] = Role(guild.id, "@everyone", EVERYDAY)
        self.guilds[guild.id] = guild
        guild.members[owner.id] = Member(owner, self.now())
        if with_bot:
            self.invite_bot(guild, LONG_AGO)
        return guild

    def invite_bot(self, guild: Guild, ago: timedelta = timedelta()) -> None:
        """The server installs the application, whose bot joins."""
        guild.members[self.bot.id] = Member(self.bot, self.now() - ago)
        payload = guild_payload(guild, self.bot)
        del payload["unavailable"]  # as Discord tells of a server that is new
        self.gateway.emit("GUILD_CREATE", payload, gw.INTENT_GUILDS)

    def remove_bot(self, guild: Guild) -> None:
        """The server throws the bot out."""
        del guild.members[self.bot.id]
        self.gateway.emit("GUILD_DELETE", {"id": str(guild.id)}, gw.INTENT_GUILDS)

    def lose_guild(self, guild: Guild) -> None:
        """Discord has an outage, and tells nothing of a server until `find_guild`."""
        self._lost[guild.id] = guild.members.pop(self.bot.id)
        self.gateway.emit("GUILD_DELETE", {"id": str(guild.id), "unavailable": True}, gw.INTENT_GUILDS)

    def find_guild(self, guild: Guild) -> None:
        guild.members[self.bot.id] = self._lost.pop(guild.id)
        self.gateway.emit("GUILD_CREATE", guild_payload(guild, self.bot), gw.INTENT_GUILDS)

    def lost_guilds(self) -> list[Guild]:
        """The bot's guilds of which nothing is told at the moment."""
        return [self.guilds[each] for each in self._lost]

    def guild_of_the_bot(self, guild_id: int) -> Guild:
        """A server in which the bot is.

        Raises:
            ApiError: there is none of that id, or the bot is not in it.
        """
        guild = self.guilds.get(guild_id)
        if guild is None:
            raise errors.unknown_guild()
        if self.bot.id not in guild.members:
            raise errors.missing_access()
        return guild

    def _tell_guild(self, guild: Guild, event: str, data: Json, intent: int) -> None:
        """What happens in a guild without the bot is not told."""
        if self.bot.id in guild.members:
            self.gateway.emit(event, data, intent)

    def join(self, guild: Guild, user: User) -> None:
        guild.members[user.id] = Member(user, self.now())
        data = member_payload(guild.members[user.id]) | {"guild_id": str(guild.id)}
        self._tell_guild(guild, "GUILD_MEMBER_ADD", data, gw.INTENT_MEMBERS)

    def part(self, guild: Guild, user: User) -> None:
        """Somebody leaves the server, and its threads with it."""
        del guild.members[user.id]
        for channel in guild.channels.values():
            channel.members.pop(user.id, None)
        data = {"guild_id": str(guild.id), "user": user_payload(user)}
        self._tell_guild(guild, "GUILD_MEMBER_REMOVE", data, gw.INTENT_MEMBERS)

    def grant(self, guild: Guild, user: User, permissions: Permission) -> None:
        """Give a member these permissions everywhere in the guild, by a role of their own."""
        role = Role(self.snowflake(), f"role of {user.name}", permissions, position=len(guild.roles))
        guild.roles[role.id] = role
        member = guild.members[user.id]
        member.roles.add(role.id)
        data = {"guild_id": str(guild.id)}
        self._tell_guild(guild, "GUILD_ROLE_CREATE", data | {"role": role_payload(role)}, gw.INTENT_GUILDS)
        intents = gw.INTENT_GUILDS | gw.INTENT_MEMBERS
        self._tell_guild(guild, "GUILD_MEMBER_UPDATE", member_payload(member) | data, intents)

    def time_out(self, guild: Guild, user: User, until: datetime | None) -> None:
        """Let a member do nothing but read until then; None ends that. Nobody is told when the time has passed."""
        member = guild.members[user.id]
        member.timed_out_until = until
        intents = gw.INTENT_GUILDS | gw.INTENT_MEMBERS
        self._tell_guild(guild, "GUILD_MEMBER_UPDATE", member_payload(member) | {"guild_id": str(guild.id)}, intents)

    def forbid(self, channel: Channel, user: User, permissions: Permission) -> None:
        """Take permissions from a member (or the bot) in one channel."""
        channel.denied[user.id] = channel.denied.get(user.id, Permission(0)) | permissions
        self.gateway.emit("CHANNEL_UPDATE", channel_payload(channel), gw.INTENT_GUILDS)

    def allow(self, channel: Channel, user: User, permissions: Permission) -> None:
        """Give back what was taken from a member (or the bot) in one channel."""
        channel.denied[user.id] &= ~permissions
        self.gateway.emit("CHANNEL_UPDATE", channel_payload(channel), gw.INTENT_GUILDS)

    def add_channel(self, guild: Guild, name: str, kind: ChannelType = ChannelType.TEXT) -> Channel:
        channel = Channel(
            self.snowflake(), kind, name, guild, self.now(), position=len(guild.channels), owner=guild.owner
        )
        self._place(channel)
        self._tell_guild(guild, "CHANNEL_CREATE", channel_payload(channel), gw.INTENT_GUILDS)
        return channel

    def direct_channel(self, user: User) -> Channel:
        for channel in self.channels.values():
            if channel.type is ChannelType.DM and {user, self.bot} == {*channel.recipients}:
                return channel
        channel = Channel(self.snowflake(), ChannelType.DM, "", None, self.now(), recipients=[user, self.bot])
        self._place(channel)
        return channel

    def private_channel(self, *users: User) -> Channel:
        kind = ChannelType.DM if len(users) < 3 else ChannelType.GROUP_DM
        channel = Channel(self.snowflake(), kind, "", None, self.now(), recipients=list(users))
        self._place(channel)
        return channel

    def _place(self, channel: Channel) -> None:
        self.channels[channel.id] = channel
        if channel.guild:
            channel.guild.channels[channel.id] = channel
        self.changed()

    # Threads

    def start_thread(
        self,
        parent: Channel,
        owner: User,
        name: str,
        *,
        private: bool = False,
        message: Message | None = None,
        auto_archive_minutes: int = 4320,
        invitable: bool = True,
    ) -> Channel:
        """A thread of its own, or from a message, whose id it then has."""
        thread = Channel(
            id=message.id if message else self.snowflake(),
            type=ChannelType.PRIVATE_THREAD if private else parent.threads_for_all,
            name=name,
            guild=parent.guild,
            created_at=self.now(),
            parent=parent,
            owner=owner,
            invitable=invitable,
            auto_archive_minutes=auto_archive_minutes,
            members={owner.id: self.now()},
        )
        self._place(thread)
        self.gateway.emit("THREAD_CREATE", thread_for(self.bot, thread) | {"newly_created": True}, gw.INTENT_GUILDS)
        if message is not None:
            message.thread = thread
            message.flags |= MessageFlag.HAS_THREAD
            self._tell("MESSAGE_UPDATE", message)
            self.post(thread, message.author, "", kind=MessageType.THREAD_STARTER_MESSAGE, reference=message)
        elif not private:
            self.post(parent, owner, name, kind=MessageType.THREAD_CREATED)
        return thread

    def update_channel(self, channel: Channel, author: User, changes: Json) -> None:
        """Apply a PATCH: name, archived, locked, auto_archive_duration, rate_limit_per_user, invitable."""
        renamed = "name" in changes and changes["name"] != channel.name
        channel.name = changes.get("name", channel.name)
        channel.locked = changes.get("locked", channel.locked)
        channel.invitable = changes.get("invitable", channel.invitable)
        channel.slowmode = changes.get("rate_limit_per_user", channel.slowmode)
        channel.auto_archive_minutes = changes.get("auto_archive_duration", channel.auto_archive_minutes)
        if "archived" in changes and changes["archived"] != channel.archived:
            channel.archived, channel.archived_at = changes["archived"], self.now()
        event = "THREAD_UPDATE" if channel.is_thread else "CHANNEL_UPDATE"
        self.gateway.emit(event, thread_for(self.bot, channel), gw.INTENT_GUILDS)
        if renamed and channel.is_thread and not channel.archived:
            self.post(channel, author, channel.name, kind=MessageType.CHANNEL_NAME_CHANGE)
        self.changed()

    def delete_channel(self, channel: Channel) -> None:
        """Its threads go with it, and nothing is told of them."""
        for thread in [each for each in self.channels.values() if each.parent is channel]:
            thread.deleted = True
            del self.channels[thread.id]
            channel.guild.channels.pop(thread.id)  # type: ignore[union-attr]
        channel.deleted = True
        self.channels.pop(channel.id)
        if channel.guild:
            channel.guild.channels.pop(channel.id)
        payload = channel_payload(channel)
        if channel.is_thread:
            brief = {key: payload[key] for key in ("id", "guild_id", "parent_id", "type")}
            self.gateway.emit("THREAD_DELETE", brief, gw.INTENT_GUILDS)
        else:
            self.gateway.emit("CHANNEL_DELETE", payload, gw.INTENT_GUILDS)
        self.changed()

    def add_thread_member(self, thread: Channel, user: User, by: User | None = None) -> None:
        if user.id in thread.members:
            return
        thread.members[user.id] = self.now()
        data = {
            "id": str(thread.id),
            "guild_id": str(thread.guild.id) if thread.guild else "",
            "member_count": len(thread.members),
            "added_members": [thread_member_payload(thread, user)],
        }
        if user is self.bot:
            self.gateway.emit("THREAD_CREATE", thread_for(self.bot, thread), gw.INTENT_GUILDS)
        self.gateway.emit("THREAD_MEMBERS_UPDATE", data, gw.INTENT_GUILDS)
        if by is not None:
            self.post(thread, by, "", kind=MessageType.RECIPIENT_ADD, mentions=[user])

    def remove_thread_member(self, thread: Channel, user: User) -> None:
        del thread.members[user.id]
        data = {
            "id": str(thread.id),
            "guild_id": str(thread.guild.id) if thread.guild else "",
            "member_count": len(thread.members),
            "removed_member_ids": [str(user.id)],
        }
        self.gateway.emit("THREAD_MEMBERS_UPDATE", data, gw.INTENT_GUILDS)

    # Messages

    def post(
        self,
        channel: Channel,
        author: User,
        content: str,
        *,
        kind: MessageType = MessageType.DEFAULT,
        reference: Message | None = None,
        mentions: Iterable[User] = (),
        pings: Iterable[int] = (),
        nonce: str | None = None,
        **parts: Any,
    ) -> Message:
        """A message; `parts` are further fields of it (embeds, components, attachments, flags, …).

        An ephemeral one is told to nobody and is not part of the channel.
        """
        message = Message(
            self.snowflake(),
            channel,
            author,
            content.strip(),
            self.now(),
            type=kind,
            reference=reference,
            mentions=list(dict.fromkeys([*mentions, *self._mentioned(content)])),
            pings=set(pings),
            nonce=nonce,
            **parts,
        )
        if not message.ephemeral:
            self._wake(channel, author)
            channel.messages[message.id] = message
            self._tell("MESSAGE_CREATE", message)
        self.changed()
        return message

    def edit(self, message: Message, changes: Json) -> None:
        """Change fields of a message; `changes` holds entities, not wire forms."""
        if "content" in changes:
            message.revisions.append(message.content)
            content = (changes["content"] or "").strip()
            replied = [message.reference.author] if message.reference else []
            kept = [user for user in replied if user in message.mentions]
            changes |= {"content": content, "mentions": [*dict.fromkeys([*kept, *self._mentioned(content)])]}
        for name, value in changes.items():
            setattr(message, name, value)
        message.edited_at = self.now()
        if not message.ephemeral:
            self._tell("MESSAGE_UPDATE", message)
        self.changed()

    def end_poll(self, message: Message) -> None:
        """A poll's time is up: its votes are counted, and Discord says so in its author's name."""
        poll = message.poll
        assert poll
        assert not poll.is_final, "it has ended before"
        poll.is_final, poll.expiry = True, min(poll.expiry, self.now())
        self._tell("MESSAGE_UPDATE", message)
        counts = {answer: poll.count(answer) for answer in poll.answers}
        best = max(counts.values())
        first = [answer for answer, count in counts.items() if count == best]
        fields = {"poll_question_text": poll.question, "victor_answer_votes": best, "total_votes": sum(counts.values())}
        if best and len(first) == 1:
            fields |= {"victor_answer_id": first[0], "victor_answer_text": poll.answers[first[0]]}
        shown = [{"name": name, "value": str(value), "inline": False} for name, value in fields.items()]
        embeds = [{"type": "poll_result", "fields": shown}]
        self.post(message.channel, message.author, "", kind=MessageType.POLL_RESULT, reference=message, embeds=embeds)

    def delete(self, message: Message) -> None:
        message.deleted = True
        message.channel.messages.pop(message.id, None)
        data = {"id": str(message.id), "channel_id": str(message.channel.id)}
        if message.channel.guild:
            data["guild_id"] = str(message.channel.guild.id)
        if not message.ephemeral:
            self.gateway.emit("MESSAGE_DELETE", data, self._message_intent(message.channel))
        self.changed()

    def readable(self, message: Message) -> bool:
        """Whether the app gets the content without the Message Content intent."""
        return message.channel.guild is None or self.bot is message.author or self.bot in message.mentions

    def attach(self, channel: Channel | None, filename: str, data: bytes, content_type: str) -> Attachment:
        number = self.snowflake()
        place = channel.id if channel else 0
        name = re.sub(r"[^A-Za-z0-9._-]", "_", filename)[-100:]
        url = f"{self.cdn_url}/attachments/{place}/{number}/{name}"
        self.attachments[number] = Attachment(number, filename, data, url, content_type)
        return self.attachments[number]

    def _mentioned(self, content: str) -> list[User]:
        found = (self.users.get(int(number)) for number in _USER_MENTION.findall(content))
        return [user for user in found if user]

    def _wake(self, channel: Channel, author: User) -> None:
        """A message un-archives its thread and makes its author a member of it."""
        if not channel.is_thread:
            return
        if channel.archived:
            self.update_channel(channel, author, {"archived": False})
        self.add_thread_member(channel, author)

    def _tell(self, event: str, message: Message) -> None:
        if not sees(self.bot, message.channel):
            return
        extra = self._guild_part(message)
        whole = message_payload(message) | extra
        bare = None if self.readable(message) else message_payload(message, with_content=False) | extra
        self.gateway.emit(event, whole, self._message_intent(message.channel), bare)

    def _guild_part(self, message: Message) -> Json:
        guild = message.channel.guild
        if guild is None:
            return {}
        extra: Json = {"guild_id": str(guild.id)}
        member = guild.members.get(message.author.id)
        return extra | {"member": member_payload(member, with_user=False)} if member else extra

    def _message_intent(self, channel: Channel) -> int:
        return gw.INTENT_MESSAGES if channel.guild else gw.INTENT_DIRECT_MESSAGES

    # Reading

    def history(self, channel: Channel) -> list[Message]:
        """Oldest first."""
        return [channel.messages[number] for number in sorted(channel.messages)]

    def older_than(self, message: Message, age: timedelta) -> bool:
        return self.now() - message.created_at > age

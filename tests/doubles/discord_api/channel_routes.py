"""Guilds, channels, threads and their members."""

from datetime import datetime

from tests.doubles.discord_api import errors
from tests.doubles.discord_api.call import Call, Endpoint
from tests.doubles.discord_api.entities import Channel, ChannelType, Json, Message, Permission, User
from tests.doubles.discord_api.message_routes import Composer
from tests.doubles.discord_api.payloads import (
    channel_payload,
    guild_payload,
    member_payload,
    thread_for,
    thread_member_payload,
    user_payload,
)
from tests.doubles.discord_api.permissions import may, sees
from tests.doubles.discord_api.problems import Problem, within
from tests.doubles.discord_api.ratelimits import RateLimits
from tests.doubles.discord_api.rest import RenameLimited
from tests.doubles.discord_api.world import World

ARCHIVE_MINUTES = (60, 1440, 4320, 10080)


class ChannelRoutes:
    def __init__(self, world: World, composer: Composer, limits: RateLimits) -> None:
        self._world = world
        self._composer = composer
        self._limits = limits

    def endpoints(self) -> dict[str, Endpoint]:
        return {
            "GET /users/@me/guilds": self.own_guilds,
            "GET /guilds/{guild}": self.guild,
            "GET /guilds/{guild}/channels": self.guild_channels,
            "POST /guilds/{guild}/channels": self.create_channel,
            "GET /guilds/{guild}/members/{user}": self.member,
            "GET /guilds/{guild}/threads/active": self.active_threads,
            "POST /users/@me/channels": self.open_direct,
            "GET /users/{user}": self.user,
            "GET /channels/{channel}": self.get,
            "PATCH /channels/{channel}": self.update,
            "DELETE /channels/{channel}": self.delete,
            "GET /channels/{channel}/threads/archived/{kind}": self.archived_threads,
            "POST /channels/{channel}/threads": self.start_thread,
            "POST /channels/{channel}/messages/{message}/threads": self.start_thread_from_message,
            "GET /channels/{channel}/thread-members": self.thread_members,
            "GET /channels/{channel}/thread-members/{user}": self.thread_member,
            "PUT /channels/{channel}/thread-members/{user}": self.add_member,
            "DELETE /channels/{channel}/thread-members/{user}": self.remove_member,
        }

    async def own_guilds(self, call: Call) -> list[Json]:
        bot = self._world.bot
        return [guild_payload(each, bot) for each in self._world.guilds.values() if bot.id in each.members]

    async def guild(self, call: Call) -> Json:
        return guild_payload(self._world.guild_of_the_bot(call.number("guild")), self._world.bot)

    async def guild_channels(self, call: Call) -> list[Json]:
        return [
            channel_payload(each)
            for each in self._world.guild_of_the_bot(call.number("guild")).channels.values()
            if not each.is_thread
        ]

    async def create_channel(self, call: Call) -> Json:
        guild = self._world.guild_of_the_bot(call.number("guild"))
        self._composer.refuse(call, list(within("name", call.payload.get("name"), 100, 1)))
        if not may(self._world.bot, Permission.MANAGE_CHANNELS, next(iter(guild.channels.values()))):
            raise errors.missing_permissions()
        return channel_payload(self._world.add_channel(guild, call.payload["name"]))

    async def member(self, call: Call) -> Json:
        member = self._world.guild_of_the_bot(call.number("guild")).members.get(call.number("user"))
        if member is None:
            raise errors.unknown_member()
        return member_payload(member)

    async def active_threads(self, call: Call) -> Json:
        threads = [
            each
            for each in self._world.guild_of_the_bot(call.number("guild")).channels.values()
            if each.is_thread and not each.archived
        ]
        return self._thread_list([each for each in threads if sees(self._world.bot, each)])

    async def archived_threads(self, call: Call) -> Json:
        parent = self._channel(call)
        kind = parent.threads_for_all if call.params["kind"] == "public" else ChannelType.PRIVATE_THREAD
        threads = [each for each in self._world.channels.values() if each.parent is parent and each.type is kind]
        threads = [each for each in threads if each.archived and sees(self._world.bot, each)]
        threads.sort(key=lambda each: each.archived_at or each.created_at, reverse=True)
        if "before" in call.query:
            before = datetime.fromisoformat(call.query["before"])
            threads = [each for each in threads if each.archived_at and each.archived_at < before]
        limit = int(call.query.get("limit", 50))
        return self._thread_list(threads[:limit]) | {"has_more": len(threads) > limit}

    def _thread_list(self, threads: list[Channel]) -> Json:
        bot = self._world.bot
        mine = [thread_member_payload(each, bot) for each in threads if bot.id in each.members]
        return {"threads": [channel_payload(each) for each in threads], "members": mine}

    async def open_direct(self, call: Call) -> Json:
        user = self._world.users.get(int(call.payload["recipient_id"]))
        if user is None:
            raise errors.unknown_user()
        return channel_payload(self._world.direct_channel(user))

    async def user(self, call: Call) -> Json:
        if call.params["user"] == "@me":
            return user_payload(self._world.bot)
        user = self._world.users.get(call.number("user"))
        if user is None:
            raise errors.unknown_user()
        return user_payload(user)

    async def get(self, call: Call) -> Json:
        return thread_for(self._world.bot, self._channel(call))

    async def update(self, call: Call) -> Json:
        channel, changes = self._channel(call), call.payload
        if channel.archived and changes.get("archived") is not False:
            raise errors.archived_thread()
        self._may_update(channel, changes)
        self._composer.refuse(call, list(_channel_problems(changes)))
        if "name" in changes and (wait := self._limits.take_rename(str(channel.id))) is not None:
            raise RenameLimited(wait)
        self._world.update_channel(channel, self._world.bot, changes)
        return thread_for(self._world.bot, channel)

    def _may_update(self, channel: Channel, changes: Json) -> None:
        bot = self._world.bot
        if not channel.is_thread:
            allowed = may(bot, Permission.MANAGE_CHANNELS, channel)
        elif changes.get("archived") is False and set(changes) == {"archived"}:
            allowed = not channel.locked or may(bot, Permission.MANAGE_THREADS, channel)
        else:
            owns = channel.owner is bot and "locked" not in changes
            allowed = owns or may(bot, Permission.MANAGE_THREADS, channel)
        if not allowed:
            raise errors.missing_permissions()

    async def delete(self, call: Call) -> Json:
        channel = self._channel(call)
        needed = Permission.MANAGE_THREADS if channel.is_thread else Permission.MANAGE_CHANNELS
        if not may(self._world.bot, needed, channel):
            raise errors.missing_permissions()
        self._world.delete_channel(channel)
        return channel_payload(channel)

    async def start_thread(self, call: Call) -> Json:
        kind = ChannelType(call.payload.get("type", ChannelType.PRIVATE_THREAD))
        parent = self._channel(call)
        if kind is not parent.threads_for_all and (kind, parent.type) != (ChannelType.PRIVATE_THREAD, ChannelType.TEXT):
            raise errors.wrong_channel_type()
        return self._start(call, private=kind is ChannelType.PRIVATE_THREAD, message=None)

    async def start_thread_from_message(self, call: Call) -> Json:
        message = self._channel(call).messages.get(call.number("message"))
        if message is None:
            raise errors.unknown_message()
        if message.thread is not None:
            raise errors.thread_exists()
        return self._start(call, private=False, message=message)

    def _start(self, call: Call, *, private: bool, message: Message | None) -> Json:
        parent, bot = self._channel(call), self._world.bot
        needed = Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS
        if not may(bot, needed, parent):
            raise errors.missing_permissions()
        self._composer.refuse(call, [*within("name", call.payload.get("name"), 100, 1)])
        self._composer.refuse(call, list(_channel_problems(call.payload)))
        thread = self._world.start_thread(
            parent,
            bot,
            call.payload["name"],
            private=private,
            message=message,
            auto_archive_minutes=call.payload.get("auto_archive_duration") or 4320,
            invitable=call.payload.get("invitable", True),
        )
        return thread_for(bot, thread)

    async def thread_members(self, call: Call) -> list[Json]:
        thread = self._channel(call)
        users = [self._world.users[number] for number in thread.members]
        return [thread_member_payload(thread, user) for user in users]

    async def thread_member(self, call: Call) -> Json:
        thread, user = self._channel(call), self._named_user(call)
        if user.id not in thread.members:
            raise errors.unknown_member()
        return thread_member_payload(thread, user)

    async def add_member(self, call: Call) -> None:
        thread, user = self._channel(call), self._named_user(call)
        if thread.archived:
            raise errors.archived_thread()
        if thread.guild is None or user.id not in thread.guild.members:
            raise errors.unknown_member()
        by = None if user is self._world.bot else self._world.bot
        self._world.add_thread_member(thread, user, by)

    async def remove_member(self, call: Call) -> None:
        self._channel(call).members.pop(self._named_user(call).id, None)

    def _named_user(self, call: Call) -> User:
        user = self._world.bot if call.params["user"] == "@me" else self._world.users.get(call.number("user"))
        if user is None:
            raise errors.unknown_user()
        return user

    def _channel(self, call: Call) -> Channel:
        channel = self._world.channels.get(call.number("channel"))
        if channel is None:
            raise errors.unknown_channel()
        if not sees(self._world.bot, channel):
            raise errors.missing_access()
        return channel


def _channel_problems(changes: Json) -> list[Problem]:
    problems = list(within("name", changes["name"], 100, 1)) if "name" in changes else []
    minutes = changes.get("auto_archive_duration")
    if minutes is not None and minutes not in ARCHIVE_MINUTES:
        problems.append(Problem("auto_archive_duration", "BASE_TYPE_CHOICES", f"One of {ARCHIVE_MINUTES}"))
    return problems

"""/channels/{channel}/messages and what hangs on a message: edits, deletions, reactions, pins, typing."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.doubles.discord_api import errors
from tests.doubles.discord_api import gateway as gw
from tests.doubles.discord_api.call import Call, Endpoint
from tests.doubles.discord_api.entities import (
    Attachment,
    Channel,
    Json,
    Message,
    MessageFlag,
    MessageType,
    Permission,
    Poll,
    User,
)
from tests.doubles.discord_api.message_limits import house_problems, message_problems
from tests.doubles.discord_api.payloads import message_payload
from tests.doubles.discord_api.permissions import may, may_send, sees
from tests.doubles.discord_api.problems import Problem, invalid_form
from tests.doubles.discord_api.world import World

NONCE_REMEMBERED = timedelta(minutes=5)
"""Discord says "the past few minutes"."""

VISIBLE = ("content", "embeds", "attachments", "components", "poll")
NOTHING = Permission(0)
NEEDS = {
    "poll": Permission.SEND_POLLS,
    "embeds": Permission.EMBED_LINKS,
    "attachments": Permission.ATTACH_FILES,
}
"""What a message with such a part needs besides the permission to write."""
SETTABLE = MessageFlag.SUPPRESS_EMBEDS | MessageFlag.SUPPRESS_NOTIFICATIONS


class Composer:
    """Turns a request body into the parts of a message, refusing what Discord refuses."""

    def __init__(self, world: World, violations: list[str]) -> None:
        self._world = world
        self._violations = violations

    def check(self, call: Call, payload: Json) -> None:
        """Refuse a bad body, and keep a record of it for the test.

        Raises:
            ApiError: 50035.
        """
        for problem in house_problems(payload):
            self._record(call, problem)
        self.refuse(call, list(message_problems(payload, call.files)))

    def refuse(self, call: Call, problems: list[Problem]) -> None:
        if problems:
            for problem in problems:
                self._record(call, problem)
            raise invalid_form(problems)

    def refuse_empty(self, parts: dict[str, Any]) -> None:
        """
        Raises:
            ApiError: 50006, these parts show nothing; white space is nothing.
        """
        if not (parts.get("content") or "").strip() and not any(parts.get(name) for name in VISIBLE[1:]):
            raise errors.empty_message()

    def _record(self, call: Call, problem: Problem) -> None:
        self._violations.append(f"{call.route}: {problem.path}: {problem.message}")

    def parts(self, call: Call, payload: Json, channel: Channel, old: Message | None = None) -> dict[str, Any]:
        """The fields of a Message that the payload sets."""
        parts: dict[str, Any] = {}
        if "content" in payload:
            parts["content"] = payload["content"] or ""
        if "embeds" in payload:
            parts["embeds"] = [embed | {"type": "rich"} for embed in payload["embeds"] or []]
        if "components" in payload:
            parts["components"] = payload["components"] or []
        if payload.get("poll"):
            parts["poll"] = self._poll(payload["poll"])
        if "flags" in payload:
            kept = old.flags & ~MessageFlag.SUPPRESS_EMBEDS if old else MessageFlag(0)
            parts["flags"] = kept | MessageFlag(payload["flags"]) & SETTABLE
        if "attachments" in payload or call.files:
            parts["attachments"] = self._attachments(call, payload, channel, old)
        return parts

    def _poll(self, payload: Json) -> Poll:
        texts = [answer["poll_media"]["text"] for answer in payload["answers"]]
        ends = self._world.now() + timedelta(hours=payload.get("duration", 24))
        several = payload.get("allow_multiselect", False)
        return Poll(payload["question"]["text"], dict(enumerate(texts, 1)), ends, several)

    def _attachments(self, call: Call, payload: Json, channel: Channel, old: Message | None) -> list[Attachment]:
        described = {str(each["id"]): each for each in payload.get("attachments") or []}
        kept = [each for each in (old.attachments if old else []) if str(each.id) in described]
        for name, data in call.files.items():
            about = described.get(name.removeprefix("files[").removesuffix("]"), {})
            filename = about.get("filename") or call.filenames[name]
            attachment = self._world.attach(channel, filename, data, "application/octet-stream")
            attachment.description = about.get("description")
            kept.append(attachment)
        return kept

    def pings(self, payload: Json, channel: Channel, replied: Message | None) -> set[int]:
        """Whom the content would notify, by Discord's reading of `allowed_mentions`."""
        content, allowed = payload.get("content") or "", payload.get("allowed_mentions")
        everyone_too = may(self._world.bot, Permission.MENTION_EVERYONE, channel)
        parse = {"users", "roles", "everyone"} if allowed is None else set(allowed.get("parse", ()))
        found: set[int] = set()
        if "everyone" in parse and everyone_too and channel.guild and ("@everyone" in content or "@here" in content):
            found.add(channel.guild.id)
        named = {user.id for user in self._world.users.values() if f"<@{user.id}>" in content}
        found |= named if "users" in parse else named & {int(each) for each in (allowed or {}).get("users", ())}
        if replied and (allowed is None or allowed.get("replied_user")):
            found.add(replied.author.id)
        return found


class MessageRoutes:
    def __init__(self, world: World, composer: Composer, now: Callable[[], float]) -> None:
        self._world = world
        self._composer = composer
        self._now = now
        self._by_nonce: dict[str, Message] = {}

    def endpoints(self) -> dict[str, Endpoint]:
        message = "/channels/{channel}/messages/{message}"
        return {
            "GET /channels/{channel}/messages": self.list_all,
            "POST /channels/{channel}/messages": self.create,
            "POST /channels/{channel}/messages/bulk-delete": self.bulk_delete,
            f"GET {message}": self.get,
            f"PATCH {message}": self.edit,
            f"DELETE {message}": self.delete,
            f"PUT {message}/reactions/{{emoji}}/@me": self.react,
            f"DELETE {message}/reactions/{{emoji}}/@me": self.unreact,
            "PUT /channels/{channel}/messages/pins/{message}": self.pin,
            "DELETE /channels/{channel}/messages/pins/{message}": self.unpin,
            "POST /channels/{channel}/typing": self.typing,
        }

    async def list_all(self, call: Call) -> list[Json]:
        channel = self._channel(call)
        readable = may(self._world.bot, Permission.READ_MESSAGE_HISTORY, channel)
        messages = self._world.history(channel) if readable else []  # as Discord's documentation has it
        limit = int(call.query.get("limit", 50))
        if "after" in call.query:
            messages = [each for each in messages if each.id > int(call.query["after"])][:limit]
        elif "around" in call.query:
            centre = int(call.query["around"])
            nearest = sorted(messages, key=lambda each: abs(each.id - centre))[:limit]
            messages = sorted(nearest, key=lambda each: each.id)
        else:
            before = int(call.query.get("before", 1 << 63))
            messages = [each for each in messages if each.id < before][-limit:]
        return [self._shown(each) for each in reversed(messages)]

    async def create(self, call: Call) -> Json:
        channel = self._channel(call)
        bot = self._world.bot
        if channel.locked and not may(bot, Permission.MANAGE_THREADS, channel):
            raise errors.locked_thread()
        if not may_send(bot, channel):
            raise errors.missing_permissions()
        for part, needed in NEEDS.items():
            if call.payload.get(part) and not may(bot, needed, channel):
                raise errors.missing_permissions()
        self._composer.check(call, call.payload)
        if (again := self._said_before(call.payload)) is not None:
            call.effects.append("deduplicated")
            return self._shown(again)
        return self._shown(self._create(call, channel, bot))

    def _create(self, call: Call, channel: Channel, bot: User) -> Message:
        payload = call.payload
        parts = self._composer.parts(call, payload, channel)
        self._composer.refuse_empty(parts)
        replied = self._replied(payload, channel)
        nonce = payload.get("nonce")
        message = self._world.post(
            channel,
            bot,
            parts.pop("content", ""),
            kind=MessageType.REPLY if replied else MessageType.DEFAULT,
            reference=replied,
            pings=self._composer.pings(payload, channel, replied),
            nonce=None if nonce is None else str(nonce),
            **parts,
        )
        if message.nonce is not None:
            self._by_nonce[message.nonce] = message
        return message

    def _replied(self, payload: Json, channel: Channel) -> Message | None:
        reference = payload.get("message_reference")
        if not reference:
            return None
        if not may(self._world.bot, Permission.READ_MESSAGE_HISTORY, channel):
            raise errors.reply_without_history()
        replied = channel.messages.get(int(reference["message_id"]))
        if replied is None and reference.get("fail_if_not_exists", True):
            raise invalid_form([Problem("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")])
        return replied

    def _said_before(self, payload: Json) -> Message | None:
        """The bot's message of that nonce, if it asked for nonces to be unique."""
        nonce = payload.get("nonce")
        if nonce is None or not payload.get("enforce_nonce"):
            return None
        message = self._by_nonce.get(str(nonce))
        if message is None or self._world.older_than(message, NONCE_REMEMBERED):
            return None
        if message.deleted:
            raise errors.unknown_message()
        return message

    async def get(self, call: Call) -> Json:
        channel = self._channel(call, Permission.READ_MESSAGE_HISTORY)
        return self._shown(self._message(call, channel))

    async def edit(self, call: Call) -> Json:
        channel = self._channel(call)
        message = self._message(call, channel)
        if message.author is not self._world.bot:
            raise errors.not_the_author()
        self._refuse_archived(channel)
        self._composer.check(call, call.payload)
        return self._shown(self.change(call, message))

    def change(self, call: Call, message: Message, payload: Json | None = None) -> Message:
        """Apply an edit's body to a message."""
        payload = call.payload if payload is None else payload
        parts = self._composer.parts(call, payload, message.channel, message)
        self._composer.refuse_empty({name: parts.get(name, getattr(message, name)) for name in VISIBLE})
        self._world.edit(message, parts)
        return message

    async def delete(self, call: Call) -> None:
        channel = self._channel(call)
        message = self._message(call, channel)
        own = message.author is self._world.bot
        if not own and not may(self._world.bot, Permission.MANAGE_MESSAGES, channel):
            raise errors.missing_permissions()
        self._world.delete(message)

    async def bulk_delete(self, call: Call) -> None:
        channel = self._channel(call, Permission.MANAGE_MESSAGES)
        for number in call.payload["messages"]:
            if message := channel.messages.get(int(number)):
                self._world.delete(message)

    async def react(self, call: Call) -> None:
        channel = self._channel(call, Permission.ADD_REACTIONS)
        self._refuse_archived(channel)
        message = self._message(call, channel)
        message.reactions.append((call.params["emoji"], self._world.bot.id))

    async def unreact(self, call: Call) -> None:
        message = self._message(call, self._channel(call))
        mine = (call.params["emoji"], self._world.bot.id)
        message.reactions = [each for each in message.reactions if each != mine]

    async def pin(self, call: Call) -> None:
        self._message(call, self._channel(call, Permission.MANAGE_MESSAGES)).pinned = True

    async def unpin(self, call: Call) -> None:
        self._message(call, self._channel(call, Permission.MANAGE_MESSAGES)).pinned = False

    async def typing(self, call: Call) -> None:
        channel = self._channel(call)
        if not may_send(self._world.bot, channel):
            raise errors.missing_permissions()
        channel.typing_times.append(self._now())
        data = {"channel_id": str(channel.id), "user_id": str(self._world.bot.id), "timestamp": int(self._now())}
        self._world.gateway.emit("TYPING_START", data, gw.INTENT_TYPING)

    def _channel(self, call: Call, permission: Permission = NOTHING) -> Channel:
        channel = self._world.channels.get(call.number("channel"))
        if channel is None:
            raise errors.unknown_channel()
        if not sees(self._world.bot, channel):
            raise errors.missing_access()
        if permission and not may(self._world.bot, permission, channel):
            raise errors.missing_permissions()
        return channel

    def _message(self, call: Call, channel: Channel) -> Message:
        message = channel.messages.get(call.number("message"))
        if message is None:
            raise errors.unknown_message()
        return message

    def _refuse_archived(self, channel: Channel) -> None:
        if channel.archived:
            raise errors.archived_thread()

    def _shown(self, message: Message) -> Json:
        granted = bool(self._world.gateway.privileged & gw.INTENT_CONTENT)
        return message_payload(message, with_content=granted or self._world.readable(message))

"""A person at a Discord client: everything they can do, and nothing a client would not let them."""

import secrets
from typing import TYPE_CHECKING, Any

from tests.doubles.discord_api.component_limits import modal_parts
from tests.doubles.discord_api.entities import (
    Attachment,
    Channel,
    Json,
    Message,
    MessageType,
    Permission,
    User,
)
from tests.doubles.discord_api.interactions import Interaction, InteractionType
from tests.doubles.discord_api.invocation import command_data, context_of
from tests.doubles.discord_api.payloads import (
    UPLOAD_LIMIT,
    channel_payload,
    member_payload,
    message_payload,
    user_payload,
)
from tests.doubles.discord_api.permissions import may, may_send, permissions_in, sees

if TYPE_CHECKING:
    from tests.doubles.discord_api.double import DiscordDouble

PATIENCE_S = 3.5
"""A client waits three seconds for an acknowledgement before it says that the application did not respond."""


class Actor:
    """Verbs return what came of them; AssertionError means that Discord's own client would not have let them."""

    def __init__(self, double: "DiscordDouble", user: User) -> None:
        self._double = double
        self.user = user
        self.locale = "en-US"

    @property
    def id(self) -> int:
        return self.user.id

    @property
    def mention(self) -> str:
        return f"<@{self.user.id}>"

    def grant(self, permissions: Permission) -> None:
        self._double.world.grant(self._double.guild, self.user, permissions)

    def install(self) -> None:
        """Install the application for themselves, to use it anywhere."""
        self.user.has_app = True

    # Messages

    async def say(
        self,
        channel: Channel | None,
        text: str,
        *,
        reply_to: Message | None = None,
        ping: bool = True,
        mention: "Actor | User | None" = None,
        files: tuple[Attachment, ...] = (),
    ) -> Message:
        """Write a message; `mention` puts a mention in front, `ping` is what a reply does to its author."""
        place = channel or self._double.channel
        assert may_send(self.user, place), f"{self.user.name} may not write in {place.name}"
        assert not place.locked or may(self.user, Permission.MANAGE_THREADS, place), "the thread is locked"
        content = f"<@{mention.id}> {text}" if mention else text
        replied = [reply_to.author] if reply_to and ping else []
        return self._double.world.post(
            place,
            self.user,
            content,
            kind=MessageType.REPLY if reply_to else MessageType.DEFAULT,
            reference=reply_to,
            mentions=replied,
            attachments=list(files),
        )

    async def direct(self, text: str) -> Message:
        """Write to the bot in private."""
        return await self.say(self._double.world.direct_channel(self.user), text)

    @property
    def direct_channel(self) -> Channel:
        """Their direct messages with the bot."""
        return self._double.world.direct_channel(self.user)

    def private_channel(self, *others: "Actor") -> Channel:
        """Their direct messages with other people, where no bot can be."""
        return self._double.world.private_channel(self.user, *(each.user for each in others))

    async def edit(self, message: Message, text: str) -> None:
        assert message.author is self.user
        self._double.world.edit(message, {"content": text})

    async def vote(self, message: Message, answer: str) -> None:
        """Choose an answer of a poll, instead of any other where one alone may be chosen."""
        poll = message.poll
        assert poll
        assert not poll.is_final, "the poll has ended"
        [number] = [number for number, text in poll.answers.items() if text == answer]
        kept = poll.votes.get(self.id, set()) if poll.multiselect else set()
        poll.votes[self.id] = kept | {number}

    async def delete(self, message: Message) -> None:
        own = message.author is self.user
        assert own or may(self.user, Permission.MANAGE_MESSAGES, message.channel), "not theirs to delete"
        self._double.world.delete(message)

    # Threads

    async def start_thread(
        self, name: str, *, channel: Channel | None = None, message: Message | None = None
    ) -> Channel:
        parent = message.channel if message else channel or self._double.channel
        return self._double.world.start_thread(parent, self.user, name, message=message)

    async def rename(self, channel: Channel, name: str) -> None:
        self._change(channel, {"name": name})

    async def archive(self, thread: Channel) -> None:
        self._change(thread, {"archived": True})

    async def lock(self, thread: Channel) -> None:
        self._change(thread, {"locked": True, "archived": True})

    async def unarchive(self, thread: Channel) -> None:
        self._change(thread, {"archived": False})

    async def delete_channel(self, channel: Channel) -> None:
        self._double.world.delete_channel(channel)

    async def leave(self, thread: Channel) -> None:
        thread.members.pop(self.user.id, None)

    async def invite(self, thread: Channel, other: "Actor | User") -> None:
        user = other.user if isinstance(other, Actor) else other
        self._double.world.add_thread_member(thread, user, self.user)

    def _change(self, channel: Channel, changes: Json) -> None:
        assert sees(self.user, channel)
        self._double.world.update_channel(channel, self.user, changes)

    # Interactions

    async def slash(
        self, command: str, /, *, channel: Channel | None = None, wait: bool = True, **options: Any
    ) -> Interaction:
        """Use a slash command ("books add"). Returns when it was acknowledged, or when the client gave up."""
        place = channel or self._double.channel
        data = command_data(self._double, self.user, place, command, options)
        return await self._interact(InteractionType.COMMAND, place, data, wait=wait)

    async def autocomplete(
        self, command: str, option: str, text: str, /, *, channel: Channel | None = None, **others: Any
    ) -> list[Json]:
        """The choices offered ({"name", "value"}) for what has been typed so far; none if nothing answered."""
        place = channel or self._double.channel
        data = command_data(self._double, self.user, place, command, others | {option: text}, focused=option)
        interaction = await self._interact(InteractionType.AUTOCOMPLETE, place, data)
        return interaction.choices or []

    async def menu(self, command: str, message: Message) -> Interaction:
        """Use a command of a message's context menu."""
        guild = message.channel.guild
        found = self._double.commands.find(command, guild.id if guild else None, kind=3)
        assert found, f"no message command {command!r}"
        data = {
            "id": found["id"],
            "name": command,
            "type": 3,
            "target_id": str(message.id),
            "resolved": {"messages": {str(message.id): message_payload(message)}},
        }
        return await self._interact(InteractionType.COMMAND, message.channel, data)

    async def click(
        self, message: Message, *, label: str | None = None, custom_id: str | None = None, wait: bool = True
    ) -> Interaction:
        """Press a button, found by its label (or the beginning of it) or its custom_id."""
        buttons = [each for each in message.buttons if custom_id is None or each.custom_id == custom_id]
        if label is not None:
            exact = [each for each in buttons if each.label == label]
            buttons = exact or [each for each in buttons if each.label.startswith(label)]
        assert len(buttons) == 1, f"buttons: {message.buttons}"
        assert not buttons[0].disabled, f"disabled: {buttons[0]}"
        data = {"custom_id": buttons[0].custom_id, "component_type": 2}
        return await self._press(message, data, wait=wait)

    async def select(self, message: Message, *values: str, custom_id: str | None = None) -> Interaction:
        """Choose from a menu, by the options' values or labels."""
        menus = [part for row in message.components for part in row["components"] if part["type"] == 3]
        menus = [each for each in menus if custom_id is None or each["custom_id"] == custom_id]
        assert len(menus) == 1, f"menus: {menus}"
        named = {each["label"]: each["value"] for each in menus[0]["options"]}
        chosen = [named.get(value, value) for value in values]
        assert set(chosen) <= set(named.values()), f"options: {named}"
        data = {"custom_id": menus[0]["custom_id"], "component_type": 3, "values": chosen}
        return await self._press(message, data)

    async def submit(self, opened: Interaction, **fields: str) -> Interaction:
        """Send a modal that an interaction opened, its fields by custom_id."""
        assert opened.modal, "no modal was opened"
        rows = [_filled(row, fields) for row in opened.modal["components"]]
        data = {"custom_id": opened.modal["custom_id"], "components": rows}
        return await self._interact(InteractionType.MODAL, opened.channel, data, source=opened.source)

    async def forge_press(self, message: Message, custom_id: str, *values: str, is_menu: bool = False) -> Interaction:
        """Press or choose what the bot has never made: a part with this name, and values that were not offered."""
        options = (
            {"options": [{"label": "x", "value": "x"}], "type": 3} if is_menu else {"label": "x", "style": 2, "type": 2}
        )
        message.components = [{"type": 1, "components": [options | {"custom_id": custom_id}]}]
        data: Json = {"custom_id": custom_id, "component_type": options["type"]}
        return await self._press(message, data | {"values": list(values)} if is_menu else data)

    async def forge_modal(self, message: Message, custom_id: str, **fields: str) -> Interaction:
        """Send a modal that no interaction has opened, with fields of any length."""
        parts = [{"type": 4, "custom_id": name, "value": value} for name, value in fields.items()]
        data = {"custom_id": custom_id, "components": [{"type": 1, "components": [each]} for each in parts]}
        return await self._interact(InteractionType.MODAL, message.channel, data, source=message)

    async def _press(self, message: Message, data: Json, *, wait: bool = True) -> Interaction:
        channel = message.channel
        assert not message.deleted, "the message is gone"
        if channel.archived:
            assert not channel.locked, "buttons in a locked thread cannot be pressed"
            self._double.world.update_channel(channel, self.user, {"archived": False})
        return await self._interact(InteractionType.COMPONENT, channel, data, source=message, wait=wait)

    async def _interact(
        self,
        kind: InteractionType,
        channel: Channel,
        data: Json,
        *,
        source: Message | None = None,
        wait: bool = True,
    ) -> Interaction:
        assert sees(self.user, channel), f"{self.user.name} cannot see {channel.name}"
        double = self._double
        interaction = Interaction(
            id=double.world.snowflake(),
            token=secrets.token_urlsafe(64),
            type=kind,
            user=self.user,
            channel=channel,
            created_at=double.now(),
            now=double.now,
            source=source,
            installs=source.installs if source and source.installs else self._installs(channel),
        )
        double.interactions.interactions[interaction.token] = interaction
        double.gateway.emit("INTERACTION_CREATE", self._payload(interaction, data))
        if wait:
            await double.until(lambda: interaction.acknowledged or interaction.failed, PATIENCE_S + double.round_trip)
        return interaction

    def _installs(self, channel: Channel) -> Json:
        """By which installations the application may be used there: "0" of the server, "1" of the person."""
        guild, bot = channel.guild, self._double.bot
        installs: Json = {"1": str(self.user.id)} if self.user.has_app else {}
        if guild is not None and (bot.id in guild.members or guild.has_commands_alone):
            installs["0"] = str(guild.id)
        elif guild is None and bot in channel.recipients:
            installs["0"] = "0"
        assert installs, f"{self.user.name} does not have the application here"
        return installs

    def _payload(self, interaction: Interaction, data: Json) -> Json:
        channel, guild = interaction.channel, interaction.channel.guild
        payload: Json = {
            "id": str(interaction.id),
            "application_id": str(self._double.bot.id),
            "type": int(interaction.type),
            "token": interaction.token,
            "version": 1,
            "locale": self.locale,
            "data": data,
            "channel": channel_payload(channel),
            "channel_id": str(channel.id),
            "attachment_size_limit": UPLOAD_LIMIT,
            "app_permissions": str(int(permissions_in(channel, self._double.bot))),
            "entitlements": [],
            "authorizing_integration_owners": interaction.installs,
            "context": context_of(channel, self._double.bot),
        }
        if guild is None:
            payload["user"] = user_payload(self.user)
        else:
            mine = {"permissions": str(int(permissions_in(channel, self.user)))}
            payload |= {
                "guild_id": str(guild.id),
                "guild": {"id": str(guild.id), "locale": guild.locale, "features": []},
                "guild_locale": guild.locale,
                "member": member_payload(guild.members[self.user.id]) | mine,
            }
        if interaction.source is not None:
            payload["message"] = message_payload(interaction.source)
        return payload


def _filled(row: Json, fields: dict[str, str]) -> Json:
    parts = []
    for part in modal_parts(row):
        value = fields.get(part["custom_id"], part.get("value") or "")
        assert value or not part.get("required", True), f"{part['custom_id']} must be filled in"
        longest = part.get("max_length") or 4000
        assert len(value) <= longest, f"{part['custom_id']} takes {longest} characters"
        parts.append({"type": part["type"], "custom_id": part["custom_id"], "value": value})
    return {"type": 18, "component": parts[0]} if row["type"] == 18 else {"type": 1, "components": parts}

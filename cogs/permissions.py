"""Who may do what: readers with books and conversations, and the bot with Discord."""

from collections.abc import Iterable
from typing import Any, TypeVar

import discord
from discord import app_commands

from cogs.i18n import Speech, later
from cogs.services import server_of
from domain.book import Book
from domain.clubs.plan import Club
from domain.conversation import Conversation

Command = TypeVar("Command")


def in_servers(command: Command) -> Command:
    """A command for servers that have installed the bot, and for nowhere else."""
    return app_commands.allowed_installs(guilds=True, users=False)(
        app_commands.allowed_contexts(guilds=True, dms=False, private_channels=False)(command)
    )


def in_conversations(command: Command) -> Command:
    """A command for servers and for direct messages with the bot: it needs a place where the bot may write."""
    return app_commands.allowed_installs(guilds=True, users=True)(
        app_commands.allowed_contexts(guilds=True, dms=True, private_channels=False)(command)
    )


def everywhere(command: Command) -> Command:
    """A command that a person who has installed the bot takes along, to servers and private channels without it."""
    return app_commands.allowed_installs(guilds=True, users=True)(
        app_commands.allowed_contexts(guilds=True, dms=True, private_channels=True)(command)
    )


PERMISSION_NAMES = {
    "view_channel": later("View Channels"),
    "send_messages": later("Send Messages"),
    "send_messages_in_threads": later("Send Messages in Threads"),
    "create_public_threads": later("Create Public Threads"),
    "create_private_threads": later("Create Private Threads"),
    "manage_threads": later("Manage Threads"),
    "embed_links": later("Embed Links"),
    "attach_files": later("Attach Files"),
    "read_message_history": later("Read Message History"),
}
"""The permissions the bot needs, and their names in Discord's settings."""

FOR_CLUBS = {"create_events": later("Create Events"), "send_polls": later("Create Polls")}
"""The permissions it needs only for the events and votes of clubs."""

NEEDED = discord.Permissions(**dict.fromkeys(PERMISSION_NAMES, True))


def server_invite(application_id: int) -> str:
    """The link by which a server's manager installs the bot there, with the permissions it needs."""
    url = discord.utils.oauth_url(application_id, permissions=NEEDED, scopes=("bot", "applications.commands"))
    return f"{url}&integration_type=0"


FOR_READING = ("view_channel", "read_message_history")
FOR_ANSWERS = ("view_channel", "send_messages_in_threads")
FOR_A_CARD = ("view_channel", "send_messages", "embed_links")
FOR_EVENTS, FOR_POLLS = ("create_events",), ("view_channel", "send_messages", "send_polls", "read_message_history")
FOR_A_PUBLIC_THREAD = ("view_channel", "create_public_threads", "send_messages_in_threads", "embed_links")
FOR_A_PRIVATE_THREAD = ("view_channel", "create_private_threads", "send_messages_in_threads", "embed_links")

FOR_A_PUBLIC_THREAD_OF_ONES_OWN = ("view_channel", "create_public_threads", "send_messages_in_threads")
FOR_A_PRIVATE_THREAD_OF_ONES_OWN = ("view_channel", "create_private_threads", "send_messages_in_threads")
"""The permissions a person needs to do the same themselves as the bot does for them."""


def missing(granted: discord.Permissions, needed: Iterable[str] = PERMISSION_NAMES) -> list[str]:
    """Those of the needed permissions that are not granted."""
    return [name for name in needed if not getattr(granted, name) and not granted.administrator]


def permission_names(names: Iterable[str], say: Speech) -> str:
    """Permissions by their names in Discord's settings."""
    known = PERMISSION_NAMES | FOR_CLUBS
    called = (say(known.get(name, name.replace("_", " ").title())) for name in names)
    return say.listed([say("“{title}”", title=each) for each in called])


def granted_to(who: discord.Member, channel: discord.abc.GuildChannel) -> discord.Permissions:
    """What is granted in a channel, each permission by itself.

    `permissions_for` leaves out what is of no use without another: “Embed Links” without “Send Messages”, although
    threads can do without that, and everything without “View Channels”, so that managers would look for more than is
    missing.
    """
    return discord.abc.GuildChannel.permissions_for(channel, who)


def timed_out_for(place: object) -> float:
    """The seconds until the bot may write again in a thread's server where a moderator has put it in timeout; else 0.

    Discord tells nobody when that time is over.
    """
    until = place.guild.me.timed_out_until if isinstance(place, discord.Thread) else None
    return max(0.0, (until - discord.utils.utcnow()).total_seconds()) if until else 0.0


def has_private_threads(channel: discord.TextChannel) -> bool:
    """Whether the bot may open private threads there; announcement channels have none."""
    return not channel.is_news() and not missing(granted_to(channel.guild.me, channel), FOR_A_PRIVATE_THREAD)


def granted_in(guild: discord.Guild, conversation: Conversation, user: discord.abc.User) -> discord.Permissions:
    """What a member may do in a conversation's own channel, wherever they ask.

    If the channel is gone, only the permissions of those who manage the server remain.
    """
    if not isinstance(user, discord.Member):
        return discord.Permissions.none()
    channel = guild.get_channel(int(conversation.channel_id or 0))
    if channel is not None:
        return channel.permissions_for(user)
    return user.guild_permissions & discord.Permissions(manage_guild=True, administrator=True)


def sees_fewer(
    old: discord.abc.GuildChannel | None, new: discord.abc.GuildChannel, *, needed: Iterable[str] = ("view_channel",)
) -> bool:
    """Whether somebody has these permissions in the new channel but not in the old one; a deleted one counts as
    visible to nobody.
    """
    if old is None:
        return True
    people = {who.id for channel in (old, new) for who in channel.overwrites if not isinstance(who, discord.Role)}
    return any(
        not missing(new.permissions_for(role), needed) and bool(missing(old.permissions_for(role), needed))
        for role in new.guild.roles
    ) or any(_gains(old, new, person, needed) for person in people)


def _gains(old: discord.abc.GuildChannel, new: discord.abc.GuildChannel, person: int, needed: Iterable[str]) -> bool:
    """Whether an overwrite for a single person gives them more in the new channel; most people are no
    cached members.
    """
    member = new.guild.get_member(person)
    if member is not None:
        return not missing(new.permissions_for(member), needed) and bool(missing(old.permissions_for(member), needed))
    before, after = _said_of(old, person), _said_of(new, person)
    everybody = old.permissions_for(new.guild.default_role)

    def is_new(name: str) -> bool:
        was_denied = getattr(before, name) is False
        was_unset = getattr(before, name) is None and not getattr(everybody, name)
        return was_denied or (was_unset and getattr(after, name) is True)

    is_denied_now = any(getattr(after, name) is False for name in needed)
    return not is_denied_now and any(map(is_new, needed))


def _said_of(channel: discord.abc.GuildChannel, person: int) -> discord.PermissionOverwrite:
    said = (rule for who, rule in channel.overwrites.items() if who.id == person)
    return next(said, discord.PermissionOverwrite())


def lacking_to_post(interaction: discord.Interaction[Any]) -> list[str]:
    """The permissions the person lacks for writing here; if there are any, the bot posts nothing here for them."""
    if server_of(interaction) is None:
        return []
    return missing(interaction.permissions, _to_write_in(interaction.channel))


def may_no_longer_write(message: discord.Message) -> bool:
    """Whether the author of a message is known to have lost the permission to write there: people can still edit
    messages.
    """
    author, place = message.author, message.channel
    channel = place.parent if isinstance(place, discord.Thread) else place
    if not isinstance(author, discord.Member) or not isinstance(channel, discord.abc.GuildChannel):
        return False
    return bool(missing(channel.permissions_for(author), _to_write_in(place)))


def _to_write_in(place: Any) -> list[str]:
    if not isinstance(place, discord.Thread):
        return ["view_channel", "send_messages"]
    return ["view_channel", "send_messages_in_threads", *(["manage_threads"] if place.locked else [])]


def sees_club(interaction: discord.Interaction[Any], club: Club) -> bool:
    """Whether the person sees the club's channel."""
    server, person = server_of(interaction), interaction.user
    channel = server.get_channel(int(club.channel_id)) if server else None
    if channel is None or not isinstance(person, discord.Member):
        return False
    return channel.permissions_for(person).view_channel


def runs_club(interaction: discord.Interaction[Any], club: Club) -> bool:
    """Whether they are its host, or manage threads in its channel, or the server."""
    if club.host == str(interaction.user.id):
        return True
    server, granted = server_of(interaction), interaction.permissions
    channel = server.get_channel(int(club.channel_id)) if server else None
    if channel is not None and isinstance(interaction.user, discord.Member):
        granted = channel.permissions_for(interaction.user)
    return granted.manage_threads or granted.manage_guild or granted.administrator


def manages_shelf(interaction: discord.Interaction[Any]) -> bool:
    """Whether the shelf is the person's own, or they manage its server, by their roles."""
    if server_of(interaction) is None:
        return True
    if not isinstance(interaction.user, discord.Member):
        return False
    granted = interaction.user.guild_permissions
    return granted.manage_guild or granted.administrator


def may_remove_book(interaction: discord.Interaction[Any], book: Book) -> bool:
    """Whether they added it, or manage the shelf."""
    return book.added_by == str(interaction.user.id) or manages_shelf(interaction)


def may_restore_book(interaction: discord.Interaction[Any], book: Book) -> bool:
    """Whether they removed it from the shelf, or manage the shelf."""
    return book.removed_by == str(interaction.user.id) or manages_shelf(interaction)


def may_change(interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
    """Whether it is theirs, or they manage its own channel's threads or the server."""
    return conversation.owner_id == str(interaction.user.id) or manages(interaction, conversation)


def manages(interaction: discord.Interaction[Any], conversation: Conversation) -> bool:
    """Whether they manage the threads of a conversation's own channel, or the server."""
    server = server_of(interaction)
    if server is None:
        return False
    granted = granted_in(server, conversation, interaction.user)
    return granted.manage_threads or granted.manage_guild or granted.administrator

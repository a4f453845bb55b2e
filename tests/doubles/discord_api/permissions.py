"""Who may do what where."""

from datetime import UTC, datetime

from tests.doubles.discord_api.entities import Channel, ChannelType, Permission, User

EVERYTHING = Permission(sum(Permission))
TIMED_OUT = Permission.VIEW_CHANNEL | Permission.READ_MESSAGE_HISTORY


def permissions_in(channel: Channel, user: User) -> Permission:
    """The member's permissions in a channel, overwrites included; a thread has its parent's."""
    if channel.guild is None:
        return EVERYTHING if user in channel.recipients else Permission(0)
    member = channel.guild.members.get(user.id)
    if member is None:
        return Permission(0)
    granted = channel.guild.everyone.permissions
    for role in member.roles:
        granted |= channel.guild.roles[role].permissions
    if Permission.ADMINISTRATOR in granted or channel.guild.owner is user:
        return EVERYTHING
    place = channel.parent if channel.is_thread and channel.parent else channel
    for target in (channel.guild.id, *member.roles, user.id):
        granted = granted & ~place.denied.get(target, Permission(0)) | place.allowed.get(target, Permission(0))
    is_timed_out = member.timed_out_until is not None and member.timed_out_until > datetime.now(UTC)
    return granted & TIMED_OUT if is_timed_out else granted


def may(user: User, permission: Permission, channel: Channel) -> bool:
    return permission in permissions_in(channel, user)


def sees(user: User, channel: Channel) -> bool:
    """A private thread is seen by its members alone, and by those who may manage threads."""
    mine = permissions_in(channel, user)
    if Permission.VIEW_CHANNEL not in mine:
        return False
    joined = user.id in channel.members or Permission.MANAGE_THREADS in mine
    return channel.type is not ChannelType.PRIVATE_THREAD or joined


def may_send(user: User, channel: Channel) -> bool:
    needed = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
    return sees(user, channel) and may(user, needed, channel)

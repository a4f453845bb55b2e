"""Entities in Discord's wire form."""

from datetime import UTC, datetime

from tests.doubles.discord_api.entities import (
    Attachment,
    Channel,
    Guild,
    Json,
    Member,
    Message,
    Poll,
    Role,
    User,
)
from tests.doubles.discord_api.permissions import sees

UPLOAD_LIMIT = 10 * 1024 * 1024


def timestamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def user_payload(user: User) -> Json:
    return {
        "id": str(user.id),
        "username": user.name,
        "discriminator": "0",
        "global_name": None if user.bot else user.name.capitalize(),
        "avatar": None,
        "bot": user.bot,
    }


def member_payload(member: Member, *, with_user: bool = True) -> Json:
    payload = {
        "roles": [str(role) for role in sorted(member.roles)],
        "joined_at": timestamp(member.joined_at),
        "nick": member.nick,
        "communication_disabled_until": timestamp(member.timed_out_until) if member.timed_out_until else None,
        "flags": 0,
        "deaf": False,
        "mute": False,
    }
    return payload | {"user": user_payload(member.user)} if with_user else payload


def role_payload(role: Role) -> Json:
    return {
        "id": str(role.id),
        "name": role.name,
        "permissions": str(int(role.permissions)),
        "position": role.position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def channel_payload(channel: Channel) -> Json:
    payload: Json = {
        "id": str(channel.id),
        "type": int(channel.type),
        "last_message_id": str(max(channel.messages)) if channel.messages else None,
    }
    if channel.guild is None:
        return payload | {"recipients": [user_payload(user) for user in channel.recipients if not user.bot]}
    assert channel.guild
    payload |= {
        "guild_id": str(channel.guild.id),
        "name": channel.name,
        "rate_limit_per_user": channel.slowmode,
        "flags": 0,
    }
    if channel.is_thread:
        return payload | _thread_part(channel)
    return payload | {
        "position": channel.position,
        "parent_id": None,
        "topic": None,
        "nsfw": False,
        "permission_overwrites": _overwrites(channel),
    }


def _thread_part(thread: Channel) -> Json:
    assert thread.parent
    assert thread.owner
    return {
        "parent_id": str(thread.parent.id),
        "owner_id": str(thread.owner.id),
        "message_count": min(len(thread.messages), 50),
        "total_message_sent": len(thread.messages),
        "member_count": min(len(thread.members), 50),
        "thread_metadata": {
            "archived": thread.archived,
            "auto_archive_duration": thread.auto_archive_minutes,
            "archive_timestamp": timestamp(thread.archived_at or thread.created_at),
            "create_timestamp": timestamp(thread.created_at),
            "locked": thread.locked,
            "invitable": thread.invitable,
        },
    }


def thread_member_payload(thread: Channel, user: User) -> Json:
    return {
        "id": str(thread.id),
        "user_id": str(user.id),
        "join_timestamp": timestamp(thread.members[user.id]),
        "flags": 0,
    }


def _overwrites(channel: Channel) -> list[Json]:
    assert channel.guild
    return [
        {
            "id": str(target),
            "type": 0 if target in channel.guild.roles else 1,
            "allow": str(int(channel.allowed.get(target, 0))),
            "deny": str(int(channel.denied.get(target, 0))),
        }
        for target in sorted({*channel.allowed, *channel.denied})
    ]


def guild_payload(guild: Guild, bot: User) -> Json:
    """As GUILD_CREATE has it: everything the bot may see at once."""
    channels = [channel for channel in guild.channels.values() if not channel.deleted]
    threads = [each for each in channels if each.is_thread and not each.archived and sees(bot, each)]
    return {
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner.id),
        "unavailable": False,
        "preferred_locale": guild.locale,
        "joined_at": timestamp(guild.members[bot.id].joined_at),
        "system_channel_id": str(guild.system_channel.id) if guild.system_channel else None,
        "rules_channel_id": str(guild.rules_channel.id) if guild.rules_channel else None,
        "features": [],
        "emojis": [],
        "stickers": [],
        "roles": [role_payload(role) for role in guild.roles.values()],
        "members": [member_payload(member) for member in guild.members.values()],
        "member_count": len(guild.members),
        "channels": [channel_payload(channel) for channel in channels if not channel.is_thread],
        "threads": [thread_for(bot, thread) for thread in threads],
        "voice_states": [],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": list(guild.events.values()),
    }


def thread_for(user: User, thread: Channel) -> Json:
    payload = channel_payload(thread)
    return payload | {"member": thread_member_payload(thread, user)} if user.id in thread.members else payload


def attachment_payload(attachment: Attachment) -> Json:
    payload: Json = {
        "id": str(attachment.id),
        "filename": attachment.filename,
        "size": len(attachment.data),
        "url": attachment.url,
        "proxy_url": attachment.url,
        "content_type": attachment.content_type,
    }
    return payload | {"description": attachment.description} if attachment.description else payload


def message_payload(message: Message, *, with_content: bool = True) -> Json:
    """A message; `with_content` False is how an app without the Message Content intent gets other people's."""
    payload: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel.id),
        "author": user_payload(message.author),
        "content": message.content if with_content else "",
        "timestamp": timestamp(message.created_at),
        "edited_timestamp": timestamp(message.edited_at) if message.edited_at else None,
        "tts": False,
        "mention_everyone": bool(message.channel.guild and message.channel.guild.id in message.pings),
        "mentions": [user_payload(user) for user in message.mentions],
        "mention_roles": [],
        "attachments": [attachment_payload(each) for each in message.attachments] if with_content else [],
        "embeds": message.embeds if with_content else [],
        "components": message.components if with_content else [],
        "pinned": message.pinned,
        "type": int(message.type),
        "flags": int(message.flags),
    }
    if message.nonce is not None:
        payload["nonce"] = message.nonce
    if message.reference is not None:
        payload |= _reference(message, message.reference, with_content)
    if message.poll is not None and with_content:
        payload["poll"] = poll_payload(message.poll)
    if message.thread is not None:
        payload["thread"] = channel_payload(message.thread)
    if message.invoker is not None:
        payload["interaction_metadata"] = {
            "id": str(message.interaction_id),
            "type": 2,
            "user": user_payload(message.invoker),
            "authorizing_integration_owners": message.installs,
        }
    return payload


def poll_payload(poll: Poll) -> Json:
    counts = {answer: poll.count(answer) for answer in poll.answers}
    return {
        "question": {"text": poll.question},
        "answers": [{"answer_id": number, "poll_media": {"text": text}} for number, text in poll.answers.items()],
        "expiry": timestamp(poll.expiry),
        "allow_multiselect": poll.multiselect,
        "layout_type": 1,
        "results": {
            "is_finalized": poll.is_final,
            "answer_counts": [
                {"id": answer, "count": count, "me_voted": False} for answer, count in counts.items() if count
            ],
        },
    }


def _reference(message: Message, target: Message, with_content: bool) -> Json:
    where: Json = {"message_id": str(target.id), "channel_id": str(target.channel.id)}
    if target.channel.guild:
        where["guild_id"] = str(target.channel.guild.id)
    if target.deleted:
        return {"message_reference": where, "referenced_message": None}
    whole = message_payload(target, with_content=with_content)
    for key in ("message_reference", "referenced_message"):
        whole.pop(key, None)
    return {"message_reference": where, "referenced_message": whole}

"""Whether a message is for the bot, and what it says to it."""

import re

import discord

ORDINARY = frozenset({discord.MessageType.default, discord.MessageType.reply})

_TOKEN = re.compile(
    r"<(?:@!?(?P<user>\d+)|@&(?P<role>\d+)|\#(?P<channel>\d+)|a?:(?P<emoji>\w+):\d+|(?P<command>/[^:<>]+):\d+)>"
)
_AFTER_A_NAME = r"[\s,:;\u2013\u2014-]*"


def is_from_a_person(message: discord.Message) -> bool:
    """Not from a bot or a webhook, and not one of Discord's own ("Ann has renamed the thread")."""
    return not message.author.bot and message.webhook_id is None and message.type in ORDINARY


def is_addressed(message: discord.Message, bot_id: int) -> bool:
    """Whether it mentions the bot, or its role, or answers one of its messages."""
    return mentions(message, bot_id) or replies_to(message, bot_id)


def mentions(message: discord.Message, bot_id: int) -> bool:
    if any(user.id == bot_id for user in message.mentions):
        return True
    return _own_role(message) in message.raw_role_mentions


def replies_to(message: discord.Message, bot_id: int) -> bool:
    if message.type is not discord.MessageType.reply or message.reference is None:
        return False
    answered = message.reference.resolved
    return isinstance(answered, discord.Message) and answered.author.id == bot_id


def words_of(message: discord.Message, bot_id: int) -> str:
    """The text without the mention of the bot; others are called by their names. Blank where there is none."""
    names = {user.id: user.display_name for user in message.mentions}
    own_role = _own_role(message)

    def replace(match: re.Match[str]) -> str:
        if match["user"]:
            return "" if int(match["user"]) == bot_id else f"@{names.get(int(match['user']), '…')}"
        if match["role"]:
            return "" if int(match["role"]) == own_role else f"@{_role_name(message, int(match['role']))}"
        if match["channel"]:
            return f"#{_channel_name(message, int(match['channel']))}"
        return f":{match['emoji']}:" if match["emoji"] else match["command"]

    address = re.match(rf"\s*<(?:@!?{bot_id}|@&{own_role})>{_AFTER_A_NAME}", message.content)
    return _TOKEN.sub(replace, message.content[address.end() if address else 0 :]).strip()


def _own_role(message: discord.Message) -> int:
    """The role that Discord gave the bot, which people take for the bot itself; 0 where there is none."""
    role = message.guild.self_role if message.guild else None
    return role.id if role else 0


def _role_name(message: discord.Message, role_id: int) -> str:
    role = message.guild.get_role(role_id) if message.guild else None
    return role.name if role else "…"


def _channel_name(message: discord.Message, channel_id: int) -> str:
    channel = message.guild.get_channel_or_thread(channel_id) if message.guild else None
    return channel.name if channel else "…"

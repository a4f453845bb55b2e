"""Who may do what: readers with books and conversations, and the bot with Discord."""

from collections.abc import Iterable

import discord

from cogs.i18n import Speech, later
from domain.book import Book
from domain.conversation import Conversation

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
"""What the bot needs, and how Discord's settings call it."""

NEEDED = discord.Permissions(**dict.fromkeys(PERMISSION_NAMES, True))

FOR_ANSWERS = ("view_channel", "send_messages_in_threads")
FOR_A_PUBLIC_THREAD = ("view_channel", "create_public_threads", "send_messages_in_threads", "embed_links")
FOR_A_PRIVATE_THREAD = ("view_channel", "create_private_threads", "send_messages_in_threads", "embed_links")


def missing(granted: discord.Permissions, needed: Iterable[str] = PERMISSION_NAMES) -> list[str]:
    """Which of these permissions are not granted."""
    return [name for name in needed if not getattr(granted, name) and not granted.administrator]


def permission_names(names: Iterable[str], say: Speech) -> str:
    """Permissions as Discord's settings call them."""
    return ", ".join(f"“{say(PERMISSION_NAMES.get(name, name.replace('_', ' ').title()))}”" for name in names)


def may_remove_book(book: Book, user: discord.abc.User, granted: discord.Permissions) -> bool:
    """Who added it, or who manages the guild."""
    return book.added_by == str(user.id) or granted.manage_guild or granted.administrator


def may_change(conversation: Conversation, user: discord.abc.User, granted: discord.Permissions) -> bool:
    """Whose it is, or who manages threads or the guild."""
    return (
        conversation.owner_id == str(user.id) or granted.manage_threads or granted.manage_guild or granted.administrator
    )

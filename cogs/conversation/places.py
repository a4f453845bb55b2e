"""Where conversations are shown: their threads, and the pumps that write into them."""

from collections.abc import Callable

import discord

from cogs.conversation.buttons import view_of
from cogs.delivery.channel import DiscordChannel
from cogs.delivery.pump import Pump, Pumps
from cogs.permissions import FOR_ANSWERS, missing
from cogs.threads import thread_of
from cogs.translation import Speech, speech_in
from domain.conversation import Conversation


class Place:
    """A thread, and everything that is needed to say something in it."""

    def __init__(self, thread: discord.Thread, pumps: Pumps) -> None:
        self.thread = thread
        self.channel = DiscordChannel(thread, view_of)
        self.pump: Pump = pumps.of(self.channel)
        self.say: Speech = speech_in(thread.guild)

    @property
    def lacking(self) -> list[str]:
        """The permissions the bot lacks to write here; none, as far as can be told."""
        thread = self.thread
        return missing(thread.permissions_for(thread.guild.me), FOR_ANSWERS) if thread.parent else []

    @property
    def obstacle(self) -> str:
        """What is in the way of writing here, for whoever runs the bot; nothing, as far as can be told."""
        return f"in thread {self.thread.id} the bot lacks {', '.join(self.lacking)}" if self.lacking else ""


class Places:
    def __init__(self, guild_of: Callable[[int], discord.Guild | None], pumps: Pumps) -> None:
        self._guild_of = guild_of
        self._pumps = pumps

    async def of(self, conversation: Conversation) -> Place | None:
        """The place of a conversation; None while it has no thread that the bot can reach.

        Raises:
            discord.HTTPException: Discord has trouble.
        """
        if conversation.guild_id is None or conversation.thread_id is None:
            return None
        guild = self._guild_of(int(conversation.guild_id))
        thread = await thread_of(guild, conversation) if guild else None
        return self.at(thread) if thread else None

    def at(self, thread: discord.Thread) -> Place:
        return Place(thread, self._pumps)

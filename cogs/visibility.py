"""Which conversations a person may know of: those whose thread they can see in Discord."""

import asyncio
import contextlib
from collections.abc import Sequence

import discord

from domain.conversation import Conversation

MEMBERSHIPS_ASKED = 50
"""Private threads whose membership Discord is asked for one list, newest first; each costs a request."""
AT_A_TIME = 5
GLANCED_AT = 10
A_GLANCE_S = 1.0
"""The same for choices, which are asked for with every pause in typing and have to be there within three seconds."""


class Sight:
    """What one member of a guild can see.

    A private thread is seen by its members, by those who manage threads, and by whose conversation it is: they may have
    left it, and /chat takes them back. Where a thread is gone, a public conversation is seen by those who see its
    channel, and a private one by its owner.
    """

    def __init__(self, guild: discord.Guild, member: discord.abc.User) -> None:
        self._guild = guild
        self._member = member

    async def sees(self, conversation: Conversation) -> bool:
        """Whether they can see it; who is in a private thread is asked of Discord."""
        known = self._known(conversation)
        return await self._is_in_thread(conversation) if known is None else known

    async def of(
        self, conversations: Sequence[Conversation], *, asked: int = MEMBERSHIPS_ASKED, seconds: float | None = None
    ) -> list[Conversation]:
        """Those of the conversations they can see, in their order.

        Discord is asked about the membership in at most `asked` private threads, and for no longer than `seconds`;
        what it has not told by then counts as not seen.
        """
        known = {each.id: self._known(each) for each in conversations}
        unknown = [each for each in conversations if known[each.id] is None]
        turnstile = asyncio.Semaphore(AT_A_TIME)

        async def ask(conversation: Conversation) -> None:
            async with turnstile:
                known[conversation.id] = await self._is_in_thread(conversation)

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.gather(*map(ask, unknown[:asked]))
        return [each for each in conversations if known[each.id]]

    async def at_a_glance(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """As `of`, soon enough for a list that is offered while somebody types."""
        return await self.of(conversations, asked=GLANCED_AT, seconds=A_GLANCE_S)

    def _known(self, conversation: Conversation) -> bool | None:
        """What can be told without asking; None where only Discord knows."""
        if conversation.guild_id != str(self._guild.id):
            return False
        channel = self._guild.get_channel(int(conversation.channel_id or 0))
        if channel is None or not isinstance(self._member, discord.Member):
            return self._is_own(conversation)
        granted = channel.permissions_for(self._member)
        if not conversation.private or granted.manage_threads:
            return granted.view_channel
        if conversation.thread_id is None or self._is_own(conversation):
            return self._is_own(conversation) and granted.view_channel
        return None if granted.view_channel else False

    def _is_own(self, conversation: Conversation) -> bool:
        return conversation.guild_id == str(self._guild.id) and conversation.owner_id == str(self._member.id)

    async def _is_in_thread(self, conversation: Conversation) -> bool:
        thread_id = int(conversation.thread_id or 0)
        thread = self._guild.get_thread(thread_id) or await self._fetch_thread(thread_id)
        if thread is None:
            return False
        try:
            await thread.fetch_member(self._member.id)
        except (discord.HTTPException, discord.RateLimited):
            return False
        return True

    async def _fetch_thread(self, thread_id: int) -> discord.Thread | None:
        """An archived thread is not in the cache. None: it is gone, or the bot may not see it."""
        try:
            channel = await self._guild.fetch_channel(thread_id)
        except (discord.HTTPException, discord.RateLimited):
            return None
        return channel if isinstance(channel, discord.Thread) else None

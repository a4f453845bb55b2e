"""After a start or a new session: what a crash has left, and what was written while nobody listened."""

import asyncio
import logging
from collections.abc import Iterable

import discord

from cogs.conversation.reception import Reception
from cogs.conversation.rounds import Rounds
from cogs.services import Services
from domain.conversation import Conversation
from domain.errors import MarginaliaError

logger = logging.getLogger(__name__)

THREADS_AT_A_TIME = 5


class CatchingUp:
    """Looks after everything that came to no end; each conversation by itself."""

    def __init__(self, services: Services, reception: Reception, rounds: Rounds) -> None:
        self._services = services
        self._reception = reception
        self._rounds = rounds
        self._running = asyncio.Lock()

    async def run(self, guilds: Iterable[discord.Guild], bot_id: int) -> None:
        async with self._running:
            try:
                unfinished = await self._unfinished()
            except MarginaliaError as error:
                logger.error("what was left unfinished could not be found out: %s", error)
                unfinished = set()
            for conversation_id in unfinished:
                self._rounds.start(conversation_id, untidy=True)
            self._rounds.open()
            turnstile = asyncio.Semaphore(THREADS_AT_A_TIME)
            await asyncio.gather(*(self._read(guild, bot_id, turnstile) for guild in guilds))

    async def _unfinished(self) -> set[str]:
        """Conversations in which a message waits, or whose last answer did not get through."""
        undelivered = await self._services.turns.list_undelivered()
        return {turn.conversation_id for turn in undelivered} | {*await self._services.messages.list_waiting()}

    async def _read(self, guild: discord.Guild, bot_id: int, turnstile: asyncio.Semaphore) -> None:
        """Read on in every open thread of a guild that belongs to a conversation."""
        try:
            known = await self._services.conversation_repository.get_by_guild(str(guild.id))
        except MarginaliaError as error:
            logger.error("the conversations of guild %s could not be read: %s", guild.id, error)
            return
        bound = {conversation.thread_id: conversation for conversation in known if conversation.thread_id}
        threads = [(thread, bound[str(thread.id)]) for thread in guild.threads if str(thread.id) in bound]
        await asyncio.gather(*(self._read_thread(*each, bot_id, turnstile) for each in threads))

    async def _read_thread(
        self, thread: discord.Thread, conversation: Conversation, bot_id: int, turnstile: asyncio.Semaphore
    ) -> None:
        async with turnstile, self._reception.order(thread.id):
            try:
                asked = await self._reception.catch_up(thread, conversation, bot_id)
            except (MarginaliaError, discord.HTTPException, OSError) as error:
                logger.warning("thread %s could not be read on: %s", thread.id, error)
                return
        if asked:
            self._rounds.start(conversation.id)

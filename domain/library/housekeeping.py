"""Erasing what is not to be kept any longer, at every start and once a day."""

import asyncio
import logging
from datetime import timedelta

from domain.errors import MarginaliaError
from domain.library.shelf import Bookshelf
from domain.ports import Clock, RetentionRepository
from domain.usage import Sweep

logger = logging.getLogger(__name__)

A_DAY = timedelta(days=1)
AN_HOUR = timedelta(hours=1)
"""Longer than anything takes that is begun before it has its place: opening a thread, adding a book."""


class Housekeeping:
    """`keep_conversations` and `keep_tool_calls` are how long they are kept after their end; None is for ever."""

    def __init__(
        self,
        *,
        retention: RetentionRepository,
        shelf: Bookshelf,
        clock: Clock,
        keep_conversations: timedelta | None,
        keep_tool_calls: timedelta | None,
    ) -> None:
        self._retention = retention
        self._shelf = shelf
        self._clock = clock
        self._keep_conversations = keep_conversations
        self._keep_tool_calls = keep_tool_calls

    async def sweep(self) -> Sweep:
        """Erase what is over.

        Raises:
            StorageError: the database or the disk refused; what was erased before stays erased.
        """
        now, conversations, tool_results = self._clock(), 0, 0
        if self._keep_conversations is not None:
            conversations = await self._retention.erase_conversations(now - self._keep_conversations)
        if self._keep_tool_calls is not None:
            tool_results = await self._retention.erase_tool_calls(now - self._keep_tool_calls)
        await self._retention.erase_unopened(now - AN_HOUR)
        return Sweep(conversations, tool_results, await self._shelf.sweep(now - A_DAY))

    async def keep_house(self) -> None:
        """Sweep now and every day, until cancelled."""
        while True:
            try:
                if swept := await self.sweep():
                    logger.info(
                        "erased, since their time was over: %d conversations, %d tool results, %d files of books",
                        swept.conversations,
                        swept.tool_results,
                        swept.book_files,
                    )
            except (MarginaliaError, OSError) as error:
                logger.error("what is over could not be erased; it is tried again tomorrow: %s", error)
            await asyncio.sleep(A_DAY.total_seconds())

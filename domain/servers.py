"""Discord servers: what their managers have chosen, and how long the data of servers and people is kept."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from domain.errors import MarginaliaError
from domain.library.shelf import Bookshelf
from domain.ports import Clock, RetentionRepository, ServerRepository
from domain.records import ServerSettings, Sweep

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Models:
    """The models that the operator allows; `default` answers unless a server has chosen another."""

    default: str
    allowed: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, the default first."""
        return tuple(dict.fromkeys([self.default, *self.allowed]))


INVITED_BEFORE = timedelta(days=7)
"""How long before the very first start, when the database is made, people may have invited the bot."""


class ManageServers:
    """The settings of servers, by server id.

    They are loaded once and then read from memory: one process at a time serves a server and changes its settings, and
    it loads them when it starts to.
    """

    def __init__(self, servers: ServerRepository, models: Models) -> None:
        self._servers = servers
        self._known: dict[str, ServerSettings] | None = None
        self._changing = asyncio.Lock()
        """Held while memory and storage change together: a shard that begins here loads them while others change them.
        """
        self.models = models

    async def load(self) -> Mapping[str, ServerSettings]:
        """Learn the settings of all servers that have any, and return them.

        Raises:
            StorageError: they cannot be read.
        """
        async with self._changing:
            self._known = dict(await self._servers.all())
            return self._known

    async def settings(self, server_id: str | None) -> ServerSettings:
        """A server's settings; the defaults outside servers (None)."""
        if server_id is None:
            return ServerSettings()
        if self._known is not None:
            return self._known.get(server_id, ServerSettings())
        return await self._servers.get(server_id)

    async def is_greeted(self, server_id: str) -> bool:
        """Whether the bot has introduced itself there since it joined."""
        return await self._servers.is_greeted(server_id)

    async def ungreeted(self, joined: Mapping[str, datetime]) -> list[str]:
        """The servers in which the bot still has to introduce itself, among those it is in when it starts.

        `joined` says since when it is in each. Servers that it joined long before there were greetings need none; those
        that invited it shortly before the very first start do.
        """
        since = await self._servers.greets_since() - INVITED_BEFORE
        late = [server_id for server_id, moment in joined.items() if moment > since]
        return [server_id for server_id in late if not await self._servers.is_greeted(server_id)]

    async def note_greeted(self, server_id: str, *, greeted: bool = True) -> None:
        """Note that the bot has introduced itself, or that it has left."""
        await self._servers.set_greeted(server_id, greeted)

    async def change(self, server_id: str, **changes: Any) -> ServerSettings:
        """Change some of a server's settings; `changes` are fields of `ServerSettings`."""
        return await self._update(server_id, lambda settings: replace(settings, **changes))

    async def change_channels(
        self, server_id: str, *, add: str = "", remove: str = "", existing: Iterable[str] = ()
    ) -> ServerSettings:
        """Add a channel to those where the bot may be used, and remove one; of the others, keep those that are
        `existing`.
        """
        there = {*existing}

        def changed(settings: ServerSettings) -> ServerSettings:
            kept = dict.fromkeys(each for each in (*settings.channels, add) if each in there and each != remove)
            return replace(settings, channels=tuple(kept))

        return await self._update(server_id, changed)

    async def erase(self, server_id: str) -> None:
        """Forget all of a server's settings."""
        async with self._changing:
            await self._servers.delete(server_id)
            if self._known is not None:
                self._known.pop(server_id, None)

    async def _update(self, server_id: str, change: Callable[[ServerSettings], ServerSettings]) -> ServerSettings:
        async with self._changing:
            changed = await self._servers.update(server_id, change)
            if self._known is not None:
                self._known[server_id] = changed
            return changed

    async def may_be_used_in(self, server_id: str, channel_ids: Iterable[str | None]) -> bool:
        """Whether the bot may be used in a channel, given the channel's id and the ids of its parents."""
        channels = (await self.settings(server_id)).channels
        return not channels or not {*channels}.isdisjoint(channel_ids)

    async def model_of(self, server_id: str | None) -> str:
        """The name of the model that answers in a server: its own choice, if the operator still allows it."""
        if len(self.models.names) == 1:
            return self.models.default
        chosen = (await self.settings(server_id)).model
        return chosen if chosen in self.models.names else self.models.default


class LeftServers:
    """The data of servers, and their erasure after the bot has been removed from a server."""

    def __init__(self, *, retention: RetentionRepository, shelf: Bookshelf) -> None:
        self._retention = retention
        self._shelf = shelf

    async def known(self) -> Sequence[str]:
        """The ids of all servers with data."""
        return await self._retention.list_servers()

    async def left(self, guild_ids: Iterable[str]) -> None:
        """The bot is no longer in these servers."""
        await self._retention.note_left(guild_ids)

    async def back(self, guild_ids: Iterable[str]) -> None:
        """The bot is in these servers; their data is kept."""
        await self._retention.note_back(guild_ids)

    async def erase(self, guild_id: str) -> None:
        """Erase a server: its books with everything about them, its conversations, its settings.

        If the program ends meanwhile, the next start continues.
        """
        await self._retention.note_to_erase(guild_id)
        await self._erase(guild_id)

    async def sweep(self, left_before: datetime | None) -> int:
        """Erase the servers that were left before that time, and those to be erased at once; return how many."""
        over = await self._retention.list_left(left_before)
        for guild_id in over:
            await self._erase(guild_id)
        return len(over)

    async def _erase(self, guild_id: str) -> None:
        books = await self._shelf.all_on(guild_id)
        await self._retention.erase_server(guild_id)
        await self._shelf.delete_unused(books)


A_DAY = timedelta(days=1)
KEEP_REMOVED = timedelta(days=7)
"""How long a removed book can be restored."""
AN_HOUR = timedelta(hours=1)
"""Longer than any operation takes between its beginning and its record: opening a thread, adding a book."""
NOTES_KEPT = timedelta(days=30)
"""How long removals that Discord refused are retried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPeriods:
    """How long data of each kind is kept; None means for ever."""

    conversations: timedelta | None = None
    tool_calls: timedelta | None = None
    deleted: timedelta | None = None
    """For conversations whose thread or channel was deleted."""
    left_servers: timedelta | None = None


class Housekeeping:
    """Erases whatever has reached the end of its retention period, on all shelves and in all conversations."""

    def __init__(
        self,
        *,
        retention: RetentionRepository,
        shelf: Bookshelf,
        servers: LeftServers,
        clock: Clock,
        keep: RetentionPeriods,
    ) -> None:
        self._retention = retention
        self._shelf = shelf
        self._servers = servers
        self._clock = clock
        self._keep = keep

    async def sweep(self) -> Sweep:
        """Erase everything whose retention period is over.

        Raises:
            StorageError: the database or the disk refused; what was erased before stays erased.
        """
        now, keep, conversations, tool_results = self._clock(), self._keep, 0, 0
        if keep.conversations is not None:
            conversations = await self._retention.erase_conversations(now - keep.conversations)
        if keep.deleted is not None:
            conversations += await self._retention.erase_gone(now - keep.deleted)
        if keep.tool_calls is not None:
            tool_results = await self._retention.erase_tool_calls(now - keep.tool_calls)
        await self._retention.erase_unopened(now - AN_HOUR)
        books = await self._shelf.erase_removed(now - KEEP_REMOVED)
        await self._retention.erase_notes(now - NOTES_KEPT)
        servers = await self._servers.sweep(None if keep.left_servers is None else now - keep.left_servers)
        return Sweep(conversations, tool_results, await self._shelf.sweep(now - A_DAY), books, servers)

    async def sweep_daily(self) -> None:
        """Sweep now and once a day, until cancelled."""
        while True:
            try:
                if swept := await self.sweep():
                    logger.info(
                        "erased, since their time was over: %d servers, %d removed books, %d conversations, "
                        "%d tool results, %d files of books",
                        swept.servers,
                        swept.books,
                        swept.conversations,
                        swept.tool_results,
                        swept.book_files,
                    )
            except (MarginaliaError, OSError) as error:
                logger.error("what is over could not be erased; it is tried again tomorrow: %s", error)
            await asyncio.sleep(A_DAY.total_seconds())

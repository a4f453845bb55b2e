"""What the managers of a Discord server have chosen for it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from domain.ports import ServerRepository
from domain.usage import ServerSettings


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

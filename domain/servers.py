"""What those who manage a Discord server have chosen for it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from domain.ports import ServerRepository
from domain.usage import ServerSettings


@dataclass(frozen=True, slots=True)
class Models:
    """The models that the operator allows; `default` answers where a server has chosen none of them."""

    default: str
    allowed: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, the default first."""
        return tuple(dict.fromkeys([self.default, *self.allowed]))


class ManageServers:
    """The settings of servers, by the ids of the servers. They are read anew each time, so a change holds at once."""

    def __init__(self, servers: ServerRepository, models: Models) -> None:
        self._servers = servers
        self.models = models

    async def settings(self, server_id: str | None) -> ServerSettings:
        """A server's settings; outside of servers (None), the defaults."""
        return ServerSettings() if server_id is None else await self._servers.get(server_id)

    async def change(self, server_id: str, **changes: Any) -> ServerSettings:
        """Change some of a server's settings; `changes` are fields of `ServerSettings`."""
        return await self._servers.update(server_id, lambda settings: replace(settings, **changes))

    async def change_channels(
        self, server_id: str, *, add: str = "", remove: str = "", existing: Iterable[str] = ()
    ) -> ServerSettings:
        """Add a channel to those where the bot may be used, and remove one; of the others those that are `existing`."""
        there = {*existing}

        def changed(settings: ServerSettings) -> ServerSettings:
            kept = dict.fromkeys(each for each in (*settings.channels, add) if each in there and each != remove)
            return replace(settings, channels=tuple(kept))

        return await self._servers.update(server_id, changed)

    async def erase(self, server_id: str) -> None:
        """Forget all of a server's settings."""
        await self._servers.delete(server_id)

    async def languages(self) -> Mapping[str, str]:
        """The language of each server that has chosen one."""
        return await self._servers.languages()

    async def may_be_used_in(self, server_id: str, channel_ids: Iterable[str | None]) -> bool:
        """Whether the bot may be used in a channel, named by its own id and those of what it is in."""
        channels = (await self.settings(server_id)).channels
        return not channels or not {*channels}.isdisjoint(channel_ids)

    async def model_of(self, server_id: str | None) -> str:
        """The name of the model that answers in a server: its own choice as long as the operator allows that."""
        if len(self.models.names) == 1:
            return self.models.default
        chosen = (await self.settings(server_id)).model
        return chosen if chosen in self.models.names else self.models.default

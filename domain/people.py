"""What people may ask about themselves: their preferences, their usage, a copy of what is kept, its erasure."""

from datetime import datetime
from typing import Any

from domain.ports import PrivacyRepository, ReaderRepository, UsageRepository
from domain.usage import Erasure, UsageTotal


class ManagePeople:
    """Preferences, usage and privacy of people, by their ids."""

    def __init__(self, *, readers: ReaderRepository, usage: UsageRepository, privacy: PrivacyRepository) -> None:
        self._readers = readers
        self._usage = usage
        self._privacy = privacy

    async def verbose(self, reader_id: str) -> bool | None:
        """Whether they like to see tool calls; None where they have not said."""
        return await self._readers.get_verbose(reader_id)

    async def set_verbose(self, reader_id: str, verbose: bool) -> None:
        await self._readers.set_verbose(reader_id, verbose)

    async def usage(self, reader_id: str, since: datetime) -> UsageTotal:
        """What they have used since then."""
        return await self._usage.total_for_reader(reader_id, since)

    async def usage_in_guild(self, guild_id: str, since: datetime) -> UsageTotal:
        """What everybody in a server has used since then."""
        return await self._usage.total_for_guild(guild_id, since)

    async def export(self, reader_id: str) -> dict[str, Any]:
        """All that is kept about them, ready for JSON."""
        return await self._privacy.export(reader_id)

    async def erase(self, reader_id: str) -> Erasure:
        """Erase all that is kept about them, at once and for good."""
        return await self._privacy.erase(reader_id)

"""/settings: what those who manage a server choose for it, and the moderators' log, whose channel is one of these."""

import asyncio
import logging
import time

import discord

from cogs.errors import DISCORD_ERRORS
from cogs.i18n import Speech, speech_for, speech_in
from cogs.permissions import missing
from domain.errors import MarginaliaError
from domain.use_cases import UseCases

logger = logging.getLogger("marginalia.audit")

FOR_THE_LOG = ("view_channel", "send_messages")
TROUBLE_AGAIN_AFTER_S = 600.0
"""How long the same trouble is not told again: where the model is away, every question meets it."""


class AuditLog:
    """Writes the moderators' log.

    It is the channel that `/settings log` names; where there is none, or it cannot be written in, the program's log.
    """

    def __init__(self, use_cases: UseCases) -> None:
        self._use_cases = use_cases
        self._posting: set[asyncio.Task[None]] = set()
        self._told: dict[tuple[object, ...], float] = {}

    def note(self, guild: discord.Guild | None, text: str, /, **values: object) -> None:
        """See cogs.services.Audit."""
        if guild is None:  # nobody moderates a direct message
            return
        task = asyncio.create_task(self._note(guild, text, values))
        self._posting.add(task)
        task.add_done_callback(self._posting.discard)

    def trouble(self, guild: discord.Guild | None, text: str, /, **values: object) -> None:
        """See cogs.services.Audit."""
        known = (guild.id if guild else 0, text, *values.values())
        now = time.monotonic()
        self._told = {key: at for key, at in self._told.items() if now - at < TROUBLE_AGAIN_AFTER_S}
        if known not in self._told:
            self._told[known] = now
            self.note(guild, text, **values)

    async def obstacle(self, guild: discord.Guild) -> tuple[str, ...] | None:
        """What keeps the log from its channel: the permissions that are lacking there, none where the channel is gone.

        None: nothing does, or there is no such channel.
        """
        chosen = (await self._use_cases.servers.settings(str(guild.id))).log_channel
        if not chosen:
            return None
        channel = guild.get_channel(int(chosen))
        lacking = tuple(missing(channel.permissions_for(guild.me), FOR_THE_LOG)) if channel else ()
        return lacking if lacking or channel is None else None

    async def close(self) -> None:
        """Return once everything is noted."""
        await asyncio.gather(*self._posting, return_exceptions=True)

    async def _note(self, guild: discord.Guild, text: str, values: dict[str, object]) -> None:
        try:
            chosen = (await self._use_cases.servers.settings(str(guild.id))).log_channel
            channel = guild.get_channel(int(chosen or 0))
            if isinstance(channel, discord.TextChannel | discord.Thread):
                now = discord.utils.format_dt(discord.utils.utcnow(), "T")
                await channel.send(f"-# {now} {speech_in(guild)(text, **values)}", silent=True)
                return
        except (MarginaliaError, *DISCORD_ERRORS) as error:
            logger.info("guild %s: its moderators' log cannot be written to: %s", guild.id, error)
        logger.warning("guild %s: %s", guild.id, _IN_ENGLISH(text, **values))


_IN_ENGLISH: Speech = speech_for(discord.Locale.american_english)

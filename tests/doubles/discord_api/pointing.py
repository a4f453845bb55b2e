"""Pointing discord.py at a double: the two class attributes that say where Discord is, and nothing else."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import discord
import yarl
from discord.gateway import DiscordWebSocket

from tests.doubles.discord_api.double import DiscordDouble


@contextmanager
def pointed_at(double: DiscordDouble) -> Iterator[None]:
    """Clients that are started meanwhile connect to the double."""
    before = discord.http.Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    discord.http.Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = double.api_url, yarl.URL(double.gateway_url)
    try:
        yield
    finally:
        discord.http.Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before


@asynccontextmanager
async def loopback_discord() -> AsyncIterator[DiscordDouble]:
    """A double that clients connect to; the bot may not break Discord's rules."""
    async with DiscordDouble() as double:
        with pointed_at(double):
            yield double
    assert double.violations == []

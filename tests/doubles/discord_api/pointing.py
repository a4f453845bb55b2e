"""Pointing discord.py at a double: the two class attributes that say where Discord is, and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager

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

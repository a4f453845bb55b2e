"""Asking Discord when it has trouble: discord.py repeats neither what met a 503 nor what lost its connection."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp
import discord

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

PASSING_SOON = (discord.DiscordServerError, aiohttp.ClientError, OSError, TimeoutError)
TRANSIENT_ERRORS = (discord.RateLimited, *PASSING_SOON)
"""Trouble that goes by without anybody doing anything about it."""

DISCORD_ERRORS = (discord.HTTPException, *TRANSIENT_ERRORS)
"""All that may come of a request to Discord."""

WAITS_S = (0.5, 1.0, 2.0)
"""Before the second try and those after it; whoever waits for an answer waits no longer than for a slow model."""


async def retry_transient(ask: Callable[[], Awaitable[Result]]) -> Result:
    """What Discord says to a request that may be made more than once, asked again while it has trouble.

    It reads, says how something is to be, or is known again by its nonce.

    Raises:
        DISCORD_ERRORS: it has had trouble each time, or it refuses.
    """
    for wait in WAITS_S:
        try:
            return await ask()
        except PASSING_SOON as error:
            logger.info("Discord has trouble, once more in %.1f s: %s", wait, error)
            await asyncio.sleep(wait)
    return await ask()

"""The real client of discord.py, at the moment that Discord asks all of it to pause."""

import asyncio
from pathlib import Path

from tests.bot.online import online
from tests.doubles.discord_api import DiscordDouble

TYPING = "POST /channels/{channel}/typing"
PAUSE_S = 30.0


async def test_a_request_that_is_given_up_in_a_global_pause_holds_up_nobody(
    double: DiscordDouble, tmp_path: Path
) -> None:
    async with online(double, tmp_path) as state:
        http = state.bot.http
        double.fail(TYPING, status=429, is_global=True, retry_after=PAUSE_S)
        typing = asyncio.create_task(http.send_typing(double.channel.id))
        await double.until(lambda: not http._global_over.is_set())
        waiting = asyncio.create_task(http.send_typing(double.channel.id))
        typing.cancel()
        async with asyncio.timeout(PAUSE_S):
            await waiting
        assert len(double.channel.typing_times) == 1

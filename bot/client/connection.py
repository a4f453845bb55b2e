"""Staying connected to Discord, beyond what discord.py recovers from on its own."""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket

from bot.client.client import Marginalia
from bot.client.http_fixes import use_retrying_adapter
from bot.client.sessions import RESERVED_SESSIONS, CannotResumeError, stop_heartbeats
from bot.settings import Settings
from domain.concurrency import to_the_end
from domain.errors import MarginaliaError, SettingsError

logger = logging.getLogger(__name__)

PORTAL = "Developer Portal (https://discord.com/developers/applications) → your application → Bot"
TOKEN_REFUSED = f"Discord does not accept DISCORD_TOKEN. Make a new one: {PORTAL} → Reset Token, and put it into .env."
INTENT_REFUSED = f"Discord does not allow this bot an intent it needs: {PORTAL} → Privileged Gateway Intents."
AUTHENTICATION_FAILED = 4004

CONNECTION_ERRORS = (OSError, aiohttp.ClientError, TimeoutError, discord.HTTPException, discord.GatewayNotFound)
"""Temporary errors, unless Discord says that the request itself was wrong."""


def point_discord_at(settings: Settings) -> None:
    """Send this process's REST requests and gateway connections where the settings say, and disable voice."""
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
    discord.http.Route.BASE = settings.discord_api_url.rstrip("/")
    if settings.discord_gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(settings.discord_gateway_url)


@dataclass(frozen=True, slots=True)
class ReconnectPace:
    """Pauses and limits, in seconds.

    Pauses double from `first` to `longest`, and start anew after `calm` without trouble. A connection that has been
    down for `stuck` is closed and opened again, because discord.py's own pauses grow to a quarter of an hour; this is
    checked every `look`.
    """

    first: float = 1.0
    longest: float = 60.0
    calm: float = 60.0
    stuck: float = 120.0
    look: float = 10.0


class Waits:
    """How long to wait after a failure."""

    def __init__(self, pace: ReconnectPace) -> None:
        self._pace = pace
        self._failures = 0
        self._since = time.monotonic()

    def next(self) -> float:
        """Seconds until the next attempt, with some jitter, so that bots do not reconnect all at once."""
        now = time.monotonic()
        if now - self._since > self._pace.calm:
            self._failures = 0
        wait = min(self._pace.longest, self._pace.first * 2.0**self._failures)
        self._failures += 1
        self._since = now + wait
        return wait * random.uniform(0.8, 1.2)  # noqa: S311


class MakeBot(Protocol):
    def __call__(self, *, reads_messages: bool) -> Marginalia: ...


class ConnectionStuckError(Exception):
    """The connection has been down for too long, or its sessions keep ending."""


async def stay_online(
    make_bot: MakeBot,
    token: str,
    pace: ReconnectPace | None = None,
    *,
    leave: Callable[[Marginalia], Awaitable[None]] | None = None,
) -> None:
    """Log in, connect and stay connected until cancelled. The bot is closed at the end.

    `leave` is called before that, with a bot whose session another process may resume.

    Raises:
        SettingsError: an error that waiting does not fix: a wrong token, a disabled intent, an address that is not
        Discord's.
    """
    pace = pace or ReconnectPace()
    waits, reading = Waits(pace), True
    while True:
        try:
            reading = reading and await _may_read_messages(token)
            async with make_bot(reads_messages=reading) as bot:
                await bot.login(token)
                use_retrying_adapter(bot.links, bot.places.note, bot.replies.note)
                try:
                    await _stay_connected(bot, waits, pace)
                except asyncio.CancelledError:
                    if leave is not None:
                        await to_the_end(leave(bot))
                    raise
                return
        except discord.PrivilegedIntentsRequired as error:
            if not reading:
                raise SettingsError(INTENT_REFUSED) from error
            _say_mentions_only()
            reading = False
        except discord.LoginFailure as error:
            raise SettingsError(TOKEN_REFUSED) from error
        except discord.ConnectionClosed as error:
            raise _final(error) from error
        except CONNECTION_ERRORS as error:
            _raise_if_refused(error)
            await _wait_after(error, waits)


async def advised_shards(token: str) -> int:
    """The number of shards that Discord recommends; waits while Discord cannot be asked.

    Raises:
        SettingsError: the token is refused, or the address is not Discord's.
    """
    while True:
        try:
            async with discord.Client(intents=discord.Intents.none()) as client:
                await client.login(token)
                count, _, _ = await client.http.get_bot_gateway()
                return count
        except discord.LoginFailure as error:
            raise SettingsError(TOKEN_REFUSED) from error
        except CONNECTION_ERRORS as error:
            _raise_if_refused(error)
            logger.warning("Discord cannot be asked how many shards it advises (%s); again in 5 s", error)
            await asyncio.sleep(5.0)


def reads_messages(flags: discord.ApplicationFlags) -> bool:
    """Whether the Message Content intent is enabled (small bots have the limited one)."""
    return flags.gateway_message_content or flags.gateway_message_content_limited


async def _may_read_messages(token: str) -> bool:
    """Whether the application may read messages; logs it if it may not."""
    async with discord.Client(intents=discord.Intents(guilds=True)) as client:
        await client.login(token)
        allowed = reads_messages(client.application_flags)
    if not allowed:
        _say_mentions_only()
    return allowed


async def _stay_connected(bot: Marginalia, waits: Waits, pace: ReconnectPace) -> None:
    """Connect again whenever the library gives up: a failed first connection, an event it cannot parse, …"""
    while not bot.is_closed():
        try:
            await _wait_for_sessions(bot)
            await _connect(bot, pace)
        except CannotResumeError:
            logger.info("the session at the gateway cannot be resumed; a new one is started")
        except (discord.PrivilegedIntentsRequired, discord.ConnectionClosed):
            raise
        except Exception as error:  # noqa: BLE001 - anything may come out of a parser
            with suppress(Exception):
                await bot.ws.close()
            stop_heartbeats(bot)
            await _wait_after(error, waits)


async def _connect(bot: Marginalia, pace: ReconnectPace) -> None:
    """Stay connected as long as the library manages to."""
    connecting, down_since = asyncio.create_task(bot.connect()), time.monotonic()
    try:
        while not (await asyncio.wait([connecting], timeout=pace.look))[0]:
            if bot.ws is not None and bot.ws.open:
                down_since = time.monotonic()
            elif time.monotonic() - down_since > pace.stuck:
                raise ConnectionStuckError("the connection has been down for too long")
            if bot.identify_limit.wait():
                raise ConnectionStuckError("sessions keep ending")
        await connecting
    except asyncio.CancelledError:
        await bot.wind_down()  # while events still arrive
        raise
    finally:
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)


async def _wait_for_sessions(bot: Marginalia) -> None:
    """Wait, so that a crash loop, ours or a supervisor's, does not use up the day's session starts."""
    if bot.taken_over is not None:  # to resume costs no session start
        return
    if wait := bot.identify_limit.wait():
        logger.error("sessions at the gateway keep ending; the next one is in %.0f s", wait)
        await asyncio.sleep(wait)
    try:
        _, _, limit = await bot.http.get_bot_gateway()
    except CONNECTION_ERRORS:  # the connection itself will show what is wrong
        await bot.wait_to_identify()
        return
    if limit["remaining"] <= RESERVED_SESSIONS:
        seconds = limit["reset_after"] / 1000
        logger.error("%d session starts are left today; waiting %.0f s for new ones", limit["remaining"], seconds)
        await asyncio.sleep(seconds)
    await bot.wait_to_identify(int(limit["max_concurrency"]), int(limit["total"]))


async def _wait_after(error: BaseException, waits: Waits) -> None:
    cause = error.__context__ if isinstance(error, AttributeError) and error.__context__ else error
    wait = waits.next()
    expected = isinstance(cause, (*CONNECTION_ERRORS, ConnectionStuckError, MarginaliaError))
    what = f"{type(cause).__name__}: {cause}"
    logger.warning("no connection to Discord (%s); again in %.1f s", what, wait, exc_info=None if expected else cause)
    await asyncio.sleep(wait)


def _raise_if_refused(error: BaseException) -> None:
    """Raise a SettingsError if the log-in was refused, by Discord or by a server in its place: it would be again."""
    if isinstance(error, discord.HTTPException) and error.status < 500 and error.status != 429:
        raise SettingsError(f"Discord refused the log-in ({error}). Please check DISCORD_API_URL.") from error


def _final(closed: discord.ConnectionClosed) -> SettingsError:
    if closed.code == AUTHENTICATION_FAILED:
        return SettingsError(TOKEN_REFUSED)
    return SettingsError(
        f"Discord closed the connection for good (code {closed.code}). A bot in more than 2,500 servers needs shards: "
        "use PostgreSQL, as docs/scaling.md says."
    )


def _say_mentions_only() -> None:
    logger.warning(
        "The Message Content intent is off: only mentions and replies are answered. To answer every message in a "
        "thread, switch it on: %s → Privileged Gateway Intents → Message Content Intent.",
        PORTAL,
    )

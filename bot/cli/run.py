"""marginalia run: the Discord bot."""

import asyncio
import gc
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.app import open_app, open_toolbox
from bot.cli.running import console, run_async
from bot.cli.terminal import signal_handler
from bot.health import HealthFile
from bot.logs import set_up_logs
from bot.prices import cost_in_microdollars
from bot.private import forget_secrets, make_private
from bot.providers.base import WireChat
from bot.settings import Settings, load_settings
from domain.citations.page_numbers import without_typed_pages
from domain.errors import LLMError, SettingsError
from domain.ports import ChatProvider
from domain.tool_use import TokenUsage

COLLECTIONS = (2_000, 3, 7_000)
"""What the garbage collector waits for. The second figure bounds a look at what is not quite new to a few milliseconds;
with 10 it takes 20 when 200 answers are under way. The last makes it look at everything once in some ten thousand
answers: with 200 under way such a look takes 0.07 s, and `collect_when_idle` mostly comes first."""

IDLE_LOOK_S = 120.0


async def warm_up(provider: ChatProvider) -> None:
    """Load the model's SDK and its prices, and spare the garbage collector what has come to stay.

    A full collection stops the event loop for as long as it takes to look at every object there is: a tenth of a second
    with an SDK in memory, most of it for objects that will never go.
    """
    if isinstance(provider, WireChat):
        with suppress(LLMError):  # the first request will tell
            await provider.warm_up()
    await asyncio.to_thread(without_typed_pages, "on page 1")  # makes its patterns
    await asyncio.to_thread(cost_in_microdollars, provider.name, provider.model_name, TokenUsage())
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


async def collect_when_idle(is_busy: Callable[[], bool], *, look_s: float = IDLE_LOOK_S) -> None:
    """Look at all objects every `look_s` seconds, until cancelled, unless somebody would have to wait for it."""
    while True:
        await asyncio.sleep(look_s)
        if not is_busy():
            gc.collect()


if TYPE_CHECKING:
    from bot.metrics import Metrics

FAREWELL_S = 8.0
"""Docker kills ten seconds after it has asked; what is left is for closing the database."""

LAST_MOMENT_S = 9.5
"""After that the process leaves as if it were killed, which loses nothing: a disk that hangs must not keep it."""


def run() -> None:
    """Run the Discord bot until it is stopped (Ctrl-C, SIGTERM)."""
    run_async(_run)


async def _run() -> None:
    from bot.client.client import Marginalia, point_discord_at  # discord.py takes a while to load
    from bot.client.connection import stay_online
    from bot.client.shards import serve_shards

    settings = load_settings()
    if not settings.discord_token:
        raise SettingsError(
            "DISCORD_TOKEN is not set. Make a bot at https://discord.com/developers/applications (Bot → Reset Token), "
            "and put its token into .env. Without one: marginalia chat, or marginalia preview."
        )
    if settings.shard_count > 1 and not settings.storage_url.startswith("postgres"):
        raise SettingsError("SHARD_COUNT needs PostgreSQL: set DATABASE_URL, as docs/scaling.md says.")
    set_up_logs(settings.log_level, settings.log_format, settings.secrets)
    make_private(settings.data_dir)
    point_discord_at(settings)
    async with (
        _metrics(settings) as metrics,
        open_toolbox(settings) as tools,
        open_app(settings, None, tools, tools.missing) as app,
    ):
        forget_secrets()
        await app.storage.claim()
        await warm_up(app.provider)
        make_bot = partial(
            Marginalia,
            app,
            announce=lambda line: console.print(line, markup=False),
            http_trace=metrics.trace() if metrics else None,
        )
        health = HealthFile(settings.data_dir)
        in_background = [asyncio.create_task(collect_when_idle(lambda: app.chat.is_busy), name="garbage collection")]
        if app.storage.leases is None:
            in_background.append(asyncio.create_task(app.housekeeping.keep_house(), name="housekeeping"))
            if metrics:
                metrics.watch_shards(lambda: 1)
            online = stay_online(partial(make_bot, health=health), settings.discord_token)
        else:
            online = serve_shards(app, make_bot, settings.discord_token, health, metrics)
        try:
            await until_stopped(online, on_stop=_leave_at_last)
        finally:
            for task in in_background:
                task.cancel()
            await asyncio.gather(*in_background, return_exceptions=True)


@asynccontextmanager
async def _metrics(settings: Settings) -> AsyncIterator["Metrics | None"]:
    """Serve figures, if METRICS_PORT is set."""
    if not settings.metrics_port:
        yield None
        return
    try:
        from bot.metrics import serving_metrics
    except ImportError as error:
        raise SettingsError(
            "METRICS_PORT needs a library that is not installed: pip install 'marginalia[metrics]'."
        ) from error
    async with serving_metrics(settings.metrics_host, settings.metrics_port) as metrics:
        yield metrics


def _leave_at_last() -> None:
    last = threading.Timer(LAST_MOMENT_S, os._exit, [1])
    last.daemon = True
    last.start()


async def until_stopped(
    work: Coroutine[Any, Any, None], farewell_s: float = FAREWELL_S, on_stop: Callable[[], None] = lambda: None
) -> None:
    """Do the work until it ends, or until the process is asked to stop; then it has `farewell_s` to come to rest.

    `on_stop` is called once when it is asked to.
    """
    asked_to_stop = asyncio.Event()

    def stop() -> None:
        if not asked_to_stop.is_set():
            asked_to_stop.set()
            on_stop()

    working, stopping = asyncio.create_task(work), asyncio.create_task(asked_to_stop.wait())
    try:
        with signal_handler(stop, signal.SIGTERM, signal.SIGINT):
            await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        working.cancel()
        await asyncio.wait([working], timeout=farewell_s)
    if working.done() and not working.cancelled():
        working.result()

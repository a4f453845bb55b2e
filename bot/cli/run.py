"""The commands that run until stopped: run (the bot on Discord), preview (in a browser), mcp (for other programs)."""

import asyncio
import gc
import importlib.util
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.app import QUOTES_ONLY, App, answerer_name, cost_in_microdollars, open_app, open_toolbox
from bot.cli.console import TERMINAL_READER
from bot.cli.terminal import (
    console,
    errors,
    fail,
    load_answerer,
    opened,
    run_async,
    signal_handler,
    standard_input,
)
from bot.logs import HealthFile, set_up_logs
from bot.mcp.tools import uncollected
from bot.private import forget_secrets, make_private
from bot.providers.base import WireChat
from bot.settings import FILE, Settings, is_own_folder, load_settings
from domain.citations.symbols import compile_patterns
from domain.errors import LLMError, SettingsError, shortened
from domain.library.addressing import page_in
from domain.ports import ChatProvider
from domain.tool_use import TokenUsage

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server  # the SDK takes half a second to load

    from bot.metrics import Metrics

COLLECTIONS = (4_000, 0, 9_000)
"""Thresholds of the garbage collector.

With 0, every second collection includes the middle generation: fewer objects are visited twice than with a larger
number. Such a collection has 8,000 objects and takes a few milliseconds; with 20,000 it takes 20 ms while 200 answers
are being made. The third threshold makes full collections, which take 0.07 s with 200 answers, as rare as once in
some ten thousand answers; `collect_when_idle` mostly comes first.
"""

IDLE_LOOK_S = 120.0

FAREWELL_S = 8.0
"""Docker kills after ten seconds; the rest is for closing the database."""
LAST_MOMENT_S = 9.5
"""After that the process exits as if it were killed, which loses nothing: a hanging disk must not keep it."""
QUESTIONS = (
    "Who is Tom Liddiard?",
    "Who says “You can cross at five to”?",
)
"""Questions asked at the start, so that there is something to look at."""
NOT_INSTALLED = (
    "The preview needs the extra simcord[preview]. `make preview` installs it; by hand, in the project's folder: "
    "pip install '.[preview]'"
)
ABOUT = (
    "It is Marginalia itself in a simulated Discord, in a thread on the sample novel. Write there, press its buttons, "
    "type / for its commands; “Viewing as” makes you the other reader. The channel has a page of its own, where "
    "/club start begins a club; each thread that opens gets one too, and its address appears here. "
    "Answers come from {answerer}. All of it is in a temporary folder and gone when you stop it with Ctrl-C."
)
DEFAULT_PORT = 8765
LOOPBACK = "127.0.0.1"


async def warm_up(provider: ChatProvider) -> None:
    """Load the model's SDK, its prices and the built-in answerer, and exempt everything loaded so far from garbage
    collection.

    A full collection stops the event loop while it visits every object: a tenth of a second with an SDK in memory,
    most of it for objects that are never freed.
    """
    if isinstance(provider, WireChat):
        with suppress(LLMError):  # the first request will report it
            await provider.warm_up()
    await compile_patterns()
    await asyncio.to_thread(load_answerer)
    await asyncio.to_thread(cost_in_microdollars, provider.name, provider.model_name, TokenUsage())
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


async def collect_when_idle(is_busy: Callable[[], bool], *, look_s: float = IDLE_LOOK_S) -> None:
    """Collect all garbage every `look_s` seconds, until cancelled, unless somebody would have to wait for it."""
    while True:
        await asyncio.sleep(look_s)
        if not is_busy():
            gc.collect()


def run() -> None:
    """Run the Discord bot until it is stopped (Ctrl-C, SIGTERM)."""
    run_async(_run)


async def _run() -> None:
    from bot.client.client import Marginalia  # discord.py takes a while to load
    from bot.client.connection import point_discord_at, stay_online
    from bot.client.shards import serve_shards

    settings = load_settings()
    if not settings.discord_token:
        raise SettingsError(
            "DISCORD_TOKEN is not set. Make a bot at https://discord.com/developers/applications (Bot → Reset Token), "
            "and put its token into .env. Without one: marginalia chat, or marginalia preview."
        )
    settings.check_shards()
    set_up_logs(settings.log_level, settings.log_format, settings.secrets)
    make_private(settings.data_dir)
    point_discord_at(settings)
    async with (
        _metrics(settings) as metrics,
        open_toolbox(settings) as tools,
        open_app(settings, None, tools) as app,
    ):
        forget_secrets()
        if metrics:
            metrics.watch_book_cache(app.book_files.cache_figures)
        await app.storage.claim()
        await warm_up(app.provider)
        make_bot = partial(
            Marginalia,
            app,
            announce=lambda line: console.print(line, markup=False),
            http_trace=metrics.trace() if metrics else None,
        )
        health = HealthFile(settings.data_dir)
        in_background = [
            asyncio.create_task(collect_when_idle(lambda: app.chat.is_busy), name="garbage collection"),
            asyncio.create_task(app.book_files.keep_copies(), name="copies of books"),
        ]
        if app.storage.leases is None:
            in_background.append(asyncio.create_task(app.housekeeping.sweep_daily(), name="housekeeping"))
            bots: list[Marginalia] = []

            def make_the_only_one(*, reads_messages: bool) -> Marginalia:
                bots[:] = [make_bot(health=health, reads_messages=reads_messages)]
                return bots[0]

            if metrics:
                metrics.watch_shards(1, lambda: sum(bot.is_connected for bot in bots))
            online = stay_online(make_the_only_one, settings.discord_token)
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
    """Serve metrics, if METRICS_PORT is set."""
    if not settings.metrics_port:
        yield None
        return
    try:
        from bot.metrics import serving_metrics
    except ImportError as error:
        raise SettingsError(
            "METRICS_PORT needs a library that is not installed. In the project's folder: pip install '.[metrics]'"
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
    """Do the work until it ends, or until the process is asked to stop; then it has `farewell_s` to finish.

    `on_stop` is called once when the process is asked to stop.
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


def preview(
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The page's port; 0: any free one")] = 0,
) -> None:
    """Show the bot in your browser as it looks on Discord. It needs no token and keeps nothing."""
    if not all(map(importlib.util.find_spec, ("simcord", "PIL"))):
        raise SettingsError(NOT_INSTALLED)
    run_async(partial(_preview, port))


async def _preview(port: int) -> None:
    with TemporaryDirectory(prefix="marginalia-preview-") as folder:
        settings = preview_settings(Path(folder))
        # discord.py warns of what a simulated Discord lacks
        quiet = "ERROR" if settings.log_level == "WARNING" else settings.log_level
        set_up_logs(quiet, settings.log_format, settings.secrets)
        async with open_toolbox(settings) as tools, open_app(settings, None, tools) as app:
            forget_secrets()
            await until_stopped(_show(app, port))


def preview_settings(folder: Path) -> Settings:
    """The environment's settings for model and answers, with a temporary folder for database and books."""
    return load_settings(data_dir=folder, database_url="", books_url="", discord_guild_ids=())


def _say_where(name: str, url: str) -> None:
    console.print(f"{name}: {url}", markup=False, soft_wrap=True)


async def _show(app: App, port: int) -> None:
    from bot.preview.page import open_preview

    costs_nothing = app.provider.name == QUOTES_ONLY
    async with open_preview(app, QUESTIONS if costs_nothing else (), port, _say_where) as page:
        console.print(f"Open this in a browser:\n\n  {page.url}\n", markup=False, soft_wrap=True)
        console.print(
            ABOUT.format(answerer=answerer_name(app.provider.name, app.provider.model_name)),
            markup=False,
            soft_wrap=True,
        )
        await page.wait_closed()


def mcp(
    page: Annotated[
        str, typer.Option(help="Hide everything after this page; by default, after your own position")
    ] = "",
    positions: Annotated[
        bool, typer.Option("--positions", help="Let clients set how far their reader has read (set_position)")
    ] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP instead of standard input")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="N", help="The port for --http; 0: any free one")
    ] = DEFAULT_PORT,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address for --http; any but the default needs MCP_TOKEN")
    ] = LOOPBACK,
) -> None:
    """Offer your books to other programs over the Model Context Protocol, up to your page."""
    with uncollected():
        from bot.mcp.books import OpenBooks
        from bot.mcp.server import book_server, serve_stdio
    last = page_in(page) if page else ""
    if last is None:
        fail(f"--page takes the number or label of one page, such as 80 or xii, and not “{shortened(page)}”.")
    if not http and (port, host) != (DEFAULT_PORT, LOOPBACK):
        fail("--port and --host are for HTTP. Add --http, or leave them out.")

    # A client starts its servers in whichever project it has open, whose `.env` is not for them.
    file = FILE if http or is_own_folder() else None

    async def work() -> None:
        async with opened(file) as app:
            books = OpenBooks(
                shelf=app.shelf,
                readers=app.storage.readers,
                reader_id=TERMINAL_READER.id,
                page=last,
                tool_timeout=app.settings.tool_timeout_s,
            )
            server = book_server(books, positions=positions)
            which = await _which_shelf(app)
            if http:
                await _serve_http(app, server, host, port, which)
            else:
                errors.print(f"Serving {which} on standard input and output", markup=False, soft_wrap=True)
                await serve_stdio(server, standard_input())

    run_async(work)


async def _which_shelf(app: App) -> str:
    number = len(await app.shelf.list(None))
    books = "1 book" if number == 1 else f"{number} books"
    return f"{books} from {app.settings.data_dir.absolute()}"


async def _serve_http(app: App, server: "Server[Any]", host: str, port: int, which: str) -> None:
    from bot.mcp.server import serve_http

    def ready(url: str) -> None:
        errors.print(f"Serving {which} at {url}", markup=False, soft_wrap=True)

    try:
        await serve_http(server, host, port, app.settings.mcp_token, ready)
    except OSError as error:
        where = f"Port {port}" if host == LOOPBACK else f"Port {port} on {host}"
        reason = str(error.strerror).partition(" (while")[0]  # the address, which `create_server` adds, has been named
        fail(f"{where} cannot be used: {reason}. Choose another with --port or --host.")

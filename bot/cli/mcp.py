"""marginalia mcp: the books for other programs."""

import gc
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bot.app import App
from bot.cli.console import TERMINAL_READER
from bot.cli.running import errors, fail, opened, run_async
from domain.tools.context import page_in

if TYPE_CHECKING:  # the SDK takes half a second to load
    from mcp.server.lowlevel import Server

DEFAULT_PORT = 8765
LOOPBACK = "127.0.0.1"


def mcp(
    page: Annotated[str, typer.Option(help="Show no book beyond this page; without it, beyond your own position")] = "",
    positions: Annotated[
        bool, typer.Option("--positions", help="Let clients say how far their reader has read (set_position)")
    ] = False,
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP instead of standard input")] = False,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port for --http; 0 takes any")] = DEFAULT_PORT,
    host: Annotated[str, typer.Option(help="The address for --http; another than this needs MCP_TOKEN")] = LOOPBACK,
) -> None:
    """Serve the books to other programs by the Model Context Protocol, as far as they have been read."""
    from bot.mcp.books import OpenBooks
    from bot.mcp.server import book_server, serve_stdio

    last = page_in(page) if page else ""
    if last is None:
        fail(f"--page takes the number or label of one page, such as 80 or xii, and not {page!r}.")

    async def work() -> None:
        async with opened() as app:
            books = OpenBooks(
                shelf=app.shelf,
                readers=app.storage.readers,
                reader_id=TERMINAL_READER.id,
                page=last,
                tool_timeout=app.settings.tool_timeout_s,
            )
            server = book_server(books, positions=positions)
            which = await _which_shelf(app)
            try:
                if http:
                    await _serve_http(app, server, host, port, which)
                else:
                    errors.print(f"Serving {which} on standard input and output", markup=False, soft_wrap=True)
                    await serve_stdio(server)
            finally:
                gc.freeze()  # or Python looks through all of the SDK for garbage at its end, which takes a second

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
        fail(f"{where} cannot be used: {os.strerror(error.errno or 0)}. Choose another with --port or --host.")

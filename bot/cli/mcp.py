"""marginalia mcp: the books for other programs."""

from typing import Annotated

import typer

from bot.cli.console import TERMINAL_READER
from bot.cli.running import errors, fail, opened, run_async

DEFAULT_PORT = 8765


def mcp(
    page: Annotated[str, typer.Option(help="Show no book beyond this page; without it, beyond your own position")] = "",
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP on loopback instead of standard input")] = False,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port for --http; 0 takes any")] = DEFAULT_PORT,
) -> None:
    """Serve the books to other programs by the Model Context Protocol, as far as they have been read."""
    from bot.mcp.server import OpenBooks, book_server, serve_http, serve_stdio  # takes half a second to load

    async def work() -> None:
        async with opened() as app:
            server = book_server(
                OpenBooks(
                    shelf=app.shelf,
                    readers=app.storage.readers,
                    reader_id=TERMINAL_READER.id,
                    page=page,
                    tool_timeout=app.settings.tool_timeout_s,
                )
            )
            if not http:
                await serve_stdio(server)
                return
            try:
                await serve_http(server, port, lambda url: errors.print(f"Serving books at {url}", markup=False))
            except OSError as error:
                fail(f"Port {port} cannot be used: {error.strerror}. Choose another with --port.")

    run_async(work)

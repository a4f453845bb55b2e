"""The line to one tool server: kept up in the background, made anew when it breaks."""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self, TextIO

from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client

from bot.mcp.addresses import ServerAddress

CONNECT_S = 20.0
"""How long a server may take to start and to name its tools."""
PATIENCE_S = 5.0
"""How long a call waits for a server that is being started again."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0

_log = logging.getLogger(__name__)
_Streams = tuple[Any, Any]


class ServerUnavailableError(Exception):
    """The server cannot be reached now; the sentence is for the model."""


class ServerLink:
    """A connection that is tried until it stands, and tried again when it is lost.

    The SDK wants a connection opened and closed by one task, so that task lives here as long as the link.
    """

    def __init__(self, address: ServerAddress, *, timeout: float) -> None:
        """`timeout` is in seconds, for each call."""
        self.address = address
        self.tools: tuple[types.Tool, ...] = ()
        self.problem = "it has not been tried yet"
        """Why there is no connection; empty while there is one."""
        self._timeout = timeout
        self._client: Client | None = None
        self._tried, self._up, self._lost, self._wanted = (asyncio.Event() for _ in range(4))
        self._keeper: asyncio.Task[None] | None = None
        self._closing = False

    async def open(self) -> None:
        """Start, and wait for the first attempt to succeed or fail."""
        self._keeper = asyncio.create_task(self._keep())
        await self._tried.wait()

    async def close(self) -> None:
        """Hang up. The SDK turns a cancellation that comes while it connects into an error, so a word is left too."""
        self._closing = True
        self._wanted.set()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait({self._keeper})

    async def call(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Call a tool of the server.

        Raises:
            ServerUnavailableError: there is no connection, or it broke during the call.
            TimeoutError: the call took too long.
            MCPError: the server refused the call.
        """
        try:
            return await self._call_once(tool, arguments)
        except _SessionForgottenError:  # the server was restarted and has not carried out anything
            try:
                return await self._call_once(tool, arguments)
            except _SessionForgottenError:
                raise ServerUnavailableError("it does not keep its sessions") from None

    async def _call_once(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        client = await self._connected()
        try:
            return await client.call_tool(tool, arguments, read_timeout_seconds=self._timeout)
        except MCPError as error:
            if error.code == types.REQUEST_TIMEOUT:
                raise TimeoutError(f"after {self._timeout:g} s") from error
            if error.code == types.INVALID_REQUEST and self.address.url:
                self._give_up(client)
                raise _SessionForgottenError from error
            if error.code != types.CONNECTION_CLOSED:
                raise
            self._give_up(client)
            raise ServerUnavailableError("the line broke during the call") from error

    async def _connected(self) -> Client:
        if not self._up.is_set():
            self._wanted.set()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._up.wait()
            except TimeoutError:
                raise ServerUnavailableError(self.problem) from None
        assert self._client is not None
        return self._client

    def _give_up(self, client: Client) -> None:
        if self._client is client:
            self._hang_up("the line broke")

    def _hang_up(self, problem: str) -> None:
        self.problem = problem
        self._up.clear()
        self._lost.set()

    async def _keep(self) -> None:
        pause = FIRST_PAUSE_S
        while not self._closing:
            self._wanted.clear()
            began = time.monotonic()
            try:
                await self._stay_connected()
            except Exception as error:  # noqa: BLE001 - whatever a server does wrong, it is tried again
                self.problem = _words(error)
            _log.warning("tool server %s: %s", self.address.name, self.problem)
            self._tried.set()
            pause = FIRST_PAUSE_S if time.monotonic() - began > LONGEST_PAUSE_S else min(pause * 2, LONGEST_PAUSE_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wanted.wait()

    async def _stay_connected(self) -> None:
        """Connect, and return when the connection is lost."""
        self._lost.clear()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_S):
                client = await stack.enter_async_context(Client(self._transport()))
                self.tools = await _all_tools(client)
            if not self._lost.is_set():
                self._client = client
                self.problem = ""
                self._up.set()
                self._tried.set()
            await self._lost.wait()

    def _transport(self) -> AbstractAsyncContextManager[_Streams]:
        if self.address.url:
            return streamable_http_client(self.address.url)
        return _started(self.address, lambda: self._hang_up("the program ended"))


class _SessionForgottenError(Exception):
    """The server does not know our session (any more)."""


async def _all_tools(client: Client) -> tuple[types.Tool, ...]:
    tools: list[types.Tool] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="bypass")
        tools += page.tools
        cursor = page.next_cursor
        if not cursor:
            return tuple(tools)


@asynccontextmanager
async def _started(address: ServerAddress, ended: Callable[[], None]) -> AsyncIterator[_Streams]:
    """The server's program, running; `ended` is told when it stops talking."""
    command, *args = address.command
    program = StdioServerParameters(command=command, args=args, env=dict(address.environment))
    async with _logged_stderr(address.name) as errlog, stdio_client(program, errlog) as (incoming, outgoing):
        yield _Watched(incoming, ended), outgoing


class _Watched:
    """A stream of incoming messages that tells when its reader has come to the end of it."""

    def __init__(self, stream: Any, ended: Callable[[], None]) -> None:
        self._stream = stream
        self._ended = ended

    async def receive(self) -> Any:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._stream.__anext__()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._ended()
        return await self._stream.__aexit__(kind, error, trace)  # type: ignore[no-any-return]


@asynccontextmanager
async def _logged_stderr(name: str) -> AsyncIterator[TextIO]:
    """A file to be a program's standard error: what is written there goes to the log, not over a person's terminal."""
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb")
    )
    logging_task = asyncio.create_task(_log_all(reader, name))
    with os.fdopen(write_end, "w") as errlog:
        try:
            yield errlog
        finally:
            transport.close()
            logging_task.cancel()


async def _log_all(reader: asyncio.StreamReader, name: str) -> None:
    while chunk := await reader.read(4096):
        for line in chunk.decode(errors="replace").splitlines():
            _log.info("tool server %s says: %s", name, line)


def _words(error: BaseException) -> str:
    """What happened, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__

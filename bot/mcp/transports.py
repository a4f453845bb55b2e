"""The transports to a tool server: a child process, or a URL with headers or OAuth."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self, TextIO

import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.shared.message import SessionMessage

from bot.mcp.addresses import ServerAddress

SESSION_LOST: ContextVar[list[int] | None] = ContextVar("SESSION_LOST", default=None)
"""Receives an entry when a request of the task that set it is answered with 404: the server does not know the session.

The SDK turns this into the same error that a server may report for a call.
"""

_CONNECT_S, _READ_S = 30.0, 300.0

_log = logging.getLogger(__name__)
Streams = tuple[Any, Any]


def streams_to(address: ServerAddress) -> AbstractAsyncContextManager[Streams]:
    """The incoming and outgoing message streams, open during the block."""
    if not address.url:
        return _program(address)
    return _legacy_sse(address) if address.legacy_sse else _streamable_http(address)


@asynccontextmanager
async def _program(address: ServerAddress) -> AsyncIterator[Streams]:
    command, *args = address.command
    program = StdioServerParameters(command=command, args=args, env=dict(address.environment))
    async with _logged_stderr(address.name) as errlog, stdio_client(program, errlog) as streams:
        yield streams


@asynccontextmanager
async def _streamable_http(address: ServerAddress) -> AsyncIterator[Streams]:
    async with (
        httpx2.AsyncClient(
            headers=dict(address.headers),
            auth=_auth(address),
            timeout=httpx2.Timeout(_CONNECT_S, read=_READ_S),
            event_hooks={"response": [_note_lost_session]},
        ) as http,
        streamable_http_client(address.url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _legacy_sse(address: ServerAddress) -> AsyncIterator[Streams]:
    headers = dict(address.headers)
    async with sse_client(
        address.url, headers, timeout=_CONNECT_S, sse_read_timeout=_READ_S, auth=_auth(address)
    ) as streams:
        yield streams


def _auth(address: ServerAddress) -> httpx2.Auth | None:
    if address.oauth is None:
        return None
    given = address.oauth
    return _ScopedCredentials(
        server_url=address.url,
        storage=_Memory(),
        client_id=given.client_id,
        client_secret=given.client_secret,
        scope=given.scope or None,
        issuer=given.issuer,
    )


class _ScopedCredentials(ClientCredentialsOAuthProvider):
    """A provider that requests the configured scope: the library drops it if the server announces no scopes."""

    async def _exchange_token_client_credentials(self) -> httpx2.Request:
        self.context.client_metadata.scope = self.context.client_metadata.scope or self._fixed_client_info.scope
        return await super()._exchange_token_client_credentials()


class _Memory:
    """Keeps tokens as long as the connection exists; a new one can be had at any time."""

    def __init__(self) -> None:
        self._tokens: OAuthToken | None = None
        self._client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info


async def _note_lost_session(response: httpx2.Response) -> None:
    lost = SESSION_LOST.get()
    if lost is not None and response.status_code == 404 and "mcp-session-id" in response.request.headers:
        lost.append(response.status_code)


@asynccontextmanager
async def _logged_stderr(name: str) -> AsyncIterator[TextIO]:
    """A file for a child process's standard error, which goes to the log rather than to a person's terminal."""
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


Item = SessionMessage | Exception


class Incoming:
    """Passes on each item as `look` returns it; `ended` is called at the end of the stream."""

    def __init__(
        self, stream: Any, look: Callable[[Item], Awaitable[Item]], ended: Callable[[], None] = lambda: None
    ) -> None:
        self._stream = stream
        self._look = look
        self._ended = ended

    @property
    def last_context(self) -> Any:
        """What the SDK's own streams know about the sender of the last item."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Item:
        return await self._look(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        return await self._look(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._ended()
        return await self._stream.__aexit__(kind, error, trace)  # type: ignore[no-any-return]

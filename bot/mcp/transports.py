"""The transports to a tool server: a child process, or a URL with headers or OAuth."""

import codecs
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

import anyio
import httpx2
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp import types
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.shared.message import SessionMessage

from bot.mcp.addresses import GRACE_S, LONGEST_LINE, ServerAddress, ServerProgram, oversized, parts_of
from domain.tools.registry import to_json

REFUSALS: ContextVar[list[httpx2.Response] | None] = ContextVar("REFUSALS", default=None)
"""Contains the last response to a message of the task that set it, if that is a refusal.

The SDK passes on neither its status, nor that it has no session any more: both become errors that a server may report.
"""

_CONNECT_S, _READ_S = 30.0, 300.0
_NO_ANSWER = "The server's answer has no result."

_log = logging.getLogger(__name__)
Streams = tuple[Any, Any]
Item = SessionMessage | Exception


def streams_to(
    address: ServerAddress, program: Awaitable[ServerProgram] | None = None
) -> AbstractAsyncContextManager[Streams]:
    """The incoming and outgoing message streams, open during the block. `program` is one that was started before."""
    if not address.url:
        return _program(program or ServerProgram.start(address))
    return _legacy_sse(address) if address.legacy_sse else _streamable_http(address)


@asynccontextmanager
async def _program(starting: Awaitable[ServerProgram]) -> AsyncIterator[Streams]:
    """The streams of a program. With the SDK's own it starts later, and may take four seconds to end."""
    program = await starting
    received, incoming = anyio.create_memory_object_stream[Item](0)
    outgoing, sent = anyio.create_memory_object_stream[SessionMessage](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, program, received)
        tasks.start_soon(_send, program, sent, received)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await program.stop()
            tasks.cancel_scope.cancel()


async def _receive(program: ServerProgram, received: ObjectSendStream[Item]) -> None:
    """Pass on the messages of a program, each of which is a line."""
    async with received:
        try:
            async for line in _lines(program):
                if message := line.removeprefix(codecs.BOM_UTF8).strip():
                    await received.send(_message_in(message, program))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # nobody listens any more


async def _lines(program: ServerProgram) -> AsyncIterator[bytes]:
    """The lines that a program writes.

    Raises:
        ValueError: one is too long, or of too many parts.
    """
    while True:
        try:
            line = await program.stdout.readline()
        except ValueError:
            raise ValueError(oversized(LONGEST_LINE + 1, 0)) from None
        if not line:
            return
        if fault := oversized(len(line), parts_of(line)):
            raise ValueError(fault)
        yield line


def _message_in(line: bytes, program: ServerProgram) -> Item:
    try:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            message = types.jsonrpc_message_adapter.validate_json(_mended(line), by_name=False)
    except (ValueError, RecursionError) as error:
        return error
    program.has_answered = True
    return SessionMessage(message)


def _mended(line: bytes) -> bytes:
    """The message with a replacement for each half of a character, as a server sends that has cut a text in two, and
    with an error in place of a result or an error of another form: nobody would hear of it, and the call would wait.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    message = json.loads(line.decode(errors="replace"))
    is_answer = isinstance(message, dict) and message.get("id") is not None and "method" not in message
    if is_answer and not isinstance(message.get("result"), dict):
        error = message.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        reason = said if isinstance(said, str) and said else _NO_ANSWER
        message = {
            "jsonrpc": "2.0",
            "id": message["id"],
            "error": {"code": types.INTERNAL_ERROR, "message": reason},
        }
    return to_json(message).encode()


async def _send(
    program: ServerProgram, sent: ObjectReceiveStream[SessionMessage], received: ObjectSendStream[Item]
) -> None:
    """Send messages to a program until it takes no more, which ends the connection."""
    async with sent:
        try:
            async for item in sent:
                program.stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await program.stdin.drain()
        except OSError:
            await received.aclose()


@asynccontextmanager
async def _streamable_http(address: ServerAddress) -> AsyncIterator[Streams]:
    timeout = httpx2.Timeout(_CONNECT_S, read=_READ_S)
    async with (
        _http_client(dict(address.headers), timeout, _auth(address)) as http,
        streamable_http_client(address.url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _legacy_sse(address: ServerAddress) -> AsyncIterator[Streams]:
    headers = dict(address.headers)
    async with sse_client(
        address.url,
        headers,
        timeout=_CONNECT_S,
        sse_read_timeout=_READ_S,
        httpx_client_factory=_http_client,
        auth=_auth(address),
    ) as streams:
        yield streams


def _http_client(
    headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **(headers or {})},
        timeout=timeout,
        auth=auth,
        event_hooks={"request": [_shorten_last_request], "response": [_note_refusal, _limit_length]},
    )


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


async def _shorten_last_request(request: httpx2.Request) -> None:
    """Shorten the wait for the answer to the request that ends a session: the program may be about to end."""
    if request.method == "DELETE":
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), GRACE_S)


async def _limit_length(response: httpx2.Response) -> None:
    """Have reading fail once a message is longer than one can be. What is compressed might be of any length."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.ReadError("the server has compressed its answer, which it was not asked to do")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        has_events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _LimitedStream(response.stream, has_events=has_events)


class _LimitedStream(httpx2.AsyncByteStream):
    """A stream of bytes that fails where a message is too long. With events, it counts anew after each of them."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, has_events: bool) -> None:
        self._stream = stream
        self._has_events = has_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = parts = 0
        before = b""
        async for chunk in self._stream:
            seen = before + chunk  # the end of an event may be in two chunks
            end = max(seen.rfind(b"\n\n"), seen.rfind(b"\r\n\r\n"))
            if self._has_events and end >= 0:
                length, parts = len(seen) - end, parts_of(seen[end:])
            else:
                length, parts = length + len(chunk), parts + parts_of(chunk)
            before = seen[-3:]
            if fault := oversized(length, parts):
                raise httpx2.ReadError(fault)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _note_refusal(response: httpx2.Response) -> None:
    refusals = REFUSALS.get()
    if refusals is not None and response.request.method == "POST":
        refusals[:] = [response] if response.is_error else []


def is_of_unknown_session(refusal: httpx2.Response) -> bool:
    """Whether the server does not know the session (any more)."""
    return refusal.status_code == 404 and "mcp-session-id" in refusal.request.headers


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

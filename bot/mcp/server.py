"""The Model Context Protocol server: the shelf for other programs, up to the reader's position.

Its tools are the book tools of a conversation with one more argument, the book. Its resources are the books, their
chapters and their pages; its prompts are what readers ask most.
"""

import asyncio
import hmac
import json
import logging
import socket
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, get_args

import anyio
import uvicorn
from mcp import MCPError, types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import SessionMessage
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.mcp.books import TEMPLATES, OpenBooks, list_resources, read_resource
from bot.mcp.features import as_text, complete, fault_in, get_prompt, list_prompts, output_schema, tools_of
from bot.mcp.transports import Incoming
from bot.private import OwnAddress, is_loopback
from domain.book import encodable
from domain.errors import MarginaliaError, SettingsError, shortened
from domain.tool_use import ToolDefinition, ToolResult
from domain.tools.registry import as_result

INSTRUCTIONS = (
    "Books, as far as their reader has read. Answer questions about a book from its own pages: search_book first, "
    "read_pages or read_around for more, find_phrase for quotations. Name the page after what you take from it. "
    "Nothing beyond the reader's page is shown; do not fill the gap from what you know of the book."
)

LOOK_EVERY_S = 3.0
"""How soon a client hears of a book that was added, or of a position set elsewhere."""

BEAT_S = 1.0
"""How often a client that asked for progress hears of a long call."""

_MOST_PEERS = 1_000
_LEVELS: tuple[str, ...] = get_args(types.LoggingLevel)
"""From debug to emergency."""

HALF_A_CHARACTER = "half a character (a lone surrogate) stands in it"
LONGEST_MESSAGE = 65_536
"""Bytes of a request's arguments. Nobody asks a book that much, and a million of them would keep all others waiting."""

FINISH_S = 10.0
"""Seconds for answers after the client has closed its end, as a script does that has sent a list of requests."""
LOOK_S = 0.05

_Context = ServerRequestContext[Any, Any]
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Peer:
    """A client of the handshake protocols: its connection, and the lowest log level it wants."""

    session: ServerSession
    level: str = "warning"


class _Server(Server[Any]):
    """A server that declares on every transport that it reports changed resources."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        told = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(told, experimental_capabilities, extensions)


class BookServer:
    """The handlers of the server. With `positions`, clients may set how far their reader has read."""

    def __init__(self, books: OpenBooks, *, positions: bool = False) -> None:
        self._books = books
        self._positions = positions
        self._definitions = tools_of(books, positions=positions).get_definitions()
        self._peers: OrderedDict[str, _Peer] = OrderedDict()
        self._changes = InMemorySubscriptionBus()

    def build(self) -> Server[Any]:
        """An MCP server, not yet connected."""
        server = _Server(
            "marginalia",
            title="Marginalia",
            version=version("marginalia"),
            instructions=INSTRUCTIONS,
            lifespan=self._watching,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
            on_subscriptions_listen=ListenHandler(self._changes),
        )
        # Not by its own keyword, which warns that the newest protocol has it no more: most clients speak an older one.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        server.middleware += [_refuse_unreadable, _say_what_failed, self._remember_peer]
        return server

    async def _list_tools(self, ctx: _Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        _refuse_cursor(params)
        return types.ListToolsResult(tools=[_as_mcp(definition) for definition in self._definitions])

    async def _call_tool(self, ctx: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        definition = next((each for each in self._definitions if each.name == params.name), None)
        if definition is None:
            known = ", ".join(each.name for each in self._definitions)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {shortened(encodable(params.name))!r}. Known: {known}")
        arguments = params.arguments or {}
        if fault := fault_in(definition, arguments):
            return _failed(fault)
        registry = tools_of(self._seen_by(ctx), positions=self._positions)
        dispatch = registry.build_dispatcher(self._books.tool_timeout)
        began = time.perf_counter()
        async with _progress(ctx, definition.name):
            result = as_result(await dispatch(definition.name, arguments))
        await self._log_call(ctx, definition.name, result, time.perf_counter() - began)
        if result.is_error:
            return _failed(_own_words(result.content))
        text = types.TextContent(type="text", text=as_text(definition.name, result))
        return types.CallToolResult(content=[text], structured_content=json.loads(result.content))

    async def _list_resources(
        self, ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return await list_resources(self._seen_by(ctx), params.cursor if params else None)

    async def _list_templates(
        self, ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        _refuse_cursor(params)
        return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def _read_resource(self, ctx: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await read_resource(self._seen_by(ctx), str(params.uri))

    async def _list_prompts(
        self, ctx: _Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        _refuse_cursor(params)
        return list_prompts()

    async def _get_prompt(self, ctx: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await get_prompt(self._seen_by(ctx), params.name, params.arguments or {})

    async def _complete(self, ctx: _Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        return await complete(self._seen_by(ctx), params)

    async def _set_level(self, ctx: _Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        if peer := self._peers.get(_session_id(ctx)):
            peer.level = params.level
        return types.EmptyResult()

    async def _remember_peer(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Keep the connection of a client of the handshake protocols, to report changes; only the newest ones are
        kept.
        """
        key = _session_id(ctx)
        if key in self._peers:
            self._peers[key].session = ctx.session
        else:
            self._peers[key] = _Peer(ctx.session)
            if len(self._peers) > _MOST_PEERS:
                self._peers.popitem(last=False)
        self._peers.move_to_end(key)
        return await call_next(ctx)

    def _seen_by(self, ctx: _Context) -> OpenBooks:
        about = ctx.session.client_params
        return self._books.seen_by(about.client_info.name if about else "")

    async def _log_call(self, ctx: _Context, tool: str, result: ToolResult, seconds: float) -> None:
        """Report the result of a call to the client's log, if it wants that; never the text of a book."""
        level: types.LoggingLevel = "warning" if result.is_error else "info"
        wanted = self._wanted_level(ctx)
        if wanted not in _LEVELS or _LEVELS.index(level) < _LEVELS.index(wanted):
            return
        came_of_it = "failed" if result.is_error else result.summary or "done"
        data = f"{tool}: {came_of_it}, {seconds * 1000:.0f} ms"
        params = types.LoggingMessageNotificationParams(level=level, logger="marginalia", data=data)
        await ctx.session.send_notification(types.LoggingMessageNotification(params=params), ctx.request_id)

    def _wanted_level(self, ctx: _Context) -> str:
        """The lowest log level that the client wants; blank if it wants none."""
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:  # they ask for it with each request
            return str((ctx.meta or {}).get(types.LOG_LEVEL_META_KEY, ""))
        peer = self._peers.get(_session_id(ctx))
        return peer.level if peer else ""

    @asynccontextmanager
    async def _watching(self, server: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        watch = asyncio.create_task(self._watch())
        try:
            yield {}
        finally:
            watch.cancel()
            await asyncio.wait({watch})

    async def _watch(self) -> None:
        """Report added and removed books, and changed positions, to clients."""
        before: dict[str, object] = {}
        while True:
            try:
                now = await self._state()
            except MarginaliaError as error:
                _log.warning("the shelf cannot be looked at: %s", error.message)
            else:
                if any(before[name] != now[name] for name in before.keys() & now.keys()):
                    await self._tell_of_change()
                before = now
            await asyncio.sleep(LOOK_EVERY_S)

    async def _state(self) -> dict[str, object]:
        """What the resources depend on, for each client."""
        sessions = [peer.session.client_params for peer in self._peers.values()]
        names = ["", *(about.client_info.name for about in sessions if about)]
        return {name: await self._books.seen_by(name).state() for name in dict.fromkeys(names)}

    async def _tell_of_change(self) -> None:
        await self._changes.publish(ResourcesListChanged())
        for key, peer in list(self._peers.items()):
            try:
                await peer.session.send_resource_list_changed()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._peers.pop(key, None)


def book_server(books: OpenBooks, *, positions: bool = False) -> Server[Any]:
    """An MCP server, not yet connected."""
    return BookServer(books, positions=positions).build()


def _as_mcp(definition: ToolDefinition) -> types.Tool:
    reads = definition.name != "set_position"
    return types.Tool(
        name=definition.name,
        description=definition.description,
        input_schema=definition.parameters,
        output_schema=output_schema(definition.name),
        annotations=types.ToolAnnotations(
            read_only_hint=reads, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _failed(sentence: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=encodable(sentence))], is_error=True)


def _own_words(failure: str) -> str:
    """The sentence of a failure of the form `{"error": sentence}`."""
    try:
        return str(json.loads(failure)["error"])
    except (ValueError, KeyError, TypeError):
        return failure


def _refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "This cursor is not valid: the list has one page.")


def _session_id(ctx: _Context) -> str:
    """The id of a session over HTTP; blank on standard input and output, which form one session."""
    return str(ctx.request.headers.get("mcp-session-id", "")) if ctx.request is not None else ""


@asynccontextmanager
async def _progress(ctx: _Context, tool: str) -> AsyncIterator[None]:
    """Report progress, in seconds, to a client that has asked for it."""

    async def beat() -> None:
        began = time.monotonic()
        while True:
            await ctx.session.report_progress(round(time.monotonic() - began, 1), message=f"{tool} is at work")
            await asyncio.sleep(BEAT_S)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.wait({beating})


class _Unanswered:
    """Keeps the connection open until all requests are answered: the SDK drops them when the client closes its end."""

    def __init__(self) -> None:
        self._at_work = 0

    async def note(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Handle a request; those that listen for changes never end."""
        has_an_end = ctx.request_id is not None and ctx.method != "subscriptions/listen"
        self._at_work += has_an_end
        try:
            return await call_next(ctx)
        finally:
            self._at_work -= has_an_end

    async def follow(self, lines: AsyncIterator[str]) -> AsyncGenerator[str, None]:
        """The lines that are not blank. They end when the last request is answered and its answer is written."""
        async for line in lines:
            if line.strip():
                yield line
        for _ in range(round(FINISH_S / LOOK_S)):
            await asyncio.sleep(LOOK_S)
            if not self._at_work:
                break
        await asyncio.sleep(LOOK_S)


async def serve_stdio(server: Server[Any], lines: AsyncIterator[str]) -> None:
    """Serve the program at the other end of standard output, which sends `lines`, until it hangs up.

    The SDK would read standard input itself, but nothing can end its wait for a line.
    """
    unanswered = _Unanswered()
    server.middleware.append(unanswered.note)
    asked = unanswered.follow(lines)
    try:
        async with stdio_server(asked) as (incoming, outgoing):  # type: ignore[arg-type] # it only iterates over them

            async def answer_unreadable(item: SessionMessage | Exception) -> SessionMessage | Exception:
                if isinstance(item, ValidationError):
                    await outgoing.send(_parse_error(item))
                return item

            await server.run(Incoming(incoming, answer_unreadable), outgoing, server.create_initialization_options())
    except* BrokenPipeError:
        _log.info("the client no longer reads standard output")


async def _refuse_unreadable(ctx: _Context, call_next: CallNext) -> HandlerResult:
    """Refuse a request that is too long, or with a lone surrogate in it: transports of older protocols do not even read
    the latter.
    """
    if fault := _fault_in_message(ctx.params):
        raise MCPError(types.INVALID_PARAMS, f"This message cannot be read: {fault}.")
    return await call_next(ctx)


async def _say_what_failed(ctx: _Context, call_next: CallNext) -> HandlerResult:
    """Put the sentence of a failure, such as a database that does not answer, in place of "Internal server error"."""
    try:
        return await call_next(ctx)
    except MarginaliaError as error:
        raise MCPError(types.INTERNAL_ERROR, error.message) from error


def _fault_in_message(message: object) -> str:
    """Why a message is not taken; blank if it is."""
    try:
        length = len(json.dumps(message, ensure_ascii=False, default=str).encode())
    except UnicodeEncodeError:
        return HALF_A_CHARACTER
    except RecursionError:
        return "it is nested too deeply"
    return f"it is longer than {LONGEST_MESSAGE:,} bytes" if length > LONGEST_MESSAGE else ""


def _parse_error(error: ValidationError) -> SessionMessage:
    """The response to a line that is no valid message, with the line's id if there is one."""
    inputs = [each["input"] for each in error.errors(include_url=False)]
    line = next((each for each in inputs if isinstance(each, dict) and "id" in each), inputs[0])
    try:
        message = json.loads(line) if isinstance(line, str) else line
    except (ValueError, RecursionError):
        message = None
    name = message.get("id") if isinstance(message, dict) else None
    known = name if isinstance(name, str | int) and not isinstance(name, bool) else None
    why = _fault_in_message(message) or "it is not valid JSON-RPC"
    code = types.PARSE_ERROR if message is None else types.INVALID_REQUEST
    reply = types.ErrorData(code=code, message=f"This message cannot be read: {why}.")
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=known, error=reply))


PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class AccessCheck:
    """Which requests the server accepts: those to its own address and port, with the token if one is set."""

    host: str
    port: int
    token: str = ""

    def refusal(self, headers: Headers) -> Response | None:
        """The response to a request that is refused; None for one that is accepted."""
        address = OwnAddress(self.host, self.port)
        if (refused := address.refusal(headers.getlist("host"), headers.getlist("origin"))) is not None:
            return PlainTextResponse(refused.reason, refused.status)
        if self.token and not self._has_token(headers):
            challenge = {"WWW-Authenticate": 'Bearer realm="marginalia"'}
            return PlainTextResponse("This server needs its token: Authorization: Bearer …", 401, challenge)
        return None

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self.token.encode())


@dataclass(frozen=True, slots=True)
class GatedApp:
    """An ASGI application behind the access check."""

    app: ASGIApp
    gate: AccessCheck

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self.gate.refusal(Headers(scope=scope))):
            await refusal(scope, receive, send)
            return
        await self.app(scope, receive, send)


async def serve_http(server: Server[Any], host: str, port: int, token: str, ready: Callable[[str], None]) -> None:
    """Serve streamable HTTP until the program is stopped; `ready` receives the address.

    Raises:
        SettingsError: the address is not loopback, and there is no token.
        OSError: the address or the port cannot be used.
    """
    if not token and not is_loopback(host):
        raise SettingsError(
            f"On {host} anybody in the network could read your books. Set MCP_TOKEN to a long secret, which clients "
            "then send as “Authorization: Bearer …”, or leave --host out."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    bound = listener.getsockname()[1]
    # AccessCheck compares Host and Origin exactly; the SDK's own check would accept any port and user part.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = GatedApp(server.streamable_http_app(transport_security=unchecked), AccessCheck(host, bound, token))
    # Clients keep their streams open forever, so there is no point in waiting for them at the end.
    config = uvicorn.Config(app, log_level="critical", ws="none", timeout_graceful_shutdown=0)
    ready(f"http://{f'[{host}]' if ':' in host else host}:{bound}{PATH}")
    await uvicorn.Server(config).serve(sockets=[listener])
    await asyncio.sleep(
        0
    )  # it re-raises the signal that stopped it: handle that here, not while the books are being closed

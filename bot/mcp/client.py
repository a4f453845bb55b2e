"""The connection to one tool server: it is kept open in the background, and reopened when it breaks."""

import asyncio
import contextlib
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from mcp import Client, MCPError, types
from mcp.client.auth import OAuthTokenError
from mcp.client.session import IncomingMessage
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from bot.mcp.addresses import MOST_TOOLS, STARTING, ReportedError, ServerAddress, ServerProgram, ServerUnavailableError
from bot.mcp.transports import REFUSALS, Incoming, Item, Streams, is_of_unknown_session, streams_to
from bot.private import without_secrets

_log = logging.getLogger(__name__)

LONGEST_DESCRIPTION = 8_000
"""Characters; longer ones are cut."""

LONGEST_SCHEMA = 20_000
"""Characters as JSON: some 5,000 tokens in every request."""

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_COMBINERS = ("oneOf", "anyOf", "allOf")

CONNECT_S = 60.0
"""How long a server may take to start and list its tools; one that is downloaded first needs it."""
PATIENCE_S = 5.0
"""How long a call waits for a server that is being restarted."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0
RELIST_PAUSE_S = 0.5
"""The shortest interval between two listings of a server's tools, however often it reports changes."""
MOST_HANGS = 2
"""Consecutive calls without an answer after which a server is restarted."""
_MOST_PAGES = 100
_SDK_DETAILS = ": 1 validation error for"
"""What follows is for programmers, in the SDK's sentence on an answer that it cannot read."""
_FORGOTTEN = "it has forgotten the session"
_SETTLING_LOOKS = 20
_HANG_UP_S = 2.0
_CLOSING_S = 0.25
"""How long it may take to notice the end of a stream after the call that met it has failed."""


def read_list(entries: Iterable[Any], left_out: dict[str, str]) -> list[Any]:
    """The valid entries of a tools/list; invalid ones are named in `left_out` instead.

    The SDK rejects a whole list if one of its entries is invalid.
    """
    good = []
    for number, entry in enumerate(entries, 1):
        name = entry.get("name") if isinstance(entry, dict) else None
        try:
            tool = types.Tool.model_validate(_mended(entry), by_name=False)
            listed = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
            validate_server_result("tools/list", LATEST_HANDSHAKE_VERSION, {"tools": [listed]})
        except ValidationError as error:
            left_out[name if isinstance(name, str) and name else f"number {number}"] = _fault(error, "the entry")
        else:
            good.append(listed)
    return good


def _fault(error: ValidationError, whole: str) -> str:
    """What is not valid, and where; `whole` is what to call all of it."""
    fault = error.errors()[0]
    return f"{'.'.join(map(str, fault['loc'])) or whole}: {fault['msg']}"


def _mended(entry: Any) -> Any:
    """An entry without invalid fields that are not needed for calling the tool."""
    if not isinstance(entry, dict):
        return entry
    schema = entry.get("inputSchema")
    mended = dict(entry)
    if isinstance(schema, dict) and "type" not in schema:
        mended["inputSchema"] = {"type": "object", **schema}
    for name in ("annotations", "_meta"):
        if not isinstance(entry.get(name), dict):
            mended.pop(name, None)
    # Not used here; and the SDK would check results against the output schema, which some keep busy forever.
    for name in ("outputSchema", "icons", "execution"):
        mended.pop(name, None)
    return mended


def usable(tools: Sequence[types.Tool], wanted: Sequence[str], left_out: dict[str, str]) -> tuple[types.Tool, ...]:
    """The tools that a model can be given, among those `wanted` (none: all); `left_out` receives the
    others, and why.
    """
    for name in wanted:
        if name not in {tool.name for tool in tools} and name not in left_out:
            left_out[name] = "the server has no such tool"
    kept: dict[str, types.Tool] = {}
    for tool in tools:
        if wanted and tool.name not in wanted:
            continue
        if tool.name in kept:
            left_out[tool.name] = "listed twice; the first is used"
        elif reason := _unusable(tool.input_schema):
            left_out[tool.name] = reason
        else:
            kept[tool.name] = _cut(tool, left_out)
    return tuple(kept.values())


def _unusable(schema: dict[str, Any]) -> str:
    """Why no provider accepts a tool with this schema; blank if they do."""
    if (length := len(json.dumps(schema))) > LONGEST_SCHEMA:
        return f"its schema is too long ({length:,} characters; {LONGEST_SCHEMA:,} are allowed)"
    if schema.get("type", "object") != "object":
        return "its arguments are no object"
    if any(name in schema for name in _COMBINERS):
        return f"its schema has {' or '.join(_COMBINERS)} at the top"
    if not isinstance(schema.get("properties", {}), dict) or not _is_schema(schema):
        return "its schema is not valid"
    if any(not _PROPERTY.fullmatch(name) for name in schema.get("properties", {})):
        return "an argument's name has more than letters, digits, '_', '.' and '-'"
    if any(not reference.startswith("#") for reference in _references(schema)):
        return "its schema refers to another document"
    return ""


def _is_schema(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError):
        return False
    return True


def _references(value: Any) -> list[str]:
    """The targets of all `$ref`s in a schema."""
    found, inside = [], [value]
    while inside:
        each = inside.pop()
        if isinstance(each, dict):
            reference = each.get("$ref")
            found += [reference] if isinstance(reference, str) else []
            inside += each.values()
        elif isinstance(each, list):
            inside += each
    return found


def _cut(tool: types.Tool, left_out: dict[str, str]) -> types.Tool:
    description = tool.description or tool.title or f"Tool: {tool.name}"
    if len(description) > LONGEST_DESCRIPTION:
        left_out[f"{tool.name}'s description"] = f"cut after {LONGEST_DESCRIPTION:,} characters"
        description = description[: LONGEST_DESCRIPTION - 1] + "…"
    return tool.model_copy(update={"description": description})


@dataclass(slots=True)
class _Connection:
    """A connected client. `lost` is set when the connection is known to be broken, with `problem` as the reason.

    `calls` counts the running calls: if the server has forgotten the session, each of them has to receive that error.
    """

    client: Client
    calls: int = 0
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    problem: str = ""

    def give_up(self, problem: str) -> None:
        self.problem = self.problem or problem
        self.lost.set()

    async def settled(self) -> None:
        """Return once no call is running, or after a moment."""
        for _ in range(_SETTLING_LOOKS):
            if not self.calls:
                return
            await asyncio.sleep(_CLOSING_S / 5)


class ServerLink:
    """A connection that is opened with retries, and reopened when it is lost.

    The SDK requires one task to open and close a connection, so that task lives as long as the link.
    """

    def __init__(
        self, address: ServerAddress, *, timeout: float, program: Awaitable[ServerProgram] | None = None
    ) -> None:
        """`timeout` is in seconds, per call; a call that reports progress gets the full time again. `program` is used
        for the first connection, if the server is a program that was started before.
        """
        self.address = address
        self._started = program
        self.tools: tuple[types.Tool, ...] = ()
        self.left_out: dict[str, str] = {}
        """The server's unused tools, by name, and why."""
        self.problem = STARTING
        """Why there is no connection; empty while there is one."""
        self._timeout = timeout
        self._connection: _Connection | None = None
        self._tried, self._up, self._changed, self._wanted = (asyncio.Event() for _ in range(4))
        self._keeper: asyncio.Task[None] | None = None
        self._closing = False
        self._hangs = 0
        self._malformed: dict[str, str] = {}
        self._asks_newest = self._takes_any_request

    @property
    def _takes_any_request(self) -> bool:
        """Whether the server can be asked for the newest protocol at once: over HTTP, each request is by itself. Many
        older programs break, end or fall silent if the first message is none that they know.
        """
        return bool(self.address.url) and not self.address.legacy_sse

    def start(self) -> None:
        """Begin to connect."""
        self._keeper = asyncio.create_task(self._keep())

    async def tried(self) -> None:
        """Return once the first attempt has succeeded or failed."""
        await self._tried.wait()

    async def close(self) -> None:
        """Close the connection. The SDK makes a cancellation while it connects an error, so a flag is set as well."""
        self._closing = True
        self._wanted.set()
        if self._keeper is None:
            return
        self._keeper.cancel()
        _, hanging = await asyncio.wait({self._keeper}, timeout=_HANG_UP_S)
        for task in hanging:
            task.cancel()

    async def call(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Call a tool of the server.

        Raises:
            ServerUnavailableError: there is no connection, or it broke during the call.
            TimeoutError: the call took too long; the server was told that it is cancelled.
            ReportedError: the server reports an error of its own.
        """
        try:
            return await self._call_once(tool, arguments)
        except _SessionForgottenError:  # the server was restarted and has not carried out anything
            try:
                return await self._call_once(tool, arguments)
            except _SessionForgottenError:
                raise ServerUnavailableError("it does not keep its sessions") from None

    async def _call_once(self, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        connection = await self._connected()
        refusals: list[httpx2.Response] = []
        REFUSALS.set(refusals)
        connection.calls += 1
        try:
            result = await self._in_time(connection.client, tool, arguments)
        except TimeoutError:
            self._hangs += 1
            if self._hangs >= MOST_HANGS:
                connection.give_up("it did not answer")
            raise
        except MCPError as error:
            self._hangs = 0
            if any(map(is_of_unknown_session, refusals)):
                connection.give_up(_FORGOTTEN)
                raise _SessionForgottenError from error
            if error.code == types.CONNECTION_CLOSED and await _is_lost(connection):
                raise ServerUnavailableError("the line broke during the call") from error
            raise ReportedError(without_secrets(_words(error, refusals), self.address.secrets)) from error
        except ValidationError as error:
            self._hangs = 0
            raise ReportedError(f"The server's result is not valid ({_fault(error, 'the result')}).") from error
        finally:
            connection.calls -= 1
        self._hangs = 0
        return result

    async def _in_time(self, client: Client, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """The result, if it arrives in time. Every progress report gives the call its full time again."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout) as limit:

                async def extend(progress: float, total: float | None, message: str | None) -> None:
                    if not limit.expired():
                        limit.reschedule(loop.time() + self._timeout)

                return await client.call_tool(tool, arguments, progress_callback=extend)
        except TimeoutError:
            raise TimeoutError(f"after {self._timeout:g} s") from None

    async def _connected(self) -> _Connection:
        if self._connection is not None and self._connection.lost.is_set():
            self._up.clear()  # the keeper is on its way to making a new one
        if not self._up.is_set():
            self._wanted.set()
            try:
                async with asyncio.timeout(PATIENCE_S):
                    await self._up.wait()
            except TimeoutError:
                raise ServerUnavailableError(self.problem) from None
        assert self._connection is not None
        return self._connection

    async def _keep(self) -> None:
        pause = FIRST_PAUSE_S
        while not self._closing:
            self._wanted.clear()
            began = time.monotonic()
            refusals: list[httpx2.Response] = []
            REFUSALS.set(refusals)
            try:
                await self._stay_connected()
            except Exception as error:  # noqa: BLE001 - whatever a server does wrong, it is tried again
                self.problem = without_secrets(_words(error, refusals), self.address.secrets)
                if not self._up.is_set():
                    self._asks_newest = self._takes_any_request or _refuses_handshake(error)
            self._up.clear()
            _log.warning("tool server %s: %s", self.address.name, self.problem)
            self._tried.set()
            pause = FIRST_PAUSE_S if time.monotonic() - began > LONGEST_PAUSE_S else min(pause * 2, LONGEST_PAUSE_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wanted.wait()

    async def _stay_connected(self) -> None:
        """Connect, keep the list of tools up to date, and return when the connection is lost."""
        async with self._open() as connection:
            self._connection, self._hangs = connection, 0
            self.problem = ""
            self._up.set()
            self._tried.set()
            async with _heard_changes(connection.client, self._changed):
                while not connection.lost.is_set():
                    await _first_of(connection.lost, self._changed)
                    if self._changed.is_set() and not connection.lost.is_set():
                        await self._relist(connection.client)
            self._up.clear()
            if connection.problem == _FORGOTTEN:
                await connection.settled()
            self.problem = connection.problem or ("the line broke" if self.address.url else "the program ended")

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[_Connection]:
        """A connection over which the server has listed its tools."""
        ended = asyncio.Event()
        mode = "auto" if self._asks_newest else "legacy"
        client = Client(self._watched(ended), message_handler=self._hear, mode=mode)
        connection = _Connection(client, lost=ended)
        async with contextlib.AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(CONNECT_S):
                    await stack.enter_async_context(client)
                    await self._list(client)
            except TimeoutError:
                raise TimeoutError(f"it did not answer within {CONNECT_S:g} s") from None
            yield connection

    @asynccontextmanager
    async def _watched(self, ended: asyncio.Event) -> AsyncIterator[Streams]:
        """The server's streams; incoming lists of tools are read entry by entry."""

        async def look(item: Item) -> Item:
            message = None if isinstance(item, Exception) else item.message
            if isinstance(message, types.JSONRPCResponse) and isinstance(message.result.get("tools"), list):
                listed = message.result["tools"]
                message.result["tools"] = await asyncio.to_thread(read_list, listed, self._malformed)
            return item

        program, self._started = self._started, None
        async with streams_to(self.address, program) as (incoming, outgoing):
            yield Incoming(incoming, look, ended.set), outgoing

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()

    async def _relist(self, client: Client) -> None:
        self._changed.clear()
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._list(client)
        except (MCPError, TimeoutError) as error:
            _log.warning("tool server %s does not name its changed tools: %s", self.address.name, error)
        await asyncio.sleep(RELIST_PAUSE_S)

    async def _list(self, client: Client) -> None:
        self._malformed = {}
        tools: list[types.Tool] = []
        cursor = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor, cache_mode="bypass")
            tools += page.tools
            cursor = page.next_cursor
            if not cursor or len(tools) > MOST_TOOLS * 10:
                break
        left_out = dict(self._malformed)
        self.tools = await asyncio.to_thread(usable, tools, self.address.tools, left_out)
        self.left_out = left_out


class _SessionForgottenError(Exception):
    """The server does not know our session (any more)."""


async def _is_lost(connection: _Connection) -> bool:
    """Whether the connection is broken. A server may report an error with the same code that the SDK uses for that."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_CLOSING_S):
            await connection.lost.wait()
    return connection.lost.is_set()


@asynccontextmanager
async def _heard_changes(client: Client, changed: asyncio.Event) -> AsyncIterator[None]:
    """Receive changes of tools also from a server of the newest protocol, which reports them to subscribers."""
    tools = client.server_capabilities.tools
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
        yield
        return

    async def listen() -> None:
        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    changed.set()
        except Exception as error:  # noqa: BLE001 - one that does not let us listen is used all the same
            _log.info("changes of a server's tools are not heard: %s", error)

    listening = asyncio.create_task(listen())
    try:
        yield
    finally:
        listening.cancel()
        await asyncio.wait({listening})


async def _first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


def _unwrapped(error: BaseException) -> BaseException:
    """The cause of a failure, which task groups wrap in exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _refuses_handshake(error: BaseException) -> bool:
    """Whether the server has answered that it does not take the handshake that all but the newest have."""
    cause = _unwrapped(error)
    return isinstance(cause, MCPError) and cause.code != types.CONNECTION_CLOSED


def _words(error: BaseException, refusals: Sequence[httpx2.Response]) -> str:
    """The cause of a failure, on one line; with the status, where the server has refused a message by one."""
    error = _unwrapped(error)
    if isinstance(error, OAuthTokenError):
        return "no token was issued for the client_id and client_secret that MCP_SERVERS gives it"
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str):
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, ValidationError):
        return f"its answer is not valid ({_fault(error, 'the answer')})"
    said = str(error).split(_SDK_DETAILS)[0].strip()
    if isinstance(error, MCPError):
        said = said or f"The server reports the error {error.code} and does not explain it."
        statuses = (f" ({refusal.status_code} {refusal.reason_phrase})" for refusal in refusals)
        return "".join((said, *statuses))
    return said or type(error).__name__

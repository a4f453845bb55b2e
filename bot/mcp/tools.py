"""The tools of Model Context Protocol servers as tools of a conversation."""

import asyncio
import binascii
import gc
import json
import re
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bot.mcp.addresses import (
    MOST_TOOLS,
    STARTING,
    ReportedError,
    ServerAddress,
    ServerProgram,
    ServerUnavailableError,
)
from bot.private import without_secrets
from domain.event import Approval
from domain.ports import ToolHandler, ToolOutput
from domain.tool_use import Media, MediaKind, ToolDefinition, ToolResult
from domain.tools.registry import NO_CONTEXT, ToolContext, ToolRegistry, error_output, to_json

if TYPE_CHECKING:
    from mcp import types

    from bot.mcp.client import ServerLink

LONGEST_RESULT = 50_000
"""Characters of a result that reach the model: about 12,000 tokens."""
LONGEST_NAME = 64
MOST_MEDIA = 5
"""Pictures and sounds of one result that reach the model."""
LARGEST_MEDIA = 5_000_000
"""Characters of base64 per picture or sound: Anthropic's limit."""

FIRST_TRY_S = 0.75
"""How long the first question waits for the servers, counted from when connecting began; slower ones join later."""
ANSWER_S = 0.25
"""How long it waits at least once the SDK has been loaded, which takes longer than that on a busy machine."""

_NOT_DONE = {
    Approval.REFUSED: "The reader refused this call. Nothing was done; do not call it again for this question.",
    Approval.UNANSWERED: "The reader did not say whether this call is allowed, so nothing was done.",
}
_NOBODY_TO_ASK = (
    "This tool may change something, and there is nobody here who could allow it, so nothing was done. "
    "Tell the reader so."
)

_TOO_MANY = f"there is room for {MOST_TOOLS} tools in all"
_SIGNATURES = (
    (MediaKind.IMAGE, "png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    (MediaKind.IMAGE, "jpeg", re.compile(rb"\xff\xd8\xff")),
    (MediaKind.IMAGE, "gif", re.compile(rb"GIF8[79]a")),
    (MediaKind.IMAGE, "webp", re.compile(rb"RIFF....WEBP", re.DOTALL)),
    (MediaKind.AUDIO, "wav", re.compile(rb"RIFF....WAVE", re.DOTALL)),
    (MediaKind.AUDIO, "mp3", re.compile(rb"ID3|\xff[\xe2-\xfb]")),
)
"""The first bytes of the media types that providers accept. A server's own statement need not be true."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of a server: `problem` says why it cannot be reached, blank if it can; `starting` means that the first
    attempt is still running. `left_out` has its unused tools, by name, and why.
    """

    name: str
    problem: str
    starting: bool
    tools: tuple[str, ...]
    left_out: dict[str, str]


class McpTools:
    """The tools of all servers. `timeout` is in seconds, per call; those of `trusted` servers need nobody's consent.

    The servers' programs are started at once, but the SDK, which takes half a second to load, only with `connect`.
    """

    def __init__(
        self, addresses: Sequence[ServerAddress] = (), *, timeout: float = 30.0, trusted: Collection[str] = ()
    ) -> None:
        self._addresses = tuple(addresses)
        self._timeout = timeout
        self._trusted = frozenset(trusted)
        self._programs: dict[str, asyncio.Task[ServerProgram]] = {}
        self._links: list[ServerLink] = []
        """The connections, none before the SDK has been loaded."""
        self._first_tries: asyncio.Task[None] | None = None
        self._loaded = asyncio.Event()
        self._patience_ends = 0.0

    def missing(self) -> dict[str, str]:
        """The servers that cannot be reached now, and why."""
        if not self._links:
            return {address.name: STARTING for address in self._addresses}
        return {link.address.name: link.problem for link in self._links if link.problem}

    def status(self) -> list[ServerStatus]:
        """The state of every server, in the order of the setting."""
        if not self._links:
            return [ServerStatus(address.name, STARTING, True, (), {}) for address in self._addresses]
        used = self._used()
        return [
            ServerStatus(
                link.address.name,
                link.problem,
                link.problem == STARTING,
                tuple(tool.name for tool in used[link]),
                link.left_out | {tool.name: _TOO_MANY for tool in link.tools[len(used[link]) :]},
            )
            for link in self._links
        ]

    def register_in(self, registry: ToolRegistry, context: ToolContext = NO_CONTEXT) -> None:
        """Register every listed tool as server_tool, including those of servers that are away now."""
        for link, tools in self._used().items():
            for tool in tools:
                name = _free_name(f"{link.address.name}_{tool.name}", registry)
                description = tool.description or tool.title or f"Tool: {tool.name}"
                schema = {"type": "object", "properties": {}, **tool.input_schema}
                handler = self._handler(link, tool, name, context)
                registry.register(ToolDefinition(name, description, schema), handler, timed=False)

    def _used(self) -> "dict[ServerLink, tuple[types.Tool, ...]]":
        """The tools of each server, up to the limit for all together."""
        room = MOST_TOOLS
        used: dict[ServerLink, tuple[types.Tool, ...]] = {}
        for link in self._links:
            used[link] = link.tools[:room]
            room -= len(used[link])
        return used

    def _handler(self, link: "ServerLink", tool: "types.Tool", name: str, context: ToolContext) -> ToolHandler:
        asks = link.address.name not in self._trusted and not (tool.annotations and tool.annotations.read_only_hint)

        async def call(args: dict[str, Any]) -> ToolOutput:
            args = json.loads(to_json(args))  # half a character in them would break the connection
            if asks:
                approval = await context.approve(name, args) if context.approve else None
                if approval is not Approval.ALLOWED:
                    return error_output(_NOT_DONE[approval] if approval else _NOBODY_TO_ASK)
            try:
                return _as_result(await link.call(tool.name, args), link.address)
            except ReportedError as error:
                return error_output(str(error))
            except ServerUnavailableError as error:
                return error_output(f"The tool server {link.address.name} is not available at the moment: {error}")

        return call

    def connect(self) -> None:
        """Start to connect to all servers, if that has not been done yet."""
        if self._addresses and self._first_tries is None:
            self._patience_ends = asyncio.get_running_loop().time() + FIRST_TRY_S
            self._first_tries = asyncio.create_task(self._try_all())

    async def _try_all(self) -> None:
        try:
            await asyncio.to_thread(_load_sdk)
        finally:
            self._patience_ends = max(self._patience_ends, asyncio.get_running_loop().time() + ANSWER_S)
            self._loaded.set()
        from bot.mcp.client import ServerLink

        self._links = [
            ServerLink(address, timeout=self._timeout, program=self._programs.get(address.name))
            for address in self._addresses
        ]
        for link in self._links:
            link.start()
        await asyncio.gather(*(link.tried() for link in self._links))

    async def ready(self) -> None:
        """Return once the first attempt to reach each server has ended, or the time for it is over."""
        self.connect()
        if self._first_tries is None:
            return
        await self._loaded.wait()
        left = self._patience_ends - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.wait({self._first_tries}, timeout=left)

    async def tried(self, within: float | None = None) -> None:
        """Return once the first attempt to reach each server has ended, or after so many seconds."""
        self.connect()
        if self._first_tries is not None:
            await asyncio.wait({self._first_tries}, timeout=within)

    def start_programs(self) -> None:
        """Start the servers that are programs, because they take a while."""
        for address in self._addresses:
            if address.command:
                self._programs[address.name] = asyncio.create_task(ServerProgram.start(address))

    async def close(self) -> None:
        """Close all connections, and end all programs at the same time."""
        if self._first_tries is not None:
            self._first_tries.cancel()
            await asyncio.wait({self._first_tries})
        await asyncio.gather(*(link.close() for link in self._links), *map(_stopped, self._programs.values()))


async def _stopped(starting: asyncio.Task[ServerProgram]) -> None:
    """End a program that was started."""
    try:
        program = await starting
    except (OSError, ValueError):
        return  # it could not be started, as its link says
    await program.stop()


def _load_sdk() -> None:
    """Load what connecting needs."""
    if "bot.mcp.client" not in sys.modules:
        with uncollected():
            import bot.mcp.client  # noqa: F401


@contextmanager
def uncollected() -> Iterator[None]:
    """Import modules without garbage collection during the block: nothing is freed anyway, and it takes a fifth of the
    time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()


@asynccontextmanager
async def open_mcp_tools(
    addresses: Sequence[ServerAddress],
    *,
    timeout: float = 30.0,  # noqa: ASYNC109
    trusted: Collection[str] = (),
) -> AsyncIterator[McpTools]:
    """The tools of all servers, none of which is waited for; unreachable ones are retried while the program runs."""
    tools = McpTools(addresses, timeout=timeout, trusted=trusted)
    try:
        tools.start_programs()
        yield tools
    finally:
        await tools.close()


def _free_name(wanted: str, registry: ToolRegistry) -> str:
    """The name in a form that providers accept; a duplicate gets a number."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", wanted)[:LONGEST_NAME]
    number = 2
    while name in registry:
        suffix = f"_{number}"
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", wanted)[: LONGEST_NAME - len(suffix)] + suffix
        number += 1
    return name


def _as_result(result: "types.CallToolResult", server: ServerAddress) -> ToolResult:
    media = [_media(block) for block in result.content]
    text = "\n\n".join(_texts(result.content, media))
    if not text and result.structured_content is not None:
        text = to_json(result.structured_content)
    text = without_secrets(text, server.secrets)
    if len(text) > LONGEST_RESULT:
        text = f"{text[:LONGEST_RESULT]}\n\n[cut: {len(text) - LONGEST_RESULT:,} characters more]"
    return ToolResult(
        text or "The tool returned nothing.",
        is_error=result.is_error,
        summary="" if result.is_error else f"from the server {server.name}",
        media=() if result.is_error else tuple(filter(None, media))[:MOST_MEDIA],
    )


def _texts(content: "Iterable[types.ContentBlock]", media: Iterable[Media | None]) -> Iterator[str]:
    for block, shown in zip(content, media, strict=True):
        if block.type == "text":
            yield block.text
        elif block.type == "resource" and isinstance(text := getattr(block.resource, "text", None), str):
            yield text
        elif block.type == "resource_link":
            yield f"[{block.name}: {block.uri}]"
        elif shown:
            yield f"[{block.type}]"
        else:
            yield f"[{block.type}, which cannot be shown here]"


def _media(block: "types.ContentBlock") -> Media | None:
    """The picture or sound, if models accept its type; an unaccepted one would fail the whole request."""
    if (block.type != "image" and block.type != "audio") or len(block.data) > LARGEST_MEDIA:
        return None
    try:
        beginning = binascii.a2b_base64(block.data, strict_mode=True)[:16]
    except ValueError:
        return None
    for kind, subtype, signature in _SIGNATURES:
        if kind == block.type and signature.match(beginning):
            return Media(kind, subtype, block.data)
    return None

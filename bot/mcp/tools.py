"""The tools of Model Context Protocol servers as tools of a conversation."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcp import MCPError, types

from bot.mcp.addresses import ServerAddress
from bot.mcp.client import MOST_TOOLS, STARTING, ServerLink, ServerUnavailableError
from domain.event import Approval
from domain.ports import ToolHandler, ToolOutput
from domain.tool_use import Media, MediaKind, ToolDefinition, ToolResult
from domain.tools.context import NO_AIDS, ToolContext
from domain.tools.registry import ToolRegistry, error_output, to_json

LONGEST_RESULT = 50_000
"""Characters of a result that reach the model: about 12,000 tokens."""
LONGEST_NAME = 64
MOST_MEDIA = 5
"""Pictures and sounds of one result that reach the model."""
LARGEST_MEDIA = 5_000_000
"""Characters of base64 per picture or sound: Anthropic's limit."""

START_S = 0.8
"""How long the program waits for the servers at start-up; slower ones join later."""

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
    """The tools of all servers. `timeout` is in seconds, per call; those of `trusted` servers need nobody's consent."""

    def __init__(self, addresses: Sequence[ServerAddress], *, timeout: float, trusted: Collection[str] = ()) -> None:
        self._links = [ServerLink(address, timeout=timeout) for address in addresses]
        self._trusted = frozenset(trusted)

    def missing(self) -> dict[str, str]:
        """The servers that cannot be reached now, and why."""
        return {link.address.name: link.problem for link in self._links if link.problem}

    def status(self) -> list[ServerStatus]:
        """The state of every server, in the order of the setting."""
        used = self._used()
        return [
            ServerStatus(
                link.address.name,
                link.problem,
                link.problem == STARTING,
                tuple(tool.name for tool in used[link]),
                link.left_out | {tool.name: _TOO_MANY for tool in link.tools if tool not in used[link]},
            )
            for link in self._links
        ]

    def register_in(self, registry: ToolRegistry, aids: ToolContext = NO_AIDS) -> None:
        """Register every listed tool as server_tool, including those of servers that are away now."""
        for link, tools in self._used().items():
            for tool in tools:
                name = _free_name(f"{link.address.name}_{tool.name}", registry)
                description = tool.description or tool.title or f"Tool: {tool.name}"
                schema = {"type": "object", "properties": {}, **tool.input_schema}
                handler = self._handler(link, tool, name, aids)
                registry.register(ToolDefinition(name, description, schema), handler, timed=False)

    def _used(self) -> dict[ServerLink, tuple[types.Tool, ...]]:
        """The tools of each server, up to the limit for all together."""
        room, used = MOST_TOOLS, {}
        for link in self._links:
            used[link] = link.tools[:room]
            room -= len(used[link])
        return used

    def _handler(self, link: ServerLink, tool: types.Tool, name: str, aids: ToolContext) -> ToolHandler:
        asks = link.address.name not in self._trusted and not (tool.annotations and tool.annotations.read_only_hint)

        async def call(args: dict[str, Any]) -> ToolOutput:
            if asks:
                approval = await aids.approve(name, args) if aids.approve else None
                if approval is not Approval.ALLOWED:
                    return error_output(_NOT_DONE[approval] if approval else _NOBODY_TO_ASK)
            try:
                return _as_result(await link.call(tool.name, args), link.address.name)
            except MCPError as error:
                return error_output(error.message)
            except ServerUnavailableError as error:
                return error_output(f"The tool server {link.address.name} is not available at the moment: {error}")

        return call

    async def open(self) -> None:
        """Start connecting to all servers; fast ones are connected when it returns."""
        for link in self._links:
            link.start()
        if self._links:
            tries = [asyncio.create_task(link.tried()) for link in self._links]
            _, slow = await asyncio.wait(tries, timeout=START_S)
            for task in slow:
                task.cancel()

    async def tried(self) -> None:
        """Return once the first attempt to reach each server has ended."""
        await asyncio.gather(*(link.tried() for link in self._links))

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links))


@asynccontextmanager
async def open_mcp_tools(
    addresses: Sequence[ServerAddress],
    *,
    timeout: float = 30.0,  # noqa: ASYNC109
    trusted: Collection[str] = (),
) -> AsyncIterator[McpTools]:
    """Connect to all servers at once; unreachable ones are retried while the program runs."""
    tools = McpTools(addresses, timeout=timeout, trusted=trusted)
    try:
        await tools.open()
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


def _as_result(result: types.CallToolResult, server: str) -> ToolResult:
    text = "\n\n".join(_texts(result.content))
    if not text and result.structured_content is not None:
        text = to_json(result.structured_content)
    if len(text) > LONGEST_RESULT:
        text = f"{text[:LONGEST_RESULT]}\n\n[cut: {len(text) - LONGEST_RESULT:,} characters more]"
    media = [] if result.is_error else [found for block in result.content if (found := _media(block))]
    return ToolResult(
        text or "The tool returned nothing.",
        is_error=result.is_error,
        summary="" if result.is_error else f"from the server {server}",
        media=tuple(media[:MOST_MEDIA]),
    )


def _texts(content: Iterable[types.ContentBlock]) -> Iterator[str]:
    for block in content:
        match block:
            case types.TextContent(text=text):
                yield text
            case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
                yield text
            case types.ResourceLink(uri=uri, name=name):
                yield f"[{name}: {uri}]"
            case _ if _media(block):
                yield f"[{block.type}]"
            case _:
                yield f"[{block.type}, which cannot be shown here]"


def _media(block: types.ContentBlock) -> Media | None:
    """The picture or sound, if models accept its type; an unaccepted one would fail the whole request."""
    if not isinstance(block, types.ImageContent | types.AudioContent) or len(block.data) > LARGEST_MEDIA:
        return None
    try:
        beginning = base64.b64decode(block.data, validate=True)[:16]
    except ValueError:
        return None
    for kind, subtype, signature in _SIGNATURES:
        if kind == block.type and signature.match(beginning):
            return Media(kind, subtype, block.data)
    return None

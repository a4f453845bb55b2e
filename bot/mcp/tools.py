"""Tools of Model Context Protocol servers, as tools of a conversation."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp import MCPError, types

from bot.mcp.addresses import ServerAddress
from bot.mcp.client import ServerLink, ServerUnavailableError
from domain.ports import ToolHandler, ToolOutput
from domain.tool_use import ToolDefinition, ToolResult
from domain.tools.registry import ToolRegistry, error_output, to_json

LONGEST_RESULT = 50_000
"""Characters of a result that reach the model: about 12,000 tokens."""
LONGEST_NAME = 64


class McpTools:
    """The tools of all servers. `timeout` is in seconds, for each call."""

    def __init__(self, addresses: Sequence[ServerAddress], *, timeout: float) -> None:
        self._links = [ServerLink(address, timeout=timeout) for address in addresses]

    @property
    def problems(self) -> dict[str, str]:
        """What is wrong, by server; servers that are well are left out."""
        return {link.address.name: link.problem for link in self._links if link.problem}

    def register_in(self, registry: ToolRegistry) -> None:
        """Register every tool that has been listed so far as server_tool; also those whose server is away just now."""
        for link in self._links:
            for tool in link.tools:
                name = _free_name(f"{link.address.name}_{tool.name}", registry)
                description = tool.description or tool.title or f"Tool: {tool.name}"
                schema = {"type": "object", "properties": {}, **tool.input_schema}
                registry.register(ToolDefinition(name, description, schema), self._handler(link, tool.name))

    def _handler(self, link: ServerLink, tool: str) -> ToolHandler:
        async def call(args: dict[str, Any]) -> ToolOutput:
            try:
                return _as_result(await link.call(tool, args))
            except MCPError as error:
                return error_output(error.message)
            except ServerUnavailableError as error:
                return error_output(f"The tool server {link.address.name} is not available at the moment: {error}")

        return call

    async def open(self) -> None:
        await asyncio.gather(*(link.open() for link in self._links))

    async def close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links))


@asynccontextmanager
async def open_mcp_tools(addresses: Sequence[ServerAddress], *, timeout: float = 30.0) -> AsyncIterator[McpTools]:  # noqa: ASYNC109
    """Connect to all servers at once; one that cannot be reached is tried again while the program runs."""
    tools = McpTools(addresses, timeout=timeout)
    try:
        await tools.open()
        yield tools
    finally:
        await tools.close()


def _free_name(wanted: str, registry: ToolRegistry) -> str:
    """The name as providers accept it; one that is taken gets a number."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", wanted)[:LONGEST_NAME]
    number = 2
    while name in registry:
        suffix = f"_{number}"
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", wanted)[: LONGEST_NAME - len(suffix)] + suffix
        number += 1
    return name


def _as_result(result: types.CallToolResult) -> ToolResult:
    text = "\n\n".join(_texts(result.content))
    if not text and result.structured_content is not None:
        text = to_json(result.structured_content)
    if len(text) > LONGEST_RESULT:
        text = f"{text[:LONGEST_RESULT]}\n\n[cut: {len(text) - LONGEST_RESULT:,} characters more]"
    return ToolResult(text or "The tool returned nothing.", is_error=result.is_error)


def _texts(content: Iterable[types.ContentBlock]) -> Iterator[str]:
    for block in content:
        match block:
            case types.TextContent(text=text):
                yield text
            case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
                yield text
            case types.ResourceLink(uri=uri, name=name):
                yield f"[{name}: {uri}]"
            case _:
                yield f"[{block.type}, which cannot be shown here]"

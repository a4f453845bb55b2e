"""Books for other programs: the shelf as a Model Context Protocol server, inside the bound of a reader.

Its tools are the book tools of a conversation, each with one argument more: which book. Its resources are the books
and their pages. Everything is read only.
"""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import quote, unquote

from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bot.tools.book import BOOK_TOOLS, book_toolbox
from domain.book import Book, ContentsEntry, numbered, page_reference
from domain.errors import BookError, MarginaliaError
from domain.library.progress import end_of_page, find_page
from domain.library.shelf import Bookshelf
from domain.ports import BookFile, BookView, ReaderRepository, ToolHandler
from domain.spoilers.bound import label_at
from domain.tool_use import ToolDefinition
from domain.tools.registry import ToolRegistry, as_result, to_json

LIST_BOOKS = ToolDefinition(
    "list_books",
    "List the books on the shelf, with how far each has been read: nothing beyond is shown by any tool.",
    {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)
INSTRUCTIONS = (
    "Books, as far as their reader has read. Answer questions about a book from its own pages: search_book first, "
    "read_pages or read_around for more, find_phrase for quotations. Name the page after what you take from it. "
    "Nothing beyond the reader's page is shown; do not fill the gap from what you know of the book."
)

_FAREWELL_S = 1
"""Seconds that open streams have left once the program is told to stop; clients keep theirs open for good."""

_BOOK_ARGUMENT = {"type": "string", "description": "The book: its title or id, as list_books gives them."}
_BOOK_URI = re.compile(r"book://([^/]+)")
_PAGE_URI = re.compile(r"book://([^/]+)/pages/([^/]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBooks:
    """The shelf as one reader may see it: up to `page` of each book, or without one up to the reader's own position."""

    shelf: Bookshelf
    readers: ReaderRepository
    reader_id: str
    page: str = ""
    tool_timeout: float = 30.0

    async def list(self) -> Sequence[Book]:
        return await self.shelf.list(None)

    async def open(self, reference: str) -> tuple[BookFile, BookView]:
        """A book by its title or id, and the part of it that may be seen.

        Raises:
            BookError: there is no such book, its file is gone, or it has no such page.
        """
        book = await self.shelf.find(reference, shelf=None)
        file = await self.shelf.open(book)
        return file, file.view(await self._bound(book, file))

    async def page_text(self, reference: str, label: str) -> str:
        """A page as it stands in the book; of one that is not read to its end, what has been read of it.

        Raises:
            BookError: as `open`, or the page has not been reached.
        """
        file, view = await self.open(reference)
        page = find_page(await file.pages(), label)
        if page is not None and page.end <= view.read_to:
            return await file.text(page.label)
        return "\n\n".join(passage.text for passage in await view.read_pages(label, label))

    async def _bound(self, book: Book, file: BookFile) -> int:
        if self.page:
            return end_of_page(await file.pages(), self.page)
        return (await self.readers.get_position(self.reader_id, book.id)).bound(book.length)


def tools_of(books: OpenBooks) -> ToolRegistry:
    """The tools over all books: those of a conversation, told which book, and a list of the books."""
    registry = ToolRegistry()
    registry.register(LIST_BOOKS, _lister(books))
    for definition in BOOK_TOOLS:
        registry.register(_with_book(definition), _in_book(books, definition.name))
    return registry


def book_server(books: OpenBooks) -> Server[Any]:
    """An MCP server, not yet on any line."""
    registry = tools_of(books)
    dispatch = registry.build_dispatcher(books.tool_timeout)

    async def list_tools(ctx: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_as_mcp(definition) for definition in registry.get_definitions()])

    async def call_tool(ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = as_result(await dispatch(params.name, params.arguments or {}))
        text = types.TextContent(type="text", text=result.content)
        return types.CallToolResult(content=[text], is_error=result.is_error)

    async def list_resources(ctx: object, params: object) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[_as_resource(book) for book in await books.list()])

    async def list_templates(ctx: object, params: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[_PAGE_TEMPLATE])

    async def read_resource(ctx: object, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await _resource_text(books, params.uri)
        content = types.TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[content])

    return Server(
        "marginalia",
        title="Marginalia",
        version=version("marginalia"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the program at the other end of standard input and output until it hangs up."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def serve_http(server: Server[Any], port: int, ready: Callable[[str], None]) -> None:
    """Serve streamable HTTP on loopback until the program is stopped; `ready` is told the address.

    There is no login: whoever may use this machine may read. Pages of the web may not, by the checks of the SDK.

    Raises:
        OSError: the port is taken.
    """
    import uvicorn

    listener = socket.create_server(("127.0.0.1", port))
    app = server.streamable_http_app()
    config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=_FAREWELL_S)
    ready(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
    await uvicorn.Server(config).serve(sockets=[listener])
    await asyncio.sleep(0)  # it raises again the signal that stopped it: take that here, not while the books are closed


def _lister(books: OpenBooks) -> ToolHandler:
    async def call(args: dict[str, Any]) -> str:
        return to_json({"books": [await _line(books, book) for book in await books.list()]})

    return call


async def _line(books: OpenBooks, book: Book) -> dict[str, Any]:
    line = {"id": book.id, "title": book.title, "author": book.author}
    try:
        file, view = await books.open(book.id)
    except BookError as error:
        return {**line, "problem": error.message}
    if view.read_to >= book.length:
        return {**line, "open_to": "the end"}
    if not view.read_to:
        return {**line, "open_to": "nothing yet"}
    about = "about " if book.pages_estimated else ""
    return {**line, "open_to": f"{about}page {label_at(await file.pages(), view.read_to)}"}


def _in_book(books: OpenBooks, tool: str) -> ToolHandler:
    async def call(args: dict[str, Any]) -> Any:
        reference = args.pop("book")
        if not isinstance(reference, str) or not reference.strip():
            raise ValueError("book must be a title or an id; list_books names them")
        _, view = await books.open(reference)
        # A new toolbox for each call: its word budget is meant for one answer, and answers are unknown here.
        return await book_toolbox(view).build_dispatcher(None)(tool, args)

    return call


def _with_book(definition: ToolDefinition) -> ToolDefinition:
    schema = definition.parameters
    parameters = {
        **schema,
        "properties": {"book": _BOOK_ARGUMENT, **schema["properties"]},
        "required": ["book", *schema["required"]],
    }
    return ToolDefinition(definition.name, definition.description, parameters)


def _as_mcp(definition: ToolDefinition) -> types.Tool:
    return types.Tool(
        name=definition.name,
        description=definition.description,
        input_schema=definition.parameters,
        annotations=types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


_PAGE_TEMPLATE = types.ResourceTemplate(
    name="page",
    title="A page of a book",
    uri_template="book://{book}/pages/{page}",
    description="The text of a page that has been read; the page as printed (12, xii).",
    mime_type="text/plain",
)


def _as_resource(book: Book) -> types.Resource:
    by = f" by {book.author}" if book.author else ""
    return types.Resource(
        name=book.id,
        title=book.title,
        uri=f"book://{quote(book.id, safe='')}",
        description=f"“{book.title}”{by}: its contents as far as it has been read",
        mime_type="text/plain",
    )


async def _resource_text(books: OpenBooks, uri: str) -> str:
    readings: dict[re.Pattern[str], Callable[..., Awaitable[str]]] = {
        _BOOK_URI: lambda book: _contents(books, book),
        _PAGE_URI: books.page_text,
    }
    try:
        for pattern, read in readings.items():
            if match := pattern.fullmatch(uri):
                return await read(*map(unquote, match.groups()))
    except MarginaliaError as error:
        raise MCPError(types.INVALID_PARAMS, error.message, {"uri": uri}) from error
    raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri}.", {"uri": uri})


async def _contents(books: OpenBooks, reference: str) -> str:
    _, view = await books.open(reference)
    title = " by ".join(part for part in (view.book.title, view.book.author) if part)
    return "\n".join([title, "", *[_contents_line(entry, view.book) for entry in await view.contents()]])


def _contents_line(entry: ContentsEntry, book: Book) -> str:
    page = page_reference(entry.page, entry.page, estimated=book.pages_estimated)
    return f"{'  ' * (entry.level - 1)}{numbered(entry.number, entry.title)} ({page})"

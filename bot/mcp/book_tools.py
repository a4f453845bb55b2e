"""The tools of the MCP server: those of a conversation with a book argument added, and the form of their results."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from bot.mcp.books import OpenBooks
from bot.tools.book import BOOK_TOOLS, book_toolbox
from bot.tools.results import define, labelled
from domain.book import Passage
from domain.errors import shortened
from domain.library.progress import find_page, page_in
from domain.ports import BookFile, BookView, ToolHandler
from domain.tool_use import ToolDefinition, ToolResult
from domain.tools.registry import ToolRegistry, as_result, to_json

LIST_BOOKS = ToolDefinition(
    "list_books",
    "List the books on the shelf, with how far each has been read: nothing beyond is shown by any tool.",
    {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)
_BOOK_ARGUMENT = {"type": "string", "description": "The book: its title or id, as list_books gives them."}
SET_POSITION = define(
    "set_position",
    "Keep how far the reader has read in a book, either a page or all of it. Use it only when the reader says so "
    "themselves: everything up to there is shown from then on.",
    {
        "book": _BOOK_ARGUMENT,
        "page": {"type": "string", "description": "The last page the reader has read, as printed: 80 or xii."},
        "finished": {"type": "boolean", "description": "True when the reader has finished the book."},
    },
    "book",
)

_PASSAGE = {
    "type": "object",
    "properties": {
        "source": {"type": "string", "description": "The passage's name, for read_around."},
        "page": {"type": "string", "description": "Where it begins, as printed."},
        "last_page": {"type": "string"},
        "chapter": {"type": "string"},
        "estimated": {"type": "boolean", "description": "True where the book has no page numbers of its own."},
        "text": {"type": "string"},
    },
    "required": ["source", "page", "last_page", "chapter", "estimated", "text"],
}
_PASSAGES = {
    "type": "object",
    "properties": {
        "passages": {"type": "array", "items": _PASSAGE},
        "note": {"type": "string", "description": "What the passages are, how to go on, or why there are none."},
    },
    "required": ["passages", "note"],
}
_BOOKS = {
    "type": "object",
    "properties": {
        "books": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "title": {"type": "string"},
                    "author": {"type": "string"},
                    "open_to": {"type": "string", "description": "How far the book is open."},
                    "estimated": {"type": "boolean"},
                    "problem": {"type": "string", "description": "Why the book cannot be opened."},
                },
                "required": ["id", "title", "author"],
            },
        }
    },
    "required": ["books"],
}
_CONTENTS = {
    "type": "object",
    "properties": {
        "chapters": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {
                        "type": ["integer", "string"],
                        "description": "As printed, such as IV; a count where none are printed or they are the same.",
                    },
                    "title": {"type": "string"},
                    "page": {"type": "string"},
                    "words": {"type": "integer"},
                    "state": {"type": "string"},
                },
                "required": ["title", "page"],
            },
        },
        "total": {"type": "integer"},
        "more": {"type": "string"},
        "estimated": {"type": "boolean", "description": "True where the book has no page numbers of its own."},
    },
    "required": ["chapters", "total", "estimated"],
}
_POSITION = {"type": "object", "properties": {"open_to": {"type": "string"}}, "required": ["open_to"]}
_OUTPUTS = {"list_books": _BOOKS, "table_of_contents": _CONTENTS, "set_position": _POSITION}


def output_schema(tool: str) -> dict[str, Any]:
    """The JSON Schema of a tool's structured content."""
    return _OUTPUTS.get(tool, _PASSAGES)


def tools_of(books: OpenBooks, *, positions: bool = False) -> ToolRegistry:
    """The tools over all books: a list of books, the tools of a conversation, and with `positions` one to set a
    position.
    """
    registry = ToolRegistry()
    registry.register(LIST_BOOKS, _lister(books))
    for definition in BOOK_TOOLS:
        registry.register(_with_book(definition), _in_book(books, definition.name))
    if positions:
        registry.register(SET_POSITION, _position_setter(books))
    return registry


def _with_book(definition: ToolDefinition) -> ToolDefinition:
    schema = definition.parameters
    parameters = {
        **schema,
        "properties": {"book": _BOOK_ARGUMENT, **schema["properties"]},
        "required": ["book", *schema["required"]],
    }
    return ToolDefinition(definition.name, definition.description, parameters)


def _lister(books: OpenBooks) -> ToolHandler:
    async def call(args: dict[str, Any]) -> str:
        return to_json({"books": [await books.describe(book) for book in await books.list()]})

    return call


def _position_setter(books: OpenBooks) -> ToolHandler:
    async def call(args: dict[str, Any]) -> str:
        page, finished = page_in(str(args.get("page", ""))), args.get("finished") is True
        if (page is None) == (not finished):
            raise ValueError("give either page, the number or label of one page, or finished")
        return to_json({"open_to": await books.set_position(args["book"], page=page or "", finished=finished)})

    return call


def _in_book(books: OpenBooks, tool: str) -> ToolHandler:
    async def call(args: dict[str, Any]) -> ToolResult:
        file, view = await books.open(args.pop("book"))
        # A new toolbox for each call: its word budget is meant for one answer, and answers are unknown here.
        result = as_result(await book_toolbox(view, tell_budget=False).build_dispatcher(None)(tool, args))
        if result.is_error:
            return result
        if tool == "table_of_contents":
            return _contents(result, estimated=view.book.pages_estimated)
        way_on = await _way_on(file, view, result.passages, args) if tool == "read_pages" else ""
        return _passages(result, way_on, estimated=view.book.pages_estimated)

    return call


def _contents(result: ToolResult, *, estimated: bool) -> ToolResult:
    told = json.loads(result.content) | {"estimated": estimated}
    return ToolResult(to_json(told), summary=result.summary)


def _passages(result: ToolResult, way_on: str, *, estimated: bool) -> ToolResult:
    note = way_on or (result.note if result.passages else result.content)
    told = [_passage(passage, estimated=estimated) for passage in result.passages]
    content = to_json({"passages": told, "note": note})
    return ToolResult(content, result.passages, note=note, summary=result.summary)


def _passage(passage: Passage, *, estimated: bool) -> dict[str, Any]:
    return {
        "source": passage.source,
        "page": passage.page,
        "last_page": passage.last_page,
        "chapter": passage.chapter,
        "estimated": estimated,
        "text": passage.text,
    }


async def _way_on(file: BookFile, view: BookView, passages: Sequence[Passage], args: dict[str, Any]) -> str:
    """Where a reading stopped and how to continue, if not everything could be read at once; else blank."""
    pages = [page for page in await file.pages() if page.start < view.read_to]
    reached = find_page(pages, str(args.get("to") or args["from"]))
    wanted = reached or pages[-1]
    if not passages:
        return ""
    last = passages[-1]
    here = next(page for page in reversed(pages) if page.start <= last.start)
    page = f"{'about ' if view.book.pages_estimated else ''}p. {here.label}"
    unread = (await file.text(here.label))[last.end - here.start : view.read_to - here.start]
    if unread.strip() and len(passages) == 1:  # the page is too long for one reading
        source = f"passage-{last.sentences[-1].start}-{last.end}"
        return f"This stops on {page}. To go on, call read_around with passage={source}, after=5."
    if unread.strip():
        return f"This stops on {page}. To go on, call read_pages with from={here.label}."
    following = next((each for each in pages if here.start < each.start <= wanted.start), None)
    if following is None:
        ends = reached is None and view.read_to < view.book.length
        return f"This stops on {page}, as far as the book is open." if ends else ""
    return f"This stops at the end of {page}. To go on, call read_pages with from={following.label}."


def as_text(tool: str, result: ToolResult) -> str:
    """A result as a model reads it: JSON if it is a list, else its note and the passages under their pages."""
    if tool in _OUTPUTS or result.is_error:
        return result.content
    estimated = [told["estimated"] for told in json.loads(result.content)["passages"]]
    shown = [labelled(each, estimated=about) for each, about in zip(result.passages, estimated, strict=True)]
    return "\n\n".join(part for part in (result.note, *shown) if part)


_KINDS = {"string": "a text", "integer": "a whole number", "boolean": "true or false", "array": "a list of texts"}


def fault_in(definition: ToolDefinition, arguments: dict[str, Any]) -> str:
    """What is wrong with the arguments of a call according to the published schema; blank if nothing is."""
    fault = best_match(Draft202012Validator(definition.parameters).iter_errors(arguments))
    return _sentence(fault, definition, arguments) if fault else ""


def _sentence(fault: ValidationError, definition: ToolDefinition, arguments: dict[str, Any]) -> str:
    known = definition.parameters["properties"]
    name = str(fault.absolute_path[0]) if fault.absolute_path else ""
    match fault.validator:
        case "required":
            missing = (each for each in definition.parameters["required"] if each not in arguments)
            return f"Missing required argument: {next(missing)}"
        case "additionalProperties":
            unknown = shortened(_listed(each for each in arguments if each not in known))
            return f"Unknown argument: {unknown}. Known: {_listed(known) or 'none'}"
        case "type":
            return f"{name} must be {_KINDS[known[name]['type']]}"
        case "minimum" | "maximum":
            return f"{name} must be a whole number from {known[name]['minimum']} to {known[name]['maximum']}"
        case "maxItems":
            return f"{name} may have at most {known[name]['maxItems']} entries"
    return f"{name}: {shortened(fault.message)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)

"""The features of the MCP server: a conversation's book tools with an argument for the book, prompts, completions."""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from mcp import MCPError, types

from bot.mcp.books import OpenBooks, chapter_addresses
from bot.tools.book import BOOK_TOOLS, book_toolbox
from bot.tools.results import define, labelled, so_far
from domain.book import Passage, encodable
from domain.errors import MarginaliaError, shortened
from domain.library.addressing import find_page, page_in
from domain.library.names import typed_name
from domain.ports import BookFile, BookView, ToolHandler
from domain.reading.portrait import MetNames, portrait_text, portray
from domain.reading.questions import questions, questions_text
from domain.reading.recap import recap, recap_text, stretch_of
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
        ends = reached is None and not view.book.is_all_before(view.read_to)
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


MOST_COMPLETIONS = 100
"""The protocol's limit for one response."""

_BOUND = (
    "Rest only on what the book says up to there, name the page after what you take from it, and say so where it does "
    "not answer. Tell nothing that comes later, even if you know the book."
)
_BOOK = types.PromptArgument(name="book", description="The book: its title or id.", required=True)


@dataclass(frozen=True, slots=True)
class _Prompt:
    """A prompt: what it asks, and what the book says about it. Both depend on the arguments."""

    about: types.Prompt
    request: Callable[[dict[str, str]], str]
    material: Callable[[OpenBooks, BookFile, BookView, dict[str, str]], Awaitable[str]]


async def _stretch(file: BookFile, view: BookView, given: dict[str, str]) -> tuple[BookView, int]:
    """The named chapter as far as it has been read, and where it begins; without one, everything that has been read.

    Raises:
        BookError: NOT_FOUND, the chapter has not been reached.
    """
    chapter = given.get("chapter", "")
    if not chapter:
        return view, 0
    start, end = await stretch_of(view, chapter)
    return file.view(end), start


async def _recap(books: OpenBooks, file: BookFile, view: BookView, given: dict[str, str]) -> str:
    return recap_text(await recap(*await _stretch(file, view, given)))


async def _portrait(books: OpenBooks, file: BookFile, view: BookView, given: dict[str, str]) -> str:
    portrait = await portray(view, given["name"])
    return portrait_text(portrait) if portrait else f"Nobody with this name has appeared{so_far(view)}."


async def _questions(books: OpenBooks, file: BookFile, view: BookView, given: dict[str, str]) -> str:
    return questions_text(await questions(*await _stretch(file, view, given)))


async def _search(books: OpenBooks, file: BookFile, view: BookView, given: dict[str, str]) -> str:
    dispatch = tools_of(books).build_dispatcher(books.tool_timeout)
    result = as_result(await dispatch("search_book", {"book": view.book.id, "query": given["question"]}))
    return as_text("search_book", result)


_CHAPTER = types.PromptArgument(name="chapter", description="One chapter, by its number or title.")
_PROMPTS = {
    prompt.about.name: prompt
    for prompt in (
        _Prompt(
            types.Prompt(
                name="recap",
                title="What has happened so far",
                description="Recall the story up to where you are, or one chapter of it.",
                arguments=[_BOOK, _CHAPTER],
            ),
            lambda given: "Tell me in a few paragraphs what has happened so far, in order. Look up what is missing.",
            _recap,
        ),
        _Prompt(
            types.Prompt(
                name="who_is",
                title="Who is this?",
                description="Recall who somebody is, from what you have read.",
                arguments=[
                    _BOOK,
                    types.PromptArgument(name="name", description="The name as the book writes it.", required=True),
                ],
            ),
            lambda given: f"Who is {given['name']}? Tell me what I have learned so far, and where first.",
            _portrait,
        ),
        _Prompt(
            types.Prompt(
                name="discuss",
                title="Questions to talk about",
                description="Find questions to talk about in what you have read, or in one chapter of it.",
                arguments=[_BOOK, _CHAPTER],
            ),
            lambda given: (
                "Give me three open questions to talk about, each resting on a short quotation with its page. Here are "
                "some to begin with; better ones are welcome."
            ),
            _questions,
        ),
        _Prompt(
            types.Prompt(
                name="ask",
                title="Ask the book",
                description="Ask a question and have it answered from the book's pages.",
                arguments=[
                    _BOOK,
                    types.PromptArgument(name="question", description="What you want to know.", required=True),
                ],
            ),
            lambda given: f"{given['question']}\n\nSearch again with other words if this is not enough.",
            _search,
        ),
    )
}


def list_prompts() -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[prompt.about for prompt in _PROMPTS.values()])


async def get_prompt(books: OpenBooks, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    """The prompt with its arguments filled in, and what the book says about it.

    Raises:
        MCPError: INVALID_PARAMS, there is no such prompt or book, or an argument is missing.
    """
    prompt = _PROMPTS.get(name)
    if prompt is None:
        raise MCPError(
            types.INVALID_PARAMS, f"There is no prompt {shortened(encodable(name))!r}. Known: {', '.join(_PROMPTS)}."
        )
    given = {key: encodable(value).strip() for key, value in arguments.items()}
    for argument in prompt.about.arguments or ():
        if argument.required and not given.get(argument.name):
            raise MCPError(types.INVALID_PARAMS, f"Missing required argument: {argument.name}")
    try:
        file, view = await books.open(given["book"])
        material = await prompt.material(books, file, view, given)
    except MarginaliaError as error:
        raise MCPError(types.INVALID_PARAMS, error.message) from error
    extent = (await books.describe(view.book))["open_to"]
    opening = f"I am reading “{view.book.title}” ({view.book.id}). It is open to: {extent}."
    text = "\n\n".join((opening, prompt.request(given), _BOUND, "From the book:", material or "Nothing has been read."))
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=prompt.about.description, messages=[message])


async def complete(books: OpenBooks, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Completions for an argument of a prompt or of a resource template, within what has been read.

    Raises:
        MCPError: INVALID_PARAMS, there is no such prompt.
    """
    if isinstance(params.ref, types.PromptReference) and params.ref.name not in _PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {shortened(encodable(params.ref.name))!r}.")
    context = (params.context.arguments if params.context else None) or {}
    finders: dict[str, Callable[[OpenBooks, str], Awaitable[list[str]]]] = {
        "chapter": _chapters,
        "page": _pages,
        "name": _names,
    }
    if params.argument.name == "book":
        values = [book.title for book in await books.list()]
    elif find := finders.get(params.argument.name):
        values = await _within(books, context.get("book", ""), find)
    else:
        values = []
    fitting = _fitting(values, params.argument.value)
    shown = fitting[:MOST_COMPLETIONS]
    completion = types.Completion(values=shown, total=len(fitting), has_more=len(shown) < len(fitting))
    return types.CompleteResult(completion=completion)


async def _within(
    books: OpenBooks, reference: str, find: Callable[[OpenBooks, str], Awaitable[list[str]]]
) -> list[str]:
    """Completions from the named book, or from the only one there is; none if it is not clear which."""
    if not reference:
        shelf = await books.list()
        reference = shelf[0].id if len(shelf) == 1 else ""
    try:
        return await find(books, reference) if reference else []
    except MarginaliaError:  # somebody is still typing the title
        return []


def _fitting(values: Sequence[str], typed: str) -> list[str]:
    """Those that begin with it, then those that contain it, without duplicates; "mr v" fits "Mr. Varley"."""
    wanted = typed_name(typed)
    folded = [(value, typed_name(value)) for value in dict.fromkeys(values)]
    begin = [value for value, plain in folded if plain.startswith(wanted)]
    return begin + [value for value, plain in folded if wanted in plain and not plain.startswith(wanted)]


async def _chapters(books: OpenBooks, reference: str) -> list[str]:
    _, view = await books.open(reference)
    return list(chapter_addresses(await view.contents()).values())


async def _pages(books: OpenBooks, reference: str) -> list[str]:
    file, view = await books.open(reference)
    return [page.label for page in await file.pages() if page.start < view.read_to]


async def _names(books: OpenBooks, reference: str) -> list[str]:
    file, view = await books.open(reference)
    return await _NAMES.of(file, view)


_NAMES = MetNames()

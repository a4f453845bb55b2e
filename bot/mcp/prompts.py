"""The prompts of the MCP server, and the completion of their arguments."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from mcp import MCPError, types

from bot.mcp.book_tools import as_text, tools_of
from bot.mcp.books import OpenBooks, chapter_addresses
from domain.book import encodable
from domain.errors import MarginaliaError, shortened
from domain.library.search.words import fold
from domain.ports import BookFile, BookView
from domain.reading.portrait import MetNames, portrait_text, portray
from domain.reading.questions import questions, questions_text
from domain.reading.recap import recap, recap_text, stretch_of
from domain.tools.registry import as_result

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
    return portrait_text(portrait) if portrait else "Nobody with this name has appeared so far."


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
    """Those that begin with it, then those that contain it, without duplicates."""
    wanted = fold(typed.strip())
    folded = [(value, fold(value)) for value in dict.fromkeys(values)]
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

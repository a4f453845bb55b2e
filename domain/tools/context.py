"""What a turn provides to its tools, besides its view of the book."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from domain.chat import ChatMessage, MessageRole
from domain.event import Approval, PositionProposed
from domain.library.addressing import is_chapter_word
from domain.library.numerals import number_value
from domain.library.search.words import fold
from domain.library.summaries import Digest
from domain.ports import BookView, Toolbox

PROPOSE_POSITION = "propose_position"
"""The name of the tool by which a model proposes a position."""
_PAGE = re.compile(r"(?:[A-Za-z]{1,2}[-.]?)?\d{1,5}[a-z]?|[ivxlcdm]{1,12}", re.IGNORECASE)
_PAGING = re.compile(
    r"[\"'](?:(?:total|num|per)_?pages?|pages?_?(?:size|count|total))[\"']\s?:\s?\d+"
    r"|[\"'](?:(?:current|next|prev|previous|last)_?)?page(?:_?(?:no|num|number|index))?[\"']\s?:\s?(?:[012]|null)(?!\d)"
    r"|[?&]page=[012](?!\d)"
    r"|\b(?:(?:web|home|main|talk|landing|wiki(?:pedia)?)[\s-]?pages?|this page"
    r"|page (?:title|not found|was last|last edited))\b(?!\W{0,3}(?:n|no|nr|number)?\W{0,3}\d)",
    re.IGNORECASE,
)
"""How many pages a list of results has, the first ones of them, and pages of the web, in what a tool returns."""
_TAGS_AS_WORDS = str.maketrans("<>/", "   ")
_WORD = re.compile(r"\w+(?:[-.]\w+)*")
_BOOKS = frozenset("book buch livre libro boek книга".split())  # noqa: SIM905
_DONE = re.compile(
    r"\b(?:finish|done\b|complete|read it all|whole book|the end\b|fertig|ausgelesen|durchgelesen|zu ende|beendet|"
    r"geschafft|fini\b|finie?s?\b|termin|acab|finito|finita|uitgelezen|klaar\b)"
)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Services for the tools of a turn; each is None where it is not available.

    `digests` returns summaries of what has been read, or of one chapter. `propose` suggests a page or a chapter
    (neither: the end of the book) as new position to the reader who wrote it, and says whether anybody did; `approve`
    asks a reader whether a tool may be called with these arguments.
    """

    digests: Callable[[int | None], Awaitable[list[Digest]]] | None = None
    propose: Callable[[str, str], bool] | None = None
    approve: Callable[[str, dict[str, Any]], Awaitable[Approval]] | None = None


NO_CONTEXT = ToolContext()


class MakeToolbox(Protocol):
    """Makes the tools of a turn."""

    def __call__(self, view: BookView, context: ToolContext = NO_CONTEXT, /) -> Toolbox: ...


def without_paging(result: str) -> str:
    """The words a tool has returned, tags among them, without pages of its results or the web: these are no book's."""
    return _PAGING.sub("", result).translate(_TAGS_AS_WORDS)


def page_in(argument: str) -> str | None:
    """The label of a page that an argument names ("80", "xii", "A-3"); None for anything else.

    A button shows what the model writes here, so arbitrary words are refused.
    """
    label = " ".join(argument.split())
    return label if _PAGE.fullmatch(label) else None


def proposed(asked: Sequence[ChatMessage], page: str = "", chapter: str = "") -> PositionProposed | None:
    """The proposal of a page, a chapter or, without either, the end of the book, to the last reader who wrote it.

    None if nobody did, so that it is only the model's idea.
    """
    by = next((message for message in reversed(asked) if _names(message.content, page, chapter)), None)
    return PositionProposed(page, by.author_id, chapter, not (page or chapter)) if by else None


def has_said(said: Sequence[ChatMessage], proposal: PositionProposed) -> bool:
    """Whether a proposal is one that its reader has written, in a turn as it was kept."""
    own = [m for m in said if m.role is MessageRole.USER and m.author_id == proposal.reader_id]
    return any(_names(message.content, proposal.page, proposal.chapter) for message in own)


def _names(words: str, page: str, chapter: str) -> bool:
    """Whether words name a number as a page or a chapter, or say that the book is finished.

    Lines that begin with ">" are quoted: they are somebody else's words.
    """
    words = "\n".join(line for line in words.splitlines() if not line.lstrip().startswith(">"))
    tokens = _WORD.findall(words)
    divisions = [is_chapter_word(token) for token in tokens]
    if not (page or chapter):
        return bool(_DONE.search(fold(words))) and not any(_is_part(tokens, at) for at in range(len(tokens)))
    named = [at for at, token in enumerate(tokens) if _is_number(token, page or chapter)]
    if page:
        return any(not any(divisions[max(0, at - 1) : at]) for at in named)
    return any(any(divisions[max(0, at - 1) : at + 2]) for at in named)  # "chapter 5", "the fifth chapter"


def _is_part(tokens: Sequence[str], at: int) -> bool:
    """Whether a word means a division of the book: "the book" is all of it, and "book two" a part."""
    if fold(tokens[at]) not in _BOOKS:
        return is_chapter_word(tokens[at])
    beside = [*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]
    return any(number_value(token) is not None for token in beside)


def _is_number(token: str, label: str) -> bool:
    """Whether a word is that label, or its number in other digits or in words."""
    if token.casefold() == label.casefold():
        return True
    value = number_value(label)
    return value is not None and number_value(token) == value


def place_in(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """The page and the chapter that a call of the tool names: one of them or, for the end of the book, neither.

    None if it names several of these, or something else.
    """
    page, chapter = (str(arguments.get(name, "")).strip() for name in ("page", "chapter"))
    if sum((bool(page), bool(chapter), arguments.get("finished") is True)) != 1:
        return None
    labels = tuple(page_in(label) if label else "" for label in (page, chapter))
    return None if None in labels else (labels[0] or "", labels[1] or "")


def proposals_in(said: Sequence[ChatMessage]) -> tuple[PositionProposed, ...]:
    """The proposals of a turn, from its messages as they were kept."""
    asked = [message for message in said if message.role is MessageRole.USER]
    failed = {message.tool_use_id for message in said if message.is_error}
    calls = [
        call
        for message in said
        for call in message.tool_invocations
        if call.tool_name == PROPOSE_POSITION and call.tool_use_id not in failed
    ]
    places = [place for call in calls if (place := place_in(call.arguments)) is not None]
    made = [proposed(asked, *place) for place in places]
    return tuple(dict.fromkeys(each for each in made if each))

"""The tools with which a model looks into the book of a conversation, all inside the readers' bound."""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from domain.agent.registry import ToolRegistry
from domain.book import Citation, Mentions, Passage, Sentence
from domain.protocols import BookView
from domain.tool_use import ToolDefinition, ToolResult

DEFAULT_TOP_K = 5
MOST_TOP_K = 20
MOST_PHRASINGS = 4
WORD_BUDGET = 8_000
"""Words of the book that one answer may read: about 11,000 tokens, some 25 pages."""


def _definition(name: str, description: str, properties: dict[str, Any], *required: str) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ToolDefinition(name, description, schema)


SEARCH_BOOK = _definition(
    "search_book",
    "Search the book for passages about something; returns the passages that fit best, with chapter and page. "
    "Use it whenever the answer has to come from the book and does not stand in this conversation yet.",
    {
        "query": {
            "type": "string",
            "description": "What to look for, in words that stand on their own: names in place of pronouns.",
        },
        "top_k": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_TOP_K,
            "description": f"How many passages to return (default {DEFAULT_TOP_K}).",
        },
        "also": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": MOST_PHRASINGS,
            "description": "Up to four other phrasings of the same search, with words the book is likely to use.",
        },
    },
    "query",
)
READ_PAGES = _definition(
    "read_pages",
    "Read whole pages of the book in order. Use it to follow a scene, or when a reader names a page.",
    {
        "from": {"type": "string", "description": "The first page, as printed: 12 or xii."},
        "to": {"type": "string", "description": "The last page; left out, only the first is read."},
    },
    "from",
)
READ_AROUND = _definition(
    "read_around",
    "Read on around a passage that was found: what stands just before and after it. Use it when a search finds the "
    "right place but not the answer.",
    {
        "passage": {"type": "string", "description": "The passage's source, such as passage-1200-2100."},
        "before": {"type": "integer", "minimum": 0, "maximum": 5, "description": "Passages before it (default 1)."},
        "after": {"type": "integer", "minimum": 0, "maximum": 5, "description": "Passages after it (default 1)."},
    },
    "passage",
)
TABLE_OF_CONTENTS = _definition(
    "table_of_contents", "List the chapters the readers have reached, with their pages and lengths.", {}
)
FIND_PHRASE = _definition(
    "find_phrase",
    "Find where a line stands in the book, exactly or as somebody half remembers it. Use it for quotations.",
    {"text": {"type": "string", "description": "The line as remembered; typing errors and gaps do not matter."}},
    "text",
)
COUNT_MENTIONS = _definition(
    "count_mentions",
    "Count how often a word or name occurs: exactly, in all and by chapter, with the first and the last place. "
    "Use it for every question of how often, and of where something is first or last mentioned.",
    {"term": {"type": "string", "description": "One word, a name, or a fixed phrase."}},
    "term",
)

BOOK_TOOLS = (SEARCH_BOOK, READ_PAGES, READ_AROUND, TABLE_OF_CONTENTS, FIND_PHRASE, COUNT_MENTIONS)


def book_toolbox(view: BookView) -> ToolRegistry:
    """The tools of one turn over one view of the book."""
    tools = BookTools(view)
    handlers: dict[str, Callable[[dict[str, Any]], Awaitable[ToolResult]]] = {
        "search_book": tools.search_book,
        "read_pages": tools.read_pages,
        "read_around": tools.read_around,
        "table_of_contents": tools.table_of_contents,
        "find_phrase": tools.find_phrase,
        "count_mentions": tools.count_mentions,
    }
    registry = ToolRegistry()
    for definition in BOOK_TOOLS:
        registry.register(definition, handlers[definition.name])
    return registry


class BookTools:
    """Handlers of the book tools. Arguments come from a model: whatever is wrong with them raises ValueError."""

    def __init__(self, view: BookView) -> None:
        self._view = view
        self._words_left = WORD_BUDGET

    async def search_book(self, args: dict[str, Any]) -> ToolResult:
        queries = [_text(args, "query"), *_texts(args, "also")]
        passages = await self._view.search(queries, _whole(args, "top_k", DEFAULT_TOP_K, 1, MOST_TOP_K))
        return self._passages(passages, nothing="No passage of what has been read fits this query.")

    async def read_pages(self, args: dict[str, Any]) -> ToolResult:
        first = _text(args, "from")
        last = _text(args, "to") if args.get("to") not in (None, "") else first
        passages = await self._view.read_pages(first, last)
        return self._passages(passages, unit="page", nothing="These pages are empty.")

    async def read_around(self, args: dict[str, Any]) -> ToolResult:
        before, after = (_whole(args, name, 1, 0, 5) for name in ("before", "after"))
        passage = await self._view.read_around(_text(args, "passage"), before, after)
        return self._passages([passage], nothing="Nothing stands there.")

    async def table_of_contents(self, args: dict[str, Any]) -> ToolResult:
        entries = await self._view.contents()
        if not entries:
            return ToolResult(json.dumps({"chapters": []}), summary="no chapters", depends_to=self._view.read_to)
        lines = [
            {
                "number": entry.number,
                "title": entry.title,
                "page": entry.page,
                "words": entry.words,
                **({} if entry.finished else {"state": "being read"}),
            }
            for entry in entries
        ]
        content = json.dumps({"chapters": lines}, ensure_ascii=False)
        summary = _count(len(lines), "chapter")
        return ToolResult(content, summary=summary, depends_to=self._view.read_to)

    async def find_phrase(self, args: dict[str, Any]) -> ToolResult:
        hits = await self._view.find_phrase(_text(args, "text"))
        exact = sum(hit.exact for hit in hits)
        note = f"{exact} exact, {len(hits) - exact} similar." if hits else ""
        passages = [_passage_of(hit.citation) for hit in hits]
        return self._passages(passages, unit="place", note=note, nothing="No line like this is in what has been read.")

    async def count_mentions(self, args: dict[str, Any]) -> ToolResult:
        mentions = await self._view.count_mentions(_text(args, "term"))
        places = [_passage_of(place) for place in dict.fromkeys((mentions.first, mentions.last)) if place]
        note = _mentions_note(mentions)
        shown = "\n\n".join([note, *map(_labelled, places)])
        return ToolResult(
            shown, tuple(places), depends_to=self._view.read_to, summary=_count(mentions.total, "mention"), note=note
        )

    def _passages(
        self, passages: Iterable[Passage], *, unit: str = "passage", note: str = "", nothing: str
    ) -> ToolResult:
        kept = list(self._within_budget(passages))
        if not kept:
            spent = self._words_left <= 0
            content = "The reading budget of this answer is used up: answer from what you have." if spent else nothing
            return ToolResult(content, summary=f"no {unit}s", depends_to=self._view.read_to)
        left = f"About {max(self._words_left, 0) // 100 * 100:,} words of reading are left for this answer."
        return ToolResult(
            "\n\n".join(_labelled(passage) for passage in kept),
            tuple(kept),
            depends_to=self._view.read_to,  # what was found, and in which order, depends on all that was searched
            summary=_count(len(kept), unit),
            note=f"{note} {left}".strip(),
        )

    def _within_budget(self, passages: Iterable[Passage]) -> Iterable[Passage]:
        for passage in passages:
            if self._words_left <= 0:
                return
            self._words_left -= len(passage.text.split())
            yield passage


def _labelled(passage: Passage) -> str:
    pages = f"Page {passage.page}" if passage.page == passage.last_page else f"Pages {passage.page}-{passage.last_page}"
    where = " · ".join(part for part in (pages, passage.chapter, passage.source) if part)
    return f"[{where}]\n{passage.text}"


def _passage_of(citation: Citation) -> Passage:
    sentence = Sentence(citation.start, citation.end, citation.quote)
    return Passage(0, citation.start, citation.end, citation.page, citation.last_page, citation.chapter, (sentence,))


def _mentions_note(mentions: Mentions) -> str:
    if not mentions.total:
        return f"“{mentions.term}” does not occur in what has been read."
    chapters = "; ".join(f"{title or 'before the first chapter'}: {count}" for title, count in mentions.by_chapter)
    times = _count(mentions.total, "time")
    return f"“{mentions.term}” occurs {times} in what has been read ({chapters}). First and last place:"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _text(args: dict[str, Any], name: str) -> str:
    value = args.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    return value.strip()


def _texts(args: dict[str, Any], name: str) -> list[str]:
    value = args.get(name) or []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ValueError(f"{name} must be a list of texts")
    return [item.strip() for item in listed if item.strip()][:MOST_PHRASINGS]


def _whole(args: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = args.get(name, default)
    if value is None:
        return default
    if isinstance(value, bool) or not str(value).strip().lstrip("-").isdigit():
        raise ValueError(f"{name} must be a whole number from {least} to {most}")
    return min(max(int(value), least), most)

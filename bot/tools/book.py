"""The tools with which a model looks into a conversation's book, all within the readers' bound."""

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from bot.tools.results import (
    WordBudget,
    counted,
    define,
    joined,
    labelled,
    passage_of,
    per_chapter,
    so_far,
    text_argument,
    text_arguments,
    whole_argument,
)
from bot.tools.whole_book import MOST_CHAPTERS, STORY_SO_FAR, WHO_IS, WholeBookTools
from domain.book import ChapterCount, ContentsEntry, Mentions, Passage, numbered
from domain.citations.keys import key_of
from domain.library import progress
from domain.library.search.words import length_in_words
from domain.library.view import READ_WORDS
from domain.ports import BookView, ToolHandler
from domain.tool_use import ToolResult
from domain.tools.registry import NO_CONTEXT, ToolContext, ToolRegistry

MOST_LISTED = 100
"""Chapters in one result; with pages and lengths they have some 1,000 words."""

_LONGEST_TITLE = 120
"""Characters. A longer "title" is the beginning of a chapter."""


def listed(entries: Sequence[ContentsEntry], first: int) -> dict[str, object]:
    """The chapters from number `first` on, the total number, and where to continue."""
    chosen = [entry for entry in entries if entry.number >= first][:MOST_LISTED]
    told: dict[str, object] = {"chapters": [_line(entry) for entry in chosen], "total": len(entries)}
    if chosen and chosen[-1].number < entries[-1].number:
        told["more"] = f"For those after {chosen[-1].number} call again with from={chosen[-1].number + 1}."
    return told


def _line(entry: ContentsEntry) -> dict[str, object]:
    state = {} if entry.finished else {"state": "being read"}
    title = entry.title if len(entry.title) <= _LONGEST_TITLE else entry.title[:_LONGEST_TITLE].rstrip() + "…"
    part = {"part": entry.parent} if entry.parent else {}
    number = {"number": entry.number} if entry.is_counted else {"number": entry.printed} if entry.printed else {}
    return {**number, "title": title, **part, "page": entry.page, "words": entry.words, **_key(entry), **state}


def _key(entry: ContentsEntry) -> dict[str, object]:
    """The key by which a chapter's opening, and so its page, can be cited."""
    return {"key": key_of(entry.opening)} if entry.opening else {}


PROPOSE_POSITION = define(
    progress.PROPOSE_POSITION,
    "Offer the reader to set how far they have read. Use it only when a reader says so themselves (“I am on page 80 "
    "now”, “I have read chapter 5”, “I have finished it”), with one argument. It changes nothing by itself: the reader "
    "confirms, and then their next message sees more.",
    {
        "page": {"type": "string", "description": "The last page the reader has read, as printed: 80 or xii."},
        "chapter": {"type": "string", "description": "The number of the last chapter the reader has read: 5 or V."},
        "finished": {"type": "boolean", "description": "True when the reader says they have finished the book."},
    },
)


def proposer(propose: Callable[[str, str], bool]) -> ToolHandler:
    """The handler. It does not check whether the page exists: that would tell how long the book is."""

    async def call(args: dict[str, Any]) -> ToolResult:
        place = progress.place_in(args)
        if place is None:
            raise ValueError("give one of page and chapter, a number or label such as 80 or xii, or finished")
        page, chapter = place
        name = f"page {page}" if page else f"chapter {chapter}" if chapter else "the end"
        if not propose(page, chapter):
            raise ValueError(f"no reader has written that they have read to {name}; only what they write is offered")
        sentence = f"The reader is asked whether to set their position to {name}. Nothing changes until then."
        return ToolResult(sentence, summary=f"{name} proposed")

    return call


SPENT = "The reading budget of this answer is used up: answer from what you have."

DEFAULT_TOP_K = 5
MOST_TOP_K = 20
MOST_PHRASINGS = 4

SEARCH_BOOK = define(
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
READ_PAGES = define(
    "read_pages",
    "Read whole pages of the book in order. Use it to follow a scene, or when a reader names a page.",
    {
        "from": {"type": "string", "description": "The first page, as printed: 12 or xii."},
        "to": {"type": "string", "description": "The last page; left out, only the first is read."},
    },
    "from",
)
READ_AROUND = define(
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
TABLE_OF_CONTENTS = define(
    "table_of_contents",
    f"List the chapters the readers have reached, with their pages and lengths, {MOST_LISTED} at a time.",
    {
        "from": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_CHAPTERS,
            "description": "The place in the list to begin at (default 1).",
        }
    },
)
FIND_PHRASE = define(
    "find_phrase",
    "Find where a line stands in the book, exactly or as somebody half remembers it. Use it for quotations.",
    {"text": {"type": "string", "description": "The line as remembered; typing errors and gaps do not matter."}},
    "text",
)
COUNT_MENTIONS = define(
    "count_mentions",
    "Count how often a word or name occurs: exactly, in all and by chapter, with the first and the last place. "
    "Use it for every question of how often, and of where something is first or last mentioned.",
    {"term": {"type": "string", "description": "One word, a name, or a fixed phrase."}},
    "term",
)

BOOK_TOOLS = (
    SEARCH_BOOK,
    READ_PAGES,
    READ_AROUND,
    TABLE_OF_CONTENTS,
    FIND_PHRASE,
    COUNT_MENTIONS,
    STORY_SO_FAR,
    WHO_IS,
)
"""The reading tools. A conversation has one more, for proposing a new position."""


def book_toolbox(view: BookView, context: ToolContext = NO_CONTEXT, *, tell_budget: bool = True) -> ToolRegistry:
    """The tools of one turn over one view of the book, which share one reading budget."""
    budget = WordBudget(told=tell_budget)
    tools, whole = BookTools(view, budget), WholeBookTools(view, budget, context)
    handlers: dict[str, ToolHandler] = {
        "search_book": tools.search_book,
        "read_pages": tools.read_pages,
        "read_around": tools.read_around,
        "table_of_contents": tools.table_of_contents,
        "find_phrase": tools.find_phrase,
        "count_mentions": tools.count_mentions,
        "story_so_far": whole.story_so_far,
        "who_is": whole.who_is,
    }
    registry = ToolRegistry()
    for definition in BOOK_TOOLS:
        registry.register(definition, handlers[definition.name])
    if context.propose:
        registry.register(PROPOSE_POSITION, proposer(context.propose))
    return registry


class BookTools:
    """Handlers of the book tools. Arguments come from a model: invalid ones raise ValueError."""

    def __init__(self, view: BookView, budget: WordBudget) -> None:
        self._view = view
        self._budget = budget

    async def search_book(self, args: dict[str, Any]) -> ToolResult:
        query, also = text_argument(args, "query"), text_arguments(args, "also")
        top_k = whole_argument(args, "top_k", DEFAULT_TOP_K, 1, MOST_TOP_K)
        passages = await self._view.search([query, *also[:MOST_PHRASINGS]], top_k)
        missing = await self._view.missing_words(query)
        notes = ["Of the other phrasings only the first four were searched."] if len(also) > MOST_PHRASINGS else []
        notes += [f"By “{word}”, “{spelt[0]}” may be meant." for word, spelt in missing.items() if spelt]
        nothing = f"Nothing {'read so far' if so_far(self._view) else 'in the book'} matches this query."
        result = self._passages(joined(passages), note=" ".join(notes), nothing=nothing)
        return replace(result, data={"missing": missing})

    async def read_pages(self, args: dict[str, Any]) -> ToolResult:
        first = text_argument(args, "from")
        last = text_argument(args, "to") if args.get("to") not in (None, "") else first
        passages = await self._view.read_pages(first, last)
        note = _where_it_stops(passages)
        return self._passages(passages, unit="page", note=note, nothing="These pages are empty.")

    async def read_around(self, args: dict[str, Any]) -> ToolResult:
        before, after = (whole_argument(args, name, 1, 0, 5) for name in ("before", "after"))
        passage = await self._view.read_around(text_argument(args, "passage"), before, after)
        return self._passages([passage], nothing="Nothing stands there.")

    async def table_of_contents(self, args: dict[str, Any]) -> ToolResult:
        entries = await self._view.contents()
        told = listed(entries, whole_argument(args, "from", 1, 1, MOST_CHAPTERS))
        self._budget.spend(len(json.dumps(told).split()))
        if sentence := self._budget.sentence:
            told["budget"] = sentence
        content = json.dumps(told, ensure_ascii=False)
        summary = counted(len(entries), "chapter")
        data = await asyncio.to_thread(_contents_data, entries)
        return ToolResult(content, summary=summary, depends_to=self._view.read_to, data=data)

    async def find_phrase(self, args: dict[str, Any]) -> ToolResult:
        hits = await self._view.find_phrase(text_argument(args, "text"))
        exact = sum(hit.exact for hit in hits)
        note = f"{exact} exact, {len(hits) - exact} similar." if hits else ""
        passages = [passage_of(hit.citation) for hit in hits]
        nothing = f"No line like this has appeared{so_far(self._view)}."
        return self._passages(passages, unit="place", note=note, nothing=nothing)

    async def count_mentions(self, args: dict[str, Any]) -> ToolResult:
        mentions = await self._view.count_mentions(text_argument(args, "term"))
        found = dict.fromkeys((mentions.in_story or mentions.first, mentions.last))
        places = [passage_of(place) for place in found if place]
        told = await asyncio.to_thread(_mentions_note, mentions, so_far(self._view))
        self._budget.spend(sum(length_in_words(text) for text in (told, *(place.text for place in places))))
        note = " ".join(filter(None, (told, self._budget.sentence, "First and last place:"))) if places else told
        shown = "\n\n".join([note, *map(labelled, places)])
        return ToolResult(
            shown,
            tuple(places),
            depends_to=self._view.read_to,
            summary=counted(mentions.total, "mention"),
            note=note,
            data=await asyncio.to_thread(_mentions_data, mentions),
        )

    def _passages(
        self, passages: Iterable[Passage], *, unit: str = "passage", note: str = "", nothing: str
    ) -> ToolResult:
        kept = self._budget.take(passages)
        if not kept:
            content = nothing if self._budget.left else SPENT
            return ToolResult(content, summary=f"no {unit}s", depends_to=self._view.read_to)
        return ToolResult(
            "\n\n".join(labelled(passage) for passage in kept),
            tuple(kept),
            depends_to=self._view.read_to,  # the results and their order depend on everything that was searched
            summary=counted(len(kept), unit),
            note=f"{note} {self._budget.sentence}".strip(),
        )


def _contents_data(entries: Sequence[ContentsEntry]) -> dict[str, Any]:
    """All chapters, including those beyond the list."""
    told = (
        {
            "number": each.number,
            "printed": each.printed,
            "title": each.title,
            "parent": each.parent,
            "page": each.page,
            "last_page": each.last_page,
            "words": each.words,
            **_key(each),
        }
        for each in entries
    )
    return {"chapters": [*told]}


def _mentions_data(mentions: Mentions) -> dict[str, Any]:
    """The total count, and the count in each chapter with the term."""
    return {"total": mentions.total, "chapters": [_count_data(each) for each in mentions.by_chapter]}


def _count_data(each: ChapterCount) -> dict[str, Any]:
    return {
        "number": each.number,
        "title": numbered(each.number, each.title, is_counted=each.is_counted) if each.number else "",
        "parent": each.parent,
        "count": each.count,
    }


def _where_it_stops(passages: Sequence[Passage]) -> str:
    """Where to continue, if there may be too much to read at once: the last sentence that fits ends a bit before."""
    if sum(length_in_words(passage.text) for passage in passages) < READ_WORDS * 0.9:
        return ""
    page = passages[-1].last_page
    return f"At most {READ_WORDS:,} words are read at once; this stops on page {page}: go on from there if need be."


def _mentions_note(mentions: Mentions, extent: str) -> str:
    if not mentions.total:
        return f"This hasn't appeared{extent}."
    chapters = per_chapter(mentions.by_chapter)
    times = counted(mentions.total, "time")
    return f"“{mentions.term}” appears {times}{extent} ({chapters})."

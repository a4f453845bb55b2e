"""What the tools over books share: how pieces of a book are presented to a model, and how arguments are read."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from domain.book import ChapterCount, Citation, Passage, Sentence, numbered, page_reference
from domain.library.search.words import length_in_words
from domain.ports import BookView
from domain.tool_use import ToolDefinition

WORD_BUDGET = 8_000
"""Words of the book that one answer may read: about 11,000 tokens, some 25 pages."""

MOST_CHAPTERS_COUNTED = 40
"""Chapters whose counts are listed one by one: those with the highest."""


class WordBudget:
    """The reading budget of one answer. One that is not `told` applies all the same."""

    def __init__(self, words: int = WORD_BUDGET, *, told: bool = True) -> None:
        self._left = words
        self._told = told

    @property
    def left(self) -> int:
        """Words; never below zero."""
        return max(self._left, 0)

    @property
    def sentence(self) -> str:
        """The rest of the budget in words for the model; blank if it is not to be told."""
        if not self._told:
            return ""
        return f"About {self.left // 100 * 100:,} words of reading are left for this answer."

    def spend(self, words: int) -> None:
        self._left -= words

    def take(self, passages: Iterable[Passage]) -> list[Passage]:
        """The passages there is space for; the last may exceed it a little."""
        taken = []
        for passage in passages:
            if not self.left:
                break
            self.spend(length_in_words(passage.text))
            taken.append(passage)
        return taken


def joined(passages: Iterable[Passage]) -> list[Passage]:
    """Passages of one search, best first, with adjacent ones of a chapter joined."""
    runs: list[Passage] = []
    for passage in passages:
        beside = [run for run in runs if _follows(run, passage) or _follows(passage, run)]
        whole = _one(sorted((*beside, passage), key=lambda part: part.start))
        place = runs.index(beside[0]) if beside else len(runs)
        runs = [run for run in runs if run not in beside]
        runs.insert(place, whole)
    return runs


def _follows(one: Passage, other: Passage) -> bool:
    """Whether no sentence is between the end of one and the beginning of the other."""
    return one.id + len(one.sentences) == other.id and one.chapter == other.chapter


def _one(parts: Sequence[Passage]) -> Passage:
    """Adjacent parts as one passage."""
    return replace(
        parts[0],
        end=parts[-1].end,
        last_page=parts[-1].last_page,
        sentences=tuple(sentence for part in parts for sentence in part.sentences),
        score=max(part.score for part in parts),
    )


def per_chapter(counts: Sequence[ChapterCount]) -> str:
    """Counts in reading order; of very many chapters the highest ones, and the total of the others."""
    most = sorted(counts, key=lambda each: (-each.count, each.number))[:MOST_CHAPTERS_COUNTED]
    shown = {each.number for each in most}
    told = [f"{_chapter(each)}: {each.count}" for each in counts if each.number in shown]
    others = [each.count for each in counts if each.number not in shown]
    if others:
        told.append(f"{counted(len(others), 'other chapter')} together: {sum(others)}")
    return "; ".join(told)


def _chapter(each: ChapterCount) -> str:
    return numbered(each.number, each.title, is_counted=each.is_counted) if each.number else "before the first chapter"


def labelled(passage: Passage, *, estimated: bool = False) -> str:
    """A passage under a line with its place."""
    pages = f"Page {passage.page}" if passage.page == passage.last_page else f"Pages {passage.page}-{passage.last_page}"
    if estimated:
        pages = page_reference(passage.page, passage.last_page, estimated=True)
    where = " · ".join(part for part in (pages, passage.chapter, passage.source) if part)
    return f"[{where}]\n{passage.text}"


def passage_of(citation: Citation) -> Passage:
    """A cited span as a passage of one sentence."""
    sentence = Sentence(citation.start, citation.end, citation.quote)
    return Passage(0, citation.start, citation.end, citation.page, citation.last_page, citation.chapter, (sentence,))


def so_far(view: BookView) -> str:
    """What follows a statement about what has been found, while more of the book may follow."""
    return "" if view.book.is_all_before(view.read_to) else " so far"


def counted(number: int, noun: str) -> str:
    """ "1 place", "2 places"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def define(name: str, description: str, properties: dict[str, Any], *required: str) -> ToolDefinition:
    """A definition that takes these parameters and no others."""
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ToolDefinition(name, description, schema)


def text_argument(args: dict[str, Any], name: str) -> str:
    """A text that is not blank; a number is accepted as text."""
    value = args.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text that is not empty")
    return value.strip()


def text_arguments(args: dict[str, Any], name: str) -> list[str]:
    """A list of texts without blank ones; a single text is accepted as a list."""
    value = args.get(name) or []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise ValueError(f"{name} must be a list of texts")
    return [item.strip() for item in listed if item.strip()]


def whole_argument(args: dict[str, Any], name: str, default: int, least: int, most: int) -> int:
    """An integer, clamped to its limits; 5.0 is one, as in JSON Schema: some servers write all numbers so."""
    value = args.get(name, default)
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not str(value).strip().removeprefix("-").isdecimal():
        raise ValueError(f"{name} must be a whole number from {least} to {most}")
    return min(max(int(value), least), most)

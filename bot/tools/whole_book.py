"""The tools for questions about a whole book: what has happened so far, and who is who."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any

from bot.tools.results import (
    WordBudget,
    counted,
    define,
    labelled,
    passage_of,
    per_chapter,
    so_far,
    text_argument,
)
from domain.book import Mentions, Passage, Sentence
from domain.errors import BookError, BookErrorCode, Worded
from domain.library.addressing import find_chapter, with_descendants
from domain.library.search.sentences import split_sentences
from domain.library.search.words import length_in_words, words_of
from domain.library.summaries import SHORTEST, Digest, extracts, most_salient, weights_of
from domain.ports import BookView
from domain.reading.portrait import as_written, forms_among, in_story, people_met, sentences_about
from domain.reading.recap import introductions, other_names
from domain.tool_use import ToolResult
from domain.tools.registry import ToolContext

STORY_SHARE = 0.5
"""The share of the reading budget that summaries may take; the rest is for looking things up."""

FEWEST_SUMMARY_WORDS = 25
TELLING_WORDS = 1_500
"""Words of the book that accompany the summaries, for citing."""

MOST_CHAPTERS = 10_000
INTRODUCTIONS = 4
DENSEST = 2
FORMS = 8
MOST_LISTED = 16
"""People of a book or chapter."""

STORY_SO_FAR = define(
    "story_so_far",
    "Recall what has happened so far, chapter by chapter: short summaries, with telling sentences to cite. Use it for "
    "questions about the whole (what has happened, who is who, themes, how somebody changes); search for details then.",
    {
        "chapter": {
            "type": "string",
            "description": "One chapter as the book prints it, such as 5, “Book Two chapter 5” or its title, or a "
            "whole part, such as “Book Two”; left out, all that has been read.",
        }
    },
)
WHO_IS = define(
    "who_is",
    "Find out who a person is in what has been read: how often named, by which names, where first, how introduced, and "
    "the passages that say most. Use it when somebody asks who or what a name is, and without a name for who there is.",
    {
        "name": {
            "type": "string",
            "description": "The name as the book writes it, without titles if possible; left out, all people met.",
        },
        "chapter": {
            "type": "string",
            "description": "Without a name: only the people of one chapter, as for story_so_far.",
        },
    },
)


class WholeBookTools:
    """Handlers of the tools for the whole book."""

    def __init__(self, view: BookView, budget: WordBudget, context: ToolContext) -> None:
        self._view = view
        self._budget = budget
        self._digests = context.digests or partial(extracts, view)

    async def story_so_far(self, args: dict[str, Any]) -> ToolResult:
        chapter = args.get("chapter")
        numbers = [] if chapter in (None, "") else await self._numbers(chapter)
        wanted: Sequence[int | None] = numbers or [None]
        digests = [each for number in wanted for each in await self._digests(number)]
        if not digests:
            return self._result("Nothing has been read yet.", [], "nothing read yet")
        note = _story_note(digests, round(self._budget.left * STORY_SHARE))
        self._budget.spend(length_in_words(note))
        passages = self._budget.take(await self._telling(digests))
        result = self._result(note, passages, _story_summary(digests, "part" if chapter else "chapter"))
        return replace(result, data={"chapters": numbers})

    async def _numbers(self, chapter: object) -> list[int]:
        """The numbers of a chapter, and of the chapters in it if it is a part.

        Raises:
            BookError: NOT_FOUND, there is no such chapter in what has been read, or in more than one part.
        """
        if isinstance(chapter, bool) or not isinstance(chapter, int | str):
            raise ValueError("chapter must be the number or title of one chapter")  # noqa: TRY004 - told to the model
        name = str(chapter).strip()
        if name == "0":
            return [0]
        entries = await self._view.contents()
        found = await asyncio.to_thread(find_chapter, entries, name)
        if found is None:
            sentence = Worded("There's no chapter {number} in what's been read so far.", number=name[:60])
            raise BookError(BookErrorCode.NOT_FOUND, sentence)
        return [each.number for each in with_descendants(entries, found)]

    async def who_is(self, args: dict[str, Any]) -> ToolResult:
        if args.get("name") in (None, ""):
            chapter = args.get("chapter")
            return await self._everybody([] if chapter in (None, "") else await self._numbers(chapter))
        name = await as_written(self._view, text_argument(args, "name"))
        mentions = await self._view.count_mentions(name)
        sentences = await sentences_about(self._view, name)
        if not sentences or mentions.first is None:
            return self._result(f"Nobody with this name has appeared{so_far(self._view)}.", [], "not mentioned")
        first = passage_of(mentions.in_story or mentions.first)
        mentions = in_story(mentions, await self._view.contents())
        told_of = [sentence for sentence in sentences[name] if sentence.start >= first.start]
        introduced = await asyncio.to_thread(introductions, name, told_of, INTRODUCTIONS)
        forms = await asyncio.to_thread(forms_among, name, sentences)
        note = await asyncio.to_thread(_portrait_note, mentions, sentences, forms, so_far(self._view))
        fuller = _fuller(name, sentences[name], forms)
        shown = dict.fromkeys(each for each in (*fuller, *introduced) if each.start != first.start)
        told = [await self._cited(sentence) for sentence in shown]
        densest = await self._view.search([name], DENSEST)
        passages = self._budget.take([first, *told, *densest])
        result = self._result(note, passages, counted(mentions.total, "mention"))
        return replace(result, data={"name": name})

    async def _everybody(self, chapters: Sequence[int]) -> ToolResult:
        met = await people_met(self._view)
        met = (await self._in_chapters(met, chapters) if chapters else met)[:MOST_LISTED]
        if not chapters:
            contents = await self._view.contents()
            met = [(name, in_story(each, contents)) for name, each in met]
        if not met:
            return self._result(f"No names of people stand out{so_far(self._view)}.", [], "not mentioned")
        listed = ", ".join(f"{name} ({each.total})" for name, each in met)
        passages = self._budget.take([passage_of(each.in_story) for _, each in met if each.in_story])
        note = f"People met{' there' if chapters else so_far(self._view)}: {listed}. The first place of each:"
        result = self._result(note, passages, counted(len(met), "name"))
        return replace(result, data={"people": [name for name, _ in met]})

    async def _in_chapters(
        self, met: list[tuple[str, Mentions]], chapters: Sequence[int]
    ) -> list[tuple[str, Mentions]]:
        """Those of the people met who are in some chapters, with their mentions there."""
        parts = [await self._view.read_chapter(number) for number in chapters]
        found = []
        for name, each in met:
            if any(chapter.number in chapters for chapter in each.by_chapter):
                told = await self._view.mentions(each.term, each.total)
                there = [s for s in told if any(part.start <= s.start < part.end for part in parts)]
                firsts = [await self._view.cite(s.start, s.end) for s in there[:1]]
                found += [(name, replace(each, total=len(there), in_story=first)) for first in firsts]
        return sorted(found, key=lambda each: -each[1].total)

    async def _telling(self, digests: Sequence[Digest]) -> list[Passage]:
        """Telling sentences of all chapters, fewer of each if there are many; and the text that no
        summary covers yet.
        """
        chosen = await asyncio.to_thread(_chosen, digests, self._budget.left)
        return [await self._cited(sentence) for sentence in chosen]

    async def _cited(self, sentence: Sentence) -> Passage:
        return passage_of(await self._view.cite(sentence.start, sentence.end))

    def _result(self, note: str, passages: Sequence[Passage], summary: str) -> ToolResult:
        content = "\n\n".join([note, *map(labelled, passages)])
        return ToolResult(content, tuple(passages), depends_to=self._view.read_to, summary=summary, note=note)


def _chosen(digests: Sequence[Digest], room: int) -> list[Sentence]:
    """The sentences to tell for which there is room, in words; the last may exceed it a little."""
    words = sum(length_in_words(sentence.text) for digest in digests for sentence in digest.telling)
    shorter = _with_one_sentence_each(digests) if words > TELLING_WORDS else digests
    chosen = [sentence for digest in shorter for sentence in (*digest.telling, *digest.uncovered)]
    before = accumulate((length_in_words(sentence.text) for sentence in chosen), initial=0)
    return [sentence for sentence, told in zip(chosen, before, strict=False) if told < room]


def _with_one_sentence_each(digests: Sequence[Digest]) -> list[Digest]:
    """The parts with one sentence each: the one that has most to do with the whole story."""
    weights = weights_of(sentence for digest in digests for sentence in digest.telling)
    chosen = [most_salient(digest.telling, 1, weights) or digest.telling[:1] for digest in digests]
    return [replace(digest, telling=tuple(telling)) for digest, telling in zip(digests, chosen, strict=True)]


def _story_summary(digests: Sequence[Digest], unit: str) -> str:
    """How much was summarised, and how much has no summary although other parts have one."""
    without = sum(map(_lacks_summary, digests))
    missing = f", {without} without a summary yet" if 0 < without < len(digests) else ""
    return counted(len(digests), unit) + missing


def _lacks_summary(digest: Digest) -> bool:
    """Whether a summary has yet to be written; short parts never get one and are quoted."""
    return not digest.summary and digest.piece.words > SHORTEST


def _story_note(digests: Sequence[Digest], words: int) -> str:
    each = max(words // len(digests), FEWEST_SUMMARY_WORDS)
    lines = [f"{_heading(digest)}: {_shortened(digest.summary, each)}" for digest in digests if digest.summary]
    if not lines:
        return "Key sentences from the part that has been read, chapter by chapter:"
    without = [_heading(digest) for digest in digests if _lacks_summary(digest)]
    missing = ""
    if without:
        missing = (
            f"There is no summary yet of {'; '.join(without)}: of these only sentences. "
            "Tell the reader so, and that more get one when they ask again."
        )
    return "\n".join(["Summaries of the part that has been read; cite the sentences below.", *lines, missing]).strip()


def _heading(digest: Digest) -> str:
    piece = digest.piece
    part = f", part {piece.number}" if piece.number > 1 or not piece.last else ""
    if not piece.chapter:
        return f"Beginning{part}"
    return f"Chapter {piece.chapter} ({piece.title}){part}" if piece.is_counted else f"{piece.title}{part}"


def _shortened(summary: str, words: int) -> str:
    """The summary's first sentences, at least one: the first says the most important."""
    kept: list[str] = []
    for start, end in split_sentences(summary):
        if kept and sum(map(length_in_words, (*kept, summary[start:end]))) > words:
            break
        kept.append(summary[start:end])
    return " ".join(kept)


_FULLER = 2
"""Sentences with a longer form of a name, for which a reader may ask."""

_FEWEST_WORDS = 10
"""Words in a sentence that is hardly a heading."""


def _fuller(name: str, sentences: Sequence[Sentence], forms: Counter[str]) -> list[Sentence]:
    """A sentence with each of the most frequent longer forms of a name: "Lucy Westenra" for "Lucy"."""
    longer = [form for form, _ in forms.most_common() if name in form and form != name]
    found = ([each for each in sentences if form in each.text] for form in longer[:_FULLER])
    return [min(each, key=lambda told: len(words_of(told.text)) < _FEWEST_WORDS) for each in found if each]


def _portrait_note(mentions: Mentions, sentences: dict[str, list[Sentence]], forms: Counter[str], extent: str) -> str:
    name, times = mentions.term, counted(mentions.total, "time")
    parts = [f"“{name}” is mentioned {times}{extent} ({per_chapter(mentions.by_chapter)})."]
    if listed := ", ".join(f"{form} ({count})" for form, count in forms.most_common(FORMS)):
        parts.append(f"Other forms of the name, not necessarily of the same person: {listed}.")
    if others := other_names(name, sentences.get(name, [])):
        parts.append(f"Names given along with it: {', '.join(others[:FORMS])}.")
    parts.append("The first mention, sentences that introduce the name, and the passages that have it most:")
    return "\n".join(parts)

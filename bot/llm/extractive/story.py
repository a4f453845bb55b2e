"""Answers about the whole: sentences that tell what has happened."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.intents import Overview
from bot.llm.extractive.language import Language
from bot.llm.extractive.phrases import PHRASES
from bot.llm.extractive.quoting import quotations, render
from bot.llm.extractive.transcript import Transcript
from domain.book import Sentence
from domain.library.salience import most_telling, weights_of

_MOST_TOLD = 6
"""Telling sentences of few chapters: as many as fit on a screen."""

_MOST_CHAPTERS = 12
_ROOM = 1_500
"""Characters of a story told by its chapters, references left out: with them it fits into one message on Discord."""

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class _Chapter:
    """A chapter and the sentences that can be quoted of it."""

    title: str
    told: list[Candidate]

    @property
    def length(self) -> int:
        """In characters."""
        return len(self.title) + sum(len(candidate.text) for candidate in self.told)

    def shortened(self, most: int, weights: Counter[str]) -> "_Chapter":
        """With the sentences that tell most of what is told elsewhere, too."""
        chosen = most_telling([candidate.sentence for candidate in self.told], most, weights)
        kept = [candidate for candidate in self.told if candidate.sentence in chosen]
        return _Chapter(self.title, kept or self.told[:most])


def overview(wish: Overview, transcript: Transcript, language: Language) -> str:
    """Telling sentences, and plainly that they are no summary; empty where they were not looked for."""
    looks = transcript.looks_for("story_so_far")
    if not looks:
        return ""
    phrases = PHRASES[language]
    passages = looks[-1].result.passages
    titles = {sentence: passage.chapter for passage in passages for sentence in passage.sentences}
    told = [candidate for candidate in gather([passages], language) if not candidate.is_heading]
    if not told:
        return phrases.no_summary
    found = _by_chapter(told[-_MOST_TOLD:] if wish.latest else told, titles)
    shown = found if wish.latest else _story(found)
    lead = phrases.telling if len(shown) == len(found) else phrases.telling_some.format(len(shown), len(found))
    return "\n\n".join([f"{phrases.no_summary} {lead}", *(_part(chapter, language) for chapter in shown)])


def _by_chapter(told: Sequence[Candidate], titles: Mapping[Sentence, str]) -> list[_Chapter]:
    grouped = groupby(told, key=lambda candidate: titles[candidate.sentence])
    return [_Chapter(title, list(candidates)) for title, candidates in grouped]


def _story(chapters: Sequence[_Chapter]) -> list[_Chapter]:
    """The sentences that tell most of each chapter; as many chapters as there is room for, at even distances."""
    if len(chapters) == 1:
        return [_Chapter(chapter.title, _spread(chapter.told, _MOST_TOLD)) for chapter in chapters]
    weights = weights_of(candidate.sentence for chapter in chapters for candidate in chapter.told)
    each = max(_MOST_TOLD // len(chapters), 1)
    for many in range(min(len(chapters), _MOST_CHAPTERS), 1, -1):
        shown = [chapter.shortened(each, weights) for chapter in _spread(chapters, many)]
        if sum(chapter.length for chapter in shown) <= _ROOM:
            return shown
    return [chapter.shortened(1, weights) for chapter in _spread(chapters, 2)]


def _part(chapter: _Chapter, language: Language) -> str:
    rendered = render(quotations(chapter.told), language)
    return f"**{chapter.title}**\n{rendered}" if chapter.title else rendered


def _spread(of: Sequence[_Thing], many: int) -> list[_Thing]:
    """So many at even distances, from the first to the last; `many` is more than one."""
    if len(of) <= many:
        return list(of)
    step = (len(of) - 1) / (many - 1)
    return [of[round(at * step)] for at in range(many)]

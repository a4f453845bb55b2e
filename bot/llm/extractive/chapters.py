"""Answers about the whole: the chapters, and sentences that tell what has happened."""

import json
from itertools import groupby
from typing import Any

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.intents import Overview
from bot.llm.extractive.language import Language
from bot.llm.extractive.phrases import PHRASES, Phrases
from bot.llm.extractive.quoting import quotations, render
from bot.llm.extractive.transcript import Transcript

_MOST_LISTED = 40
_MOST_TOLD = 6
"""Telling sentences in an overview: as many as fit on a screen."""


def contents(transcript: Transcript, phrases: Phrases) -> str:
    """The chapters with their pages; empty where the table of contents was not looked at."""
    looks = transcript.looks_for("table_of_contents")
    if not looks:
        return ""
    listed, total = _listed(looks[-1].result.content)
    if not listed:
        return phrases.no_contents
    lines = [
        f"* {' '.join(str(entry.get('title')).split())}, p. {entry.get('page')}" for entry in listed[:_MOST_LISTED]
    ]
    more = [phrases.more.format(total - _MOST_LISTED)] if total > _MOST_LISTED else []
    return "\n".join([phrases.contents.format(total), *lines, *more])


def _listed(content: str) -> tuple[list[dict[str, Any]], int]:
    """The chapters that are listed, and how many there are."""
    try:
        told = json.loads(content)
    except ValueError:
        told = None
    listed = told.get("chapters") if isinstance(told, dict) else None
    if not isinstance(listed, list):
        return [], 0
    entries = [entry for entry in listed if isinstance(entry, dict)]
    return entries, max(told.get("total") or 0, len(entries))


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
    chosen = told[-_MOST_TOLD:] if wish.latest else _spread(told)
    parts = [
        _part(title, list(candidates), language)
        for title, candidates in groupby(chosen, key=lambda candidate: titles[candidate.sentence])
    ]
    return "\n\n".join([f"{phrases.no_summary} {phrases.telling}", *parts])


def _part(title: str, candidates: list[Candidate], language: Language) -> str:
    rendered = render(quotations(candidates), language)
    return f"**{title}**\n{rendered}" if title else rendered


def _spread(told: list[Candidate]) -> list[Candidate]:
    """A few at even distances, from the first to the last."""
    if len(told) <= _MOST_TOLD:
        return told
    step = (len(told) - 1) / (_MOST_TOLD - 1)
    return [told[round(at * step)] for at in range(_MOST_TOLD)]

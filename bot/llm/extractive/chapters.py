"""Answers about the chapters: which there are."""

import json
from typing import Any

from bot.llm.extractive.phrases import Phrases
from bot.llm.extractive.transcript import Transcript

_MOST_LISTED = 40


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

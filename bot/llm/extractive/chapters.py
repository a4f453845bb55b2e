"""Answers from the table of contents: the chapters, and how they begin."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.language import Language
from bot.llm.extractive.phrases import PHRASES, Phrases
from bot.llm.extractive.quoting import quotations, render
from bot.llm.extractive.transcript import Transcript
from domain.agent.quotations import fold

_MOST_LISTED = 40
_MOST_OPENED = 4
_FIRST_PAGE = "1"
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Entry:
    """A chapter as the table of contents has it."""

    number: int
    title: str
    page: str


def entries(transcript: Transcript) -> list[Entry] | None:
    """The chapters of the table of contents; None where it was not looked at."""
    looks = transcript.looks_for("table_of_contents")
    if not looks:
        return None
    try:
        listed = json.loads(looks[-1].result.content)["chapters"]
        return [Entry(int(e["number"]), " ".join(str(e["title"]).split()), str(e["page"])) for e in listed]
    except (ValueError, KeyError, TypeError):
        return []


def contents(transcript: Transcript, phrases: Phrases) -> str:
    """The chapters with their pages; empty where the table of contents was not looked at."""
    listed = entries(transcript)
    if listed is None:
        return ""
    if not listed:
        return phrases.no_contents
    lines = [f"* {entry.title or entry.number}, p. {entry.page}" for entry in listed[:_MOST_LISTED]]
    more = [phrases.more.format(len(listed) - _MOST_LISTED)] if len(listed) > _MOST_LISTED else []
    return "\n".join([phrases.contents.format(len(listed)), *lines, *more])


def pages_to_open(chapter: str, transcript: Transcript) -> list[str]:
    """The pages on which the chapters begin that an overview is to show."""
    listed = entries(transcript)
    if listed is None:
        return []
    return list(dict.fromkeys(entry.page for entry in _picked(listed, chapter))) or [_FIRST_PAGE]


def overview(chapter: str, transcript: Transcript, language: Language) -> str:
    """How chapters begin, and plainly that it is no summary; empty where the table of contents was not looked at."""
    listed = entries(transcript)
    if listed is None:
        return ""
    phrases = PHRASES[language]
    opened = {str(look.call.arguments.get("from")): look.result.passages for look in transcript.looks_for("read_pages")}
    pages = {page: gather([passages], language) for page, passages in opened.items()}
    picked = _picked(listed, chapter) or [Entry(0, "", page) for page in pages]
    begun = [(entry, _opening(entry, pages.get(entry.page, []))) for entry in picked]
    lines = [_line(entry, opening, language) for entry, opening in begun if opening]
    return "\n\n".join([f"{phrases.no_summary} {phrases.openings}" if lines else phrases.no_summary, *lines])


def _line(entry: Entry, opening: Candidate, language: Language) -> str:
    rendered = render(quotations([opening]), language)
    return f"**{entry.title}**\n{rendered}" if entry.title else rendered


def _picked(listed: Sequence[Entry], chapter: str) -> list[Entry]:
    """The chapter named, the latest, or a few at even distances from the first to the last."""
    if chapter == "latest":
        return list(listed[-_MOST_OPENED:])
    if chapter:
        return [entry for entry in listed if entry.number == _number(chapter)]
    if len(listed) <= _MOST_OPENED:
        return list(listed)
    step = (len(listed) - 1) / (_MOST_OPENED - 1)
    return [listed[round(at * step)] for at in range(_MOST_OPENED)]


def _number(chapter: str) -> int:
    if chapter.isdecimal():
        return int(chapter)
    values = [_ROMAN.get(letter, 0) for letter in chapter.lower()]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


def _opening(entry: Entry, page: Sequence[Candidate]) -> Candidate | None:
    """The first sentence after the heading; where no heading is found, the first of the page."""
    title = fold(entry.title)
    headings = [at for at, candidate in enumerate(page) if fold(candidate.text) and fold(candidate.text) in title]
    rest = page[headings[-1] + 1 :] if title and headings else page
    return next((candidate for candidate in rest if not candidate.is_heading), None)

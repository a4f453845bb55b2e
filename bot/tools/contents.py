"""The table of contents as a model gets it, a stretch of a long one at a time."""

from collections.abc import Sequence

from domain.book import ContentsEntry

MOST_LISTED = 100
"""Chapters in one answer; with pages and lengths they are some 1,000 words."""

_LONGEST_TITLE = 120
"""Characters. What calls itself a title and is longer is the beginning of a chapter."""


def listed(entries: Sequence[ContentsEntry], first: int) -> dict[str, object]:
    """The chapters from the one numbered `first` on, how many there are in all, and where to go on."""
    chosen = [entry for entry in entries if entry.number >= first][:MOST_LISTED]
    told: dict[str, object] = {"chapters": [_line(entry) for entry in chosen], "total": len(entries)}
    if chosen and chosen[-1].number < entries[-1].number:
        told["more"] = f"For those after {chosen[-1].number} call again with from={chosen[-1].number + 1}."
    return told


def _line(entry: ContentsEntry) -> dict[str, object]:
    state = {} if entry.finished else {"state": "being read"}
    title = entry.title if len(entry.title) <= _LONGEST_TITLE else entry.title[:_LONGEST_TITLE].rstrip() + "…"
    return {"number": entry.number, "title": title, "page": entry.page, "words": entry.words, **state}

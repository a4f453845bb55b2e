"""What was counted, said in a sentence: how often, where first and last, where most."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.llm.extractive.phrases import Phrases

_COUNTED = re.compile(r"([\d,]+) times? in what has been read(?: \((.*?: \d+)\))?[.:]?\s", re.DOTALL)
_CHAPTER = re.compile(r"(.+?): (\d+)(?:; |$)", re.DOTALL)
_FRONT = "before the first chapter"
_OTHERS = re.compile(r"\d[\d,]* other chapters? together")


@dataclass(frozen=True, slots=True)
class Tally:
    """`chapters` are those with the most mentions, in order; `complete` says that there are no others."""

    total: str
    chapters: Mapping[str, int]
    complete: bool

    def sentence(self, term: str, phrases: Phrases) -> str:
        return f"{phrases.counted.format(term, self.total)}{self._where(phrases)}."

    def _where(self, phrases: Phrases) -> str:
        named = [*self.chapters]
        if not named or named == [_FRONT]:
            return ""
        if not self.complete:
            return self._most(phrases)
        if len(named) == 1:
            return phrases.all_in.format(_title(named[0], phrases))
        first, last = (self._end(name, phrases) for name in (named[0], named[-1]))
        between = phrases.between.format(first, last)
        return between if self._top in (named[0], named[-1]) else between + self._most(phrases)

    def _end(self, name: str, phrases: Phrases) -> str:
        there = phrases.mostly_there.format(self.chapters[name]) if name == self._top else ""
        return _title(name, phrases) + there

    def _most(self, phrases: Phrases) -> str:
        return phrases.mostly.format(_title(self._top, phrases), self.chapters[self._top]) if self._top else ""

    @property
    def _top(self) -> str:
        """The chapter with the most mentions; none where several share the first place."""
        most = max(self.chapters.values())
        names = [name for name, count in self.chapters.items() if count == most]
        return names[0] if len(names) == 1 else ""


def tally_of(told: str) -> Tally | None:
    """What a result of `count_mentions` says, if it can be made out."""
    found = _COUNTED.search(f"{told} ")
    if found is None:
        return None
    counts = {name: int(count) for name, count in _CHAPTER.findall(found[2] or "")}
    chapters = {name: count for name, count in counts.items() if not _OTHERS.fullmatch(name)}
    return Tally(found[1], chapters, complete=len(chapters) == len(counts))


def _title(name: str, phrases: Phrases) -> str:
    return phrases.front if name == _FRONT else f"*{name}*"

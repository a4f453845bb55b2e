"""Quotations: the book's words exactly, in marks that do not clash with the book's own, and the keys that prove them.

What is quoted inline must have no double quotation mark in it, or a reader (and the check of quotations) could not tell
where it ends. So marks around the whole are dropped in favour of ours, and whatever has more of them is set off as a
block quotation, where it needs none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.providers.extractive.candidates import Candidate
from bot.providers.extractive.language import Language
from domain.book import Sentence
from domain.citations.keys import key_of

_MARKS = {Language.GERMAN: ("„", "“"), Language.FRENCH: ("«", "»")}
_DOUBLE = re.compile(r"[\"“”„«»]")


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that stand in the book without a gap, and the sentences they are from."""

    text: str
    sentences: tuple[Sentence, ...]

    @property
    def keys(self) -> str:
        return " ".join(f"[{key_of(sentence)}]" for sentence in self.sentences)


def quotations(chosen: Sequence[Candidate]) -> list[Quotation]:
    """The chosen candidates, in book order; neighbours are joined."""
    groups: list[list[Candidate]] = []
    for candidate in chosen:
        if groups and _adjoin(groups[-1][-1], candidate):
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    return [_quotation(group) for group in groups]


def render(quoted: Sequence[Quotation], language: Language) -> str:
    """Quotations as Markdown, each followed by its keys."""
    texts = [_bare(quotation.text) for quotation in quoted]
    if any(_DOUBLE.search(text) for text in texts):
        return "\n\n".join(f"> {_paired(quotation.text)} {quotation.keys}" for quotation in quoted)
    opening, closing = _MARKS.get(language, ("“", "”"))
    lines = zip(texts, quoted, strict=True)
    return " ".join(f"{opening}{text}{closing} {quotation.keys}" for text, quotation in lines)


def introduce(lead: str, rendered: str) -> str:
    """A lead-in and what it leads to."""
    if not lead:
        return rendered
    return f"{lead}\n\n{rendered}" if rendered.startswith("> ") else f"{lead} {rendered}"


def _adjoin(first: Candidate, second: Candidate) -> bool:
    if first.sentence is second.sentence:
        return not first.sentence.text[first.end - first.sentence.start : second.start - first.sentence.start].strip()
    whole = first.end == first.sentence.end and second.start == second.sentence.start
    return whole and first.run == second.run and second.position == first.position + 1


def _quotation(group: Sequence[Candidate]) -> Quotation:
    text = group[0].text
    for before, after in pairwise(group):
        glue = before.sentence.text[before.end - before.sentence.start : after.start - before.sentence.start]
        text += (" " if before.sentence is not after.sentence or glue else "") + after.text
    opening = "" if group[0].start == group[0].sentence.start else "… "
    closing = "" if group[-1].end == group[-1].sentence.end else " …"
    return Quotation(f"{opening}{text}{closing}", tuple(dict.fromkeys(candidate.sentence for candidate in group)))


def _bare(text: str) -> str:
    """The text without quotation marks of its own at its ends, if it has no others."""
    marks = [match.start() for match in _DOUBLE.finditer(text)]
    ends = {0, len(text) - 1}
    return text.strip('"“”„«» ') if marks and set(marks) <= ends else text


def _paired(text: str) -> str:
    """The text without a mark at one end whose partner stands in another sentence."""
    return _bare(text) if len(_DOUBLE.findall(text)) == 1 else text

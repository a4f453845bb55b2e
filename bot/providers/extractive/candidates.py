"""What can be quoted: the sentences of the passages that were found, very long ones cut into clauses."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.providers.extractive.language import Language, stems_of
from domain.book import Passage, Sentence
from domain.citations.keys import KEY_GROUP
from domain.citations.quotations import fold
from domain.library.search.words import words_of

LONG = 45
"""Words of the longest sentence that is quoted whole; few readers want more at a time."""

_SHORTEST_CLAUSE = 15
_LONGEST_HEADING = 80
"""Characters of a line that is taken for a heading because it does not end like a sentence."""

_GAP = 5
"""Characters at most between neighbours: white space, and nothing left out."""

_CLAUSE_END = re.compile(
    r"[;:；：]\s*|(?:--+|[—–])\s*|[，、]"
    r"|, (?=(?:and|but|for|so|when|while|who|which|as|until|because|where|und|aber|denn|weil|dass|der|die|das|als"
    r"|et|mais|car|qui|que|où|quand|y|pero|porque|cuando|que|donde)\b)"
)
_NUMBERED = re.compile(
    r"(?:chapter|kapitel|chapitre|capítulo|book|part|teil|livre"
    r"|libro)\b\W*[\divxlc]+\b",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_TYPED_PAGE = re.compile(r"\((?:about )?pp?\. ?\w", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence or a clause of one. `position` counts the candidates; `run` is the same for all that follow each other
    without a gap in the book.

    `standing` falls evenly from 1 for a sentence of the best passage of a result: unlike scores it means the same
    whatever search it comes from.
    """

    sentence: Sentence
    position: int
    start: int
    end: int
    stems: tuple[str, ...]
    run: int
    standing: float
    is_heading: bool

    @property
    def raw(self) -> str:
        return self.sentence.text[self.start - self.sentence.start : self.end - self.sentence.start]

    @property
    def text(self) -> str:
        """On one line."""
        return " ".join(self.raw.split())

    @property
    def length(self) -> int:
        """In words; a character of a script without spaces is one."""
        return len(self.stems)


def gather(results: Iterable[Sequence[Passage]], language: Language) -> list[Candidate]:
    """The candidates of all results in book order, each once. A result is the passages of one look, best first."""
    standing: dict[Sentence, float] = {}
    chapters: dict[Sentence, str] = {}
    for passages in results:
        for rank, passage in enumerate(passages):
            for sentence in passage.sentences:
                standing[sentence] = max(standing.get(sentence, 0.0), 1 - rank / len(passages))
                chapters[sentence] = passage.chapter
    found: list[Candidate] = []
    run = 0
    for start, end, sentence in _units(_apart(standing)):
        if found and start - found[-1].end > _GAP:
            run += 1
        stems = stems_of(sentence.text[start - sentence.start : end - sentence.start], language)
        heading = is_heading(sentence.text, chapters[sentence])
        if stems:
            found.append(Candidate(sentence, len(found), start, end, stems, run, standing[sentence], heading))
    return found


def is_heading(text: str, chapter: str) -> bool:
    """Whether a sentence is no sentence but the title of its chapter, or looks like one."""
    folded = " ".join(text.split())
    if folded.isupper() or fold(folded).strip(" .") in fold(chapter):
        return True
    return len(folded) < _LONGEST_HEADING and (folded[-1:].isalnum() or _NUMBERED.match(folded) is not None)


def is_quotable(sentence: Sentence) -> bool:
    """Whether it comes through the checks of an answer as it is: not if it looks like a reference of our own."""
    return bool(sentence.text.strip()) and not (_TYPED_PAGE.search(sentence.text) or KEY_GROUP.search(sentence.text))


def _apart(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Sentences in book order; of those that overlap (one was cut at a page) the first and longest."""
    end = -1
    for sentence in sorted(sentences, key=lambda s: (s.start, -s.end)):
        if sentence.start >= end and is_quotable(sentence):
            end = sentence.end
            yield sentence


def _units(sentences: Iterable[Sentence]) -> Iterator[tuple[int, int, Sentence]]:
    for sentence in sentences:
        for start, end in _clauses(sentence.text):
            yield sentence.start + start, sentence.start + end, sentence


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """The spans of clauses of a moderate length; a sentence that is not long is one clause."""
    start = 0
    if len(words_of(text)) > LONG:
        for cut in [*_cuts(text, _CLAUSE_END)]:
            if _words(text[start:cut]) >= _SHORTEST_CLAUSE <= _words(text[cut:]):
                yield from _no_longer(text, start, cut)
                start = cut
    yield from _no_longer(text, start, len(text))


def _no_longer(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span, cut between words where no punctuation helped."""
    while _words(text[start:end]) > 2 * LONG:
        cuts = [cut for cut in _cuts(text, _SPACE) if start < cut < end] or list(range(start + 1, end))
        cut = min(cuts, key=lambda place: abs(_words(text[start:place]) - LONG))
        yield start, start + len(text[start:cut].rstrip())
        start = cut
    yield start, start + len(text[start:end].rstrip())


def _cuts(text: str, pattern: re.Pattern[str]) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text))


def _words(text: str) -> int:
    return len(words_of(text))

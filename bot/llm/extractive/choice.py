"""Which candidates are quoted, and how far the answer can be relied on."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.llm.extractive.candidates import Candidate, gather
from bot.llm.extractive.question import Question
from bot.llm.extractive.scoring import Evidence, scores
from bot.llm.extractive.transcript import Transcript

MOST_WORDS = 90
"""Words quoted in one answer; a first sentence that is longer is quoted all the same."""

MOST_PIECES = 4
_ENOUGH = 0.8
"""The share of confidence after which nothing more is quoted."""

_FAR_BEHIND = 0.1
"""The share of the best candidate's confidence below which nothing is quoted beside it."""

_FIRM, _FAINT = 0.5, 0.25
"""The share of the question's words near what is quoted, above which it is an answer and below which it is none.

On questions put to the book they belong to, 86 % are above the first and 1 % below the second; put to a book of the
same sort they do not belong to, 21 % and 28 %.
"""


class Confidence(StrEnum):
    FIRM = "firm"
    NEAR = "near"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """Candidates to quote, in book order."""

    candidates: tuple[Candidate, ...]
    confidence: Confidence


NOTHING = Choice((), Confidence.NONE)


class Choices:
    """What is quoted in answer to each question of a message, chosen once from what its looks have brought."""

    def __init__(self, transcript: Transcript, questions: int) -> None:
        """`questions` share the room there is, though not quite: most of them need less."""
        self.transcript = transcript
        self._most_words = MOST_WORDS if questions <= 1 else MOST_WORDS * 2 // 3
        self._chosen: dict[Question, Choice] = {}

    def of(self, question: Question) -> Choice:
        if question not in self._chosen:
            candidates = gather(self.transcript.results, question.language)
            self._chosen[question] = choose(Evidence(question, candidates), most_words=self._most_words)
        return self._chosen[question]


def choose(evidence: Evidence, *, most_words: int = MOST_WORDS, most: int = MOST_PIECES) -> Choice:
    """Take the best candidates until there is confidence enough, or room no more."""
    if not evidence.candidates or evidence.lacks_names():
        return NOTHING
    shares = scores(evidence)
    chosen = _best(evidence.candidates, shares, most_words, most)
    cover = max(evidence.near[at] for at in chosen)
    if cover < _FAINT:
        return NOTHING
    confidence = Confidence.FIRM if cover >= _FIRM else Confidence.NEAR
    return Choice(tuple(evidence.candidates[at] for at in sorted(chosen)), confidence)


def _best(candidates: Sequence[Candidate], shares: Sequence[float], most_words: int, most: int) -> list[int]:
    ranking = sorted(range(len(candidates)), key=lambda at: (candidates[at].is_heading, -shares[at], at))
    best = ranking[0]
    chosen, words = [best], candidates[best].length
    for at in ranking[1:]:
        enough = len(chosen) == most or sum(shares[i] for i in chosen) >= _ENOUGH
        if enough or candidates[at].is_heading or shares[at] < _FAR_BEHIND * shares[best]:
            break
        if words + candidates[at].length <= most_words:
            chosen.append(at)
            words += candidates[at].length
    return chosen

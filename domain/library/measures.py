"""Measures of retrieval on questions whose evidence is known, as `marginalia eval` prints them.

All are rates in percent over questions. A span is a half-open range of character offsets in the book.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, quantiles

Span = tuple[int, int]

RANKS = (1, 3, 5, 10)
BUDGETS = (500, 1_000, 2_000)
"""Words of the book a model is given to answer from."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question, the spans that hold its evidence, and those of the answer's own words where they are known."""

    book: str
    text: str
    spans: tuple[Span, ...]
    answer_spans: tuple[Span, ...] = ()


class WordAxis:
    """The words of a book as people count them: what stands between spaces."""

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _WORD.finditer(text)]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def within(self, span: Span) -> range:
        """The words that have at least one character in a span."""
        return range(bisect_right(self._ends, span[0]), bisect_left(self._starts, span[1]))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question brought.

    `rank` is that of the first passage that is a hit, or None. `recalled` and `answered` say for each budget whether
    that many words held half of the evidence, and the whole answer; `answered` is empty where the answer's place is
    not known.
    """

    rank: int | None
    recalled: tuple[bool, ...]
    answered: tuple[bool, ...]
    passage_words: float
    milliseconds: float


def measure(question: LabelledQuestion, found: Sequence[Span], axis: WordAxis, milliseconds: float) -> Outcome:
    """Judge the passages that were found for a question, best first."""
    ranks = (rank for rank, passage in enumerate(found, 1) if any(is_hit(passage, span) for span in question.spans))
    words = [axis.within(passage) for passage in found]
    arrival = _arrival(words)
    return Outcome(
        rank=next(ranks, None),
        recalled=tuple(any(_share(axis.within(span), arrival, n) >= 0.5 for span in question.spans) for n in BUDGETS),
        answered=tuple(
            any(_share(axis.within(span), arrival, n) == 1.0 for span in question.answer_spans)
            for n in (BUDGETS if question.answer_spans else ())
        ),
        passage_words=fmean(map(len, words)) if words else 0.0,
        milliseconds=milliseconds,
    )


def is_hit(passage: Span, span: Span) -> bool:
    """Whether half of the span is in the passage, or half of the passage in the span."""
    common = min(passage[1], span[1]) - max(passage[0], span[0])
    return common > 0 and 2 * common >= min(passage[1] - passage[0], span[1] - span[0])


def _arrival(passages: Sequence[range]) -> dict[int, int]:
    """How many different words had been returned before each word."""
    arrival: dict[int, int] = {}
    for words in passages:
        for word in words:
            arrival.setdefault(word, len(arrival))
    return arrival


def _share(words: range, arrival: dict[int, int], budget: int) -> float:
    """The share of these words that is among the first ones returned."""
    return sum(arrival.get(word, budget) < budget for word in words) / len(words) if words else 0.0


@dataclass(frozen=True, slots=True)
class Scores:
    """The measures over many questions."""

    outcomes: Sequence[Outcome] = field(repr=False)

    def as_dict(self) -> dict[str, float]:
        """The measures by name, rates in percent, in the order in which they are printed."""
        times = [outcome.milliseconds for outcome in self.outcomes]
        return {
            "questions": len(self.outcomes),
            **{f"recall@{k}": self._rate([_rank(o) <= k for o in self.outcomes]) for k in RANKS},
            "mrr": self._rate([1 / _rank(outcome) for outcome in self.outcomes]),
            **{f"recall@{n}w": self._rate([o.recalled[i] for o in self.outcomes]) for i, n in enumerate(BUDGETS)},
            **{
                f"answer@{n}w": self._rate([o.answered[i] for o in self.outcomes if o.answered])
                for i, n in enumerate(BUDGETS)
            },
            "words_per_passage": round(fmean(o.passage_words for o in self.outcomes), 1) if self.outcomes else 0.0,
            "median_ms": round(median(times), 2) if times else 0.0,
            "p95_ms": round(quantiles(times, n=20)[-1], 2) if len(times) > 1 else round(sum(times), 2),
        }

    @staticmethod
    def _rate(values: Sequence[float]) -> float:
        return round(100 * fmean(values), 2) if values else 0.0


def _rank(outcome: Outcome) -> float:
    return outcome.rank or float("inf")

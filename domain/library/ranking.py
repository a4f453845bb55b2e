"""Ranking: which passages fit a question, from nothing but the places of its words in what has been read."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import merge
from math import log

from domain.library.index import BookIndex, Positions
from domain.library.layout import Layout
from domain.library.word_lists import STOP_WORDS
from domain.library.words import fold, stem_of, words_of

MAX_QUERY_WORDS = 400
"""Words of a query that are looked at; a pasted page is cut there, so that its cost is bounded."""

MAX_TERMS = 32
"""Different terms of a query that are scored, the rarest first; a long question has about ten."""

_K1 = 1.2
"""How fast further occurrences of a term in a passage lose weight; the customary value of BM25."""


def query_terms(query: str) -> list[str]:
    """The words of a query that can be searched, in order: no stop words unless there is nothing else."""
    words = words_of(query[: MAX_QUERY_WORDS * 20])[:MAX_QUERY_WORDS]
    meaningful = [word for word in words if fold(word).replace("’", "'") not in STOP_WORDS] or words
    return [stem_of(word) for word in meaningful]


def rank(index: BookIndex, layout: Layout, query: str) -> dict[int, float]:
    """The score of every passage of the layout that has a word of the query."""
    scores: defaultdict[int, float] = defaultdict(float)
    for positions in _rarest(index, layout, dict.fromkeys(query_terms(query))):
        frequencies = _per_passage(layout, positions)
        weight = log(1 + (len(layout.firsts) - len(frequencies) + 0.5) / (len(frequencies) + 0.5))
        for passage, frequency in frequencies.items():
            scores[passage] += weight * frequency * (_K1 + 1) / (frequency + _K1)
    return scores


def places(index: BookIndex, layout: Layout, stem: str) -> Positions:
    """The places of a word in what has been read."""
    lists = [form.positions[: bisect_left(form.positions, layout.word_count)] for form in index.forms(stem)]
    lists = [positions for positions in lists if positions]
    return lists[0] if len(lists) == 1 else list(merge(*lists))


def _rarest(index: BookIndex, layout: Layout, terms: dict[str, None]) -> list[Positions]:
    found = [positions for term in terms if (positions := places(index, layout, term))]
    return sorted(found, key=len)[:MAX_TERMS]


def _per_passage(layout: Layout, positions: Positions) -> Counter[int]:
    """How often a term stands in each passage."""
    sentences = Counter(bisect_right(layout.words, position) - 1 for position in positions)
    counts: Counter[int] = Counter()
    for sentence, count in sentences.items():
        for passage in range(bisect_right(layout.lasts, sentence), bisect_right(layout.firsts, sentence)):
            counts[passage] += count
    return counts


@dataclass(frozen=True, slots=True)
class Hit:
    """A run of sentences that fits."""

    sentences: range
    score: float


def search(index: BookIndex, layout: Layout, queries: Sequence[str], top_k: int) -> list[Hit]:
    """The passages that fit best, best first."""
    scores: defaultdict[int, float] = defaultdict(float)
    for query in queries:
        for passage, score in rank(index, layout, query).items():
            scores[passage] += score
    best = sorted(scores, key=lambda passage: (-scores[passage], passage))[: max(top_k, 0)]
    return [Hit(range(layout.firsts[passage], layout.lasts[passage]), scores[passage]) for passage in best]

"""Search: from queries to passages.

A passage is made when it is found: the best sentence, grown by its better neighbour until it is long enough. So what
was asked for stands in its midst and no passage overlaps another, which no cutting in advance can do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.library.index import BookIndex
from domain.library.layout import Layout
from domain.library.query import find_terms
from domain.library.ranking import score_sentences

PASSAGE_WORDS = 120
"""Words a passage grows up to, if its best sentence is not longer. More words hold more of the story, fewer leave room
for more places: 120 did best on labelled questions for a fixed number of words (docs/retrieval.md)."""

MAX_QUERIES = 8
"""Phrasings of one question that are searched."""

MAX_RESULTS = 50
"""Passages one search returns at most."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A run of sentences that fits, and how well, comparable within one search."""

    sentences: range
    score: float


def search(index: BookIndex, layout: Layout, queries: Sequence[str], top_k: int) -> list[Hit]:
    """The passages that fit best, best first, none overlapping another; the scores of several phrasings are added."""
    count = max(0, min(top_k, MAX_RESULTS))
    scores: dict[int, float] = {}
    for query in list(dict.fromkeys(queries))[:MAX_QUERIES]:
        if terms := find_terms(index, layout, query):
            found = score_sentences(layout, terms)
            scores = found | {sentence: score + found.get(sentence, 0.0) for sentence, score in scores.items()}
    return _passages(layout, scores, count)


def _passages(layout: Layout, scores: Mapping[int, float], count: int) -> list[Hit]:
    hits: list[Hit] = []
    taken: set[int] = set()
    for best in sorted(sorted(scores), key=scores.__getitem__, reverse=True):
        if len(hits) == count:
            break
        if best not in taken:
            sentences = _grow(layout, best, scores, taken)
            taken.update(sentences)
            hits.append(Hit(sentences, scores[best]))
    return hits


def _grow(layout: Layout, best: int, scores: Mapping[int, float], taken: set[int]) -> range:
    """The sentence with neighbours that belong to no passage yet, as many as a passage has room for."""
    words, chapter = layout.words, layout.run_of(best)
    first, last = best, best + 1
    while True:
        before = after = -1.0
        if first > chapter.start and first - 1 not in taken and words[last] - words[first - 1] <= PASSAGE_WORDS:
            before = scores.get(first - 1, 0.0)
        if last < chapter.stop and last not in taken and words[last + 1] - words[first] <= PASSAGE_WORDS:
            after = scores.get(last, 0.0)
        if before == after == -1.0:
            return range(first, last)
        if after >= before:
            last += 1
        else:
            first -= 1

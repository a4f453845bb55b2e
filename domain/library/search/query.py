"""Queries: from what somebody typed to the places of its words.

Nothing a person types is ever a command to the index: a query is cut into words, and words are looked up.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from domain.library.search.index import BookIndex
from domain.library.search.layout import BookLayout
from domain.library.search.ranking import score_sentences
from domain.library.search.words import STOP_WORDS, fold, is_dense, stem_of, words_of

MAX_QUERY_CHARACTERS = 4_000
"""What is longer is cut, so that the cost of a pasted chapter is bounded."""

MAX_TERMS = 24
"""Different words of a query that are searched, the rarest first; a long question has about ten."""


def query_terms(query: str) -> list[tuple[str, ...]]:
    """What to look up for a query: words, and pairs of characters where a script has no spaces between words.

    Stop words are left out unless there is nothing else.
    """
    words = words_of(query[:MAX_QUERY_CHARACTERS])
    meaningful = [word for word in words if fold(word) not in STOP_WORDS] or words
    return list(dict.fromkeys(_with_pairs(meaningful)))


def _with_pairs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Characters of scripts without spaces are joined to the one that follows; one by itself stays alone."""
    dense = [is_dense(word) for word in words]
    for number, word in enumerate(words):
        if not dense[number]:
            yield (stem_of(word),)
        elif number + 1 < len(words) and dense[number + 1]:
            yield (stem_of(word), stem_of(words[number + 1]))
        elif not number or not dense[number - 1]:
            yield (stem_of(word),)


def find_terms(index: BookIndex, layout: BookLayout, query: str) -> list[Sequence[int]]:
    """The places of each term of a query in what has been read, the rarest term first.

    If of a query without spaces no pair occurs, its characters are looked up one by one.
    """
    terms = query_terms(query)
    found = [places for stems in terms if (places := places_of(index, layout, stems))]
    if not found:
        parts = dict.fromkeys(stem for stems in terms for stem in stems if len(stems) > 1)
        found = [places for stem in parts if (places := places_of(index, layout, (stem,)))]
    return sorted(found, key=len)[:MAX_TERMS]


def places_of(index: BookIndex, layout: BookLayout, stems: Sequence[str]) -> Sequence[int]:
    """The ordinals of the first words of all places where these stems follow each other."""
    places = _places_of_stem(index, layout, stems[0])
    for distance, stem in enumerate(stems[1:], 1):
        following = set(_places_of_stem(index, layout, stem))
        places = [place for place in places if place + distance in following]
    return places


def _places_of_stem(index: BookIndex, layout: BookLayout, stem: str) -> Sequence[int]:
    forms = [form.positions[: bisect_left(form.positions, layout.word_count)] for form in index.forms(stem)]
    return forms[0] if len(forms) == 1 else sorted(chain.from_iterable(forms))


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


def search(index: BookIndex, layout: BookLayout, queries: Sequence[str], top_k: int) -> list[Hit]:
    """The passages that fit best, best first, none overlapping another; the scores of several phrasings are added."""
    count = max(0, min(top_k, MAX_RESULTS))
    scores: dict[int, float] = {}
    for query in list(dict.fromkeys(queries))[:MAX_QUERIES]:
        if terms := find_terms(index, layout, query):
            found = score_sentences(layout, terms)
            scores = found | {sentence: score + found.get(sentence, 0.0) for sentence, score in scores.items()}
    return _passages(layout, scores, count)


def _passages(layout: BookLayout, scores: Mapping[int, float], count: int) -> list[Hit]:
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


def _grow(layout: BookLayout, best: int, scores: Mapping[int, float], taken: set[int]) -> range:
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

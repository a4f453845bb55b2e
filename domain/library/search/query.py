"""Queries: from what somebody typed to the positions of its words, and from those to passages.

Nothing a person types is ever a command to the index: a query is cut into words, and words are looked up.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from domain.library.search.index import BookIndex, WordForm, find_forms, forms_of_stem
from domain.library.search.languages import Analyzer
from domain.library.search.layout import BookLayout
from domain.library.search.phrases import verbatim_gains
from domain.library.search.ranking import score_sentences
from domain.library.search.words import fold, is_dense, words_of

MAX_QUERY_CHARACTERS = 4_000
"""What is longer is cut, so that the cost of a pasted chapter is bounded."""

MAX_TERMS = 24
"""Different words of a query that are searched, the rarest first; a long question has about ten."""


def query_terms(analyzer: Analyzer, query: str) -> list[tuple[str, ...]]:
    """What to look up for a query: words, and pairs of characters where a script has no spaces between words.

    Stop words are left out unless there is nothing else, and of the forms of one word all but the first.
    """
    words = words_of(query[:MAX_QUERY_CHARACTERS])
    meaningful = [word for word in words if fold(word) not in analyzer.stop_words] or words
    terms: dict[tuple[str, ...], tuple[str, ...]] = {}
    for term in _with_pairs(meaningful):
        terms.setdefault(tuple(map(analyzer.stem, term)), term)
    return list(terms.values())


def _with_pairs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Characters of scripts without spaces are joined to the one that follows; one by itself stays alone."""
    dense = [is_dense(word) for word in words]
    for number, word in enumerate(words):
        if not dense[number]:
            yield (word,)
        elif number + 1 < len(words) and dense[number + 1]:
            yield (word, words[number + 1])
        elif not number or not dense[number - 1]:
            yield (word,)


def find_terms(index: BookIndex, layout: BookLayout, query: str) -> list[Sequence[int]]:
    """The positions of each term of a query in what has been read, the rarest term first.

    Instead of a word that is nowhere, the compounds with it are taken, or its own parts. If of a query without spaces
    no pair occurs, its characters are looked up one by one.
    """
    terms = {term: positions_of(index, layout, term) for term in query_terms(index.analyzer, query)}
    found = [positions for positions in terms.values() if positions]
    absent = [term[0] for term, positions in terms.items() if len(term) == 1 and not positions]
    if absent and index.analyzer.has_compounds:
        found += _compounds_and_parts(index, layout, absent[:MAX_TERMS])
    if not found:
        parts = dict.fromkeys(word for term in terms for word in term if len(term) > 1)
        found = [positions for word in parts if (positions := positions_of(index, layout, (word,)))]
    return sorted(found, key=len)[:MAX_TERMS]


def positions_of(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> Sequence[int]:
    """The ordinals of the first words of all places where these words, in any form, follow each other."""
    positions = _positions_of_word(index, layout, words[0])
    for distance, word in enumerate(words[1:], 1):
        following = set(_positions_of_word(index, layout, word))
        positions = [position for position in positions if position + distance in following]
    return positions


def _positions_of_word(index: BookIndex, layout: BookLayout, word: str) -> Sequence[int]:
    return _merged(find_forms(index, layout, word))


def _merged(forms: Sequence[WordForm]) -> Sequence[int]:
    return forms[0].positions if len(forms) == 1 else sorted(chain.from_iterable(form.positions for form in forms))


_SHORTEST_PART = 4
"""Letters of the stem of a word that is looked for inside compounds: shorter ones stand in many by chance."""

_SHORTEST_REST = 3
"""Letters of the stem of what is left of a compound."""

_LINKS = ("", "es", "s", "en", "n", "er", "e")
"""What may stand between the parts of a compound."""


def _compounds_and_parts(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> Iterator[Sequence[int]]:
    """For words that are not there, the positions of compounds they are a part of, or else those of their own parts."""
    stems = index.stems()
    for word in words:
        stem = index.analyzer.stem(word)
        compounds = (each for each in stems if stem in each and _is_compound_with(index, layout, each, stem))
        positions = [forms_of_stem(index, layout, each) for each in compounds] if len(stem) >= _SHORTEST_PART else []
        if any(positions):
            yield _merged(list(chain.from_iterable(positions)))
        else:
            yield from _positions_of_parts(index, layout, stem)


def _is_compound_with(index: BookIndex, layout: BookLayout, compound: str, part: str) -> bool:
    """Whether it begins or ends with this part, and the rest is a word of what has been read."""
    modifier, head = compound.removesuffix(part), compound.removeprefix(part)
    return (modifier != compound and bool(_modifier_forms(index, layout, modifier))) or (
        head != compound and any(forms_of_stem(index, layout, each) for each in _heads(head))
    )


def _positions_of_parts(index: BookIndex, layout: BookLayout, compound: str) -> Iterator[Sequence[int]]:
    """The positions of the two words that a compound is made of, if both have been read."""
    for end in range(_SHORTEST_REST, len(compound) - _SHORTEST_REST + 1):
        heads = forms_of_stem(index, layout, compound[end:])
        modifiers = _modifier_forms(index, layout, compound[:end]) if heads else []
        if modifiers:
            yield _merged(modifiers)
            yield _merged(heads)
            return


def _modifier_forms(index: BookIndex, layout: BookLayout, modifier: str) -> list[WordForm]:
    """The forms of the first part of a compound, with or without what links it to the second."""
    words = [modifier.removesuffix(link) for link in _LINKS if modifier.endswith(link)]
    stems = dict.fromkeys(index.analyzer.stem(word) for word in words if len(word) >= _SHORTEST_REST)
    return next((forms for stem in stems if (forms := forms_of_stem(index, layout, stem))), [])


def _heads(rest: str) -> list[str]:
    """What the second part of a compound may be, given all that follows the stem of the first."""
    heads = [rest.removeprefix(link) for link in _LINKS if rest.startswith(link)]
    return [head for head in heads if len(head) >= _SHORTEST_REST]


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
            for sentence, gain in verbatim_gains(index, layout, query[:MAX_QUERY_CHARACTERS]).items():
                found[sentence] = found.get(sentence, 0.0) + gain
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

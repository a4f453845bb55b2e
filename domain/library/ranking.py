"""Ranking: which sentences of a book a question is about, from nothing but the places of its words.

A place is good if many of the question's words, rare ones above all, stand around it. "Around" is taken at several
distances at once, each twice the one before, within the chapter: the nearest find the sentence, the wider ones the
scene, so that the right "she was glad" is found among many. At each distance words are weighed as BM25 does; the sum
is squared, because words that come together say more than the same words one by one; all distances count the same.

Every number comes from the places before the bound, so scores and order do not depend on what has not been read.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from math import log, pow, sqrt

from domain.library.layout import Layout
from domain.library.sentences import MAX_SENTENCE

_WIDTH_BITS = range(6, 12)
WIDTHS = tuple(1 << bits for bits in _WIDTH_BITS)
"""Widths, in words, of the windows around a sentence that are looked at: 64 to 2,048."""

_SATURATION = 0.8
"""BM25's k1: how fast further occurrences of a word in a window lose weight."""

_SATURATED = [times / (times + _SATURATION) for times in range(MAX_SENTENCE + WIDTHS[-1] + 1)]
"""What so many occurrences in one window count; no window has more words."""

_RARITY = 0.8
"""Exponent on BM25's inverse document frequency; below 1 keeps one rare word from outweighing all others."""

_TOGETHER = 2
"""Exponent on the sum for one window: words that come together say more than the same words one by one."""

_BLOCK_BITS = 7
"""Blocks of 2**7 words are scored roughly first, and only the best of them, with neighbours, sentence by sentence."""

_WIDE_BITS = 2
"""A wide block is 2**2 blocks: the surroundings in the rough score."""

_ROUGH_PLACES = 3_000
"""The rough score takes the rarest words until they have so many places: "said" tells nothing about where to look."""

_BEST_BLOCKS = 32
"""Blocks scored sentence by sentence; more change less than one in a thousand of the answers found."""


_STEP_WORDS = 128
"""A window twice as wide is looked at for every second sentence only, and so on: it is nearly that of its neighbour."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the question: the ordinals of its places, and its weight at each distance."""

    places: Sequence[int]
    weights: tuple[float, ...]


def score_sentences(layout: Layout, found: Sequence[Sequence[int]]) -> dict[int, float]:
    """The scores, above 0 and up to 1, of the sentences in the best blocks: enough for some fifty passages.

    `found` has the places of each word of the question, of which there must be at least one.
    """
    terms = [_weigh(places, layout.word_count) for places in found]
    most = sum(sum(weights) ** _TOGETHER for weights in zip(*(term.weights for term in terms), strict=True))
    scores: dict[int, float] = {}
    for chapter, sentences in _stretches(layout, _best_blocks(terms)):
        for sentence, score in _score_stretch(layout.words, chapter, sentences, terms):
            if score:
                scores[sentence] = sqrt(score / most)
    return scores


def _weigh(places: Sequence[int], word_count: int) -> _Term:
    weights = []
    windows: Collection[int] = places
    for number, width in enumerate(WIDTHS):
        windows = {window >> (1 if number else _WIDTH_BITS.start) for window in windows}
        weights.append(_rarity(len(windows), word_count / width))
    return _Term(places, tuple(weights))


def _rarity(found: int, total: float) -> float:
    """The inverse document frequency, with room for a window at the end that is only begun."""
    return pow(log(1 + (max(total - found, 0.0) + 0.5) / (found + 0.5)), _RARITY)


def _best_blocks(terms: Sequence[_Term]) -> set[int]:
    """The blocks of text that score best by themselves and with their surroundings, and their neighbours."""
    blocks: defaultdict[int, float] = defaultdict(float)
    places = 0
    for term in terms:
        places += len(term.places)
        if blocks and places > _ROUGH_PLACES:
            break
        weight = term.weights[_BLOCK_BITS - _WIDTH_BITS.start]
        for block, times in Counter([place >> _BLOCK_BITS for place in term.places]).items():
            blocks[block] += weight * _SATURATED[times]
    wide: defaultdict[int, float] = defaultdict(float)
    for block, score in blocks.items():
        wide[block >> _WIDE_BITS] += score
    rough = {block: score + wide[block >> _WIDE_BITS] / 2 for block, score in blocks.items()}
    best = nlargest(_BEST_BLOCKS, rough, key=lambda block: (rough[block], -block))
    return {near for block in best for near in (block - 1, block, block + 1) if near >= 0}


def _stretches(layout: Layout, blocks: Iterable[int]) -> Iterator[tuple[range, range]]:
    """The sentences in these blocks, in stretches without gaps, each with the chapter it is in."""
    words, last = layout.words, len(layout.starts)
    stretches: list[tuple[int, int]] = []
    for block in sorted(blocks):
        first = bisect_right(words, block << _BLOCK_BITS) - 1
        end = bisect_left(words, (block + 1) << _BLOCK_BITS, 0, last)
        if stretches and first <= stretches[-1][1]:
            first = stretches.pop()[0]
        stretches.append((first, end))
    for first, end in stretches:
        while first < end:
            chapter = layout.run_of(first)
            yield chapter, range(first, min(end, chapter.stop))
            first = chapter.stop


def _score_stretch(
    words: Sequence[int], chapter: range, sentences: range, terms: Sequence[_Term]
) -> Iterator[tuple[int, float]]:
    """Each sentence with the sum, over all widths, of the squared scores of what is around it."""
    first = bisect_left(words, words[sentences.start] - WIDTHS[-1], chapter.start, sentences.start)
    last = bisect_right(words, words[sentences.stop] + WIDTHS[-1], sentences.stop, chapter.stop + 1) - 1
    within_reach = list(words[first : last + 1])
    counts = _counts_before(within_reach, terms)
    totals = [0.0] * len(sentences)
    for number, width in enumerate(WIDTHS if counts else ()):
        step = max(width // _STEP_WORDS, 1)
        sample = range(sentences.start - first, sentences.stop - first, step)
        windows = _windows(within_reach, sample, width)
        scores = [
            [weights[number] * _SATURATED[before[right] - before[left]] for left, right in windows]
            for before, weights in counts
        ]
        squares = [sum(of_terms) ** _TOGETHER for of_terms in zip(*scores, strict=True)]
        totals = [total + squares[place // step] for place, total in enumerate(totals)]
    return zip(sentences, totals, strict=True)


def _windows(words: list[int], sentences: range, width: int) -> list[tuple[int, int]]:
    """For each sentence, the whole sentences within a width around its middle."""
    half = width // 2
    middles = [(words[sentence] + words[sentence + 1]) // 2 for sentence in sentences]
    return [
        (min(bisect_left(words, middle - half), sentence), max(bisect_right(words, middle + half) - 1, sentence + 1))
        for sentence, middle in zip(sentences, middles, strict=True)
    ]


def _counts_before(words: Sequence[int], terms: Sequence[_Term]) -> list[tuple[list[int], tuple[float, ...]]]:
    """For each term that stands among these sentences, how often it does before each of them."""
    counts = []
    for term in terms:
        first = bisect_left(term.places, words[0])
        places = term.places[first : bisect_left(term.places, words[-1])]
        if places:
            counts.append(([bisect_left(places, word) for word in words], term.weights))
    return counts

"""Ranking: which sentences of a book a question is about, from nothing but the places of its words.

A place is good if many of the question's words, rare ones above all, stand around it. "Around" is taken at several
distances at once, each twice the one before, within the chapter: the nearest find the sentence, the wider ones the
scene, so that the right "she was glad" is found among many. At each distance words are weighed as BM25 does; the sum
is squared, because words that come together say more than the same words one by one; all distances count the same.

Every number comes from the places before the bound, so scores and order do not depend on what has not been read.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate, chain, repeat
from math import log, pow, sqrt
from operator import add, rshift, sub

from domain.library.search.layout import WIDTHS, BookLayout
from domain.library.search.sentences import MAX_SENTENCE

_SATURATION = 0.8
"""BM25's k1: how fast further occurrences of a word in a window lose weight."""

_SATURATED = [times / (times + _SATURATION) for times in range(MAX_SENTENCE + WIDTHS[-1] + 1)]
"""What so many occurrences in one window count; no window has more words."""

_RARITY = 0.8
"""Exponent on BM25's inverse document frequency; below 1 keeps one rare word from outweighing all others."""

_TOGETHER = 2
"""Exponent on the sum for one window: words that come together say more than the same words one by one."""

_NARROWEST_BITS = WIDTHS[0].bit_length() - 1

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

_COUNT_BITS = 16
_COUNT_MASK = (1 << _COUNT_BITS) - 1
"""The counts of all terms are packed into one number, so many bits for each: one subtraction then counts a window."""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the question: the ordinals of its places, and its weight at each distance."""

    places: Sequence[int]
    weights: tuple[float, ...]


def score_sentences(layout: BookLayout, found: Sequence[Sequence[int]]) -> dict[int, float]:
    """The scores, above 0 and up to 1, of the sentences in the best blocks: enough for some fifty passages.

    `found` has the places of each word of the question, of which there must be at least one.
    """
    terms = [_weigh(places, layout.word_count) for places in found]
    by_width = list(zip(*(term.weights for term in terms), strict=True))
    most = sum(sum(weights) ** _TOGETHER for weights in by_width)
    squares = [_Squares(weights) for weights in by_width]
    scores: dict[int, float] = {}
    for chapter, sentences in _stretches(layout, _best_blocks(terms)):
        totals = _score_stretch(layout, chapter, sentences, terms, squares)
        scores.update((number, sqrt(total / most)) for number, total in zip(sentences, totals, strict=True) if total)
    return scores


def _weigh(places: Sequence[int], word_count: int) -> _Term:
    weights = []
    windows: Iterable[int] = places
    for number, width in enumerate(WIDTHS):
        windows = set(map(rshift, windows, repeat(1 if number else _NARROWEST_BITS)))
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
        weight = term.weights[_BLOCK_BITS - _NARROWEST_BITS]
        for block, times in Counter([place >> _BLOCK_BITS for place in term.places]).items():
            blocks[block] += weight * _SATURATED[times]
    wide: defaultdict[int, float] = defaultdict(float)
    for block, score in blocks.items():
        wide[block >> _WIDE_BITS] += score
    rough = [(score + wide[block >> _WIDE_BITS] / 2, -block) for block, score in blocks.items()]
    best = [-block for _, block in nlargest(_BEST_BLOCKS, rough)]
    return {near for block in best for near in (block - 1, block, block + 1) if near >= 0}


def _stretches(layout: BookLayout, blocks: Iterable[int]) -> Iterator[tuple[range, range]]:
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


class _Squares(dict[int, float]):
    """The squared score of a window by the packed counts of its words; the same few come again and again."""

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__()
        self._weights = weights

    def __missing__(self, packed: int) -> float:
        score, rest = 0.0, packed
        for weight in self._weights:
            if times := rest & _COUNT_MASK:
                score += weight * _SATURATED[times]
            rest >>= _COUNT_BITS
        self[packed] = square = score**_TOGETHER
        return square


def _score_stretch(
    layout: BookLayout, chapter: range, sentences: range, terms: Sequence[_Term], squares: Sequence[_Squares]
) -> list[float]:
    """For each sentence the sum, over all widths, of the squared scores of what is around it.

    Here a search spends most of its time, so that the innermost loops are left to `map`.
    """
    words = layout.words
    first = bisect_left(words, words[sentences.start] - WIDTHS[-1] // 2, chapter.start, sentences.start)
    last = bisect_right(words, words[sentences.stop] + WIDTHS[-1] // 2, sentences.stop, chapter.stop + 1)
    count_at = _counts_before(words[first:last].tolist(), terms).__getitem__
    own = range(sentences.start - first, sentences.stop - first)
    totals = [0.0] * len(sentences)
    for width, square_of, (before, after) in zip(WIDTHS, squares, layout.windows.of(sentences), strict=True):
        step = max(width // _STEP_WORDS, 1)
        sample = own[::step]
        lefts, rights = map(sub, sample, before[::step]), map(add, sample, after[::step])
        found = map(square_of.__getitem__, map(sub, map(count_at, rights), map(count_at, lefts)))
        spread = found if step == 1 else chain.from_iterable(map(repeat, found, repeat(step)))
        totals = list(map(add, totals, spread))
    return totals


def _counts_before(words: list[int], terms: Iterable[_Term]) -> list[int]:
    """How often each term stands before each of these sentences, packed into one number for all terms."""
    counts = [0] * len(words)
    for number, term in enumerate(terms):
        one = 1 << (number * _COUNT_BITS)
        first = bisect_left(term.places, words[0])
        last = bisect_left(term.places, words[-1], first)
        for sentence in map(bisect_right, repeat(words), term.places[first:last]):
            counts[sentence] += one
    return list(accumulate(counts))

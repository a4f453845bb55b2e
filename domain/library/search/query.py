"""Queries: from typed text to the positions of its words, and from positions to passages.

Nothing a person types is a command to the index: a query is cut into words, and words are looked up.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest
from itertools import accumulate, chain, compress, islice, repeat
from math import log, pow, sqrt
from operator import add, rshift, sub, truediv

from domain.library.search.index import BookIndex, WordForm, find_forms, forms_of_stem, mention_positions
from domain.library.search.languages import Analyzer
from domain.library.search.layout import WIDTHS, BookLayout
from domain.library.search.phrases import verbatim_gains
from domain.library.search.sentences import MAX_SENTENCE
from domain.library.search.words import CHARACTERS_OF_A_WORD, fold, is_dense, words_of

_SATURATION = 0.8
"""BM25's k1: how fast further occurrences of a word in a window lose weight."""

_SATURATED = [times / (times + _SATURATION) for times in range(MAX_SENTENCE + WIDTHS[-1] + 1)]
"""The weight of each number of occurrences in one window; no window has more words."""

_RARITY = 0.8
"""Exponent on BM25's inverse document frequency; below 1 it keeps one rare word from outweighing all others."""

_TOGETHER = 2
"""Exponent on the sum for one window: words that occur together say more than the same words one by one."""

_NARROWEST_BITS = WIDTHS[0].bit_length() - 1

_BLOCK_BITS = 7
"""Blocks of 2**7 words are scored roughly first; only the best of them and their neighbours are scored by sentence."""

_WIDE_BITS = 2
"""A wide block is 2**2 blocks: the surroundings in the rough score."""

_ROUGH_PLACES = 3_000
"""The rough score uses the rarest words until they have this many positions: "said" does not say where to look."""

_BEST_BLOCKS = 32
"""Blocks scored by sentence; more of them change less than one in a thousand of the answers found."""

_STEP_WORDS = 128
"""A window twice as wide is scored for every second sentence only, and so on: it is nearly its neighbour's window."""

_COUNT_BITS = 16
_COUNT_MASK = (1 << _COUNT_BITS) - 1
"""The counts of all terms are packed into one number, with this many bits each, so that one subtraction counts a
window.
"""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the question: the ordinals of its occurrences, and its weight at each distance."""

    places: Sequence[int]
    weights: tuple[float, ...]


def score_sentences(layout: BookLayout, found: Sequence[Sequence[int]]) -> dict[int, float]:
    """The scores, above 0 and up to 1, of the sentences in the best blocks: enough for some fifty passages.

    `found` has the positions of each word of the question; there must be at least one.
    """
    terms = [_weigh(places, layout.word_count) for places in found]
    by_width = list(zip(*(term.weights for term in terms), strict=True))
    most = sum(sum(weights) ** _TOGETHER for weights in by_width)
    squares = [_Squares(weights) for weights in by_width]
    scores: dict[int, float] = {}
    for chapter, sentences in _stretches(layout, _best_blocks(terms)):
        totals = _score_stretch(layout, chapter, sentences, terms, squares)
        scored = zip(sentences, map(sqrt, map(truediv, totals, repeat(most))), strict=True)
        scores.update(compress(scored, totals))
    return scores


def _weigh(places: Sequence[int], word_count: int) -> _Term:
    weights = []
    windows: Iterable[int] = places
    for number, width in enumerate(WIDTHS):
        windows = set(map(rshift, windows, repeat(1 if number else _NARROWEST_BITS)))
        weights.append(_rarity(len(windows), word_count / width))
    return _Term(places, tuple(weights))


def _rarity(found: int, total: float) -> float:
    """The inverse document frequency; the last window may be incomplete."""
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
    """The sentences in these blocks, in stretches without gaps, each with its chapter."""
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
    """The squared score of a window by the packed counts of its words, cached: the same few counts recur."""

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
    """For each sentence the sum, over all widths, of the squared scores of its windows.

    A search spends most of its time here, so the innermost loops run inside `map`.
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
    """How often each term occurs before each of these sentences, packed into one number for all terms."""
    counts = [0] * len(words)
    for number, term in enumerate(terms):
        one = 1 << (number * _COUNT_BITS)
        first = bisect_left(term.places, words[0])
        last = bisect_left(term.places, words[-1], first)
        for sentence in map(bisect_right, repeat(words), term.places[first:last]):
            counts[sentence] += one
    return list(accumulate(counts))


MAX_QUERY_CHARACTERS = 4_000
"""Longer queries are cut, so that the cost of a pasted chapter is bounded."""

MAX_TERMS = 24
"""Different words of a query that are searched, the rarest first; a long question has about ten."""


def query_terms(analyzer: Analyzer, query: str) -> list[tuple[str, ...]]:
    """What to look up for a query: words, and pairs of characters in scripts without spaces.

    Stop words are left out unless there is nothing else, as are further forms of a word.
    """
    words = words_of(query[:MAX_QUERY_CHARACTERS])
    meaningful = [word for word in words if fold(word) not in analyzer.stop_words] or words
    terms: dict[tuple[str, ...], tuple[str, ...]] = {}
    for term in _with_pairs(meaningful):
        terms.setdefault(tuple(map(analyzer.stem, term)), term)
    return list(terms.values())


def _with_pairs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Each character of a script without spaces is joined to the next one; a single character stays alone."""
    dense = [is_dense(word) for word in words]
    for number, word in enumerate(words):
        if not dense[number]:
            yield (word,)
        elif number + 1 < len(words) and dense[number + 1]:
            yield (word, words[number + 1])
        elif not number or not dense[number - 1]:
            yield (word,)


def find_terms(index: BookIndex, layout: BookLayout, query: str) -> list[Sequence[int]]:
    """The positions of each term of a query in the part that has been read, the rarest term first.

    A word that does not occur is replaced by itself with a hyphen, by words with another ending, by compounds with it,
    or by its own parts. If no pair of a query without spaces occurs, its characters are looked up one by one.
    """
    terms = {term: _positions_of_term(index, layout, term) for term in query_terms(index.analyzer, query)}
    found = [positions for positions in terms.values() if positions]
    absent = [term[0] for term, positions in terms.items() if len(term) == 1 and not positions]
    if absent and index.analyzer.has_endings:
        related = {word: _positions_of_related(index, layout, word) for word in absent[:MAX_TERMS]}
        found += filter(None, related.values())
        absent = [word for word, positions in related.items() if not positions]
    if absent and index.analyzer.has_compounds:
        found += _compounds_and_parts(index, layout, absent[:MAX_TERMS])
    if not found:
        parts = dict.fromkeys(word for term in terms for word in term if len(term) > 1)
        found = [positions for word in parts if (positions := positions_of(index, layout, (word,)))]
    return sorted(found, key=len)[:MAX_TERMS]


def _positions_of_term(index: BookIndex, layout: BookLayout, term: tuple[str, ...]) -> Sequence[int]:
    found = positions_of(index, layout, term)
    return found or (mention_positions(index, layout, term) if len(term) == 1 else ())


def positions_of(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> Sequence[int]:
    """The ordinals of the first words of all places where these words, in any form, occur in sequence."""
    positions = _positions_of_word(index, layout, words[0])
    for distance, word in enumerate(words[1:], 1):
        following = set(_positions_of_word(index, layout, word))
        positions = [position for position in positions if position + distance in following]
    return positions


def _positions_of_word(index: BookIndex, layout: BookLayout, word: str) -> Sequence[int]:
    return _merged(find_forms(index, layout, word))


def _merged(forms: Sequence[WordForm]) -> Sequence[int]:
    """The positions of all these forms, ascending."""
    return forms[0].positions if len(forms) == 1 else sorted(chain.from_iterable(form.positions for form in forms))


def _positions_of_related(index: BookIndex, layout: BookLayout, word: str) -> Sequence[int]:
    """For a word that does not occur: the positions of words with the longest base in common with it."""
    analyzer = index.analyzer
    bases, beginning = analyzer.bases(word), analyzer.spelling(word)[:_SAME_BEGINNING]
    shared: defaultdict[int, list[str]] = defaultdict(list)
    for form in index.vocabulary():
        if not _first_letter(form[:1]).startswith(beginning[:1]) or not analyzer.spelling(form).startswith(beginning):
            continue
        if common := bases & analyzer.bases(form):
            shared[max(map(len, common))].append(form)
    found = (_forms_of_read(index, layout, alike) for _, alike in sorted(shared.items(), reverse=True))
    return _merged(next(filter(None, found), ()))


def _forms_of_read(index: BookIndex, layout: BookLayout, words: Iterable[str]) -> list[WordForm]:
    """The forms of every stem of which one of these words has been read: the vocabulary is that of the whole book."""
    alike: defaultdict[str, set[str]] = defaultdict(set)
    for word in words:
        alike[index.analyzer.stem(word)].add(word)
    by_stem = ((forms_of_stem(index, layout, stem), written) for stem, written in alike.items())
    return [form for forms, written in by_stem if any(each.written in written for each in forms) for form in forms]


_first_letter = lru_cache(maxsize=1_024)(fold)
_SAME_BEGINNING = 2
"""Letters that related words share at the beginning, which saves comparing the others."""

_SHORTEST_PART = 4
"""Letters in the stem of a word that is searched inside compounds: shorter stems are in many words by chance."""

_SHORTEST_REST = 3
"""Letters in the stem of the rest of a compound."""

_LINKS = ("", "es", "s", "en", "n", "er", "e")
"""Letters that may join the parts of a compound."""


def _compounds_and_parts(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> Iterator[Sequence[int]]:
    """For words that do not occur: the positions of compounds that contain them, or else those of their own parts."""
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
    """Whether it begins or ends with this part, and the rest is a word that has been read."""
    modifier, head = compound.removesuffix(part), compound.removeprefix(part)
    return (modifier != compound and bool(_modifier_forms(index, layout, modifier))) or (
        head != compound and any(forms_of_stem(index, layout, each) for each in _heads(head))
    )


def _positions_of_parts(index: BookIndex, layout: BookLayout, compound: str) -> Iterator[Sequence[int]]:
    """The positions of the two words that form a compound, if both have been read."""
    for end in range(_SHORTEST_REST, len(compound) - _SHORTEST_REST + 1):
        heads = forms_of_stem(index, layout, compound[end:])
        modifiers = _modifier_forms(index, layout, compound[:end]) if heads else []
        if modifiers:
            yield _merged(modifiers)
            yield _merged(heads)
            return


def _modifier_forms(index: BookIndex, layout: BookLayout, modifier: str) -> list[WordForm]:
    """The forms of the first part of a compound, with or without the joining letters."""
    words = [modifier.removesuffix(link) for link in _LINKS if modifier.endswith(link)]
    stems = dict.fromkeys(index.analyzer.stem(word) for word in words if len(word) >= _SHORTEST_REST)
    return next((forms for stem in stems if (forms := forms_of_stem(index, layout, stem))), [])


def _heads(rest: str) -> list[str]:
    """Candidates for the second part of a compound, given everything after the stem of the first."""
    heads = [rest.removeprefix(link) for link in _LINKS if rest.startswith(link)]
    return [head for head in heads if len(head) >= _SHORTEST_REST]


_KANA = re.compile("[\u3041-\u3096]{2,}")
_LONGEST_READING = 10
_MOST_KANA = 60
_MOST_WRITTEN = 6
"""Spellings of a query typed in readings, each of which is searched."""


def by_written_forms(index: BookIndex, layout: BookLayout, query: str) -> list[str]:
    """A query typed in hiragana as the book writes it: "わがはい" as "吾輩".

    The query itself is included if the book also has it as typed; the result is empty if nothing is typed in hiragana.
    """
    runs = [run[0][:_MOST_KANA] for run in islice(_KANA.finditer(query, 0, MAX_QUERY_CHARACTERS), _MOST_KANA // 2)]
    pieces = [_written(index, layout, run) for run in runs]
    count = min(_MOST_WRITTEN, max((len(forms) for piece in pieces for forms in piece), default=0))
    phrasings = [_rewritten(query, pieces, choice) for choice in range(count)]
    if phrasings == [query] or not phrasings:
        return []
    is_printed = any(positions_of(index, layout, run) for run in runs)
    return [query, *phrasings] if is_printed else phrasings


def _rewritten(query: str, pieces: Sequence[Sequence[Sequence[str]]], choice: int) -> str:
    """The query with each run replaced by its `choice`-th spelling, or its last one."""
    runs = iter("".join(forms[min(choice, len(forms) - 1)] for forms in piece) for piece in pieces)
    return _KANA.sub(lambda run: next(runs, run[0]), query)


def _written(index: BookIndex, layout: BookLayout, kana: str) -> list[Sequence[str]]:
    """A run of hiragana cut from the left into the longest readings that have been read, each with its spellings."""
    pieces: list[Sequence[str]] = []
    at = 0
    while at < len(kana):
        longest = min(_LONGEST_READING, len(kana) - at)
        readings = (kana[at : at + length] for length in range(longest, 1, -1))
        known = ((each, forms) for each in readings if (forms := _spellings(index, layout, each)))
        reading, forms = next(known, (kana[at], []))
        pieces.append(forms or (reading,))
        at += len(reading)
    return pieces


def _spellings(index: BookIndex, layout: BookLayout, reading: str) -> list[str]:
    """The ways in which a reading is written in the part that has been read."""
    return [form for form in index.stems_of_spelling(reading) if positions_of(index, layout, words_of(form))]


PASSAGE_WORDS = 120
"""Words a passage grows to, unless its best sentence is longer.

More words hold more of the story, fewer leave room for more places: 120 did best on labelled questions for a fixed
number of words (docs/retrieval.md).
"""

_PASSAGE_CHARACTERS = PASSAGE_WORDS * CHARACTERS_OF_A_WORD

MAX_QUERIES = 8
"""Phrasings of one question that are searched."""

MAX_RESULTS = 50
"""Passages that one search returns at most."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching run of sentences; scores are comparable within one search."""

    sentences: range
    score: float


def search(index: BookIndex, layout: BookLayout, queries: Sequence[str], top_k: int) -> list[Hit]:
    """The passages that match best, best first, without overlaps; the scores of several phrasings are added."""
    count = max(0, min(top_k, MAX_RESULTS))
    scores: dict[int, float] = {}
    phrasings = chain.from_iterable(by_written_forms(index, layout, query) or [query] for query in queries)
    for query in list(dict.fromkeys(phrasings))[:MAX_QUERIES]:
        terms = find_terms(index, layout, query)
        found = score_sentences(layout, terms) if terms else {}
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
    """The sentence with as many neighbours as a passage has room for, and that belong to no passage yet."""
    words, starts, ends, chapter = layout.words, layout.starts, layout.ends, layout.run_of(best)
    first, last = best, best + 1

    def has_room_for(start: int, stop: int) -> bool:
        return words[stop] - words[start] <= PASSAGE_WORDS and ends[stop - 1] - starts[start] <= _PASSAGE_CHARACTERS

    while True:
        before = after = -1.0
        if first > chapter.start and first - 1 not in taken and has_room_for(first - 1, last):
            before = scores.get(first - 1, 0.0)
        if last < chapter.stop and last not in taken and has_room_for(first, last + 1):
            after = scores.get(last, 0.0)
        if before == after == -1.0:
            return range(first, last)
        if after >= before:
            last += 1
        else:
            first -= 1

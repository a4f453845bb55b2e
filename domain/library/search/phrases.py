"""Phrases: where words occur in a given order, exactly or nearly, and what that adds to a search.

`find_phrase` finds a half-remembered line: each word votes, weighted by its rarity, for the stretches of text where
the phrase would begin if that word were right. Where votes accumulate, the text is aligned with the phrase word by
word, so that a few wrong, missing or misspelt words do not matter.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from heapq import nlargest
from itertools import chain, islice
from math import log

from domain.book import PhraseHit
from domain.library.search.index import BookIndex, Excerpts, find_forms, share_with_capital
from domain.library.search.layout import BookLayout
from domain.library.search.words import fold, word_spans, words_of

_FORGETTING = 2
"""How much more it matters that the phrase is there than that nothing else is: people leave out more than they add."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The words `[first, last)` of a stretch, and their similarity to the phrase: 0 to 0.99."""

    first: int
    last: int
    similarity: float


class PhraseAligner:
    """Aligns a remembered phrase, given by the spellings of its words, with one stretch of text after another."""

    def __init__(self, phrase: Sequence[str]) -> None:
        self._phrase = phrase
        self._matcher: SequenceMatcher[str] = SequenceMatcher(None, (), phrase, autojunk=False)

    def align(self, words: Sequence[str]) -> Alignment | None:
        """The run of words that is most similar to the phrase, or None if they have no word in common."""
        self._matcher.set_seq1(words)
        blocks = _best_run(self._matcher.get_matching_blocks()[:-1])
        if not blocks:
            return None
        phrase, opening, closing = self._phrase, blocks[0], blocks[-1]
        before = _belonging(words[max(opening.a - opening.b, 0) : opening.a], phrase[: opening.b])
        rest = phrase[closing.b + closing.size :]
        after_start = closing.a + closing.size
        after = _belonging(words[after_start : after_start + len(rest)], rest)
        first, last = opening.a - before, after_start + after
        common = self._common_characters(words, blocks, first, last)
        length = _length(words[first:last]) + _FORGETTING * _length(phrase)
        return Alignment(first, last, round(min((1 + _FORGETTING) * common / length, 0.99), 3))

    def _common_characters(self, words: Sequence[str], blocks: Sequence[Match], first: int, last: int) -> int:
        """Those of the words that are the same, each with a space, and those of the words between that are alike."""
        phrase = self._phrase
        edges = [*blocks, Match(last, len(phrase), 0)]
        common, a, b = 0, first, 0
        for block in edges:
            common += _alike(words[a : block.a], phrase[b : block.b])
            common += _length(words[block.a : block.a + block.size])
            a, b = block.a + block.size, block.b + block.size
        return common


def _best_run(blocks: Sequence[Match]) -> Sequence[Match]:
    """The consecutive blocks with the most words in common and the fewest words between them."""
    best: tuple[float, int, int] = (0.0, 0, 0)
    score, opening = 0.0, 0
    for number, block in enumerate(blocks):
        loss = _gap(blocks[number - 1], block) / 2 if number else 0.0
        if score <= loss:
            score, opening = 0.0, number
        else:
            score -= loss
        score += block.size
        if score > best[0]:
            best = (score, opening, number + 1)
    return blocks[best[1] : best[2]]


def _gap(one: Match, other: Match) -> int:
    return max(other.a - one.a - one.size, other.b - one.b - one.size)


def _belonging(words: Sequence[str], missing: Sequence[str]) -> int:
    """How many of these words beside a run belong to it: all of them if they resemble the phrase at that point."""
    return len(words) if 4 * _alike(words, missing) >= _length(words) + _length(missing) else 0


def _length(words: Sequence[str]) -> int:
    """The characters of some words, with a space each."""
    return sum(map(len, words)) + len(words)


def _alike(words: Sequence[str], others: Sequence[str]) -> int:
    """The characters that two short runs of words share."""
    if not words or not others:
        return 0
    matcher = SequenceMatcher(None, " ".join(words), " ".join(others), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


MAX_WORDS = 80
"""Words of a phrase or a query that are examined: the first ones."""

LEAST_SIMILARITY = 0.55
"""Below this, a place shares some words with the phrase, but nobody would recognise it."""

_SLACK_BITS = 3
_SLACK = 1 << _SLACK_BITS
"""Words by which a remembered phrase may be longer or shorter than the original at one place."""

_MOST_VOTES = 6_000
"""The rarest words vote anywhere until they have cast so many votes; the others only for the best stretches so far."""

_STRETCHES = 256
"""The number of best stretches so far."""

_VOTERS = 3
"""Words that vote anywhere however frequent they are: the rarest may be the wrong one."""

_CANDIDATES = 24
"""Stretches with the most votes that are examined closely."""

_LEAST_VOTES = 0.5
"""The share of the best stretch's votes that a stretch needs to be examined."""

_Positions = Mapping[str, Sequence[Sequence[int]]]
"""The positions of each word (ordinals of words) by its spelling, ascending for each form."""


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    similarity: float


def find_phrase(
    index: BookIndex, layout: BookLayout, excerpts: Excerpts, text: str, limit: int, *, exact: bool = False
) -> list[PhraseHit]:
    """The places where a phrase occurs word by word; if there are none and it need not be `exact`, the most similar
    places, best first.
    """
    words = words_of(text)[:MAX_WORDS]
    if not words or limit < 1:
        return []
    positions = islice(phrase_positions(index, layout, words), limit)
    matches = [_span_of_words(index, layout, position, position + len(words)) for position in positions]
    if not matches and not exact:
        matches = _near(index, layout, words)[:limit]
    return [PhraseHit(excerpts.citation(match.start, match.end), match.similarity) for match in matches]


def phrase_positions(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> Iterator[int]:
    """The ordinals of the first words of all places where these words, spelt so, occur in sequence; ascending."""
    phrase, positions = _positions_of(index, layout, words, exact=True)
    rarest, *others = sorted(range(len(phrase)), key=lambda number: sum(map(len, positions[phrase[number]])))
    for position in sorted(position for form in positions[phrase[rarest]] for position in form):
        first = position - rarest
        if all(_stands(positions[phrase[number]], first + number) for number in others):
            yield first


QUOTED = 3.0
"""The gain of a sentence with words that a query quotes; otherwise the best has 1 plus what runs add."""

_MOSTLY = 0.9
"""The share of a name's places at which it has its capital; nobody writes one small except in haste."""

LEAST_RUN = 3
"""Consecutive words of a query that count as a run if they are consecutive in the book too."""

_TELLING_RUN = 5
"""Words in a run, two with a meaning, that settles the search if it occurs only once; four are too often elsewhere."""

_POINTING = """
    book chapter line mean means meant meaning mention mentions mentioned novel page passage phrase quote quotes quoted
    read remember say says said sentence something story text true word words
    buch erwahnt gesagt heisst kapitel meint roman sagt satz seite steht stelle wort worte
    chapitre dit dite histoire livre mot mots phrase roman signifie
    capitulo dice dicho frase historia libro palabra palabras significa
"""
_ASKING = """
    ask asks asked call calls called feel feels felt happen happens happened know people person please tell tells told
    think thinks thought denkt fuhlt passiert pense piensa
"""

POINTING = frozenset(_POINTING.split())
"""Words, without accents, with which people point at a line, or ask what it means and who says it."""

_OF_A_LINE = POINTING | frozenset(_ASKING.split())
"""Words with which, beside a line, nothing else is asked for."""

_RUN_POWER = 4
"""Exponent on the run's share of the query: most of a query says where to look, a turn of phrase hardly does."""

_MOST_POSITIONS = 1_000
"""Positions of the rarest word of a run or a quotation; anything more frequent does not say where to look."""

_SCANNED = 20
"""Positions that can be scanned in the time of one lookup."""

_MOST_QUOTATIONS = 8
"""Quotations of a query that are searched: the first ones."""

_QUOTATION = re.compile(
    r"“([^“”]{1,300})”|\"([^\"]{1,300})\"|„([^“”]{1,300})[“”]|«([^«»]{1,300})»|»([^«»]{1,300})«|‹([^‹›]{1,300})›"
    r"|「([^「」]{1,300})」|『([^『』]{1,300})』|(?<!\w)‘([^‘]{1,300}?)’(?!\w)"
)


@dataclass(frozen=True, slots=True)
class _Run:
    """Words of a query, from the one at `start` on, that occur in the book from the ordinal `position` on."""

    position: int
    start: int
    length: int

    @property
    def words(self) -> range:
        return range(self.start, self.start + self.length)


@dataclass(frozen=True, slots=True)
class _Query:
    """The words of a query, folded, and of each: how much it says about where to look, 0 if nothing; whether it is a
    stop word; and whether it is a name in the book.
    """

    words: Sequence[str]
    weights: Sequence[float]
    is_stop: Sequence[bool]
    is_name: Sequence[bool]

    def share_of(self, run: range) -> float:
        """The share of all weights that a run of its words has."""
        return sum(self.weights[run.start : run.stop]) / (sum(self.weights) or 1.0)

    def is_settled_by(self, run: range, places: int) -> bool:
        """Whether a run of its words that occurs in so many places settles the search: see `verbatim_gains`."""
        telling = sum(self.weights[at] > 0 for at in run)
        if len(run) >= _TELLING_RUN and places == 1 and telling > 1:
            return True
        beside = [at for at in range(len(self.words)) if at not in run]
        asks_nothing = all(
            self.words[at] in _OF_A_LINE or not self.weights[at] or (telling and self.is_name[at]) for at in beside
        )
        has_all_stops = telling and not any(self.is_stop[at] for at in beside)
        is_pointed_at = any(self.words[at] in POINTING for at in beside)
        return bool(asks_nothing or has_all_stops) and (len(run) > LEAST_RUN or places == 1 or is_pointed_at)


def verbatim_gains(index: BookIndex, layout: BookLayout, query: str) -> dict[int, float]:
    """The gains of sentences, by number, for words that occur in them as they do in the query.

    A run gains more, up to 1, the larger its share of the query is. It gains 1 more if it settles the search: it is the
    longest with any of its words, and it is long and occurs nowhere else, or nothing else is asked. Nothing else is if
    all stop words of the query are in it, or only stop words, names and words that point at it are beside it. Three
    words that occur several times settle it only if they are pointed at. A quotation gains QUOTED, as does a query that
    stands there whole, or its stop words where nothing else follows one that points at them.
    """
    gains: dict[int, float] = defaultdict(float)
    words = words_of(query)[:MAX_WORDS]
    folded = [*map(fold, words)]
    if len(words) >= LEAST_RUN:
        for run, gain in _valued_runs(index, layout, words, folded):
            for sentence in _sentences_of(layout, run.position, run.length):
                gains[sentence] = max(gains[sentence], gain)
    for quoted in [*quoted_in(query), *_lines_meant(index.analyzer.stop_words, words, folded)]:
        positions = list(islice(phrase_positions(index, layout, quoted), _MOST_POSITIONS + 1))
        for position in positions if len(positions) <= _MOST_POSITIONS else ():
            for sentence in _sentences_of(layout, position, len(quoted)):
                gains[sentence] += QUOTED
    return gains


def quoted_in(query: str) -> list[tuple[str, ...]]:
    """The words of each quotation in a query, without repeated ones."""
    texts = (quotation[quotation.lastindex or 0] for quotation in _QUOTATION.finditer(query))
    quoted = dict.fromkeys(tuple(words_of(text)[:MAX_WORDS]) for text in texts)
    return [words for words in quoted if words][:_MOST_QUOTATIONS]


def _lines_meant(stop_words: Collection[str], words: Sequence[str], folded: Sequence[str]) -> Iterator[Sequence[str]]:
    """All the words of a query; and, if only stop words follow the last one that points at a line, these, with and
    without the first of them: "what is meant by to be or not".
    """
    first = max((number + 1 for number, word in enumerate(folded) if word in POINTING), default=0)
    is_little = all(word in stop_words for word in folded[first:])
    starts = {0, first, first + 1} if first and is_little else {0}
    yield from (words[start:] for start in starts if len(words) - start >= LEAST_RUN)


def _valued_runs(
    index: BookIndex, layout: BookLayout, words: Sequence[str], folded: Sequence[str]
) -> Iterator[tuple[_Run, float]]:
    """The runs of a query in the book, each with its gain."""
    phrase, positions = _positions_of(index, layout, words, exact=True)
    count = {word: sum(map(len, forms)) for word, forms in positions.items()}
    is_stop = [word in index.analyzer.stop_words for word in folded]
    rarity = (log(1 + layout.word_count / (count[word] + 1)) if count[word] else 0.0 for word in phrase)
    weights = [0.0 if stop else rare for rare, stop in zip(rarity, is_stop, strict=True)]
    runs = list(_runs(phrase, positions, weights))
    if not runs:
        return
    query = _Query(folded, weights, is_stop, [share_with_capital(index, layout, word) > _MOSTLY for word in words])
    longest = [0] * len(words)
    for run in runs:
        for at in run.words:
            longest[at] = max(longest[at], run.length)
    gains: dict[range, float] = {}
    for span, places in Counter(each.words for each in runs).items():
        is_longest = max(longest[at] for at in span) == len(span)
        gains[span] = query.share_of(span) ** _RUN_POWER + (is_longest and query.is_settled_by(span, places))
    yield from ((run, gains[run.words]) for run in runs)


def _runs(phrase: Sequence[str], positions: _Positions, weights: Sequence[float]) -> Iterator[_Run]:
    """The longest runs around those of the words that have a weight, unless they are too frequent."""
    reached: dict[int, int] = {}
    for number, word in enumerate(phrase):
        if not weights[number] or sum(map(len, positions[word])) > _MOST_POSITIONS:
            continue
        beside: set[int] = set()
        for neighbour in (number - 1, number + 1):
            if 0 <= neighbour < len(phrase):
                own = chain.from_iterable(positions[word])
                beside.update(_beside(own, positions[phrase[neighbour]], neighbour - number))
        for position in sorted(beside):
            offset = position - number
            if reached.get(offset, 0) > number:
                continue
            start, end = number, number + 1
            while start and _stands(positions[phrase[start - 1]], offset + start - 1):
                start -= 1
            while end < len(phrase) and _stands(positions[phrase[end]], offset + end):
                end += 1
            reached[offset] = end
            if end - start >= LEAST_RUN:
                yield _Run(offset + start, start, end - start)


def _beside(positions: Iterable[int], forms: Sequence[Sequence[int]], distance: int) -> Iterator[int]:
    """The positions from which one of the forms occurs at this distance."""
    wanted = {position + distance for position in positions}
    for others in forms:
        if len(others) <= _SCANNED * len(wanted):
            found = wanted.intersection(others)
        else:
            found = {position for position in wanted if _stands((others,), position)}
        yield from (position - distance for position in found)


def _sentences_of(layout: BookLayout, position: int, length: int) -> range:
    """The sentences that words are in, by the ordinal of the first word and their number."""
    return range(bisect_right(layout.words, position) - 1, bisect_right(layout.words, position + length - 1))


def _positions_of(
    index: BookIndex, layout: BookLayout, words: Sequence[str], *, exact: bool
) -> tuple[list[str], _Positions]:
    """The spellings of some words, and the positions of each up to the bound: of all its forms, unless `exact`."""
    spelling = index.analyzer.spelling
    typed = {spelling(word): word for word in words}
    positions = {
        spelt: [
            form.positions for form in find_forms(index, layout, word) if not exact or spelling(form.written) == spelt
        ]
        for spelt, word in typed.items()
    }
    return [spelling(word) for word in words], positions


def _stands(forms: Sequence[Sequence[int]], first: int, width: int = 1) -> bool:
    """Whether a word occurs in `[first, first + width)`."""
    for positions in forms:
        found = bisect_left(positions, first)
        if found < len(positions) and positions[found] < first + width:
            return True
    return False


def _span_of_words(index: BookIndex, layout: BookLayout, first: int, last: int) -> _Match:
    start, _ = _span_of_word(index, layout, first)
    _, end = _span_of_word(index, layout, last - 1)
    return _Match(start, end, 1.0)


def _span_of_word(index: BookIndex, layout: BookLayout, position: int) -> tuple[int, int]:
    sentence = bisect_right(layout.words, position) - 1
    offset = layout.starts[sentence]
    start, end = word_spans(index.read(offset, layout.ends[sentence]))[position - layout.words[sentence]]
    return offset + start, offset + end


def _near(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> list[_Match]:
    phrase, positions = _positions_of(index, layout, words, exact=False)
    aligner = PhraseAligner(phrase)
    matches: list[_Match] = []
    for beginning in _likely_beginnings(positions, layout.word_count, phrase):
        near = _words_between(index, layout, beginning - 2 * _SLACK, beginning + 2 * _SLACK + len(phrase) * 5 // 4)
        found = aligner.align([word for word, _, _ in near])
        if found and found.similarity >= LEAST_SIMILARITY:
            matches.append(_Match(near[found.first][1], near[found.last - 1][2], found.similarity))
    return list(_without_overlaps(sorted(matches, key=lambda match: (-match.similarity, match.start, match.end))))


def _likely_beginnings(positions: _Positions, word_count: int, phrase: Sequence[str]) -> list[int]:
    """Ordinals of words within some sixteen words after which the phrase is likely to begin.

    Stretches are two slacks long and overlap by one, so that votes that belong together are never separated.
    """
    count = {word: sum(map(len, forms)) for word, forms in positions.items()}
    votes: defaultdict[int, float] = defaultdict(float)
    cast = voters = 0
    for number in sorted(range(len(phrase)), key=lambda number: (count[phrase[number]], number)):
        word = phrase[number]
        weight = log(1 + word_count / (count[word] + 1))
        cast += count[word]
        if voters < _VOTERS or cast <= _MOST_VOTES:
            voters += bool(count[word])
            stretches = {(position - number) >> _SLACK_BITS for form in positions[word] for position in form}
            for stretch in stretches | {stretch - 1 for stretch in stretches}:
                votes[stretch] += weight
            continue
        if len(votes) > _STRETCHES:
            votes = defaultdict(float, {stretch: votes[stretch] for stretch in _best(votes, _STRETCHES)})
        for stretch in votes:
            if _stands(positions[word], (stretch << _SLACK_BITS) + number, 2 * _SLACK):
                votes[stretch] += weight
    best = _best(votes, _CANDIDATES)
    return [stretch << _SLACK_BITS for stretch in best if votes[stretch] >= votes[best[0]] * _LEAST_VOTES]


def _best(votes: Mapping[int, float], count: int) -> list[int]:
    """The stretches with the most votes, earlier ones first among equals."""
    return nlargest(count, sorted(votes), key=votes.__getitem__)


def _words_between(index: BookIndex, layout: BookLayout, first: int, last: int) -> list[tuple[str, int, int]]:
    """The spellings of the words from ordinal `first` to `last`, with their spans."""
    spelling = index.analyzer.spelling
    first, last = max(first, 0), min(last, layout.word_count)
    opening, closing = bisect_right(layout.words, first) - 1, bisect_left(layout.words, last)
    found: list[tuple[str, int, int]] = []
    for sentence in range(opening, closing):
        offset = layout.starts[sentence]
        text = index.read(offset, layout.ends[sentence])
        found += [(spelling(text[start:end]), offset + start, offset + end) for start, end in word_spans(text)]
    skipped = first - layout.words[opening] if found else 0
    return found[skipped : skipped + last - first]


def _without_overlaps(matches: Sequence[_Match]) -> Iterator[_Match]:
    taken: list[_Match] = []
    for match in matches:
        if all(match.end <= other.start or other.end <= match.start for other in taken):
            taken.append(match)
            yield match

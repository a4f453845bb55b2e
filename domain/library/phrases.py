"""Phrases: where words stand that somebody remembers, exactly or by half.

Each remembered word votes, by how rare it is, for the places where the phrase would have to begin if that word were
right. Where many votes come together the text is laid beside the phrase, word by word, to find the span that is meant.
So a few wrong, missing or misspelt words do not matter.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from heapq import nlargest
from math import log

from domain.book import PhraseHit
from domain.library.excerpts import Excerpts
from domain.library.index import BookIndex
from domain.library.layout import Layout
from domain.library.words import fold, stem_of, word_spans, words_of

MAX_WORDS = 80
"""Words of a phrase that are looked at, the first ones."""

LEAST_SIMILARITY = 0.55
"""Below it a place has some words in common with the phrase, but nobody would say that it is the phrase."""

_SLACK_BITS = 3
_SLACK = 1 << _SLACK_BITS
"""Words by which what is remembered may have become longer or shorter at one place."""

_MOST_VOTES = 20_000
"""The rarest words vote until they have cast so many votes; "the" is everywhere and decides nothing."""

_CANDIDATES = 24
"""Places with the most votes that are looked at closely."""


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    similarity: float


def find_phrase(index: BookIndex, layout: Layout, excerpts: Excerpts, text: str, limit: int) -> list[PhraseHit]:
    """The places where a phrase stands word by word; if it stands nowhere, those that come near it, best first."""
    phrase = [fold(word) for word in words_of(text)[:MAX_WORDS]]
    if not phrase or limit < 1:
        return []
    matches = _exact(index, layout, phrase, limit) or _near(index, layout, phrase)
    return [PhraseHit(excerpts.citation(match.start, match.end), match.similarity) for match in matches[:limit]]


def _exact(index: BookIndex, layout: Layout, phrase: Sequence[str], limit: int) -> list[_Match]:
    """Where the words follow each other, in reading order."""
    places = {word: _places_of(index, layout, word, exact=True) for word in dict.fromkeys(phrase)}
    rarest = min(range(len(phrase)), key=lambda number: len(places[phrase[number]]))
    matches: list[_Match] = []
    for place in places[phrase[rarest]]:
        first = place - rarest
        if all(_holds(places[word], first + number) for number, word in enumerate(phrase)):
            matches.append(_span_of_words(index, layout, first, first + len(phrase)))
            if len(matches) == limit:
                break
    return matches


def _holds(places: Sequence[int], place: int) -> bool:
    found = bisect_left(places, place)
    return found < len(places) and places[found] == place


def _places_of(index: BookIndex, layout: Layout, word: str, *, exact: bool) -> list[int]:
    """The places of a folded word up to the bound; unless `exact`, also of its other forms."""
    lists = (
        form.positions[: bisect_left(form.positions, layout.word_count)]
        for form in index.forms(stem_of(word))
        if not exact or fold(form.written) == word
    )
    return sorted(place for places in lists for place in places)


def _span_of_words(index: BookIndex, layout: Layout, first: int, last: int) -> _Match:
    start, _ = _span_of_word(index, layout, first)
    _, end = _span_of_word(index, layout, last - 1)
    return _Match(start, end, 1.0)


def _span_of_word(index: BookIndex, layout: Layout, place: int) -> tuple[int, int]:
    sentence = bisect_right(layout.words, place) - 1
    offset = layout.starts[sentence]
    start, end = word_spans(index.read(offset, layout.ends[sentence]))[place - layout.words[sentence]]
    return offset + start, offset + end


def _near(index: BookIndex, layout: Layout, phrase: Sequence[str]) -> list[_Match]:
    matches: list[_Match] = []
    for beginning in _likely_beginnings(index, layout, phrase):
        match = _lay_beside(index, layout, phrase, beginning)
        if match and match.similarity >= LEAST_SIMILARITY:
            matches.append(match)
    return list(_without_overlaps(sorted(matches, key=lambda match: (-match.similarity, match.start, match.end))))


def _likely_beginnings(index: BookIndex, layout: Layout, phrase: Sequence[str]) -> list[int]:
    """Ordinals of words near which the phrase is likely to begin.

    Votes for exactly the same beginning count once more than those for one nearby.
    """
    places = {word: _places_of(index, layout, word, exact=False) for word in dict.fromkeys(phrase)}
    exactly: defaultdict[int, float] = defaultdict(float)
    nearby: defaultdict[int, float] = defaultdict(float)
    cast = 0
    for number in sorted(range(len(phrase)), key=lambda number: (len(places[phrase[number]]), number)):
        found = places[phrase[number]]
        cast += len(found)
        if exactly and cast > _MOST_VOTES:
            break
        weight = log(1 + layout.word_count / (len(found) + 1))
        for place in found:
            exactly[place - number] += weight
        for stretch in {(place - number) >> _SLACK_BITS for place in found}:
            nearby[stretch] += weight
    best: dict[int, tuple[float, int]] = {}
    for beginning, votes in exactly.items():
        stretch = beginning >> _SLACK_BITS
        beside = max(nearby.get(stretch - 1, 0.0), nearby.get(stretch + 1, 0.0))
        best[stretch] = max((votes + nearby[stretch] + beside, -beginning), best.get(stretch, (0.0, 0)))
    return [-beginning for _, beginning in nlargest(_CANDIDATES, best.values())]


def _lay_beside(index: BookIndex, layout: Layout, phrase: Sequence[str], beginning: int) -> _Match | None:
    """The span near a likely beginning that is most like the phrase."""
    words = _words_between(index, layout, beginning - 2 * _SLACK, beginning + 2 * _SLACK + len(phrase) * 5 // 4)
    folded = [word for word, _, _ in words]
    found = _common_run(folded, phrase)
    if found is None:
        return None
    first, last = found
    similarity = SequenceMatcher(None, " ".join(phrase), " ".join(folded[first:last]), autojunk=False).ratio()
    return _Match(words[first][1], words[last - 1][2], round(min(similarity, 0.99), 3))


def _words_between(index: BookIndex, layout: Layout, first: int, last: int) -> list[tuple[str, int, int]]:
    """The words from ordinal `first` to `last` or a little beyond, folded, with their spans."""
    first, last = max(first, 0), min(last, layout.word_count)
    opening, closing = bisect_right(layout.words, first) - 1, bisect_left(layout.words, last)
    found: list[tuple[str, int, int]] = []
    for sentence in range(opening, closing):
        offset = layout.starts[sentence]
        text = index.read(offset, layout.ends[sentence])
        found += [(fold(text[start:end]), offset + start, offset + end) for start, end in word_spans(text)]
    skipped = first - layout.words[opening] if found else 0
    return found[skipped : skipped + last - first]


def _common_run(words: Sequence[str], phrase: Sequence[str]) -> tuple[int, int] | None:
    """The stretch of `words` that the phrase is: from its first to its last word that fits, and what is beside them."""
    blocks = SequenceMatcher(None, words, phrase, autojunk=False).get_matching_blocks()[:-1]
    best, best_score = None, 0.0
    score, opening = 0.0, 0
    for number, block in enumerate(blocks):
        gap = _gap(blocks[number - 1], block) if number else 0
        if score - gap / 2 <= 0:
            score, opening = 0.0, number
        else:
            score -= gap / 2
        score += block.size
        if score > best_score:
            best, best_score = (opening, number), score
    if best is None:
        return None
    first, last = blocks[best[0]], blocks[best[1]]
    before = _like(words[max(first.a - first.b, 0) : first.a], phrase[: first.b])
    rest = phrase[last.b + last.size :]
    after = _like(words[last.a + last.size : last.a + last.size + len(rest)], rest)
    return first.a - before, last.a + last.size + after


def _gap(one: Match, other: Match) -> int:
    return max(other.a - one.a - one.size, other.b - one.b - one.size)


def _like(words: Sequence[str], missing: Sequence[str]) -> int:
    """How many of these words beside a run belong to it: all, if they are like what the phrase has there."""
    similar = SequenceMatcher(None, " ".join(words), " ".join(missing), autojunk=False).ratio() >= 0.5
    return len(words) if words and similar else 0


def _without_overlaps(matches: Sequence[_Match]) -> Iterator[_Match]:
    taken: list[_Match] = []
    for match in matches:
        if all(match.end <= other.start or other.end <= match.start for other in taken):
            taken.append(match)
            yield match

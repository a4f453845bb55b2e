"""Salience: the sentences that say most of what a stretch of text is about, chosen without a model."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from domain.book import Sentence
from domain.library.search.words import STOP_WORDS, stem_of, words_of

FEWEST_WORDS, MOST_WORDS = 7, 45
"""Shorter sentences are headings and exclamations, longer ones no excerpt."""

SPEECH = 0.5
"""What a sentence of speech weighs against one that narrates: talk is seldom what happens."""

LENGTH_POWER = 0.3
"""Long sentences have more of everything; divided by this power of their length they are on a level with short ones."""

_SHORTEST_STEM = 3
_SPEECH_MARKS = frozenset('"“”«»„「」')


def opening_of(sentences: Sequence[Sentence]) -> Sentence | None:
    """The first sentence that is more than a heading."""
    return next((sentence for sentence in sentences if _is_fit(words_of(sentence.text))), None)


def salient_sentences(sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """The opening and the sentences whose words come up most in the whole, in order."""
    opening = opening_of(sentences)
    if opening is None or count < 1:
        return []
    stems = {sentence: _stems(sentence) for sentence in sentences}
    weights = _in_how_many(stems.values())
    del stems[opening]
    return sorted([opening, *_heaviest(stems, count - 1, weights)], key=lambda sentence: sentence.start)


def weights_of(sentences: Iterable[Sentence]) -> Counter[str]:
    """In how many of the sentences a word comes up, by its stem."""
    return _in_how_many(map(_stems, sentences))


def most_salient(sentences: Iterable[Sentence], count: int, weights: Counter[str]) -> list[Sentence]:
    """The sentences whose words weigh most, in order; headings and exclamations are none."""
    stems = {sentence: _stems(sentence) for sentence in sentences}
    return sorted(_heaviest(stems, count, weights), key=lambda sentence: sentence.start)


def _in_how_many(stems: Iterable[Sequence[str]]) -> Counter[str]:
    return Counter(stem for each in stems for stem in set(each))


def _heaviest(stems: Mapping[Sentence, Sequence[str]], count: int, weights: Counter[str]) -> list[Sentence]:
    fit = [sentence for sentence in stems if _is_fit(words_of(sentence.text))]
    return sorted(fit, key=lambda each: -_weight(stems[each], weights) * (SPEECH if _is_speech(each) else 1))[:count]


def _weight(stems: Sequence[str], weights: Counter[str]) -> float:
    return sum(weights[stem] for stem in set(stems)) / math.pow(len(stems) or 1, LENGTH_POWER)


def _stems(sentence: Sentence) -> list[str]:
    words = (word for word in words_of(sentence.text) if word.casefold() not in STOP_WORDS)
    return [stem for word in words if len(stem := stem_of(word)) >= _SHORTEST_STEM or not stem.isascii()]


def _is_speech(sentence: Sentence) -> bool:
    return not _SPEECH_MARKS.isdisjoint(sentence.text)


def _is_fit(words: Sequence[str]) -> bool:
    return FEWEST_WORDS <= len(words) <= MOST_WORDS

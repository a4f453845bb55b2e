"""Phrases: where words stand that somebody remembers, exactly or by half."""

from bisect import bisect_right

from domain.book import PhraseHit
from domain.library.excerpts import Excerpts
from domain.library.index import BookIndex
from domain.library.layout import Layout
from domain.library.mentions import mention_places
from domain.library.words import word_spans, words_of


def find_phrase(index: BookIndex, layout: Layout, excerpts: Excerpts, text: str, limit: int) -> list[PhraseHit]:
    """The places of a phrase, best first."""
    words = [word.lower() for word in words_of(text)]
    hits = []
    for place in mention_places(index, layout, words)[: max(limit, 0)]:
        start, end = span_of_words(index, layout, place, place + len(words))
        hits.append(PhraseHit(excerpts.citation(start, end), 1.0))
    return hits


def span_of_words(index: BookIndex, layout: Layout, first: int, last: int) -> tuple[int, int]:
    """Where the words `[first, last)` stand in the text."""
    return _span_of_word(index, layout, first)[0], _span_of_word(index, layout, last - 1)[1]


def _span_of_word(index: BookIndex, layout: Layout, place: int) -> tuple[int, int]:
    sentence = bisect_right(layout.words, place) - 1
    offset = layout.starts[sentence]
    start, end = word_spans(index.read(offset, layout.ends[sentence]))[place - layout.words[sentence]]
    return offset + start, offset + end

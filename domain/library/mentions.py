"""Mentions: exact counts of a word or name.

A mention is the whole word, with or without a possessive ending and accents. Capitals count one way: "rose" is found
however it is written, "Rose" only where it has a capital, so that a name is not mixed up with a verb.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence

from domain.book import ChapterCount, Mentions
from domain.library.excerpts import Excerpts
from domain.library.index import BookIndex
from domain.library.layout import Layout
from domain.library.words import fold, stem_of, without_possessive, words_of

MAX_WORDS = 30
"""Words of the longest term that is counted."""


def count_mentions(index: BookIndex, layout: Layout, excerpts: Excerpts, term: str) -> Mentions:
    """Count a term of one or more words in what has been read."""
    places = mention_places(index, layout, words_of(term)[:MAX_WORDS])
    if not places:
        return Mentions(term=term, total=0, first=None, last=None)
    sentences = [bisect_right(layout.words, place) - 1 for place in places]
    citations = [excerpts.citation(layout.starts[i], layout.ends[i]) for i in (sentences[0], sentences[-1])]
    return Mentions(
        term=term,
        total=len(places),
        first=citations[0],
        last=citations[1],
        by_chapter=_by_chapter(layout, sentences),
    )


def sentences_with(index: BookIndex, layout: Layout, term: str) -> list[int]:
    """The numbers of the sentences in which a mention begins, rising."""
    places = mention_places(index, layout, words_of(term)[:MAX_WORDS])
    return list(dict.fromkeys(bisect_right(layout.words, place) - 1 for place in places))


def mention_places(index: BookIndex, layout: Layout, term: Sequence[str]) -> list[int]:
    """The ordinals of the first words of all mentions, rising."""
    following: set[int] | None = None
    for word in reversed(term):
        found = _places_of(index, layout, word)
        following = found if following is None else {place for place in found if place + 1 in following}
    return sorted(following or ())


def _places_of(index: BookIndex, layout: Layout, word: str) -> set[int]:
    return {
        place
        for form in index.forms(stem_of(word))
        if _is_mention(form.written, word)
        for place in form.positions[: bisect_left(form.positions, layout.word_count)]
    }


def _is_mention(written: str, wanted: str) -> bool:
    if wanted[0].isupper() and not written[0].isupper():
        return False
    folded = fold(wanted)
    return folded in (fold(written), fold(without_possessive(written)))


def _by_chapter(layout: Layout, sentences: Sequence[int]) -> tuple[ChapterCount, ...]:
    """Counts in reading order."""
    counts = Counter(layout.chapter_at(layout.starts[sentence]) for sentence in sentences)
    return tuple(
        ChapterCount(chapter.number, chapter.title, count) if chapter else ChapterCount(0, "", count)
        for chapter, count in counts.items()
    )

"""Passages: runs of whole sentences, overlapping, that are found, handed to a model and cited."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

PASSAGE_WORDS = 150
"""Words a passage is filled up to. Small ones find the place better, large ones hold more of the answer; 150 did best
on labelled questions for a fixed number of words returned (docs/retrieval.md)."""

OVERLAP_WORDS = 50
"""Words a passage has in common with the one before, so that what is cut by one is whole in another."""


def pack(words: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Passages, as ranges of sentences, from sentence `first` to `last`, the end of a chapter.

    `words[i]` counts the words before sentence `i`. A passage depends on its own sentences and on the one after it, so
    the passages of what has been read are those of the whole book up to there. One long sentence is a passage.
    """
    while first < last:
        fitting = bisect_right(words, words[first] + PASSAGE_WORDS, first + 1, last + 1) - 1
        end = max(fitting, first + 1)
        yield first, end
        if end == last:
            return
        first = bisect_left(words, words[end] - OVERLAP_WORDS, first + 1, end)

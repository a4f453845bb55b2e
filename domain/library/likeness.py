"""Likeness: a phrase laid beside a stretch of text, to find the words that are meant and how like they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher

_FORGETTING = 2
"""How much more it matters that the phrase is there than that nothing else is: people leave out more than they add."""


@dataclass(frozen=True, slots=True)
class Like:
    """The words `[first, last)` of a stretch, and how like the phrase they are: 0 to 0.99."""

    first: int
    last: int
    similarity: float


class Likeness:
    """A remembered phrase, of folded words, that is laid beside one stretch after another."""

    def __init__(self, phrase: Sequence[str]) -> None:
        self._phrase = phrase
        self._matcher: SequenceMatcher[str] = SequenceMatcher(None, (), phrase, autojunk=False)

    def beside(self, words: Sequence[str]) -> Like | None:
        """The run of words that is most like the phrase, or None if they have no word in common."""
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
        return Like(first, last, round(min((1 + _FORGETTING) * common / length, 0.99), 3))

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
    """The blocks that follow each other with the most words in common and the fewest between."""
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
    """How many of these words beside a run belong to it: all, if they are like what the phrase has there."""
    return len(words) if 4 * _alike(words, missing) >= _length(words) + _length(missing) else 0


def _length(words: Sequence[str]) -> int:
    """Characters of some words, with a space each."""
    return sum(map(len, words)) + len(words)


def _alike(words: Sequence[str], others: Sequence[str]) -> int:
    """The characters that two short runs of words have in common."""
    if not words or not others:
        return 0
    matcher = SequenceMatcher(None, " ".join(words), " ".join(others), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())

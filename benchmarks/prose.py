"""Books of any length for measuring: chapters made of the sample novel's sentences, each time in another order.

In a real book new words keep coming as long as it goes on. Here most of the sample's rare words are given one of many
endings, so that each of them stays as rare as it is in a novel.
"""

import random
import re
from collections import Counter
from functools import cache

from bot.app import SAMPLE
from domain.library.search.sentences import split_sentences

CHAPTER = 15_000
"""Characters of a chapter."""

_RARE = 6
"""Words that are so often in the sample, at most, are rare."""

_ENDINGS = ("ambec", "eldak", "irfo", "onmi", "ultun", "asper", "ivol", "udreth")
_KEPT = 0.2
"""The share of rare words that stay as they are."""

_WORD = re.compile(r"[A-Za-z]{3,}")


@cache
def _sentences() -> list[str]:
    text = SAMPLE.read_text(encoding="utf-8")
    return [" ".join(text[start:end].split()) for start, end in split_sentences(text)]


@cache
def _rare() -> frozenset[str]:
    counts = Counter(word for sentence in _sentences() for word in _WORD.findall(sentence))
    return frozenset(word for word, count in counts.items() if count <= _RARE)


def chapters(characters: int, seed: int = 1) -> list[str]:
    """The texts of a book of about so many characters, chapter by chapter, in paragraphs of five sentences."""
    chance, rare = random.Random(seed), _rare()

    def varied(found: re.Match[str]) -> str:
        word = found[0]
        return word if word not in rare or chance.random() < _KEPT else word + chance.choice(_ENDINGS)

    made = []
    for start in range(0, characters, CHAPTER):
        left, paragraphs = min(CHAPTER, characters - start), ""
        while len(paragraphs) < left:
            paragraphs += _WORD.sub(varied, " ".join(chance.sample(_sentences(), 5))) + "\n\n"
        made.append(paragraphs)
    return made


def book(characters: int, seed: int = 1) -> str:
    """A plain text of about so many characters."""
    return "\n\n".join(f"CHAPTER {number}\n\n{text}" for number, text in enumerate(chapters(characters, seed), start=1))

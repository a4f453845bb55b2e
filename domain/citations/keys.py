"""Opaque keys for sentences, for models that do not cite by themselves.

A model copies the key of a sentence behind what it says; only keys of sentences it was given resolve. Small numbers
would invite guessing, so a key is a hash of the sentence's place: 28 bits, so that among the thousand sentences a long
conversation may hold, two share one in no more than 0.2 % of conversations.
"""

import hashlib
import re
from collections.abc import Sequence

from domain.book import Passage, Sentence

_DIGITS = 7

KEY = r"s-[0-9a-f]{4,12}"
"""Any length a model could make of a key, so that a mistyped one is known for what it is and taken out."""

KEY_IN_GROUP = re.compile(KEY)
KEY_GROUP = re.compile(rf"(?:\s*\[\s*{KEY}(?:\s*[,;]?\s*{KEY})*\s*\])+")
"""One or more bracketed keys in a row, with the white space in front of them."""


def key_of(sentence: Sentence) -> str:
    """The sentence's key, the same every time: s-7f3a2c1."""
    place = f"{sentence.start}-{sentence.end}".encode()
    return f"s-{hashlib.blake2s(place).hexdigest()[:_DIGITS]}"


def render(passages: Sequence[Passage]) -> str:
    """Passages as text in which every sentence stands behind its key."""
    return "\n\n".join(_render_one(passage) for passage in passages)


def _render_one(passage: Passage) -> str:
    heading = " · ".join(part for part in (passage.chapter, passage.source) if part)
    sentences = " ".join(f"[{key_of(sentence)}] {' '.join(sentence.text.split())}" for sentence in passage.sentences)
    return f"({heading})\n{sentences}"

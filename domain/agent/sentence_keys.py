"""Opaque keys for sentences, for models that do not cite by themselves.

A model copies the key of a sentence behind what it says; only keys of sentences it was given resolve. Small numbers
would invite guessing, so a key is a hash of the sentence's place: 20 bits, and only a few hundred are ever in play.
"""

import hashlib
import re
from collections.abc import Sequence

from domain.book import Passage, Sentence

KEY = r"s-[0-9a-f]{5}"
KEY_IN_GROUP = re.compile(KEY)
KEY_GROUP = re.compile(rf"(?:\s*\[\s*{KEY}(?:\s*[,;]?\s*{KEY})*\s*\])+")
"""One or more bracketed keys in a row, with the white space in front of them."""


def key_of(sentence: Sentence) -> str:
    """The sentence's key, the same every time: s-7f3a2."""
    place = f"{sentence.start}-{sentence.end}".encode()
    return f"s-{hashlib.blake2s(place).hexdigest()[:5]}"


def render(passages: Sequence[Passage]) -> str:
    """Passages as text in which every sentence stands behind its key."""
    return "\n\n".join(_render_one(passage) for passage in passages)


def _render_one(passage: Passage) -> str:
    heading = " · ".join(part for part in (passage.chapter, passage.source) if part)
    sentences = " ".join(f"[{key_of(sentence)}] {' '.join(sentence.text.split())}" for sentence in passage.sentences)
    return f"({heading})\n{sentences}"

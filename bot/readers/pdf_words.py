"""Words that were cut at the ends of lines, made whole again."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

SPLIT = "\ufffe"
"""Where a word is cut at the end of a line; PDFium's own sign for it."""

_CUT_WORD = re.compile(rf"(?<![^\W\d_])([^\W\d_]+){SPLIT}(\w+)")
_FROM_CUT = re.compile(rf"{SPLIT}[^ ]*")
_STOPS = ",.;:!?"


def mend_words(texts: Sequence[str]) -> list[str]:
    """The paragraphs of a book with their words whole, and with the hyphens that are the author's."""
    pairs = {word.groups() for text in texts for word in _cut_words(text)}
    hyphened = _hyphened(pairs, set(" ".join(texts).lower().split())) if pairs else set()
    return [_mended(text, hyphened) if SPLIT in text else text for text in texts]


def _cut_words(text: str) -> Iterator[re.Match[str]]:
    """The words of a text that are cut, looked for where a cut is: most words are whole."""
    for cut in _FROM_CUT.finditer(text):
        yield from _CUT_WORD.finditer(text, text.rfind(" ", 0, cut.start()) + 1, cut.end())


def _mended(text: str, hyphened: Collection[tuple[str, ...]]) -> str:
    """The text with its words whole: where one had no hyphen of its own, there is nothing between its parts."""
    joined = [word.end(1) for word in _cut_words(text) if word.groups() not in hyphened]
    return "".join(text[end + 1 : cut] for end, cut in pairwise([-1, *joined, len(text)])).replace(SPLIT, "-")


def _hyphened(pairs: set[tuple[str, ...]], words: Collection[str]) -> set[tuple[str, ...]]:
    """Which of the cut words have a hyphen of their own.

    How a word is written elsewhere in the book decides; where it is nowhere else, how most of the others are. Books
    whose typesetter never hyphenates break lines only at such hyphens.
    """

    def is_written(word: str) -> bool:
        return any(f"{word.lower()}{stop}" in words for stop in ("", *_STOPS))

    own = {pair for pair in pairs if not pair[1][0].islower() or is_written("-".join(pair))}
    joined = {pair for pair in pairs if is_written("".join(pair))} - own
    unknown = pairs - own - joined
    if len(own) == len(joined):
        return own | {pair for pair in unknown if all(map(is_written, pair))}
    return own | unknown if len(own) > len(joined) else own

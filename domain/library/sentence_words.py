"""The words of many sentences at once: what `words_of` finds in each, in half the time.

Splitting at spaces is quicker than any pattern, so whatever is no part of a word is made a space first.
"""

import re
from collections.abc import Iterable, Sequence

from domain.library.words import CLITIC_END, has_marks_or_dense_script, word_finder, words_of

_BETWEEN = "\0"
"""Stands between sentences while they are one text."""

_APOSTROPHES = "'’"
_APOSTROPHE = re.compile(rf"[{_APOSTROPHES}](?:(?<=[^\W_][{_APOSTROPHES}]){CLITIC_END}[{_APOSTROPHES}]?)?")
"""It begins with a set of characters, quick to look for. No ending follows another, as "rock'd's" is two words,
so the apostrophe after one is taken along."""

_ASCII = bytes(range(128))
_ASCII_WORDS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) in {_BETWEEN, "'"} else ord(" ") for code in range(256)
)
"""What becomes of each byte of UTF-8."""

_MOST_SIGNS = 50
"""Different signs beyond ASCII that are worth being made spaces one after the other; a novel has five or six."""

_TYPICAL = 100
"""Sentences in which a book shows its script."""


def words_of_each(sentences: Sequence[str]) -> Iterable[list[str]]:
    """The words of each sentence, in order."""
    beginning = "".join(sentences[:_TYPICAL])
    if has_marks_or_dense_script(beginning):
        return map(word_finder(beginning), sentences)
    text = _BETWEEN.join(sentences)
    if text.count(_BETWEEN) != len(sentences) - 1:
        return map(words_of, sentences)
    encoded = _APOSTROPHE.sub(_without_quotation_mark, text).encode("utf-8", "surrogatepass").translate(_ASCII_WORDS)
    foreign = set(encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass"))
    signs = [character for character in foreign if not character.isalnum() and character not in _APOSTROPHES]
    if len(signs) > _MOST_SIGNS or has_marks_or_dense_script("".join(foreign)):
        return map(words_of, sentences)
    for sign in signs:
        encoded = encoded.replace(sign.encode("utf-8", "surrogatepass"), b" ")
    return map(str.split, encoded.decode("utf-8").split(_BETWEEN))


def _without_quotation_mark(found: re.Match[str]) -> str:
    """An apostrophe before an ending stays; what else looks like one is a quotation mark, or stands for letters."""
    ending = found[0].rstrip(_APOSTROPHES)
    return f"{ending} " if ending else " "

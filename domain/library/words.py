"""Words: what counts as one, and which forms are searched as the same word.

A word is a run of letters and digits, with an English ending after an apostrophe ("don't", "Alice's") kept on it.
Scripts that are written without spaces (Chinese, Japanese, Thai …) have no such runs: there every character is a word,
and the search looks for neighbouring pairs of them.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

from domain.library.word_lists import IRREGULAR_FORMS

_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # Chinese, Japanese
    "\uac00-\ud7af"  # Korean: spaced, but its particles hang on the words
    "\U00020000-\U0003ffff"
)
_MARKS = (  # signs that belong to the letter before them, and which \w leaves out
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u0957\u0962\u0963\u0980-\u0dff\u200c\u200d"
)
_CLITIC = r"(?:['’](?:[stdmSTDM]|ll|re|ve|LL|RE|VE)\b)?"
_PLAIN_WORD = re.compile(rf"[^\W_]+{_CLITIC}")
_DENSE_OR_MARK = re.compile(rf"[{_DENSE}{_MARKS}]")

_POINTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670]")
"""Accents, and the vowel points of Hebrew and Arabic; elsewhere the signs on a letter are vowels that count."""

_UNDECOMPOSED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def words_of(text: str) -> list[str]:
    """The words of a text in order, as they are written."""
    return _pattern_for(text).findall(text)


def word_finder(text: str) -> Callable[[int, int], list[str]]:
    """A function that gives the words between two offsets, for many stretches of one text."""
    findall = _pattern_for(text).findall
    return lambda start, end: findall(text, start, end)


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand: the n-th span is that of the n-th of `words_of`."""
    return [match.span() for match in _pattern_for(text).finditer(text)]


def _pattern_for(text: str) -> re.Pattern[str]:
    """Both patterns find the same words in most texts, and the plain one in half the time."""
    return _PLAIN_WORD if text.isascii() or not _DENSE_OR_MARK.search(text) else _any_word()


@cache
def _any_word() -> re.Pattern[str]:
    """Made when it is needed, which takes some milliseconds."""
    return re.compile(rf"[^\W_{_DENSE}]+(?:[{_MARKS}]+[^\W_{_DENSE}]*)*{_CLITIC}|[{_DENSE}]")


def is_dense(word: str) -> bool:
    """Whether this word is a character of a script without spaces."""
    return len(word) == 1 and _dense_character().match(word) is not None


@cache
def _dense_character() -> re.Pattern[str]:
    return re.compile(rf"[{_DENSE}]")


def fold(word: str) -> str:
    """The word without case and accents, so that "CAFÉ" and "cafe" are the same."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold().replace("’", "'"))
    return unicodedata.normalize("NFC", _POINTS.sub("", decomposed)).casefold().translate(_UNDECOMPOSED)


def without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(("'s", "’s")) else word


@lru_cache(maxsize=50_000)
def stem_of(word: str) -> str:
    """What a written word is searched as: folded, without its ending if English or Russian, irregular forms as one."""
    folded = without_possessive(fold(word))
    return _without_ending(IRREGULAR_FORMS.get(folded, folded))


_VOWEL = re.compile(r"[aeiou]|(?<!^)y")
_PLURAL = re.compile(r"(?:(?<=ss|sh|ch)|(?<=[xz]))es$|(?<![sui])s$")
_PARTICIPLE = re.compile(r"(?<!e)ed$|ing$")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
_SHORT = re.compile(r"^[^aeiou]*[aeiouy][^aeiouwxy]$")
_SUFFIX = re.compile(r"(?:ly|ness|ful)$")


_CYRILLIC = re.compile(
    r"([\u0430-\u045f]{3,}?)(?:ами|ями|иями|ого|его|ому|ему|ыми|ими|иях|ах|ях|ая|яя|ую|юю|ои|еи|ою|ею|ии|ыи|ое|ее|ые|ие"
    r"|ых|их|ым|им|ом|ем|ам|ям|ов|ев|ью|ия|ию|иям|ием|[аяоеыиуюьі])"
)
"""What declension adds to a word, folded (so that "й" is "и")."""


def _without_ending(word: str) -> str:
    """It looks at the last letters first, as most words have none of these endings."""
    if len(word) <= 3:
        return word
    if not word.isascii():
        declined = _CYRILLIC.fullmatch(word)
        return declined[1] if declined else word
    if word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if word.endswith("s"):
        word = _PLURAL.sub("", word)
    if word.endswith(("ed", "ing")):
        word = _without_participle(word)
    if len(word) > 5 and word.endswith(("ly", "ness", "ful")):
        word = _SUFFIX.sub("", word)
    if word.endswith("i"):
        return word[:-1] + "y"
    if word.endswith("e") and len(word) > 3 and not _SHORT.match(word[:-1]):
        return word[:-1]
    return word


def _without_participle(word: str) -> str:
    base = _PARTICIPLE.sub("", word)
    if base == word or len(base) < 2 or not _VOWEL.search(base):
        return word
    if _DOUBLED.search(base):
        return base[:-1]
    return base + "e" if _SHORT.match(base) else base

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
CLITIC_END = r"(?:[stdmSTDM]|ll|re|ve|LL|RE|VE)\b"
"""A pattern for what of an English ending follows its apostrophe."""

_CLITIC = rf"(?:['’]{CLITIC_END})?"
_PLAIN_WORD = re.compile(rf"[^\W_]+{_CLITIC}")
_DENSE_OR_MARK = re.compile(rf"[{_DENSE}{_MARKS}]")

_POINTS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u064b-\u065f\u0670]")
"""Accents, and the vowel points of Hebrew and Arabic; elsewhere the signs on a letter are vowels that count."""

_UNDECOMPOSED = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})


def words_of(text: str) -> list[str]:
    """The words of a text in order, as they are written."""
    return word_finder(text)(text)


def word_finder(text: str) -> Callable[[str], list[str]]:
    """What gives the words of a text, or of any part of it."""
    return _pattern_for(text).findall


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where the words of a text stand: the n-th span is that of the n-th of `words_of`."""
    return [match.span() for match in _pattern_for(text).finditer(text)]


def _pattern_for(text: str) -> re.Pattern[str]:
    """Both patterns find the same words in most texts, and the plain one in half the time."""
    return _any_word() if has_marks_or_dense_script(text) else _PLAIN_WORD


def has_marks_or_dense_script(text: str) -> bool:
    """Whether words of the text may be more, or less, than runs of letters and digits."""
    return not text.isascii() and _DENSE_OR_MARK.search(text) is not None


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


STEMS_REMEMBERED = 50_000
"""More than the different words of a long novel."""


@lru_cache(maxsize=STEMS_REMEMBERED)
def stem_of(word: str) -> str:
    """What a written word is searched as: folded, without its ending if English or Russian, irregular forms as one."""
    folded = without_possessive(fold(word))
    return _without_ending(IRREGULAR_FORMS.get(folded, folded))


_VOWEL = re.compile(r"[aeiou]|(?<!^)y")
_PLURAL = re.compile(r"(?:(?<=ss|sh|ch)|(?<=[xz]))es$|(?<![sui])s$")
_DOUBLED = "bdfgmnprt"
_NOT_AFTER_SHORT = "aeiouwxy"
_SHORT = re.compile(rf"^[^aeiou]*[aeiouy][^{_NOT_AFTER_SHORT}]$")
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
    if word.endswith("ing"):
        word = _without_participle(word, word[:-3])
    elif word.endswith("ed") and not word.endswith("eed"):
        word = _without_participle(word, word[:-2])
    if len(word) > 5 and word.endswith(("ly", "ness", "ful")):
        word = _SUFFIX.sub("", word)
    if word.endswith("i"):
        return word[:-1] + "y"
    if word.endswith("e") and len(word) > 3 and not _is_short(word[:-1]):
        return word[:-1]
    return word


def _without_participle(word: str, base: str) -> str:
    if len(base) < 2 or not _VOWEL.search(base):
        return word
    if base[-1] == base[-2] and base[-1] in _DOUBLED:
        return base[:-1]
    return base + "e" if _is_short(base) else base


def _is_short(word: str) -> bool:
    """Whether it has one vowel, and one consonant after it, as "hop" of "hoping"."""
    return word[-1] not in _NOT_AFTER_SHORT and _SHORT.match(word) is not None

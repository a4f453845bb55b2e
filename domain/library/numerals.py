"""Numbers as books print them: 5, V, fünf, fünftes, quinto, пятая, 五, ٥."""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from domain.library.search.words import fold_letters

_WORDS = json.loads(Path(__file__).with_name("numerals.json").read_text(encoding="utf-8"))


_WRITTEN = {word.casefold(): int(value) for value, words in _WORDS["values"].items() for word in words.split()}
_VALUE_OF = _WRITTEN | {
    form: value
    for word, value in _WRITTEN.items()
    if not word.isascii()
    for form in (fold_letters(word), re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFD", word)))  # ΠΡΩΤΟ
}
_ARABIC = "اعو"
"""The first letters of tens that stand behind the ones: "الحادي عشر" is eleven."""
_JOINTS = frozenset("and und et y e i و".split())  # noqa: SIM905
_ENDINGS = frozenset("e er es en em te ter tes ste ster stes ая ый ой ое ья ий ье ого а s o a".split())  # noqa: SIM905
_LONGEST_ENDING = 4
_ONES = {word: int(value) for value, words in _WORDS["ones_in_one_word"].items() for word in words.split()}
"""Words that are numbers only within others: by itself, "to" is Danish for two and much else besides."""


@cache
def _in_one_word() -> re.Pattern[str]:
    """Tens and ones in one word: einundzwanzig, tweeëntwintig, femtionio, ventisei. Compiled only when it is used: that
    takes ten milliseconds.
    """
    ones = _any({*_ONES, *(word for word, value in _VALUE_OF.items() if value < 10)})
    tens = _any(word for word, value in _VALUE_OF.items() if 20 <= value < 100)
    return re.compile(
        rf"(?P<first>{ones})(?:und|en|ën|og)(?P<tens>(?:{tens})[^\W\d_]*)|(?P<ten>{tens})(?P<last>[^\W\d_]+)"
    )


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_SHORT_STEMS = frozenset(word for stem in ("ein", "elf", "пят", "сот") for word in (stem, fold_letters(stem)))
"""The words of three letters that have endings. Others have none: "Seite" does not come from Italian "sei"."""
_PART = re.compile(r"(?:[^\W\d_]|[\u0900-\u0903\u093a-\u094f]|(?<=[пв])['’](?=я))+")
"""A word, with the vowels of Hindi, which are signs, and the apostrophe of the Ukrainian five and nine."""

ROMAN = r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})"
"""A pattern for Roman numerals, in capitals unless case is ignored; old books print IIII."""
_ROMAN = re.compile(ROMAN, re.IGNORECASE | re.ASCII)  # the Turkish İ is no I
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

_ORDINAL = re.compile(
    r"(?P<figures>\d{1,4})(?:st|nd|rd|th|er|[èe]?re|[èe]?me|[eè]|nde|ste|de|\.?[ºª°]|-?(?:я|й|ая|ый|ой|ое|е)|ο[ςυ]?|ης?)"
    r"|(?P<roman>[IVX]+)(?:er|re|i?[èe]me|nde?|e|ᵉʳ?|\.?[ºª])|(?P<shouted>I)[EÈ]?RE?|(?P<higher>II|III|IV)(?:I?[ÈE]ME|E)"
)
"""Figures and Roman numerals with the ends of ordinal numbers: "Ier", "2e", "XIXe", "3rd", "1ª", "2-я", "1ο"."""

HAN = "〇零一二三四五六七八九十百千廿卅卌壱弐参"
"""The characters of Chinese and Japanese numbers."""
_HAN_DIGITS = {digit: value % 10 for value, digit in enumerate("〇一二三四五六七八九零壱弐参")}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}
_HAN_TENS = {"廿": 20, "卅": 30, "卌": 40}

SIGNS_OF_NUMERAL = re.compile("['’´΄ʹ׳״\"]+")
"""What stands beside or between letters that count."""
_LETTER_VALUES = {
    letter: value * 10**power
    for alphabet in ("αβγδεϛζηθ ικλμνξοπϟ ρ", "אבגדהוזחט יכלמנסעפצ ק")
    for power, row in enumerate(alphabet.split())
    for value, letter in enumerate(row, start=1)
}

CARDINALS = " ".join(_WORDS["cardinals"])
NOUGHTS = frozenset(" ".join(_WORDS["noughts"]).split())
"""What stands for a nought where a number is told digit by digit: "one oh nine"."""
IN_ENGLISH = {int(value): words.split()[0] for value, words in _WORDS["values"].items()}
"""English words for numbers: the first ones of each value. Those between, such as "twenty-one", are made of them."""
MONTHS_IN_ENGLISH = frozenset(_WORDS["months"][0].split())
MONTH_NAMES = frozenset(" ".join(_WORDS["months"]).split())
"""The names of months, as they are written in dates."""


@lru_cache(maxsize=8_192)
def number_value(printed: str) -> int | None:
    """The value of a printed number: 5 for "5", "V", "five", "Fünftes", "五" in "第五"; None if it is no number."""
    text = printed.strip(" .:()[]—–-")
    if not text or len(text) > 60:
        return None
    if text.isdecimal():
        return int("".join(str(unicodedata.decimal(digit)) for digit in text[:6]))
    if _ROMAN.fullmatch(text) and text.casefold() not in _VALUE_OF:  # "dix" is ten, not 509
        return _roman_value(text.upper())
    if all(character in HAN for character in text):
        return _han_value(text)
    if ordinal := _ORDINAL.fullmatch(text):
        return number_value(ordinal[ordinal.lastgroup or 0])
    return _value_in_words(text.casefold().replace("i\u0307", "i"))  # the Turkish İ


def in_figures(text: str, start: int, words: str) -> str:
    """The text with the number in figures that these words at `start` begin with: "page ten" as "page 10"; as it is if
    they begin with none, or with what may be a Roman numeral.
    """
    tried = (words, re.split("[- ]", words)[0])
    printed = next((each for each in tried if each.lower().strip("ivxlc") and number_value(each)), None)
    return text if printed is None else f"{text[:start]}{number_value(printed)}{text[start + len(printed) :]}"


def _roman_value(numeral: str) -> int:
    values = [_ROMAN_VALUES[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


def _han_value(characters: str) -> int:
    if not any(character in _HAN_UNITS or character in _HAN_TENS for character in characters):
        return int("".join(str(_HAN_DIGITS[character]) for character in characters[:6]))
    total = current = 0
    for character in characters:
        if unit := _HAN_UNITS.get(character):
            total, current = total + (current or 1) * unit, 0
        elif tens := _HAN_TENS.get(character):
            total += tens
        else:
            current = _HAN_DIGITS[character]
    return total + current


def letter_value(printed: str) -> int | None:
    """The value of letters that count, as in Hebrew ("ט״ו") and Greek ("ΙΑ΄"), below 200; beyond, they spell words."""
    letters = SIGNS_OF_NUMERAL.sub("", printed).casefold().replace("στ", "ϛ")
    values = [_LETTER_VALUES.get(letter, 0) for letter in letters]
    counts_down = all(len(str(above)) > len(str(below)) for above, below in pairwise(values))
    is_fifteen = values in ([9, 6], [9, 7])  # Hebrew avoids the letters of the name of God
    return sum(values) if values and 0 not in values and (counts_down or is_fifteen) else None


def _value_in_words(text: str) -> int | None:
    """The sum of the words: twenty-first, vingt et unième, einundzwanzigstes, двадцать первая."""
    words = _PART.findall(text)
    if not words or words[0] in _JOINTS or len(words) > 5:
        return None
    if not NOUGHTS.isdisjoint(words[1:]):
        return _value_by_digits(words)
    total, joined = 0, True
    for word in words:
        if word in _JOINTS:
            joined = True
            continue
        value = _word_value(word)
        if value is None:
            return None
        if (total, value) == (4, 20) or (value == 100 and 0 < total < 10):
            total *= value
        elif joined or word[0] in _ARABIC or (total % 10 == 0 and total >= 10 and value < 20):
            total += value
        else:
            return None
        joined = False
    return total


def _value_by_digits(words: list[str]) -> int | None:
    """The value of "one oh nine", and of "nineteen oh five"."""
    values = [0 if word in NOUGHTS else _word_value(word) for word in words]
    return int("".join(map(str, values))) if None not in values else None


def _word_value(word: str) -> int | None:
    value = _simple_value(word)
    if value is not None:
        return value
    if joined := _in_one_word().fullmatch(word):
        ones, tens = joined["first"] or joined["last"], _simple_value(joined["tens"] or joined["ten"])
        value = _ONES[ones] if ones in _ONES else _simple_value(ones)
        return None if value is None or tens is None else value + tens
    return 1 if word in ("unième", "unieme") else None


def _simple_value(word: str) -> int | None:
    if word in _VALUE_OF:
        return _VALUE_OF[word]
    for length in range(1, _LONGEST_ENDING + 1):
        stem, ending = word[:-length], word[-length:]
        if ending in _ENDINGS and (len(stem) > 3 or stem in _SHORT_STEMS) and stem in _VALUE_OF:
            return _VALUE_OF[stem]
    return None


_ROMAN_UNITS = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def roman(number: int) -> str:
    """A number in small Roman letters; empty if it is below one."""
    text = ""
    for value, letters in _ROMAN_UNITS:
        text += letters * (number // value)
        number %= value
    return text


_BETWEEN = re.compile(r"\s?(?:–|—|&|\b(?:to|or|and|bis|und|oder|et|ou|y|o|e)\b)\s?")
_THOUSANDS = re.compile(r"(?<=\d)(?:[.,]|[^\S\n])(?=\d{3}(?!\d))")


def values_of(read: str, written: str) -> list[int]:
    """What the numbers are; empty if that is not known, as with words in some languages."""
    if digits := re.findall(r"\d+", _THOUSANDS.sub("", read)):
        return [int(each) for each in digits]
    whole = number_value(written)
    parts = [whole] if whole is not None else [*map(number_value, _BETWEEN.split(written))]
    return [value for value in parts if value is not None] if None not in parts else []


_SMALL, _LONGEST_SMALL = 12, 5
_LAST_HOUR, _HOUR_IN_MINUTES, _HALF_A_DAY = 24, 60, 12 * 60


def are_small(values: list[int], written: str) -> bool:
    """Whether numbers in words are so small that prose has them at any time; of words that are not known, only long
    ones are for larger numbers.
    """
    unknown = [] if values else [(number_value(word), len(word)) for word in _PART.findall(written)]
    known = [*values, *(_SMALL + (length > _LONGEST_SMALL) if value is None else value for value, length in unknown)]
    return all(value <= _SMALL for value in known)


_BEFORE_AN_HOUR, _BEHIND_AN_HOUR = (
    {words: int(minutes) for minutes, listed in _WORDS[kind].items() for words in listed}
    for kind in ("before_an_hour", "behind_an_hour")
)
_MINUTES_OF = _BEFORE_AN_HOUR | _BEHIND_AN_HOUR
_WORD = r"[^\W\d_]{1,16}(?!\w)"
_UNIT = rf"(?:\d{{1,2}}(?!\w)|{_WORD})"
_HOUR = re.compile(
    rf"(?<!\w)(?:(?P<words>{'|'.join(_BEFORE_AN_HOUR)}) (?P<after_words>{_UNIT})"
    rf"|(?P<minutes>{_UNIT}(?:-{_WORD})?)(?: minutes)? (?:past|after|(?P<to>to|before)) (?P<after_minutes>{_UNIT})"
    rf"|(?P<before_words>{_UNIT}) (?:(?:heures?|h) )?(?P<more>{'|'.join(_BEHIND_AN_HOUR)})(?!\w)"
    rf"|(?P<full>{_UNIT}) o['’]clock|(?P<before_figures>\d{{1,2}})[.:h](?P<figures>[0-5]\d)(?!\w|[.:]\d))"
)
"""In small letters: if the pattern ignored case, an old "ſ" would count as an "s", which no list has."""


def hours_in(text: str) -> Iterator[tuple[int, int]]:
    """The hours of a clock that a text tells, in figures or words, as an hour below 12 and minutes: (9, 30) for "half
    past nine", "halb zehn", "21.30".
    """
    for told in _HOUR.finditer(text.lower()):
        hours = told.group("after_words", "after_minutes", "before_words", "full", "before_figures")
        hour = number_value(next(filter(None, hours)))
        minutes = number_value(told["minutes"] or told["figures"] or "0")
        if words := told["words"] or told["more"]:
            minutes = _MINUTES_OF[words]
        if hour is not None and minutes is not None and hour <= _LAST_HOUR and abs(minutes) < _HOUR_IN_MINUTES:
            minutes = -minutes if told["to"] else minutes
            yield divmod((hour * _HOUR_IN_MINUTES + minutes) % _HALF_A_DAY, _HOUR_IN_MINUTES)


RESULT_OF_A_SUM = re.compile(r"\s(?:is|are|makes?|gives?|equals?|=)\s\d")
"""What stands behind it: " is 50"."""
_CALLED = re.compile(r"(?<![\w.])[+0](?=(?:[\s()/-]{0,2}\d){8})[\d\s()/-]{8,24}")
_LONGEST_CALL = 16
"""Characters of a telephone number before one of its parts."""


def is_in_telephone_number(text: str, at: int) -> bool:
    """Whether what stands at a place of a text is part of a telephone number."""
    called = _CALLED.search(text, max(at - _LONGEST_CALL, 0))
    return called is not None and called.start() <= at < called.end()

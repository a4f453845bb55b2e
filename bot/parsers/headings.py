"""What a heading says: "CHAPTER II. The Pool of Tears" is a chapter, numbered II, titled so; "Contents" is none."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache


class Rank(IntEnum):
    """How a book is divided, from the outside in."""

    VOLUME = 1
    BOOK = 2
    PART = 3
    ACT = 4
    CHAPTER = 5
    SCENE = 6
    NUMERAL = 7


_DIVISIONS = {
    Rank.VOLUME: "volume vol tome tomo band volumen volumes том",
    Rank.BOOK: "book livre libro buch boek bok bog livro liber książka книга",
    Rank.PART: "part partie parte teil deel del часть",
    Rank.ACT: "act acte acto akt atto",
    Rank.CHAPTER: (
        "chapter chap chapitre kapitel kap capitulo capítulo capitolo hoofdstuk rozdział kapitola глава "
        "letter canto stave adventure tale story lecture essay lesson episode sermon"
    ),
    Rank.SCENE: "scene szene scène escena scena section abschnitt",
}
_COUNTED = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
"""
_ORDINAL = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth last
    erster erste erstes zweiter zweite zweites dritter dritte drittes vierter vierte viertes fünfter fünfte fünftes
    sechster sechste sechstes siebter siebte siebtes siebentes achter achte achtes neunter neunte neuntes zehnter zehnte
    zehntes elftes zwölftes
    premier première seconde deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième
    primero primera primer segundo segunda tercero tercera tercer cuarto cuarta quinto quinta sexto sexta séptimo octavo
    noveno décimo primo prima secondo seconda terzo terza quarto quarta
    первая первый вторая второй третья третий четвертая четвёртая пятая шестая
"""
_PARTS = """
    prologue epilogue preface foreword introduction afterword conclusion postscript interlude dedication prelude
    preamble finale coda envoi etymology extracts acknowledgements acknowledgments appendix glossary notes endnotes
    intermezzo proem prolog epilog vorwort nachwort einleitung préface avant-propos épilogue prólogo epílogo prefazione
    эпилог пролог предисловие
"""

RANK_OF = {word: rank for rank, words in _DIVISIONS.items() for word in words.split()}
"""Words that take a number: "Chapter 3", "Buch II"."""

TENS = frozenset("twenty thirty forty fifty sixty seventy eighty ninety".split())  # noqa: SIM905
COUNTED = frozenset(_COUNTED.split())
ORDINALS = frozenset(_ORDINAL.split())
NAMED_PARTS = frozenset(_PARTS.split())
"""Words that are headings by themselves."""

RANK_OF_CJK = {"卷": Rank.BOOK, "部": Rank.PART, "篇": Rank.PART, "章": Rank.CHAPTER, "回": Rank.CHAPTER}

NOT_THE_BOOK = (
    "table of contents|(?:brief |detailed )?contents|list of (?:illustrations|figures|tables|maps|plates)|"
    "illustrations|"
    "copyright(?: page| notice)?|cover(?: page)?|title ?page|half[- ]?title(?: page)?|imprint|colophon|uncopyright|"
    "landmarks|(?:original )?transcriber[’']?s? notes?|the end|end|finis|fin|ende|index|"
    "inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|indice|содержание|оглавление|目录|目錄|"
    "(?:the )?full project gutenberg licen[cs]e|also by .*|about the publisher"
)
"""A pattern of headings that belong to the wrapping of a book."""


_LONGEST = 160
_LONGEST_NUMERAL = 100
_EMPHASIS = " \t\r\n_*"
_TRAIL = _EMPHASIS + ".:;,—–-"
_WORD = r"[^\W\d_]+(?:-[^\W\d_]+)*"
_OPENING = re.compile(rf"(?:the\s+)?({_WORD})", re.IGNORECASE)
_SECOND = re.compile(rf"\.?\s+(?:the\s+)?(\d{{1,4}}|{_WORD})", re.IGNORECASE)
_THIRD = re.compile(rf"\s+({_WORD})")
_MARK = re.compile(r"\s*[.:;)\]]+\s*[—–-]*\s*|\s*[—–-]+\s*|\s+")
_ROMAN = r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})"
_NUMBER = re.compile(rf"\d{{1,4}}|{_ROMAN}", re.IGNORECASE)
_NUMERAL = re.compile(rf"(?P<label>{_ROMAN}|\d{{1,3}})(?!\w)(?:(?P<mark>[.:)]\s*)(?P<title>\S.*)?)?")
_PHRASE = re.compile(r"author[’']s (?:note|preface|introduction)|introductory note|appendix [a-z\d]+", re.IGNORECASE)
_CJK = re.compile(
    r"(?P<label>第\s*[〇零一二三四五六七八九十百千\d]+\s*(?P<word>[卷部篇章回节節]))(?P<mark>\s*)(?P<title>.*)"
)
_NOT_THE_BOOK = re.compile(rf"[\s_*]*(?:{NOT_THE_BOOK})[\s.:_*]*", re.IGNORECASE)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


@dataclass(frozen=True, slots=True)
class Label:
    """A heading taken apart. `rank` is None for a named part such as a prologue, which may stand at any depth."""

    rank: Rank | None
    name: str
    mark: str
    title: str


@lru_cache(maxsize=4_096)
def parse_label(line: str) -> Label | None:
    """The label of a line such as "BOOK ONE: 1805", "Letter 4" or "Prologue"; None if it is no such heading."""
    text = line.strip(_EMPHASIS)
    if len(text) > _LONGEST or not text or text[0].islower():
        return None
    if text[0] == "第":
        return _cjk_label(text)
    rank, end = _labelled(text)
    if not end:
        return None
    name, rest = text[:end], text[end:].rstrip(_TRAIL)
    mark = _MARK.match(rest)
    if rest and mark is None:
        return None
    title = rest[mark.end() :] if mark else ""
    joint = mark.group() if mark and title else ""
    return None if _reads_as_prose(rank, joint, title) else Label(rank, name, joint, title)


@lru_cache(maxsize=4_096)
def parse_numeral(line: str) -> Label | None:
    """A heading that is a bare number, or a number and a title: "IV." or "3. The Lantern Room"."""
    text = line.strip(_EMPHASIS).rstrip(_TRAIL) if len(line) <= _LONGEST_NUMERAL else ""
    match = _NUMERAL.fullmatch(text)
    return Label(Rank.NUMERAL, match["label"], match["mark"] or "", match["title"] or "") if match else None


def numeral_value(name: str) -> int:
    """1 for "1" and "I", 4 for "IV"."""
    if name.isdigit():
        return int(name)
    values = [_VALUES[letter] for letter in name]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))


def is_not_the_book(title: str) -> bool:
    """Whether a heading belongs to the wrapping: contents, cover, copyright, "The End"."""
    return bool(_NOT_THE_BOOK.fullmatch(title))


def _labelled(text: str) -> tuple[Rank | None, int]:
    """The rank of the label a text opens with, and where the label ends (0: there is none)."""
    opening = _OPENING.match(text)
    first = opening[1].lower() if opening else ""
    if opening is None or not (first in RANK_OF or first in ORDINALS or first in NAMED_PARTS):
        phrase = _PHRASE.match(text)
        return None, phrase.end() if phrase else 0
    second = _SECOND.match(text, opening.end())
    word = second[1].lower() if second else ""
    if first in RANK_OF:
        return RANK_OF[first], _end_of_number(text, second, word) if second else 0
    if first in ORDINALS and second and (word in RANK_OF or word in NAMED_PARTS):
        return RANK_OF.get(word), second.end()
    if phrase := _PHRASE.match(text):
        return None, phrase.end()
    return None, opening.end() if first in NAMED_PARTS else 0


def _end_of_number(text: str, second: re.Match[str], word: str) -> int:
    """Where "2", "II", "Two", "the Second" or "Twenty Two" ends; 0 if the word is no number."""
    if word in TENS and (third := _THIRD.match(text, second.end())) and third[1].lower() in COUNTED | ORDINALS:
        return third.end()
    parts = word.split("-")
    counts = all(part in COUNTED or part in ORDINALS for part in parts)
    return second.end() if counts or _NUMBER.fullmatch(word) else 0


def _reads_as_prose(rank: Rank | None, mark: str, title: str) -> bool:
    """ "Chapter 5 of the report was lost" is no heading, nor is "Preface to what follows"."""
    if not title or mark.strip():
        return False
    return rank is None or title[0].islower() or (title[-1] in ".,;" and title != title.upper())


def _cjk_label(text: str) -> Label | None:
    match = _CJK.fullmatch(text)
    if match is None:
        return None
    return Label(RANK_OF_CJK.get(match["word"], Rank.SCENE), match["label"], match["mark"], match["title"])

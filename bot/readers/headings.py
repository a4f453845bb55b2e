"""What a heading says: "CHAPTER II. The Pool of Tears" is a chapter, numbered II, titled so; "Contents" is none."""

import re
from dataclasses import dataclass
from enum import IntEnum


class Rank(IntEnum):
    """How a book is divided, from the outside in."""

    VOLUME = 1
    BOOK = 2
    PART = 3
    ACT = 4
    CHAPTER = 5
    SCENE = 6
    NUMERAL = 7


_WORDS = {
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
_RANK_OF = {word: rank for rank, words in _WORDS.items() for word in words.split()}

_COUNTED = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth last "
    "erste[rs]? zweite[rs]? dritte[rs]? vierte[rs]? fünfte[rs]? sechste[rs]? siebte[rs]? siebente[rs]? achte[rs]? "
    "neunte[rs]? zehnte[rs]? elfte[rs]? zwölfte[rs]? "
    "premi(?:er|ère) seconde? deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième "
    "primer[oa]? segund[oa] tercer[oa]? cuart[oa] quint[oa] sext[oa] séptim[oa] octav[oa] noven[oa] décim[oa] "
    "prim[oa] second[oa] terz[oa] quart[oa] первая первый вторая второй третья третий четвертая пятая шестая"
)
_ROMAN = r"(?=[MDCLXVI])M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})"
_ORDINAL = "|".join(_ORDINALS.split())
_NUMBER = (
    rf"(?:\d{{1,4}}|{_ROMAN}|(?:the\s+)?(?:{_ORDINAL})"
    rf"|(?:{'|'.join(_COUNTED.split())})(?:[- ](?:{_ORDINAL}|{'|'.join(_COUNTED.split())}))?)"
)
_KEYWORD = "|".join(sorted(_RANK_OF, key=len, reverse=True))
_NAMES = (
    "prologue|epilogue|preface|foreword|introduction|afterword|conclusion|postscript|interlude|dedication|prelude|"
    "preamble|finale|coda|envoi|etymology|extracts|author[’']s (?:note|preface|introduction)|introductory note|"
    "acknowledge?ments|appendix(?: [A-Z\\d]+)?|glossary|notes|endnotes|afterthought|intermezzo|proem|"
    "prolog|epilog|vorwort|nachwort|einleitung|préface|avant-propos|épilogue|prólogo|epílogo|prefazione|"
    "эпилог|пролог|предисловие"
)
_REST = r"(?:(?P<mark>\s*[.:;)\]]+\s*[—–-]*\s*|\s*[—–-]+\s*|\s+)(?P<title>\S.*?))?"
_TRAIL = r"[\s.:;,—–_*-]*"

_LABELLED = re.compile(
    rf"[\s_*]*(?P<label>(?:(?P<word>{_KEYWORD})\.?\s+(?P<number>{_NUMBER}))"
    rf"|(?:(?:the\s+)?(?P<ordinal>{_ORDINAL})\s+(?P<word2>{_KEYWORD})))(?!\w){_REST}{_TRAIL}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"[\s_*]*(?P<label>(?:the\s+)?(?:(?:{_ORDINAL})\s+)?(?:{_NAMES}))(?![\w’'])"
    rf"(?:(?P<mark>\s*[.:]+\s*|\s*[—–-]+\s*)(?P<title>\S.*?))?{_TRAIL}",
    re.IGNORECASE,
)
_NUMERAL = re.compile(rf"[\s_*]*(?P<label>{_ROMAN}|\d{{1,3}})(?!\w)(?:(?P<mark>[.:)]\s*)(?P<title>\S.*?)?)?{_TRAIL}")
_CJK = re.compile(
    r"\s*(?P<label>第\s*[〇零一二三四五六七八九十百千\d]+\s*(?P<word>[卷部篇章回节節]))(?P<mark>\s*)(?P<title>.*?)\s*"
)
_CJK_RANK = {"卷": Rank.BOOK, "部": Rank.PART, "篇": Rank.PART, "章": Rank.CHAPTER, "回": Rank.CHAPTER}

_NOT_THE_BOOK = re.compile(
    r"[\s_*]*(?:table of contents|(?:brief |detailed )?contents|list of (?:illustrations|figures|tables|maps|plates)|"
    r"illustrations|copyright(?: page| notice)?|cover(?: page)?|title ?page|half[- ]?title(?: page)?|imprint|colophon|"
    r"uncopyright|landmarks|transcriber[’']?s? notes?|(?:original )?transcriber[’']s notes|the end|end|finis|fin|ende|"
    r"index|inhalt(?:sverzeichnis)?|table des matières|sommaire|índice|indice|содержание|оглавление|目录|目錄|"
    r"(?:the )?full project gutenberg licen[cs]e|also by .*|about the publisher|newsletter sign-?up)[\s.:_*]*",
    re.IGNORECASE,
)

_OPENINGS = frozenset(
    word[:3] for words in ("the " + _KEYWORD, _ORDINAL, _NAMES) for word in re.split(r"[| ]", words) if len(word) > 2
)


@dataclass(frozen=True, slots=True)
class Label:
    """A heading taken apart. `rank` is None for a named part such as a prologue, which may stand at any depth."""

    rank: Rank | None
    name: str
    mark: str
    title: str


def parse_label(line: str) -> Label | None:
    """The label of a line such as "BOOK ONE: 1805", "Letter 4" or "Prologue"; None if it is no such heading."""
    opening = line.lstrip(" \t_*")[:3].lower()
    if len(line) > 160 or not (opening in _OPENINGS or opening.startswith("第")):
        return None
    if not (match := _LABELLED.fullmatch(line) or _NAMED.fullmatch(line) or _CJK.fullmatch(line)):
        return None
    groups = match.groupdict()
    name, mark, title = groups["label"], groups.get("mark") or "", groups.get("title") or ""
    if _reads_as_prose(name, mark, title):
        return None
    word = groups.get("word") or groups.get("word2")
    rank = None if word is None else _RANK_OF.get(word.lower(), _CJK_RANK.get(word, Rank.SCENE))
    return Label(rank, name, mark, title)


def parse_numeral(line: str) -> Label | None:
    """A heading that is a bare number, or a number and a title: "IV." or "3. The Lantern Room"."""
    match = _NUMERAL.fullmatch(line) if len(line) <= 100 else None
    return Label(Rank.NUMERAL, match["label"], match["mark"] or "", match["title"] or "") if match else None


def is_not_the_book(title: str) -> bool:
    """Whether a heading belongs to the wrapping: contents, cover, copyright, "The End"."""
    return bool(_NOT_THE_BOOK.fullmatch(title))


def _reads_as_prose(name: str, mark: str, title: str) -> bool:
    """ "Chapter 5 of the report was lost" and "chapter five" are not headings."""
    if name[0].islower():
        return True
    if not title or mark.strip():
        return False
    return title[0].islower() or (title[-1] in ".,;" and title != title.upper())


_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def numeral_value(name: str) -> int:
    """1 for "1" and "I", 4 for "IV"."""
    if name.isdigit():
        return int(name)
    values = [_VALUES[letter] for letter in name]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))

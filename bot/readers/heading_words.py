"""The words headings are made of, in the languages books most often come in."""

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

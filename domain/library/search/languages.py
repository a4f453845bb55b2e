"""Languages: which one a book is written in, and how its words are compared: stems, spellings, stop words.

Function words (articles, pronouns, prepositions, auxiliaries) make up a third to a half of any running text, and each
language has its own. They identify the language; in a query they carry no meaning. Stemming algorithms are not part of
the domain: the code that opens a book passes one in.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from domain.book import BookText
from domain.library.numerals import IN_ENGLISH
from domain.library.search.words import (
    STEMS_REMEMBERED,
    STOP_WORDS,
    fold,
    stem_of,
    without_possessive,
    words_of,
)

LANGUAGES = {
    "ar": "arabic ara", "ca": "catalan cat", "cs": "czech cze ces", "da": "danish dan", "de": "german ger deu",
    "el": "greek gre ell", "en": "english eng", "eo": "esperanto epo", "es": "spanish spa", "et": "estonian est",
    "eu": "basque baq eus", "fa": "persian per fas", "fi": "finnish fin", "fr": "french fre fra", "ga": "irish gle",
    "hi": "hindi hin", "hu": "hungarian hun", "hy": "armenian arm hye", "id": "indonesian ind", "it": "italian ita",
    "lt": "lithuanian lit", "ne": "nepali nep", "nl": "dutch dut nld", "no": "norwegian nor nb nob nn nno",
    "pl": "polish pol", "pt": "portuguese por", "ro": "romanian rum ron", "ru": "russian rus",
    "sr": "serbian srp hr hrv bs bos", "st": "sesotho sot", "sv": "swedish swe", "ta": "tamil tam", "tr": "turkish tur",
    "yi": "yiddish yid ji",
}  # fmt: skip
"""The languages whose words are searched by stem: ISO 639-1 code to the English name and further codes."""

_COMPOUNDING = frozenset(("da", "de", "nl", "no", "sv"))
"""Languages that write two nouns as one word."""

_LISTS = json.loads(Path(__file__).with_name("function_words.json").read_text(encoding="utf-8"))
_FUNCTION_WORDS: dict[str, list[str]] = {language: " ".join(lines).split() for language, lines in _LISTS.items()}
"""Those of LANGUAGES other than English, and of languages that are told apart from these, lest their words lose endings
that they do not have.
"""

SAMPLE_CHARACTERS = 8_000
"""Of a book, from its first chapter on: three pages."""

LEAST_SHARE = 0.1
"""The share of a text's words that must be function words of its language; running prose has three to six times as
many.
"""

PLAINLY = 2.0
"""The factor by which another language must outweigh the declared one to be taken for the language of the text."""


@dataclass(frozen=True, slots=True)
class Analyzer:
    """How the words of one language are compared. Thread-safe.

    `stem` maps a written word to its search form. `accents_matter` means that the stem depends on accents; a word
    typed without them then has to be looked up by its `spelling`.
    """

    language: str
    stem: Callable[[str], str]
    stop_words: frozenset[str]
    accents_matter: bool

    def spelling(self, word: str) -> str:
        """What all ways to write a form have in common: it ignores case, accents and, in German, umlauts written with
        two letters.
        """
        return _UMLAUT.sub(r"\1", fold(word)) if self.language == "de" else fold(word)

    def bases(self, word: str) -> frozenset[str]:
        """A word without each of the endings it may have, in one spelling; empty for most languages.

        Related words with different stems ("fragte", "fragen") share a base.
        """
        endings, others = _ENDINGS.get(self.language), _OTHER_ENDINGS.get(self.language, ())
        if endings is None:
            return frozenset()
        spelt = self.spelling(word)
        cut = {spelt} | {spelt.removesuffix(each) for each in endings if spelt.endswith(each)}
        cut |= {spelt.removesuffix(old) + new for old, new in others if spelt.endswith(old)}
        return frozenset(_base(each) for each in cut if len(each) >= SHORTEST_BASE)

    def other_spellings(self, word: str) -> frozenset[str]:
        """An English word as it is spelt elsewhere, or was: "colour" and "color", "50" and "fifty"; folded."""
        return frozenset() if self.language else _other_spellings(word)

    @property
    def has_endings(self) -> bool:
        """Whether `bases` supports this language."""
        return self.language in _ENDINGS

    @property
    def has_compounds(self) -> bool:
        return self.language in _COMPOUNDING


SHORTEST_BASE = 3

_INFLECTION = {
    "da": "ede ende en ene er erne es et e ne n s t te de",
    "de": "e em en er ern es est et ete eten innen in n s st t te tem ten ter test tet",
    "es": "a an ando ar aron as e en er es ia ian iendo ieron io ir ida ido o os s",
    "it": "a ando are ata ate ati ato ava avano e endo ere eva evano i ire ita iti ito iva o ono",
    "nl": "d de den der e en end ende ends er eren es s st t te ten",
    "no": "ede ende en ene er es et ete a e ne n s t te de",
    "pt": "a am ando ar aram as ava avam e em endo er es ia iam ir iram ida ido o os ou s",
    "sv": "a ad ade ar are arna as at de e en er erna es et ets n na ns or orna s t te",
}
"""What inflection adds to words, folded. Snowball's stemmers leave some of these endings in place where the result
might be another word.
"""

_ENDINGS = {language: endings.split() for language, endings in _INFLECTION.items()}
_OTHER_ENDINGS = {
    "de": (("inn", "in"),),
    "es": (("ces", "z"), ("c", "z")),
    "it": (("che", "ca"), ("ghe", "ga"), ("chi", "co"), ("ghi", "go")),
    "pt": (("ns", "m"), ("oes", "ao"), ("aes", "ao"), ("ais", "al"), ("eis", "el"), ("ois", "ol")),
}
_DOUBLED = re.compile(r"([^\W\d_])\1")
_MUTE = re.compile(r"(?<=[^\Waeiou\d_])[ae](?=[lrn]$)")
_VOICED = {"v": "f", "z": "s"}


def _base(word: str) -> str:
    """A word without doubled letters, without the vowel that endings remove ("dunkel", "dunkle"), and with the
    consonant that words end in ("brieven", "brief").
    """
    word = _MUTE.sub("", _DOUBLED.sub(r"\1", word))
    return word[:-1] + _VOICED.get(word[-1], word[-1])


_UMLAUT = re.compile(r"(?:(?<![aeq])(?=ue)|(?=[ao]e))([aou])e")
"""In folded German words, "ae", "oe" and "ue" for "ä", "ö" and "ü", but not the "ue" of "neue",
"Frauen" or "Quelle".
"""

_TWO_WAYS = """
    aeroplane airplane; aesthe esthe; anaesthe anesthe; archaeolog archeolog; burthen burden; catalogue catalog;
    centred centered; chequer checker; cocoanut coconut; connexion connection; cosy cozy; defence defense; despatch
    dispatch; draught draft; encyclopaed encycloped; enquir inquir; enrol enroll; fulfil fulfill; gaol jail; gipsy
    gypsy; gipsies gypsies; grey gray; haemorrhag hemorrhag; hindoo hindu; instal install; jewellery jewelry; kerb
    curb; lanthorn lantern; licence license; manoeuvr maneuver; mediaeval medieval; mould mold; moustach mustach;
    offence offense; plough plow; pretence pretense; programme program; pyjama pajama; sceptic skeptic; shew show;
    skilful skillful; smoulder smolder; sulphur sulfur; waggon wagon; whisky whiskey; wilful willful
"""
_BRITISH_AND_AMERICAN = [(british, american) for british, american in map(str.split, _TWO_WAYS.split(";"))]
_ENDING = 4
"""Letters at most that follow the beginning of such a word."""
_ENDINGS_IN_TWO_WAYS = [
    (r"(\w{3,}?)", "our", "or", r"((?:s|ed|ings?|abl[ey]|ful(?:ly)?|less|ites?|y|hoods?|ly|ers?)?)"),
    (r"(\w{3,})", "is", "iz", "(e[drs]?|ers|ings?|ations?)"),
    (r"(\w{2,})", "ys", "yz", "(e[drs]?|ing)"),
    (r"(\w{2,}[^aeiou][aeiou])", "ll", "l", "(s?|ed|ings?|[eo]rs?|ous(?:ly)?)"),
    ("(cent|theat|spect|fib|lust|sab|scept|sepulch|calib|lit|met|och|mit|meag|somb)", "re", "er", "(s?)"),
]


_IN_WORDS = {str(value): word for value, word in IN_ENGLISH.items() if value < 100}
_IN_DIGITS = {word: digits for digits, word in _IN_WORDS.items()}
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")


@lru_cache(maxsize=STEMS_REMEMBERED)
def in_one_spelling(word: str) -> str:
    """An English word as Americans spell it, and a number in digits; folded."""
    folded = fold(word)
    if folded in _IN_DIGITS:
        return _IN_DIGITS[folded]
    if ordinal := _ORDINAL.fullmatch(folded):
        return ordinal[1]
    for british, american in _BRITISH_AND_AMERICAN:
        is_american = american.startswith(british) and folded.startswith(american)
        if folded.startswith(british) and not is_american and len(folded) <= len(british) + _ENDING:
            return american + folded.removeprefix(british)
    for before, british, american, after in _ENDINGS_IN_TWO_WAYS:
        if found := re.fullmatch(f"{before}{british}{after}", folded):
            return f"{found[1]}{american}{found[2]}"
    return folded


@lru_cache(maxsize=STEMS_REMEMBERED)
def _other_spellings(word: str) -> frozenset[str]:
    folded = fold(word)
    pairs = _BRITISH_AND_AMERICAN
    begun = {british + folded.removeprefix(american) for british, american in pairs if folded.startswith(american)}
    ended = {
        f"{found[1]}{british}{found[2]}"
        for before, british, american, after in _ENDINGS_IN_TWO_WAYS
        if (found := re.fullmatch(f"{before}{american}{after}", folded))
    }
    numbers = {_IN_WORDS[folded]} if folded in _IN_WORDS else set[str]()
    return frozenset({in_one_spelling(folded), *begun, *ended, *numbers} - {folded})


DEFAULT_ANALYZER = Analyzer("", stem_of, STOP_WORDS, accents_matter=False)
"""For English, and for languages without a stemmer."""


def analyzer_for(language: str, algorithm: Callable[[str], str]) -> Analyzer:
    """The analyzer for one of LANGUAGES other than English; `algorithm` returns the stem of a lower-case word."""

    @lru_cache(maxsize=STEMS_REMEMBERED)
    def stem(word: str) -> str:
        written = without_possessive(unicodedata.normalize("NFC", word))
        if language == "tr":
            written = written.replace("I", "ı").replace("İ", "i")
        return fold(algorithm(written.lower())) or fold(word)

    return Analyzer(language, stem, _function_words()[language], accents_matter=True)


def book_language(book: BookText) -> str:
    """The code of a book's language in LANGUAGES; empty if it is another or unknown.

    The declared language counts unless the text is clearly in another: much software declares English whatever it is
    given.
    """
    opening = book.chapters[0].start if book.chapters else 0
    if opening > len(book.text) // 2:
        opening = 0
    return text_language(book.text[opening : opening + SAMPLE_CHARACTERS], book.language)


def text_language(text: str, declared: str = "") -> str:
    """The code of a text's language, as for `book_language`; `declared` is a code or an English name."""
    words = words_of(text)
    evidence = language_evidence(words)
    best = max(evidence, key=evidence.__getitem__, default="")
    named = language_code(declared)
    likely = evidence.get(named or "en", 0.0)
    if evidence.get(best, 0.0) <= max(LEAST_SHARE * len(words), PLAINLY * likely):
        return named or ("en" if best == "en" else "")
    return best if best in LANGUAGES else ""


def language_code(declared: str) -> str:
    """The code in LANGUAGES that a file means by "de-AT", "ger" or "German"; empty if there is none."""
    name = declared.strip().lower().replace("_", "-").partition("-")[0]
    return name if name in LANGUAGES else _codes().get(name, "")


def language_name(code: str) -> str:
    """The English name of one of LANGUAGES, in lower case."""
    return LANGUAGES[code].partition(" ")[0]


def language_evidence(words: Sequence[str]) -> Mapping[str, float]:
    """How many function words of each language, by its code, are among the words; one shared by several languages
    counts in part for each.
    """
    languages_of = _languages_by_word()
    evidence: dict[str, float] = {}
    for word, count in Counter(map(_in_small_letters, words)).items():
        sharing = languages_of.get(word, ())
        for language in sharing:
            evidence[language] = evidence.get(language, 0.0) + count / len(sharing)
    return evidence


@cache
def _function_words() -> dict[str, frozenset[str]]:
    folded = {language: frozenset(map(fold, words)) for language, words in _FUNCTION_WORDS.items()}
    return folded | {"en": STOP_WORDS}


def _in_small_letters(word: str) -> str:
    """The text in lower case with its accents, which distinguish languages."""
    return unicodedata.normalize("NFC", word).lower()


@cache
def _languages_by_word() -> dict[str, list[str]]:
    sharing: dict[str, list[str]] = {}
    for language, words in (_FUNCTION_WORDS | {"en": STOP_WORDS}).items():
        for word in dict.fromkeys(map(_in_small_letters, words)):
            sharing.setdefault(word, []).append(language)
    return sharing


@cache
def _codes() -> dict[str, str]:
    return {name: code for code, names in LANGUAGES.items() for name in names.split()}


@cache
def _german_verbs() -> tuple[dict[str, list[str]], frozenset[str]]:
    """The forms of verbs that change their vowel, by each of them without its ending; and particles of other verbs."""
    known = json.loads(Path(__file__).with_name("german_verbs.json").read_text(encoding="utf-8"))
    verbs = [verb.split() for verb in known["strong"]]
    return {_without_ending(form): verb for verb in verbs for form in verb}, frozenset(known["separable"].split())


_VERB_ENDING = re.compile(r"(?<=\w{3})(?:en?|e?s?t(?:en?)?)$")
_PARTICIPLE = re.compile(r"^ge(?=\w{3,}t$)")


def _without_ending(verb: str) -> str:
    return _VERB_ENDING.sub("", verb.lower())


def is_strong_german(verb: str) -> bool:
    return _without_ending(verb) in _german_verbs()[0]


def german_forms(verb: str, particle: str = "") -> list[str]:
    """A German verb in its forms that differ in more than an ending: "singt" and "sang", "putzt" and "geputzt"; of one
    with a particle ("hört ... auf") those that are written as one word.
    """
    root = _without_ending(_PARTICIPLE.sub("", verb.lower()))
    forms = _german_verbs()[0].get(
        _without_ending(verb), [f"{root}en", f"{root}t", f"{root}et", f"ge{root}t", f"ge{root}et"]
    )
    return [particle + form for form in forms]


def separable_german(words: Sequence[str]) -> tuple[str, str]:
    """The verb of a question in German and its particle, if that is the last word: "wacht" and "auf"; else empty."""
    if not words or words[-1].lower() not in _german_verbs()[1]:
        return "", ""
    others = (word for word in words[:-1] if word.islower() and fold(word) not in _function_words()["de"])
    verb = next((word for word in others if is_strong_german(word) or word.endswith(("t", "e", "en"))), "")
    return (verb, words[-1].lower()) if verb else ("", "")

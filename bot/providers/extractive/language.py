"""Four languages, as far as quoting needs them: function words, word forms, and the wordings of questions."""

import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from functools import cache, lru_cache, reduce
from importlib.resources import files
from itertools import pairwise
from typing import Any

from domain.library.search.languages import in_one_spelling, is_strong_german
from domain.library.search.words import STOP_WORDS, fold, is_dense, stem_of, without_possessive, words_of

SAMPLE_CHARACTERS = 4_000  # from which a text's language is determined; a page is plenty


class Language(StrEnum):
    """Any other language is treated as English, which does no harm: its words are then all rare ones."""

    ENGLISH = "english"
    GERMAN = "german"
    FRENCH = "french"
    SPANISH = "spanish"


_WORDS: dict[str, Any] = json.loads(files(__package__).joinpath("words.json").read_text(encoding="utf-8"))
"""By sort and language: `little` function words without accents, `telling` words that only a question or remark in that
language has, `colourless` words, `alike` groups of words that questions and answers use for each other, `phrasal` verbs
with particles and verbs that mean the same, `typed` hasty spellings by what is meant, `expected` the wordings that ask
for a sort of thing with English words of that sort, `cues` the regular expressions of `Cues`, and `signs` others.
"""

MACROS: dict[str, str] = {}
"""Parts of regular expressions by the names that stand for them in others."""


def _filled(pattern: str) -> str:
    return reduce(lambda text, macro: text.replace(*macro), MACROS.items(), pattern)


for _name, _pattern in _WORDS["macros"].items():  # each may have those before it
    MACROS[_name] = _filled(_pattern)
REMARKS = {reply: [*map(_filled, words)] for reply, words in _WORDS["remarks"].items()}
WORDINGS = {intent: [*map(_filled, words)] for intent, words in _WORDS["wordings"].items()}
KINDS: dict[str, list[tuple[str, str]]] = _WORDS["kinds"]
DENSE_KINDS: dict[str, str] = _WORDS["dense_kinds"]
FILLERS: list[str] = [*map(_filled, _WORDS["fillers"]), *WORDINGS["where_told"]]
POINTS_BACK: dict[str, str] = _WORDS["points_back"]
"""Regular expressions by phrase that answers, by intent, by kind, by language."""

PORTRAITS: dict[str, list[str]] = {plain: [*map(_filled, asked)] for plain, asked in _WORDS["portraits"].items()}
"""Questions of what somebody is like or matters, by the plain one that the same sentences answer."""

ANSWERING: dict[str, list[tuple[str, str, str]]] = _WORDS["answering"]
"""Words that an answer may have, by its language, the kind of its question, and what that has to match."""

SOMEBODY, OF_ANY_BOOK = (frozenset(_WORDS[sort].split()) for sort in ("somebody", "of_any_book"))
"""Words of stories and not of manuals, for people and what was, in English and German; and for a book or its parts."""

FEATURES: dict[str, dict[str, float]] = _WORDS["features"]
"""The weights of what is measured in a sentence, by what it tells. Introductions are set by hand, because the questions
behind the others rarely ask who somebody is.
"""

BEARERS: dict[str, str] = _WORDS["bearers"]
"""Titles before names, by who has them."""

CUE_WORDS: dict[str, dict[str, str]] = _WORDS["cues"]
SIGNS: dict[str, str] = _WORDS["signs"]
RELATIVES: list[str] = _WORDS["relatives"]
"""Regular expressions of what `signs` finds: of its `Cues` by language, of other signs, and of words for relatives."""

NUMBERS: dict[Language, list[str]] = {Language(name): words.split() for name, words in _WORDS["numbers"].items()}
"""Small numbers in words."""

LITTLE_WORDS: dict[Language, frozenset[str]] = {
    Language(name): frozenset(words.split()) | (STOP_WORDS if name == Language.ENGLISH else frozenset())
    for name, words in _WORDS["little"].items()
}
"""Words without a meaning of their own in a question, without accents."""

COLOURLESS: dict[Language, frozenset[str]] = {
    Language(name): frozenset(words.split()) for name, words in _WORDS["colourless"].items()
}
"""Words that say what kind of answer is wanted, and rarely occur in one."""

_TELLING = {Language(name): frozenset(words.split()) for name, words in _WORDS["telling"].items()}

TYPED: dict[str, str] = {typed: meant for meant, words in _WORDS["typed"].items() for typed in words.split()}
"""Words that people type in haste, and what they mean."""


@cache
def _alike(language: Language) -> dict[str, frozenset[str]]:
    """The stems of words that questions and answers use for each other."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for group in _WORDS["alike"][language]:
        stems = [stem(word, language) for word in group.split()]
        for each in stems:
            found[each].update(stems)
    return {each: frozenset(others - {each}) for each, others in found.items()}


def alike(stems: Collection[str], language: Language) -> frozenset[str]:
    """The stems of words that may occur in an answer instead of a word of the question, which has these stems."""
    return frozenset().union(*(_alike(language).get(each, frozenset()) for each in stems)).difference(stems)


@cache
def _written(language: Language) -> dict[str, str]:
    return {stem(word, language): word for group in _WORDS["alike"][language] for word in reversed(group.split())}


def written(stems: Collection[str], language: Language) -> list[str]:
    """Words with these stems, to search for, since a search has stems of its own."""
    return [_written(language).get(each, each) for each in sorted(stems)]


_VERB_FIRST = re.compile(r"\W*([A-ZÄÖÜ])(\w+)(?= (?:[A-ZÄÖÜ]|[a-zäöü]+\b).*\?\W*$)", re.DOTALL)


def with_small_verb(text: str) -> str:
    """A German question with the verb that opens it in small letters, as it is no name: "Weint Effi?"."""
    found = _VERB_FIRST.match(text)
    word = f"{found[1]}{found[2]}".lower() if found else ""
    is_verb = word.endswith("t") or is_strong_german(word)
    return f"{text[: found.start(1)]}{word}{text[found.end() :]}" if found and is_verb else text


_PARTICLE_REACH = 8
"""Words behind a verb among which its particle is: "put the old brass lamp out"."""


def has_particle(verbs: Collection[str], particle: str, stems: Sequence[str]) -> bool:
    """Whether one of these verbs (stems) is among these words, and its particle in it or behind it."""
    places = [at for at, each in enumerate(stems) if each in verbs]
    return any(stems[at].startswith(particle) or particle in stems[at + 1 : at + 1 + _PARTICLE_REACH] for at in places)


def has_run(run: Sequence[str], stems: Sequence[str]) -> bool:
    """Whether words stand in a row among others; both are tuples."""
    return any(stems[at : at + len(run)] == run for at in range(len(stems) - len(run) + 1))


@cache
def _phrasal() -> dict[tuple[str, str], frozenset[str]]:
    """English verbs and the particles that belong to them, with the stems of verbs that mean the same as both."""
    found = ((key.split(), words) for key, words in _WORDS["phrasal"].items())
    return {(stem_of(verb), particle): frozenset(map(stem_of, words.split())) for (verb, particle), words in found}


def phrasal_verbs(stems: Sequence[str]) -> dict[str, tuple[str, frozenset[str]]]:
    """The verbs among these stems that have a particle behind them, each with that and with verbs that mean both."""
    return {
        verb: (particle, _phrasal()[verb, particle])
        for at, verb in enumerate(stems)
        for particle in stems[at + 1 : at + 1 + _PARTICLE_REACH]
        if (verb, particle) in _phrasal()
    }


def expected_in(text: str) -> frozenset[str]:
    """The stems of English words of the sort that a question asks for: tools that kill for "what weapon"."""
    return frozenset(stem_of(word) for asked, words in _expected() if asked.search(text) for word in words)


@cache
def _expected() -> list[tuple[re.Pattern[str], list[str]]]:
    return [(re.compile(rf"\b(?:{asked})", re.IGNORECASE), words.split()) for asked, words in _WORDS["expected"]]


_CLITICS = re.compile(r"\b[cdjlmnst]['’]|\bqu['’]", re.IGNORECASE)
_INITIAL = re.compile(r"\b[^\W\d_]\.")
_one_at_a_time = threading.Lock()


def language_of(text: str, default: Language = Language.ENGLISH) -> Language:
    """The language with the most function words in a text; `default` if they do not tell."""
    words = [word.casefold() for word in words_of(_CLITICS.sub(" ", _INITIAL.sub(" ", text[:SAMPLE_CHARACTERS])))]
    counts = {
        language: sum((fold(word) in little) + (word in _TELLING[language]) for word in words)
        for language, little in LITTLE_WORDS.items()
    }
    most = max(counts.values())
    return default if counts[default] == most else max(counts, key=lambda language: counts[language])


_ACCENTS = str.maketrans(
    {
        **{letter: f"[{plain}{letter}]" for letter, plain in zip("éèêàáâíîìóôúùûçñ", "eeeaaaiiioouuucn", strict=True)},
        **{letter: f"(?:{letter}|{plain}e?)" for letter, plain in zip("äöü", "aou", strict=True)},
        "ß": "(?:ß|ss)",
    }
)


def any_accents(pattern: str) -> str:
    """A regular expression that also matches words without their accents: few people type them in haste.

    The pattern has no accents in sets of characters.
    """
    return pattern.translate(_ACCENTS)


def is_little(word: str, language: Language) -> bool:
    return fold(word).replace("’", "'") in LITTLE_WORDS[language]


def telling_stems(text: str, language: Language) -> frozenset[str]:
    """The stems of the words of a text that mean something."""
    words = (word for word in split_words(text, language) if not is_little(word, language))
    return frozenset(stem(word, language) for word in words if word.lower() not in COLOURLESS[language])


def split_words(text: str, language: Language) -> list[str]:
    """The words of a text as written, without French elided articles and pronouns in front of them."""
    return words_of(_CLITICS.sub(" ", text) if language is Language.FRENCH else text)


def stem(word: str, language: Language) -> str:
    """The form under which a word is compared."""
    if language is Language.ENGLISH or is_dense(word):
        spelt = in_one_spelling(without_possessive(word))
        return stem_of(word if word[:1].isupper() and not spelt.isdecimal() else spelt)  # Mr. Gray is not grey
    found = _snowball_stem(fold(word), language)
    return found[:-1] if language is Language.GERMAN and _GENITIVE.fullmatch(found) else found


_GENITIVE = re.compile(r"\w{2,}[aiouy]s")
"""A German ending that Snowball leaves, because it may belong to the stem: "Effis" is "Effi"."""


def nominative(word: str) -> str:
    """A German name without the ending of its genitive, as far as that is clear."""
    return word[:-1] if word[0].isupper() and _GENITIVE.fullmatch(fold(word)) else word


@lru_cache(maxsize=2_000)
def stems_of(text: str, language: Language) -> tuple[str, ...]:
    """The compared forms of all words of a text, in order. A turn asks for most of its sentences two or three times."""
    return tuple(stem(word, language) for word in split_words(text, language))


@lru_cache(maxsize=50_000)
def _snowball_stem(word: str, language: Language) -> str:
    with _one_at_a_time:  # a stemmer is stateful
        return _stemmer(language)(word)


@lru_cache
def _stemmer(language: Language) -> Callable[[str], str]:
    import snowballstemmer  # type: ignore[import-untyped] # brings thirty languages along, and most readers need none of them

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(str(language)).stemWord
    return stem_word


_PRESENT = re.compile(
    r"['’]s\b|\b(?:is|are|do|does|can|will|should|today|tonight|tomorrow|yesterday)\b|^\W*(?!wh|how)\w+ ", re.IGNORECASE
)
PAST = re.compile(r"\b(?:was|were|did|had|(?!need|speed|feed|seed|breed)\w+ed)\b(?!.*\byesterday\b)", re.IGNORECASE)
_IS_THERE = re.compile(r"\W*(?:is|are) there\b", re.IGNORECASE)


def is_of_today(text: str) -> bool:
    """Whether a question in English tells nothing as past, or is about yesterday; "is there" asks about the book."""
    is_past = PAST.search(text) or _IS_THERE.match(text)
    return _PRESENT.search(text) is not None and not is_past


_PAIR_REACH = 4
"""Words within which two neighbours count as being together."""


def together(words: Sequence[str], others: Sequence[str]) -> float:
    """The share of neighbouring words that are together in others, in that order."""
    places: dict[str, list[int]] = {word: [] for word in words}
    for place, other in enumerate(others):
        if other in places:
            places[other].append(place)
    close = [
        any(0 < second - first <= _PAIR_REACH for first in places[a] for second in places[b])
        for a, b in pairwise(words)
    ]
    return sum(close) / len(close) if close else 0.0


_FEW_PEOPLE = 0.005
"""The share of words such as "he", "her" and "said" above which a text tells of people: novels have one percent or
more, also those told by an "I", who asks questions in manuals as well; manuals have less than half a percent.
"""


def tells_of_people(text: str, spoken: Language | None) -> bool:
    """Whether somebody does something in a text, as in no manual; in doubt, and in other languages, they do."""
    words = words_of(text)
    people = sum(word.lower() in SOMEBODY for word in words)
    return spoken not in (Language.ENGLISH, Language.GERMAN) or people > len(words) * _FEW_PEOPLE

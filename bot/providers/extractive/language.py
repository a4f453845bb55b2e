"""Four languages as far as quoting an answer needs them: their little words, and which forms are the same word."""

import re
import threading
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from domain.library.search.words import STOP_WORDS, fold, is_dense, stem_of, words_of

SAMPLE_CHARACTERS = 4_000
"""Of a text whose language is to be told; a page is plenty."""


class Language(StrEnum):
    """Anything else is treated as English, which does it no harm: its words then are all rare ones."""

    ENGLISH = "english"
    GERMAN = "german"
    FRENCH = "french"
    SPANISH = "spanish"


_GERMAN = """
    aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dem den denn der des dich die
    dies diese dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch fur gegen
    hab habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jeder
    kann kein keine konnte man mein meine mich mir mit nach nicht noch nun nur ob oder ohne schon sehr sein seine
    seinem seinen seiner sich sie sind so soll uber um und uns unter vom von vor war waren warum was wegen weil
    welche welcher welches wem wen wenn wer werden weshalb wessen wie wieso wieder wird wo woher wohin wurde
    wurden zu zum zur zwar
"""
_FRENCH = """
    a ai ainsi alors apres as au aussi autre aux avait avant avec avoir bien c ce cela ces cet cette comme comment
    d dans de des deux donc dont du elle elles en encore est et etaient etait ete etre eux fait faire il ils j je
    l la le les leur leurs lorsque lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont ou par pas peu
    plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sur t ta te
    tes toi ton tout tous toute tres tu un une vos votre vous y
"""
_SPANISH = """
    a al algo antes asi aun aunque cada como con contra cual cuales cuando cuanta cuantas cuanto cuantos de del
    desde donde dos e el ella ellas ellos en entre era eran es esa ese eso esta estaba estan estas este esto fue
    fueron ha habia han hasta hay la las le les lo los mas me mi mis mientras muy nada ni no nos nosotros o otra
    otro para pero por porque pues que quien quienes se ser si sin sobre son su sus tambien te tenia tiene todo
    todos tu tus un una uno unos y ya yo
"""

LITTLE_WORDS: dict[Language, frozenset[str]] = {
    Language.ENGLISH: STOP_WORDS | {"may", "might", "must", "us", "cannot"},
    Language.GERMAN: frozenset(_GERMAN.split()),
    Language.FRENCH: frozenset(_FRENCH.split()),
    Language.SPANISH: frozenset(_SPANISH.split()),
}
"""Words that carry no meaning of their own in a question, without accents."""

_CLITICS = re.compile(r"\b[cdjlmnst]['’]|\bqu['’]", re.IGNORECASE)
_one_at_a_time = threading.Lock()


def language_of(text: str, default: Language = Language.ENGLISH) -> Language:
    """The language with the most little words in a text; `default` where they do not tell."""
    words = [fold(word) for word in words_of(_CLITICS.sub(" ", text[:SAMPLE_CHARACTERS]))]
    counts = {language: sum(word in little for word in words) for language, little in LITTLE_WORDS.items()}
    most = max(counts.values())
    return default if counts[default] == most else max(counts, key=lambda language: counts[language])


def is_little(word: str, language: Language) -> bool:
    return fold(word).replace("’", "'") in LITTLE_WORDS[language]


def split_words(text: str, language: Language) -> list[str]:
    """The words of a text as they are written, without what French hangs in front of them."""
    return words_of(_CLITICS.sub(" ", text) if language is Language.FRENCH else text)


def stem(word: str, language: Language) -> str:
    """The form under which a word is compared."""
    if language is Language.ENGLISH or is_dense(word):
        return stem_of(word)
    return _snowball_stem(fold(word), language)


def stems_of(text: str, language: Language) -> tuple[str, ...]:
    """The compared forms of all words of a text, in order."""
    return tuple(stem(word, language) for word in split_words(text, language))


@lru_cache(maxsize=50_000)
def _snowball_stem(word: str, language: Language) -> str:
    with _one_at_a_time:  # a stemmer keeps the word it works on in itself
        return _stemmer(language)(word)


@lru_cache
def _stemmer(language: Language) -> Callable[[str], str]:
    import snowballstemmer  # type: ignore[import-untyped] # brings thirty languages along, and most readers need none of them

    stem_word: Callable[[str], str] = snowballstemmer.stemmer(str(language)).stemWord
    return stem_word

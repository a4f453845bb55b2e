"""Names of people and places: which words of a book are names, without a dictionary.

A name has a capital wherever it stands, and stands inside a sentence too. Where a language gives every noun a capital,
a name is a word that never follows an article. Two names side by side ("Jane Orchard") are a name of their own.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

NOUN_CAPITALS = 0.15
"""Share of the words inside sentences that have a capital, from which on all nouns may have one. English and French
novels have 2 to 8 percent, German ones 20 to 28."""

ARTICLES_AMONG_NOUNS = 0.05
"""Share of German articles among the small words that makes sure of it; a page of names has many capitals too."""

FEWEST_AMONG_NOUNS = 4
"""Occurrences of a name where nouns have capitals: a rarer noun may miss its article by chance."""

FEWEST_OF_A_WORD = 3
"""Occurrences inside sentences of a word that is a name as well ("Rose", "Will"), to be half of a name of two."""

_SMALL = re.compile(r"(?<![\w'’])[a-zà-öø-ÿ][^\W\d_]*|(?<![\w'’])[^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_]*")
_LETTERS = re.compile(r"(?<![\w'’])[^\W\d_a-zà-öø-ÿ][^\W\d_]*(?:['’][^\W\d_]+)*")
"""Words that may have a capital; whether they have one is seen from their first letter, in any script."""

_ENDING = re.compile(r"['’](?:s|m|d|t|ll|re|ve)$", re.IGNORECASE)
_BEFORE = re.compile(r"(?:([^\W\d_]+)['’]?|[\d,;])(\.?)[ \n]$")
"""What stands before a word that does not open its sentence: a word, a figure or a comma."""

_LEAD = 24
"""Characters before a word that are looked at."""

_ADDRESSED = re.compile(
    r"([\u30a1-\u30fa\u30fc]{2,})(?:さん|さま|様|くん|君|ちゃん|氏|嬢|夫人)|([^\W_]{1,6}[·・][^\W_]{1,6})"
)
"""Names in Japanese and Chinese that can be told from words: foreign ones, by how they are addressed or joined."""

_FOREIGN = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}|[^\W_]{1,6}[·・][^\W_]{1,6}")
_DOT_OR_KATAKANA = re.compile(r"[·・\u30a1-\u30fa]")

_EVERYBODYS_NAMES = """
    i god lord heaven english french german latin greek christian bible christmas easter european american british
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
"""
_TITLES_OF_PEOPLE = """
    mr mrs miss ms dr sir madam lady lord king queen prince princess captain colonel general father mother brother
    sister uncle aunt herr frau fräulein monsieur madame mademoiselle señor señora don doña
"""
_GERMAN_ARTICLES = """
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem
    meiner dein deine sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere dieser diese dieses diesen
    diesem jeder jede jedes jeden jedem im am zum zur vom beim ins ans aufs alle viele
"""
_EVERYBODYS = frozenset(_EVERYBODYS_NAMES.split())
_TITLES = frozenset(_TITLES_OF_PEOPLE.split())
_ARTICLES = frozenset(_GERMAN_ARTICLES.split())


@dataclass(frozen=True, slots=True)
class _Capital:
    """A word with a capital. `follows` is the word before it in the same breath, `inside` whether there is one, or a
    comma: then the capital is the word's own. `shouted`: all of it is in capitals, as headings are."""

    folded: str
    follows: str
    inside: bool
    with_partner: bool
    shouted: bool


class NameRecognizer:
    """Recognizes names by how a book uses each word; it is given the book piece by piece."""

    def __init__(self) -> None:
        self._inside: Counter[str] = Counter()
        self._small: Counter[str] = Counter()
        self._nouns: set[str] = set()
        self._pairs: set[tuple[str, str]] = set()
        self._addressed: set[str] = set()

    def add(self, text: str) -> None:
        """Count the words of a piece of the book."""
        self._small.update(_SMALL.findall(text))
        self._addressed.update(_addressed(text))
        for word in _capitals(text):
            if word.shouted:
                continue
            if word.inside:
                self._inside[word.folded] += 1
            if word.follows in _ARTICLES:
                self._nouns.add(word.folded)
            if word.with_partner:
                self._pairs.add((word.follows, word.folded))

    def names(self) -> frozenset[str]:
        """The names that were found, folded."""
        among_nouns = self._are_nouns_capitalised()
        fewest = FEWEST_AMONG_NOUNS if among_nouns else 1
        names = {word for word, count in self._inside.items() if count >= fewest and len(word) > 1}
        names -= self._small.keys() | _EVERYBODYS | _TITLES | (self._nouns if among_nouns else set())
        words = {word for word, count in self._inside.items() if count >= max(FEWEST_OF_A_WORD, self._small[word])}
        partners = names | _TITLES | (set() if among_nouns else words - _EVERYBODYS)
        pairs = {" ".join(pair) for pair in self._pairs if partners.issuperset(pair)}
        return frozenset(names | pairs | self._addressed)

    def _are_nouns_capitalised(self) -> bool:
        capitals, small = self._inside.total(), self._small.total()
        articles = sum(self._small[article] for article in _ARTICLES)
        return capitals > NOUN_CAPITALS * (capitals + small) and articles > ARTICLES_AMONG_NOUNS * small


def names_in(text: str) -> Iterator[str]:
    """What may be names in a text, folded: words with a capital, and two of them side by side."""
    for word in _capitals(text):
        yield word.folded
        yield word.folded.removesuffix("s")  # the Bennets
        if word.with_partner:
            yield f"{word.follows} {word.folded}"
    yield from _FOREIGN.findall(text)


def _capitals(text: str) -> Iterator[_Capital]:
    last_end = -1
    for match in _LETTERS.finditer(text):
        if not match[0][0].isupper():
            continue
        start = match.start()
        before = _BEFORE.search(text, max(start - _LEAD, 0), start)
        word, stop = (before[1] or "", before[2]) if before else ("", "")
        follows = _folded(word)
        inside = before is not None and (not stop or follows in _TITLES)
        with_partner = inside and bool(word) and start - last_end <= len(stop) + 1
        written = _ENDING.sub("", match[0])
        shouted = len(written) > 1 and written.isupper()
        yield _Capital(_folded(written), follows if inside else "", inside, with_partner, shouted)
        last_end = match.end()


def _addressed(text: str) -> Iterator[str]:
    if _DOT_OR_KATAKANA.search(text):
        yield from (match[1] or match[2] for match in _ADDRESSED.finditer(text))


def _folded(word: str) -> str:
    return word.replace("’", "'").casefold()

"""Names: recognised by how a book uses its words, without a dictionary.

A name is capitalised wherever it occurs, and it also occurs inside sentences. In languages that capitalise every noun,
a name seldom follows an article, and either opens many of its sentences, which nouns hardly do, or often stands beside
a title or another name. Two names side by side ("Jane Orchard") are a name as well.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from domain.book import BookText
from domain.library.numerals import MONTHS_IN_ENGLISH
from domain.library.search.words import STOP_WORDS, fold, name_pattern

NOUN_CAPITALS = 0.15
"""The share of capitalised words inside sentences above which all nouns may be capitalised. English and French novels
have 2 to 8 percent, German ones 20 to 28.
"""

ARTICLES_AMONG_NOUNS = 0.05
"""The share of German articles among the small words that confirms it; a page of names has many capitals too."""

FEWEST_AMONG_NOUNS = 4
"""Occurrences a name needs where nouns are capitalised: a rarer noun may lack an article by chance."""

OPENING = 0.1
"""The share of its occurrences in which a name opens a sentence, at least. In three German books all persons who are
mentioned often have more, and of some 900 nouns a dozen."""

WITH_ARTICLE, WITHOUT_ARTICLE = 0.3, 0.05
"""The share of articles before a name at most ("die Kruse"), and if it seldom opens sentences."""

BESIDE_A_NAME = 0.25
"""The share of titles and names before such a one, at least: "Herr Samsa"."""

CAPITALS_FOR_ONE = 400
"""In a text with so many capitals per occurrence of a word, the word is no name only because it has no article."""

MISPRINTS, OFTEN_NAMED = 0.01, 10
"""The share of occurrences in lower case that a name may have; so often named, it may have one: "I'm a hatter"."""

FEWEST_OF_A_WORD = 3
"""Occurrences inside sentences that a word which is also a name ("Rose", "Will") needs to be half of another name."""

_SMALL = re.compile(r"(?<![\w'’])[a-zà-öø-ÿ][^\W\d_]*|(?<![\w'’])[^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_]*")
_LETTERS = re.compile(r"(?<!\w)[^\W\d_a-zà-öø-ÿ][^\W\d_]*(?:['’][^\W\d_]+)*")
"""Words that may be capitalised; the first letter tells, in any script."""

_ENDING = re.compile(r"['’](?:s|m|d|t|ll|re|ve)$", re.IGNORECASE)
_BEFORE = re.compile(r"(?:(?:([^\W\d_]+)['’]?|[\d,;])(\.?)[ \n]|[^\W\d_]['’])$")
"""What precedes a word that does not open its sentence: a word, be it the "d" of d’Artagnan, a figure or a comma."""

_LEAD = 24
"""Characters examined before a word."""

_ADDRESSED = re.compile(
    r"([\u30a1-\u30fa\u30fc]{2,})(?:さん|さま|様|くん|君|ちゃん|氏|嬢|夫人)|([^\W_]{1,6}[·・][^\W_]{1,6})"
)
"""Foreign names in Japanese and Chinese, which can be told from words by their form of address or their joints."""

_FOREIGN = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}|[^\W_]{1,6}[·・][^\W_]{1,6}")
_DOT_OR_KATAKANA = re.compile(r"[·・\u30a1-\u30fa]")

_CAPITALISED_ANYWHERE = """
    i я god lord heaven english french german latin greek christian bible christmas easter european american british
    monday tuesday wednesday thursday friday saturday sunday
"""
_TITLES_WORDS = """
    mr mrs miss ms dr sir madam lady lord king queen prince princess captain colonel general father mother brother
    sister uncle aunt herr frau fräulein monsieur madame mademoiselle señor señora don doña
"""
_GERMAN_ARTICLES = """
    der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem
    meiner dein deine sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere dieser diese dieses diesen
    diesem jeder jede jedes jeden jedem im am zum zur vom beim ins ans aufs alle viele
"""
CAPITALISED_ANYWHERE = frozenset(_CAPITALISED_ANYWHERE.split()) | MONTHS_IN_ENGLISH
"""Words that have a capital in any book, and are the names of nobody in it."""
TITLES_OF_PEOPLE = frozenset(_TITLES_WORDS.split())
_SHORT_TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "mme", "mlle", "prof", "capt"))
_BEFORE_NAMES = TITLES_OF_PEOPLE | _SHORT_TITLES
_ARTICLES = frozenset(_GERMAN_ARTICLES.split())


@dataclass(frozen=True, slots=True)
class _Capital:
    """A capitalised word.

    `follows` is the preceding word of the same clause; `inside` says whether there is such a word, or a comma, so that
    the capital is the word's own. `shouted`: the whole word is in capitals, as in headings.
    """

    folded: str
    follows: str
    inside: bool
    with_partner: bool
    shouted: bool


class NameRecognizer:
    """Recognizes names by how a book uses each word; receives the book piece by piece."""

    def __init__(self) -> None:
        self._inside: Counter[str] = Counter()
        self._small: Counter[str] = Counter()
        self._opening: Counter[str] = Counter()
        self._with_article: Counter[str] = Counter()
        self._beside: Counter[str] = Counter()
        self._pairs: set[tuple[str, str]] = set()
        self._addressed: set[str] = set()

    def add(self, text: str) -> None:
        """Count the words in a piece of the book, without the marks of italics in plain text: "the _Demeter_"."""
        text = text.replace("_", "")
        self._small.update(_SMALL.findall(text))
        self._addressed.update(_addressed(text))
        for word in _capitals(text):
            if word.shouted:
                continue
            (self._inside if word.inside else self._opening)[word.folded] += 1
            if word.follows in _ARTICLES:
                self._with_article[word.folded] += 1
            if word.with_partner or word.follows in TITLES_OF_PEOPLE:
                self._beside[word.folded] += 1
            if word.with_partner:
                self._pairs.add((word.follows, word.folded))

    def copy(self) -> "NameRecognizer":
        """One that has received the same pieces."""
        copied = NameRecognizer()
        copied._inside, copied._small = self._inside.copy(), self._small.copy()
        copied._opening, copied._beside, copied._pairs = self._opening.copy(), self._beside.copy(), self._pairs.copy()
        copied._with_article, copied._addressed = self._with_article.copy(), self._addressed.copy()
        return copied

    def names(self) -> frozenset[str]:
        """The names found, folded."""
        among_nouns = self._are_nouns_capitalised()
        fewest = FEWEST_AMONG_NOUNS if among_nouns else 1
        small = Counter[str]()
        for word, count in self._small.items():
            if not word[0].isupper():
                small[folded_name(word)] += count
        names = {
            word
            for word, count in self._inside.items()
            if count >= fewest and len(word) > 1 and small[word] <= max(MISPRINTS * count, count >= OFTEN_NAMED)
        }
        names -= CAPITALISED_ANYWHERE | TITLES_OF_PEOPLE
        if among_nouns:
            names = {name for name in names if self._is_no_noun(name)}
            names -= {f"{name}s" for name in names}  # Effis
        words = {word for word, count in self._inside.items() if count >= max(FEWEST_OF_A_WORD, small[word])}
        partners = names | TITLES_OF_PEOPLE | (set() if among_nouns else words - CAPITALISED_ANYWHERE)
        pairs = {" ".join(pair) for pair in self._pairs if partners.issuperset(pair)}
        return frozenset(names | pairs | self._addressed)

    def _is_no_noun(self, word: str) -> bool:
        inside, opening = self._inside[word], self._opening[word]
        with_article = self._with_article[word] / inside
        if opening >= OPENING * (inside + opening):
            return with_article <= WITH_ARTICLE
        if not with_article and inside * CAPITALS_FOR_ONE >= self._inside.total():
            return True
        return with_article <= WITHOUT_ARTICLE and self._beside[word] > max(1, BESIDE_A_NAME * inside)

    def _are_nouns_capitalised(self) -> bool:
        capitals, small = self._inside.total(), self._small.total()
        articles = sum(self._small[article] for article in _ARTICLES)
        return capitals > NOUN_CAPITALS * (capitals + small) and articles > ARTICLES_AMONG_NOUNS * small


def names_in(text: str) -> Iterator[str]:
    """Possible names in a text, folded: capitalised words, and pairs of them."""
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
        follows = folded_name(word)
        is_initial = len(word) == 1 and word.isupper() and follows not in CAPITALISED_ANYWHERE  # "It is I."
        inside = before is not None and (not stop or is_initial or follows in _BEFORE_NAMES)
        with_partner = inside and len(word) > 1 and start - last_end <= len(stop) + 1
        written = _ENDING.sub("", match[0])
        shouted = len(written) > 1 and written.isupper()
        yield _Capital(folded_name(written), follows if inside else "", inside, with_partner, shouted)
        last_end = match.end()


def _addressed(text: str) -> Iterator[str]:
    if _DOT_OR_KATAKANA.search(text):
        yield from (match[1] or match[2] for match in _ADDRESSED.finditer(text))


def folded_name(word: str) -> str:
    """A word without case and full stops, as names and titles are compared; accents stay, since they tell names from
    words.
    """
    return word.replace("’", "'").replace(".", "").casefold()


NAME_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)*"
SEPARATORS = "of|and|or|with|to|for|by|from|in|on|at|as|when|that|than|but"
"""Words that separate: "the window of Mr. Crake" says nothing about him, "the painter Crake" does."""
_WORDS = re.compile(NAME_WORD)
_JOINT = re.compile(r"\.?(?:[^\S\n]|\n(?!\s*\n))+")
"""The gap between two words of one name; never the end of a paragraph, such as a heading's."""
_POSSESSIVE = re.compile(r"['’]s?$")
_MOST_WORDS = 4


def name_phrases(text: str) -> Iterator[list[str]]:
    """Runs of capitalised words, without a little word that opens the sentence and without possessive endings.

    A title has the full stop it is printed with: "Mr.", "Varley".
    """
    run: list[str] = []
    end = 0
    for match in _WORDS.finditer(text):
        gap = text[end : match.start()]
        joined = _JOINT.fullmatch(gap) and ("." not in gap or (run and bare_name(run[-1]) in _SHORT_TITLES))
        if run and not (joined and match[0][0].isupper() and len(run) < _MOST_WORDS):
            yield run
            run = []
        if run and "." in gap:
            run[-1] += "."
        if match[0][0].isupper() and not (not run and match[0].casefold() in STOP_WORDS):
            run.append(_POSSESSIVE.sub("", match[0]))
            if run[-1] != match[0]:  # a possessive ends the name: "Crake’s Bindery"
                yield run
                run = []
        end = match.end()
    if run:
        yield run


def bare_name(word: str) -> str:
    return _POSSESSIVE.sub("", word.strip(".,")).casefold()


def typed_name(name: str) -> str:
    """A name as it is compared with what people type: without case, accents and full stops, "mr varley"."""
    return fold(name.strip()).replace(".", "")


def printed_name(name: str, text: str) -> str:
    """A name as a text prints it, with its full stops and accents; unchanged if the text does not have it."""
    found = re.search(name_pattern(name), text) if name.strip() else None
    if found:
        return " ".join(found[0].split())
    *before, last = map(typed_name, name.split() or [""])
    words = re.findall(rf"{NAME_WORD}\.?", text) if last else []
    for *printed, end in (words[at : at + len(before) + 1] for at in range(len(words) - len(before))):
        bare = _POSSESSIVE.sub("", end.rstrip("."))
        if typed_name(bare) == last and [*map(typed_name, printed)] == before and bare[0].isupper():
            return " ".join([*printed, bare])
    return name


def counted_as_printed(counts: Mapping[str, int]) -> Counter[str]:
    """The names, where those that differ in nothing but full stops are one, as the book prints it most often."""
    printed = Counter(counts)
    for name in [each for each in counts if "." in each]:
        plain = name.replace(".", "")
        if plain in counts:
            rarer, other = sorted((name, plain), key=lambda each: counts[each])
            printed[other] += printed.pop(rarer)
    return printed


_CAPITALS_INSIDE = re.compile(
    r" (?=[^\W_a-zß-öø-ÿα-ωа-я]{2})(?<=[^\W\d_A-ZÀ-ÖØ-ÞΑ-ΩА-Я] |[,;] )([^\W_a-zß-öø-ÿα-ωа-я]+)"
    r"(?!\w| [^\W\d_a-zß-öø-ÿα-ωа-я]{2})"
)
"""Words in capitals behind one that is not, in the same line; words in a row may be shouted."""
_ALONE = re.compile(r"(?<![\w.\-/\\`])[^\W_]{2,}(?![\w\-/\\`]|\.\w)")
"""Words that are no part of a command, an address or the name of a file: "qemu-img"."""


def acronyms_among(words: Collection[str], text: str) -> frozenset[str]:
    """Those of some words in capitals that the sentences of a text write so more often than otherwise."""
    inside = Counter(word for word in _CAPITALS_INSIDE.findall(text) if word in words)
    if not inside:
        return frozenset()
    forms = Counter(_ALONE.findall(text))
    return frozenset(
        word for word, count in inside.items() if word.isupper() and count > forms[word.title()] + forms[word.lower()]
    )


_WORD = re.compile(r"[^\W_]+")
_LONGEST_HEADING = 300
"""Characters of a chapter in which its heading is looked for."""


def with_acronyms(book: BookText) -> BookText:
    """A book whose titles write in capitals what its sentences do: "QEMU", where the heading is printed in capitals and
    was put into title case like any other word.
    """
    headings = [book.text[each.start : min(each.end, each.start + _LONGEST_HEADING)] for each in book.chapters]
    printed = [{*_WORD.findall(heading)} for heading in headings]
    titles = [({*_WORD.findall(book.title.upper())}, book.title)]
    titles += [(words, each.title) for words, each in zip(printed, book.chapters, strict=True)]
    shown = {word.upper() for words, title in titles for word in _WORD.findall(title) if _is_calm(word, words)}
    known = acronyms_among(shown, book.text)
    if not known:
        return book
    [title, *others] = [_in_capitals(title, words & known) for words, title in titles]
    chapters = tuple(replace(each, title=other) for each, other in zip(book.chapters, others, strict=True))
    return replace(book, title=title, chapters=chapters)


def _in_capitals(title: str, words: Collection[str]) -> str:
    return _WORD.sub(lambda word: word[0].upper() if _is_calm(word[0], words) else word[0], title) if words else title


def _is_calm(word: str, printed: Collection[str]) -> bool:
    """Whether a word of a title was put into title case: it is printed in capitals."""
    return word[0].isupper() and word[1:].islower() and word.upper() in printed


MOST_NAMES = 2_000
"""Names of a book that are told; the longest novels have as many."""


class NameCollector:
    """Collects the names in pieces of a book, which are added in their order."""

    def __init__(self) -> None:
        self._recognizer = NameRecognizer()
        self._phrases = Counter[str]()

    def add(self, text: str) -> None:
        self._recognizer.add(text)
        self._phrases.update(" ".join(phrase) for phrase in name_phrases(text))

    @property
    def phrases(self) -> Mapping[str, int]:
        """How often each run of capitalised words has been there."""
        return self._phrases

    def copy(self) -> "NameCollector":
        copied = NameCollector()
        copied._recognizer, copied._phrases = self._recognizer.copy(), self._phrases.copy()
        return copied

    def met(self) -> list[str]:
        """The names, as the book prints them, the most frequent first."""
        found = self._recognizer.names()
        known = found | TITLES_OF_PEOPLE
        names = {
            phrase: count
            for phrase, count in counted_as_printed(self._phrases).items()
            if (words := [folded_name(word) for word in phrase.split()])
            and (known.issuperset(words) or " ".join(words) in found)
            and not TITLES_OF_PEOPLE.issuperset(words)
            and not (phrase.isupper() and len(phrase) > 1)
        }
        foreign = [name for name in found if name not in names and not name[0].isascii()]
        return [*sorted(names, key=lambda each: (-names[each], each)), *sorted(foreign)][:MOST_NAMES]

"""Names: recognised by how a book uses its words, without a dictionary, and found again where they are misspelt.

A name is capitalised wherever it occurs, and it also occurs inside sentences. In languages that capitalise every noun,
a name seldom follows an article, and either opens many of its sentences, which nouns hardly do, or often stands beside
a title or another name. Two names side by side ("Jane Orchard") are a name as well.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.library.numerals import MONTHS_IN_ENGLISH
from domain.library.search.index import BookIndex, find_forms, mention_positions, share_with_capital
from domain.library.search.layout import BookLayout
from domain.library.search.words import (
    ERROR,
    STOP_WORDS,
    begin_alike,
    fold,
    is_dense,
    is_slip,
    misspelling,
    sound_of,
    without_possessive,
    words_of,
)

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

_EVERYBODYS_NAMES = """
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
_EVERYBODYS = frozenset(_EVERYBODYS_NAMES.split()) | MONTHS_IN_ENGLISH
TITLES_OF_PEOPLE = frozenset(_TITLES_WORDS.split())
_SHORT_TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "mme", "mlle", "prof", "capt"))
_NO_PARTS, _BEFORE_NAMES = STOP_WORDS | TITLES_OF_PEOPLE, TITLES_OF_PEOPLE | _SHORT_TITLES
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
        names -= _EVERYBODYS | TITLES_OF_PEOPLE
        if among_nouns:
            names = {name for name in names if self._is_no_noun(name)}
            names -= {f"{name}s" for name in names}  # Effis
        words = {word for word, count in self._inside.items() if count >= max(FEWEST_OF_A_WORD, small[word])}
        partners = names | TITLES_OF_PEOPLE | (set() if among_nouns else words - _EVERYBODYS)
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
        is_initial = len(word) == 1 and word.isupper() and follows not in _EVERYBODYS  # "It is I."
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
    """A word without case, as names and titles are compared; accents stay, since they tell names from words."""
    return word.replace("’", "'").casefold()


NAME_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)*"
SEPARATORS = "of|and|or|with|to|for|by|from|in|on|at|as|when|that|than|but"
"""Words that separate: "the window of Mr. Crake" says nothing about him, "the painter Crake" does."""
_WORDS = re.compile(NAME_WORD)
_JOINT = re.compile(r"\.?(?:[^\S\n]|\n(?!\s*\n))+")
"""The gap between two words of one name; never the end of a paragraph, such as a heading's."""
_POSSESSIVE = re.compile(r"['’]s?$")
_MOST_WORDS = 4


def name_phrases(text: str) -> Iterator[list[str]]:
    """Runs of capitalised words, without a little word that opens the sentence and without possessive endings."""
    run: list[str] = []
    end = 0
    for match in _WORDS.finditer(text):
        gap = text[end : match.start()]
        joined = _JOINT.fullmatch(gap) and ("." not in gap or (run and bare_name(run[-1]) in _SHORT_TITLES))
        if run and not (joined and match[0][0].isupper() and len(run) < _MOST_WORDS):
            yield run
            run = []
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


MOST_LOOKED_UP = 24
"""Words of a text that are looked up: the first ones."""

MOST_SPELLINGS = 3
_SHORTEST, _SHORTEST_NAME = 4, 2
"""Letters; too many shorter words are spelt alike. A word with a capital is compared with names only."""

_LETTERS_AN_ERROR = 4
"""One error is forgiven for every so many letters, counting the end of the word as a letter."""

_MOST_ERRORS = 3
_LONGEST = 40
"""Letters in the longest word that is compared."""

_SHORTEST_HEARD, _LONG_ENOUGH_TO_HEAR = 3, 5
"""Letters in the sound of a word that is known by it, and in a name whose sound may have one error."""

_FEWEST_TOGETHER, _OFTEN_TOGETHER = 2, 10
"""Times that a name stands beside another to be meant by a word typed there: by its sound, or by some letters."""

_SHORTEST_REST = 4
"""Letters by which a longer word exceeds a word that is short for it: "planet" has nothing to do with "plane"."""

_SHORTEST_WITHIN = 4
"""Letters from the middle of a name that say which is meant, beside its other part: "Beth Bennet"."""


def missing_words(index: BookIndex, layout: BookLayout, text: str) -> dict[str, list[str]]:
    """See BookView.missing_words. The vocabulary is searched only if a word is missing."""
    typed = [without_possessive(word) for word in words_of(text)[:MOST_LOOKED_UP]]
    missing = [w for w in dict.fromkeys(typed) if fold(w) not in STOP_WORDS and not _occurs(index, layout, w)]
    wanted = [
        _Wanted(word, fold(word), _beside(index, layout, typed, word), _beside(index, layout, typed, word, STOP_WORDS))
        for word in missing
    ]
    near = _near(index, layout, [each for each in (*wanted, *_misplaced(index, layout, typed)) if each.is_compared])
    return {word: near.get(word) or _last_part(index, layout, word) for word in (*missing, *(near.keys() - missing))}


def _misplaced(index: BookIndex, layout: BookLayout, typed: Sequence[str]) -> "Iterator[_Wanted]":
    """Words that the book has, but never beside what they are typed beside: "maple" in "father maple"."""
    for word in dict.fromkeys(typed):
        if len(word) < _SHORTEST or fold(word) in STOP_WORDS | TITLES_OF_PEOPLE:
            continue
        places = {position for form in find_forms(index, layout, word) for position in form.positions}
        beside = _beside(index, layout, typed, word, but=STOP_WORDS) if places else frozenset[int]()
        if beside and places.isdisjoint(beside):
            yield _Wanted(word, fold(word), beside, beside, is_there=True)


def _last_part(index: BookIndex, layout: BookLayout, word: str) -> list[str]:
    """The last part of a name that was typed as one word: "Helsing" of "Vanhelsing"."""
    shortest = _SHORTEST_NAME if word[0].isupper() else _SHORTEST_NAME + 1
    for at in range(shortest, min(len(word), _LONGEST) - _SHORTEST + 1):
        first, last = word[:at].lower(), word[at:].capitalize()
        if mention_positions(index, layout, (first, last)):
            return [last]
    return []


def _occurs(index: BookIndex, layout: BookLayout, word: str) -> bool:
    is_there = any(form.written[0].isupper() or not word[0].isupper() for form in find_forms(index, layout, word))
    return is_there or bool(mention_positions(index, layout, [word]))


def _beside(
    index: BookIndex, layout: BookLayout, typed: Sequence[str], word: str, but: frozenset[str] = _NO_PARTS
) -> frozenset[int]:
    """Where a missing part of a name would stand: beside the places of the other part. A title stands beside too many
    names to tell one by more than its sound.
    """
    at = typed.index(word)
    others = [(typed[near], at - near) for near in (at - 1, at + 1) if 0 <= near < len(typed)]
    return frozenset(
        position + step
        for other, step in others
        if fold(other) not in but and (other[0].isupper() or word[0].islower())
        for position in mention_positions(index, layout, [other[0].upper() + other[1:]])
    )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A missing word; `beside` is where the other part of its name puts it, and `there` where a title does, too.
    `is_there`: it is a word that the book has, but not in that place: "Father Maple".
    """

    word: str
    folded: str
    beside: frozenset[int]
    there: frozenset[int]
    is_there: bool = False

    @property
    def is_compared(self) -> bool:
        return not is_dense(self.word) and len(self.word) <= _LONGEST and (self.is_long_enough or bool(self.beside))

    @property
    def is_long_enough(self) -> bool:
        return len(self.word) >= (_SHORTEST_NAME if self.word[0].isupper() else _SHORTEST)

    @property
    def errors(self) -> int:
        """The cost of the errors that are forgiven."""
        return ERROR * min((len(self.folded) + 1) // _LETTERS_AN_ERROR, _MOST_ERRORS)

    @property
    def heard(self) -> int:
        """The cost of the errors of the ear that are forgiven where a capital says that it is a name."""
        if not self.word[0].isupper():
            return 0
        return ERROR if len(self.folded) > _SHORTEST_NAME else ERROR // 2

    def sounds_as(self, name: str, most: int = 0) -> bool:
        sound = sound_of(self.folded)
        return len(sound) >= _SHORTEST_HEARD and misspelling(sound, sound_of(name), most) <= most

    def is_beginning_of(self, word: str) -> bool:
        """Whether it is short for a longer word: "piano" for "pianoforte"."""
        is_small = self.word[0].islower() and len(self.folded) > _SHORTEST
        return is_small and word.startswith(self.folded) and len(word) >= len(self.folded) + _SHORTEST_REST

    def is_part_of(self, name: str) -> bool:
        return name.startswith(self.folded) or (len(self.folded) >= _SHORTEST_WITHIN and self.folded in name)


_Likeness = tuple[int, int, int]
"""The lower, the more alike: the cost of the errors; 0 beside the other part of the name, 1 for another name, 2 for
another word, 3 for a longer one; and how often it has been read, as a negative number.
"""


def _near(index: BookIndex, layout: BookLayout, wanted: Sequence[_Wanted]) -> dict[str, list[str]]:
    """What has been read and is spelt like each word, best first."""
    found: defaultdict[str, list[tuple[tuple[bool, int, int, int], str]]] = defaultdict(list)
    initials = {each.folded[0] for each in wanted}
    for written in index.vocabulary() if wanted else ():
        if not (written[0].isupper() or written[0] in initials) or written.lower() in STOP_WORDS:
            continue
        folded = fold(bare := without_possessive(written))
        for each in wanted:
            if likeness := _likeness(index, layout, each, written, folded):
                is_elsewhere = each.there.isdisjoint(_positions_written(index, layout, written))
                found[each.word].append(((is_elsewhere, *likeness), bare))
    ranked = {word: dict.fromkeys(bare for _, bare in sorted(alike)) for word, alike in found.items()}
    return {word: [*spelt][:MOST_SPELLINGS] for word, spelt in ranked.items()}


def _likeness(index: BookIndex, layout: BookLayout, wanted: _Wanted, written: str, folded: str) -> _Likeness | None:
    """How like a missing word another is; None if it is not meant, or has not been read."""
    if wanted.is_there:
        return _as_misplaced(index, layout, wanted, written, folded)
    if wanted.beside and written[0].isupper() and (part := _as_part(index, layout, wanted, written, folded)):
        return part
    if not begin_alike(wanted.folded, folded):
        return None
    if written[0].isupper() and (name := _as_name(index, layout, wanted, written, folded)):
        return name
    if not (is_slip := _is_slip(index, layout, wanted, written, folded)) and not wanted.is_beginning_of(folded):
        return None
    times = len(_positions_written(index, layout, written))
    return (ERROR, 2 if is_slip else 3, -times) if times else None


def _as_misplaced(index: BookIndex, layout: BookLayout, wanted: _Wanted, written: str, folded: str) -> _Likeness | None:
    """A name that sounds the same and does stand there, more than once, or that has some other letters and stands there
    often: "Injun" for "Indian", which is never written small either.
    """
    if not (written[0].isupper() and begin_alike(wanted.folded, folded)):
        return None
    most = wanted.errors + 2 * ERROR
    cost = 0 if wanted.sounds_as(folded) else misspelling(wanted.folded, folded, most)
    together = _together(index, layout, wanted.beside, written) if cost <= most else 0
    if together < (_OFTEN_TOGETHER if cost else _FEWEST_TOGETHER):
        return None
    is_name = not cost or share_with_capital(index, layout, wanted.word) == 1
    return (cost, 0, -together) if is_name else None


def _as_part(index: BookIndex, layout: BookLayout, wanted: _Wanted, written: str, folded: str) -> _Likeness | None:
    """Beside the other part of its name, a part is known by its beginning ("Jon Harker"), or with one error more."""
    is_part, most = wanted.is_part_of(folded), wanted.errors + ERROR
    cost = 0 if is_part else misspelling(wanted.folded, folded, most)
    if cost > most or written.isupper() or (folded in TITLES_OF_PEOPLE and not is_part):
        return None
    together = _together(index, layout, wanted.beside, written)
    return (cost, 0, -together) if together else None


def _together(index: BookIndex, layout: BookLayout, places: frozenset[int], written: str) -> int:
    """How often a word stands at one of these places."""
    return len(places.intersection(_positions_written(index, layout, written))) if places else 0


def _as_name(index: BookIndex, layout: BookLayout, wanted: _Wanted, written: str, folded: str) -> _Likeness | None:
    """By itself, a name is known with few errors, one more if it often stands behind its title, or by its sound."""
    most = wanted.errors
    cost = misspelling(wanted.folded, folded, most + ERROR if wanted.there else most)
    if most < cost <= most + ERROR and _together(index, layout, wanted.there, written) >= _OFTEN_TOGETHER:
        most = cost
    if cost > most and folded not in _EVERYBODYS:
        most, cost = wanted.heard, misspelling(wanted.folded, folded, wanted.heard, heard=ERROR // 2)
    if cost > most and wanted.sounds_as(folded):
        most = cost = ERROR // 2
    elif cost > most and len(folded) >= _LONG_ENOUGH_TO_HEAR and wanted.sounds_as(folded, ERROR):
        most = cost = 2 * ERROR
    is_near = cost <= most and wanted.is_long_enough and folded not in TITLES_OF_PEOPLE
    count = _count(index, layout, without_possessive(written)) if is_near else 0
    return (cost, 1, -count) if count else None


def _is_slip(index: BookIndex, layout: BookLayout, wanted: _Wanted, written: str, folded: str) -> bool:
    """Whether one error of typing turns a word of some length into another, which is no name. Where a capital is typed,
    a name is meant: then the other always has one, too. A word that differs by a letter nobody mistakes is another
    word: "rented" is not "rested".
    """
    word, is_typed_as_name = wanted.folded, wanted.word[0].isupper()
    if word[0] != folded[0] or word == folded or len(word) <= _SHORTEST or written.isupper():
        return False
    return is_slip(word, folded) and not (is_typed_as_name and share_with_capital(index, layout, written) < 1)


def _count(index: BookIndex, layout: BookLayout, name: str) -> int:
    """How often a name has been read; 0 if it is not a name: only in capitals, or written small as often as with a
    capital inside a sentence.
    """
    forms = {form.written: form.positions for form in find_forms(index, layout, name)}
    positions, small = forms.get(name, ()), len(forms.get(name.lower(), ()))
    if name.isupper() or (small and small >= sum(not _opens(layout, position) for position in positions)):
        return 0
    return len(positions)


def _opens(layout: BookLayout, position: int) -> bool:
    """Whether a word opens its sentence."""
    return layout.words[bisect_right(layout.words, position) - 1] == position


def _positions_written(index: BookIndex, layout: BookLayout, written: str) -> Sequence[int]:
    """Where a word has been read as it is written."""
    forms = find_forms(index, layout, written)
    return next((form.positions for form in forms if form.written == written), ())

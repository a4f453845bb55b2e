"""Recognizing names of people and places by how a book uses its words, without a dictionary.

A name is capitalised wherever it occurs, and it also occurs inside sentences. In languages that capitalise every noun,
a name seldom follows an article, and either opens many of its sentences, which nouns hardly do, or often stands beside
a title or another name. Two names side by side ("Jane Orchard") are a name as well.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.book import ChapterCount, Mentions, Sentence
from domain.library.addressing import is_counted
from domain.library.search.index import BookIndex, Excerpts, find_forms
from domain.library.search.layout import BookLayout
from domain.library.search.words import STOP_WORDS, fold, is_dense, without_possessive, words_of

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
mentioned often have more, and of some 900 nouns a dozen.
"""

WITH_ARTICLE, WITHOUT_ARTICLE = 0.3, 0.05
"""The share of articles before a name at most ("die Kruse"), and if it seldom opens sentences."""

BESIDE_A_NAME = 0.25
"""The share of titles and names before such a one, at least: "Herr Samsa"."""

CAPITALS_FOR_ONE = 400
"""In a text with so many capitals per occurrence of a word, the word is no name only because it has no article."""

MISPRINTS = 0.01
"""The share of occurrences in lower case that a name may have."""

FEWEST_OF_A_WORD = 3
"""Occurrences inside sentences that a word which is also a name ("Rose", "Will") needs to be half of a
two-word name.
"""

_SMALL = re.compile(r"(?<![\w'’])[a-zà-öø-ÿ][^\W\d_]*|(?<![\w'’])[^\W\d_A-ZÀ-ÖØ-Þ][^\W\d_]*")
_LETTERS = re.compile(r"(?<![\w'’])[^\W\d_a-zà-öø-ÿ][^\W\d_]*(?:['’][^\W\d_]+)*")
"""Words that may be capitalised; the first letter tells, in any script."""

_ENDING = re.compile(r"['’](?:s|m|d|t|ll|re|ve)$", re.IGNORECASE)
_BEFORE = re.compile(r"(?:([^\W\d_]+)['’]?|[\d,;])(\.?)[ \n]$")
"""What precedes a word that does not open its sentence: a word, a figure or a comma."""

_LEAD = 24
"""Characters examined before a word."""

_ADDRESSED = re.compile(
    r"([\u30a1-\u30fa\u30fc]{2,})(?:さん|さま|様|くん|君|ちゃん|氏|嬢|夫人)|([^\W_]{1,6}[·・][^\W_]{1,6})"
)
"""Names in Japanese and Chinese that can be told from words: foreign names, by their form of address
or their joints.
"""

_FOREIGN = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}|[^\W_]{1,6}[·・][^\W_]{1,6}")
_DOT_OR_KATAKANA = re.compile(r"[·・\u30a1-\u30fa]")

_EVERYBODYS_NAMES = """
    i god lord heaven english french german latin greek christian bible christmas easter european american british
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
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
_EVERYBODYS = frozenset(_EVERYBODYS_NAMES.split())
TITLES_OF_PEOPLE = frozenset(_TITLES_WORDS.split())
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
        """Count the words in a piece of the book."""
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
        copied._opening, copied._beside = self._opening.copy(), self._beside.copy()
        copied._with_article, copied._pairs = self._with_article.copy(), self._pairs.copy()
        copied._addressed = self._addressed.copy()
        return copied

    def names(self) -> frozenset[str]:
        """The names found, folded."""
        among_nouns = self._are_nouns_capitalised()
        fewest = FEWEST_AMONG_NOUNS if among_nouns else 1
        small = Counter[str]()
        for word, count in self._small.items():
            if not word[0].isupper():
                small[_folded(word)] += count
        names = {
            word
            for word, count in self._inside.items()
            if count >= fewest and len(word) > 1 and small[word] <= MISPRINTS * count
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
        follows = _folded(word)
        inside = before is not None and (not stop or follows in TITLES_OF_PEOPLE)
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


MAX_WORDS = 30
"""Words in the longest term that is counted."""


def count_mentions(index: BookIndex, layout: BookLayout, excerpts: Excerpts, term: str) -> Mentions:
    """Count a term of one or more words in the part that has been read."""
    positions = mention_positions(index, layout, words_of(term)[:MAX_WORDS])
    if not positions:
        return Mentions(term=term, total=0, first=None, last=None)
    sentences = [bisect_right(layout.words, position) - 1 for position in positions]
    told = next((each for each in sentences if layout.chapter_at(layout.starts[each])), sentences[0])
    first, in_story, last = (
        excerpts.citation(layout.starts[i], layout.ends[i]) for i in (sentences[0], told, sentences[-1])
    )
    return Mentions(
        term=term,
        total=len(positions),
        first=first,
        last=last,
        by_chapter=_by_chapter(layout, sentences),
        in_story=in_story,
    )


def sentences_with(index: BookIndex, layout: BookLayout, term: str) -> list[int]:
    """The numbers of the sentences in which a mention begins, ascending."""
    positions = mention_positions(index, layout, words_of(term)[:MAX_WORDS])
    return list(dict.fromkeys(bisect_right(layout.words, position) - 1 for position in positions))


def mention_positions(index: BookIndex, layout: BookLayout, term: Sequence[str]) -> list[int]:
    """The ordinals of the first words of all mentions, ascending."""
    following: set[int] | None = None
    for word in reversed(term):
        found = _positions_of(index, layout, word)
        following = found if following is None else {position for position in found if position + 1 in following}
    return sorted(following or ())


def _positions_of(index: BookIndex, layout: BookLayout, word: str) -> set[int]:
    spelling = index.analyzer.spelling
    return {
        position
        for form in find_forms(index, layout, word)
        if (form.written[0].isupper() or not word[0].isupper())
        and spelling(word) in (spelling(form.written), spelling(without_possessive(form.written)))
        for position in form.positions
    }


def _by_chapter(layout: BookLayout, sentences: Sequence[int]) -> tuple[ChapterCount, ...]:
    """Counts per chapter, in reading order."""
    counts = Counter(layout.chapter_at(layout.starts[sentence]) for sentence in sentences)
    counted = is_counted(layout.chapters)
    return tuple(
        ChapterCount(chapter.number, chapter.title, count, counted) if chapter else ChapterCount(0, "", count)
        for chapter, count in counts.items()
    )


_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)*"
_ONE_OF_A_KIND = r"(?:an?|the|my|his|her|their|our|your|one of)"
SEPARATORS = "of|and|or|with|to|for|by|from|in|on|at|as|when|that|than|but"
"""Words that separate: "the window of Mr. Crake" says nothing about him, "the painter Crake" does."""
_NO_LINK = rf"(?!(?:{SEPARATORS})\b)"
_INTRODUCTIONS = (
    r"{name},? (?:who|whose)\b",
    rf"{{name}}, {_ONE_OF_A_KIND} \w+",
    rf"{{name}} (?:is|was|were|had been|has been|became) (?:\w+ )?{_ONE_OF_A_KIND} \w+",
    r"(?:called|named|known as|names? (?:is|was|of)|introduced|this is|i am|i['’]m) (?:\w+\.? )?{name}",
    rf"\b{_ONE_OF_A_KIND} {_NO_LINK}\w+(?: {_NO_LINK}\w+)?,? (?:{_NO_LINK}\w+ )?{{name}}\b(?!['’]s)",
    r"{name},? (?:der|die|das|ein|eine|sein|seine|ihr|ihre|mein|meine) \w+",
    r"{name} (?:war|ist|wurde) (?:\w+ )?(?:der|die|das|ein|eine|sein|seine|ihr|ihre) \w+",
    r"(?:hieß|heißt|namens|genannt) {name}",
    r"{name},? (?:qui|le|la|un|une|son|sa|était|est) \w+",
    r"(?:nommée?|appelée?|s['’]appelait) {name}",
    r"{name},? (?:el|la|un|una|su|era|es|que) \w+",
    r"(?:llamad[oa]|se llamaba) {name}",
)
_ANOTHER_NAME = re.compile(
    r"(?:called|known as|nicknamed|alias|named|name (?:is|was)|genannt|surnommée?|llamad[oa]) [“‘\"']?"
    rf"((?:(?:the|der|die|le|la|el) )?(?:{_WORD} ){{0,2}}{_WORD})"
)
_WORDS = re.compile(_WORD)
_JOINT = re.compile(r"\.?(?:[^\S\n]|\n(?!\s*\n))+")
"""The gap between two words of one name; never the end of a paragraph, such as a heading's."""
_POSSESSIVE = re.compile(r"['’]s?$")
_SHORT_TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "mme", "mlle", "prof", "capt"))
_MOST_WORDS = 4


def introductions(name: str, sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """The sentences that best introduce somebody, in order; of equals the earlier one goes first."""
    named = re.escape(name).replace(r"\ ", r"\s+")
    patterns = [re.compile(pattern.format(name=named), re.IGNORECASE) for pattern in _INTRODUCTIONS]
    scores = {sentence: sum(bool(each.search(sentence.text)) for each in patterns) for sentence in sentences}
    ranked = sorted((sentence for sentence in sentences if scores[sentence]), key=lambda each: -scores[each])
    return sorted(ranked[:count], key=lambda sentence: sentence.start)


def forms_of(name: str, sentences: Sequence[Sentence]) -> Counter[str]:
    """Names in the sentences that share a word with a name ("Miss Crake" for "Hilda Crake"), with their counts."""
    words = {_bare(word) for word in name.split()}
    phrases = (phrase for sentence in sentences for phrase in name_phrases(sentence.text))
    return Counter(" ".join(phrase) for phrase in phrases if words & {_bare(word) for word in phrase})


def other_names(name: str, sentences: Sequence[Sentence]) -> list[str]:
    """Other names that a sentence gives explicitly: "called", "known as"."""
    words = {_bare(word) for word in name.split()}
    found = (match[1] for sentence in sentences for match in _ANOTHER_NAME.finditer(sentence.text))
    phrases = (phrase for given in found for phrase in name_phrases(given))
    return list(dict.fromkeys(" ".join(phrase) for phrase in phrases if not words & {_bare(word) for word in phrase}))


def name_phrases(text: str) -> Iterator[list[str]]:
    """Runs of capitalised words, without a little word that opens the sentence and without possessive endings."""
    run: list[str] = []
    end = 0
    for match in _WORDS.finditer(text):
        gap = text[end : match.start()]
        joined = _JOINT.fullmatch(gap) and ("." not in gap or (run and _bare(run[-1]) in _SHORT_TITLES))
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


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word.strip(".,")).casefold()


MOST_LOOKED_UP = 24
"""Words of a text that are looked up: the first ones."""

MOST_SPELLINGS = 3
_SHORTEST, _SHORTEST_NAME = 4, 3
"""Letters; too many shorter words are spelt alike. A word with a capital is compared with names only."""

_LETTERS_AN_ERROR = 4
"""One error is forgiven for every so many letters, counting the end of the word as a letter."""

_MOST_ERRORS = 3
_LONGEST = 40
"""Letters in the longest word that is compared."""


def missing_words(index: BookIndex, layout: BookLayout, text: str) -> dict[str, list[str]]:
    """See BookView.missing_words. The vocabulary is searched only if a word is missing."""
    words = dict.fromkeys(without_possessive(word) for word in words_of(text)[:MOST_LOOKED_UP])
    missing = [word for word in words if fold(word) not in STOP_WORDS and not _occurs(index, layout, word)]
    shortest = {word: _SHORTEST_NAME if word[0].isupper() else _SHORTEST for word in missing}
    compared = [word for word in missing if shortest[word] <= len(word) <= _LONGEST and not is_dense(word)]
    near = _near(index, layout, compared) if compared else {}
    return {word: near.get(word, []) for word in missing}


def _occurs(index: BookIndex, layout: BookLayout, word: str) -> bool:
    return any(form.written[0].isupper() or not word[0].isupper() for form in find_forms(index, layout, word))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A missing word; `errors` is how many spelling errors are forgiven."""

    word: str
    folded: str
    errors: int


def _near(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> dict[str, list[str]]:
    """What has been read and is within a few errors of each word: names, which are words without a lower-case form;
    for a word that is like no name, other words with one error.
    """
    wanted = [
        _Wanted(word, folded := fold(word), min((len(folded) + 1) // _LETTERS_AN_ERROR, _MOST_ERRORS)) for word in words
    ]
    shortest = min(len(each.folded) - each.errors for each in wanted)
    longest = max(len(each.folded) + each.errors for each in wanted) + len("'s")
    found: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    others: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    initials = {each.folded[0] for each in wanted}
    for written in index.vocabulary():
        if not shortest <= len(written) <= longest or not (written[0].isupper() or written[0] in initials):
            continue
        bare = without_possessive(written)
        other = fold(bare)
        for each in wanted:
            distance = _distance(each.folded, other, each.errors) if written[0].isupper() else each.errors + 1
            is_near = distance <= each.errors and _may_be_meant(each.folded, other)
            if is_near and (count := _count(index, layout, bare)):
                found[each.word].append((distance, -count, bare))
            elif _is_slip(each, written) and (times := _times(index, layout, written)):
                others[each.word].append((-times, bare))
    meant = {word: [bare for _, _, bare in sorted(names)] for word, names in found.items()}
    meant |= {word: [bare for _, bare in sorted(other)] for word, other in others.items() if word not in meant}
    return {word: list(dict.fromkeys(spelt))[:MOST_SPELLINGS] for word, spelt in meant.items()}


_ALIKE = (
    frozenset("aeiouy"),
    frozenset("ckqsxz"),
    frozenset("bfpvw"),
    frozenset("dt"),
    frozenset("gj"),
    frozenset("mn"),
)
"""Letters that are mistaken for each other by their sound."""

_NEIGHBOURS = tuple(frozenset(pair) for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for pair in pairwise(row))
"""Keys that are hit for each other."""
_SLIPS = _ALIKE + _NEIGHBOURS


def _may_be_meant(word: str, other: str) -> bool:
    """Whether a short word may be the other misspelt: "Lusy" may be Lucy, "Rose" is not Rome."""
    return len(word) > _SHORTEST or len(word) != len(other) or _is_like(word, other, _ALIKE)


def _is_like(word: str, other: str, mistaken: Sequence[frozenset[str]]) -> bool:
    """Whether words of the same length have their letters in another order, or mistaken letters."""
    changed = [{one, two} for one, two in zip(word, other, strict=True) if one != two]
    return sorted(word) == sorted(other) or all(any(pair <= letters for letters in mistaken) for pair in changed)


def _is_slip(wanted: _Wanted, written: str) -> bool:
    """Whether one error of typing turns a word of some length into another, which is no name. Where a capital is typed,
    a name is meant: then the other has one as well. A word that differs by a letter nobody mistakes is another word:
    "rented" is not "rested".
    """
    word, other = wanted.folded, fold(written)
    if word == other or word[0] != other[0] or abs(len(word) - len(other)) > 1 or len(word) <= _SHORTEST:
        return False
    if written.isupper() or (wanted.word[0].isupper() and not written[0].isupper()):
        return False
    return _distance(word, other, 1) <= 1 and (len(word) != len(other) or _is_like(word, other, _SLIPS))


def _count(index: BookIndex, layout: BookLayout, name: str) -> int:
    """How often a name has been read; 0 if it is not a name: the word is also written in lower case, or only in
    capitals.
    """
    forms = {form.written: len(form.positions) for form in find_forms(index, layout, name)}
    return 0 if name.isupper() or forms.get(name.lower()) else forms.get(name, 0)


def _times(index: BookIndex, layout: BookLayout, written: str) -> int:
    return sum(len(form.positions) for form in find_forms(index, layout, written) if form.written == written)


def _distance(one: str, other: str, most: int) -> int:
    """The number of letters to insert, delete, change or swap to turn one word into the other; `most` + 1 if more."""
    if abs(len(one) - len(other)) > most or (one[0] != other[0] and one[1:2] != other[1:2]):
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        last, before, row = before, row, [at + 1]
        for to, wanted in enumerate(other):
            cost = min(before[to + 1] + 1, row[to] + 1, before[to] + (letter != wanted))
            if at and to and letter == other[to - 1] and wanted == one[at - 1]:
                cost = min(cost, last[to - 1] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]

"""Mentions: where a word or name occurs, which sentences introduce who it is, and which names are spelt like it."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.book import ChapterCount, Mentions, Sentence
from domain.library.addressing import is_counted
from domain.library.search.index import BookIndex, Excerpts, find_forms
from domain.library.search.layout import BookLayout
from domain.library.search.words import STOP_WORDS, fold, is_dense, without_possessive, words_of

MAX_WORDS = 30
"""Words of the longest term that is counted."""


def count_mentions(index: BookIndex, layout: BookLayout, excerpts: Excerpts, term: str) -> Mentions:
    """Count a term of one or more words in what has been read."""
    positions = mention_positions(index, layout, words_of(term)[:MAX_WORDS])
    if not positions:
        return Mentions(term=term, total=0, first=None, last=None)
    sentences = [bisect_right(layout.words, position) - 1 for position in positions]
    citations = [excerpts.citation(layout.starts[i], layout.ends[i]) for i in (sentences[0], sentences[-1])]
    return Mentions(
        term=term,
        total=len(positions),
        first=citations[0],
        last=citations[1],
        by_chapter=_by_chapter(layout, sentences),
    )


def sentences_with(index: BookIndex, layout: BookLayout, term: str) -> list[int]:
    """The numbers of the sentences in which a mention begins, rising."""
    positions = mention_positions(index, layout, words_of(term)[:MAX_WORDS])
    return list(dict.fromkeys(bisect_right(layout.words, position) - 1 for position in positions))


def mention_positions(index: BookIndex, layout: BookLayout, term: Sequence[str]) -> list[int]:
    """The ordinals of the first words of all mentions, rising."""
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
    """Counts in reading order."""
    counts = Counter(layout.chapter_at(layout.starts[sentence]) for sentence in sentences)
    counted = is_counted(layout.chapters)
    return tuple(
        ChapterCount(chapter.number, chapter.title, count, counted) if chapter else ChapterCount(0, "", count)
        for chapter, count in counts.items()
    )


_WORD = r"[^\W\d_]+(?:['’][^\W\d_]+)*"
_ONE_OF_A_KIND = r"(?:an?|the|my|his|her|their|our|your|one of)"
_INTRODUCTIONS = (
    r"{name},? (?:who|whose)\b",
    rf"{{name}}, {_ONE_OF_A_KIND} \w+",
    rf"{{name}} (?:is|was|were|had been|has been|became) (?:\w+ )?{_ONE_OF_A_KIND} \w+",
    r"(?:called|named|known as|names? (?:is|was|of)|introduced|this is|i am|i['’]m) (?:\w+\.? )?{name}",
    rf"\b{_ONE_OF_A_KIND} \w+(?: \w+)?,? (?:\w+ )?{{name}}\b",
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
_JOINT = re.compile(r"\s+|\.\s+")
_ENDING = re.compile(r"['’]s?$")
_TITLES = frozenset(("mr", "mrs", "ms", "dr", "st", "mme", "mlle", "prof", "capt"))
_MOST_WORDS = 4


def introductions(name: str, sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """The sentences that best say who somebody is, in order; those that come first go before equals."""
    named = re.escape(name).replace(r"\ ", r"\s+")
    patterns = [re.compile(pattern.format(name=named), re.IGNORECASE) for pattern in _INTRODUCTIONS]
    scores = {sentence: sum(bool(each.search(sentence.text)) for each in patterns) for sentence in sentences}
    ranked = sorted((sentence for sentence in sentences if scores[sentence]), key=lambda each: -scores[each])
    return sorted(ranked[:count], key=lambda sentence: sentence.start)


def forms_of(name: str, sentences: Sequence[Sentence]) -> Counter[str]:
    """The names in the sentences that share a word with a name ("Miss Crake" for "Hilda Crake"), and how often each."""
    words = {_bare(word) for word in name.split()}
    phrases = (phrase for sentence in sentences for phrase in _name_phrases(sentence.text))
    return Counter(" ".join(phrase) for phrase in phrases if words & {_bare(word) for word in phrase})


def other_names(name: str, sentences: Sequence[Sentence]) -> list[str]:
    """Names that a sentence with the name gives in so many words: "called", "known as"."""
    words = {_bare(word) for word in name.split()}
    found = (match[1] for sentence in sentences for match in _ANOTHER_NAME.finditer(sentence.text))
    phrases = (phrase for given in found for phrase in _name_phrases(given))
    return list(dict.fromkeys(" ".join(phrase) for phrase in phrases if not words & {_bare(word) for word in phrase}))


def _name_phrases(text: str) -> Iterator[list[str]]:
    """Runs of words with a capital, without the little word that opens a sentence and without possessive endings."""
    run: list[str] = []
    end = 0
    for match in _WORDS.finditer(text):
        gap = text[end : match.start()]
        joined = _JOINT.fullmatch(gap) and ("." not in gap or (run and _bare(run[-1]) in _TITLES))
        if run and not (joined and match[0][0].isupper() and len(run) < _MOST_WORDS):
            yield run
            run = []
        if match[0][0].isupper() and not (not run and match[0].casefold() in STOP_WORDS):
            run.append(_ENDING.sub("", match[0]))
            if run[-1] != match[0]:  # a possessive ends the name: "Crake’s Bindery"
                yield run
                run = []
        end = match.end()
    if run:
        yield run


def _bare(word: str) -> str:
    return _ENDING.sub("", word.strip(".,")).casefold()


MOST_LOOKED_UP = 24
"""Words of a text that are looked up, the first ones."""

MOST_SPELLINGS = 3
_SHORTEST = 4
"""Letters below which too many words are spelt alike."""

_LETTERS_AN_ERROR = 4
"""Letters, with the end of the word as one, for each error that is forgiven."""

_MOST_ERRORS = 3
_LONGEST = 40
"""Letters of the longest word that is compared."""


def missing_words(index: BookIndex, layout: BookLayout, text: str) -> dict[str, list[str]]:
    """See BookView.missing_words. The vocabulary is gone through only where a word is missing."""
    words = dict.fromkeys(without_possessive(word) for word in words_of(text)[:MOST_LOOKED_UP])
    missing = [word for word in words if fold(word) not in STOP_WORDS and not _occurs(index, layout, word)]
    compared = [word for word in missing if _SHORTEST <= len(word) <= _LONGEST and not is_dense(word)]
    near = _near(index, layout, compared) if compared else {}
    return {word: near.get(word, []) for word in missing}


def _occurs(index: BookIndex, layout: BookLayout, word: str) -> bool:
    return any(form.written[0].isupper() or not word[0].isupper() for form in find_forms(index, layout, word))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A word that is missing; `errors` is how many are forgiven."""

    word: str
    folded: str
    errors: int


def _near(index: BookIndex, layout: BookLayout, words: Sequence[str]) -> dict[str, list[str]]:
    """The names that have been read and are within a few errors of each word: those have no small form."""
    wanted = [
        _Wanted(word, folded := fold(word), min((len(folded) + 1) // _LETTERS_AN_ERROR, _MOST_ERRORS)) for word in words
    ]
    shortest = min(len(each.folded) - each.errors for each in wanted)
    longest = max(len(each.folded) + each.errors for each in wanted) + len("'s")
    found: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for written in index.vocabulary():
        if not (shortest <= len(written) <= longest and written[0].isupper()):
            continue
        bare = without_possessive(written)
        other = fold(bare)
        for each in wanted:
            distance = _distance(each.folded, other, each.errors)
            if distance <= each.errors and (count := _count(index, layout, bare)):
                found[each.word].append((distance, -count, bare))
    return {
        word: list(dict.fromkeys(bare for _, _, bare in sorted(names)))[:MOST_SPELLINGS]
        for word, names in found.items()
    }


def _count(index: BookIndex, layout: BookLayout, name: str) -> int:
    """How often a name has been read; 0 for what is none: a word that is written small elsewhere, or shouted."""
    forms = {form.written: len(form.positions) for form in find_forms(index, layout, name)}
    return 0 if name.isupper() or forms.get(name.lower()) else forms.get(name, 0)


def _distance(one: str, other: str, most: int) -> int:
    """Letters to put in, leave out, change or swap with the next, to make one of the other; `most` + 1 if more."""
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

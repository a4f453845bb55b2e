"""Words of a reader that the book does not have: what it has that is spelt or sounds like them, names above all.

A part of a name is looked for beside the other part, where it would stand in the book.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from domain.library.names import CAPITALISED_ANYWHERE, TITLES_OF_PEOPLE
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

_NO_PARTS = STOP_WORDS | TITLES_OF_PEOPLE


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
        if len(word) < _SHORTEST or fold(word) in _NO_PARTS:
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
    if cost > most and folded not in CAPITALISED_ANYWHERE:
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

"""Detecting spoilers: names and runs of words that occur in the book only beyond the bound.

A model may know a famous book by heart and tell what no tool has shown it. What it tells in the book's own words or
names can be detected without a model, because the program has the unread text. What it tells in words of its own
cannot be detected this way.
"""

import asyncio
import html
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, islice, pairwise
from math import log10
from unicodedata import normalize

from domain.book import Book, Chapter
from domain.citations.keys import UNSEEN
from domain.concurrency import in_thread_if_long
from domain.library.names import NAME_WORD, NameRecognizer, names_in
from domain.library.search.languages import DEFAULT_ANALYZER, Analyzer
from domain.library.search.words import STOP_WORDS, fold, fold_letters, is_dense, stem_of, word_spans, words_of
from domain.ports import BookFiles
from domain.spoilers.filter import REFERENCE, SpoilerCheck

RUN = 4
"""Consecutive words that reveal something if they are telling words. Every page has recurring three-word runs."""

LONG_RUN = 6
"""Consecutive words that are the book's own and no accident, whatever they are."""

DENSE_RUN = 8
"""The same for scripts without spaces, in characters."""

CHANCE = 4.5
"""How improbable a short run must be: minus the decimal logarithm of its expected count if the book's words fell at
random. "at the end of the" is expected, "put the lamp out" is not.
"""

TELLING_WORDS = 2
"""Meaningful words in a short run: "did not know what" is improbable, but anybody's.

These numbers were chosen with benchmarks/leaks.py; docs/spoilers.md shows the results of others.
"""

SLICE = 50_000
"""Characters processed at once: a few milliseconds, in which no other thread can run."""

LONG_SENTENCE = 2_000
"""Characters. A sentence of this length is checked in a few milliseconds."""

_OPENING_APOSTROPHE = re.compile(r"['’](?=[^\W\d_a-z])")
_ASCII_LETTER = re.compile("[a-z]")
_DECLINING = frozenset(("cs", "el", "eo", "et", "eu", "fi", "hu", "hy", "lt", "pl", "ro", "sr", "tr"))
"""Languages in which names have cases, besides those written in Cyrillic."""
_SURNAMES = ("ов", "ев")
"""Ends of Russian surnames, and of plurals: no ending of a case as in "столов"."""
_SHORTEST_STEM, _SHORTEST_CYRILLIC_STEM = 3, 4
"""Letters by which a name is known in another case: "Соня" and the word "сон" have three in common."""
_ENDINGS = ("", "s", "'s", "'d", "'ll")
_REFERENCE = re.compile(rf"(?<!\s)\s*{REFERENCE}")
_MARKS = re.compile(r"[*`~]|(?<![^\W_])_+|_+(?![^\W_])|</?[A-Za-z]{1,9}\s?/?>")
_WITH_ENDINGS = re.compile(NAME_WORD)
"""Words with all that an apostrophe separates, as Turkish does the endings of names."""
_JOINERS = re.compile("[\u200c\u200d]")
_NUMBER = re.compile(r"\d{3,}")
"""Years and amounts; smaller numbers are counts, dates and lists, and occur in every book."""


@dataclass(frozen=True, slots=True)
class SpoilerDetector:
    """Where each word, name and number of one book first occurs.

    `_folded` is the book as lower-case words with a space on both sides; word `i` begins at `_places[i]` of it and
    ends at `_ends[i]` of the book. `_firsts` has the first place of each word, `_names` that of each name, in words;
    `_cases` has the latter under each name without the ending of its case.

    A lookup takes time by the length of the sentence, whatever the book's. Building a detector takes a second per
    million characters at most, so do it in a thread: it works slice by slice, so that other threads run in between.
    """

    begins: int
    """The offset at which the part it knows begins."""
    _folded: str
    _places: "array[int]"
    _ends: "array[int]"
    _shares: dict[str, float]
    _firsts: dict[str, int]
    _names: dict[str, int]
    _cases: dict[str, int]
    _analyzer: Analyzer
    _runs: "dict[int, RunIndex]"
    _titles: frozenset[tuple[str, ...]]

    @classmethod
    def of(
        cls, text: str, chapters: Sequence[Chapter] = (), analyzer: Analyzer = DEFAULT_ANALYZER
    ) -> "SpoilerDetector":
        """The detector for a book's story, from the first chapter to the end of the last; `analyzer` is of its
        language.

        Text in the table of contents does not count as read, and names in the licence or in advertisements are no
        secret.
        """
        offset = chapters[0].start if chapters else 0
        titles = frozenset(tuple(_words(chapter.title)) for chapter in chapters)
        text = text[offset : max(chapter.end for chapter in chapters)] if chapters else text
        words: list[str] = []
        ends, counts, names = array("I"), Counter[str](), NameRecognizer()
        for start, end in _slices(text):
            piece = text[start:end]
            folded = _words(piece)
            words += folded
            counts.update(folded)
            ends.extend(offset + start + last for _, last in word_spans(piece))
            names.add(piece)
        places = array("I", accumulate((len(word) + 1 for word in words), initial=1))
        shares = {word: log10(len(words) / count) for word, count in counts.items()}
        firsts = dict(zip(reversed(words), range(len(words) - 1, -1, -1), strict=True))
        lengths = (RUN, LONG_RUN, DENSE_RUN) if any(map(is_dense, counts)) else (RUN, LONG_RUN)
        runs = {length: RunIndex.of(words, length) for length in lengths}
        found = names.names()
        told = _first_names(words, found)
        cases = _first_in_any_case(told, found, analyzer)
        return cls(offset, f" {' '.join(words)} ", places, ends, shares, firsts, told, cases, analyzer, runs, titles)

    def found_in(self, sentence: str, read_to: int, known: str = "", before: str = "") -> bool:
        """Whether a sentence tells what occurs only beyond `read_to`, including runs of words that begin in the text
        `before` it.

        Anything in `known` (the reader's own words, the title) reveals nothing.
        """
        said, bound = _plain(sentence), self._bound(read_to)
        words = _words(said)
        return bool(words) and (
            self._tells_name(said, bound, known)
            or self._tells_run([*self._last_words(before), *words], len(words), bound, known)
            or self._tells_number(said, bound, known)
        )

    def names_beyond(self, read_to: int) -> list[str]:
        """The names that occur only beyond `read_to`."""
        bound = self._bound(read_to)
        return [name for name in self._names if self._is_name_beyond(name, bound)]

    def _tells_name(self, said: str, bound: int, known: str) -> bool:
        known_words = _known_words(known, self._analyzer)
        return any(
            self._is_name_beyond(name, bound)
            and not known_words.issuperset(_without_case(name, self._analyzer).split(" "))
            for name in _names_in(said)
        )

    def _is_name_beyond(self, name: str, bound: int) -> bool:
        """Whether it is an unknown name: somebody who knows Hobb also knows Hobb's and the Hobbs.

        Words that the book has, but not as a name, are no name in another case either.
        """
        plain = _joined(name)
        if plain not in self._names and self._firsts.keys() >= set(plain.split()):
            return False
        first = self._cases.get(_without_case(name, self._analyzer), self._names.get(plain))
        return first is not None and bound < self._end_of(first)

    def _last_words(self, before: str) -> list[str]:
        """The words before a sentence with which a run may begin; it begins anew below a chapter's title."""
        words: list[str] = []
        for line in reversed(_plain(before).splitlines(keepends=True)):
            own = _words(line)
            if line.endswith("\n") and any(tuple(own[at:]) in self._titles for at in range(len(own))):
                break
            words = own + words
            if len(words) >= DENSE_RUN - 1:
                break
        return words[1 - DENSE_RUN :]

    def _tells_run(self, words: Sequence[str], said: int, bound: int, known: str) -> bool:
        known_run = _known_run(known)
        return any(
            self._is_run_beyond(run, bound) and f" {' '.join(run)} " not in known_run and self._is_telling(run)
            for run in _runs(words, said)
        )

    def _is_run_beyond(self, run: Sequence[str], bound: int) -> bool:
        """Whether the words occur in the book, but not before the bound."""
        text = f" {' '.join(run)} "
        for first in self._runs[len(run)].places(run) if len(run) in self._runs else ():
            at = self._places[first] - 1
            if self._folded.startswith(text, at):
                return bound < at + len(text) - 1
        return False

    def _tells_number(self, said: str, bound: int, known: str) -> bool:
        return any(
            number in self._firsts and bound < self._end_of(self._firsts[number]) and number not in known
            for number in _NUMBER.findall(said)
        )

    def _end_of(self, word: int) -> int:
        """Where a word ends in the folded text."""
        return self._places[word + 1] - 1 if word + 1 < len(self._places) else len(self._folded) - 1

    def _bound(self, read_to: int) -> int:
        """Where the words that have been read end in the folded text."""
        return self._places[bisect_right(self._ends, read_to)] - 1

    def _is_telling(self, words: Sequence[str]) -> bool:
        if len(words) > RUN:
            return True
        rarity = sum(self._shares[word] for word in words) - log10(len(self._places))
        return rarity >= CHANCE and sum(word not in STOP_WORDS for word in words) >= TELLING_WORDS


def _slices(text: str) -> Iterator[tuple[int, int]]:
    """The text in slices of about SLICE characters, cut at white space."""
    start = 0
    while start < len(text):
        stop = min(start + SLICE, len(text))
        cut = max(text.rfind(" ", start, stop), text.rfind("\n", start, stop)) if stop < len(text) else stop
        yield start, cut if cut > start else stop
        start = cut if cut > start else stop


def _fold(word: str) -> str:
    """The word without case and accents, and with no look-alike letters: a file may have "Eugenie" where a model writes
    "Eugénie".
    """
    return word.lower() if word.isascii() else _fold_foreign(word)


@lru_cache(maxsize=4_096)
def _fold_foreign(word: str) -> str:
    folded = fold(_JOINERS.sub("", word))
    return fold_letters(folded) if not folded.isascii() and _ASCII_LETTER.search(folded) else folded


def _words(text: str) -> list[str]:
    return [_fold(word) for word in words_of(text)]


def _joined(name: str) -> str:
    """A name as its folded words."""
    return " ".join(_words(name))


def _names_in(said: str) -> Iterator[str]:
    """Possible names in a text, also those after an apostrophe: “d'Emma”, 'Emma'. In one without any capitals, as some
    people and programs write, every word may be a name.
    """
    for text in {said, _OPENING_APOSTROPHE.sub(" ", said)}:
        yield from names_in(text)
    if said.islower():
        words = [word.removesuffix("'s") for word in words_of(said)]
        yield from words
        yield from (word.removesuffix("s") for word in words)
        yield from map(" ".join, pairwise(words))


def _plain(text: str) -> str:
    """The text as it is read: without page references and characters that are not seen, and without Markdown marks and
    HTML tags, which stick to words.
    """
    plain = _REFERENCE.sub("", text) if "(" in text else text  # most texts have none of these
    plain = html.unescape(plain) if "&" in plain else plain
    plain = plain if plain.isascii() else normalize("NFC", UNSEEN.sub("", plain))
    return _MARKS.sub("", plain) if any(mark in plain for mark in "*`~_<") else plain


@lru_cache(maxsize=64)
def _known_words(known: str, analyzer: Analyzer) -> frozenset[str]:
    return frozenset(_nominative(word, analyzer) for word in (*words_of(known), *_WITH_ENDINGS.findall(known)))


@lru_cache(maxsize=64)
def _known_run(known: str) -> str:
    return f" {' '.join(_words(known))} "


def _first_names(words: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """The last word of the first occurrence of each name, in any of its forms."""
    forms: dict[int, dict[tuple[str, ...], list[str]]] = {}
    for name in names:
        plain = _joined(name)
        for form in {plain.removesuffix("s"), *(f"{plain}{ending}" for ending in _ENDINGS)}:
            parts = tuple(form.split())
            forms.setdefault(len(parts), {}).setdefault(parts, []).append(plain)
    firsts: dict[str, int] = {}
    for length, wanted in forms.items():
        for first, parts in enumerate(_windows(words, length)):
            for name in wanted.pop(parts, ()):
                firsts[name] = min(firsts.get(name, len(words)), first + length - 1)
    return firsts


def _first_in_any_case(firsts: dict[str, int], names: Iterable[str], analyzer: Analyzer) -> dict[str, int]:
    """The first occurrence of each name in whatever case, under the name without its ending; written with its accents
    or without.
    """
    cases: dict[str, int] = {}
    for name in names:
        plain = _joined(name)
        for form in {name, plain} if plain in firsts else ():
            known = _without_case(form, analyzer)
            cases[known] = min(cases.get(known, firsts[plain]), firsts[plain])
    return cases


def _without_case(name: str, analyzer: Analyzer) -> str:
    """A name without the endings that its language gives it, folded: "Авдотью" is "Авдотья"."""
    return " ".join(_nominative(word, analyzer) for word in name.split())


def _nominative(word: str, analyzer: Analyzer) -> str:
    folded = _joined(word)
    if analyzer.language in _DECLINING:
        stem, shortest = analyzer.stem(word), _SHORTEST_STEM
    elif folded.isascii() or folded.endswith(_SURNAMES):
        return folded
    else:
        stem, shortest = stem_of(folded), _SHORTEST_CYRILLIC_STEM
    return stem if len(stem) >= shortest else folded


def _windows(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """All runs of that many words, in order."""
    return zip(*(islice(words, skipped, None) for skipped in range(length)), strict=False)


@dataclass(frozen=True, slots=True)
class RunIndex:
    """Where runs of one length occur, by their hashes, in parts that are sorted one by one, each quickly."""

    _parts: Sequence["array[int]"]

    @classmethod
    def of(cls, words: Sequence[str], length: int) -> "RunIndex":
        parts = [array("Q") for _ in range(_PARTS)]
        for first, run in enumerate(_windows(words, length)):
            part, key = _hashed(run)
            parts[part].append(key | first)
        return cls([array("Q", sorted(part)) for part in parts])

    def places(self, run: Sequence[str]) -> Iterator[int]:
        """The places of all runs with the same hash; the first one is usually the run's first occurrence."""
        number, key = _hashed(tuple(run))
        part = self._parts[number]
        for at in range(bisect_left(part, key), len(part)):
            if part[at] ^ key > _MOST_WORDS:
                return
            yield part[at] & _MOST_WORDS


_PARTS = 256
_PLACE_BITS = 32
_MOST_WORDS = 2**_PLACE_BITS - 1


def _hashed(run: tuple[str, ...]) -> tuple[int, int]:
    """The part of the index that a run belongs to, and the upper half of its entries there."""
    mixed = hash(run)
    return mixed % _PARTS, (mixed // _PARTS & _MOST_WORDS) << _PLACE_BITS


def _runs(words: Sequence[str], said: int) -> Iterator[Sequence[str]]:
    """Runs of RUN and LONG_RUN words, and of DENSE_RUN characters in scripts without spaces.

    Each ends in the last `said` words, and may begin before them.
    """
    before, dense = len(words) - said, list(map(is_dense, words))
    for length, wanted in ((RUN, 0), (LONG_RUN, 0), (DENSE_RUN, DENSE_RUN)):
        for at in range(max(before - length + 1, 0), len(words) - length + 1):
            if sum(dense[at : at + length]) == wanted:
                yield words[at : at + length]


KEPT = 16
"""Books kept ready. A novel takes about three megabytes."""


class SpoilerChecks:
    """Makes the checks of turns. A book is prepared once, off the event loop, at its first check.

    Each shelf prepares its own: a first answer takes no less time because another shelf has the same file.
    """

    def __init__(self, files: BookFiles) -> None:
        self._files = files
        self._ready: OrderedDict[tuple[str, bool], asyncio.Task[SpoilerDetector]] = OrderedDict()

    def check(self, book: Book, read_to: int, known: str = "") -> SpoilerCheck | None:
        """The check of what is said to people who have read to `read_to`; anything in `known` is no secret to them.

        None if the whole book is open and there is nothing to reveal.
        """
        if book.is_all_before(read_to):
            return None
        self._prepare(book)

        async def tells(sentence: str, /, before: str = "") -> bool:
            leaks = await asyncio.shield(self._prepare(book))
            if read_to <= leaks.begins:  # chapters begin later, so what was read may be a prologue, and is no contents
                leaks = await asyncio.shield(self._prepare(book, whole=True))
            find = partial(leaks.found_in, sentence, read_to, known, before)
            return await in_thread_if_long(sentence, LONG_SENTENCE, find)

        return tells

    def _prepare(self, book: Book, *, whole: bool = False) -> "asyncio.Task[SpoilerDetector]":
        key = (book.id, whole)
        task = self._ready.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._ready[key] = asyncio.create_task(self._detector(book, whole=whole))
        self._ready.move_to_end(key)
        while len(self._ready) > KEPT:
            self._ready.popitem(last=False)
        return task

    async def _detector(self, book: Book, *, whole: bool) -> SpoilerDetector:
        file = await self._files.open(book)
        chapters = () if whole else await file.chapters()
        return await asyncio.to_thread(SpoilerDetector.of, await file.text(), chapters, await file.analyzer())

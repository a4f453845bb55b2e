"""What a model was given and what readers said, by which an answer is checked: its sentences and its numbers."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from enum import Enum, auto
from itertools import takewhile
from typing import TypeAlias

from domain.book import Passage, Sentence
from domain.citations import context
from domain.citations.keys import as_seen, key_of
from domain.citations.numbers import Number, numbers_of
from domain.citations.page_numbers import without_typed_pages
from domain.citations.symbols import ENDS, LARGER_NUMBER, any_of, lazily, marked, telling_words
from domain.library.numerals import hours_in
from domain.library.search.sentences import split_sentences
from domain.library.search.words import fold, fold_letters, stem_of, words_of
from domain.ports import BookView

_MOST_LOOKED_UP = 40
"""Quotations per answer that are looked for among all given sentences, which may be thousands."""
_NEXT_WORDS = lazily(r"(?:[\s-][^\W\d_]+){1,3}")
_AT_ONCE = 32
"""Sentences that are compared before other tasks run."""
_FEWEST_QUOTED = 3
"""Words; fewer stand in too many sentences."""
_FEWEST_TO_CITE, _LEAST_QUOTED = 5, 0.6
"""Words, and the share of a sentence, that are quoted where no key says that it is about them."""


class GivenSentences:
    """The sentences a model has been given, by their keys and by words of theirs.

    `opening_of` finds the opening sentence of a chapter by its key, which models get with the table of contents.
    """

    def __init__(self, opening_of: Callable[[str], Awaitable[Sentence | None]] | None = None) -> None:
        self._opening_of = opening_of
        self._by_key: dict[str, Sentence] = {}
        self._without_keys: list[Passage] = []
        self._words: dict[str, str] = {}
        self._looked_up = 0

    def learn(self, passage: Passage) -> None:
        """Add a passage the model has been given; its keys are made when there is one to look up."""
        self._without_keys.append(passage)

    def add(self, sentence: Sentence) -> str:
        """Add a sentence; return its key."""
        key = key_of(sentence)
        self._by_key[key] = sentence
        return key

    async def find(self, key: str) -> Sentence | None:
        """The sentence with this key."""
        self._make_keys()
        return self._by_key.get(key) or (await self._opening_of(key) if self._opening_of else None)

    async def with_quoted(self, cited: list[Sentence], quotations: Iterable[str]) -> list[Sentence]:
        """The sentences that a sentence of the answer cites; where a quotation in it stands in another given one, that
        one instead.
        """
        quoted = [words for each in quotations if len((words := _words(each)).split()) >= _FEWEST_QUOTED]
        missing = [words for words in quoted if not any(_is_from(words, sentence) for sentence in cited)]
        elsewhere = [sentence for words in missing if cited and (sentence := await self._with_words(words))]
        if not elsewhere:
            return cited
        return [each for each in cited if any(_is_from(words, each) for words in quoted)] + elsewhere

    async def quoted_in(self, text: str, quotations: Sequence[str]) -> tuple[Sentence, ...]:
        """The given sentence that a sentence of the answer quotes; empty if it quotes none, or mostly says something
        else.
        """
        parts = (_words(each[start:end]) for each in quotations for start, end in split_sentences(each))
        longest = max(parts, key=len, default="")
        is_mostly_quoted = sum(len(words_of(each)) for each in quotations) > len(words_of(text)) * _LEAST_QUOTED
        is_sure = is_mostly_quoted and len(longest.split()) >= _FEWEST_TO_CITE
        return (sentence,) if is_sure and (sentence := await self._with_words(longest)) else ()

    async def _with_words(self, words: str) -> Sentence | None:
        """The first sentence with these words in a row; after _MOST_LOOKED_UP lookups none."""
        self._make_keys()
        self._looked_up += 1
        if self._looked_up > _MOST_LOOKED_UP:
            return None
        for number, (key, sentence) in enumerate(self._by_key.items(), 1):
            self._words[key] = self._words.get(key) or _words(sentence.text)
            if words in self._words[key]:
                return sentence
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
        return None

    def _make_keys(self) -> None:
        for passage in self._without_keys:  # models that cite in their own way write no keys
            self._by_key.update((key_of(sentence), sentence) for sentence in passage.sentences)
        self._without_keys.clear()


def _is_from(words: str, sentence: Sentence) -> bool:
    """Whether a sentence has all these words, or these all of the sentence's."""
    written = _words(sentence.text)
    return words in written or written in words


def _words(text: str) -> str:
    """The words of a text, folded, with a space on both sides of each."""
    return f" {' '.join(map(fold, words_of(text)))} "


def opening_of(view: BookView) -> Callable[[str], Awaitable[Sentence | None]]:
    """Finds the opening sentence of a readable chapter by its key."""
    openings: dict[str, Sentence] = {}

    async def find(key: str) -> Sentence | None:
        if not openings:
            opening = [entry.opening for entry in await view.contents() if entry.opening]
            openings.update((key_of(sentence), sentence) for sentence in opening)
        return openings.get(key)

    return find


_PART = lazily(r"(?s:.{1,600}(?:(?<=[^\W\d_]{3}[.!?…])(?=\s)|(?<=[\n。！？])|\Z)|.{1,600}(?<=\s)|.{1,600})")
_STOP_OR_LINE = lazily(r"(?<=[.!?…])\s|\n|[。！？]")
_PART_OF_A_WHOLE = lazily(
    rf"(?:\0(?P<part>\d{{1,6}})|(?<!\d)(?P<before>\d{{1,6}}))\s{any_of('of_a_whole')}\s\0?(?P<whole>\d{{1,6}})(?!\d|[.,]\d)"
)
"""So many of so many; the number that is looked up begins at the NUL."""
_ALIKE = 3
"""Letters with which words of one stem begin alike."""
_BEHIND_ANOTHER = lazily(r"\d, \Z")
_NONE, _ANY = frozenset[str](), frozenset({""})
_Value: TypeAlias = tuple[int, bool]
"""A number, and whether it is a share."""


def parts_of(text: str) -> list[str]:
    """The parts of a text, to the end of a sentence if there is one: after each that is read, other tasks may run."""
    return _PART.findall(text)


class ToldBy(Enum):
    """Who has told a number."""

    BOOK = auto()
    READER = auto()
    TOOL = auto()


class KnownNumbers:
    """The numbers that the book, a reader or another tool has told, each with the words that stand beside it there."""

    def __init__(self) -> None:
        self._unread: list[tuple[str, ToldBy]] = []
        self._in_digits: dict[_Value, frozenset[str]] = {}
        self._in_words: dict[_Value, frozenset[str]] = {}
        self._values: dict[ToldBy, set[_Value]] = {who: set() for who in ToldBy}
        self._hours = set[tuple[int, int]]()
        self._words: defaultdict[str, set[str]] = defaultdict(set)

    def learn(self, text: str, who: ToldBy) -> None:
        """Add what somebody has told; it is read once a number is looked up."""
        self._unread += [(part, who) for part in parts_of(text)]

    async def read_for(self, text: str) -> None:
        """Read what was added, if this text has a number to look up; other tasks run in between."""
        if self._unread and LARGER_NUMBER.search(marked(as_seen(text).text)):
            for _ in self._reading():
                await asyncio.sleep(0)

    def _reading(self) -> Iterator[None]:
        """Read what was added, step by step."""
        while self._unread:
            yield from self._read(*self._unread.pop())

    def _read_all(self) -> None:
        for _ in self._reading():
            pass

    def speak_of_things(self, number: Number) -> bool:
        """Whether somebody has spoken of the things that the number counts, or has told as many of anything."""
        self._read_all()
        told = set.union(*self._values.values())
        is_told = bool(number.values) and {(value, False) for value in number.values} <= told
        return is_told or any(map(self._speak_of, _things_behind(number)))

    def _speak_of(self, thing: str) -> bool:
        """Whether a word with the same stem was told; only those that begin alike are compared, since few do."""
        alike = self._words.get(fold(thing)[:_ALIKE], _NONE)
        return not telling_words(thing).isdisjoint(map(stem_of, alike))

    def have(self, number: Number, *, is_page_asked: bool, pages: Set[int]) -> bool:
        """Whether somebody has told the number.

        Beside the same words it is that number. Without them it is one in prose, but not if it is one of the `pages`
        that passages come from, or where a reference might stand, such as in brackets: a book's "38 crowns" does not
        make "(38)" anything but a page. What a tool has told is one in prose alone.
        """
        self._read_all()
        if not number.is_one_of(pages) and self._is_part_of_a_told_whole(number):
            return True
        in_words = self._in_words if number.is_in_prose else {}
        values = [(value, number.is_share) for value in number.values]
        known = [self._in_digits.get(value, _NONE) | in_words.get(value, _NONE) for value in values]
        if is_page_asked:  # only with what it counts: much of the rest stands near the passage's numbers
            return bool(known) and all(_counted_by(number) & beside for beside in known)
        if known and all(known):
            company = _company_of(number)
            if not company or all(beside & (company | _ANY) for beside in known):
                return True
        hours = {*hours_in(number.written)}
        if hours and hours <= self._hours:
            return number.form != "open"
        return bool(number.values) and self._is_told_in_prose(number, pages)

    def _is_part_of_a_told_whole(self, number: Number) -> bool:
        """Whether it is a part of what the book counts: "17 of 22" behind "the 22 of our class". Of the pages of a
        book somebody else may tell how many there are.
        """
        found = _PART_OF_A_WHOLE.search(f"{number.left}\0{number.read}{number.right}")
        if not found or "\0" not in found[0]:
            return False
        part, whole = int(found["part"] or found["before"]), int(found["whole"])
        tellers = [who for who in ToldBy if (whole, False) in self._values[who]]
        return part <= whole and tellers == [ToldBy.BOOK]

    def _is_told_in_prose(self, number: Number, pages: Set[int]) -> bool:
        """Whether somebody has told it in other company, and it stands where no reference would."""
        is_inside = number.form == "" or not ENDS.match(number.right)
        told = set(self._values[ToldBy.TOOL]) if is_inside and number.form != "place" else set()
        if number.form in ("", "place") or is_inside or _BEHIND_ANOTHER.search(number.left):
            told |= self._values[ToldBy.BOOK] | self._values[ToldBy.READER]
        elif number.form in ("joint", "line"):
            told |= self._values[ToldBy.READER]
        is_told = all(
            (value, number.is_share) in told or (number.is_share and (value, False) in told) for value in number.values
        )
        return is_told and not number.is_one_of(pages)

    def _read(self, text: str, who: ToldBy) -> Iterator[None]:
        """Read a part, number by number: every other character may be one."""
        yield
        for word in words_of(fold(text)):
            self._words[word[:_ALIKE]].add(word)
        self._hours.update(hours_in(text))
        is_book = who is ToldBy.BOOK
        for value, is_spelt, is_plain, words in _numbers_in_company(without_typed_pages(text), is_book):
            self._values[who].add(value)
            if who is not ToldBy.TOOL and not is_spelt and (is_book or is_plain):
                self._in_digits[value] = self._in_digits.get(value, _NONE) | words
            if who is ToldBy.READER or (is_book and is_spelt):
                self._in_words[value] = self._in_words.get(value, _NONE) | (words if is_book else _ANY)
            yield


def _numbers_in_company(text: str, is_given: bool) -> Iterator[tuple[_Value, bool, bool, frozenset[str]]]:
    """The numbers in a text, whether they are in words, whether no reference could stand there, and the telling words
    of their sentences; without places in a book that the book does not tell of itself.
    """
    for sentence in (text[start:end] for start, end in split_sentences(text)):
        company: frozenset[str] | None = None
        for number in numbers_of(as_seen(sentence), sentence):
            if number.is_placed and not is_given:
                continue
            company = telling_words(sentence) if company is None else company
            words = company | _counted_by(number)
            yield from (((v, number.is_share), not number.is_decimal, not number.form, words) for v in number.values)


def _company_of(number: Number) -> frozenset[str]:
    """The telling words of its sentence; if there are none, of what stands beside it."""
    sentence = f"{_STOP_OR_LINE.split(number.before)[-1]} {_STOP_OR_LINE.split(number.after)[0]}"
    return telling_words(sentence) or telling_words(number.after) or telling_words(number.before)


def _counted_by(number: Number) -> frozenset[str]:
    """The word after a number, marked as such."""
    return frozenset(f">{word}" for word in telling_words(number.next_word))


def _things_behind(number: Number) -> list[str]:
    """Words in the plural that follow on a number, among the next three: what it may count. "217 covers the wall"."""
    words = _NEXT_WORDS.match(number.after)
    if words is None or context.VERB_AND_OBJECT.match(number.words_after):
        return []
    nouns = enumerate(takewhile(lambda word: fold_letters(word) not in context.COUNTED_BY_NOTHING, words[0].split()))
    return [word for at, word in nouns if context.PLURAL.search(word) and (word.isascii() or at == 0)]

"""What a model was given and what readers said, by which an answer is checked: its sentences and its numbers."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from domain.book import Passage, Sentence
from domain.citations.keys import as_seen, key_of
from domain.citations.numbers import Number, numbers_of
from domain.citations.page_numbers import without_typed_pages
from domain.citations.symbols import LARGER_NUMBER, marked, telling_words
from domain.library.search.sentences import split_sentences
from domain.library.search.words import fold, words_of
from domain.ports import BookView

_MOST_LOOKED_UP = 40
"""Quotations per answer that are looked for among all given sentences, which may be thousands."""
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


_PART = re.compile(r"(?s:.{1,600}(?:(?<=[^\W\d_]{3}[.!?…])(?=\s)|(?<=[\n。！？])|\Z)|.{1,600}(?<=\s)|.{1,600})")
_STOP_OR_LINE = re.compile(r"(?<=[.!?…])\s|\n|[。！？]")
_NONE, _ANY = frozenset[str](), frozenset({""})


def parts_of(text: str) -> list[str]:
    """The parts of a text, to the end of a sentence if there is one: after each that is read, other tasks may run."""
    return _PART.findall(text)


class KnownNumbers:
    """The numbers that the book or a reader has told, each with the words that stand beside it there."""

    def __init__(self) -> None:
        self._unread: list[tuple[str, bool]] = []
        self._in_digits: dict[tuple[int, bool], frozenset[str]] = {}
        self._in_words: dict[tuple[int, bool], frozenset[str]] = {}

    def learn(self, text: str, *, is_given: bool) -> None:
        """Add what the model was given of the book, or a title or a reader's words; read once a number is looked up."""
        self._unread += [(part, is_given) for part in parts_of(text)]

    async def read_for(self, text: str) -> None:
        """Read what was added, if this text has a number to look up; other tasks run in between."""
        if self._unread and LARGER_NUMBER.search(marked(as_seen(text).text)):
            while self._unread:
                for _ in self._read(*self._unread.pop()):
                    await asyncio.sleep(0)

    def have(self, number: Number, *, is_page_asked: bool) -> bool:
        """Whether the book or a reader has the number in digits beside a word that is here too, or in prose the book
        in words or a reader at all: a book's "38 crowns" does not make "(38)" anything but a page.
        """
        while self._unread:
            for _ in self._read(*self._unread.pop()):
                pass
        sentence = f"{_STOP_OR_LINE.split(number.before)[-1]} {_STOP_OR_LINE.split(number.after)[0]}"
        company = telling_words(sentence) or telling_words(number.after) or telling_words(number.before)
        in_words = self._in_words if number.is_in_prose else {}
        values = [(value, number.is_share) for value in number.values]
        known = [self._in_digits.get(value, _NONE) | in_words.get(value, _NONE) for value in values]
        if is_page_asked:  # only with what it counts: much of the rest stands near the passage's numbers
            return bool(known) and all(_counted_by(number) & beside for beside in known)
        return bool(known) and all(beside & (company | _ANY) if company else beside for beside in known)

    def _read(self, text: str, is_given: bool) -> Iterator[None]:
        """Read a part, number by number: every other character may be one."""
        yield
        for value, is_spelt, is_plain, words in _numbers_in_company(without_typed_pages(text), is_given):
            if not is_spelt and (is_given or is_plain):
                self._in_digits[value] = self._in_digits.get(value, _NONE) | words
            if is_spelt or not is_given:
                self._in_words[value] = self._in_words.get(value, _NONE) | (words if is_given else _ANY)
            yield


def _numbers_in_company(text: str, is_given: bool) -> Iterator[tuple[tuple[int, bool], bool, bool, frozenset[str]]]:
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


def _counted_by(number: Number) -> frozenset[str]:
    """The word after a number, marked as such."""
    return frozenset(f">{word}" for word in telling_words(number.next_word))

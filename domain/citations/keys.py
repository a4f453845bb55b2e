"""Sentence keys, by which a model points at sentences; how a text reads without them, and what only points."""

import asyncio
import hashlib
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from domain.book import Passage, Sentence
from domain.library.numerals import SEE, SOURCE
from domain.library.search.sentences import split_sentences
from domain.library.search.words import Seen, fold, seen_without, words_of
from domain.ports import BookView

_DIGITS = 7

KEY = r"s-[0-9a-f]{4,12}"
"""A key of any length that a model might invent, so that a mistyped key is recognised and removed."""

_LIKE_A_KEY = r"[sS] ?[-‐‑–] ?[0-9a-fA-F]{4,16}+(?!\w)"
_BARE_KEY = rf"(?<![\w-])s-[0-9a-f]{{{_DIGITS}}}(?![\w-])"
_AND = r"\s*+[,;&]\s*+"
_NOTE = r"\[[^\[\]\n]{0,80} · \d{4}-\d\d-\d\d\]"
_PASSAGE = r"passage-\d{1,9}[-–/]\d{1,9}"
_KEY_FORMS = (
    rf"[\[【]{{1,2}}(?:[^\[\]【】\n]{{0,40}}?[^\w\[\]【】\n-])??{_LIKE_A_KEY}[^\[\]【】\n]{{0,60}}+[\]】]{{1,2}}",
    r"\[s-(?:[a-z]*+\d\w{0,20}+)?\]",
    rf"[(（{{<]\s*+(?:[^\W\d]{{2,9}}+[:.]? )?\[?{_LIKE_A_KEY}(?:{_AND}{_LIKE_A_KEY})*+\]?\s*+[)）}}>]",
    rf"[\[(](?:[^()\[\]\n]{{0,80}}? )?{_PASSAGE}[\])]|(?<![\w-]){_PASSAGE}(?:{_AND}{_PASSAGE})*+(?![\w-])",
    rf"{_NOTE}|[*_]{_NOTE}[*_]|\*\*{_NOTE}\*\*",
    rf"[\[`^]?{_BARE_KEY}(?:{_AND}{_BARE_KEY})*+[\]`]?",
)

KEY_IN_GROUP = re.compile(KEY)
KEY_GROUP = re.compile(rf"(?:(?:(?<!\s)\s++)?(?:{'|'.join(_KEY_FORMS)}))+")
"""Keys in a row, in brackets with whatever stands beside them there, or as small models write them, without brackets;
names of passages, which are no citation; the line in front of a reader's message; all with the white space before
them, which is looked through once.
"""
UNFINISHED = re.compile(
    r"(?=[\s\[【({<`^sp])(?:(?:\s*+(?:[\[【][^\]\n]{0,80}+(?:\]\([^()\s]{0,200}+\)?+|\]?+)|[({<][^()\n]{0,60}+\)?+))++\s*+\Z"
    r"|\s*+[`^]?(?<![\w-])(?:s(?:-[0-9a-f]{0,7}+`?)?|passage[\d-]{0,20}+)\Z|\s++\Z)"
)
"""A tail that may still become keys, links or page references in brackets, or the blank before them.

The pattern never backtracks: a model that writes a hundred brackets must not delay everybody.
"""

_DASH = re.compile("[-‐‑–]")


def key_groups(text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
    """The keys in a text, in groups; every key has a dash, and most texts have none."""
    return KEY_GROUP.finditer(text, start, end) if _DASH.search(text, start, end) else iter(())


def key_of(sentence: Sentence) -> str:
    """The key of a sentence, always the same: s-7f3a2c1."""
    place = f"{sentence.start}-{sentence.end}".encode()
    return f"s-{hashlib.blake2s(place).hexdigest()[:_DIGITS]}"


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


_MOST_LOOKED_UP = 40
"""Quotations per answer that are looked for among all given sentences, which may be thousands."""
_AT_ONCE = 32
"""Sentences that are compared before other tasks run."""
_FEWEST_QUOTED = 3
"""Words; fewer stand in too many sentences."""
_FEWEST_TO_CITE, _LEAST_QUOTED = 5, 0.6
"""Words, and the share of a sentence, that are quoted where no key says that it is about them."""


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


def render(passages: Sequence[Passage]) -> str:
    """Passages as text, with each sentence's key in front of it."""
    return "\n\n".join(_render_one(passage) for passage in passages)


def _render_one(passage: Passage) -> str:
    heading = " · ".join(part for part in (passage.chapter, passage.source) if part)
    sentences = " ".join(f"[{key_of(sentence)}] {' '.join(sentence.text.split())}" for sentence in passage.sentences)
    return f"({heading})\n{sentences}"


LINK_INTO_A_BOOK = re.compile(
    r"(\[[^\[\]\n]{0,80}\])\((?:(?!https?://)|(?=[^()\s]{0,200}p(?:age|g)?[=/_-]?\d))[^()\s]{0,200}\d[^()\s]{0,200}\)",
    re.IGNORECASE,
)
"""A link that leads to a page, with its label in brackets as the group."""
RAISED = re.compile(
    r"\s?<(su[pb]|ref|cite|page|source)>[^\w<]{0,3}\d{1,4}[^\w<]{0,3}</(?:su[pb]|ref|cite|page|source)>", re.IGNORECASE
)


def as_seen(text: str) -> Seen:
    """The text as a person reads it, in which keys do not separate a word from its number."""
    return seen_without(KEY_GROUP, text)


_POINTS = re.compile(
    r"(?:(?:(?<=[.!?…])|(?<=[.!?…][\"”’»)\]*_]))\s+|(?<=\n))(?P<whole>(?:(?<=\n)[ \t]*(?:[-*•+–—>]|\d+[.)])\s+)?\W{0,3}"
    rf"(?:(?:{SEE}|{SOURCE})[\s:.]+){{0,4}}(?:the\s)?)\Z"
)
_AND_ENDS = re.compile(
    r"(?:\s(?:for|fur|pour)(?:\s(?:the|all|more|further|full|weitere|mehr))*"
    r"(?:\s(?:details?|information|infos?|context|passage|scene|text|quote|this|it|einzelheiten))?)?"
    r"(?:[.!…]+[)\]*_]*(?=\s|\Z)|(?<=f\.)(?=\s)|[)\]*_]*(?=[^\S\n]*(?:\n|\Z)))(?P<line>[ \t]*\n+)?"
)
_LONGEST, _LONGEST_LEAD = 40, 60
"""Characters of a key, and of a sentence before its reference."""


def _sentence_of_reference(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a sentence or line that says nothing but the reference at this span, such as "See p. 42."; None if
    it says more, or if nothing stands before it. `text` is folded, as people read it.
    """
    leads = _POINTS.search(text, max(start - _LONGEST_LEAD, 0), start)
    ends = _AND_ENDS.match(text, end) if leads else None
    if not leads or not ends or not text[: leads.start()].strip():
        return None
    first, last = leads.start("whole"), ends.end()
    before = text[max(first - 2, 0) : first]
    is_line = before.endswith("\n")
    if ends["line"] and before != "\n\n":
        last -= ends["line"].count("\n") - is_line
    return (first if is_line else leads.start()), last


def pointer_at(seen: Seen, written: str, span: tuple[int, int], at: int) -> tuple[int, int, str] | None:
    """How a sentence goes that says nothing but a reference, unless it began before `at` or has a key."""
    sentence = _sentence_of_reference(seen.text, *span)
    if not sentence or seen.starts[sentence[0]] < at:
        return None
    end = seen.ends[sentence[1] - 1]
    keys = key_groups(written, seen.starts[sentence[0]], end + _LONGEST)
    return None if any(key.start() <= end for key in keys) else (*sentence, "")

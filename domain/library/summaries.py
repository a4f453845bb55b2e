"""Chapter summaries, written by the model on demand and kept: they answer questions about a whole book.

A summary depends on nothing after its own chapter, so it can be shown to everybody who has read that far. The request
that makes it contains only the chapter and not even the book's name; sentences about later chapters are removed all
the same. Without a summary, the chapter's most telling sentences take its place.
"""

import asyncio
import contextlib
import json
import logging
import math
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import dropwhile
from typing import Any
from weakref import WeakValueDictionary

from domain.book import ContentsEntry, DerivedText, Sentence
from domain.chat import Prompts
from domain.citations.keys import KEY_GROUP, KEY_IN_GROUP, key_of
from domain.errors import LLMError
from domain.library.addressing import is_matter
from domain.library.search.sentences import split_sentences
from domain.library.search.words import STOP_WORDS, length_in_words, stem_of, words_of
from domain.ports import BookView, Clock, DerivedTextRepository
from domain.spoilers.detector import SpoilerChecks

logger = logging.getLogger(__name__)

FEWEST_WORDS, MOST_WORDS = 7, 45
"""Shorter sentences are headings and exclamations, longer ones are no excerpts."""

FEWEST_NAMES, MOST_CAPITALS = 4, 0.75
"""Words of a line in a list of characters, and the share of words with a capital above which it may be one."""

SPEECH = 0.5
"""The weight of a sentence of speech relative to a narrating one: talk is seldom what happens."""

LENGTH_POWER = 0.3
"""Long sentences have more of everything; dividing by this power of their length makes them comparable
to short ones.
"""

_SHORTEST_STEM = 3
_SPEECH_MARKS = frozenset('"“”«»„「」')

PIECE_WORDS = 6_000
"""Words in a piece: most chapters are one. About 9,000 tokens with the keys of the sentences."""

FEWEST_OF_A_STORY = 30
"""Words of a chapter that is more than a title page or a motto."""

FRONT_WORDS = 300
"""Words; a longer text before the first chapter is a prologue rather than a title page."""

KIND = "summary"
AT_ONCE = 4
"""Concurrent requests to the model."""
MOST_PER_TURN = 16
"""Summaries written for one answer: some 150,000 tokens. Longer books take more than one question, once."""
SHORTEST = 120
"""Words; a shorter piece is no longer than its summary would be."""
UNCOVERED = 400
"""Words the current chapter may grow by before its summary is rewritten; until then they are quoted."""
TELLING = 3


def opening_of(sentences: Sequence[Sentence]) -> Sentence | None:
    """The first sentence that is more than a heading."""
    return next((sentence for sentence in sentences if _is_fit(words_of(sentence.text))), None)


def salient_sentences(sentences: Sequence[Sentence], count: int) -> list[Sentence]:
    """The opening and the sentences whose words are most frequent in the whole, in order."""
    opening = opening_of(sentences)
    if opening is None or count < 1:
        return []
    stems = {sentence: _stems(sentence) for sentence in sentences}
    weights = _in_how_many(stems.values())
    del stems[opening]
    return sorted([opening, *_heaviest(stems, count - 1, weights)], key=lambda sentence: sentence.start)


def weights_of(sentences: Iterable[Sentence]) -> Counter[str]:
    """The number of sentences each word occurs in, by stem."""
    return _in_how_many(map(_stems, sentences))


def most_salient(sentences: Iterable[Sentence], count: int, weights: Counter[str]) -> list[Sentence]:
    """The sentences whose words weigh most, in order; headings and exclamations are excluded."""
    stems = {sentence: _stems(sentence) for sentence in sentences}
    return sorted(_heaviest(stems, count, weights), key=lambda sentence: sentence.start)


def _in_how_many(stems: Iterable[Sequence[str]]) -> Counter[str]:
    return Counter(stem for each in stems for stem in set(each))


def _heaviest(stems: Mapping[Sentence, Sequence[str]], count: int, weights: Counter[str]) -> list[Sentence]:
    fit = [sentence for sentence in stems if _is_fit(words_of(sentence.text))]
    return sorted(fit, key=lambda each: -_weight(stems[each], weights) * (SPEECH if _is_speech(each) else 1))[:count]


def _weight(stems: Sequence[str], weights: Counter[str]) -> float:
    return sum(weights[stem] for stem in set(stems)) / math.pow(len(stems) or 1, LENGTH_POWER)


def _stems(sentence: Sentence) -> list[str]:
    words = (word for word in words_of(sentence.text) if word.casefold() not in STOP_WORDS)
    return [stem for word in words if len(stem := stem_of(word)) >= _SHORTEST_STEM or not stem.isascii()]


def _is_speech(sentence: Sentence) -> bool:
    return not _SPEECH_MARKS.isdisjoint(sentence.text)


def _is_fit(words: Sequence[str]) -> bool:
    return FEWEST_WORDS <= len(words) <= MOST_WORDS and not is_of_names(words)


def is_of_names(words: Sequence[str]) -> bool:
    """Whether these words are a heading, or a line of a list of characters ("Lane: Mr. F. Kinsey Peile.")."""
    capitals = sum(word[0].isupper() for word in words)
    return len(words) >= FEWEST_NAMES and capitals > MOST_CAPITALS * len(words)


@dataclass(frozen=True, slots=True)
class ChapterPart:
    """A stretch of a chapter. `last`: no part of the chapter that has been read follows.

    A piece that is not the last stays the same, however far anybody reads on.
    """

    chapter: int
    title: str
    number: int
    sentences: tuple[Sentence, ...] = field(repr=False)
    words: int
    last: bool
    is_counted: bool = True
    """Whether the chapter is known by its position in a book that prints no numbers."""

    @property
    def key(self) -> str:
        """The name of the piece in its book: "3", or "3.2" for a second piece.

        If the book prints numbers the key includes the offset: versions without printed numbers counted chapters
        differently.
        """
        chapter = str(self.chapter) if self.is_counted else f"{self.chapter}@{self.sentences[0].start}"
        return chapter if self.number == 1 else f"{chapter}.{self.number}"

    @property
    def end(self) -> int:
        return self.sentences[-1].end

    def after(self, offset: int) -> tuple[Sentence, ...]:
        """Its sentences from an offset on."""
        return tuple(sentence for sentence in self.sentences if sentence.start >= offset)


async def chapter_parts(view: BookView, chapter: int | None = None) -> list[ChapterPart]:
    """All pieces of the story as far as it has been read, or of one chapter, which may be front or back matter.

    Raises:
        BookError: NOT_FOUND, the chapter has not been reached.
    """
    entries = {entry.number: entry for entry in await view.contents()}
    pieces_of = partial(_pieces, view, entries, is_counted=all(entry.is_counted for entry in entries.values()))
    if chapter is not None:
        return await pieces_of(chapter)
    story = _story(list(entries.values()))
    pieces = [piece for entry in story for piece in await pieces_of(entry.number)]
    if len(entries) > 1:  # what stands before the first of several chapters is title page and contents: no story
        return pieces
    front = await pieces_of(0) if view.read_to else []
    return pieces if entries and sum(piece.words for piece in front) < FRONT_WORDS else front + pieces


def story_start(entries: Sequence[ContentsEntry]) -> int:
    """Where the first chapter of the story begins, behind a title page, contents and preface; 0 without chapters."""
    return _story(entries)[0].start if entries else 0


def _story(entries: Sequence[ContentsEntry]) -> Sequence[ContentsEntry]:
    """The chapters without those before and behind the story; all of them if nothing else remains.

    The first ones may be no more than a title: that of a half-title page, or of a part.
    """

    def begins(each: ContentsEntry) -> bool:
        return not is_matter(each.title) and each.words > len(words_of(each.title))

    begun = list(dropwhile(lambda each: not begins(each), entries))
    while begun and is_matter(begun[-1].title):
        begun.pop()
    return begun or entries


async def _pieces(
    view: BookView, entries: Mapping[int, ContentsEntry], chapter: int, *, is_counted: bool
) -> list[ChapterPart]:
    passage = await view.read_chapter(chapter)
    cuts = await asyncio.to_thread(lambda: list(_cut(passage.sentences)))
    return [
        ChapterPart(
            chapter,
            entries[chapter].title if chapter in entries else "",
            number,
            cut,
            words,
            number == len(cuts),
            is_counted=is_counted,
        )
        for number, (cut, words) in enumerate(cuts, start=1)
    ]


def _cut(sentences: Sequence[Sentence]) -> Iterator[tuple[tuple[Sentence, ...], int]]:
    """Pieces and their numbers of words. The end of a piece depends only on the text before it."""
    piece: list[Sentence] = []
    total = 0
    for sentence in sentences:
        words = length_in_words(sentence.text)
        if piece and total + words > PIECE_WORDS:
            yield tuple(piece), total
            piece, total = [], 0
        piece.append(sentence)
        total += words
    if piece:
        yield tuple(piece), total


Ask = Callable[[str], Awaitable[str]]
"""Asks the model one question outside the talk, and returns its answer. Raises LLMError."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The digest of a piece of a chapter. `summary` is empty if none could be written.

    `telling` are sentences it rests on, `uncovered` those after the part that the summary covers.
    """

    piece: ChapterPart
    summary: str
    telling: tuple[Sentence, ...]
    uncovered: tuple[Sentence, ...] = ()


class ChapterSummaries:
    """Writes and keeps summaries. `seconds` is the time for writing within one tool call."""

    def __init__(
        self,
        *,
        texts: DerivedTextRepository,
        prompts: Prompts,
        spoilers: SpoilerChecks,
        clock: Clock,
        model: str,
        seconds: float,
    ) -> None:
        self._texts = texts
        self._prompt = prompts.summary
        self._spoilers = spoilers
        self._clock = clock
        self._model = model
        self._seconds = seconds
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    def of(self, view: BookView, ask: Ask) -> "Chronicle":
        """The summaries for one turn."""
        return Chronicle(self, view, ask, self._seconds)

    async def kept(self, view: BookView, piece: ChapterPart) -> Digest | None:
        """The summary of a piece, if a kept one covers (nearly) all of it and nothing more."""
        kept = await self._texts.get(view.book.id, KIND, piece.key, piece.end)
        if kept is None:
            return None
        uncovered = piece.after(kept.depends_to)
        if uncovered and (not piece.last or sum(len(s.text.split()) for s in uncovered) > UNCOVERED):
            return None
        return _digest(piece, kept.text, uncovered)

    async def write(self, view: BookView, piece: ChapterPart, ask: Ask) -> Digest | None:
        """Write a summary and keep it; None if the model wrote nothing that could be kept.

        Raises:
            LLMError: the model could not be asked.
        """
        async with self._locks.setdefault((view.book.id, piece.key), asyncio.Lock()):
            if kept := await self.kept(view, piece):
                return kept
            reply = await ask(self._request(piece))
            summary = await self._without_leaks(view, piece, " ".join(KEY_GROUP.sub("", reply).split()))
            if not summary:
                return None
            given = {key_of(sentence): [sentence.start, sentence.end] for sentence in piece.sentences}
            spans = [given[key] for key in dict.fromkeys(KEY_IN_GROUP.findall(reply)) if key in given]
            text = json.dumps({"summary": summary, "spans": spans[:TELLING]}, ensure_ascii=False)
            await self._texts.put(
                DerivedText(view.book.id, KIND, piece.key, piece.end, text, self._model, self._clock())
            )
            return _digest(piece, text, ())

    def _request(self, piece: ChapterPart) -> str:
        sentences = "\n".join(f"[{key_of(sentence)}] {' '.join(sentence.text.split())}" for sentence in piece.sentences)
        return self._prompt.substitute(words=_length_for(piece.words), sentences=sentences)

    async def _without_leaks(self, view: BookView, piece: ChapterPart, summary: str) -> str:
        """The summary without sentences about what comes only after the piece."""
        tells = self._spoilers.check(view.book, piece.end)
        sentences = [summary[start:end] for start, end in split_sentences(summary)]
        return " ".join([each for each in sentences if tells is None or not await tells(each)])


class Chronicle:
    """The part that has been read, chapter by chapter, for one turn, which writes at most MOST_PER_TURN summaries."""

    def __init__(self, summaries: ChapterSummaries, view: BookView, ask: Ask, seconds: float) -> None:
        self._summaries = summaries
        self._view = view
        self._ask = ask
        self._seconds = seconds
        self._may_write = MOST_PER_TURN

    async def digests(self, chapter: int | None = None, *, since: int = 0) -> list[Digest]:
        """Digests of everything that has been read from an offset on, or of one chapter.

        Raises:
            BookError: NOT_FOUND, the chapter has not been reached.
        """
        pieces = [piece for piece in await chapter_parts(self._view, chapter) if piece.end > since]
        found: dict[str, Digest | None] = {}
        for piece in pieces:
            found[piece.key] = await self._summaries.kept(self._view, piece)
        missing = [piece for piece in reversed(pieces) if found[piece.key] is None and piece.words > SHORTEST]
        chosen, self._may_write = missing[: self._may_write], max(self._may_write - len(missing), 0)
        found |= await self._written(chosen)
        return [await _or_extract(found[piece.key], piece) for piece in pieces]

    async def _written(self, pieces: Iterable[ChapterPart]) -> dict[str, Digest | None]:
        """As many as the time allows, the latest chapters first; after a failure of the model none is tried."""
        done: dict[str, Digest | None] = {}
        waiting = deque(pieces)

        async def work() -> None:
            while waiting:
                piece = waiting.popleft()
                try:
                    done[piece.key] = await self._summaries.write(self._view, piece, self._ask)
                except LLMError as error:
                    logger.warning("a summary could not be written: %s", error.message)
                    waiting.clear()

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return done


async def extracts(view: BookView, chapter: int | None = None) -> list[Digest]:
    """What can be told without a model: telling sentences of everything that has been read, or of one chapter.

    Raises:
        BookError: NOT_FOUND, the chapter has not been reached.
    """
    return [await asyncio.to_thread(extract, piece) for piece in await chapter_parts(view, chapter)]


async def _or_extract(digest: Digest | None, piece: ChapterPart) -> Digest:
    return digest if digest else await asyncio.to_thread(extract, piece)


def extract(piece: ChapterPart) -> Digest:
    """A digest without a summary: the most telling sentences, or all of a short piece."""
    if piece.words <= SHORTEST:
        return Digest(piece, "", piece.sentences)
    return Digest(piece, "", tuple(salient_sentences(piece.sentences, TELLING)))


def _digest(piece: ChapterPart, text: str, uncovered: tuple[Sentence, ...]) -> Digest:
    kept: dict[str, Any] = json.loads(text)
    spans = {(start, end) for start, end in kept["spans"]}
    telling = tuple(sentence for sentence in piece.sentences if (sentence.start, sentence.end) in spans)
    return Digest(piece, kept["summary"], telling or extract(piece).telling, uncovered)


def _length_for(words: int) -> int:
    """The length of a summary, in words, for a piece of so many words."""
    return min(max(words // 25 // 10 * 10, 40), 150)

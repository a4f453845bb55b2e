"""The use cases of reading together: recaps, portraits and questions, with or without a model.

A model is given sentences of the book with their keys, and only those of its lines are kept that cite one of them and
reveal nothing. If there is no model, or no line is kept, the book's own sentences are shown.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from domain.book import Book, Citation, Passage, Sentence, Surroundings
from domain.chat import PromptKind, Prompts
from domain.citations.keys import KEY_GROUP, KEY_IN_GROUP, in_language, key_of
from domain.citations.resolver import compose
from domain.errors import BookError, LLMError, LLMErrorCode, Say, in_english
from domain.library.summaries import ChapterSummaries, Digest, chapter_parts
from domain.ports import BookFiles, BookView, ChatProvider
from domain.reading.portrait import MetNames, Portrait, portrait_text, portray, sentences_about
from domain.reading.questions import (
    MOST_QUESTIONS,
    OPENING,
    DiscussionKind,
    DiscussionQuestion,
    FirstQuestion,
    first_questions,
    questions,
    questions_text,
    story_start,
)
from domain.reading.recap import (
    is_fit,
    offset_of,
    recap,
    recap_text,
    stretch_of,
    telling_sentences,
)
from domain.spoilers.detector import SpoilerChecks
from domain.spoilers.filter import has_hidden
from domain.tool_use import RequestUsage, TextChunk
from domain.turn.quota import Quota, UsageMeter, complete_once

RECAP_WORDS = 250
SENTENCES_SHOWN = 120
"""Sentences given to a model to write from: some 4,000 words."""

FEWEST_LINES = 2
"""Lines a recap needs at least: for less, a chapter or two of the book's own sentences say more."""

LATELY = 3
"""Chapters to talk about if nobody names any."""

OF_THE_BOOK = "the language of the text"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who wants to know: the person whose tokens the model uses, and the language ("German"; the text's own, if
    empty).
    """

    reader_id: str = ""
    guild_id: str | None = None
    language: str = ""
    say: Say = in_english


@dataclass(frozen=True, slots=True)
class Told:
    """The result, in Markdown with page references; `citations` are in order.

    `text` is empty if nothing has been read, or nothing about that name. `trouble` says why no model wrote it, if one
    should have.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    trouble: LLMError | None = None


@dataclass(frozen=True, slots=True)
class Discussion:
    """Questions to discuss, in the order of the book. `trouble` is that of Told."""

    questions: tuple[DiscussionQuestion, ...]
    trouble: LLMError | None = None

    def text(self, say: Say = in_english) -> str:
        """The questions in Markdown, each with its quotation and page."""
        return questions_text(self.questions, say)


class ReadingWriter:
    """Has the model write. `seconds` is the time for one piece of writing, summaries included."""

    def __init__(
        self,
        *,
        provider: ChatProvider,
        prompts: Prompts,
        summaries: ChapterSummaries,
        spoilers: SpoilerChecks,
        meter: UsageMeter,
        quota: Quota,
        seconds: float,
    ) -> None:
        self._provider = provider
        self._prompts = prompts
        self._summaries = summaries
        self._spoilers = spoilers
        self._meter = meter
        self._quota = quota
        self._seconds = seconds

    async def recap(self, view: BookView, since: int, asker: Asker) -> Told:
        """What has happened so far.

        Raises:
            LLMError: the model failed, or nothing it wrote could be kept.
        """
        async with self._in_time(asker):
            digests = await self._summaries.of(view, self._ask(asker)).digests(since=since)
            given = [each for digest in digests for each in _shown(digest, since)]
            story = "\n\n".join(_chapter(digest, since) for digest in digests)
            prompt = self._prompts.recap.substitute(words=RECAP_WORDS, language=_language(asker), story=story)
            return await self._lines(view, given, await self._ask(asker)(prompt), FEWEST_LINES, asker.say)

    async def portrait(self, view: BookView, portrait: Portrait, asker: Asker) -> Told:
        """Who somebody is.

        Raises:
            LLMError: as `recap`.
        """
        async with self._in_time(asker):
            about = (await sentences_about(view, portrait.name)).get(portrait.name, [])
            chosen = await asyncio.to_thread(_some_of, about, {each.start for each in portrait.citations})
            prompt = self._prompts.portrait.substitute(
                name=portrait.name, language=_language(asker), sentences=_keyed(chosen)
            )
            return await self._lines(view, chosen, await self._ask(asker)(prompt), 1, asker.say)

    async def questions(self, view: BookView, since: int, count: int, asker: Asker) -> list[DiscussionQuestion]:
        """Questions to discuss.

        Raises:
            LLMError: as `recap`.
        """
        async with self._in_time(asker):
            parts = [part for part in await chapter_parts(view) if part.end > since]
            fit = [each for part in parts for each in part.after(since) if is_fit(each)]
            chosen = await asyncio.to_thread(telling_sentences, fit, SENTENCES_SHOWN)
            prompt = self._prompts.discussion.substitute(
                count=count, language=_language(asker), sentences=_keyed(chosen)
            )
            reply = await self._ask(asker)(prompt)
            by_key = {key_of(each): each for each in chosen}
            lines = reply.split("\n")
            written = [each for line in lines if (each := await self._question(view, by_key, line, asker.say))]
            different = {each.citations[0].start: each for each in reversed(written)}
            kept = sorted(different.values(), key=lambda each: each.citations[0].start)[:count]
            if len(kept) < min(count, FEWEST_LINES):
                raise _unusable()
            return kept

    async def _question(
        self, view: BookView, by_key: dict[str, Sentence], line: str, say: Say
    ) -> DiscussionQuestion | None:
        """The question in a line, if it cites a given sentence and reveals nothing."""
        sentence = next((by_key[key] for key in KEY_IN_GROUP.findall(line) if key in by_key), None)
        if sentence is None:
            return None
        text, cited = await self._composed(view, [sentence], KEY_GROUP.sub("", line))
        citation = await view.cite(sentence.start, sentence.end)
        plain = text.removesuffix(f" ({citation.reference})").strip().lstrip("-*0123456789.) ").strip("* ")
        plain = in_language(plain, cited, say)
        return DiscussionQuestion(DiscussionKind.WRITTEN, (citation,), text=plain) if plain else None

    async def _lines(self, view: BookView, given: Sequence[Sentence], reply: str, fewest: int, say: Say) -> Told:
        """The lines of a reply that cite given sentences, with their pages.

        Raises:
            LLMError: EMPTY_REPLY, there are too few.
        """
        texts: list[str] = []
        cited: dict[Citation, None] = {}
        for line in reply.split("\n"):
            text, citations = await self._composed(view, given, line.strip().lstrip("-*• "))
            if text and citations:
                texts.append(in_language(text, citations, say))
                cited.update(dict.fromkeys(citations))
        if len(texts) < min(fewest, len(given)) or not texts:
            raise _unusable()
        return Told("\n\n".join(texts), tuple(sorted(cited, key=lambda each: each.start)))

    async def _composed(self, view: BookView, given: Sequence[Sentence], line: str) -> tuple[str, Sequence[Citation]]:
        """A line with its keys resolved; empty if it reveals what is beyond the bound."""
        answer = compose(view.book, view, (), self._spoilers.check(view.book, view.read_to, view.book.title))
        answer.learn([_passage(each) for each in given])
        await answer.follow(TextChunk(line))
        await answer.finish()
        return ("", ()) if has_hidden(answer.text) else (answer.text.strip(), answer.citations)

    def _ask(self, asker: Asker) -> Callable[[str], Awaitable[str]]:
        return partial(complete_once, self._provider, partial(self._spent, asker), kind=PromptKind.SUMMARY)

    async def _spent(self, asker: Asker, spent: RequestUsage) -> None:
        await self._meter.book(spent, asker.reader_id, asker.guild_id)

    def _in_time(self, asker: Asker) -> "_Limits":
        return _Limits(self._quota, asker, self._seconds)


class _Limits:
    """Limits a block of model work to a person's daily tokens and the time available.

    Raises:
        LLMError: DAILY_LIMIT, SERVER_LIMIT, TURN_LIMIT, TIMEOUT.
    """

    def __init__(self, quota: Quota, asker: Asker, seconds: float) -> None:
        self._quota = quota
        self._asker = asker
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        try:
            counts = self._asker.reader_id.isdecimal()  # nothing is counted in the terminal
            await self._quota.check_writing(self._asker.reader_id, self._asker.guild_id, counts=counts)
        except LLMError as error:  # its sentence would speak of a stored question
            too_fast = error.code is LLMErrorCode.TURN_LIMIT
            why = "You've asked a lot within a minute." if too_fast else "The day's tokens are used up."
            raise LLMError(LLMErrorCode(error.code), why) from error
        await self._timeout.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        try:
            await self._timeout.__aexit__(*error)  # type: ignore[arg-type]
        except TimeoutError as late:
            raise LLMError(LLMErrorCode.TIMEOUT, "The model took too long.") from late


class ReadingCompanion:
    """Tells people about what they have read: always up to an offset, `read_to`, and nothing beyond.

    `writer` is None if no model writes.
    """

    def __init__(self, *, files: BookFiles, writer: ReadingWriter | None) -> None:
        self._files = files
        self._writer = writer
        self._names = MetNames()

    async def recap(self, book: Book, read_to: int, since: str | int = 0, asker: Asker = Asker()) -> Told:
        """What has happened since a place: an offset, or a chapter or page as somebody names it.

        Raises:
            BookError: NOT_FOUND, there is no such place in the part that has been read; INVALID_STATE, the file is
            gone.
        """
        view = await self._view(book, read_to)
        start = await offset_of(view, since) if isinstance(since, str) else since
        trouble = None
        if self._writer and await chapter_parts(view):
            try:
                return await self._writer.recap(view, start, asker)
            except LLMError as error:
                trouble = _noted(error)
        parts = await recap(view, start)
        return Told(recap_text(parts, asker.say), tuple(each for part in parts for each in part.citations), trouble)

    async def who(self, book: Book, read_to: int, name: str, asker: Asker = Asker()) -> Told:
        """Who somebody is; without a text if that name has not occurred.

        Raises:
            BookError: INVALID_STATE, the file is gone.
        """
        view = await self._view(book, read_to)
        portrait = await portray(view, name)
        if portrait is None:
            return Told("")
        trouble = None
        if self._writer:
            try:
                return await self._writer.portrait(view, portrait, asker)
            except LLMError as error:
                trouble = _noted(error)
        return Told(portrait_text(portrait, asker.say), portrait.citations, trouble)

    async def discuss(
        self, book: Book, read_to: int, since: str | int = 0, count: int = 3, asker: Asker = Asker()
    ) -> Discussion:
        """Questions about the stretch from a place (an offset, or as somebody names it) to `read_to`.

        There are fewer than `count` (1 to 5) if little has been read.

        Raises:
            BookError: as `recap`.
        """
        view, count = await self._view(book, read_to), min(max(count, 1), MOST_QUESTIONS)
        start = await offset_of(view, since) if isinstance(since, str) else since
        trouble = None
        if self._writer and await chapter_parts(view):
            try:
                return Discussion(tuple(await self._writer.questions(view, start, count, asker)))
            except LLMError as error:
                trouble = _noted(error)
        return Discussion(tuple(await questions(view, start, count)), trouble)

    async def lately(self, book: Book, read_to: int) -> int:
        """The offset at which the last chapters that have been read begin: what a group talks about next.

        Raises:
            BookError: INVALID_STATE, the file is gone.
        """
        view = await self._view(book, read_to)
        entries = await view.contents()
        return entries[-LATELY].start if len(entries) > LATELY else 0

    async def place(self, book: Book, read_to: int, since: str) -> int:
        """The offset at which a chapter or page begins, as somebody names it.

        Raises:
            BookError: NOT_FOUND, there is no such place in the part that has been read; INVALID_STATE, the file is
            gone.
        """
        return await offset_of(await self._view(book, read_to), since)

    async def stretch(self, book: Book, read_to: int, chapter: str) -> tuple[int, int]:
        """The offsets at which a chapter or part begins, and at which the part of it that has been read ends.

        Raises:
            BookError: NOT_FOUND, there is no such chapter in the part that has been read; INVALID_STATE, the file
            is gone.
        """
        return await stretch_of(await self._view(book, read_to), chapter)

    async def around(self, book: Book, read_to: int, citations: Iterable[Citation]) -> dict[Citation, Surroundings]:
        """The sentences before and after each citation that are before `read_to`.

        Raises:
            BookError: INVALID_STATE, the file is gone.
        """
        view = await self._view(book, read_to)
        cited = [each for each in dict.fromkeys(citations) if each.start < each.end <= read_to]
        return {each: await _surroundings(view, each) for each in cited}

    async def names(self, book: Book, read_to: int, seconds: float | None = None) -> list[str]:
        """The names that occur before that offset, the most frequent first. If that takes longer than `seconds`, only
        the names up to an earlier offset, as far as they are known.

        Raises:
            BookError: INVALID_STATE, the file is gone.
        """
        file = await self._files.open(book)
        return await self._names.of(file, file.view(read_to), seconds)

    async def first_questions(self, book: Book, read_to: int) -> list[FirstQuestion]:
        """Three questions to begin with, made from the opening of the story alone; none if nothing of it has been
        read.

        Raises:
            BookError: INVALID_STATE, the file is gone.
        """
        file = await self._files.open(book)
        start = story_start(await file.chapters(), read_to)
        end = min(read_to, start + OPENING)
        if end <= start:
            return []
        pages = [page.label for page in await file.pages() if page.start < end and page.end > start]
        names = await self._names.of(file, file.view(end))
        return first_questions((await file.text())[start:end], names, pages)

    async def _view(self, book: Book, read_to: int) -> BookView:
        return (await self._files.open(book)).view(read_to)


async def _surroundings(view: BookView, citation: Citation) -> Surroundings:
    try:
        passage = await view.read_around(f"passage-{citation.start}-{citation.end}")
    except BookError:  # a citation of an older index of the book
        return Surroundings()
    before = [each.text for each in passage.sentences if each.end <= citation.start]
    after = [each.text for each in passage.sentences if each.start >= citation.end]
    return Surroundings(before[-1] if before else "", after[0] if after else "")


def _noted(error: LLMError) -> LLMError:
    logger.warning("the book's own sentences are told, as no model writes: %s", error.message)
    return error


def _unusable() -> LLMError:
    return LLMError(LLMErrorCode.EMPTY_REPLY, "The model wrote nothing that cites the book.")


def _language(asker: Asker) -> str:
    return asker.language or OF_THE_BOOK


def _shown(digest: Digest, since: int) -> list[Sentence]:
    return [each for each in (*digest.telling, *digest.uncovered) if each.start >= since]


def _chapter(digest: Digest, since: int) -> str:
    title = digest.piece.title or "Beginning"
    return "\n".join(filter(None, (f"## {title}", digest.summary, _keyed(_shown(digest, since)))))


def _keyed(sentences: Sequence[Sentence]) -> str:
    return "\n".join(f"[{key_of(each)}] {' '.join(each.text.split())}" for each in sentences)


def _passage(sentence: Sentence) -> Passage:
    return Passage(0, sentence.start, sentence.end, "", "", "", (sentence,))


def _some_of(sentences: Sequence[Sentence], always: set[int]) -> list[Sentence]:
    """At most SENTENCES_SHOWN, evenly spread, and those that begin at these places."""
    step = max(-(-len(sentences) // SENTENCES_SHOWN), 1)
    return [each for at, each in enumerate(sentences) if at % step == 0 or each.start in always]

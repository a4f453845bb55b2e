"""From what a model streams to what a reader sees: every page reference is made, or checked, by code.

A model points at sentences: through its own citations (CitationMark) or by writing sentence keys. The composer looks
each of them up among the passages the model was given, verifies the words at their place in the book, and writes the
page. What cannot be verified is left out, so a reference in an answer is always true.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from domain.book import Book, Citation, Passage, Sentence
from domain.chat import ChatMessage, MessageRole
from domain.citations.keys import KEY_GROUP, KEY_IN_GROUP, key_of
from domain.citations.page_numbers import PENDING, TypedPages
from domain.citations.quotations import LONGEST, UNSEEN, Quotations
from domain.errors import BookError
from domain.event import DraftDiscarded, StrategyEvent, ToolCallFinished, ToolCallStarted
from domain.ports import BookView
from domain.spoilers.bound import without_name
from domain.spoilers.filter import SpoilerCheck, SpoilerFilter
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk

Cite = Callable[[int, int], Awaitable[Citation]]
"""Looks a span up in the book; raises BookError where the reader may not see it."""

LONGEST_ANSWER = 20_000
"""Characters of a model's answer that are taken in, ten messages on Discord; a turn is cut there, and says so."""

_PIECE = 400
"""Characters taken in at a time: what a piece costs grows with the square of what is held."""
_MOST_HELD = LONGEST + 200
"""Characters held back at most: a quotation as long as one may be, and a reference behind it."""
_LONG_HELD = 300
"""Characters held back from which on they are not looked through again before a quarter has been added."""
_UNFINISHED = re.compile(r"(?:\s*+(?:\[[^\]\n]{0,80}+\]?+|\([^()\n]{0,60}+\)?+))++\s*+\Z|\s++\Z")
"""A tail that may still turn into keys or page references in brackets, or the blank before them.

Nothing is tried twice: a model that writes a hundred brackets must not keep everybody waiting.
"""


class AnswerComposer:
    """Builds one answer. Feed it the model's stream; it returns what may be shown now."""

    def __init__(
        self, cite: Cite, quotations: Quotations, typed_pages: TypedPages, passages: Iterable[Passage] = ()
    ) -> None:
        self._cite = cite
        self._quotations = quotations
        self._typed_pages = typed_pages
        self._by_source: dict[str, Passage] = {}
        self._by_key: dict[str, Sentence] = {}
        self._found: dict[tuple[int, int], Citation | None] = {}
        self.learn(passages)
        self.discard()

    def learn(self, passages: Iterable[Passage]) -> None:
        """Passages that the model has been given from now on."""
        for passage in passages:
            self._by_source[passage.source] = passage
            self._by_key.update((key_of(sentence), sentence) for sentence in passage.sentences)
            self._typed_pages.learn((passage.page, passage.last_page))
            self._quotations.learn(passage.text)
            self._quotations.learn(passage.chapter)

    def learn_words(self, text: str) -> None:
        """A reader's words, which the model may repeat though they are not of the book."""
        self._typed_pages.learn_from(text)
        self._quotations.learn(text)

    def learn_result(self, content: str) -> None:
        """What a tool said without passages, such as a list of chapters."""
        self._typed_pages.learn_listed(content)
        self._quotations.learn(content)

    def learn_name(self, name: str) -> None:
        """What somebody or something is called: it may be quoted, and says nothing of pages."""
        self._quotations.learn(name)

    def discard(self) -> None:
        """Forget the draft: it was not the answer."""
        self.text = ""
        self._cited: dict[Citation, None] = {}
        self._pending = ""
        self._held = 0
        self._before = ""
        self._marks: list[CitationMark] = []

    @property
    def citations(self) -> list[Citation]:
        """What the answer rests on so far, each once, in order."""
        return list(self._cited)

    async def feed(self, event: TextChunk | CitationMark | TextBlockEnd) -> str:
        """Take in a piece of the stream; return more of the answer, or nothing yet."""
        match event:
            case TextChunk(text):
                return "".join([await self._take(piece) for piece in _pieces(text)])
            case CitationMark():
                self._marks.append(event)
                return ""
            case TextBlockEnd():
                return await self._end_block()

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        return await self._end_block() + await self._release(len(self._pending), last=True)

    async def _take(self, text: str) -> str:
        self._pending = UNSEEN.sub("", self._pending + text)
        if len(self._pending) - self._held < self._held // 4:
            return ""
        shown = await self._release(self._ready())
        self._held = len(self._pending) if len(self._pending) > _LONG_HELD else 0
        return shown

    def _ready(self) -> int:
        """How much of the pending text can no longer change its meaning."""
        settled = self._pending
        for tail in (PENDING, _UNFINISHED):
            unfinished = tail.search(settled)
            settled = settled[: unfinished.start()] if unfinished else settled
        while (end := self._quotations.open_at(settled, self._before)) < len(settled):
            settled = settled[:end]
        return max(len(settled), len(self._pending) - _MOST_HELD)

    async def _end_block(self) -> str:
        marks, self._marks = self._marks, []
        if not marks:
            return ""
        found = [citation for mark in marks if (citation := await self._resolve_mark(mark))]
        body = self._pending.rstrip()
        space = self._pending[len(body) :]
        self._pending = body
        shown = await self._release(len(body))
        reference = self._refer(found)
        self.text += reference
        self._pending = space
        return shown + reference

    async def _release(self, length: int, *, last: bool = False) -> str:
        ready, self._pending = self._pending[:length], self._pending[length:]
        pieces = await self._quotations.check(ready, self._before)
        self._before = ready[-1:] or self._before
        checked = (piece.text if piece.quoted else self._typed_pages.check(piece.text) for piece in pieces)
        shown = "".join([await self._replace_keys(text) for text in checked])
        if last:
            shown = shown.rstrip()
        self.text += shown
        return shown

    async def _replace_keys(self, text: str) -> str:
        out, at = [], 0
        for group in KEY_GROUP.finditer(text):
            sentences = [self._by_key.get(key) for key in KEY_IN_GROUP.findall(group[0])]
            found = [c for s in sentences if s and (c := await self._resolve(s.start, s.end))]
            out += [text[at : group.start()], self._refer(found)]
            at = group.end()
        return "".join([*out, text[at:]])

    async def _resolve_mark(self, mark: CitationMark) -> Citation | None:
        passage = self._by_source.get(mark.source)
        sentences = passage.sentences[mark.first : mark.last] if passage else ()
        if not sentences or (mark.quote and _folded(mark.quote) != _folded("".join(s.text for s in sentences))):
            return None
        return await self._resolve(sentences[0].start, sentences[-1].end)

    async def _resolve(self, start: int, end: int) -> Citation | None:
        if (start, end) not in self._found:
            try:
                self._found[start, end] = await self._cite(start, end)
            except BookError:
                self._found[start, end] = None
        return self._found[start, end]

    def _refer(self, citations: list[Citation]) -> str:
        self._cited.update(dict.fromkeys(citations))
        references = ", ".join(dict.fromkeys(citation.reference for citation in citations))
        return f" ({references})" if references else ""


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))


def _folded(text: str) -> str:
    return "".join(text.split())


class Composition:
    """Follows a strategy's events and says what of the answer may be shown; `text` is what has been."""

    def __init__(self, composer: AnswerComposer, gate: SpoilerFilter) -> None:
        self._composer = composer
        self._gate = gate
        self._taken = 0

    @property
    def is_cut(self) -> bool:
        """Whether the model has written more than an answer may have."""
        return self._taken > LONGEST_ANSWER

    @property
    def text(self) -> str:
        return self._gate.text

    @property
    def citations(self) -> Sequence[Citation]:
        return self._composer.citations

    async def presentable(self, event: StrategyEvent) -> StrategyEvent:
        """The event as it may be shown: what a model writes on the way to its answer can tell too much, too."""
        match event:
            case ToolCallStarted(arguments=arguments):
                return replace(event, arguments=await self._gate.covered(arguments))
            case DraftDiscarded():
                return DraftDiscarded(self.text)
        return event

    async def follow(self, event: StrategyEvent) -> str:
        """More of the answer to show, or nothing."""
        match event:
            case TextChunk(text):
                return await self._take(text)
            case CitationMark() | TextBlockEnd():
                return await self._gate.feed(await self._composer.feed(event))
            case ToolCallFinished(passages=passages, content=content, is_error=False):
                self._composer.learn(passages)
                if not passages:
                    self._composer.learn_result(content)
            case DraftDiscarded():
                self._composer.discard()
                self._gate.discard()
                self._taken = 0
        return ""

    async def _take(self, text: str) -> str:
        """Take in text up to the length of the longest answer, with a pause for others after each piece."""
        room = max(LONGEST_ANSWER - self._taken, 0)
        self._taken += len(text)
        shown = []
        for piece in _pieces(text[:room]):
            shown.append(await self._gate.feed(await self._composer.feed(TextChunk(piece))))
            await asyncio.sleep(0)
        return "".join(shown)

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        return await self._gate.feed(await self._composer.finish()) + await self._gate.finish()


def compose(book: Book, view: BookView, talk: Iterable[ChatMessage], tells: SpoilerCheck | None) -> Composition:
    """The composition of an answer to a talk: what was said and shown in it may be cited and quoted."""
    composer = AnswerComposer(view.cite, Quotations(_stands_in(view)), TypedPages(estimated=book.pages_estimated))
    composer.learn_name(book.title)
    for message in talk:
        composer.learn(message.passages)
        if message.role is MessageRole.USER:
            composer.learn_name(message.note)
            composer.learn_words(f"{without_name(message.note)}\n{message.content}")
        elif message.role is MessageRole.TOOL_RESULT and not message.passages:
            composer.learn_result(message.content)
    return Composition(composer, SpoilerFilter(tells))


def _stands_in(view: BookView) -> Callable[[str], Awaitable[bool]]:
    async def stands(quoted: str) -> bool:
        return any(hit.exact for hit in await view.find_phrase(quoted, limit=1))

    return stands

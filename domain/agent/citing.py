"""From what a model streams to what a reader sees: every page reference is made, or checked, by code.

A model points at sentences: through its own citations (CitationMark) or by writing sentence keys. The composer looks
each of them up among the passages the model was given, verifies the words at their place in the book, and writes the
page. What cannot be verified is left out, so a reference in an answer is always true.
"""

import re
from collections.abc import Awaitable, Callable, Iterable

from domain.agent.quotations import Quotations
from domain.agent.sentence_keys import KEY_GROUP, KEY_IN_GROUP, key_of
from domain.book import Citation, Passage, Sentence
from domain.errors import BookError
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk

Cite = Callable[[int, int], Awaitable[Citation]]
"""Looks a span up in the book; raises BookError where the reader may not see it."""

_TYPED_PAGE = re.compile(r"\s*\((?:about )?pp?\. ?(\w+)(?: ?[-–] ?(\w+))?\)", re.IGNORECASE)
_UNFINISHED = re.compile(r"(?:\s*\[[^\]\n]{0,80}\]?)+\s*\Z|\s*\((?:a(?!\w{5})|p)[^)\n]{0,24}\Z|\s+\Z", re.IGNORECASE)
"""A tail that may still turn into a key, a typed page reference, or the blank before one."""


class AnswerComposer:
    """Builds one answer. Feed it the model's stream; it returns what may be shown now."""

    def __init__(self, cite: Cite, quotations: Quotations, passages: Iterable[Passage] = ()) -> None:
        self._cite = cite
        self._quotations = quotations
        self._by_source: dict[str, Passage] = {}
        self._by_key: dict[str, Sentence] = {}
        self._pages: set[str] = set()
        self.learn(passages)
        self.discard()

    def learn(self, passages: Iterable[Passage]) -> None:
        """Passages that the model has been given from now on."""
        for passage in passages:
            self._by_source[passage.source] = passage
            self._by_key.update((key_of(sentence), sentence) for sentence in passage.sentences)
            self._pages.update((passage.page, passage.last_page))
            self._quotations.learn(passage.text)

    def discard(self) -> None:
        """Forget the draft: it was not the answer."""
        self.text = ""
        self.citations: list[Citation] = []
        self._pending = ""
        self._marks: list[CitationMark] = []

    async def feed(self, event: TextChunk | CitationMark | TextBlockEnd) -> str:
        """Take in a piece of the stream; return more of the answer, or nothing yet."""
        match event:
            case TextChunk(text):
                self._pending += text
                return await self._release(self._ready())
            case CitationMark():
                self._marks.append(event)
                return ""
            case TextBlockEnd():
                return await self._end_block()

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        return await self._end_block() + await self._release(len(self._pending), last=True)

    def _ready(self) -> int:
        """How much of the pending text can no longer change its meaning."""
        end = self._quotations.open_at(self._pending)
        unfinished = _UNFINISHED.search(self._pending, 0, end)
        return unfinished.start() if unfinished else end

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
        checked = _TYPED_PAGE.sub(self._check_page, await self._quotations.check(ready))
        shown = await self._replace_keys(checked)
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
        try:
            return await self._cite(start, end)
        except BookError:
            return None

    def _refer(self, citations: list[Citation]) -> str:
        for citation in citations:
            if citation not in self.citations:
                self.citations.append(citation)
        references = ", ".join(dict.fromkeys(citation.reference for citation in citations))
        return f" ({references})" if references else ""

    def _check_page(self, typed: re.Match[str]) -> str:
        return typed[0] if {typed[1], typed[2] or typed[1]} <= self._pages else ""


def _folded(text: str) -> str:
    return "".join(text.split())

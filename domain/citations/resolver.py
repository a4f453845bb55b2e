"""From a model's stream to what a reader sees: every page reference is made by code.

A model points at sentences by its own citations (CitationMark) or by writing sentence keys. The composer looks each of
them up among the passages the model was given, verifies the words in the book, and writes the page. A sentence that
points at nothing but repeats a given sentence gets that sentence's page. What cannot be verified is left out, and so
is every page the model has typed: a reference in an answer is always true.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from domain.book import Book, Citation, Passage, Sentence, numbered, references
from domain.chat import ChatMessage, MessageRole
from domain.citations.context import ASKS_FOR_ONE, MAY_BE_A_PAGE, SOURCE
from domain.citations.given import GivenSentences, KnownNumbers, ToldBy, opening_of, parts_of
from domain.citations.keys import (
    BLANK,
    CLOSING,
    END_OF_SAID,
    KEY_GROUP,
    KEY_IN_GROUP,
    SENTENCE_END,
    TELLS_MORE,
    UNFINISHED,
    UNSEEN,
    blanked,
    end_of_decided,
    ends_between,
    fold,
    key_groups,
    with_reference,
)
from domain.citations.matching import PassageMatcher, leads_elsewhere
from domain.citations.numbers import Number
from domain.citations.page_numbers import (
    LONGEST_WORD,
    TypedPages,
    settled,
    tells_of_pages,
    without_paging,
)
from domain.citations.quotations import LONGEST, Piece, Quotations
from domain.citations.symbols import compile_patterns, lazily
from domain.errors import BookError
from domain.event import DraftDiscarded, StrategyEvent, ToolCallFinished, ToolCallStarted
from domain.library.numerals import values_of
from domain.library.progress import PROPOSE_POSITION
from domain.library.search.sentences import is_heading
from domain.ports import BookView
from domain.spoilers.filter import SENTENCES_AT_ONCE, SpoilerCheck, SpoilerFilter, redacted
from domain.tool_use import CitationMark, TextBlockEnd, TextChunk

Cite = Callable[[int, int], Awaitable[Citation]]
"""Looks up a span in the book; raises BookError if the reader may not see it."""

LONGEST_ANSWER = 20_000
"""Characters of a model's answer that are accepted, ten messages on Discord; a longer one is cut, and says so."""

_PIECE = 400
"""Characters processed at a time: the cost of a piece grows with the square of what is held back."""
_MOST_HELD = LONGEST + 200
"""Characters held back at most: a quotation of the greatest length, and a reference after it."""
_YIELD_AFTER = 64
"""Characters after which other tasks run: up to some milliseconds of work."""
_LEARNT_AT_ONCE = 16
"""Passages of a result after which other tasks run; some results have hundreds."""
_STEP = 32
"""Characters that have to come before the held ones are examined again: a model may send one at a time."""
_MOST_SHORTENED = 2
"""How often held text begins at an earlier mark, before it begins with the line: what is cut leaves others open."""
_MOST_LOOKS = 16
"""How often held text is looked at before all of it waits: hundreds of lines may each leave the ones above open."""
_LABEL = lazily(r"^\[[^\]\n]*\]$", re.MULTILINE)
"""The line above a passage, with its page."""
_PAGE_IN_RESULT = lazily(r'"(?:last_)?page": "(\d{1,6})"')
_LISTS_AS_WORDS = str.maketrans("[]", "  ")
"""A list in JSON has the brackets of a reference."""
_ATTRIBUTES = lazily(rf"\s*(?:[-*•>]\s+)*[*_]{{0,2}}(?:[—–]|{SOURCE})", re.IGNORECASE)
_QUOTED = lazily(f"{BLANK}+")
_REFUSED = "\ue000"
"""Marks both ends of a quotation that is not in the book while its sentence is assembled."""
_ATTRIBUTION = 4
"""Words; a shorter sentence behind a quotation only says whose it is: "So says Ann"."""


class AnswerComposer:
    """Builds one answer from the model's stream; `feed` returns what may be shown now."""

    def __init__(
        self,
        cite: Cite,
        quotations: Quotations,
        passages: Iterable[Passage] = (),
        opening_of: Callable[[str], Awaitable[Sentence | None]] | None = None,
    ) -> None:
        self._cite = cite
        self._quotations = quotations
        self._given = GivenSentences(opening_of)
        self._matcher: PassageMatcher | None = None
        self._unmatched: list[Passage] = []
        self._by_source: dict[str, Passage] = {}
        self._found: dict[tuple[int, int], Citation | None] = {}
        self._cites_itself = False
        self._numbers = KnownNumbers()
        self._pages_seen, self._last_page = set[int](), 0
        self._last_said = self._asked = ""
        self._spoken: list[tuple[str, bool]] = []
        self._are_pages_told = False
        self.learn(passages)
        self.discard()

    def learn(self, passages: Iterable[Passage]) -> None:
        """Add passages that the model has been given."""
        for passage in passages:
            self._by_source[passage.source] = passage
            self._given.learn(passage)
            self._unmatched.append(passage)
            self._quotations.learn(passage)
            for label in (passage.page, passage.last_page):
                self._pages_seen.update(values_of(label, label))
            self._numbers.learn(passage.text, ToldBy.BOOK)
            self._numbers.learn(passage.chapter, ToldBy.BOOK)

    def learn_words(self, text: str) -> None:
        """Add what readers wrote before one answer, and their names, which the model may quote."""
        self._quotations.learn_reader(text)
        self._asked, self._last_said = f"{self._last_said}\n{text}", text  # one may ask: and the second time?
        meant = text if any(not MAY_BE_A_PAGE.search(one[0]) for one in ASKS_FOR_ONE.finditer(text)) else self._asked
        self._spoken = [(part, True) for part in parts_of(meant)]
        self._numbers.learn(text, ToldBy.READER)

    def learn_title(self, title: str, pages: int = 0) -> None:
        """Add the book's title, with its author, which count as words of the book, and how many pages it has."""
        self._last_page = pages
        self._quotations.learn(title)
        self._numbers.learn(title, ToldBy.READER)

    def learn_figures(self, text: str) -> None:
        """Add the words in which a book tool gave its passages, such as how often a name occurs; not their labels."""
        self._numbers.learn(_LABEL.sub("", text), ToldBy.BOOK)
        self._pages_seen.update(map(int, _PAGE_IN_RESULT.findall(text)))

    def learn_elsewhere(self, text: str) -> None:
        """Add what a tool that is not of the book has told: its page numbers are no more than a model's, and its other
        numbers stand in prose, or as others do.
        """
        self._spoken += [(part, False) for part in parts_of(text)]
        self._numbers.learn(text.translate(_LISTS_AS_WORDS), ToldBy.TOOL)

    def discard(self) -> None:
        """Discard the draft: it was not the answer."""
        self.text = ""
        self._cited: dict[Citation, None] = {}
        self._pending = ""
        self._held = 0
        self._before = ""
        self._marks: list[CitationMark] = []
        self._sentence, self._quoted = "", list[str]()
        self._is_cited = False
        self._is_refuted = self._follows_refuted = self._is_below_refuted = self._has_lost_page = False
        self._pages: TypedPages | None = None

    @property
    def citations(self) -> list[Citation]:
        """The citations of the answer so far, each once, in order."""
        return list(self._cited)

    async def feed(self, event: TextChunk | CitationMark | TextBlockEnd) -> str:
        """Take in a piece of the stream; return more of the answer, or nothing yet."""
        match event:
            case TextChunk(text):
                return "".join([await self._take(piece) for piece in _pieces(text)])
            case CitationMark():
                self._marks.append(event)
                self._cites_itself = True
            case TextBlockEnd():
                self._end_block()
        return ""

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        self._end_block()
        self._drop_unseen()
        return await self._release(len(self._pending), last=True)

    async def _take(self, text: str) -> str:
        self._pending += text
        is_first = not self.text and self._held <= _STEP  # the first words are shown as they come
        step = 1 if is_first else max(_STEP, self._held // 4)
        if len(self._pending) - self._held < step:
            return ""
        self._drop_unseen()
        shown = await self._release(self._ready())
        self._held = len(self._pending)
        return shown

    def _drop_unseen(self) -> None:
        self._pending = UNSEEN.sub("", self._pending)

    def _ready(self) -> int:
        """The length of the pending text whose meaning can no longer change."""
        ready = self._pending[: settled(self._pending, begins=not self._before)]
        for shorter in range(1, _MOST_LOOKS + 1):
            if (end := self._end_of_certain(ready)) == len(ready):
                break
            ready = ready[: end if shorter < _MOST_SHORTENED else ready.rfind("\n", 0, end) + 1]
        else:
            ready = ""
        return max(len(ready), len(self._pending) - _MOST_HELD)

    def _end_of_certain(self, text: str) -> int:
        """Where in a text begins what may still become a quotation, a key, or the end of a sentence."""
        end = self._quotations.open_at(text, self._before)
        quotes_below = text[:end].endswith("\n") and self._pending[end : end + 1] in {*CLOSING, ">"}
        unfinished = None if quotes_below else UNFINISHED.search(text, 0, end)
        first = min(unfinished.start() if unfinished else end, _start_of_open_key(text, end))
        first = end_of_decided(self._sentence, text[:first])
        if text[first:].strip():
            known = len(text[: settled(text[:first])].rstrip())  # its last number may count what follows
            known = max(known, text.rfind("\n", 0, first) + 1)
            is_in_quotation = self._quotations.open_at(text[:known], self._before) < known
            first = first if is_in_quotation else known
        return first - _length_of_stop(text[:first])

    def _end_block(self) -> None:
        """Write the keys of what a provider's citations point at, for a quotation or a number may go on after them."""
        keys = "".join(map(self._key_of_mark, self._marks))
        self._marks.clear()
        body = self._pending.rstrip()
        self._pending = f"{body}{keys}{self._pending[len(body) :]}"

    async def _release(self, length: int, *, last: bool = False) -> str:
        await compile_patterns()
        ready, self._pending = self._pending[:length], self._pending[length:]
        await self._numbers.read_for(self._before + ready)
        while self._spoken:
            part, is_readers = self._spoken.pop()
            self._are_pages_told |= tells_of_pages(part, is_asked=is_readers)
            await asyncio.sleep(0)
        pieces = await self._quotations.check(ready, self._before)
        shown = await self._replace_keys([*self._without_pages(pieces)])
        self._before = (self._before + ready)[-LONGEST_WORD:]
        if last:
            shown = with_reference(shown.rstrip(), await self._close_sentence())
        self.text += shown
        return shown

    def _without_pages(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces joined, without typed pages, and with a mark after each false quotation."""
        before = self._before
        pages = self._pages = self._pages or TypedPages(self._is_known, self._asked, self._numbers.speak_of_things)
        pages.are_pages_told, pages.seen, pages.last_page = self._are_pages_told, self._pages_seen, self._last_page
        for (quoted, _), group in groupby(pieces, key=lambda piece: (piece.quoted, piece.misquoted)):
            text = "".join(_REFUSED * piece.misquoted + piece.text + _REFUSED * piece.refused for piece in group)
            yield Piece(pages.skip(text) if quoted else pages.remove(text, before), quoted)
            before = text

    def _is_known(self, number: Number) -> bool:
        return self._numbers.have(number, is_page_asked=self._are_pages_told, pages=self._pages_seen)

    async def _replace_keys(self, pieces: Sequence[Piece]) -> str:
        """The text with references in place of keys, and after uncited sentences that repeat the book."""
        text = "".join(piece.text for piece in pieces)
        prose = "".join(blanked(piece.text) if piece.quoted else piece.text for piece in pieces)
        out, at = [], 0
        for group in key_groups(text):
            out.append(await self._follow(text[at : group.start()], prose[at : group.start()]))
            cited = [s for key in KEY_IN_GROUP.findall(group[0]) if (s := await self._given.find(key))]
            sentences = await self._given.with_quoted(cited, self._quoted)
            found = [citation for each in sentences if (citation := await self._resolve(each.start, each.end))]
            rest_of_sentence = END_OF_SAID.split(prose[group.end() :], maxsplit=1)[0]
            self._is_refuted |= _REFUSED in rest_of_sentence and not KEY_GROUP.search(rest_of_sentence)
            out.append(self._refer(found))
            if found:
                self._quoted.clear()  # what was quoted before a key is not what the next one proves
            at = group.end()
        return "".join([*out, await self._follow(text[at:], prose[at:])])

    async def _follow(self, text: str, prose: str) -> str:
        """Find where sentences end; in `prose`, quotations are blanked out, because no sentence ends within them."""
        out, at = [await self._close_sentence() if ends_between(self._sentence, text) else ""], 0
        for number, end in enumerate(SENTENCE_END.finditer(prose), 1):
            self._note(text[at : end.end()], prose[at : end.end()])
            out.append(with_reference(text[at : end.end()], await self._close_sentence()))
            at = end.end()
            if number % SENTENCES_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._note(text[at:], prose[at:])
        return "".join([*out, text[at:]]).replace(_REFUSED, "")

    def _note(self, text: str, prose: str) -> None:
        self._sentence += text
        self._quoted += [text[slice(*quoted.span())] for quoted in _QUOTED.finditer(prose)]
        self._is_refuted = self._is_refuted or _REFUSED in text

    async def _close_sentence(self) -> str:
        """The reference for a finished sentence that has none, if it repeats a sentence of the book."""
        is_bare = not (self._is_refuted or self._is_cited or self._cites_itself or is_heading(self._sentence))
        repeated = await self._repeated() if is_bare else ()
        if is_bare and not repeated and self._quoted:
            repeated = await self._given.quoted_in(self._sentence, self._quoted)
        citation = await self._resolve(repeated[0].start, repeated[-1].end) if repeated else None
        is_there = citation is not None and not leads_elsewhere(self._sentence, citation.chapter)
        reference = self._refer([citation] if citation and is_there else [])
        self._follows_refuted = self._is_refuted and not self._has_lost_page
        self._is_below_refuted = self._is_refuted or (self._is_below_refuted and not self._sentence.strip())
        self._sentence, self._is_refuted, self._is_cited, self._has_lost_page = "", False, False, False
        self._quoted.clear()
        return reference

    async def _repeated(self) -> tuple[Sentence, ...]:
        """The sentences of the given passages that the finished sentence repeats."""
        matcher = self._matcher = self._matcher or PassageMatcher()
        while self._unmatched:
            matcher.learn(self._unmatched.pop(0))
        await matcher.read_for(self._sentence)
        return matcher.match(self._sentence)

    def _key_of_mark(self, mark: CitationMark) -> str:
        """A key for all that a provider's citation points at; empty if it is not true."""
        passage = self._by_source.get(mark.source)
        sentences = passage.sentences[mark.first : mark.last] if passage and mark.first >= 0 else ()
        text = "".join(sentence.text for sentence in sentences)
        if not sentences or (mark.quote and _folded(mark.quote) != _folded(text)):
            return ""
        return f" [{self._given.add(Sentence(sentences[0].start, sentences[-1].end, text))}]"

    async def _resolve(self, start: int, end: int) -> Citation | None:
        if (start, end) not in self._found:
            try:
                self._found[start, end] = await self._cite(start, end)
            except BookError:
                self._found[start, end] = None
        return self._found[start, end]

    def _refer(self, citations: list[Citation]) -> str:
        """The reference to these citations; empty after a quotation that is not in the book."""
        only_attributes = self._follows_refuted and _only_attributes(self._sentence)
        only_attributes |= self._is_below_refuted and _ATTRIBUTES.match(self._sentence) is not None
        if self._is_refuted or only_attributes or not citations:
            self._has_lost_page |= bool(citations)
            return ""
        self._is_cited = True
        self._cited.update(dict.fromkeys(citations))
        return f" ({references(citations)})"


def _only_attributes(sentence: str) -> bool:
    return len(sentence.split()) <= _ATTRIBUTION and not TELLS_MORE.match(sentence)


def _start_of_open_key(text: str, end: int) -> int:
    """Where a key stands whose sentence goes on, or the end: a quotation that is not in the book may follow it."""
    keys = key_groups(text, 0, end)
    return next((key.start() for key in keys if not END_OF_SAID.search(text, key.end(), end)), end)


def _length_of_stop(text: str) -> int:
    """The length of a text's final stop, because a reference may go before it. After a quotation none does."""
    plain = text.rstrip().rstrip(f")*_{_REFUSED}")
    body = plain.rstrip(".!?…。！？")
    return len(text) - len(body) if len(body) < len(plain) else 0


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))


def _folded(text: str) -> str:
    return "".join(text.split())


class Composition:
    """Follows a strategy's events and says what of the answer may be shown; `text` is what has been shown."""

    def __init__(self, composer: AnswerComposer, spoiler_filter: SpoilerFilter) -> None:
        self._composer = composer
        self._filter = spoiler_filter
        self._taken = 0
        self._since_yield = 0

    @property
    def is_cut(self) -> bool:
        """Whether the model has written more than an answer may contain."""
        return self._taken > LONGEST_ANSWER

    @property
    def text(self) -> str:
        return self._filter.text

    @property
    def citations(self) -> Sequence[Citation]:
        return self._composer.citations

    def learn(self, passages: Iterable[Passage]) -> None:
        """Add passages that the model has been given apart from those in the events."""
        self._composer.learn(passages)

    async def presentable(self, event: StrategyEvent) -> StrategyEvent:
        """The event as it may be shown: text before a tool call can tell too much, too."""
        match event:
            case ToolCallStarted(arguments=arguments):
                return replace(event, arguments=await self._filter.covered(arguments))
            case DraftDiscarded():
                return replace(event, text=redacted(self.text))
        return event

    async def follow(self, event: StrategyEvent) -> str:
        """More of the answer to show, or nothing."""
        match event:
            case TextChunk(text):
                return await self._take(text)
            case CitationMark() | TextBlockEnd():
                return await self._filter.feed(await self._composer.feed(event))
            case ToolCallFinished(content=content, is_of_book=True):
                for start in range(0, len(event.passages), _LEARNT_AT_ONCE):
                    self._composer.learn(event.passages[start : start + _LEARNT_AT_ONCE])
                    await asyncio.sleep(0)
                self._composer.learn_figures(content)
            case ToolCallFinished(content=content) if event.tool_name != PROPOSE_POSITION:
                self._composer.learn_elsewhere(without_paging(content))
            case DraftDiscarded():
                self._composer.discard()
                self._filter.discard()
                self._taken = 0
        return ""

    async def _take(self, text: str) -> str:
        """Accept text up to the greatest length of an answer, yielding to other tasks every few words."""
        room = max(LONGEST_ANSWER - self._taken, 0)
        self._taken += len(text)
        shown = []
        for piece in _pieces(text[:room]):
            shown.append(await self._filter.feed(await self._composer.feed(TextChunk(piece))))
            self._since_yield += len(piece)
            if self._since_yield >= _YIELD_AFTER:
                self._since_yield = 0
                await asyncio.sleep(0)
        return "".join(shown)

    async def finish(self) -> str:
        """The rest of the answer, once the stream has ended."""
        return await self._filter.feed(await self._composer.finish()) + await self._filter.finish()


def compose(book: Book, view: BookView, talk: Sequence[ChatMessage], tells: SpoilerCheck | None) -> Composition:
    """The composition of an answer to a talk; what was said and shown in the talk may be cited and quoted."""
    composer = AnswerComposer(view.cite, Quotations(_stands_in(view)), opening_of=opening_of(view))
    composer.learn_title(f"{book.title}\n{book.author}", book.page_count)
    for message in talk:
        composer.learn(message.passages)
    said = (message for message in talk if message.role is MessageRole.USER)
    for _, together in groupby(said, key=attrgetter("turn_id")):  # one answer answers all of them
        composer.learn_words("\n".join(f"{each.author_name}\n{each.content}" for each in together))
    return Composition(composer, SpoilerFilter(tells))


def _stands_in(view: BookView) -> Callable[[str], Awaitable[bool]]:
    """Whether the words are in the readable part of the book, or are the title of one of its chapters."""

    async def stands(quoted: str) -> bool:
        if await view.find_phrase(quoted, limit=1, exact=True):
            return True
        needle = fold(quoted)
        return any(needle in fold(numbered(entry.number, entry.title)) for entry in await view.contents())

    return stands

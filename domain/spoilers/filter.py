"""The last check of an answer before it is shown: sentences that reveal unread text are hidden."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol


class SpoilerCheck(Protocol):
    """Whether a sentence reveals what is beyond the readers' bound, by itself or with the words `before` it."""

    async def __call__(self, sentence: str, /, before: str = "") -> bool: ...


_START, _END = "\ufdd0", "\ufdd1"
"""Around a hidden span of text: noncharacters, which Unicode reserves for use inside programs."""

COVERED = "(hidden)"
"""Replaces what a model has asked a tool, where that would reveal too much."""

_SENTENCE_END = re.compile(
    r"(?<!\bp)(?<!\bpp)(?<!\bM[rs])(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\b[A-Z])[.!?…]['”’»“\")\]*_]*\s+|[。！？]['”’」』)）]*|\n+"
)
"""The end of a sentence or of a line, but not after the "p." of a page reference, a title or an initial."""

SENTENCES_AT_ONCE = 32
"""Sentences after which other tasks run: what was held back may have hundreds, of a character each."""

_LONGEST_STOP = 64
"""Characters of a stop with the quotation marks and brackets that close after it; earlier text has been searched."""

REFERENCE = r"\((?:about )?pp?\. (?![^()\n]{0,60}(?<![^\W\d_])(?!(?:[ivxlcdm]+|and)\b)[^\W\d_]{3})[^()\n]{1,60}\)"
"""A pattern for pages in brackets; with words beside them, "(p. 3, where she leaves)", it is a part of the sentence."""

_LEAD = re.compile(rf"\s*(?:(?:[-*+>]|#{{1,6}}|\d{{1,3}}[.)])\s+)*(?:{REFERENCE}\s*)*")
"""What stays outside a cover: what makes a line an item, a heading or a quotation, or it would not be one any more; and
the reference of the sentence before."""


_MARKS = re.compile(f"[{_START}{_END}]")
_SPAN = re.compile(f"{_START}([^{_START}{_END}]*){_END}")

_FENCE = re.compile(r"\s*(?:>\s*)*(?:```|~~~)")
"""A line that opens or closes a code block."""

_LINE_START = 200
"""Characters of a line that show whether it is part of a table or of a code block."""

_BEFORE = 200
"""Characters before a sentence that are checked with it: a run of words may begin there."""


@dataclass(frozen=True, slots=True)
class Span:
    """A visible or hidden stretch of an answer."""

    text: str
    is_hidden: bool = False


def spans(text: str) -> Iterator[Span]:
    """The stretches of an answer, in order; a front end draws the hidden ones in its own way."""
    at = 0
    for hidden in _SPAN.finditer(text):
        if hidden.start() > at:
            yield Span(text[at : hidden.start()])
        yield Span(hidden[1], is_hidden=True)
        at = hidden.end()
    if at < len(text):
        yield Span(text[at:])


def has_hidden(text: str) -> bool:
    """Whether any part of an answer is hidden."""
    return _START in text


def hide(text: str) -> str:
    """The text as one hidden span."""
    return f"{_START}{_MARKS.sub('', text)}{_END}"


def uncovered(text: str) -> str:
    """An answer as the model wrote it, with nothing hidden."""
    return _MARKS.sub("", text)


def redacted(text: str) -> str:
    """An answer without its hidden spans, for places that cannot cover text."""
    return "".join(COVERED if span.is_hidden else span.text for span in spans(text))


_BARS = "||"
_COVER_OF_A_READER = re.compile(r"\|\|.+?\|\|", re.DOTALL)


def without_covers(text: str) -> str:
    """A reader's words without those that they marked as a spoiler themselves (||like this||), which are meant for
    people who have read further.
    """
    return _COVER_OF_A_READER.sub("…", text) if _BARS in text else text


class SpoilerFilter:
    """Lets an answer through sentence by sentence and hides those that reveal too much; without a check it passes all.

    Only running text can be hidden. In code and in tables, where a front end could not cover it, the words are
    removed.
    """

    def __init__(self, tells: SpoilerCheck | None) -> None:
        self._tells = tells
        self.discard()

    def discard(self) -> None:
        """Discard the draft: it was not the answer."""
        self.text = ""
        self._pending = ""
        self._before = ""
        self._line = ""
        self._is_in_code = False
        self._is_fenced = False

    async def feed(self, text: str) -> str:
        """Take in more of the answer; return what may be shown now."""
        text = _MARKS.sub("", text)  # whatever the model writes, only the filter hides
        if self._tells is None:
            return self._show(text)
        look_from = max(len(self._pending) - _LONGEST_STOP, 0)
        self._pending += text
        shown, at = "", 0
        for number in count(1):
            end = _SENTENCE_END.search(self._pending, max(at, look_from))
            if end is None:
                break
            shown += await self._checked(self._pending[at : end.end()])
            at = end.end()
            if number % SENTENCES_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._pending = self._pending[at:]
        return self._show(shown)

    async def covered(self, value: Any) -> Any:
        """A value made of texts, lists and dicts, with the texts that reveal too much covered."""
        match value:
            case str() if self._tells is not None and await self._tells(value):
                return COVERED
            case list():
                return [await self.covered(item) for item in value]
            case dict():
                return {key: await self.covered(item) for key, item in value.items()}
        return value

    async def finish(self) -> str:
        """The rest of the answer."""
        rest, self._pending = self._pending, ""
        return self._show(await self._checked(rest) if rest else "")

    async def _checked(self, sentence: str) -> str:
        lead = _LEAD.match(sentence)
        start = lead.end() if lead else 0
        body = sentence[start:].rstrip()
        no_cover, before = self._takes_no_cover(body), self._before
        self._follow(sentence)
        if not body or self._tells is None or not await self._tells(body, before):
            return sentence
        rest = sentence[start + len(body) :]
        if no_cover:
            return f"{sentence[:start]}{COVERED}{rest}"
        return f"{sentence[:start]}{hide(body)}{rest}"

    def _takes_no_cover(self, body: str) -> bool:
        line = self._line + body
        return self._is_fenced or "```" in body or self._is_in_code or line.lstrip(" >").startswith("|")

    def _follow(self, sentence: str) -> None:
        """Remember the text before the next sentence, and whether it is code."""
        self._before = (self._before + sentence)[-_BEFORE:]
        *lines, line = (self._line + sentence).split("\n")
        for whole in lines:
            self._is_fenced ^= _FENCE.match(whole) is not None
        self._is_in_code = ((self._is_in_code and not lines) + sentence.rpartition("\n")[2].count("`")) % 2 == 1
        self._line = line[:_LINE_START]

    def _show(self, text: str) -> str:
        self.text += text
        return text

"""The last look at an answer before it is shown: sentences that give away unread text are hidden."""

import re
from typing import Any, Protocol


class SpoilerCheck(Protocol):
    """Whether a sentence gives away what lies beyond the readers' bound, by itself or with the words `before` it."""

    async def __call__(self, sentence: str, /, before: str = "") -> bool: ...


HIDDEN_NOTE = (
    "\n\n-# A part of this answer is hidden, as it seems to name something that comes later than you have read."
)

COVERED = "(hidden)"
"""Stands for what a model has asked a tool, where that would tell too much."""

_SENTENCE_END = re.compile(
    r"(?<!\bp)(?<!\bpp)(?<!\bM[rs])(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\b[A-Z])[.!?…]['”’»“\")\]*_]*\s+|[。！？]['”’」』)）]*|\n+"
)
"""The end of a sentence or of a line, but not of the "p." in a page reference, of a title or an initial."""

_LONGEST_STOP = 64
"""Characters of a stop, with what closes quotations and brackets behind it; what came before was looked through."""

_LEAD = re.compile(r"\s*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])\s+)*(?:\((?:about )?pp?\. [^()\n]{1,60}\)\s*)*")
"""What stays outside a cover: what makes a line an item, a heading or a quotation, or it would not be one any more; and
the reference of the sentence before."""


_COVER = re.compile(r"\|\|(.+?)\|\|")
_BARS = re.compile(r"\|(?=\|)")

_FENCE = re.compile(r"\s*(?:>\s*)*(?:```|~~~)")
"""A line that opens or closes a block of code."""

_BEFORE = 200
"""Characters before a sentence that are looked at with it: a run of words may begin there."""


def uncovered(text: str) -> str:
    """An answer as it was written: without covers, and without the note about them."""
    return _COVER.sub(r"\1", text.removesuffix(HIDDEN_NOTE)) if text.endswith(HIDDEN_NOTE) else text


def redacted(text: str) -> str:
    """A text for where no cover can be put over words: they are not there at all."""
    return _COVER.sub(f"||{COVERED}||", text)


class SpoilerFilter:
    """Lets an answer through sentence by sentence and hides those that tell too much; without a check all passes.

    A cover holds only in running text. In code and in tables, where Discord would show the marks and the words, the
    words are taken out.
    """

    def __init__(self, tells: SpoilerCheck | None) -> None:
        self._tells = tells
        self.discard()

    def discard(self) -> None:
        """Forget the draft: it was not the answer."""
        self.text = ""
        self._pending = ""
        self._has_hidden = False
        self._before = ""
        self._line = ""
        self._is_fenced = False

    async def feed(self, text: str) -> str:
        """Take in more of the answer; return what may be shown now."""
        if self._tells is None:
            return self._show(text)
        look_from = max(len(self._pending) - _LONGEST_STOP, 0)
        self._pending += text
        shown, at = "", 0
        while end := _SENTENCE_END.search(self._pending, max(at, look_from)):
            shown += await self._checked(self._pending[at : end.end()])
            at = end.end()
        self._pending = self._pending[at:]
        return self._show(shown)

    async def covered(self, value: Any) -> Any:
        """A value made of texts, lists and dicts, in which texts that tell too much are covered."""
        match value:
            case str() if self._tells is not None and await self._tells(value):
                return COVERED
            case list():
                return [await self.covered(item) for item in value]
            case dict():
                return {key: await self.covered(item) for key, item in value.items()}
        return value

    async def finish(self) -> str:
        """The rest of the answer, with a note if anything was hidden."""
        rest, self._pending = self._pending, ""
        checked = await self._checked(rest) if rest else ""
        return self._show(checked + (HIDDEN_NOTE if self._has_hidden else ""))

    async def _checked(self, sentence: str) -> str:
        lead = _LEAD.match(sentence)
        start = lead.end() if lead else 0
        body = sentence[start:].rstrip()
        no_cover, before = self._takes_no_cover(body), self._before
        self._follow(sentence)
        if not body or self._tells is None or not await self._tells(body, before):
            return _BARS.sub("| ", sentence)  # bars of the model's own would pair with those of a cover
        self._has_hidden = True
        rest = sentence[start + len(body) :]
        if no_cover:
            return f"{sentence[:start]}{COVERED}{rest}"
        # A backslash at its end would take the cover's mark for a letter.
        return f"{sentence[:start]}||{body.replace('||', '//').rstrip(chr(92))}||{rest}"

    def _takes_no_cover(self, body: str) -> bool:
        line = self._line + body
        return self._is_fenced or "```" in body or self._line.count("`") % 2 == 1 or line.lstrip(" >").startswith("|")

    def _follow(self, sentence: str) -> None:
        """Remember what stands before the next sentence, and whether that is code."""
        self._before = (self._before + sentence)[-_BEFORE:]
        *lines, self._line = (self._line + sentence).split("\n")
        for line in lines:
            self._is_fenced ^= _FENCE.match(line) is not None

    def _show(self, text: str) -> str:
        self.text += text
        return text

"""The last look at an answer before it is shown: sentences that give away unread text are hidden."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

Tells = Callable[[str], Awaitable[bool]]
"""Whether a sentence gives away what lies beyond the readers' bound."""

HIDDEN_NOTE = (
    "\n\n-# A part of this answer is hidden, as it seems to name something that comes later than you have read."
)

COVERED = "(hidden)"
"""Stands for what a model has asked a tool, where that would tell too much."""

_SENTENCE_END = re.compile(
    r"(?<!\bp)(?<!\bpp)(?<!\bM[rs])(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\b[A-Z])[.!?…]['”’»“\")\]*_]*\s+|[。！？]['”’」』)）]*|\n+"
)
"""The end of a sentence or of a line, but not of the "p." in a page reference, of a title or an initial."""

_LEAD = re.compile(r"\s*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])\s+)*")
"""What makes a line an item, a heading or a quotation: it stays outside, or it would not be one any more."""


_COVER = re.compile(r"\|\|(.+?)\|\|")


def uncovered(text: str) -> str:
    """An answer as it was written: without covers, and without the note about them."""
    return _COVER.sub(r"\1", text.removesuffix(HIDDEN_NOTE)) if text.endswith(HIDDEN_NOTE) else text


class LeakGate:
    """Lets an answer through sentence by sentence and hides those that tell too much; without a check all passes."""

    def __init__(self, tells: Tells | None) -> None:
        self._tells = tells
        self.discard()

    def discard(self) -> None:
        """Forget the draft: it was not the answer."""
        self.text = ""
        self._pending = ""
        self._has_hidden = False

    async def feed(self, text: str) -> str:
        """Take in more of the answer; return what may be shown now."""
        if self._tells is None:
            return self._show(text)
        self._pending += text
        shown = ""
        while end := _SENTENCE_END.search(self._pending):
            sentence, self._pending = self._pending[: end.end()], self._pending[end.end() :]
            shown += await self._checked(sentence)
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
        if not body or self._tells is None or not await self._tells(body):
            return sentence
        self._has_hidden = True
        return f"{sentence[:start]}||{body.replace('||', '//')}||{sentence[start + len(body) :]}"

    def _show(self, text: str) -> str:
        self.text += text
        return text

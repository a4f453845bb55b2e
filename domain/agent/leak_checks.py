"""What lies beyond the bounds of the books being read just now, ready to be compared with answers."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from domain.agent.leak_gate import Tells
from domain.library.leaks import Leaks
from domain.protocols import BookFile, BookView

KEPT = 8
"""Bounds kept ready. Each takes about five bytes per character of its book."""


class LeakChecks:
    """Makes the check of a turn. Preparing a bound is done once, off the event loop, when its first sentence comes."""

    def __init__(self) -> None:
        self._ready: OrderedDict[tuple[str, int], Leaks] = OrderedDict()

    def check(self, file: BookFile, view: BookView, questions: Sequence[str]) -> Tells | None:
        """The check for answers within a view; None where the whole book is open and there is nothing to give away."""
        if view.read_to >= view.book.length:
            return None
        known = "\n".join(questions)

        async def tells(sentence: str) -> bool:
            leaks = await self._leaks(file, view)
            return await asyncio.to_thread(leaks.found_in, sentence, known)

        return tells

    async def _leaks(self, file: BookFile, view: BookView) -> Leaks:
        key = (view.book.sha256, view.read_to)
        if key not in self._ready:
            self._ready[key] = await asyncio.to_thread(Leaks.beyond, await file.text(), view.read_to)
        self._ready.move_to_end(key)
        while len(self._ready) > KEPT:
            self._ready.popitem(last=False)
        return self._ready[key]

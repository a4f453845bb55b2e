"""The books being read just now, ready to be compared with what is said about them."""

import asyncio
from collections import OrderedDict

from domain.agent.leak_gate import Tells
from domain.book import Book
from domain.library.leaks import Leaks
from domain.protocols import BookFiles

KEPT = 16
"""Books kept ready. A novel takes about three megabytes."""


class LeakChecks:
    """Makes the check of a turn. A book is made ready once, off the event loop, from the first check on."""

    def __init__(self, files: BookFiles) -> None:
        self._files = files
        self._ready: OrderedDict[str, asyncio.Task[Leaks]] = OrderedDict()

    def check(self, book: Book, read_to: int, known: str = "") -> Tells | None:
        """The check of what is said to people who have read to `read_to`; what is in `known` is no secret to them.

        None where the whole book is open and there is nothing to give away.
        """
        if read_to >= book.length:
            return None
        self._prepare(book)

        async def tells(sentence: str, /, before: str = "") -> bool:
            leaks = await asyncio.shield(self._prepare(book))
            return await asyncio.to_thread(leaks.found_in, sentence, read_to, known, before)

        return tells

    def _prepare(self, book: Book) -> "asyncio.Task[Leaks]":
        task = self._ready.get(book.sha256)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._ready[book.sha256] = asyncio.create_task(self._leaks(book))
        self._ready.move_to_end(book.sha256)
        while len(self._ready) > KEPT:
            self._ready.popitem(last=False)
        return task

    async def _leaks(self, book: Book) -> Leaks:
        text = await (await self._files.open(book)).text()
        return await asyncio.to_thread(Leaks.of, text)

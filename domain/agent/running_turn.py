"""A turn while it runs: its events as a stream, and the handle to end it from outside."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from enum import StrEnum

from domain.chat import ChatMessage
from domain.event import ToolCallFinished, ToolCallStarted, TurnEvent

Emit = Callable[[TurnEvent], None]


class Ending(StrEnum):
    """How a person ends a turn: keep what was written, or take the question back."""

    STOPPED = "stopped"
    WITHDRAWN = "withdrawn"


class RunningTurn:
    """Runs a turn in a task of its own, so that it can be ended while its consumer is busy or slow.

    `asked` are the ids of the messages it answers, `askers` those of the readers who wrote them, in order.
    """

    def __init__(self, messages: Sequence[ChatMessage] = ()) -> None:
        self.asked = frozenset(message.id for message in messages)
        self.askers = tuple(dict.fromkeys(message.author_id for message in messages))
        self.ending: Ending | None = None
        self.started: dict[str, ToolCallStarted] = {}
        self.finished: dict[str, ToolCallFinished] = {}
        self._queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def events(self, play: Callable[[Emit], Awaitable[None]]) -> AsyncGenerator[TurnEvent, None]:
        """Start the turn and yield what it emits. Closing the iterator early cancels the turn."""

        async def run() -> None:
            await play(self._emit)

        if self.ending is not None:
            return
        self._task = asyncio.create_task(run())
        self._task.add_done_callback(lambda _: self._queue.put_nowait(None))  # even if it never came to run
        try:
            while (event := await self._queue.get()) is not None:
                yield event
            await asyncio.wait({self._task})
            if not self._task.cancelled():  # a turn that was withdrawn ends without a last event
                self._task.result()
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def end(self, ending: Ending) -> None:
        """End the turn now; it still emits its last event. One that has not begun never does."""
        if self.ending is None and (self._task is None or not self._task.done()):
            self.ending = ending
            if self._task is not None:
                self._task.cancel()

    def _emit(self, event: TurnEvent) -> None:
        match event:
            case ToolCallStarted():
                self.started[event.call_id] = event
            case ToolCallFinished():
                self.finished[event.call_id] = event
        self._queue.put_nowait(event)

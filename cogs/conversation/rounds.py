"""Who answers where just now: one round per conversation, and none waits for another."""

import asyncio
from collections import Counter
from functools import partial

from cogs.conversation.live import LiveTurns
from cogs.conversation.places import Places
from cogs.conversation.round import Round
from cogs.conversation.screen import NOTHING, Leftover
from cogs.conversation.showing import Showing
from cogs.conversation.titling import Titling
from cogs.services import Aside, Services

COME_BACK_AFTER_S = (5.0, 20.0, 60.0, 300.0, 900.0, 1800.0)
"""To a conversation in which Discord did not let us say what there is to say; after that, the next start does."""


class Rounds:
    """Starts rounds, and ends them. None begins before `open` is called: first is found out what a crash has left."""

    def __init__(self, services: Services, places: Places, titling: Titling) -> None:
        self.live: LiveTurns = {}
        self._services = services
        self._places = places
        self._showing = Showing(services)
        self._titling = titling
        self._rounds: dict[str, tuple[Round, asyncio.Task[None]]] = {}
        self._untidy: set[str] = set()
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._failures: Counter[str] = Counter()
        self._opened = asyncio.Event()
        self._closing = False

    def open(self) -> None:
        self._opened.set()

    def start(
        self, conversation_id: str, leftover: Leftover = NOTHING, *, untidy: bool = False, aside: Aside | None = None
    ) -> asyncio.Task[None]:
        """Have answered what waits in a conversation; the task ends when that has been done.

        `leftover` are messages for the next answer to use; `untidy` says that turns of before may have come to no end.
        `aside` is called where the answer cannot be shown in its thread.
        """
        if untidy:
            self._untidy.add(conversation_id)
        round_, task = self._rounds.get(conversation_id) or self._begin(conversation_id)
        if task.done():
            round_, task = self._begin(conversation_id)
        round_.wanted = True
        round_.leftover += leftover
        round_.asides += [aside] if aside else []
        return task

    def lost(self, message_id: int) -> None:
        """Somebody has deleted a message; where it is part of an answer that is being written, it is written anew."""
        for live in self.live.values():
            live.screen.lost(str(message_id))

    def try_again(self) -> None:
        """Come back at once to where there is something left to say: Discord may let us now.

        Rounds that are under way may have met its refusal already, so they go on once more when they are through.
        """
        for conversation_id in self._untidy | self._rounds.keys():
            if timer := self._later.pop(conversation_id, None):
                timer.cancel()
            self._failures.pop(conversation_id, None)
            self.start(conversation_id)

    async def close(self, patience: float) -> None:
        """End all rounds: what is made is delivered within `patience` seconds, what is not made waits again."""
        self._closing = True
        for timer in self._later.values():
            timer.cancel()
        for round_, task in self._rounds.values():
            round_.closing = True
            if not round_.is_delivering:
                task.cancel()
        tasks = [task for _, task in self._rounds.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, conversation_id: str) -> tuple[Round, asyncio.Task[None]]:
        round_ = Round(
            conversation_id,
            services=self._services,
            places=self._places,
            showing=self._showing,
            titling=self._titling,
            live=self.live,
            untidy=self._untidy,
        )
        round_.closing = self._closing
        task = asyncio.create_task(round_.run(self._opened), name=f"answers in conversation {conversation_id}")
        self._rounds[conversation_id] = round_, task
        task.add_done_callback(lambda _: self._forget(conversation_id))
        return round_, task

    def _forget(self, conversation_id: str) -> None:
        round_, task = self._rounds[conversation_id]
        if not task.done():
            return
        del self._rounds[conversation_id]
        if round_.cut_short and not self._closing:
            self._come_back(conversation_id)
        else:
            self._failures.pop(conversation_id, None)

    def _come_back(self, conversation_id: str) -> None:
        failures = self._failures[conversation_id]
        if failures < len(COME_BACK_AFTER_S):
            self._failures[conversation_id] += 1
            start = partial(self._start_again, conversation_id)
            self._later[conversation_id] = asyncio.get_running_loop().call_later(COME_BACK_AFTER_S[failures], start)

    def _start_again(self, conversation_id: str) -> None:
        del self._later[conversation_id]
        self.start(conversation_id, untidy=True)

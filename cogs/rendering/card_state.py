"""What of a turn's tool calls is open: told by the buttons' own names, so that a button works a year later."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from cogs.rendering.calls import CallState, ShownCall

PAGE_SIZE = 10
"""Calls on a page: one embed each, and Discord shows ten of them in a message."""

PATTERN = r"tc:(?P<turn>[\w-]{1,64}):(?P<page>\d{1,6}):(?P<mask>[0-9a-f]{1,3}):(?P<action>\d{1,7}|p\d{1,6}|f)"
"""The custom_id of every button on a card: at most 90 characters, of which Discord takes 100."""


@dataclass(frozen=True, slots=True)
class CardState:
    """`page` counts from 0; `mask` has a bit for each call of the page, the lowest for its first."""

    page: int = 0
    mask: int = 0

    def is_open(self, number: int) -> bool:
        return self._holds(number) and bool(self.mask & _bit(number))

    def toggled(self, number: int) -> "CardState":
        return replace(self, mask=self.mask ^ _bit(number)) if self._holds(number) else self

    def with_open(self, numbers: Iterable[int]) -> "CardState":
        mask = self.mask
        for number in filter(self._holds, numbers):
            mask |= _bit(number)
        return replace(self, mask=mask)

    def _holds(self, number: int) -> bool:
        return (number - 1) // PAGE_SIZE == self.page


@dataclass(frozen=True, slots=True)
class Press:
    """A press of one of a card's buttons: a call to open or fold, a page to turn to, or the full trace."""

    turn_id: str
    state: CardState
    number: int | None = None
    page: int | None = None

    @property
    def wants_trace(self) -> bool:
        return self.number is None and self.page is None

    def opens(self, calls: Sequence[ShownCall]) -> bool:
        """Whether it shows what was found, and not only folds what is open."""
        return self.wants_trace or bool(self.after(calls).mask & ~self.state.mask) or self.page is not None

    def after(self, calls: Sequence[ShownCall]) -> CardState:
        """The state it asks for."""
        if self.number is not None:
            return self.state.toggled(self.number)
        return self.state if self.page is None else state_of_page(calls, self.page)


def page_count(calls: Sequence[ShownCall]) -> int:
    return max(1, -(-len(calls) // PAGE_SIZE))


def state_of_page(calls: Sequence[ShownCall], page: int) -> CardState:
    """The page as it first appears, or the nearest there is: failed calls open by themselves."""
    state = CardState(min(max(0, page), page_count(calls) - 1))
    return state.with_open(call.number for call in calls if call.state is CallState.FAILED)


def first_state(calls: Sequence[ShownCall]) -> CardState:
    """The page of the latest calls."""
    return state_of_page(calls, page_count(calls))


def toggle_id(turn_id: str, state: CardState, number: int) -> str:
    return _custom_id(turn_id, state, str(number))


def page_id(turn_id: str, state: CardState, page: int) -> str:
    return _custom_id(turn_id, state, f"p{page}")


def trace_id(turn_id: str, state: CardState) -> str:
    return _custom_id(turn_id, state, "f")


def read_press(custom_id: str) -> Press | None:
    """What a button stands for; None for a name that is no card's."""
    match = re.fullmatch(PATTERN, custom_id)
    if match is None:
        return None
    state = CardState(int(match["page"]), int(match["mask"], 16))
    action = match["action"]
    if action == "f":
        return Press(match["turn"], state)
    if action.startswith("p"):
        return Press(match["turn"], state, page=int(action[1:]))
    return Press(match["turn"], state, number=int(action))


def _custom_id(turn_id: str, state: CardState, action: str) -> str:
    return f"tc:{turn_id}:{state.page}:{state.mask:x}:{action}"


def _bit(number: int) -> int:
    return 1 << (number - 1) % PAGE_SIZE

"""The message with a turn's tool calls: one embed each, collapsed to a line or open, and the buttons for that.

Up to ten calls share a page, because Discord shows ten embeds. The full trace has what an open call cannot show.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from itertools import islice
from typing import Any

from cogs.i18n import later
from cogs.rendering.inline import escape, fenceless, inert
from cogs.rendering.splitting import units
from domain.book import is_source
from domain.chat import ChatMessage
from domain.errors import Say, in_english
from domain.event import ToolCallFinished, ToolCallStarted
from domain.spoilers.filter import COVERED

ARGUMENTS_SHOWN = 60
"""Characters of a call's arguments on its one line."""
DESCRIPTION_SHOWN = 120
SUMMARY_SHOWN = 100

OUTCOMES = frozenset(
    (
        later("failed"),
        later("done"),
        later("no"),
        later("passage"),
        later("passages"),
        later("place"),
        later("places"),
        later("mention"),
        later("mentions"),
        later("name"),
        later("names"),
        later("chapter"),
        later("chapters"),
        later("page"),
        later("pages"),
        later("proposed"),
        later("part"),
        later("parts"),
        later("not mentioned"),
        later("nothing read yet"),
        later("without a summary yet"),
    )
)
"""Outcomes of the book's tools ("5 passages"), translated for people who read another language than the model."""

KINDS = {
    "search_book": later("search"),
    "read_pages": later("excerpt"),
    "read_around": later("excerpt"),
    "table_of_contents": later("contents"),
    "find_phrase": later("quotation"),
    "count_mentions": later("count"),
    "story_so_far": later("story"),
    "who_is": later("person"),
}
"""Names of the book's tools on buttons."""

PEOPLE = later("people")
"""What `who_is` finds without a name."""
A_CALL = later("call")

_OUTCOME = re.compile(rf"(?<!\S)(?:{'|'.join(sorted(OUTCOMES, key=len, reverse=True))})(?=,?(?:\s|$))")


class CallState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One call of a turn; `number` counts from 1. `content` is the whole result as text."""

    number: int
    tool_name: str
    arguments: Mapping[str, Any]
    state: CallState = CallState.RUNNING
    summary: str = ""
    content: str = field(default="", repr=False)
    milliseconds: int = 0

    @classmethod
    def started(cls, event: ToolCallStarted) -> "ShownCall":
        return cls(event.number, event.tool_name, event.arguments)

    def finished(self, event: ToolCallFinished) -> "ShownCall":
        return replace(
            self,
            state=CallState.FAILED if event.is_error else CallState.DONE,
            summary=event.summary,
            content=event.content,
            milliseconds=event.milliseconds,
        )


def calls_of(messages: Sequence[ChatMessage], turn_id: str) -> list[ShownCall]:
    """The calls of a turn as they were stored, in order; one without a result was interrupted and counts as failed."""
    mine = [message for message in messages if message.turn_id == turn_id]
    results = {message.tool_use_id: message for message in mine if message.tool_use_id}
    invocations = [invocation for message in mine for invocation in message.tool_invocations]
    calls = []
    for number, invocation in enumerate(invocations, start=1):
        call = ShownCall(number, invocation.tool_name, invocation.shown_arguments, CallState.FAILED)
        is_covered = invocation.covered is not None
        calls.append(_with_result(call, results.get(invocation.tool_use_id), is_covered=is_covered))
    return calls


def _with_result(call: ShownCall, result: ChatMessage | None, *, is_covered: bool) -> ShownCall:
    """The call with its result, covered where it may repeat what is covered: as an error, or as another tool's."""
    if result is None:
        return call
    may_repeat = result.is_error or call.tool_name not in KINDS
    return replace(
        call,
        state=CallState.FAILED if result.is_error else CallState.DONE,
        summary=result.summary,
        content=COVERED if is_covered and may_repeat else result.content,
        milliseconds=result.duration_ms,
    )


def describe(call: ShownCall) -> str:
    """The call on one line, as in `search_book "white rabbit"`; plain text, to be escaped by the caller."""
    return shortened(f"{call.tool_name} {arguments_line(call.arguments)}", DESCRIPTION_SHOWN)


def describe_briefly(call: ShownCall) -> str:
    """The same without the arguments after the first one, which say how something is looked up and not what."""
    return describe(replace(call, arguments=dict(islice(call.arguments.items(), 1))))


def arguments_line(arguments: Mapping[str, Any]) -> str:
    """The value of the first argument, then the others by name, within ARGUMENTS_SHOWN characters; no passage's id."""
    told = [
        _value(value) if number == 0 else f"{name}={_value(value)}"
        for number, (name, value) in enumerate(arguments.items())
        if value not in (None, "", [], {}) and not is_source(value)
    ]
    return shortened(" ".join(told), ARGUMENTS_SHOWN)


def headline(call: ShownCall, mark: str, say: Say = in_english) -> str:
    """A call as one line of Markdown: mark, number, tool, result, duration."""
    line = f"{mark} {call.number} {escape(describe(call))}"
    if call.state is CallState.RUNNING:
        return f"{line} …"
    outcome = outcome_in_words(call.summary or call.state.value, say)
    if call.state is CallState.FAILED and call.summary:
        outcome = f"{say('failed')}: {outcome}"  # not everybody can see its colour
    return f"{line} · {escape(shortened(outcome, SUMMARY_SHOWN))} · {duration(call.milliseconds)}"


def outcome_in_words(summary: str, say: Say) -> str:
    """The outcome of a call in the reader's language."""
    return _OUTCOME.sub(lambda known: say(known[0]), summary)


def duration(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def shortened(text: str, most: int) -> str:
    """The text on one line, at most `most` characters of it."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _value(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


PAGE_SIZE = 10
"""Calls per page: one embed each, of which Discord shows ten in a message."""

PATTERN = r"tc:(?P<turn>[\w-]{1,64}):(?P<page>\d{1,6}):(?P<mask>[0-9a-f]{1,3}):(?P<action>\d{1,7}|p\d{1,6}|f)"
"""The custom_id of every button on a card: at most 90 characters, where Discord allows 100."""


@dataclass(frozen=True, slots=True)
class CardState:
    """`page` counts from 0; `mask` has a bit for each call on the page, the lowest for the first."""

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
    """A press of one of a card's buttons: a call to open or collapse, a page to turn to, or the full trace."""

    turn_id: str
    state: CardState
    number: int | None = None
    page: int | None = None

    @property
    def wants_trace(self) -> bool:
        return self.number is None and self.page is None

    def opens(self, calls: Sequence[ShownCall]) -> bool:
        """Whether it shows results, and not only collapses what is open."""
        return self.wants_trace or bool(self.after(calls).mask & ~self.state.mask) or self.page is not None

    def after(self, calls: Sequence[ShownCall]) -> CardState:
        """The state it leads to."""
        if self.number is not None:
            return self.state.toggled(self.number)
        return self.state if self.page is None else state_of_page(calls, self.page)


def page_count(calls: Sequence[ShownCall]) -> int:
    return max(1, -(-len(calls) // PAGE_SIZE))


def state_of_page(calls: Sequence[ShownCall], page: int) -> CardState:
    """The initial state of the page, or of the nearest existing one: failed calls are open."""
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
    """The press that a custom_id stands for; None if it is not a card's."""
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


DESCRIPTION_LIMIT = 4096
MESSAGE_TOTAL = 6000
"""Discord's limit for all embeds of a message."""
HEADLINE_ROOM = 500
"""More than the longest headline with all its characters escaped."""
ARGUMENTS_SHARE = 3
"""A call's arguments get this fraction of its space, and more only if the result leaves it."""
ROW_WIDTH = 5


class Colour(IntEnum):
    """The colour of the bar beside an embed."""

    RUNNING = 0x95A5A6
    DONE = 0x5865F2
    FAILED = 0xED4245


class ButtonStyle(IntEnum):
    """Discord's own numbers."""

    GREY = 2
    GREEN = 3
    RED = 4


@dataclass(frozen=True, slots=True)
class EmbedData:
    description: str
    colour: int


@dataclass(frozen=True, slots=True)
class ButtonData:
    label: str
    custom_id: str
    row: int
    style: ButtonStyle = ButtonStyle.GREY
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A message to be shown as it is."""

    embeds: tuple[EmbedData, ...]
    buttons: tuple[ButtonData, ...]


def render_card(turn_id: str, calls: Sequence[ShownCall], state: CardState, say: Say = in_english) -> Card:
    """The page of calls given by `state`."""
    shown = [call for call in calls if (call.number - 1) // PAGE_SIZE == state.page]
    heads = [headline(call, _mark(call, state), say) for call in shown]
    open_calls = [call for call in shown if state.is_open(call.number)]
    rooms = _rooms([_need(call, say) for call in open_calls], MESSAGE_TOTAL - sum(map(units, heads)))
    bodies = {call.number: _body(call, room, say) for call, room in zip(open_calls, rooms, strict=True)}
    embeds = tuple(
        EmbedData(head + bodies.get(call.number, ""), Colour[call.state.name])
        for call, head in zip(shown, heads, strict=True)
    )
    return Card(embeds, _buttons(turn_id, shown, state, page_count(calls), say))


def _mark(call: ShownCall, state: CardState) -> str:
    if call.state is CallState.RUNNING:
        return "⏳"
    return "▾" if state.is_open(call.number) else "▸"


def _rooms(needs: Sequence[int], total: int) -> list[int]:
    """Shares of the available space: what one call does not need is left to the others."""
    rooms = [0] * len(needs)
    waiting = sorted(range(len(needs)), key=needs.__getitem__)
    for position, number in enumerate(waiting):
        fair = total // (len(waiting) - position)
        rooms[number] = min(needs[number], fair, DESCRIPTION_LIMIT - HEADLINE_ROOM)
        total -= rooms[number]
    return rooms


def _need(call: ShownCall, say: Say) -> int:
    return units(_body(call, DESCRIPTION_LIMIT * 2, say))


def _body(call: ShownCall, room: int, say: Say) -> str:
    """Arguments and result in `room` units, each in a block of its own."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, indent=1, default=str)
    if call.state is CallState.RUNNING:
        return _block(say("Arguments"), "json", arguments, room, say)
    result = call.content or "—"
    spare = room - units(_block(say("Result"), "", result, room, say))
    told = _block(say("Arguments"), "json", arguments, max(room // ARGUMENTS_SHARE, spare), say)
    return told + _block(say("Result"), "", result, room - units(told), say)


def _block(title: str, language: str, text: str, room: int, say: Say) -> str:
    """A titled code block, cut with a note of how much is missing; empty if there is no space for it."""
    before, after = f"\n**{title}**\n```{language}\n", "\n```"
    safe = inert(fenceless(text))
    if units(before + safe + after) <= room:
        return before + safe + after
    left = room - units(before + after + _cut_note(len(safe), say))
    if left <= 0:
        return ""
    kept = safe[:left]
    while units(kept) > left:
        kept = kept[:-1]
    return before + kept + after + _cut_note(len(safe) - len(kept), say)


def _cut_note(count: int, say: Say) -> str:
    return "\n" + say("-# … {count} more characters under “Show everything”", count=f"{count:,}")


def _buttons(
    turn_id: str, shown: Sequence[ShownCall], state: CardState, pages: int, say: Say
) -> tuple[ButtonData, ...]:
    toggles = [
        ButtonData(
            _toggle_label(call, say, is_open=state.is_open(call.number)),
            toggle_id(turn_id, state, call.number),
            row=position // ROW_WIDTH,
            style=ButtonStyle.RED if call.state is CallState.FAILED else ButtonStyle.GREY,
        )
        for position, call in enumerate(shown)
    ]
    row = _row_below(len(shown), 1 if pages == 1 else 3)
    turning = []
    if pages > 1:
        turning = [
            _turner(turn_id, state, state.page - 1, pages, say("◀ Earlier"), row),
            _turner(turn_id, state, state.page + 1, pages, say("Later ▶"), row),
        ]
    return (*toggles, *turning, ButtonData(say("Show everything"), trace_id(turn_id, state), row))


def _toggle_label(call: ShownCall, say: Say, *, is_open: bool) -> str:
    """A label that names what is shown or hidden, so that a screen reader can tell the buttons apart."""
    is_list = call.tool_name == "who_is" and not call.arguments.get("name")
    kind = say(PEOPLE if is_list else KINDS.get(call.tool_name, A_CALL))
    if is_open:
        return say("Hide {kind} {number}", kind=kind, number=call.number)
    return say("Show {kind} {number}", kind=kind, number=call.number)


def _row_below(toggles: int, others: int) -> int:
    """The row for the other buttons: that of the last toggles, if it has space."""
    full, begun = divmod(toggles, ROW_WIDTH)
    return full if begun + others <= ROW_WIDTH else full + 1


def _turner(turn_id: str, state: CardState, page: int, pages: int, label: str, row: int) -> ButtonData:
    there = 0 <= page < pages
    return ButtonData(label, page_id(turn_id, state, page if there else pages), row, disabled=not there)

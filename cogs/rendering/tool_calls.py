"""The message of a turn's tool calls: an embed each, folded to a line or open, and the buttons that fold and open.

Up to ten calls share a page, as Discord shows ten embeds; more are turned to. What an open call cannot show is in
the full trace.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from cogs.rendering.calls import CallState, ShownCall, headline
from cogs.rendering.card_state import PAGE_SIZE, CardState, page_count, page_id, toggle_id, trace_id
from cogs.rendering.inline import fenceless, inert
from cogs.rendering.splitting import units
from cogs.rendering.words import Say, in_english

DESCRIPTION_LIMIT = 4096
MESSAGE_TOTAL = 6000
"""Discord's, over all embeds of a message."""
HEADLINE_ROOM = 500
"""More than a headline with all its characters escaped can be."""
ARGUMENTS_SHARE = 3
"""A call's arguments take one part in so many of its room, and more only where its result leaves it."""
ROW_WIDTH = 5


class Colour(IntEnum):
    """The bar beside an embed."""

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
    """The page of calls that `state` names."""
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
    """Shares of the room that is left: who needs little leaves the rest to the others."""
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
    """A titled code block, cut with a note of how much is missing; nothing at all where there is no room for it."""
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
    return "\n" + say("-# … {count} more characters, in the full trace", count=f"{count:,}")


def _buttons(
    turn_id: str, shown: Sequence[ShownCall], state: CardState, pages: int, say: Say
) -> tuple[ButtonData, ...]:
    toggles = [
        ButtonData(
            f"{'▾' if state.is_open(call.number) else '▸'} {call.number}",
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
    return (*toggles, *turning, ButtonData(say("Full trace"), trace_id(turn_id, state), row))


def _row_below(toggles: int, others: int) -> int:
    """The row for the other buttons: that of the last toggles, where there is room in it."""
    full, begun = divmod(toggles, ROW_WIDTH)
    return full if begun + others <= ROW_WIDTH else full + 1


def _turner(turn_id: str, state: CardState, page: int, pages: int, label: str, row: int) -> ButtonData:
    there = 0 <= page < pages
    return ButtonData(label, page_id(turn_id, state, page if there else pages), row, disabled=not there)

"""Tool calls as people see them, whether they happen now or happened a year ago."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from cogs.i18n.speech import later
from cogs.rendering.inline import escape
from cogs.rendering.words import Say, in_english
from domain.chat import ChatMessage
from domain.event import ToolCallFinished, ToolCallStarted

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
"""Of what the book's tools say came of a call ("5 passages"), for those who read another language than the model."""

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
    """The calls of a turn as they were kept, in order; one without a result was interrupted and counts as failed."""
    mine = [message for message in messages if message.turn_id == turn_id]
    results = {message.tool_use_id: message for message in mine if message.tool_use_id}
    invocations = [invocation for message in mine for invocation in message.tool_invocations]
    calls = []
    for number, invocation in enumerate(invocations, start=1):
        call = ShownCall(number, invocation.tool_name, invocation.shown_arguments, CallState.FAILED)
        calls.append(_with_result(call, results.get(invocation.tool_use_id)))
    return calls


def _with_result(call: ShownCall, result: ChatMessage | None) -> ShownCall:
    if result is None:
        return call
    return replace(
        call,
        state=CallState.FAILED if result.is_error else CallState.DONE,
        summary=result.summary,
        content=result.content,
        milliseconds=result.duration_ms,
    )


def describe(call: ShownCall) -> str:
    """The call on one line, as in `search_book "white rabbit"`; plain text, to be escaped by whoever shows it."""
    return shortened(f"{call.tool_name} {arguments_line(call.arguments)}", DESCRIPTION_SHOWN)


def arguments_line(arguments: Mapping[str, Any]) -> str:
    """The first argument's value, then the others by name, as far as ARGUMENTS_SHOWN characters go."""
    told = [
        _value(value) if number == 0 else f"{name}={_value(value)}"
        for number, (name, value) in enumerate(arguments.items())
        if value not in (None, "", [], {})
    ]
    return shortened(" ".join(told), ARGUMENTS_SHOWN)


def headline(call: ShownCall, mark: str, say: Say = in_english) -> str:
    """A call's one line of Markdown: mark, number, what was called, what came of it, how long it took."""
    line = f"{mark} {call.number} {escape(describe(call))}"
    if call.state is CallState.RUNNING:
        return f"{line} …"
    outcome = _outcome(call.summary or call.state.value, say)
    return f"{line} · {escape(shortened(outcome, SUMMARY_SHOWN))} · {duration(call.milliseconds)}"


def _outcome(summary: str, say: Say) -> str:
    return _OUTCOME.sub(lambda known: say(known[0]), summary)


def duration(milliseconds: int) -> str:
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def shortened(text: str, most: int) -> str:
    """The text on one line, at most `most` characters of it."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _value(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

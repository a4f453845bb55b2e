"""The full trace of a turn's tool calls, as a file."""

import json
from collections.abc import Sequence
from typing import Any

from cogs.rendering.calls import CallState, ShownCall, describe, duration
from cogs.rendering.inline import inert_in_files

TRACE_NAME = "trace.md"


def trace_markdown(calls: Sequence[ShownCall], title: str = "Tool calls") -> bytes:
    """Everything the calls were given and gave back, uncut."""
    return inert_in_files("\n".join([f"# {title}", "", *map(call_section, calls)])).encode()


def trace_json(calls: Sequence[ShownCall]) -> bytes:
    return json.dumps([call_json(call) for call in calls], ensure_ascii=False, indent=2, default=str).encode()


def call_section(call: ShownCall, level: int = 2) -> str:
    """A call as a section of Markdown."""
    outcome = " · ".join(part for part in (call.state.value, call.summary, duration(call.milliseconds)) if part)
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, indent=2, default=str)
    head = f"{'#' * level} {call.number}. {describe(call)}\n\n{outcome}\n\n{fenced(arguments, 'json')}\n"
    return head if call.state is CallState.RUNNING else f"{head}\n{fenced(call.content)}\n"


def call_json(call: ShownCall) -> dict[str, Any]:
    return {
        "number": call.number,
        "tool": call.tool_name,
        "arguments": dict(call.arguments),
        "state": call.state.value,
        "summary": call.summary,
        "milliseconds": call.milliseconds,
        "result": call.content,
    }


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"

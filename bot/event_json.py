"""Turn events as JSON objects, one a line, for programs that read along."""

import json
import re
from dataclasses import asdict

from domain.event import ToolCallFinished, TurnEvent
from domain.spoilers.filter import redacted

_WRITTEN = ("text", "partial", "offer")
"""Fields with words of an answer."""

_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


def event_to_json(event: TurnEvent) -> str:
    """`{"event": "text_delta", …}`: the event's class in snake case, then its fields. What was hidden is not in it."""
    fields = {name: redacted(value) if name in _WRITTEN else value for name, value in asdict(event).items()}
    if isinstance(event, ToolCallFinished):
        del fields["passages"]  # `content` says it all
    return json.dumps({"event": _WORD_START.sub("_", type(event).__name__).lower(), **fields}, ensure_ascii=False)

"""Reading the arguments a model wrote for a call."""

import json
from typing import Any, NoReturn

from domain.characters import encodable
from domain.tool_use import UNREADABLE_ARGUMENTS

_MOST_LEVELS = 100
"""No tool takes more than three; what is written a thousand deep can be read, and then not be sent with the history."""


def read_arguments(written: str) -> dict[str, Any]:
    """The JSON object, {} where nothing was written; anything else comes back under UNREADABLE_ARGUMENTS.

    A call whose arguments cannot be read is still a call: the model is owed an answer to it, and mends it when told.
    """
    if not written.strip():
        return {}
    try:
        # Twice: half characters and numbers beyond all bounds are written as escapes and digits, and seen once read.
        arguments = _loaded(encodable(json.dumps(_loaded(written), ensure_ascii=False)))
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, dict) and not _is_deeper(arguments, _MOST_LEVELS):
        return arguments
    return {UNREADABLE_ARGUMENTS: encodable(written)}


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether there is more of it below so many levels of objects and lists."""
    inside = [value]
    for _ in range(levels):
        inside = [item for each in inside for item in (each.values() if isinstance(each, dict) else each)]
        inside = [item for item in inside if isinstance(item, dict | list)]
    return bool(inside)


def _loaded(written: str) -> Any:
    return json.loads(written, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def complete(written: str) -> bool:
    """Whether this is a whole JSON object, after which nothing can follow."""
    return written.rstrip().endswith("}") and UNREADABLE_ARGUMENTS not in read_arguments(written)

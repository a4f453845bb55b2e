"""What the wire formats of model providers share: JSON, call ids and names, calls that must be answered."""

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NoReturn

from pydantic_core import PydanticSerializationError, to_json

from domain.characters import encodable
from domain.chat import MessageRole, PromptMessage
from domain.tool_use import UNREADABLE_ARGUMENTS


def encoded(value: Any) -> bytes:
    """A value as JSON in UTF-8, in a fifth of the time that `json` takes; the same value is always the same bytes.

    What somebody wrote in half characters does not keep it from being sent, nor does a number that JSON does not know,
    which becomes null.
    """
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:  # half characters, or lists in lists by the hundred
        whole = json.loads(encodable(json.dumps(value, ensure_ascii=False)), parse_constant=lambda constant: None)
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


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


_NAME: Final = re.compile(r"(?:functions\.)?([a-zA-Z0-9_-]{1,64})")
"""A tool's name, out of what open models and their templates put around it."""

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")


def tool_name(written: str) -> str:
    """A name that no service would take back in the history is one of no tool either."""
    name = _NAME.match(written)
    return name[1] if name else "unnamed"


def plain_id(written: str) -> str:
    """An id of letters, digits, '_' and '-'; one that has other characters, as some servers make them, gets another.

    The same id always gets the same, so that calls and results find each other.
    """
    if _ID.fullmatch(written):
        return written
    return f"call_{hashlib.sha256(written.encode(errors='replace')).hexdigest()[:24]}"


_INTERRUPTED = "This call was interrupted before anything came of it."


def repair_history(messages: Iterable[PromptMessage]) -> Iterator[PromptMessage]:
    """The messages, with an error in place of each result that is missing.

    Services refuse a history in which a call has no result, whatever became of it.
    """
    open_calls: list[str] = []
    for message in messages:
        if message.role == MessageRole.TOOL_RESULT:
            open_calls = [name for name in open_calls if name != message.tool_use_id]
        else:
            yield from _interrupted(open_calls)
            open_calls = [call.tool_use_id for call in message.tool_invocations or ()]
        yield message
    yield from _interrupted(open_calls)


def _interrupted(open_calls: Iterable[str]) -> Iterator[PromptMessage]:
    for name in open_calls:
        yield PromptMessage(MessageRole.TOOL_RESULT, _INTERRUPTED, tool_use_id=name, is_error=True)


class LoopYield:
    """Lets one task pass in each round of the event loop.

    Building a request takes some milliseconds without a pause, and so does reading what has come of a reply. When two
    hundred readers write in the same moment, the loop would do two hundred of that before it looked at anything else;
    behind a turnstile, heartbeats, edits and other people's answers come in between.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def __call__(self) -> None:
        """Wait for this task's turn. What it does before its next await is done alone in its round."""
        async with self._lock:
            await asyncio.sleep(0)

"""Names and ids of calls, as services take them back in a history."""

import hashlib
import re
from typing import Final

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

"""What is sent, as bytes: a long history is encoded with every request, so it is done by what does it fastest."""

import json
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from domain.characters import encodable


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

"""What of a server's tools is used: those that can be, within limits, and why the others are left out."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from mcp import types
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

MOST_TOOLS = 100
"""Tools of all servers together; the book's own come on top, and OpenAI takes 128."""

LONGEST_DESCRIPTION = 8_000
"""Characters; what is longer is cut."""

LONGEST_SCHEMA = 20_000
"""Characters as JSON: some 5,000 tokens in every request."""

_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_COMBINERS = ("oneOf", "anyOf", "allOf")


def read_list(entries: Iterable[Any], left_out: dict[str, str]) -> list[Any]:
    """Entries of a tools/list as the protocol has them: one that is none is named in `left_out` instead.

    The SDK refuses a list whole if one entry of it is wrong.
    """
    good = []
    for number, entry in enumerate(entries, 1):
        name = entry.get("name") if isinstance(entry, dict) else None
        try:
            tool = types.Tool.model_validate(_mended(entry), by_name=False)
            listed = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
            validate_server_result("tools/list", LATEST_HANDSHAKE_VERSION, {"tools": [listed]})
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"])) or "the entry"
            left_out[name if isinstance(name, str) and name else f"number {number}"] = f"{place}: {fault['msg']}"
        else:
            good.append(listed)
    return good


def _mended(entry: Any) -> Any:
    """An entry without what is not needed to call the tool and would spoil it, if it is wrong."""
    if not isinstance(entry, dict):
        return entry
    schema = entry.get("inputSchema")
    mended = dict(entry)
    if isinstance(schema, dict) and "type" not in schema:
        mended["inputSchema"] = {"type": "object", **schema}
    if not isinstance(entry.get("outputSchema"), dict | None) or not _is_schema(entry.get("outputSchema")):
        mended.pop("outputSchema", None)
    for name in ("annotations", "_meta"):
        if not isinstance(entry.get(name), dict):
            mended.pop(name, None)
    for name in ("icons", "execution"):  # which nobody here looks at
        mended.pop(name, None)
    return mended


def usable(tools: Sequence[types.Tool], wanted: Sequence[str], left_out: dict[str, str]) -> tuple[types.Tool, ...]:
    """The tools that a model can be given, of those `wanted` (none: of all); `left_out` gets the others, and why."""
    for name in wanted:
        if name not in {tool.name for tool in tools} and name not in left_out:
            left_out[name] = "the server has no such tool"
    kept: dict[str, types.Tool] = {}
    for tool in tools:
        if wanted and tool.name not in wanted:
            continue
        if tool.name in kept:
            left_out[tool.name] = "listed twice; the first is used"
        elif reason := _unusable(tool.input_schema):
            left_out[tool.name] = reason
        else:
            kept[tool.name] = _cut(tool, left_out)
    return tuple(kept.values())


def _unusable(schema: dict[str, Any]) -> str:
    """Why no provider takes a tool with this schema; blank where they do."""
    if schema.get("type", "object") != "object":
        return "its arguments are no object"
    if any(name in schema for name in _COMBINERS):
        return f"its schema has {' or '.join(_COMBINERS)} at the top"
    if not isinstance(schema.get("properties", {}), dict) or not _is_schema(schema):
        return "its schema is not valid"
    if any(not _PROPERTY.fullmatch(name) for name in schema.get("properties", {})):
        return "an argument's name has more than letters, digits, '_', '.' and '-'"
    if any(not reference.startswith("#") for reference in _references(schema)):
        return "its schema refers to another document"
    if (length := len(json.dumps(schema))) > LONGEST_SCHEMA:
        return f"its schema is too long ({length:,} characters; {LONGEST_SCHEMA:,} are allowed)"
    return ""


def _is_schema(schema: Any) -> bool:
    try:
        Draft202012Validator.check_schema({} if schema is None else schema)
    except (SchemaError, RecursionError):
        return False
    return True


def _references(value: Any) -> list[str]:
    """Whatever `$ref` points to, anywhere in a schema."""
    found, inside = [], [value]
    while inside:
        each = inside.pop()
        if isinstance(each, dict):
            reference = each.get("$ref")
            found += [reference] if isinstance(reference, str) else []
            inside += each.values()
        elif isinstance(each, list):
            inside += each
    return found


def _cut(tool: types.Tool, left_out: dict[str, str]) -> types.Tool:
    description = tool.description or tool.title or f"Tool: {tool.name}"
    if len(description) > LONGEST_DESCRIPTION:
        left_out[f"{tool.name}'s description"] = f"cut after {LONGEST_DESCRIPTION:,} characters"
        description = description[: LONGEST_DESCRIPTION - 1] + "…"
    return tool.model_copy(update={"description": description})

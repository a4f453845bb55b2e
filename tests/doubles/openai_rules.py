"""What a chat completions API refuses, the strictest of OpenAI and the open servers taken together."""

import json
import re
from typing import Any

from tests.doubles.script import Json

_FIELDS = frozenset(
    {"model", "messages", "tools", "tool_choice", "stream", "stream_options", "temperature", "max_tokens"}
    | {"max_completion_tokens", "parallel_tool_calls", "reasoning_effort", "seed", "stop", "top_p"}
)
_MESSAGE_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


class Refused(Exception):
    """The API's error answer."""

    def __init__(self, message: str, status: int = 400, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code


def check(body: Json) -> None:
    """Raises:
    Refused: some server would not have answered.
    """
    if unknown := set(body) - _FIELDS:
        raise Refused(f"Unknown parameter: '{min(unknown)}'.")
    if body.get("stream_options") and not body.get("stream"):
        raise Refused("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    for place, tool in enumerate(body.get("tools", ())):
        _check_tool(tool, f"tools[{place}]")
    if "tools" in body and not body["tools"]:
        raise Refused("Invalid 'tools': empty array.")
    if "tool_choice" in body and "tools" not in body:
        raise Refused("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
    _check_messages(body.get("messages"))


def _check_tool(tool: Json, where: str) -> None:
    function = tool.get("function", {})
    if set(tool) != {"type", "function"} or tool["type"] != "function":
        raise Refused(f"Invalid value: '{where}' should be a function.")
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function.get("name", "")):
        raise Refused(f"Invalid '{where}.function.name': string does not match pattern.")
    if function.get("parameters", {}).get("type") != "object":
        raise Refused(f"Invalid schema for function '{function['name']}': schema must be of type object.")


def _check_messages(messages: Any) -> None:
    if not messages:
        raise Refused("Invalid 'messages': empty array.")
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        role = message.get("role")
        if role not in _MESSAGE_KEYS or set(message) - _MESSAGE_KEYS[role]:
            raise Refused(f"Invalid value: '{where}' has a role or a field that is not known.")
        if role == "system" and place > 0:
            raise Refused("System message must be at the beginning.")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise Refused("Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            raise Refused(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(open_calls)}"
            )
        calls = message.get("tool_calls")
        _check_content(message.get("content"), where, optional=bool(calls))
        open_calls += [_checked_call(call, where) for call in calls or ()]
    if open_calls:
        raise Refused(f"The following tool_call_ids did not have response messages: {', '.join(open_calls)}")
    if messages[-1]["role"] not in ("user", "tool"):
        raise Refused("Cannot continue from an assistant's or system message: the last must be a user's or a tool's.")


def _check_content(content: object, where: str, *, optional: bool) -> None:
    if content is None and optional:
        return
    if not isinstance(content, str) or not content.strip():
        raise Refused(f"Invalid value for 'content': expected a string that is not blank in '{where}'.")


def _checked_call(call: Json, where: str) -> str:
    if set(call) != {"id", "type", "function"} or set(call["function"]) != {"name", "arguments"} or not call["id"]:
        raise Refused(f"Invalid value: '{where}.tool_calls'.")
    try:
        arguments = json.loads(call["function"]["arguments"])
    except (TypeError, ValueError):
        arguments = None
    if not isinstance(arguments, dict):
        raise Refused(f"'{where}.tool_calls': function arguments must be a JSON object.")
    name: str = call["id"]
    return name

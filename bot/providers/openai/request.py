"""Messages of the domain as a request of a chat completions API."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from bot.providers.wire_format import repair_history
from domain.chat import MessageRole, PromptMessage
from domain.citations.keys import render
from domain.tool_use import ToolDefinition, ToolInvocation

Wire = dict[str, Any]


def build_request(
    model: str, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], *, call_tools: bool
) -> dict[str, Any]:
    """The request's fields."""
    request: dict[str, Any] = {
        "model": model,
        "messages": list(_wire_messages(messages)),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
        if not call_tools:
            request["tool_choice"] = "none"
    return request


def _wire_messages(messages: Sequence[PromptMessage]) -> Iterator[Wire]:
    """One system message in front: the templates of many open models know no other."""
    system = "\n\n".join(message.content for message in messages if message.role == "system" and _says(message))
    if system:
        yield {"role": "system", "content": system}
    for message in repair_history(message for message in messages if message.role != "system"):
        if message.role == MessageRole.TOOL_RESULT:
            yield {"role": "tool", "tool_call_id": message.tool_use_id, "content": _result(message)}
        elif message.tool_invocations:
            calls = [_call(call) for call in message.tool_invocations]
            yield {"role": "assistant", "content": message.content if _says(message) else None, "tool_calls": calls}
        elif _says(message):
            yield {"role": message.role, "content": message.text}


def _says(message: PromptMessage) -> bool:
    return bool(message.content.strip())


def _result(message: PromptMessage) -> str:
    """Passages as sentences behind keys: the only way to point at a sentence that this API leaves a model."""
    if message.passages and not message.is_error:
        return "\n\n".join(part for part in (message.note, render(message.passages)) if part)
    return message.content if _says(message) else "(nothing)"


def _call(call: ToolInvocation) -> Wire:
    function = {"name": call.tool_name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.tool_use_id, "type": "function", "function": function}


def _tool(tool: ToolDefinition) -> Wire:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}

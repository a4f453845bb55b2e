"""Messages of the domain as a request of a chat completions API."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from bot.providers.base import repair_history
from domain.chat import MessageRole, PromptMessage
from domain.citations.keys import render
from domain.tool_use import Media, MediaKind, ToolDefinition, ToolInvocation

Wire = dict[str, Any]

_SEES = re.compile(r"(?:^|/)(?:gpt-4o|gpt-4\.1|gpt-5|o3|o4)(?!.*audio)")
"""Models of OpenAI's that look at pictures. Of those behind other servers nobody knows, and one that does not fails."""

_OF_TOOLS = "(What the tools above returned besides text:)"
"""The API takes pictures and sounds in a user's message alone."""


def build_request(
    model: str, messages: Sequence[PromptMessage], tools: Sequence[ToolDefinition], *, call_tools: bool
) -> dict[str, Any]:
    """The request's fields."""
    request: dict[str, Any] = {
        "model": model,
        "messages": list(_media_last(_wire_messages(messages, model))),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
        if not call_tools:
            request["tool_choice"] = "none"
    return request


def _wire_messages(messages: Sequence[PromptMessage], model: str) -> Iterator[Wire]:
    """One system message in front: the templates of many open models know no other."""
    system = "\n\n".join(message.content for message in messages if message.role == "system" and _says(message))
    if system:
        yield {"role": "system", "content": system}
    for message in repair_history(message for message in messages if message.role != "system"):
        if message.role == MessageRole.TOOL_RESULT:
            yield {"role": "tool", "tool_call_id": message.tool_use_id, "content": _result(message)}
            if parts := [part for media in message.media if (part := _media_part(media, model))]:
                yield {"role": "user", "content": [{"type": "text", "text": _OF_TOOLS}, *parts]}
        elif message.tool_invocations:
            calls = [_call(call) for call in message.tool_invocations]
            yield {"role": "assistant", "content": message.content if _says(message) else None, "tool_calls": calls}
        elif _says(message):
            yield {"role": message.role, "content": message.text}


def _media_last(messages: Iterator[Wire]) -> Iterator[Wire]:
    """The messages, with a round's pictures and sounds after all its results: nothing may stand between those."""
    held: list[Wire] = []
    for message in messages:
        if message["role"] == "user" and isinstance(message["content"], list):
            held.append(message)
            continue
        if message["role"] != "tool":
            yield from held
            held = []
        yield message
    yield from held


def _media_part(media: Media, model: str) -> Wire | None:
    """What shows it to a model that takes such things; None for other models, and for those nobody knows."""
    if media.kind is MediaKind.IMAGE and _SEES.search(model):
        return {"type": "image_url", "image_url": {"url": f"data:image/{media.subtype};base64,{media.data}"}}
    if media.kind is MediaKind.AUDIO and media.subtype in ("wav", "mp3") and "audio" in model:
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": media.subtype}}
    return None


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

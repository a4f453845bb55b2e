"""What Anthropic's Messages API refuses, as far as a program like ours can get it wrong."""

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.doubles.anthropic_models import Model, bad, check_keys, checked_model
from tests.doubles.script import Json

_BLOCK_KEYS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "citations", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "search_result": frozenset({"type", "source", "title", "content", "citations", "cache_control"}),
}
_ROLE_BLOCKS: Mapping[str, frozenset[str]] = {
    "user": frozenset({"text", "tool_result", "search_result"}),
    "assistant": frozenset({"text", "thinking", "redacted_thinking", "tool_use"}),
}


def checked(body: Json, *, may_end_with_assistant: bool = False) -> tuple[Model, list[Json]]:
    """The model asked for, and the messages in their long form, neighbours of one role merged.

    Raises:
        Refused: the real API would not have answered.
    """
    model = checked_model(body)
    messages = _merged(body.get("messages"))
    _check_order(messages, may_end_with_assistant)
    for number, message in enumerate(messages):
        for place, block in enumerate(message["content"]):
            _check_block(block, message["role"], f"messages.{number}.content.{place}")
    _check_pairs(messages)
    _check_search_results(messages)
    if model.signs:
        _check_signatures(body, messages)
    return model, messages


def long_form(content: object, where: str) -> list[Json]:
    """Content as a list of blocks; a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content or not all(isinstance(block, dict) for block in content):
        raise bad(f"{where}: Input should be a valid string or a list of at least one block")
    return content


def _merged(messages: object) -> list[Json]:
    if not isinstance(messages, list) or not messages:
        raise bad("messages: at least one message is required")
    merged: list[Json] = []
    for number, message in enumerate(messages):
        check_keys(message, frozenset({"role", "content"}), f"messages.{number}")
        if message.get("role") not in ("user", "assistant"):
            raise bad(f'messages.{number}.role: Unexpected role "{message.get("role")}"')
        content = long_form(message.get("content"), f"messages.{number}.content")
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1]["content"] = [*merged[-1]["content"], *content]
        else:
            merged.append({"role": message["role"], "content": content})
    return merged


def _check_order(messages: list[Json], may_end_with_assistant: bool) -> None:
    if messages[0]["role"] != "user":
        raise bad("messages: first message must use the user role")
    if messages[-1]["role"] != "user" and not may_end_with_assistant:
        raise bad(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_block(block: Json, role: str, where: str) -> None:
    kind = str(block.get("type"))
    if kind not in _ROLE_BLOCKS[role]:
        raise bad(f"{where}: Input tag '{kind}' is not allowed in a message of role {role}")
    check_keys(block, _BLOCK_KEYS[kind], where)
    if kind == "text":
        _check_text(block, role, where)
    elif kind == "tool_use":
        _check_tool_use(block, where)
    elif kind == "tool_result":
        _check_result_content(block.get("content", ""), f"{where}.content")
    elif kind == "search_result":
        _check_search_result(block, where)


def _check_tool_use(block: Json, where: str) -> None:
    if not isinstance(block.get("input"), dict):
        raise bad(f"{where}.tool_use.input: Input should be a valid dictionary")
    for key, pattern in (("id", r"[a-zA-Z0-9_-]+"), ("name", r"[a-zA-Z0-9_-]{1,128}")):
        if not re.fullmatch(pattern, block.get(key, "")):
            raise bad(f"{where}.tool_use.{key}: String should match pattern '^{pattern}$'")


def _check_text(block: Json, role: str, where: str) -> None:
    text = block.get("text")
    if not isinstance(text, str) or not text:
        raise bad(f"{where}.text: text content blocks must be non-empty")
    if not text.strip():
        raise bad(f"{where}.text: text content blocks must contain non-whitespace text")
    if role == "user" and block.get("citations"):
        raise bad(f"{where}.citations: citations are not permitted on text blocks in user messages")


def _check_result_content(content: object, where: str) -> None:
    if isinstance(content, str):
        return
    blocks = long_form(content, where)
    kinds = {block.get("type") for block in blocks}
    if "search_result" in kinds and len(kinds) > 1:
        raise bad(f"{where}: search_result blocks cannot be mixed with other block types")
    for place, block in enumerate(blocks):
        _check_block(block, "user", f"{where}.{place}")


def _check_search_result(block: Json, where: str) -> None:
    for key in ("source", "title"):
        if not isinstance(block.get(key), str) or not block[key].strip():
            raise bad(f"{where}.{key}: must be a non-empty string")
    for place, inner in enumerate(long_form(block.get("content"), f"{where}.content")):
        if inner.get("type") != "text":
            raise bad(f"{where}.content.{place}: only text is allowed in a search_result")
        _check_block(inner, "user", f"{where}.content.{place}")


def _check_pairs(messages: list[Json]) -> None:
    """Calls and results are answered in the very next message, results before anything else."""
    open_ids: list[str] = []
    for number, message in enumerate(messages):
        blocks = message["content"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if missing := [name for name in open_ids if name not in results]:
            raise bad(
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}"
            )
        if orphans := [name for name in results if name not in open_ids]:
            raise bad(f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {orphans[0]}")
        if len(set(results)) < len(results):
            raise bad(f"messages.{number}: each tool_use must have a single result")
        if any(block["type"] == "tool_result" for block in blocks[len(results) :]):
            raise bad(f"messages.{number}: `tool_result` blocks must come first in a message")
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(set(open_ids)) < len(open_ids):
            raise bad(f"messages.{number}: `tool_use` ids must be unique")
    if open_ids:
        raise bad(f"`tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(open_ids)}")


def search_results(messages: list[Json]) -> list[Json]:
    """All search results of a request in order: citations count them so."""
    found = []
    for message in messages:
        for block in message["content"]:
            inner = block.get("content") if block["type"] == "tool_result" else [block]
            found += [item for item in inner or () if isinstance(item, dict) and item.get("type") == "search_result"]
    return found


def _check_search_results(messages: list[Json]) -> None:
    results = search_results(messages)
    if len({(result.get("citations") or {}).get("enabled", False) for result in results}) > 1:
        raise bad("citations must be enabled on all or none of the search results")
    for message in messages:
        for block in message["content"]:
            for citation in block.get("citations") or () if block["type"] == "text" else ():
                _check_citation(citation, results)


def _check_citation(citation: Json, results: list[Json]) -> None:
    index = citation["search_result_index"]
    result = results[index] if index < len(results) else {}
    span = slice(citation["start_block_index"], citation["end_block_index"])
    cited = "".join(block["text"] for block in result.get("content", [])[span])
    if (result.get("source"), cited) != (citation["source"], citation["cited_text"]):
        raise bad(f"citations: search_result_index {index} does not match the search results of this request")


def _check_signatures(body: Json, messages: list[Json]) -> None:
    for number, message in enumerate(messages):
        for place, block in enumerate(message["content"]):
            if block["type"] != "thinking":
                continue
            before = [*messages[:number], {**message, "content": message["content"][:place]}]
            if block.get("signature") != signature(body, before, block["thinking"]):
                raise bad(
                    f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block. "
                    "The block is bound to a different conversation."
                )


def signature(body: Json, messages: list[Json], thinking: str) -> str:
    """A signature over the system text, the tools, all messages so far, and the thinking itself."""
    system = long_form(body["system"], "system") if body.get("system") else []
    signed = unmarked([body["model"], system, body.get("tools", []), messages, thinking])
    return hmac.new(b"double", json.dumps(signed, sort_keys=True).encode(), hashlib.sha256).hexdigest()


def unmarked(value: Any) -> Any:
    """Without cache marks: they are no part of what a model reads."""
    if isinstance(value, dict):
        return {key: unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value

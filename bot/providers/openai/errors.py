"""The errors of servers with a chat completions API, each in its own words, and the form of messages some ask for.

This module imports the SDK, so import it only where the SDK is in use already.
"""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2s
from typing import Any, Final

import httpx2
import openai

from bot.providers.base import REFUSING, STATUS_CODES, never_connected, speaks_against_tools
from domain.errors import LLMErrorCode

_CODES: Final = {
    "invalid_api_key": LLMErrorCode.API_KEY_MISSING,
    "model_not_found": LLMErrorCode.UNKNOWN_MODEL,
    "insufficient_quota": LLMErrorCode.OUT_OF_CREDIT,
    "rate_limit_exceeded": LLMErrorCode.RATE_LIMITED,
    "context_length_exceeded": LLMErrorCode.CONTEXT_EXCEEDED,
    "exceed_context_size_error": LLMErrorCode.CONTEXT_EXCEEDED,  # llama.cpp's type
    "content_filter": LLMErrorCode.REFUSED,  # Azure
    "DeploymentNotFound": LLMErrorCode.UNKNOWN_MODEL,
    "model_decommissioned": LLMErrorCode.UNKNOWN_MODEL,  # Groq
    "invalid_model": LLMErrorCode.UNKNOWN_MODEL,  # Mistral's type
}

_SAID: Final = (
    (
        LLMErrorCode.CONTEXT_EXCEEDED,
        # OpenAI, vLLM, llama.cpp, LM Studio, TGI ("`inputs` tokens + `max_new_tokens` must be <= 4096"), LiteLLM
        r"maximum context length|context (?:size|length|window)|contextwindow|prompt is too long"
        r"|input (?:is|was) too long"
        r"|too many (?:input )?tokens|(?:inputs?|tokens)\W.{0,60}must (?:be|have).{0,20}(?:<=|less than|at most)\s*\d"
        r"|n_ctx|max(?:imum)?_model_len|exceeds? the (?:available|maximum).{0,20}(?:context|token)"
        r"|max_tokens must be at least 1, got -|max(?:imum)? model length"
        r"|(?:input is|prompt is|prompt|request) too (?:large|long)"
        r"|too large (?:for model|to process)|reduce your message size"
        # Kimi, xAI, Z.ai, Copilot, Qwen
        r"|model token limit|maximum prompt length|prompt exceeds max(?:imum)? length|prompt token count"
        r"|range of input length",
    ),
    (
        LLMErrorCode.UNKNOWN_MODEL,
        # LiteLLM, Ollama, vLLM, LM Studio, OpenRouter
        r"invalid model name|model\b.{0,120}\b(?:not found|does not exist|is not (?:a valid|available|found))"
        r"|no (?:such )?models? (?:found|named)|not a valid model|unknown model|try pulling it"
        r"|invalid model\b|model not exist|decommissioned|deployment\b.{0,60}\bdoes not exist"
        r"|could not find (?:real modelid|suitable inference handler)",  # llama-swap
    ),
    (
        LLMErrorCode.OUT_OF_CREDIT,
        r"insufficient (?:credits?|balance|quota|funds)|requires more credits|credit balance|billing"
        r"|budget has been exceeded",
    ),
    (
        LLMErrorCode.API_KEY_MISSING,
        # LiteLLM without a database says "No connected db." to every key that is not its own
        r"(?:invalid|incorrect|missing|no) (?:api[ _-]?key|auth)|unauthori[sz]ed|authentication|no_db_connection"
        r"|api[ _]key (?:is )?(?:not valid|invalid)|subscription key",
    ),
    (LLMErrorCode.REFUSED, r"content management policy|requires moderation|input was flagged"),
    (LLMErrorCode.RATE_LIMITED, r"rate.?limit|too many requests|slow down"),
    (
        LLMErrorCode.OVERLOADED,
        r"overloaded|no (?:available )?(?:slot|worker)|at capacity|server busy|capacity exceeded|service ?unavailable"
        # LiteLLM, where the server behind it is away
        r"|connection error|cannot connect to host|connection refused|no healthy upstream",
    ),
    (LLMErrorCode.TIMEOUT, r"timed? ?out"),
    (
        LLMErrorCode.CONNECTION_LOST,
        # LiteLLM, where the server behind it has gone in the middle of a reply
        r"payload is not completed|incomplete (?:chunked )?read|peer closed connection|server disconnected"
        r"|connection (?:broken|aborted|reset|closed)",
    ),
)
_PATTERNS: Final = tuple((code, re.compile(said, re.IGNORECASE | re.DOTALL)) for code, said in _SAID)

_NOT_READY: Final = re.compile(
    # LM Studio, llama.cpp
    r"\bmodel (?:is |was )?unloaded|no models? (?:is |are )?(?:currently )?loaded|the model has crashed"
    r"|model (?:is not|has not been|isn't) (?:loaded|running|ready)|failed to load (?:the )?(?:model|llm)\b"
    r"|error loading model"
    r"|loading (?:the )?model\b|model\b.{0,80}\bis (?:still |currently )?loading|model loading (?:aborted|was stopped)"
    r"|model name=\S+ (?:failed to load|is not running)"
    # Ollama
    r"|model runner has unexpectedly stopped|more system memory\b|model failed to load|unable to load model"
    r"|llama[ -](?:runner|server)\b.{0,40}\b(?:terminated|no longer running|to start)|\bpost predict\b"
    # vLLM, and others
    r"|engine\w* (?:core )?(?:encountered an issue|is dead|died|has stopped)|enginedead"
    r"|out of memory|background loop (?:has errored|is not running|is stopped)"
    r"|server is (?:not ready|starting|shutting down)",
    re.IGNORECASE | re.DOTALL,
)
"""What servers say whose model is known to them but cannot answer now; some give it the code of an unknown model."""

OPTIONAL_FIELDS: Final = ("stream_options", "tool_choice", "max_tokens")
"""Fields that a request can do without; each is left out once a server has refused it by name."""

_NO_NULL: Final = re.compile(
    r"content\W{1,4}.{0,60}(?:valid string|must be (?:a )?(?:non-null )?string|not be null|string_type)"
    r"|string_type.{0,120}\bcontent\b",
    re.IGNORECASE | re.DOTALL,
)

_NO_ROLES: Final = re.compile(
    r"roles must alternate|only user and assistant roles"
    r"|system (?:role|messages?|prompts?|instructions?) (?:is |are )?not (?:supported|enabled)"
    r"|not support (?:the )?['\"]?system\b",
    re.IGNORECASE,
)
_TEMPLATE: Final = re.compile(r"prompt with jinja template|\btemplate error\b|chat template error", re.IGNORECASE)
"""LM Studio, TGI."""

_WINDOW: Final = (
    re.compile(r"(?:n_ctx|max_model_len)\W{0,4}(\d{3,8})"),
    re.compile(
        r"(?:context (?:length|size|window)|(?:model|prompt) length|<=|at most|less than|tokens allowed|: limit"
        r"|token limit|the limit of|cannot exceed|input length should be \[1)"
        r"(?:(?!\bby\b)\D){0,40}?(?<!limit \()(\d{3,8})",  # MiniMax has its code behind "limit"
        re.IGNORECASE,
    ),
    re.compile(r"(\d{3,8}) (?:tokens? )?(?:context|maximum|limit)", re.IGNORECASE),
)
LENGTH_OF_STATUS: Final = 3
"""Digits; Mistral's own codes have four."""
_TOO_LARGE: Final = re.compile(r"\brequest too large for\b", re.IGNORECASE)
"""Groq says so where a single request exceeds what it accepts in a minute: waiting does not help, less does."""
LEAST_WINDOW: Final = 512
"""Tokens; a smaller number in an error is something else, such as its status."""


def error_code(error: Exception) -> LLMErrorCode:
    """The domain's code. An error in mid-stream has no status, only its body."""
    if never_connected(error):
        return LLMErrorCode.CONNECTION_LOST
    match error:
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return LLMErrorCode.TIMEOUT
        case openai.APIConnectionError() | httpx2.TransportError():
            return LLMErrorCode.CONNECTION_LOST
        case openai.APIError():
            return _reported_code(error)
        case _:
            return LLMErrorCode.API_CALL_FAILED


def refuses_tools(error: Exception) -> bool:
    """Whether the server says that this model cannot use tools, by an error's status or in the stream."""
    is_refusal = not isinstance(error, openai.APIStatusError) or error.status_code in REFUSING
    return is_refusal and speaks_against_tools(words_of(error))


def botched_call(error: openai.APIStatusError) -> bool:
    """Whether the model has written a call that Groq could not read; the next try is another one."""
    return error.code == "tool_use_failed"


def status_of(error: openai.APIError) -> int:
    """The status of a refusal; in mid-stream there is none, and what is refused there is the request."""
    return error.status_code if isinstance(error, openai.APIStatusError) else 400


def wants_short_ids(error: openai.APIError) -> bool:
    """Whether the server takes only ids of calls as short as its own, as Mistral does."""
    return status_of(error) in (400, 422) and bool(
        re.search(r"tool call id\b.{0,80}length of 9", words_of(error), re.I)
    )


def refuses_null(error: openai.APIError) -> bool:
    """Whether the server wants an empty content in place of none beside tool calls, as llama-cpp-python does."""
    return status_of(error) in (400, 422, 500) and bool(_NO_NULL.search(words_of(error)))


def refuses_roles(error: openai.APIError) -> bool:
    """Whether the model's template takes no system message, or only roles that alternate, as those of Gemma and
    Mistral do.
    """
    return status_of(error) in (400, 422, 500) and bool(_NO_ROLES.search(words_of(error)))


def alternating(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages with the system text in front of the first question, and texts of one role in a row in one."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        role = "user" if message["role"] == "system" else message["role"]
        last = joined[-1] if joined else {}
        if last.get("role") == role and _is_text(last) and _is_text(message):
            joined[-1] = {"role": role, "content": f"{last['content']}\n\n{message['content']}"}
        else:
            joined.append({**message, "role": role})
    return joined


def _is_text(message: Mapping[str, Any]) -> bool:
    return isinstance(message["content"], str) and message["role"] != "tool" and "tool_calls" not in message


def with_short_ids(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with ids of calls that have nine letters and digits."""

    def short(call_id: str) -> str:
        return blake2s(call_id.encode()).hexdigest()[:9]

    match message:
        case {"tool_call_id": str(call_id)}:
            return {**message, "tool_call_id": short(call_id)}
        case {"tool_calls": list(calls)}:
            return {**message, "tool_calls": [{**call, "id": short(call["id"])} for call in calls]}
    return {**message}


def is_about_template(error: Exception) -> bool:
    """Whether the model's template could not be filled in; with tools, these are the likely reason."""
    return isinstance(error, openai.APIError) and bool(_TEMPLATE.search(words_of(error)))


def told_window(error: Exception) -> int:
    """The context window in tokens that an error names; 0 if it names none."""
    said = words_of(error).replace(",", "")
    numbers = (int(found[1]) for pattern in _WINDOW for found in pattern.finditer(said))
    return next((number for number in numbers if number >= LEAST_WINDOW), 0)


def words_of(error: Exception) -> str:
    """The server's complete message, from wherever in the response it is."""
    body = getattr(error, "body", None)
    written = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False) if body else ""
    return f"{getattr(error, 'message', '')} {written}"


def sentence_of(error: Exception) -> str:
    """The server's sentence about the error."""
    said = _inner(getattr(error, "body", None))
    if not said and isinstance(error, openai.APIStatusError):
        said = _inner(_loaded(error.response.text)) or error.response.text
    return said


def _inner(body: Any) -> str:
    """The message in a body: OpenAI has it under error.message, LM Studio, TGI and Ollama under error, FastAPI under
    detail.
    """
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return next((said for item in body if (said := _inner(item))), "")
    if isinstance(body, Mapping):
        names = ("message", "error", "detail", "msg", "reason", "title", "metadata", "raw")
        return next((said for name in names if (said := _inner(body.get(name)))), "")
    return ""


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _reported_code(error: openai.APIError) -> LLMErrorCode:
    if _NOT_READY.search(words_of(error)):
        return LLMErrorCode.OVERLOADED
    body = error.body if isinstance(error.body, Mapping) else {}
    reported = str(error.code or body.get("code") or "")
    for name in (reported, str(error.type or body.get("type") or "")):
        if name in _CODES and not _TOO_LARGE.search(words_of(error)):
            return _CODES[name]
    status = error.status_code if isinstance(error, openai.APIStatusError) else 0
    written = status or (int(reported) if reported.isdecimal() and len(reported) == LENGTH_OF_STATUS else 0)
    said = f"{reported} {error.type} {words_of(error)}"
    if written in (0, 400, 403, 404, 413, 422, 500, 502, 503):
        for code, pattern in _PATTERNS:
            if pattern.search(said):
                return code
    return STATUS_CODES.get(written, LLMErrorCode.API_CALL_FAILED)

"""What the errors of OpenAI's SDK mean, as OpenAI and the servers that speak its language use them."""

import re
from typing import Final

import httpx2
import openai

from bot.providers.base import STATUS_CODES, never_connected
from domain.errors import LLMErrorCode

_CODES: Final = {
    "invalid_api_key": LLMErrorCode.API_KEY_MISSING,
    "model_not_found": LLMErrorCode.UNKNOWN_MODEL,
    "insufficient_quota": LLMErrorCode.OUT_OF_CREDIT,
    "rate_limit_exceeded": LLMErrorCode.RATE_LIMITED,
    "context_length_exceeded": LLMErrorCode.CONTEXT_EXCEEDED,
}

_TOO_LONG: Final = re.compile(r"maximum context length|context (size|length|window)|prompt is too long", re.IGNORECASE)

_NO_TOOLS: Final = re.compile(
    r"not support (tools|tool use|function)"  # Ollama
    r"|support tool use"  # OpenRouter
    r"|--enable-auto-tool-choice"  # vLLM
    r"|unsupported param: tools|tools param requires",  # llama.cpp
    re.IGNORECASE,
)


def error_code(error: Exception) -> LLMErrorCode:
    """An error reported in mid-stream has no status, only what its body says."""
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
    """Whether the server says that this model, as it is served, cannot use tools."""
    return isinstance(error, openai.APIStatusError) and bool(_NO_TOOLS.search(error.message))


def _reported_code(error: openai.APIError) -> LLMErrorCode:
    reported = error.code or ""
    if reported in _CODES:
        return _CODES[reported]
    status = error.status_code if isinstance(error, openai.APIStatusError) else 0
    if status in (0, 400) and _TOO_LONG.search(error.message):
        return LLMErrorCode.CONTEXT_EXCEEDED
    if "overloaded" in f"{reported} {error.type} {error.message}".lower():
        return LLMErrorCode.OVERLOADED
    written = int(reported) if reported.isdecimal() else 0
    return STATUS_CODES.get(status or written, LLMErrorCode.API_CALL_FAILED)

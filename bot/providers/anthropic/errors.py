"""The errors of Anthropic's API. This module imports the SDK, so import it only where the SDK is in use already."""

import re
from typing import Final

import anthropic
import httpx2

from bot.providers.base import REFUSING, STATUS_CODES, never_connected, refused_field, speaks_against_tools
from domain.errors import LLMErrorCode

_TYPES: Final = {
    "authentication_error": LLMErrorCode.API_KEY_MISSING,
    "permission_error": LLMErrorCode.API_KEY_MISSING,
    "billing_error": LLMErrorCode.OUT_OF_CREDIT,
    "not_found_error": LLMErrorCode.UNKNOWN_MODEL,
    "rate_limit_error": LLMErrorCode.RATE_LIMITED,
    "overloaded_error": LLMErrorCode.OVERLOADED,
    "timeout_error": LLMErrorCode.TIMEOUT,
    "request_too_large": LLMErrorCode.CONTEXT_EXCEEDED,
}


_TOO_LONG: Final = ("prompt is too long", "exceed context limit")
"""The prompt alone is too long, or the prompt together with the space for the answer."""


def error_code(error: Exception) -> LLMErrorCode:
    """The domain's code. A connection lost in mid-stream raises an exception of httpx2, not of the SDK."""
    if never_connected(error):
        return LLMErrorCode.CONNECTION_LOST
    match error:
        case anthropic.APIStatusError():
            return _status_code(error)
        case anthropic.APITimeoutError() | httpx2.TimeoutException():
            return LLMErrorCode.TIMEOUT
        case anthropic.APIConnectionError() | httpx2.TransportError():
            return LLMErrorCode.CONNECTION_LOST
        case _:
            return LLMErrorCode.API_CALL_FAILED


def is_about_thinking(error: anthropic.APIStatusError) -> bool:
    """Whether the API rejects signed thinking in the history because the messages before it have changed."""
    message = error.api_message or ""
    return "thinking" in message and ("signature" in message or "different conversation" in message)


OPTIONAL_FIELDS: Final = ("output_config", "thinking", "cache_control", "tool_choice")
"""Fields that a request can do without; each is left out once a server with this API has refused it by name."""


def refused(error: anthropic.APIStatusError) -> str:
    """The field of OPTIONAL_FIELDS that the server refuses, or an empty string."""
    return refused_field(sentence_of(error), OPTIONAL_FIELDS) if error.status_code in REFUSING else ""


def refuses_tools(error: anthropic.APIStatusError) -> bool:
    """Whether the server says that its model cannot use tools."""
    return error.status_code in REFUSING and speaks_against_tools(sentence_of(error))


def _status_code(error: anthropic.APIStatusError) -> LLMErrorCode:
    """The status code of an error, by its type first: an error in mid-stream has status 200."""
    message = error.api_message or ""
    if error.type == "invalid_request_error" and any(words in message for words in _TOO_LONG):
        return LLMErrorCode.CONTEXT_EXCEEDED
    if error.type == "invalid_request_error" and "credit balance is too low" in message:
        return LLMErrorCode.OUT_OF_CREDIT
    by_status = STATUS_CODES.get(error.status_code, LLMErrorCode.API_CALL_FAILED)
    return _TYPES.get(error.type or "", by_status)


def told_window(error: Exception) -> int:
    """The context window in tokens that an error names ("… 210000 tokens > 200000 maximum"); 0 if it names none."""
    found = re.search(r">\s*(\d{3,8})", sentence_of(error))
    return int(found[1]) if found else 0


def sentence_of(error: Exception) -> str:
    """The API's own sentence about the error."""
    return (error.api_message or "") if isinstance(error, anthropic.APIStatusError) else ""

"""What differs between servers with a chat completions API: their errors, and the form of messages they ask for.

This module imports the SDK, so import it only where the SDK is in use already.
"""

import json
import logging
import re
from collections.abc import Container, Iterable, Mapping, Set
from hashlib import blake2s
from typing import Any, Final

import httpx2
import openai

from bot.private import fault_of_connection
from bot.providers.base import REFUSING, as_wait, never_connected
from bot.providers.openai.stream import DETAILS, SIGNED, THINKING
from bot.providers.wordings import (
    code_in,
    code_of,
    code_of_silence,
    count_in,
    refused_field,
    sentence_in,
    speaks_against_tools,
    speaks_of_unread_call,
    window_in,
    without_input,
    without_proxy,
)
from domain.errors import LLMErrorCode

logger = logging.getLogger(__name__)

_CODES: Final = {
    "invalid_api_key": LLMErrorCode.API_KEY_MISSING,
    "model_not_found": LLMErrorCode.UNKNOWN_MODEL,
    "insufficient_quota": LLMErrorCode.OUT_OF_CREDIT,
    "rate_limit_exceeded": LLMErrorCode.RATE_LIMITED,
    "exceeded_current_quota_error": LLMErrorCode.OUT_OF_CREDIT,  # Kimi's type
    "context_length_exceeded": LLMErrorCode.CONTEXT_EXCEEDED,
    "exceed_context_size_error": LLMErrorCode.CONTEXT_EXCEEDED,  # llama.cpp's type
    "content_filter": LLMErrorCode.REFUSED,  # Azure
    "DeploymentNotFound": LLMErrorCode.UNKNOWN_MODEL,
    "model_decommissioned": LLMErrorCode.UNKNOWN_MODEL,  # Groq
    "invalid_model": LLMErrorCode.UNKNOWN_MODEL,  # Mistral's type
}

_NEWER_LIMIT: Final = "max_completion_tokens"
"""What OpenAI's newer models, and servers that follow them, take in place of `max_tokens`."""
NEEDED: Final = frozenset({"model", "messages", "stream", "tools", "response_format"})
"""Fields that a request cannot do without. Any other is left out once a server has refused it."""

_NO_NULL: Final = re.compile(
    r"content\W{1,4}.{0,60}(?:valid string|must be (?:a )?(?:non-null )?string|not be null|string_type|got null)"
    r"|string_type.{0,120}\bcontent\b"
    # templates: llama.cpp ("Cannot subscript null at row 23"), LM Studio, vLLM, TGI
    r"|\bnull at row\b|\bproperties of null\b|\bnull(?:/undefined)? values?\b|NullValue|NoneType|<nil>|\band none\b",
    re.IGNORECASE | re.DOTALL,
)

_NO_ROLES: Final = re.compile(
    r"roles must alternate|only user and assistant roles"
    r"|system (?:role|messages?|prompts?|instructions?) (?:is |are )?not (?:supported|enabled)"
    r"|not support (?:the )?['\"]?system\b",
    re.IGNORECASE,
)
_NO_QUESTION: Final = re.compile(r"unexpected role \W?user\W? after role \W?tool\b", re.IGNORECASE)
"""Mistral."""
_NO_STREAM: Final = re.compile(
    # OpenAI, of organizations that are not verified; Bedrock, of some models' calls; others
    r"verified to stream|tool use in streaming mode"
    r"|\bstream(?:ing)?\b.{0,40}\b(?:not (?:\w+ )?(?:supported|available|allowed)|unsupported)"
    r"|(?:not support|unsupported)\b.{0,40}\bstream(?:ing)?\b",
    re.IGNORECASE,
)
_TEMPLATE: Final = re.compile(r"prompt with jinja template|\btemplate error\b|chat template error", re.IGNORECASE)
"""LM Studio, TGI."""

_WANTED: Final = (
    # Gemini, itself and behind OpenRouter; DeepSeek, MiMo ("must be passed back"), Kimi ("is missing")
    (re.compile(r"thought_?signature|openrouter reasoning details", re.IGNORECASE), (SIGNED, DETAILS)),
    (
        re.compile(
            r"reasoning[ _]content\W.{0,60}(?:must be|is missing|is required)"
            r"|(?:missing|must include) .?reasoning_content",
            re.IGNORECASE | re.DOTALL,
        ),
        (THINKING,),
    ),
)
"""How servers ask for the thinking that led to calls, and the fields in which they want it."""

_NO_EFFORT: Final = re.compile(
    r"\bfunction tools\b.{0,40}\breasoning_effort\b|set reasoning_effort to \W?none", re.IGNORECASE
)
"""OpenAI, of models that can use tools only without thinking, and that think unless told not to."""

LONGEST_READ: Final = 5_000
"""Characters of an error in which its reason is looked for, which takes up to 7 ms per thousand."""
FAILED: Final = 500
"""The status of a failure of the server, and of refusals by some that have no other for these."""
LENGTH_OF_STATUS: Final = 3
"""Digits; Mistral's own codes have four."""
_PLAIN: Final = frozenset({401, 402, 405, 408, 429, 504, 524, 529})
"""The status of errors that needs no words to be understood; others are used for more than one thing."""
_NO_BALANCE: Final = re.compile(r"insufficient (?:balance|credits?|funds)|余额不足|欠费", re.IGNORECASE)
"""Z.ai says so with the status of a rate limit; others speak of billing there that only have a rate limit."""
_TOO_LARGE: Final = re.compile(r"\brequest too large for\b", re.IGNORECASE)
"""Groq says so where a single request exceeds what it accepts in a minute: waiting does not help, less does."""

_SECONDS = r"\d{1,9}(?:\.\d{1,9})?"
_WAIT: Final = re.compile(
    rf"\"retryDelay\": ?\"(?P<delay>{_SECONDS})s\"|\btry again in "
    rf"(?:(?P<hours>\d{{1,4}})h)?(?:(?P<minutes>\d{{1,4}})m(?!s))?(?:(?P<seconds>{_SECONDS})s|(?P<milliseconds>{_SECONDS})ms)?"
)
"""Gemini says it in a detail of its own, OpenAI and Groq in their sentence: "Please try again in 1m2.5s"."""


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
    if not isinstance(error, openai.APIError) or status_of(error) not in REFUSING:
        return False
    if botched_call(error) or refuses_question(error):
        return False
    return speaks_against_tools(words_of(error)) or bool(wanted_thinking(error))


def botched_call(error: Exception) -> bool:
    """Whether the model has written a call that the server could not read; the next try is another one."""
    is_groq = getattr(error, "code", None) == "tool_use_failed"
    return is_groq or (isinstance(error, openai.APIError) and speaks_of_unread_call(sentence_of(error)))


def status_of(error: Exception) -> int:
    """The status of a refusal; in mid-stream there is none, and what is refused there is the request."""
    return error.status_code if isinstance(error, openai.APIStatusError) else 400


def wants_short_ids(error: openai.APIError) -> bool:
    """Whether the server takes only ids of calls as short as its own, as Mistral does."""
    return status_of(error) in (400, 422) and bool(
        re.search(r"tool call id\b.{0,80}length of 9", words_of(error), re.I)
    )


def refuses_null(error: openai.APIError, sent: Mapping[str, Any]) -> bool:
    """Whether the server, or its model's template, wants an empty content in place of none beside tool calls."""
    has_null = any(message["content"] is None for message in sent["messages"])
    return has_null and status_of(error) in (400, 422, 500) and bool(_NO_NULL.search(words_of(error)))


def refuses_roles(error: openai.APIError) -> bool:
    """Whether the model's template takes no system message, or only roles that alternate, as those of Gemma and
    Mistral do.
    """
    return status_of(error) in (400, 422, 500) and bool(_NO_ROLES.search(words_of(error)))


def refuses_question(error: openai.APIError) -> bool:
    """Whether the server takes no message of a person right after results, as when a model is asked once more."""
    return status_of(error) in (400, 422, 500) and bool(_NO_QUESTION.search(words_of(error)))


def refuses_stream(error: openai.APIError) -> bool:
    """Whether the server gives such a reply only in one piece."""
    return status_of(error) in REFUSING and bool(_NO_STREAM.search(words_of(error)))


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


def with_replies(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Messages with a reply without words between results and what follows them from a person."""
    replied: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "user" and replied and replied[-1]["role"] == "tool":
            replied.append({"role": "assistant", "content": "…"})
        replied.append({**message})
    return replied


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


def is_unexplained(error: Exception) -> bool:
    """Whether a server has refused a request for a reason that is not known: it may be a field, in whatever words."""
    if not isinstance(error, openai.APIError) or status_of(error) not in REFUSING:
        return False
    is_known = botched_call(error) or refuses_tools(error) or is_about_template(error)
    return not is_known and error_code(error) is LLMErrorCode.API_CALL_FAILED


def is_about_template(error: Exception) -> bool:
    """Whether the model's template could not be filled in; with tools, these are the likely reason."""
    return isinstance(error, openai.APIError) and bool(_TEMPLATE.search(words_of(error)))


def told_window(error: Exception) -> int:
    """The context window in tokens that an error names; 0 if it names none."""
    return window_in(sentence_of(error)) or window_in(words_of(error))


def told_wait(error: Exception) -> float | None:
    """The seconds to wait that an error's body names, as those of Gemini, OpenAI and Groq do; None if it names none."""
    found = _WAIT.search(words_of(error))
    if not found or not any(found.groups()):
        return None
    seconds = float(found["delay"] or found["seconds"] or 0) + float(found["milliseconds"] or 0) / 1000
    return as_wait(3600 * int(found["hours"] or 0) + 60 * int(found["minutes"] or 0) + seconds)


def told_count(error: Exception) -> int:
    """The tokens of a request that an error says were counted; 0 if it does not say."""
    window = told_window(error)
    return count_in(words_of(error), 0) or count_in(sentence_of(error), window)


def words_of(error: Exception) -> str:
    """The server's message, from wherever in the response it is; of a page that is sent in its place, the beginning."""
    body = getattr(error, "body", None)
    written = body if isinstance(body, str) else json.dumps(without_input(body), ensure_ascii=False) if body else ""
    return without_proxy(f"{getattr(error, 'message', '')[:LONGEST_READ]} {written[:LONGEST_READ]}")


def sentence_of(error: Exception) -> str:
    """The server's sentence about the error, or what keeps it from saying one."""
    said = sentence_in(getattr(error, "body", None))
    if not said and isinstance(error, openai.APIStatusError):
        said = sentence_in(error.response.text)
    return without_proxy(said) or fault_of_connection(error)


def _reported_code(error: openai.APIError) -> LLMErrorCode:
    if silent := code_of_silence(words_of(error)):
        return silent
    body = error.body if isinstance(error.body, Mapping) else {}
    reported = str(error.code or body.get("code") or "")
    for name in (reported, str(error.type or body.get("type") or "")):
        if name in _CODES and not _TOO_LARGE.search(words_of(error)):
            return _CODES[name]
    status = error.status_code if isinstance(error, openai.APIStatusError) else 0
    written = status or (int(reported) if reported.isdecimal() and len(reported) == LENGTH_OF_STATUS else 0)
    said = " ".join(filter(None, (reported, str(error.type or ""), words_of(error))))
    is_plain = written in _PLAIN and not _NO_BALANCE.search(said)
    by_words = None if is_plain else code_in(said)
    return by_words or code_of(written, said)


def wanted_thinking(error: Exception) -> set[str]:
    """The fields with the model's thinking that the server wants back with the history; empty if it wants none."""
    if not isinstance(error, openai.APIError) or status_of(error) not in REFUSING:
        return set()
    said = words_of(error)
    return {name for pattern, names in _WANTED if pattern.search(said) for name in names}


def with_thinking(message: Mapping[str, Any], wanted: Set[str]) -> dict[str, Any]:
    """The message with those fields only. Where there is no thinking, servers that want some take a blank."""
    kept = without(message, {THINKING, DETAILS} - wanted)
    if THINKING in wanted and message["role"] == "assistant":
        kept[THINKING] = message.get(THINKING) or " "
    if SIGNED not in wanted and "tool_calls" in message:
        kept["tool_calls"] = [without(call, {SIGNED}) for call in message["tool_calls"]]
    return kept


def is_error(name: str, data: object) -> bool:
    """Whether an event reports an error in place of a piece of the reply, or is nothing that a stream has."""
    if not isinstance(data, dict):
        return data is not None and name in ("", "error")  # words under another name keep the connection open
    if name == "error" or data.get("error") or data.get("object") == "error":
        return True
    return not data.get("choices") and bool(sentence_in(data))


def as_chunk(body: object, request: httpx2.Request) -> dict[str, Any]:
    """A reply that came in one piece, read or as text, as the only chunk of a stream.

    Raises:
        openai.APIError: it is an error, a page that a proxy sent, or only the beginning of a reply.
    """
    content: Any = _loaded(body) if isinstance(body, str) else body
    match content:
        case {"choices": [{"message": dict()} as choice, *_]}:
            return {**content, "choices": [{**choice, "finish_reason": choice.get("finish_reason") or "stop"}]}
        case {"error": error} if error:
            raise openai.APIError("There is no reply.", request=request, body=error)
        case str() if '"choices"' in content:
            raise openai.APIConnectionError(message="The reply broke off.", request=request)
    raise openai.APIError("There is no reply.", request=request, body=content)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


class AcceptedForm:
    """The form of request that a server takes, as far as its refusals have shown."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._has_newer_limit = False
        self._accepted: set[str] = set()
        self._suspected: set[str] = set()
        self._refused: set[str] = set()
        self._refuses_null = False
        self._has_short_ids = False
        self._alternates = False
        self._replies_to_results = False
        self._thinking: set[str] = set()
        self._thinks_without_tools = False

    def applied(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request without what the server has refused."""
        if self._max_tokens:
            request = {"max_tokens": self._max_tokens, **request}
        if self._has_newer_limit and "max_tokens" in request:
            request = {_NEWER_LIMIT: request["max_tokens"], **without(request, {"max_tokens"})}
        if self._thinks_without_tools and "tools" in request:
            request = {**request, "reasoning_effort": "none"}
        kept = without(request, self._refused)
        kept["messages"] = [with_thinking(message, self._thinking) for message in kept["messages"]]
        if self._refuses_null:
            kept["messages"] = [{**message, "content": message["content"] or ""} for message in kept["messages"]]
        if self._replies_to_results:
            kept["messages"] = with_replies(kept["messages"])
        if self._has_short_ids or self._alternates:
            messages = map(with_short_ids, kept["messages"]) if self._has_short_ids else kept["messages"]
            kept["messages"] = alternating(messages) if self._alternates else list(messages)
        return kept

    def doubted(self, refusal: Exception, sent: Iterable[str]) -> set[str]:
        """The fields that may be why a request was refused for an unknown reason: those that no accepted one had."""
        return {name for name in sent if name not in self._accepted} if is_unexplained(refusal) else set()

    def accept(self, sent: Iterable[str]) -> None:
        """Learn from a request that was answered."""
        self._accepted.update(sent)

    def proves(self, fields: set[str], refusal: Exception) -> bool:
        """Whether the server refuses these fields, after a request was answered without them right after a refusal.

        A failure of the server may have passed by itself: it has to come twice.
        """
        is_proven = status_of(refusal) != FAILED or fields <= self._suspected
        self._suspected |= fields
        return is_proven

    def leave_out(self, fields: set[str], model: str) -> None:
        """Send the fields no more."""
        if new := fields - self._refused:
            logger.warning("%s does not take %s: left out from now on", model, ", ".join(sorted(new)))
        self._refused |= fields

    def learn(self, refusal: openai.APIError, sent: dict[str, Any]) -> None:
        """Learn from a refusal that is about the form of what was sent, so that `applied` makes another one of it."""
        is_field = status_of(refusal) in REFUSING
        if botched_call(refusal):
            return
        if wanted := wanted_thinking(refusal):
            self._thinking |= wanted
        elif "tools" in sent and _NO_EFFORT.search(words_of(refusal)):
            self._thinks_without_tools = True
        elif "stream" in sent and refuses_stream(refusal):
            self.leave_out({"stream", "stream_options"}, sent["model"])
        elif "max_tokens" in sent and _NEWER_LIMIT in words_of(refusal):
            self._has_newer_limit = True
        elif is_field and (field := refused_field(words_of(refusal), [name for name in sent if name not in NEEDED])):
            self.leave_out({field}, sent["model"])
        elif refuses_null(refusal, sent):
            self._refuses_null = True
        elif wants_short_ids(refusal):
            self._has_short_ids = True
        elif refuses_roles(refusal):
            self._alternates = True
        elif refuses_question(refusal):
            self._replies_to_results = True
        else:
            self._reserve_less(refusal)

    def _reserve_less(self, refusal: openai.APIError) -> None:
        """Keep free half of the window at most, if the room for the reply was too large a part of it."""
        window = told_window(refusal) if error_code(refusal) is LLMErrorCode.CONTEXT_EXCEEDED else 0
        if window:
            self._max_tokens = min(self._max_tokens, window // 2)


def without(request: Mapping[str, Any], fields: Container[str]) -> dict[str, Any]:
    """The request without these fields."""
    return {name: value for name, value in request.items() if name not in fields}

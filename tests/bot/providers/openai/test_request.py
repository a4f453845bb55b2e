"""How a conversation looks to a chat completions API; whether it is accepted is for the strict double to say."""

import json
from dataclasses import replace
from typing import Any

from bot.providers.openai.client import build_request
from domain.chat import PromptMessage
from domain.citations.keys import key_of
from domain.tool_use import RawReply, ToolInvocation
from tests.bot.providers.talk import SEARCH, passage, result, system, user

LOOKING = PromptMessage(
    "assistant", "Looking.", tool_invocations=[ToolInvocation("search_book", {"query": "Königin"}, "a")]
)


def sent(*messages: PromptMessage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = build_request("m", messages, (), call_tools=True)["messages"]
    return found


def test_system_messages_are_one_in_front() -> None:
    assert sent(system("One."), user("Hello"), system("Two."), system(" ")) == [
        {"role": "system", "content": "One.\n\nTwo."},
        {"role": "user", "content": "Hello"},
    ]


def test_tools_are_functions() -> None:
    request = build_request("m", [user("Hello")], [SEARCH], call_tools=True)
    function = {"name": SEARCH.name, "description": SEARCH.description, "parameters": SEARCH.parameters}
    assert request["tools"] == [{"type": "function", "function": function}]
    assert "tool_choice" not in request
    assert build_request("m", [user("Hello")], [SEARCH], call_tools=False)["tool_choice"] == "none"


def test_a_call_and_its_result_are_messages_of_their_own() -> None:
    call, outcome = sent(user("?"), LOOKING, result("a", "Nothing."))[1:]
    assert call["content"] == "Looking."
    assert [(c["id"], c["type"], c["function"]["name"]) for c in call["tool_calls"]] == [
        ("a", "function", "search_book")
    ]
    assert json.loads(call["tool_calls"][0]["function"]["arguments"]) == {"query": "Königin"}
    assert outcome == {"role": "tool", "tool_call_id": "a", "content": "Nothing."}


def test_a_call_without_words_has_no_content() -> None:
    assert sent(user("?"), replace(LOOKING, content=" "))[1]["content"] is None


def test_passages_come_as_sentences_behind_keys_with_the_note_on_top() -> None:
    found = passage("One.", "Two.")
    content = sent(user("?"), LOOKING, replace(result("a", "", found), note="The best of 30."))[-1]["content"]
    first, second = found.sentences
    assert content.startswith("The best of 30.\n\n")
    assert content.endswith(f"[{key_of(first)}] One. [{key_of(second)}] Two.")


def test_a_failure_and_an_empty_result_are_told_in_words() -> None:
    failed = sent(user("?"), LOOKING, result("a", "No such page.", passage("x"), is_error=True))[-1]
    assert failed["content"] == "No such page."
    assert sent(user("?"), LOOKING, result("a", ""))[-1]["content"] == "(nothing)"


def test_notes_go_in_front_and_blank_messages_are_not_sent() -> None:
    assert sent(replace(user("Who?"), note="Ann, on p. 12"), PromptMessage("assistant", " "), user("\n")) == [
        {"role": "user", "content": "Ann, on p. 12\nWho?"}
    ]


def test_a_call_that_was_interrupted_is_answered() -> None:
    assert [message["role"] for message in sent(user("?"), LOOKING, user("!"))] == ["user", "assistant", "tool", "user"]


def test_the_wire_form_of_another_provider_is_not_read() -> None:
    raw = RawReply("anthropic", "m", [{"type": "text", "text": "raw"}])
    assert sent(user("?"), PromptMessage("assistant", "Said.", raw=raw))[1] == {"role": "assistant", "content": "Said."}

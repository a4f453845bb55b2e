"""How a conversation looks to Anthropic's API; whether it is accepted is for the strict double to say."""

from dataclasses import replace

import pytest

from bot.providers.anthropic.messages import Request
from domain.book import Passage
from domain.chat import PromptMessage
from domain.tool_use import RawReply, ToolDefinition, ToolInvocation
from tests.bot.providers.talk import SEARCH, passage, result, system, user

MODEL = "claude-sonnet-5-5"


def calling(*ids: str, text: str = "") -> PromptMessage:
    calls = [ToolInvocation("search_book", {"query": name}, name) for name in ids]
    return PromptMessage("assistant", text, tool_invocations=calls)


def body(*messages: PromptMessage, tools: tuple[ToolDefinition, ...] = ()) -> dict[str, object]:
    return Request(MODEL, messages, tools).body(max_tokens=100)


def sent(*messages: PromptMessage) -> list[dict[str, object]]:
    found = body(*messages)["messages"]
    assert isinstance(found, list)
    return found


def test_system_messages_become_the_system_text_wherever_they_stand() -> None:
    request = body(system("One."), user("Hello"), system("Two."))
    assert request["system"] == [
        {"type": "text", "text": "One."},
        {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}},
    ]
    assert request["messages"] == [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]


def test_tools_are_mapped_and_left_out_when_there_are_none() -> None:
    assert body(user("Hello"), tools=(SEARCH,))["tools"] == [
        {
            "name": SEARCH.name,
            "description": SEARCH.description,
            "input_schema": SEARCH.parameters,
            "cache_control": {"type": "ephemeral"},
        }
    ]
    assert not {"tools", "tool_choice", "system"} & set(body(user("Hello")))


def test_all_results_of_a_round_go_into_one_message_of_their_own() -> None:
    messages = sent(user("?"), calling("a", "b"), result("b", "two"), result("a", "one"), user("And?"))
    assert messages[2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "two"},
                {"type": "tool_result", "tool_use_id": "a", "content": "one"},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "And?"}]},
    ]


def test_two_rounds_stay_two_messages() -> None:
    messages = sent(user("?"), calling("a"), result("a", "one"), calling("b"), result("b", "two"))
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant", "user"]


def test_passages_become_search_results_of_one_block_a_sentence() -> None:
    found = passage("One.", "Two.", start=10, chapter="The Pool", page="iv")
    last = sent(user("?"), calling("a"), result("a", "as text", found))[-1]
    assert last["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "a",
            "content": [
                {
                    "type": "search_result",
                    "source": found.source,
                    "title": "The Pool · p. iv",
                    "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
                    "citations": {"enabled": True},
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (Passage(1, 0, 1, "12", "13", "", passage("x").sentences), "pp. 12-13"),
        (Passage(1, 0, 1, "12", "12", "", passage("x").sentences), "p. 12"),
    ],
)
def test_the_title_of_a_search_result_without_a_chapter(found: Passage, title: str) -> None:
    assert f"'title': '{title}'" in str(sent(user("?"), calling("a"), result("a", "", found)))


def test_notes_go_in_front_of_what_they_are_about() -> None:
    asked = replace(user("Who?"), note="Ann, on p. 12")
    found = replace(result("a", "", passage("One.")), note="The best of 30.")
    messages = sent(asked, calling("a"), found)
    assert messages[0]["content"] == [{"type": "text", "text": "Ann, on p. 12\nWho?"}]
    note, first = messages[2]["content"][0]["content"]  # type: ignore[index]
    assert note["content"] == [{"type": "text", "text": "The best of 30."}]
    assert first["content"] == [{"type": "text", "text": "One."}]


def test_a_failed_call_is_marked_and_told_in_words() -> None:
    last = sent(user("?"), calling("a"), result("a", "No such page.", passage("x"), is_error=True))[-1]
    assert last["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "No such page.", "is_error": True}
    ]


def test_blank_text_is_never_sent() -> None:
    messages = sent(user("?"), user(" \n"), calling("a", text=" "), result("a", " "), PromptMessage("assistant", ""))
    assert messages == [
        {"role": "user", "content": [{"type": "text", "text": "?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "search_book", "input": {"query": "a"}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
    ]


@pytest.mark.parametrize("after", [[], [user("Hello again")]])
def test_a_call_that_was_interrupted_is_answered_with_an_error(after: list[PromptMessage]) -> None:
    messages = sent(user("?"), calling("a", "b"), result("a", "one"), *after)
    content = messages[2]["content"]
    assert isinstance(content, list)
    assert [(block["tool_use_id"], block.get("is_error", False)) for block in content] == [("a", False), ("b", True)]


def test_a_reply_that_only_thought_is_not_sent_without_its_thinking() -> None:
    thought = [{"type": "thinking", "thinking": "", "signature": "s"}]
    silent = PromptMessage("assistant", "", raw=RawReply("anthropic", MODEL, thought, prefix="of another history"))
    assert [message["role"] for message in sent(user("?"), silent, user("!"))] == ["user", "user"]


def test_the_prefix_depends_on_what_is_said_and_on_nothing_else() -> None:
    talk = [system(), user("?"), calling("a"), result("a", "one")]
    assert Request(MODEL, talk, [SEARCH]).prefix() == Request(MODEL, tuple(talk), (SEARCH,)).prefix()
    others = [
        Request(MODEL, talk).prefix(),
        Request(MODEL, talk[1:], [SEARCH]).prefix(),
        Request(MODEL, [*talk, user("!")], [SEARCH]).prefix(),
        Request(MODEL, [system("Other."), *talk[1:]], [SEARCH]).prefix(),
    ]
    assert len({Request(MODEL, talk, [SEARCH]).prefix(), *others}) == 5


def test_messages_are_not_changed_by_sending_them() -> None:
    block = {"type": "text", "text": "Said."}
    raw = RawReply("anthropic", MODEL, [block], prefix="of another history")
    body(user("?"), PromptMessage("assistant", "Said.", raw=raw), user("!"), tools=(SEARCH,))
    assert block == {"type": "text", "text": "Said."}
    assert "cache_control" not in SEARCH.parameters

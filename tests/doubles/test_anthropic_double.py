"""A double is only worth as much as what it refuses."""

from collections.abc import Callable
from copy import deepcopy

import aiohttp
import pytest

from tests.doubles.anthropic_api import AnthropicDouble
from tests.doubles.anthropic_models import Refused
from tests.doubles.anthropic_rules import checked
from tests.doubles.script import Json

SEARCH_RESULT = {
    "type": "search_result",
    "source": "passage-1",
    "title": "p. 1",
    "content": [{"type": "text", "text": "The rabbit was white."}],
    "citations": {"enabled": True},
}
UNCITED = {**SEARCH_RESULT, "citations": {"enabled": False}}
MARK = {"cache_control": {"type": "ephemeral"}}
WORD = {"type": "text", "text": "x"}
CITATION = {
    "type": "search_result_location",
    "source": "passage-1",
    "title": "p. 1",
    "search_result_index": 0,
    "start_block_index": 0,
    "end_block_index": 1,
    "cited_text": "The rabbit was white.",
}
GOOD: Json = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "Read.", "cache_control": {"type": "ephemeral"}}],
    "tools": [{"name": "search", "description": "Find.", "input_schema": {"type": "object", "properties": {}}}],
    "thinking": {"type": "between_tools"},
    "messages": [
        {"role": "user", "content": "What colour?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "a", "name": "search", "input": {}},
                {"type": "tool_use", "id": "b", "name": "search", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [SEARCH_RESULT]},
                {"type": "tool_result", "tool_use_id": "b", "content": "Nothing found."},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "White.", "citations": [CITATION]}]},
        {"role": "user", "content": "Sure?"},
    ],
}
Change = Callable[[Json], object]


def content(body: Json, message: int) -> list[Json]:
    found: list[Json] = body["messages"][message]["content"]
    return found


def test_a_good_request_is_accepted() -> None:
    model, messages = checked(GOOD)
    assert model.id == "claude-sonnet-5-5"
    assert [len(message["content"]) for message in messages] == [1, 3, 2, 1, 1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda b: b.update(temperature=1.0), "sampling"),
        (lambda b: b.update(tempo=1), "Extra inputs"),
        (lambda b: b.pop("max_tokens"), "max_tokens"),
        (lambda b: b.update(max_tokens=200_000), "max_tokens"),
        (lambda b: b.update(model="claude-sonnet-4-5-20250514"), "model: claude-sonnet-4-5-20250514"),
        (lambda b: b.update(thinking={"type": "disabled"}), "not supported"),
        (lambda b: b.update(thinking={"type": "enabled", "budget_tokens": 1024}), "not supported"),
        (lambda b: b.update(output_config={"effort": "max"}), "effort"),
        (lambda b: b.update(output_config={"effort": "some"}), "effort"),
        (lambda b: b.update(tool_choice={"type": "any"}), "forced tool use"),
        (lambda b: b.update(tool_choice={"type": "none"}, tools=[]), "tool_choice"),
        (lambda b: b["tools"].append(b["tools"][0]), "unique"),
        (lambda b: b["tools"][0].update(name="look up"), "pattern"),
        (lambda b: b["tools"][0].update(input_schema={"properties": {}}), "object"),
        (lambda b: b["tools"][0]["input_schema"].update(required=["query"]), "schema"),
        (lambda b: b["tools"][0].update(parameters={}), "Extra inputs"),
        (lambda b: b["system"][0].update(cache_control={"type": "for ever"}), "cache_control"),
        (
            lambda b: [c.update(cache_control={"type": "ephemeral"}) for c in content(b, 1) + content(b, 2)],
            "maximum of 4",
        ),
        (lambda b: b.update(messages=[]), "at least one"),
        (lambda b: b["messages"].pop(0), "first message"),
        (lambda b: b["messages"].pop(), "prefill"),
        (lambda b: b["messages"][0].update(role="system"), "role"),
        (lambda b: b["messages"][0].update(name="Ann"), "Extra inputs"),
        (lambda b: b["messages"][0].update(content=""), "non-empty"),
        (lambda b: b["messages"][0].update(content=[]), "at least one block"),
        (lambda b: content(b, 1)[0].update(text=" \n"), "non-whitespace"),
        (lambda b: content(b, 1)[1].update(input="x"), "dictionary"),
        (lambda b: b["messages"][4].update(content=[{"type": "tool_use", "id": "c", "name": "x", "input": {}}]), "tag"),
        (lambda b: b["messages"][4].update(content=[{"type": "text", "text": "x", "citations": [CITATION]}]), "user"),
        (lambda b: content(b, 2).pop(), "without `tool_result`"),
        (lambda b: b["messages"].pop(2), "without `tool_result`"),
        (lambda b: b["messages"].__delitem__(slice(2, None)), "prefill"),
        (lambda b: content(b, 2)[1].update(tool_use_id="c"), "without `tool_result`"),
        (lambda b: content(b, 1).pop(), "unexpected `tool_use_id`"),
        (lambda b: content(b, 2).insert(0, {"type": "text", "text": "Here:"}), "come first"),
        (lambda b: content(b, 2)[0]["content"].append(WORD), "mixed"),
        (lambda b: content(b, 2)[0].update(content=[]), "at least one block"),
        (lambda b: content(b, 2)[0]["content"][0].update(title=" "), "non-empty"),
        (lambda b: content(b, 2)[0]["content"][0].update(content=[]), "at least one block"),
        (lambda b: content(b, 2)[0]["content"][0]["content"][0].update(text=""), "non-empty"),
        (
            lambda b: content(b, 2)[1].update(content=[UNCITED]),
            "all or none",
        ),
        (
            lambda b: content(b, 2)[0]["content"][0]["content"].insert(0, {"type": "text", "text": "x"}),
            "does not match",
        ),
        (lambda b: content(b, 2)[0].update(content="Nothing found."), "does not match"),
        (lambda b: content(b, 1).insert(0, {"type": "thinking", "thinking": "", "signature": "x"}), "signature"),
    ],
)
def test_what_the_api_would_refuse(change: Change, complaint: str) -> None:
    body = deepcopy(GOOD)
    change(body)
    with pytest.raises(Refused, match=complaint):
        checked(body)


def test_neighbours_of_one_role_count_as_one_message() -> None:
    body = deepcopy(GOOD)
    body["messages"].append({"role": "user", "content": "Really?"})
    split = content(body, 2).pop()
    body["messages"].insert(3, {"role": "user", "content": [split]})
    assert len(checked(body)[1]) == 5


async def test_answers_carry_the_status_and_kind_of_the_refusal() -> None:
    async with AnthropicDouble() as api, aiohttp.ClientSession() as session:
        headers = {"x-api-key": api.api_key, "anthropic-version": "2026-10-21"}
        for body, key, status, kind in (
            ({**GOOD, "model": "x"}, api.api_key, 404, "not_found_error"),
            ({**GOOD, "top_p": 1}, api.api_key, 400, "invalid_request_error"),
            (GOOD, "wrong", 401, "authentication_error"),
        ):
            async with session.post(
                f"{api.base_url}/v1/messages", json=body, headers={**headers, "x-api-key": key}
            ) as answer:
                assert answer.status == status
                assert (await answer.json())["error"]["type"] == kind

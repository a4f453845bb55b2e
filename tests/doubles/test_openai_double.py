"""A double is only worth as much as what it refuses."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from tests.doubles.openai_rules import Refused, check
from tests.doubles.script import Json

FUNCTION = {"name": "search", "description": "Find.", "parameters": {"type": "object", "properties": {}}}
CALL = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}"}}
GOOD: Json = {
    "model": "double-1",
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": FUNCTION}],
    "messages": [
        {"role": "system", "content": "Read."},
        {"role": "user", "content": "What colour?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "b"}]},
        {"role": "tool", "tool_call_id": "b", "content": "Nothing."},
        {"role": "tool", "tool_call_id": "a", "content": "White."},
        {"role": "assistant", "content": "White."},
        {"role": "user", "content": "Sure?"},
    ],
}
Change = Callable[[Json], object]


def test_a_good_request_is_accepted() -> None:
    check(GOOD)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda b: b.update(thinking={}), "Unknown parameter: 'thinking'"),
        (lambda b: b.update(stream=False), "stream_options"),
        (lambda b: b.update(tools=[]), "empty array"),
        (lambda b: (b.pop("tools"), b.update(tool_choice="none")), "tool_choice"),
        (lambda b: b["tools"][0].update(type="tool"), "function"),
        (lambda b: b["tools"][0]["function"].update(name="look up"), "pattern"),
        (lambda b: b["tools"][0]["function"].update(parameters={}), "schema"),
        (lambda b: b["messages"].clear(), "empty array"),
        (lambda b: b["messages"].append(b["messages"].pop(0)), "beginning"),
        (lambda b: b["messages"][1].update(role="tool_result"), "not known"),
        (lambda b: b["messages"][1].update(name="Ann"), "not known"),
        (lambda b: b["messages"][1].update(content=" "), "blank"),
        (lambda b: b["messages"][5].update(content=None), "blank"),
        (lambda b: b["messages"].pop(3), "did not have response messages: b"),
        (lambda b: b["messages"].pop(4), "did not have response messages: a"),
        (lambda b: b["messages"].pop(2), "preceding message"),
        (lambda b: b["messages"][3].update(tool_call_id="c"), "preceding message"),
        (lambda b: b["messages"].__delitem__(slice(4, None)), "did not have response messages: a"),
        (lambda b: b["messages"].pop(), "Cannot continue"),
        (lambda b: b["messages"][2]["tool_calls"][0].update(id=""), "tool_calls"),
        (lambda b: b["messages"][2]["tool_calls"][0]["function"].update(arguments="[]"), "JSON object"),
        (lambda b: b["messages"][2]["tool_calls"][0]["function"].update(arguments={}), "JSON object"),
    ],
)
def test_what_some_server_would_refuse(change: Change, complaint: str) -> None:
    body = deepcopy(GOOD)
    change(body)
    with pytest.raises(Refused, match=complaint):
        check(body)

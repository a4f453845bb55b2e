import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.llm.arguments import read_arguments
from domain.tool_use import UNREADABLE_ARGUMENTS


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"query": "x"}', {"query": "x"}),
        ("", {}),
        (" \n", {}),
        ("[]", {UNREADABLE_ARGUMENTS: "[]"}),
        ("null", {UNREADABLE_ARGUMENTS: "null"}),
        ("{'query': 'x'}", {UNREADABLE_ARGUMENTS: "{'query': 'x'}"}),
        ("[" * 100_000, {UNREADABLE_ARGUMENTS: "[" * 100_000}),
    ],
)
def test_what_a_model_may_write(written: str, arguments: dict[str, object]) -> None:
    assert read_arguments(written) == arguments


@given(st.text())
def test_anything_else_is_an_object_too(written: str) -> None:
    assert json.dumps(read_arguments(written))

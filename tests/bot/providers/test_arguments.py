import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.base import encoded, read_arguments
from domain.tool_use import UNREADABLE_ARGUMENTS


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"query": "x"}', {"query": "x"}),
        ("", {}),
        (" \n", {}),
        ('"{\\"query\\": \\"x\\"}"', {"query": "x"}),
        ("[]", {UNREADABLE_ARGUMENTS: "[]"}),
        ("null", {UNREADABLE_ARGUMENTS: "null"}),
        ("{'query': 'x'}", {UNREADABLE_ARGUMENTS: "{'query': 'x'}"}),
        ('{"query": NaN}', {UNREADABLE_ARGUMENTS: '{"query": NaN}'}),
        ('{"query": 1e999}', {UNREADABLE_ARGUMENTS: '{"query": 1e999}'}),
        (r'{"query": "\ud83d\udc07 \ud83d"}', {"query": "🐇 \ufffd"}),
        ("{\ud83d", {UNREADABLE_ARGUMENTS: "{\ufffd"}),
        ("[" * 100_000, {UNREADABLE_ARGUMENTS: "[" * 100_000}),
    ],
)
def test_what_a_model_may_write(written: str, arguments: dict[str, object]) -> None:
    assert read_arguments(written) == arguments


@given(st.text(st.characters() | st.characters(categories=["Cs"])))
def test_anything_else_is_an_object_too_and_can_be_sent_back(written: str) -> None:
    assert json.dumps(read_arguments(written), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize(("levels", "is_read"), [(99, True), (100, False), (400, False), (985, False)])
def test_arguments_nested_deeper_than_can_be_sent_again_count_as_unreadable(levels: int, is_read: bool) -> None:
    written = f'{{"query": {"[" * levels}{"]" * levels}}}'
    assert (UNREADABLE_ARGUMENTS not in read_arguments(written)) is is_read
    assert json.loads(encoded(read_arguments(written)))

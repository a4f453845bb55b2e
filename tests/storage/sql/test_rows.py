"""What goes into the database comes out the same, and what other versions wrote can be read."""

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.book import Citation, Passage
from domain.conversation import SystemPrompt
from domain.tool_use import RawReply, TokenUsage, ToolDefinition, ToolInvocation
from storage.sql import rows as kept

zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
texts = st.text(st.characters() | st.characters(categories=["Cs"]))  # half surrogate pairs included
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=4)

SPECIAL = {
    "arguments": objects,
    "covered": st.none() | objects,
    "parameters": objects,
    "blocks": st.lists(objects, max_size=3),
    "score": st.floats(0, 9),
}


def whole(kind: type) -> st.SearchStrategy[Any]:
    """Values of that kind with every field filled, those that are added one day as well."""
    return st.builds(kind, **{field.name: SPECIAL.get(field.name, ...) for field in fields(kind)})


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=3).map(tuple)


@given(data=st.data())
@pytest.mark.parametrize(
    ("values", "write", "read"),
    [
        (some(whole(Passage)), kept.passages_to_text, kept.passages_from_text),
        (some(whole(Citation)), kept.citations_to_text, kept.citations_from_text),
        (some(whole(ToolInvocation)), kept.invocations_to_text, kept.invocations_from_text),
        (some(texts), kept.strings_to_text, kept.strings_from_text),
        (whole(TokenUsage), kept.usage_to_text, kept.usage_from_text),
        (whole(RawReply), kept.raw_to_text, kept.raw_from_text),
        (
            st.builds(SystemPrompt, texts, some(whole(ToolDefinition))),
            kept.system_prompt_to_text,
            kept.system_prompt_from_text,
        ),
    ],
    ids=["passages", "citations", "invocations", "strings", "usage", "raw", "system prompt"],
)
def test_values_come_back_the_same_through_utf_8(
    data: st.DataObject, values: st.SearchStrategy[Any], write: Callable[[Any], str], read: Callable[[str], Any]
) -> None:
    value = data.draw(values)
    assert read(write(value).encode().decode()) == value


@given(whole(RawReply))
def test_a_raw_reply_keeps_the_order_of_its_keys(raw: RawReply) -> None:
    assert json.dumps(kept.raw_from_text(kept.raw_to_text(raw)).blocks) == json.dumps(raw.blocks)


EARLIEST, LATEST = datetime(1, 1, 3), datetime(9999, 12, 29)  # noqa: DTZ001 (hypothesis adds the zone)


@given(st.datetimes(EARLIEST, LATEST, timezones=zones), st.datetimes(timezones=st.just(UTC)))
def test_moments_come_back_the_same_and_sort_as_text(moment: datetime, other: datetime) -> None:
    assert kept.time_from_text(kept.time_to_text(moment)) == moment
    assert (kept.time_to_text(moment) < kept.time_to_text(other)) == (moment < other)


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        kept.time_to_text(datetime(2026, 11, 21))  # noqa: DTZ001


def test_what_a_newer_version_added_is_passed_over() -> None:
    (citation,) = kept.citations_from_text(
        '[{"start": 1, "end": 2, "quote": "a", "page": "1", "last_page": "1", "chapter": "", "colour": "red"}]'
    )
    assert citation == Citation(1, 2, "a", "1", "1", "")


def test_what_an_older_version_did_not_know_takes_its_default() -> None:
    assert kept.raw_from_text('{"provider": "p", "model": "m", "blocks": []}') == RawReply("p", "m", [])
    assert kept.usage_from_text('{"input_tokens": 3}') == TokenUsage(3)

"""A request's body is JSON in UTF-8, whatever people, books and models have written into it; a reply is read however
the network cuts it up.
"""

import json
import math
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.providers.anthropic.stream import arriving_events
from bot.providers.base import encoded

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


@given(VALUES)
def test_what_is_encoded_is_read_again(value: Any) -> None:
    assert json.loads(encoded(value)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": ["“", ("é",)]}, '{"b":1,"a":["“",["é"]]}'),
        ({"text": "half \ud83d"}, '{"text":"half �"}'),
        ({"text": "both \ud83d\udd26"}, '{"text":"both 🔦"}'),
        ({"number": math.inf}, '{"number":null}'),
        ({"text": "\ud83d", "number": math.nan}, '{"text":"�","number":null}'),
    ],
)
def test_half_characters_and_impossible_numbers_do_not_keep_it_from_being_sent(value: Any, expected: str) -> None:
    assert encoded(value).decode() == expected


@pytest.mark.parametrize("depth", [250, 300, 900])
def test_what_a_model_has_nested_by_the_hundred_is_sent_too(depth: int) -> None:
    nested = json.loads("[" * depth + "]" * depth)
    assert json.loads(encoded({"input": nested})) == {"input": nested}


@given(st.lists(TEXTS), st.sampled_from(["\n", "\r\n"]), st.sets(st.integers(0, 200)))
async def test_events_are_the_same_however_the_network_cuts_them_up(
    texts: Sequence[str], end: str, cuts: set[int]
) -> None:
    told = [json.dumps(text, ensure_ascii=False) for text in texts]
    lines = [line for each in told for line in (": hm", "event: said", "id: 1", f"data: {each}", f"data:{each}", "")]
    sent = "".join(line + end for line in lines).encode()
    edges = [0, *sorted(cut for cut in cuts if cut < len(sent)), len(sent)]

    async def arriving() -> AsyncIterator[bytes]:
        for first, last in pairwise(edges):
            yield sent[first:last]

    batches = [batch async for batch in arriving_events(httpx2.Response(200, content=arriving()))]
    assert [event for batch in batches for event in batch] == [("said", f"{each}\n{each}") for each in told]

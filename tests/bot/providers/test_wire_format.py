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

from bot.providers.base import DONE, arriving_events, encoded

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


ONE, TWO = {"text": "Hobb"}, {"text": " did it."}
SENT = [json.dumps(ONE), json.dumps(TWO)]


@pytest.mark.parametrize(
    ("sent", "events"),
    [
        ("".join(f"data: {each}\n" for each in [*SENT, "[DONE]"]), [("", ONE), ("", TWO), ("", DONE)]),
        ("".join(f"data:{each}\r" for each in SENT), [("", ONE), ("", TWO)]),
        ("".join(f"\ufeffdata: {each}\n\n" for each in SENT), [("", ONE), ("", TWO)]),
        (f"data: {SENT[0]}\n\ndata: [DONE]", [("", ONE), ("", DONE)]),
        (f"id: 7\n: ping\n\ndata: {SENT[0]}\n\n: ping\n\ndata:\n\n", [("", ONE)]),
        ("".join(f"{each}\n" for each in SENT), [("", ONE), ("", TWO)]),
        ("".join(f"data: {line}\n" for line in json.dumps(ONE, indent=1).splitlines()), [("", ONE)]),
        ('data: {"text": "Hobb\ndid it."}\n\n', [("", {"text": "Hobb\ndid it."})]),
        (f"event: error\ndata: {SENT[0]}\n\ndata: {SENT[1]}\n\n", [("error", ONE), ("", TWO)]),
        (f"error: {SENT[0]}\n\n", [("error", ONE)]),
        (f"data: {SENT[0]}\n\n<html>\n<h1>502</h1>\n</html>\n", [("", ONE), ("", "<html>\n<h1>502</h1>\n</html>")]),
        ('data: {"text": "Ho\n\ndata: no lamp\n\n', [("", '{"text": "Ho'), ("", "no lamp")]),
    ],
    ids=[
        "single line ends",
        "carriage returns",
        "byte order marks",
        "no end",
        "nothing in it",
        "no fields",
        "many lines",
        "a line break in the text",
        "a name",
        "llama.cpp's errors",
        "a page",
        "no JSON",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_events_are_read_however_roughly_they_are_written(
    sent: str, events: list[tuple[str, object]], size: int
) -> None:
    async def arriving() -> AsyncIterator[bytes]:
        whole = sent.encode()
        for at in range(0, len(whole), size):
            yield whole[at : at + size]

    batches = [batch async for batch in arriving_events(httpx2.Response(200, content=arriving()))]
    assert [event for batch in batches for event in batch] == events


async def test_a_wrong_byte_costs_a_character_and_not_the_reply() -> None:
    sent = b'data: {"text": "H\xffobb"}\n\n'
    [[event]] = [batch async for batch in arriving_events(httpx2.Response(200, content=sent))]
    assert event == ("", {"text": "H\ufffdobb"})

"""What a worker says is checked, for by then it may be anyone's."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.sandbox.worker import BrokenFrameError, FrameKind, decode_book, encode_book, read_frame, write_frame
from bot.parsers.text.parser import read_plain
from tests.bot.parsers.prose import prose

_BOOK = read_plain(f"Chapter 1\n\n{prose(1, 9)} “é” 🐳\n\nChapter 2\n\n{prose(20, 9)}")


def test_a_book_comes_through_whole() -> None:
    assert decode_book(*encode_book(_BOOK)) == _BOOK


def told(**changes: Any) -> bytes:
    return json.dumps(json.loads(encode_book(_BOOK)[0]) | changes).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"pages": []},
        {"pages": [["1", 0, 5]]},
        {"pages": [["1", 5, len(_BOOK.text)]]},
        {"pages": [["1", 0, 9], ["2", 10, len(_BOOK.text)]]},
        {"pages": [[1, 0, len(_BOOK.text)]]},
        {"pages": [["1", 0, True]]},
        {"chapters": [["A", 5, 9, 1], ["B", 8, 12, 1]]},
        {"chapters": [["A", 0, 10**9, 1]]},
        {"chapters": [["A", 0, 1, 1]] * 6_000},
        {"chapters": "many"},
        {"title": None},
        {"title": "\ud800"},
        {"author": "A" * 1_001},
        {"pages": [["1", 0, 0]] * 20_001 + [["1", 0, len(_BOOK.text)]]},
        {"chapters": [["A", 0, 1, 10**30, "", ""]]},
        {"chapters": [["A", 0, 1, -1, "", ""]]},
        {"pictures": -1},
        {"warnings": [{}]},
        {"warnings": ["\ud800"]},
        {"warnings": [{"template": "\ud800", "fields": {}}]},
    ],
)
def test_what_is_no_book_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BrokenFrameError):
        decode_book(told(**changes), encode_book(_BOOK)[1])


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_are_a_book_or_refused(first: bytes, second: bytes) -> None:
    with pytest.raises(BrokenFrameError):
        decode_book(first, second)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_frame_or_refused(data: bytes) -> None:
    try:
        _, payload = read_frame(io.BytesIO(data), longest_text=20)
    except BrokenFrameError:
        return
    assert len(payload) <= len(data) - 9


def test_a_text_beyond_the_limit_is_not_even_read() -> None:
    stream = io.BytesIO()
    write_frame(stream, FrameKind.TEXT, b"x" * 21)
    stream.seek(0)
    with pytest.raises(BrokenFrameError, match="too long"):
        read_frame(stream, longest_text=20)
    assert stream.tell() == 9

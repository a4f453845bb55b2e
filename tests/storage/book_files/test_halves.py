"""A long book is indexed in two halves at once, and nobody can tell."""

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.text.parser import read_plain
from domain.book import BookText
from domain.library.search.index import IndexedPart, index_book, index_part, join_parts
from storage.book_files import indexer
from storage.book_files.indexer import _decode, _encode, _in_a_copy, index_in_halves, index_second_half

PIECES = [
    "Mr",
    "I",
    "Hobb",
    "lamp",
    "the",
    "island's",
    ".",
    "!",
    "?",
    "…",
    "。",
    "灯",
    "”",
    " ",
    "  ",
    "\n",
    "\n \n",
    "x" * 40,
]
PARAGRAPHS = st.lists(st.lists(st.sampled_from(PIECES), min_size=1).map("".join), min_size=1)


@given(PARAGRAPHS)
def test_the_parts_between_paragraphs_make_the_same_index(paragraphs: list[str]) -> None:
    book = BookText("\n\n".join(paragraphs), (), (), "txt")
    ends = [at for at in range(len(book.text)) if book.text.startswith("\n\n", at)]
    edges = [0, *ends[::2], len(book.text)]
    parts: list[IndexedPart] = []
    words = 0
    for start, end in pairwise(edges):
        part = index_part(book, start, end, lambda share: None)
        parts.append(_decode(_encode(part), words))
        words = parts[-1].counts[-1] if parts[-1].counts else words
    assert join_parts(book, parts) == index_book(book)


def test_a_long_book_is_the_same_whoever_has_indexed_it(long_book: BookText) -> None:
    shares: list[float] = []
    second = _in_a_copy(lambda: index_second_half(long_book))
    assert index_in_halves(long_book, shares.append, second)() == index_book(long_book)
    assert shares == sorted(shares)


def test_a_half_that_fails_is_an_error_and_no_half_a_book(
    long_book: BookText, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr(indexer, "_encode", broken)
    with pytest.raises(OSError, match="not enough memory"):
        index_in_halves(long_book, lambda share: None, _in_a_copy(lambda: index_second_half(long_book)))()


def test_a_book_of_one_paragraph_has_no_second_half() -> None:
    book = BookText("The tide went out at nine. " * 1_000, (), (), "txt")
    second = _in_a_copy(lambda: index_second_half(book))
    assert index_in_halves(book, lambda share: None, second)() == index_book(book)


@pytest.fixture
def long_book() -> BookText:
    tale = "CHAPTER {}\n\nHobb, the lamp-keeper's son, was not at home. “Who — who is it?” he asked.\n\nNobody.\n\n"
    return read_plain("".join(tale.format(number) for number in range(1, 200)))


def test_a_copy_does_not_outlive_the_process_it_is_a_copy_of() -> None:
    """It holds the standard output as long as it lives, and nothing is heard of that process's end before."""
    begin_and_die = "_in_a_copy(lambda: bytes(10_000_000)); os._exit(7)"
    script = f"import os; from storage.book_files.indexer import _in_a_copy; {begin_and_die}"
    ended = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=False, timeout=30)
    assert ended.returncode == 7

"""Books as readers bring them. They are not part of the project: MARGINALIA_BOOKS names a folder that has them."""

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from bot.parsers import formats
from bot.parsers.text.parser import read_plain
from domain.book import BookText
from tests.bot.parsers.invariants import check

_FOLDER = os.environ.get("MARGINALIA_BOOKS", "")
pytestmark = pytest.mark.skipif(not _FOLDER, reason="MARGINALIA_BOOKS names no folder of real books")

_CHAPTERS = {
    "alice.txt": 12,
    "alice.htm": 12,
    "alice.pdf": 12,
    "frankenstein.txt": 4 + 24,
    "moby_dick.epub": 2 + 135 + 1,
    "pride_prejudice.txt": 61,
    "pride_prejudice.htm": 61,
    "pride_prejudice.pdf": 61,
    "pride_prejudice_se.epub": 61,
    "war_peace.txt": 15 + 2 + 365,
    "war_worlds.epub": 2 + 27,
}
_SAME_WORDS = [("alice.txt", "alice.htm"), ("alice.txt", "alice.pdf"), ("pride_prejudice.txt", "pride_prejudice.pdf")]
_DIFFERENT_EDITIONS = 0.001


def read(name: str) -> BookText:
    path = Path(_FOLDER, name)
    if not path.exists():
        pytest.skip(f"no {name} among the real books")
    return check(formats.read_book(path.read_bytes(), name))


@pytest.mark.parametrize("name", _CHAPTERS)
def test_every_chapter_is_found(name: str) -> None:
    assert len(read(name).chapters) == _CHAPTERS[name]


@pytest.mark.parametrize(("first", "second"), _SAME_WORDS)
def test_no_word_is_lost_or_doubled_on_the_way_through_a_format(first: str, second: str) -> None:
    one, other = words(read(first)), words(read(second))
    different = (one - other).total() + (other - one).total()
    assert different <= _DIFFERENT_EDITIONS * one.total()


def test_plain_books_stay_as_they_stand() -> None:
    for path in Path(_FOLDER).glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert check(read_plain(text)).text == text


def words(book: BookText) -> Counter[str]:
    story = book.text[book.chapters[0].start :].lower().replace("’", "'").replace("_", "")
    return Counter(re.findall(r"[^\W_]+(?:'[^\W_]+)*", story))

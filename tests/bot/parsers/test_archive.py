"""An archive is unpacked member by member, in memory, and never further than it says and may."""

import pytest

from bot.parsers.archive import Archive
from bot.parsers.limits import ReadingLimits
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.builders import archive

LIMITS = ReadingLimits(max_unpacked_bytes=1_000)


def test_what_members_add_up_to_is_bounded() -> None:
    opened = Archive(archive({"a": "a" * 400, "b": "b" * 400}), LIMITS)
    assert len(opened.read("a") + opened.read("b")) == 800
    with pytest.raises(BookError) as refused:
        opened.read("a")
    assert refused.value.code is BookErrorCode.TOO_LARGE


def test_a_member_that_is_larger_than_it_says_is_damaged() -> None:
    whole = bytearray(archive({"a": "a" * 100_000}))
    entry = whole.index(b"PK\x01\x02")
    whole[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    with pytest.raises(KeyError):
        Archive(bytes(whole), LIMITS).read("a")


@pytest.mark.parametrize("name", ["../../a", "/a", "x/../../a", "A", "%61"])
def test_paths_stay_within_the_archive(name: str) -> None:
    assert Archive(archive({"a": "inside"}), LIMITS).find(name) in ("a", None)
    assert Archive(archive({}), LIMITS).find(name) is None

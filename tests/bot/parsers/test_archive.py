"""An archive is unpacked member by member, in memory and within its bound, and XML parts declare no entities."""

import pytest

from bot.parsers.archive import Archive, parse_xml, text_of
from bot.parsers.draft import ReadingLimits
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


SUBSET = "[<!ENTITY told 'TOLD'>]"


def test_a_document_type_is_taken_away_with_all_that_it_declares() -> None:
    with pytest.raises(ValueError, match="undefined entity"):
        parse_xml(f"<!DOCTYPE r {SUBSET}><r>&told;</r>".encode())


@pytest.mark.parametrize(
    "document",
    [
        f"<!DOC<!DOCTYPE x>TYPE r {SUBSET}><r>&told;</r>",
        f"<!DOCTYPE x><!DOC<!DOCTYPE x>TYPE r {SUBSET}><r>&told;</r>",
        f"&LT;!DOCTYPE r {SUBSET.replace('<', '&LT;').replace('>', '&GT;')}&GT;<r>&told;</r>",
        f"<!DOCTYPE r SYSTEM 'a>b' {SUBSET}><r>&told;</r>",
        "<!DOCTYPE r [<!ENTITY x ']>'><!ENTITY told 'TOLD'>]><r>&told;</r>",
    ],
)
def test_none_comes_back_by_hiding(document: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_xml(document.encode())


def test_the_names_that_html_gives_to_characters_are_characters() -> None:
    root = parse_xml(b"<r>caf&eacute;&nbsp;&AMP;&LT;b&GT; &amp;amp;</r>")
    assert text_of(root) == "café &<b> &amp;"

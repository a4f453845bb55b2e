"""Kindle books without DRM are read whole, whichever way they are packed; broken ones cost a sentence."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.draft import ReadingLimits
from bot.parsers.mobi.container import HuffUnpacker, unpack_palmdoc
from bot.parsers.mobi.parser import read
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers import builders
from tests.bot.parsers.builders import azw3, huffman_tables, mobi
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph

_ONE = f"<h2>The Pool</h2><p>{paragraph(1)}</p><p>Ça va, “naïf”?</p>".encode()
_TWO = f"<h2>The Mill</h2><p>{paragraph(2)}</p>".encode()
_TEXT = b"<html><head></head><body>" + _ONE + b"<mbp:pagebreak/>" + _TWO + b"</body></html>"
_CONTENTS = [("The Pool", _TEXT.index(_ONE), 0), ("The Mill", _TEXT.index(_TWO) + 2, 0)]


@pytest.mark.parametrize("compression", ["none", "palmdoc", "huff"])
def test_text_and_contents_are_those_of_the_book(compression: str) -> None:
    book = check(read(mobi(_TEXT, compression=compression, contents=_CONTENTS), "a.mobi"))
    assert (book.title, book.author, book.language, book.format) == ("A Test", "Ann Author, Bob Smith", "en", "mobi")
    assert titles(book) == ["The Pool", "The Mill"]
    assert "Ça va, “naïf”?" in book.text
    assert book.text.startswith("The Pool")
    assert paragraph(2) in book.text[book.chapters[1].start :]


def test_a_page_of_links_is_the_contents_where_there_is_no_index() -> None:
    links = b'<p><a filepos=%010d>The Pool</a></p><p><a filepos="%010d"><b>The Mill</b></a></p><mbp:pagebreak/>'
    head = b'<html><head><guide><reference type="toc" filepos=%010d /></guide></head><body>'
    start = len(head % 0)
    length = len(links % (0, 0))
    one, two = start + length, start + length + len(_ONE)
    text = head % start + links % (one, two) + _ONE.replace(b"h2", b"p ") + _TWO.replace(b"h2", b"p ")
    assert titles(check(read(mobi(text), "a.mobi")))[-2:] == ["The Pool", "The Mill"]


def test_parts_of_kf8_are_put_together() -> None:
    skeleton = b"<html><body><div></div></body></html>"
    place = skeleton.index(b"</div>")
    parts = [(skeleton, [(place, _ONE[:100]), (place + 100, _ONE[100:])]), (skeleton, [(place, _TWO)])]
    book = check(read(azw3(parts, [("The Pool", 0, 0), ("The Mill", 2, 0)]), "a.azw3"))
    assert titles(book) == ["The Pool", "The Mill"]
    assert paragraph(1) in book.text
    assert paragraph(2) in book.text[book.chapters[1].start :]
    assert "magenta" not in book.text


def test_a_plain_palmdoc_is_a_text() -> None:
    book = check(read(mobi(paragraph(1).encode(), kind=b"TEXtREAd"), "a.pdb"))
    assert paragraph(1) in book.text


def test_a_locked_book_is_refused_with_what_to_do() -> None:
    with pytest.raises(BookError, match="without DRM") as refused:
        read(mobi(_TEXT, encryption=2), "a.azw")
    assert refused.value.code is BookErrorCode.DRM_PROTECTED


def test_phrases_may_be_packed_themselves_but_not_hold_each_other() -> None:
    def codes(text: bytes) -> bytes:
        return bytes(255 - byte for byte in text)

    huff, dictionary = huffman_tables(
        {1: codes(b"the pool "), 2: codes(b"\x01and \x01"), 3: codes(b"\x04"), 4: codes(b"\x03")}
    )
    assert HuffUnpacker(huff, [dictionary]).unpack(codes(b"\x02")) == b"the pool and the pool "
    with pytest.raises(ValueError, match="hold each other"):
        HuffUnpacker(huff, [dictionary]).unpack(codes(b"\x03"))


def test_codes_of_no_length_and_phrases_that_double_come_to_an_end() -> None:
    huff, dictionary = huffman_tables({n: bytes([254 - n] * 16) for n in range(20)})
    with pytest.raises(ValueError, match="without end"):
        HuffUnpacker(huff, [dictionary]).unpack(bytes([255]) * 4_000)
    with pytest.raises(ValueError, match="no length"):
        HuffUnpacker(huff[:24] + bytes(len(huff) - 24), [dictionary]).unpack(b"abc")


def test_text_beyond_the_limit_is_refused() -> None:
    with pytest.raises(BookError, match="smaller edition") as refused:
        read(mobi(b"word " * 100_000), "a.mobi", limits=ReadingLimits(max_unpacked_bytes=2**18))
    assert refused.value.code is BookErrorCode.TOO_LARGE


@given(packed=st.binary(max_size=200))
def test_palmdoc_of_any_bytes_unpacks_to_no_more_than_it_can_say(packed: bytes) -> None:
    assert len(unpack_palmdoc(packed)) <= 10 * len(packed)


@given(st.sampled_from(["palmdoc", "huff", "kf8"]), st.integers(0, 2**32 - 1), st.data())
def test_wrong_numbers_anywhere_cost_a_sentence(kind: str, value: int, random: st.DataObject) -> None:
    skeleton = b"<html><body></body></html>"
    data = bytearray(
        azw3([(skeleton, [(12, _ONE), (12, _TWO)])], [("The Pool", 1, 0)])
        if kind == "kf8"
        else mobi(_TEXT, compression=kind, contents=_CONTENTS)
    )
    for _ in range(random.draw(st.integers(1, 4))):
        struct.pack_into(
            random.draw(st.sampled_from([">L", ">Q"])), data, random.draw(st.integers(60, len(data) - 8)), value
        )
    del data[len(data) - random.draw(st.integers(0, 300)) :]
    try:
        check(read(bytes(data), "a.mobi"))
    except BookError as error:
        assert error.message.endswith(".")


def test_the_builder_packs_as_the_format_says() -> None:
    assert unpack_palmdoc(builders._palmdoc(_ONE * 3)) == _ONE * 3

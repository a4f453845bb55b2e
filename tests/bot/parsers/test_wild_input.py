"""Whatever bytes come, a reader returns a book whose parts fit, or says in a sentence why there is none."""

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.parsers import docx, epub, formats, rtf, xml_formats
from bot.parsers.draft import ReadingLimits
from bot.parsers.mobi import parser as mobi
from bot.parsers.pdf import parser as pdf
from bot.parsers.sandbox.worker import decode_book, encode_book
from bot.parsers.text import parser as txt
from bot.parsers.web_formats import read_html, read_markdown
from domain.book import BookText
from domain.errors import BookError
from tests.bot.parsers import builders
from tests.bot.parsers.invariants import check
from tests.bot.parsers.prose import paragraph

_LIMITS = ReadingLimits(max_characters=200_000, max_unpacked_bytes=2_000_000)
_BODY = f"<h1>One</h1><p id='a'>{paragraph(1)}</p><h1 id='b'>Two</h1><p>{paragraph(2)}</p>"
_NAV = "<nav epub:type='toc'><ol><li><a href='a.xhtml'>One</a></li><li><a href='a.xhtml#b'>Two</a></li></ol></nav>"
_NCX = (
    "<navMap><navPoint><navLabel><text>One</text></navLabel><content src='a.xhtml'/></navPoint></navMap>"
    "<pageList><pageTarget value='3'><content src='a.xhtml#b'/></pageTarget></pageList>"
)
_EPUB = builders.epub({"a.xhtml": _BODY}, nav=_NAV, ncx=_NCX)
_STYLES = '<w:style w:styleId="h1"><w:name w:val="heading 1"/><w:basedOn w:val="h1"/></w:style>'
_DOCX = builders.docx(
    builders.docx_paragraph("One", "h1") + builders.docx_paragraph(paragraph(1)) * 3,
    parts={"word/styles.xml": builders.docx_part("styles", _STYLES)},
)
_PDF = builders.pdf([[paragraph(1)[:60], paragraph(2)[:60]], ["Chapter 2", paragraph(3)[:60]]], outline=[("One", 0)])
_READERS: dict[str, tuple[Callable[..., BookText], bytes]] = {
    "epub": (epub.read, _EPUB),
    "docx": (docx.read, _DOCX),
    "pdf": (pdf.read, _PDF),
    "html": (read_html, builders.xhtml(_BODY).encode()),
    "markdown": (
        read_markdown,
        f"# One\n\n{paragraph(1)}\n\n| a |\n|---|\n| *b* |\n\n# Two\n\n> {paragraph(2)}".encode(),
    ),
    "mobi": (
        mobi.read,
        builders.mobi(builders.xhtml(_BODY).encode(), compression="palmdoc", contents=[("One", 200, 0)]),
    ),
    "fb2": (xml_formats.read_fb2, builders.fb2(f"<section><title><p>One</p></title><p>{paragraph(1)}</p></section>")),
    "odt": (xml_formats.read_odt, builders.odt(f"<text:h>One</text:h><text:p>{paragraph(1)}</text:p>")),
    "rtf": (rtf.read, rb"{\rtf1{\stylesheet{\s1 heading 1;}}\s1 One\par\pard " + paragraph(1).encode() + rb"\'e9\par}"),
    "txt": (txt.read, f"CONTENTS\n\nI\n\nII\n\nCHAPTER I\n\n{paragraph(1)}\n\nCHAPTER II\n\n{paragraph(2)}".encode()),
}
_TAGS = (
    "<p>",
    "</p>",
    "<h1>",
    "</h2>",
    "<td>",
    "<pre>",
    "<br>",
    "<nav>",
    "<span class=pagenum>[Pg 3]</span>",
    "&nbsp;",
)
_LINES = (
    "# ",
    "\n\n",
    "\n",
    "| ",
    "1. ",
    "```\n",
    "*",
    "CHAPTER I",
    "II.",
    "PREFACE",
    "THE END",
    "A TITLE",
    "word ",
    "\xad",
)
_VICIOUS = (
    *(b"< > & </p> <h1> <![CDATA[ ]]> <!DOCTYPE &#xD800; &#0; &LT; %PDF- obj endobj stream << >> /Kids PK".split()),
    *(
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\x80\x81",
        b"\x1b[31m",
        b"\r\n",
        b"\x0c",
        b"\xef\xb7\x90",
    ),
    *(
        b"/Count -1",
        b"999999999999",
        b"encoding='utf-16'",
        b"charset=utf-7",
        b"epub:type='pagebreak'",
        b"class=pagenum",
    ),
    *(b"A" * 300, b"<b>" * 200, b"[" * 100, b"> " * 50, b"|" * 30, b"1" * 40, b"CHAPTER ", b"*** END OF", b"```"),
)
_mutations = st.lists(
    st.tuples(st.integers(0, 2**16), st.integers(0, 40), st.one_of(st.sampled_from(_VICIOUS), st.binary(max_size=9))),
    max_size=8,
)
_wild = settings(suppress_health_check=[HealthCheck.too_slow])


def read_or_refuse(read: Callable[..., BookText], data: bytes) -> None:
    try:
        book = read(data, "a_file.bin", limits=_LIMITS)
    except BookError as error:
        assert error.message.endswith(".")
    else:
        check(book)
        assert decode_book(*encode_book(book)) == book


def mutated(data: bytes, mutations: list[tuple[int, int, bytes]]) -> bytes:
    """The bytes, with stretches of them put in place of others."""
    changed = bytearray(data)
    for place, length, piece in mutations:
        start = place % (len(changed) + 1)
        changed[start : start + length] = piece
    return bytes(changed)


@pytest.mark.parametrize("name", _READERS)
@_wild
@given(mutations=_mutations)
def test_files_with_vicious_pieces(name: str, mutations: list[tuple[int, int, bytes]]) -> None:
    read, whole = _READERS[name]
    read_or_refuse(read, mutated(whole, mutations))


@pytest.mark.parametrize("name", ["epub", "docx", "odt"])
@_wild
@given(mutations=_mutations, number=st.integers(0, 9))
def test_archives_with_vicious_parts(name: str, mutations: list[tuple[int, int, bytes]], number: int) -> None:
    read, whole = _READERS[name]
    with zipfile.ZipFile(io.BytesIO(whole)) as source:
        parts = {path: source.read(path) for path in source.namelist()}
    path = list(parts)[number % len(parts)]
    read_or_refuse(read, builders.archive(parts | {path: mutated(parts[path], mutations)}))


@pytest.mark.parametrize("name", _READERS)
@_wild
@given(data=st.binary(max_size=300))
def test_random_bytes(name: str, data: bytes) -> None:
    read_or_refuse(_READERS[name][0], data)


@pytest.mark.parametrize("name", _READERS)
@_wild
@given(random=st.data())
def test_truncated_and_mutated_files(name: str, random: st.DataObject) -> None:
    read, whole = _READERS[name]
    data = bytearray(whole[: random.draw(st.integers(0, len(whole)))] if random.draw(st.booleans()) else whole)
    for _ in range(random.draw(st.integers(0, 8))):
        if data:
            data[random.draw(st.integers(0, len(data) - 1))] = random.draw(st.integers(0, 255))
    read_or_refuse(read, bytes(data))
    read_or_refuse(formats.read_book, bytes(data))


@pytest.mark.parametrize("name", ["epub", "docx", "odt"])
@_wild
@given(random=st.data())
def test_archives_with_mutated_parts(name: str, random: st.DataObject) -> None:
    """The parts are well packed and wrong inside, so that the parsers behind the archive get their share."""
    read, whole = _READERS[name]
    parts: dict[str, Any] = {}
    with zipfile.ZipFile(io.BytesIO(whole)) as source:
        for path in source.namelist():
            part = bytearray(source.read(path))
            for _ in range(random.draw(st.integers(0, 3))):
                position = random.draw(st.integers(0, len(part) - 1))
                part[position : position + random.draw(st.integers(0, 9))] = random.draw(st.binary(max_size=9))
            parts[path] = bytes(part)
    read_or_refuse(read, builders.archive(parts))


@pytest.mark.parametrize("name", ["html", "markdown", "txt"])
@_wild
@given(text=st.lists(st.sampled_from(_TAGS + _LINES), max_size=60).map("".join))
def test_heaps_of_structure(name: str, text: str) -> None:
    read_or_refuse(_READERS[name][0], text.encode())


@pytest.mark.parametrize("tag", ["b", "span", "p", "table", "blockquote"])
def test_tags_nested_too_deep_for_any_stack(tag: str) -> None:
    assert check(read_html((f"<{tag}>" * 10_000 + "deep down").encode(), "a.html")).text == "deep down"


@pytest.mark.parametrize("read", [txt.read, read_html])
def test_accents_piled_on_one_letter_are_cut_before_they_are_put_in_order(read: Callable[..., BookText]) -> None:
    book = check(read(("Ra" + "\u0301\u0323" * 400_000 + "in. Re\u0301sume\u0301.").encode(), "a.txt"))
    assert len(book.text) < 60
    assert book.text.endswith("in. Résumé.")

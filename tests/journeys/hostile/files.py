"""All hostile files, and what people call them."""

import random
from collections.abc import Iterator

from tests.bot.parsers import builders
from tests.journeys.hostile.archives import bombs, epub_of, linking_epub
from tests.journeys.hostile.entities import PASSWD, documents_of_entities
from tests.journeys.hostile.file import WORDS, HostileFile
from tests.journeys.hostile.pdfs import broken_pdfs, encrypted_pdf, winding_pdfs


def refused_files() -> Iterator[HostileFile]:
    """Files that no book can be made of."""
    yield from bombs()
    yield from broken_pdfs()
    yield from _locked()
    yield from _hostile_formats()
    yield from _rubbish()


def survived_files(trap: str) -> Iterator[HostileFile]:
    """Files that may become a book or not, but must do no harm. `trap` is an address that must never be called."""
    yield from documents_of_entities(trap)
    yield from _ways_out(trap)
    yield from _deep()
    yield from _odd_texts()
    yield from winding_pdfs()


def _locked() -> Iterator[HostileFile]:
    yield HostileFile("pdf with a password", "locked.pdf", encrypted_pdf(), "password")
    drm = builders.epub({"a.xhtml": f"<p>{WORDS}</p>"}, parts={"META-INF/rights.xml": "<rights/>"})
    yield HostileFile("epub with DRM", "drm.epub", drm, "DRM")
    flagged = bytearray(epub_of(WORDS))
    at = flagged.index(b"PK\x01\x02")
    flagged[at + 8] |= 1
    yield HostileFile("epub with a password", "locked.epub", bytes(flagged), "password")


def _rubbish() -> Iterator[HostileFile]:
    chance = random.Random(7)
    noise = chance.randbytes(20_000)
    yield HostileFile("nothing", "nothing.txt", b"", "empty")
    yield HostileFile("nothing but zeros", "zeros.epub", bytes(4_000), "empty")
    yield HostileFile("noise called epub", "noise.epub", noise, "text")
    yield HostileFile("noise called pdf", "noise.pdf", b"%PDF-1.4" + noise, "PDF")
    yield HostileFile("noise called docx", "noise.docx", b"PK\x03\x04" + noise, "archive")
    for name, whole in whole_files().items():
        if name in ("epub", "docx"):
            yield HostileFile(f"{name}, cut in half", f"half.{name}", whole[: len(whole) // 2], "damaged")
    yield HostileFile("a picture called epub", "picture.epub", b"\x89PNG\r\n\x1a\n" + noise, "picture")
    yield HostileFile("a program called txt", "program.txt", b"\x7fELF\x02\x01\x01" + bytes(4_000) + noise, "text")


def _hostile_formats() -> Iterator[HostileFile]:
    """Files of the formats with records and groups of their own."""
    endless = builders.mobi(WORDS.encode() * 50, compression="huff")
    yield HostileFile(
        "mobi, codes of no length", "endless.mobi", endless.replace(b"\x00\x00\xff\x88", bytes(4)), "Kindle"
    )
    yield HostileFile("mobi, cut in half", "half.mobi", endless[: len(endless) // 3], "Kindle")
    yield HostileFile("mobi with DRM", "drm.azw", builders.mobi(WORDS.encode(), encryption=2), "DRM")
    yield HostileFile("rtf, 50,000 groups deep", "deep.rtf", b"{\\rtf1 " + b"{" * 50_000 + WORDS.encode(), "RTF")


def _ways_out(trap: str) -> Iterator[HostileFile]:
    out = {"../../../tmp/evil.txt": "out", "/etc/cron.d/evil": "out", "OPS/../../evil": "out", "C:\\evil.txt": "out"}
    yield HostileFile(
        "epub, members that lead out", "out.epub", builders.epub({"a.xhtml": f"<p>{WORDS}</p>"}, parts=out)
    )
    passwd = builders.epub({"a.xhtml": f"<p>{WORDS}</p>"}, hrefs={"a.xhtml": "../../../../etc/passwd"})
    yield HostileFile("epub, a chapter outside of it", "passwd.epub", passwd, "no text")
    yield HostileFile("epub, a link for a chapter", "link.epub", linking_epub())
    body = (
        f"<p>{WORDS}</p><img src='{trap}/i.png'/><link href='{trap}/s.css' rel='stylesheet'/><iframe src='{PASSWD}'/>"
    )
    yield HostileFile("epub, pictures from elsewhere", "remote.epub", builders.epub({"a.xhtml": body}))
    doctype = f'<!DOCTYPE html SYSTEM "{trap}/html.dtd" [<!ENTITY x SYSTEM "{PASSWD}">]><p>&x; {WORDS}</p>'
    yield HostileFile("html, entities from elsewhere", "remote.html", doctype.encode())


def _deep() -> Iterator[HostileFile]:
    tags = "<span>" * 60_000 + WORDS
    yield HostileFile("html, 60,000 nested tags", "deep.html", tags.encode())
    yield HostileFile("epub, 60,000 nested tags", "deep.epub", epub_of(tags))
    blocks = "<div>" * 60_000 + WORDS + "</div>" * 60_000
    yield HostileFile("html, 60,000 nested blocks", "blocks.html", blocks.encode())
    attributes = "".join(f"a{number}=1 " for number in range(100_000))
    yield HostileFile("html, 100,000 attributes", "attributes.html", f"<p {attributes}>{WORDS}".encode())
    name = f"<FictionBook><body><{'a' * 1_000_000}<p>{WORDS}</p></body></FictionBook>"
    yield HostileFile("fb2, a name of a million letters", "name.fb2", name.encode())
    runs = "<w:p><w:r>" * 30_000 + f"<w:t>{WORDS}</w:t>" + "</w:r></w:p>" * 30_000
    yield HostileFile("docx, 60,000 nested tags", "deep.docx", builders.docx(runs))
    points = "<navPoint>" * 60_000 + "</navPoint>" * 60_000
    ncx = builders.epub({"a.xhtml": f"<p>{WORDS}</p>"}, ncx=f"<navMap>{points}</navMap>")
    yield HostileFile("epub, contents 60,000 deep", "contents.epub", ncx)
    yield HostileFile("markdown, quotations 60,000 deep", "deep.md", b">" * 60_000 + WORDS.encode())
    yield HostileFile("markdown, brackets 10,000 deep", "brackets.md", b"[" * 10_000 + WORDS.encode())


def _odd_texts() -> Iterator[HostileFile]:
    yield HostileFile("one line of two million characters", "line.txt", (WORDS * 26_000).encode())
    yield HostileFile("one word of two million characters", "word.txt", b"A" * 2_000_000)
    yield HostileFile("lone surrogates in UTF-8", "surrogates.txt", WORDS.encode() + b"\xed\xa0\x80\xed\xbf\xbf" * 5)
    yield HostileFile(
        "lone surrogates in UTF-16", "utf16.txt", b"\xff\xfe" + WORDS.encode("utf-16-le") + b"\x00\xd8" * 9
    )
    numbers = "&#xD800;&#0;&#x110000;&#xFFFF;&#27;[31m"
    yield HostileFile("lone surrogates in HTML", "surrogates.html", f"<p>{numbers} {WORDS}".encode())
    yield HostileFile("zeros in a text", "zeros.txt", WORDS.encode() * 40 + b"\0\0" + WORDS.encode() * 40)
    yield HostileFile("a text called pdf", "text.pdf", WORDS.encode())
    yield HostileFile("an epub called txt", "epub.txt", epub_of(WORDS))
    for encoding in ("punycode", "unicode_escape", "utf-7", "zlib"):
        told = f"<meta charset='{encoding}'><p>{WORDS}\\ud800".encode() + b"\xff"
        yield HostileFile(f"html, said to be in {encoding}", f"{encoding}.html", told)
    yield HostileFile("text, thirty thousand times 1", "ones.txt", b"1\n\n" * 30_000 + WORDS.encode())
    tables = b"<table><tr><td>" * 5_000 + WORDS.encode()
    yield HostileFile("html, tables 5,000 deep", "tables.html", tables)
    yield HostileFile("pdf, cut in half", "half.pdf", whole_files()["pdf"][:700])


HOSTILE_NAMES = (
    "..\\..\\evil.txt",
    "C:\\Windows\\evil.txt",
    "two\nlines\r.txt",
    "n" * 250 + ".txt",
    "txt.\u202eexe.gpj",
    "esc\x1b]8;;http:evil.example\x1b\\.txt",
    "[bold]loud[red] [",
    "@everyone <@1> **loud**.txt",
    " .txt",
)
"""What people call files who are up to something, as far as a file system takes it."""

UPLOADED_NAMES = (
    *HOSTILE_NAMES,
    "../../../../../tmp/evil.txt",
    "/etc/passwd",
    "n" * 400 + ".txt",
    "nul\0.txt",
    "[the book](https://evil.example).txt",
)
"""And as far as an upload can bring it."""


def whole_files() -> dict[str, bytes]:
    """A good file of each format that is not plain text."""
    return {
        "epub": epub_of(WORDS * 20),
        "docx": builders.docx(builders.docx_paragraph(WORDS) * 20),
        "pdf": builders.pdf([[WORDS], [WORDS]]),
    }

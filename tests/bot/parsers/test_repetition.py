"""What is repeated without end is read in no time: none of these files may take a reader longer than its length.

Each of them would take a reader that goes back over what it has seen many minutes, and its worker has one.
"""

from collections.abc import Callable

import pytest

from bot.parsers.sandbox.pool import SandboxedParser
from tests.bot.parsers import builders
from tests.bot.parsers.invariants import check
from tests.bot.parsers.prose import paragraph
from tests.sampling import a_few

TEXT = paragraph(1)
PAGE = f"<p>{TEXT}</p>"


def with_nav(nav: str) -> bytes:
    return builders.epub({"a.xhtml": PAGE}, nav=f"<nav epub:type='toc'>{nav}</nav>")


def with_ncx(ncx: str) -> bytes:
    return builders.epub({"a.xhtml": PAGE}, ncx=" ", parts={"OPS/toc.ncx": ncx})


def by(creators: str) -> bytes:
    item = "<item id='a' href='a.xhtml' media-type='text/html'/>"
    package = f"<package><metadata>{creators}</metadata><manifest>{item}</manifest></package>"
    return builders.epub({"a.xhtml": PAGE}, parts={"OPS/book.opf": package})


def with_styles(styles: str) -> bytes:
    text = builders.docx_paragraph("AB " * 300_000, "s0") + builders.docx_paragraph(TEXT)
    return builders.docx(text, parts={"word/styles.xml": builders.docx_part("styles", styles)})


def style(number: int, parent: int, name: str = "") -> str:
    return f'<w:style w:styleId="s{number}"><w:name w:val="{name}"/><w:basedOn w:val="s{parent}"/></w:style>'


FILES: dict[str, Callable[[], bytes]] = {
    "blank lines at the end.txt": lambda: TEXT.encode() + b"\n \n" * 30_000 + b".",
    "one long line above others.txt": lambda: b"x" * 8_000_000 + (b"\n\n" + b"w " * 130) * 30_000 + TEXT.encode(),
    "ornaments around spaces.txt": lambda: f"{TEXT}\n\n".encode() + (b"*a" + b" " * 600 + b"b*\n\n") * 20_000,
    "underlined letters.txt": lambda: f"{TEXT}\n\n".encode() + b"a\n===\n\n" * 200_000,
    "authors in authors.fb2": lambda: builders.fb2(f"<p>{TEXT}</p>").replace(b"<author>", b"<author>" * 200_000),
    "front matter.md": lambda: (
        f"+++\na = {'[' * 15_000}\n+++\n---\nauthor:{chr(10)}{'- a: ' * 9_000}\n---\n\n{TEXT}".encode()
    ),
    "spaces in a field.md": lambda: f"---\ntitle: a{' ' * 400_000}x\n---\n{TEXT}".encode(),
    "comments that never end.md": lambda: f"{TEXT}\n\n{'<!--' * 200_000}".encode(),
    "tags that never end.md": lambda: f"<div>{'<a ' * 200_000}\n\n{TEXT}".encode(),
    "spaces in code.md": lambda: f"{TEXT}\n\n```\n{' ' * 400_000}x \ny\n```\n".encode(),
    "the name of a tag.html": lambda: f"{PAGE}<i/><{'a' * 400_000}>".encode(),
    "sections that never end.html": lambda: f"{PAGE}{'<![CDATA[' * 200_000}".encode(),
    "document types that never end.html": lambda: f"<!ENTITY>{'<!DOCTYPE[' * 200_000}>{PAGE}".encode(),
    "pages in pages.html": lambda: f"{'<span class=page>' * 40_000}{'<i></i>' * 40_000}{PAGE}".encode(),
    "groups of choices.html": lambda: f"{PAGE}{'<optgroup>' * 200_000}".encode(),
    "choices.html": lambda: f"{PAGE}<select>{'<option>' * 200_000}".encode(),
    "cells in a drawing.html": lambda: f"{PAGE}<svg>{'<td>' * 200_000}".encode(),
    "cells in a formula.html": lambda: f"{PAGE}<math>{'<td>' * 200_000}".encode(),
    "spaces on a page mark.html": lambda: f"<p class=page title='{' ' * 200_000}y'>{PAGE}".encode(),
    "contents in contents.epub": lambda: with_nav("<ol>" * 30_000 + "<a href='a.xhtml'>x</a>" * 20_000),
    "links in links.epub": lambda: with_nav("<svg>" + "<a href='a.xhtml'>x" * 60_000),
    "a chapter's name.epub": lambda: with_nav(f"<ol><li><a href='a.xhtml'>{'AB ' * 300_000}</a></ol>"),
    "document types that never end.epub": lambda: with_ncx("<!DOCTYPE[" * 200_000),
    "declarations that never end.epub": lambda: with_ncx("<?xml" * 400_000),
    "authors in authors.epub": lambda: by("<creator>x" * 30_000 + "</creator>" * 30_000),
    "a heading.docx": lambda: with_styles(style(0, 0, "heading 1")),
    "styles that follow from styles.docx": lambda: with_styles(
        "".join(style(each, each + 1) for each in range(40_000))
    ),
}


@pytest.mark.parametrize("name", a_few(FILES, 8))
async def test_repetition_takes_no_longer_than_its_length(name: str) -> None:
    assert TEXT[:40] in check(await SandboxedParser().read(FILES[name](), name)).text

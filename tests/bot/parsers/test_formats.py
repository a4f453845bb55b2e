"""A file is what is in it, whatever it is called."""

import pytest

from bot.parsers import formats
from bot.parsers.formats import Format, detect
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.builders import archive, docx, docx_paragraph, epub, pdf
from tests.bot.parsers.invariants import check
from tests.bot.parsers.prose import paragraph

_HTML = f"<!DOCTYPE html><html><body><p>{paragraph(1)}</p></body></html>".encode()
_EPUB = epub({"a.xhtml": f"<p>{paragraph(1)}</p>"})
_DOCX = docx(docx_paragraph(paragraph(1)))
_PDF = pdf([[paragraph(1)[:60]]])
_TEXT = paragraph(1).encode()


@pytest.mark.parametrize(
    ("data", "filename", "expected"),
    [
        (_EPUB, "book.zip", Format.EPUB),
        (_DOCX, "book.epub", Format.DOCX),
        (_PDF, "book.txt", Format.PDF),
        (b"\n" + _PDF, "book", Format.PDF),
        (_HTML, "book.txt", Format.HTML),
        (b"<?xml version='1.0'?>\n<!-- x -->\n<html></html>", "book", Format.HTML),
        (_TEXT, "book.html", Format.HTML),
        (_TEXT, "book.MD", Format.MARKDOWN),
        (_TEXT, "folder.md/book", Format.TXT),
        (_TEXT, "", Format.TXT),
    ],
)
def test_content_decides_and_the_name_helps(data: bytes, filename: str, expected: Format) -> None:
    assert detect(data, filename) is expected


@pytest.mark.parametrize("data", [_EPUB, _DOCX, _PDF, _HTML, _TEXT])
def test_every_format_is_read(data: bytes) -> None:
    book = check(formats.read_book(data, "a"))
    assert "begins here, as all things do" in " ".join(book.text.split())
    assert book.format == detect(data, "a")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\0" * 60 + b"BOOKMOBI", "MOBI or AZW3"),
        (rb"{\rtf1 hello}", "RTF"),
        (archive({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}), "ODT"),
        (b"<?xml version='1.0'?><FictionBook/>", "FB2"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Word"),
        (archive({"notes.txt": "hello"}), "ZIP"),
        (b"\x89PNG\r\n", "picture"),
    ],
)
def test_other_formats_are_refused_by_name_with_what_to_do(data: bytes, name: str) -> None:
    with pytest.raises(BookError) as refused:
        detect(data, "book.epub" if name == "FB2" else "book")
    assert refused.value.code is BookErrorCode.UNSUPPORTED_FORMAT
    assert name in refused.value.message
    assert "EPUB, PDF, DOCX, HTML, Markdown and plain text" in refused.value.message
    assert "convert it to EPUB" in refused.value.message


@pytest.mark.parametrize("data", [b"", b" \n\t\r", b"\0" * 100])
def test_empty_files_are_refused(data: bytes) -> None:
    with pytest.raises(BookError, match="empty") as refused:
        detect(data, "a.txt")
    assert refused.value.code is BookErrorCode.PARSE_FAILED


def test_a_word_document_with_a_password_is_locked() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(BookError, match="password") as refused:
        detect(data, "a.docx")
    assert refused.value.code is BookErrorCode.ENCRYPTED

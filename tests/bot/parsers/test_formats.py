"""A file is what is in it, whatever it is called."""

import pytest

from bot.parsers import formats
from bot.parsers.formats import Format, detect
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.builders import archive, docx, docx_paragraph, epub, fb2, mobi, odt, pdf
from tests.bot.parsers.invariants import check
from tests.bot.parsers.prose import paragraph, prose

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
        (mobi(_TEXT), "book.txt", Format.MOBI),
        (fb2(f"<p>{paragraph(1)}</p>"), "book.xml", Format.FB2),
        (archive({"book.fb2": fb2(f"<p>{paragraph(1)}</p>")}), "book.fb2.zip", Format.FB2),
        (odt(f"<text:p>{paragraph(1)}</text:p>"), "book", Format.ODT),
        (rb"{\rtf1 hello}", "book.doc", Format.RTF),
        (_TEXT, "book.html", Format.HTML),
        (_TEXT, "book.MD", Format.MARKDOWN),
        (_TEXT, "folder.md/book", Format.TXT),
        (_TEXT, "", Format.TXT),
    ],
)
def test_content_decides_and_the_name_helps(data: bytes, filename: str, expected: Format) -> None:
    assert detect(data, filename) is expected


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        (b"PK", "book.epub"),
        (b"x", "cover.JPG"),
        (b"%PD", "book.pdf"),
        (b"<html><head><title>404 Not Found</title></head></html>", "folder/book.mobi"),
        (b"version https://git-lfs.github.com/spec/v1", "book.docx"),
    ],
)
def test_a_few_characters_under_the_name_of_another_format_are_no_book(data: bytes, filename: str) -> None:
    with pytest.raises(BookError) as refused:
        detect(data, filename)
    name = filename.rpartition(".")[2].upper()
    assert f"no {name} in this file, only a few characters" in refused.value.message


def test_a_whole_text_or_a_short_one_of_its_own_format_is_read_under_any_name() -> None:
    assert detect(b"A note.", "note.txt") is detect(b"A note.", "note.log") is Format.TXT
    assert detect(prose(1).encode(), "book.epub") is Format.TXT
    assert detect(b"<FictionBook><body/></FictionBook>", "book.fb2") is Format.FB2


_MOBI = mobi(f"<p>{paragraph(1)}</p>".encode())
_FB2 = fb2(f"<section><p>{paragraph(1)}</p></section>")
_ODT = odt(f"<text:p>{paragraph(1)}</text:p>")
_RTF = rb"{\rtf1 " + _TEXT + rb"\par}"


@pytest.mark.parametrize("data", [_EPUB, _DOCX, _PDF, _HTML, _TEXT, _MOBI, _FB2, _ODT, _RTF])
def test_every_format_is_read(data: bytes) -> None:
    book = check(formats.read_book(data, "a"))
    assert "begins here, as all things do" in " ".join(book.text.split())
    assert book.format == detect(data, "a")


@pytest.mark.parametrize(
    ("data", "filename", "name", "advice"),
    [
        (b"\xeaDRMION\xee", "a.kfx", "KFX", "without DRM"),
        (b"TPZ0", "a.azw1", "Topaz", "without DRM"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc", "old Word", "save it as DOCX"),
        (archive({"book.kfx": b"CONT\x02\0"}), "a.kfx-zip", "KFX", "without DRM"),
        (b"<?xml version='1.0'?>\n<fulfillmentToken/>", "a.acsm", "ticket", "without DRM"),
        (b"<OverDriveMedia id='1'/>", "a.odm", "audiobook", "the book's text itself"),
        (b'{"encryption": {"profile": "http://readium.org/lcp/basic-profile"}}', "a.lcpl", "ticket", "without DRM"),
        (b"d8:announce35:http://tracker", "a.torrent", "torrent", "best as an EPUB"),
        (b'<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">', "a.xml", "XML", "best as an EPUB"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><dtbook><book/></dtbook>", "a.xml", "XML", "best as an EPUB"),
        ('<?xml version="1.0"?><w:wordDocument/>'.encode("utf-16"), "a.xml", "XML", "best as an EPUB"),
        (b"From: <Saved by Blink>\r\nSubject: Fog\r\nMIME-Version: 1.0\r\n", "a.mhtml", "MHTML", "save the page"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related", "a.mht", "MHTML", "save the page"),
        (b"\xff\xf1\x50\x80", "a.aac", "audio", "best as an EPUB"),
        (b"\0\0\0\x18ftypheic", "a.heic", "picture", "one PDF with text"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a.svg", "picture", "one PDF with text"),
        (b"\xffWPC\x10", "a.wpd", "WordPerfect", "save it as DOCX"),
        (archive({"FixedDocumentSequence.fdseq": "<x/>"}), "a.xps", "XPS", "export it as PDF"),
        (b"AT&TFORM\0\0\0\0DJVM", "a.djvu", "DjVu", "convert it to a PDF with text in it"),
        (b"ITSF\x03", "a.chm", "CHM", "convert it to EPUB"),
        (archive({"notes.txt": "hello"}), "a.zip", "ZIP", "unpack it"),
        (b"Rar!\x1a\x07", "a.rar", "RAR", "unpack it"),
        (b"7z\xbc\xaf\x27\x1c", "a.7z", "7z", "unpack it"),
        (
            archive({"001.jpg": b"\xff\xd8", "002.JPG": b"\xff\xd8", "ComicInfo.xml": "<x/>"}),
            "a.cbz",
            "comic",
            "book with text",
        ),
        (archive({"p/1.png": b"\x89PNG"}), "a.zip", "comic", "book with text"),
        (b"Rar!\x1a\x07", "a.cbr", "comic", "book with text"),
        (b"\x89PNG\r\n", "a.png", "picture", "one PDF with text"),
        (b"RIFF\0\0\0\0WEBP", "a.webp", "picture", "one PDF with text"),
        (b"ID3\x04", "a.mp3", "audio", "best as an EPUB"),
        (b"\0\0\0\x20ftypM4B ", "a.m4b", "audio", "best as an EPUB"),
        (archive({"xl/workbook.xml": "<x/>"}), "a.xlsx", "Excel", "DOCX or plain text"),
        (archive({"ppt/presentation.xml": "<x/>"}), "a.pptx", "PowerPoint", "export it as PDF"),
        (
            archive({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<x/>"}),
            "a.ods",
            "ODS",
            "PDF",
        ),
    ],
)
def test_other_formats_are_refused_by_name_with_what_to_do(data: bytes, filename: str, name: str, advice: str) -> None:
    with pytest.raises(BookError) as refused:
        detect(data, filename)
    assert refused.value.code is BookErrorCode.UNSUPPORTED_FORMAT
    assert name in refused.value.message
    assert advice in refused.value.message
    assert "{" not in refused.value.message


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


_TOLD = ("The Harbour", "The Keeper Drowns", "Who Lit the Lamp", "Ann Marries the Pilot")


def _novel(front: str) -> str:
    chapters = [
        f"CHAPTER {roman}\n\n{title}\n\n{prose(10 * at)}" for at, (roman, title) in enumerate(_NUMBERED, start=1)
    ]
    return "\n\n\n\n".join(["THE LAMP", "by Ann Author", front, *chapters])


_NUMBERED = tuple(zip(("I", "II", "III", "IV"), _TOLD, strict=True))
_TABLE = "CONTENTS\n\n" + "\n\n".join(f"CHAPTER {roman}\n{title}" for roman, title in _NUMBERED)
_PICTURES = "LIST OF ILLUSTRATIONS\n\n" + "\n\n".join(
    f"The keeper in the {thing}" for thing in ("sea", "net", "boat", "grave")
)


@pytest.mark.parametrize("front", [_TABLE, f"{_TABLE}\n\n\n{_PICTURES}", f"{_PICTURES}\n\n\n{_TABLE}"])
def test_what_lists_of_chapters_and_pictures_tell_ahead_is_left_out(front: str) -> None:
    book = check(formats.read_book(_novel(front).encode(), "a.txt"))
    assert book.text.split("CHAPTER")[0].split() == ["THE", "LAMP", "by", "Ann", "Author"]
    assert [chapter.printed for chapter in book.chapters] == ["I", "II", "III", "IV"]
    assert [book.text.count(title) for title in _TOLD] == [1, 1, 1, 1]
    assert (book.title, book.author) == ("The Lamp", "Ann Author")


def test_a_preface_stays_and_so_do_lists_of_the_book_itself() -> None:
    preface = f"PREFACE\n\n{paragraph(7)}"
    persons = "THE PERSONS\n\nAnn\n\nThe Keeper\n\nThe Pilot\n\nA Gull"
    book = check(formats.read_book(_novel(f"{_TABLE}\n\n\n{preface}\n\n\n{persons}").encode(), "a.txt"))
    assert all(text in book.text for text in (preface, "The Pilot\n\nA Gull"))
    assert book.text.count("CHAPTER") == 4


def test_printed_pages_keep_their_numbers_though_one_had_nothing_but_contents() -> None:
    marks = [f"<span epub:type='pagebreak' title='{number}'></span>" for number in range(1, 8)]
    table = "".join(f"<p>CHAPTER {roman}. {title}</p>" for roman, title in _NUMBERED)
    pages = ["<p>THE LAMP</p>", f"<p>CONTENTS</p>{table}", "<p>For Ben</p>"]
    pages += [f"<h2>CHAPTER {roman}. {title}</h2><p>{paragraph(at)}</p>" for at, (roman, title) in enumerate(_NUMBERED)]
    text = "".join(f"<p>{mark}</p>{page}" for mark, page in zip(marks, pages, strict=True))
    book = check(formats.read_book(epub({"a.xhtml": text}), "a.epub"))
    assert [page.label for page in book.pages] == list("1234567")
    assert [book.text[page.start : page.end].strip() for page in book.pages[:3]] == ["THE LAMP", "", "For Ben"]

"""FB2, ODT and RTF: the text clean, headings where they are, notes where they are referred to."""

from collections.abc import Callable

import pytest

from bot.parsers import docx, formats, rtf
from bot.parsers.xml_formats import read_fb2, read_odt
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers import builders
from tests.bot.parsers.builders import archive, fb2, odt
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph
from tests.sampling import a_few

_RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему."
_FB2 = (
    "<section><title><p>Часть I</p></title>"
    f"<section><title><p>Глава 1</p><p>Начало</p></title><p>{_RUSSIAN}<a l:href='#n1' type='note'>1</a></p>"
    f"<poem><stanza><v>Раз,</v><v>два.</v></stanza></poem><p>{paragraph(1)}</p></section>"
    f"<section><title><p>Глава 2</p></title><p>{paragraph(2)}</p></section></section>"
)
_NOTES = "<section id='n1'><title><p>1</p></title><p>Примечание.</p></section>"


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251"])
def test_fb2_sections_are_parts_and_chapters(encoding: str) -> None:
    book = check(read_fb2(fb2(_FB2, encoding=encoding, notes=_NOTES), "a.fb2"))
    assert (book.title, book.author, book.language, book.format) == ("A Test", "Ann Author", "ru", "fb2")
    assert [title.strip().split(".")[0] for title in titles(book)] == ["Часть I", "Глава 1", "Глава 2"]
    assert f"{_RUSSIAN}[1]" in book.text
    assert "Раз,\nдва." in book.text
    assert "Примечание." in book.text
    assert "QUJD" not in book.text


def test_fb2_names_all_its_authors_and_no_translator() -> None:
    second = "<author><first-name>Tom</first-name><last-name>Reed</last-name></author>"
    translator = "<translator><first-name>Eve</first-name><last-name>Holt</last-name></translator>"
    data = fb2(_FB2).replace(b"</author>", f"</author>{second}{translator}".encode(), 1)
    assert check(read_fb2(data, "a.fb2")).author == "Ann Author, Tom Reed"


def test_fb2_in_a_zip_and_with_a_tag_left_open() -> None:
    data = fb2(_FB2.replace("</v>", "", 1))
    assert _RUSSIAN in check(read_fb2(archive({"a/book.fb2": data}), "a.fb2.zip")).text


def test_odt_headings_notes_tables_and_pages() -> None:
    note = (
        "<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>A note.</text:p></text:note-body></text:note>"
    )
    body = (
        "<text:table-of-content><text:p>The Pool 3</text:p></text:table-of-content>"
        f"<text:h text:outline-level='1'>The Pool</text:h><text:p>Once{note} upon"
        "<text:s text:c='2'/>a &amp; time.</text:p>"
        f"<text:p>{paragraph(1)[:40]}<text:soft-page-break/>{paragraph(1)[40:]}</text:p>"
        "<office:annotation><text:p>Delete this!</text:p></office:annotation>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        f"<text:h text:outline-level='1'>The Mill</text:h><text:p>{paragraph(2)}</text:p>"
    )
    book = check(read_odt(odt(body), "a.odt"))
    assert titles(book) == ["The Pool", "The Mill"]
    assert (book.title, book.author, book.language) == ("A Test", "Ann Author", "en")
    assert "Once[1] upon a & time.\n\n[1] A note." in book.text
    assert "a | b" in book.text
    assert "Delete this" not in book.text
    assert "The Pool 3" not in book.text
    assert [page.label for page in book.pages] == ["1", "2"]


def test_a_locked_odt_says_so() -> None:
    with pytest.raises(BookError, match="password") as refused:
        read_odt(odt("<text:p>x</text:p>", manifest="<manifest:encryption-data/>"), "a.odt")
    assert refused.value.code is BookErrorCode.ENCRYPTED


def _rtf(body: str, prologue: str = "") -> bytes:
    fonts = r"{\fonttbl{\f0\froman Times;}{\f1\froman\fcharset204 Times CYR;}}"
    styles = r"{\stylesheet{\s0 Normal;}{\s1\sb240 heading 1;}{\s2\outlinelevel1 Chapter;}}"
    info = r"{\info{\title A Test}{\author Ann Author}{\creatim\yr2026}}"
    return rf"{{\rtf1\ansi\ansicpg1252\uc1{fonts}{styles}{info}{prologue}{body}}}".encode("latin-1")


def test_rtf_headings_letters_and_notes() -> None:
    picture = r"{\pict\pngblip\bin4 {}\x}"
    body = (
        rf"\pard\s1 The Pool\par\pard\s0 Caf\'e9 \u8220?na\u239\'efve\u8221?\line {{\b bold}}{{\v hidden}} "
        rf"text{{\footnote {{\super 1}} A note.}}.\par {picture}{{\header page head}}{{\*\unknown junk}}"
        rf"{{\f1 \'c2\'f1\'e5}}\par {paragraph(1)}\par one\cell two\cell\row "
        rf"\pard\s1 The Mill\par \pard {paragraph(2)}\par "
    )
    book = check(rtf.read(_rtf(body), "a.rtf"))
    assert (book.title, book.author, book.format) == ("A Test", "Ann Author", "rtf")
    assert titles(book) == ["The Pool", "The Mill"]
    assert "Café “naïve”\nbold text[1].\n\n[1] 1 A note." in book.text
    assert "Все" in book.text
    assert "one | two" in book.text
    for left_out in ("hidden", "page head", "junk", "Times", "pngblip"):
        assert left_out not in book.text


def test_characters_beyond_the_first_plane_and_half_of_one() -> None:
    book = rtf.read(_rtf(rf"\u-10179?\u-8704? and \u-10179? {paragraph(1)}\par"), "a.rtf")
    assert book.text.startswith("😀 and")
    assert book.text.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"{\\rtf1 " + b"{" * 50_000,
        b"{\\rtf1 " + b"{\\field{\\*\\fldinst{HYPERLINK " * 20_000,
        b"{\\rtf1 " + b"\\'" * 100_000,
        b"{\\rtf1 {\\fonttbl" + b"\\f0\\fcharset" * 50_000,
        b"{\\rtf1 " + b"\\footnote x" * 20_000,
        b"{\\rtf1 \\bin999999999 x",
        b"{\\rtf1 \\u99999999999 \\uc-5 \\ansicpg99999 \\s-1 \\outlinelevel77 x}",
    ],
)
def test_hostile_rtf_is_a_text_or_a_sentence(data: bytes) -> None:
    _read_or_refuse(rtf.read, data)


@pytest.mark.parametrize("tag", ["section", "title", "p", "a", "stanza", "binary", "description"])
def test_fb2_nested_or_repeated_without_end(tag: str) -> None:
    head = b"<FictionBook><body>"
    _read_or_refuse(read_fb2, head + f"<{tag}>".encode() * 50_000 + b"deep down")
    _read_or_refuse(read_fb2, head + f"<{tag} ".encode() * 50_000)


@pytest.mark.parametrize(
    "tag", a_few(["text:note-body", "text:h", "text:table-of-content", "text:s text:c='999999999'"], 2)
)
def test_odt_nested_or_repeated_without_end(tag: str) -> None:
    _read_or_refuse(read_odt, odt(f"<{tag}>" * 50_000 + "deep down"))


def _read_or_refuse(read: Callable[..., BookText], data: bytes) -> None:
    try:
        check(read(data, "a"))
    except BookError as error:
        assert error.message.endswith(".")


def test_odt_boxes_and_notes_come_after_what_they_belong_to() -> None:
    lines = "<draw:text-box><text:p>A box</text:p><text:p>of two.</text:p></draw:text-box>"
    box = f"<draw:frame>{lines}<svg:desc>no</svg:desc></draw:frame>"
    note = "<text:note><text:note-body><text:p>A note.</text:p></text:note-body></text:note>"
    cell = f"<table:table-cell><text:p>Cell{note}</text:p></table:table-cell>"
    table = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    body = f"<text:p>One{box} goes on.</text:p><draw:custom-shape><text:p>Shape.</text:p></draw:custom-shape>{table}"
    expected = "One goes on.\n\nA box of two.\n\nCell[1]\n\nShape.\n\n[1] A note."
    assert check(read_odt(odt(body), "a.odt")).text == expected
    meta = "<office:meta><dc:title>Flat</dc:title></office:meta>"
    flat = f"<office:document>{meta}<office:body>{body}</office:body></office:document>"
    book = check(formats.read_book(flat.encode(), "a.fodt"))
    assert (book.text, book.title, book.format) == (expected, "Flat", "odt")


def test_rtf_boxes_versions_and_revisions() -> None:
    box = r"{\shp{\*\shpinst{\sp{\sn x}}{\shptxt A box\par of two.\par}}{\shprslt{\*\do{\dptxbxtext A box\par}}}}"
    note = r"{\footnote A note\par of two.\par}"
    versions = r"{\upr{A}{\*\ud{\u1071?}}}"
    deleted, linked = r"{\deleted gone }", r"{\object{\*\objdata 00}{\result shown}}"
    header = r"{\header{\shp{\*\shpinst{\shptxt 7\par}}}}"
    document = _rtf(rf"{header}One{box} {versions} {deleted}{linked}.{note}\par Two.\par")
    assert check(formats.read_book(b"\xef\xbb\xbf\n" + document, "a.rtf")).text == (
        "One Я shown.[1]\n\nA box of two.\n\n[1] A note of two.\n\nTwo."
    )


_NAMES = ("The Pool", "A Visitor", "Night Crossing", "The Mill")


def _by_hand(title: str, line: str, *, above: str = "") -> str:
    """A story of each name: `title` and `line` are the markup of titles and of paragraphs."""
    stories = (
        title.format(name) + "".join(line.format(paragraph(10 * at + number)) for number in range(3))
        for at, name in enumerate(_NAMES)
    )
    return above + line.format("* * *").join(stories)


def test_titles_that_only_look_like_titles_in_a_word_file() -> None:
    title = '<w:p><w:pPr><w:jc w:val="center"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>{}</w:t></w:r></w:p>'
    above = title.format("Four Rooms") + title.format("by Ann Author")
    book = check(
        docx.read(builders.docx(_by_hand(title, "<w:p><w:r><w:t>{}</w:t></w:r></w:p>", above=above)), "a.docx")
    )
    assert (titles(book), book.title, book.author) == ([*_NAMES], "Four Rooms", "Ann Author")


def test_plain_titles_that_open_pages_in_a_word_file() -> None:
    title = "<w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>"
    book = check(docx.read(builders.docx(_by_hand(title, "<w:p><w:r><w:t>{}</w:t></w:r></w:p>")), "a.docx"))
    assert titles(book) == [*_NAMES]


def test_a_word_in_bold_in_prose_or_lines_of_a_poem_are_no_titles() -> None:
    line = "<w:p><w:r><w:rPr><w:i/></w:rPr><w:t>{}</w:t></w:r></w:p>"
    poem = "".join(line.format(f"{name} of the night") for name in _NAMES)
    bold = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>So</w:t></w:r><w:r><w:t> he said it again {}</w:t></w:r></w:p>"
    prose = "".join(bold.format(at) + f"<w:p><w:r><w:t>{paragraph(at)}</w:t></w:r></w:p>" for at in range(9))
    assert not check(docx.read(builders.docx(prose + poem + prose), "a.docx")).chapters


def test_titles_that_only_look_like_titles_in_an_open_document() -> None:
    styles = "".join(
        f'<style:style style:name="P{at}" style:family="paragraph" style:parent-style-name="Standard">'
        f'<style:paragraph-properties fo:text-align="center"/><style:text-properties rsid="{at}"/></style:style>'
        for at in range(4)
    )
    title = '<text:p text:style-name="P{at}"><text:soft-page-break/>{name}</text:p>'
    body = "".join(
        title.format(at=at, name=name)
        + "".join(f'<text:p text:style-name="Standard">{paragraph(10 * at + n)}</text:p>' for n in range(3))
        for at, name in enumerate(_NAMES)
    )
    book = check(read_odt(odt(f"<office:automatic-styles>{styles}</office:automatic-styles>{body}"), "a.odt"))
    assert titles(book) == [*_NAMES]


def test_titles_that_only_look_like_titles_in_an_rtf_file() -> None:
    book = check(rtf.read(_rtf(_by_hand(r"\pard\qc{{\b\fs32 {}}}\par ", r"\pard\fs24 {}\par ")), "a.rtf"))
    assert titles(book) == [*_NAMES]


def test_bold_first_lines_of_fb2_sections_without_titles_after_a_contents_page() -> None:
    contents = "".join(f"<p>{name}</p>" for name in _NAMES)
    body = _by_hand("</section><section><p><strong>{}</strong></p>", "<p>{}</p>", above=f"<section>{contents}")
    book = check(read_fb2(fb2(f"{body}</section>"), "a.fb2"))
    assert titles(book) == [*_NAMES]
    assert book.chapters[0].start > book.text.index("The Mill")


def test_a_number_of_thousands_of_digits_is_no_crash() -> None:
    digits = "9" * 5_000
    body = (
        f"<text:h text:outline-level='{digits}'>The Pool</text:h><text:p>So<text:s text:c='{digits}'/>it was.</text:p>"
    )
    assert "it was." in check(read_odt(odt(body), "a.odt")).text

"""DOCX: styles make chapters, Word's own layout makes pages."""

import pytest

from bot.parsers import docx
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.builders import archive, docx_paragraph, docx_part
from tests.bot.parsers.builders import docx as build
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph

_STYLES = docx_part(
    "styles",
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="My Chapter"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:styleId="Big"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="T1"><w:name w:val="toc 1"/></w:style>',
)
_RENDERED = "<w:lastRenderedPageBreak/>"


def read(body: str, **parts: str) -> BookText:
    named = {f"word/{name}.xml": part for name, part in parts.items()}
    return check(docx.read(build(body, parts={"word/styles.xml": _STYLES, **named}), "a.docx"))


def test_headings_by_style_even_by_one_derived() -> None:
    book = read(
        docx_paragraph("The Ebb", "Big")
        + docx_paragraph("Posts ... 3", "T1")
        + docx_paragraph("Posts", "H1")
        + docx_paragraph(paragraph(1))
        + docx_paragraph("Supper", "Mine")
        + docx_paragraph(paragraph(2))
    )
    assert titles(book) == ["Posts", "Supper"]
    assert book.title == "The Ebb"
    assert "..." not in book.text


def test_pages_are_those_word_laid_out() -> None:
    book = read(
        docx_paragraph(paragraph(1))
        + docx_paragraph(paragraph(2), before='<w:br w:type="page"/>')
        + docx_paragraph("won</w:t><w:lastRenderedPageBreak/><w:t>derful", before=_RENDERED)
    )
    assert [page.label for page in book.pages] == ["1", "2", "3"]
    assert not book.pages_estimated
    assert book.text.endswith("\n\nwonderful")
    assert book.text[book.pages[2].start :] == "derful"


def test_without_layout_breaks_by_hand_are_pages_if_they_come_often_enough() -> None:
    by_hand = '<w:br w:type="page"/>'
    often = read(docx_paragraph(paragraph(1)) + docx_paragraph(paragraph(2), before=by_hand))
    assert [page.label for page in often.pages] == ["1", "2"]
    seldom = read(docx_paragraph(paragraph(1)) * 40 + docx_paragraph(paragraph(2), before=by_hand))
    assert seldom.pages_estimated


def test_tables_row_by_row_and_notes_under_their_paragraph() -> None:
    cells = "".join(f"<w:tc>{docx_paragraph(text)}</w:tc>" for text in ("1934", "Perpetua"))
    note = '<w:p><w:r><w:t>The keeper.</w:t></w:r><w:r><w:footnoteReference w:id="7"/></w:r></w:p>'
    book = read(
        f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>{note}{docx_paragraph('Next.')}",
        footnotes=docx_part("footnotes", f'<w:footnote w:id="7">{docx_paragraph("A careful man.")}</w:footnote>'),
    )
    assert book.text == "1934 | Perpetua\n\nThe keeper.[1]\n\n[1] A careful man.\n\nNext."


def test_deleted_hidden_and_doubled_text_is_not_read() -> None:
    deleted = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
    box = (
        '<mc:AlternateContent xmlns:mc="urn:x"><mc:Choice><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Choice>'
        "<mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    book = read(f"<w:p>{deleted}{hidden}<w:r><w:t>seen</w:t><w:tab/><w:t>too</w:t>{box}</w:r></w:p>")
    assert book.text == "boxed\n\nseen too"


def test_properties_name_title_and_author() -> None:
    core = '<p xmlns:dc="urn:dc"><dc:title>The Ebb</dc:title><dc:creator>Ann Author</dc:creator></p>'
    book = docx.read(build(docx_paragraph(paragraph(1)), parts={"docProps/core.xml": core}), "a.docx")
    assert (book.title, book.author) == ("The Ebb", "Ann Author")


@pytest.mark.parametrize("document", ["", "<w:document", "<a><b></a>"])
def test_damaged_documents_are_refused(document: str) -> None:
    with pytest.raises(BookError, match="damaged") as refused:
        docx.read(archive({"word/document.xml": document, "other": "x"}), "a.docx")
    assert refused.value.code is BookErrorCode.PARSE_FAILED


def _level(at: int, form: str, text: str) -> str:
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'


def test_numbers_that_word_puts_before_headings_are_read() -> None:
    levels = _level(0, "upperRoman", "Part %1") + _level(1, "decimal", "Chapter %2")
    numbering = docx_part(
        "numbering",
        f'<w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="3"><w:abstractNumId w:val="7"/></w:num>',
    )
    styles = docx_part(
        "styles",
        "".join(
            f'<w:style w:styleId="H{at}"><w:name w:val="heading {at}"/>'
            f'<w:pPr><w:numPr><w:ilvl w:val="{at - 1}"/><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
            for at in (1, 2)
        ),
    )
    body = "".join(
        docx_paragraph(part, "H1")
        + "".join(docx_paragraph(title, "H2") + docx_paragraph(paragraph(at)) for at, title in enumerate(("Fog", "")))
        for part in ("Dust", "Rain")
    )
    unnumbered = (
        '<w:p><w:pPr><w:pStyle w:val="H1"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>'
        "<w:r><w:t>{}</w:t></w:r></w:p>"
    )
    body += unnumbered.format("Afterword") + docx_paragraph(paragraph(9))
    parts = {"word/styles.xml": styles, "word/numbering.xml": numbering}
    book = check(docx.read(build(body, parts=parts), "a.docx"))
    assert titles(book) == [
        "Part I. Dust", "  Chapter 1. Fog", "  Chapter 2",
        "Part II. Rain", "  Chapter 1. Fog", "  Chapter 2",
        "Afterword",
    ]  # fmt: skip


@pytest.mark.parametrize("level", ["0", "8", "9", "9" * 5_000, "x", "-1"])
def test_numbering_that_makes_no_sense_numbers_nothing(level: str) -> None:
    numbering = docx_part(
        "numbering",
        '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:lvlText w:val="%9%1"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>',
    )
    properties = (
        f'<w:pPr><w:pStyle w:val="H1"/><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    )
    book = read(
        f"<w:p>{properties}<w:r><w:t>Posts</w:t></w:r></w:p>" + docx_paragraph(paragraph(1)), numbering=numbering
    )
    assert book.text.split("\n\n")[0].endswith("Posts")


def test_a_drop_capital_joins_its_word() -> None:
    capital = '<w:p><w:pPr><w:framePr w:dropCap="drop" w:lines="3"/></w:pPr><w:r><w:t>P</w:t></w:r></w:p>'
    book = check(docx.read(build(capital + docx_paragraph(paragraph(1)[1:])), "a.docx"))
    assert book.text == paragraph(1)


def test_text_in_boxes_notes_and_wrong_styles_is_read_once() -> None:
    box = (
        '<mc:AlternateContent xmlns:mc="urn:x"><mc:Choice><w:drawing/></mc:Choice>'
        f"<mc:Fallback>{docx_paragraph('boxed')}</mc:Fallback></mc:AlternateContent>"
    )
    note = '<w:r><w:footnoteReference w:id="1"/></w:r>'
    deleted = (
        "<w:p><w:r><w:t>One</w:t><w:br/><w:t>two.</w:t></w:r><w:del><w:r><w:delText>no</w:delText></w:r></w:del></w:p>"
    )
    framed = '<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr><w:r><w:t>The last words</w:t></w:r></w:p>'
    reading = (
        "<w:ruby><w:rt><w:r><w:t>kana</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>kanji</w:t></w:r></w:rubyBase></w:ruby>"
    )
    book = read(
        f"<w:p><w:r>{box}{reading}</w:r>{note}</w:p>{docx_paragraph(paragraph(1), 'T1')}{framed}",
        footnotes=docx_part("footnotes", f'<w:footnote w:id="1">{deleted}{docx_paragraph("Three.")}</w:footnote>'),
    )
    assert book.text == f"boxed\n\nkanji[1]\n\n[1] One two. Three.\n\n{paragraph(1)}\n\nThe last words"


def test_the_parts_are_found_by_their_relations() -> None:
    def relations(**targets: str) -> str:
        lines = "".join(f'<Relationship Type="urn:x/{kind}" Target="{path}"/>' for kind, path in targets.items())
        return f"<Relationships>{lines}</Relationships>"

    body = docx_paragraph("One", "H1") + docx_paragraph(paragraph(1)) + docx_paragraph("Two", "H1")
    parts = {
        "_rels/.rels": relations(officeDocument="/word/document2.xml"),
        "word/_rels/document2.xml.rels": relations(styles="styles2.xml"),
        "word/document2.xml": docx_part("document", f"<w:body>{body}{docx_paragraph(paragraph(2))}</w:body>"),
        "word/styles2.xml": _STYLES,
    }
    assert titles(check(docx.read(archive(parts), "a.docx"))) == ["One", "Two"]

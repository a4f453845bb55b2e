"""EPUB 2 and 3, with the faults that books of both have."""

import pytest

from bot.parsers import epub
from bot.parsers.draft import DEFAULT_LIMITS, ReadingLimits, TextBuilder
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.builders import archive, xhtml
from tests.bot.parsers.builders import epub as build
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph

ONE = f"<h1>One</h1><p>{paragraph(1)}</p>"
TWO = f"<h1>Two</h1><p>{paragraph(2)}</p>"


def read(data: bytes) -> BookText:
    return check(epub.read(data, "a.epub"))


def nav_of(*links: tuple[str, str]) -> str:
    lines = "".join(f'<li><a href="{href}">{title}</a></li>' for title, href in links)
    return f'<nav epub:type="toc"><h1>Contents</h1><ol>{lines}</ol></nav>'


def test_documents_in_the_order_of_the_spine_with_title_author_language() -> None:
    book = read(build({"z.xhtml": ONE, "a.xhtml": TWO}))
    assert book.text == f"One\n\n{paragraph(1)}\n\nTwo\n\n{paragraph(2)}"
    assert titles(book) == ["One", "Two"]
    assert (book.title, book.author, book.language, book.format) == ("A Test", "Ann Author", "en", "epub")


@pytest.mark.parametrize(
    ("cover", "title"),
    [("<p>The Knot Reference</p><p>© 2019 Ann Moor</p>", "The Knot Reference"), ("", "Knots Reference")],
)
def test_a_title_that_is_a_files_name_gives_way_to_the_title_page(cover: str, title: str) -> None:
    metadata = "<dc:title>knots-reference</dc:title><dc:creator>Ann Moor</dc:creator>"
    documents = {"c.xhtml": cover, "a.xhtml": ONE, "b.xhtml": TWO} if cover else {"a.xhtml": ONE, "b.xhtml": TWO}
    book = read(build(documents, metadata=metadata))
    assert (book.title, titles(book)) == (title, ["One", "Two"])


def test_chapters_are_named_by_the_contents_not_by_the_headings() -> None:
    book = read(build({"a.xhtml": ONE, "b.xhtml": TWO}, nav=nav_of(("1. Dusk", "a.xhtml"), ("2. Dawn", "b.xhtml"))))
    assert titles(book) == ["1. Dusk", "2. Dawn"]


@pytest.mark.parametrize("heading", ["<h2>Chapter {}</h2>", "<p><b>Chapter {}</b></p>"])
@pytest.mark.parametrize("left_out", [{3}, {3, 4}, {6}])
def test_a_chapter_that_the_contents_leave_out_does_not_belong_to_the_one_before(
    heading: str, left_out: set[int]
) -> None:
    length = {number: 9 if number == 5 else 5 for number in range(1, 7)}
    parts = {f"{at}.xhtml": f"{heading.format(at)}<p>{paragraph(at, length[at])}</p>" for at in length}
    listed = [(f"Chapter {at}", f"{at}.xhtml") for at in length if at not in left_out]
    book = read(build(parts, nav=nav_of(*listed)))
    assert titles(book) == [f"Chapter {at}" for at in length]


def test_a_number_out_of_its_series_is_no_chapter_that_the_contents_leave_out() -> None:
    parts = {f"{at}.xhtml": f"<h2>Chapter {at}</h2><p>{paragraph(at)}</p>" for at in (1, 2, 5)}
    parts["2.xhtml"] += f"<p>Chapter 4</p><p>{paragraph(7)}</p>"
    book = read(build(parts, nav=nav_of(*((f"Chapter {at}", f"{at}.xhtml") for at in (1, 2, 5)))))
    assert titles(book) == ["Chapter 1", "Chapter 2", "Chapter 5"]


def test_contents_point_into_files_and_nest() -> None:
    body = (
        f"<p>{paragraph(0)}</p><h1 id='p1'>Part One</h1><h2 id='c1'>Dusk</h2><p>{paragraph(1)}</p>"
        f"<a id='c2'/><h2>Dawn</h2><p>{paragraph(2)}</p>"
    )
    inner = "<ol><li><a href='a.xhtml#c1'>Dusk</a></li><li><a href='a.xhtml#c2'>Dawn</a></li></ol>"
    nav = f"<nav epub:type='toc'><ol><li><a href='a.xhtml#p1'>Part One</a>{inner}</li></ol></nav>"
    book = read(build({"a.xhtml": body}, nav=nav))
    assert titles(book) == ["Part One", "  Dusk", "  Dawn"]
    assert book.text[book.chapters[2].start :].startswith("Dawn\n\n")


def test_epub_2_has_an_ncx() -> None:
    points = "".join(
        f"<navPoint><navLabel><text>{title}</text></navLabel><content src='{src}'/></navPoint>"
        for title, src in (("CHAPTER I", "a.xhtml"), ("CHAPTER II", "b.xhtml"))
    )
    book = read(build({"a.xhtml": ONE, "b.xhtml": TWO}, ncx=f"<navMap>{points}</navMap>"))
    assert titles(book) == ["Chapter I", "Chapter II"]


def test_pages_by_the_page_list() -> None:
    pages = "<li><a href='a.xhtml#pg9'>ix</a></li><li><a href='b.xhtml'>1</a></li>"
    nav = f"{nav_of(('One', 'a.xhtml'), ('Two', 'b.xhtml'))}<nav epub:type='page-list'><ol>{pages}</ol></nav>"
    book = read(build({"a.xhtml": f"<p><span id='pg9'/>{paragraph(1)}</p>", "b.xhtml": TWO}, nav=nav))
    assert [(page.label, book.text[page.start :][:3]) for page in book.pages] == [("ix", "Par"), ("1", "Two")]
    assert not book.pages_estimated


def test_pages_by_marks_in_the_text() -> None:
    marks = [f"<span epub:type='pagebreak' id='p{number}' title='{number}'/>{paragraph(number)}" for number in (47, 48)]
    book = read(build({"a.xhtml": "".join(f"<p>{mark}</p>" for mark in marks)}))
    assert [page.label for page in book.pages] == ["47", "48"]
    assert book.text == f"{paragraph(47)}\n\n{paragraph(48)}"


def test_a_page_list_of_a_few_pages_is_not_believed() -> None:
    nav = f"{nav_of(('One', 'a.xhtml'))}<nav epub:type='page-list'><ol><li><a href='a.xhtml'>1</a></li></ol></nav>"
    book = read(build({"a.xhtml": "".join(f"<p>{paragraph(number)}</p>" for number in range(60))}, nav=nav))
    assert book.pages_estimated


def test_wrapping_is_neither_text_nor_chapter() -> None:
    copyright_page = "<section epub:type='copyright-page'><h1>Copyright</h1><p>All rights.</p></section>"
    cover = "<section epub:type='cover'><img src='c.jpg' alt='Cover'/></section>"
    links = (("Cover", "c.xhtml"), ("One", "a.xhtml"), ("Two", "b.xhtml"), ("Copyright Page", "r.xhtml"))
    book = read(
        build({"c.xhtml": cover, "a.xhtml": ONE, "b.xhtml": TWO, "r.xhtml": copyright_page}, nav=nav_of(*links))
    )
    assert titles(book) == ["One", "Two"]
    assert "rights" not in book.text
    assert "Contents" not in book.text


def test_contents_page_named_by_the_guide_is_left_out() -> None:
    guide = '<guide><reference type="toc" href="t.xhtml"/></guide>'
    book = read(build({"t.xhtml": "<h1>Contents</h1><p>One, Two</p>", "a.xhtml": ONE, "b.xhtml": TWO}, guide=guide))
    assert book.text.startswith("One\n\n")


def test_what_is_outside_the_flow_comes_last_and_is_not_lost() -> None:
    book = read(build({"n.xhtml": "<p>A note.</p>", "a.xhtml": ONE, "b.xhtml": TWO}, not_linear=["n.xhtml"]))
    assert book.text.endswith("A note.")


@pytest.mark.parametrize("href", ["chapter%201.xhtml", "../OPS/chapter 1.xhtml", "CHAPTER 1.xhtml"])
def test_links_written_in_odd_ways_find_their_file(href: str) -> None:
    book = read(build({"chapter 1.xhtml": ONE, "b.xhtml": TWO}, hrefs={"chapter 1.xhtml": href}))
    assert titles(book) == ["One", "Two"]
    assert book.warnings == ()


def test_a_missing_chapter_is_a_warning() -> None:
    book = read(build({"a.xhtml": ONE, "b.xhtml": TWO}, parts={"OPS/b.xhtml": ""}))
    assert titles(book) == ["One"]
    assert book.warnings == ("A part of this EPUB is missing or damaged (b.xhtml), so its text is not in the book.",)


def test_markup_that_is_not_well_formed_loses_no_text() -> None:
    book = read(
        build({"a.xhtml": f"<h1>One<p>{paragraph(1)}<p>More &nbsp; &eacute;t&eacute; & <i>end", "b.xhtml": TWO})
    )
    assert "More été & end" in book.text
    assert titles(book) == ["Two"]
    assert paragraph(2) in book.text


def test_self_closed_elements_swallow_nothing() -> None:
    book = read(build({"a.xhtml": f"<h1>One</h1><a id='x'/><div/><p>{paragraph(1)}</p><script/><p>More.</p>"}))
    assert book.text == f"One\n\n{paragraph(1)}\n\nMore."


def test_a_number_and_its_title_in_a_group_are_one_heading() -> None:
    group = "<hgroup><h2>{}</h2><p epub:type='title'>{}</p></hgroup><p>{}</p>"
    documents = {
        f"{number}.xhtml": group.format(numeral, title, paragraph(number))
        for number, (numeral, title) in enumerate((("I", "Dusk"), ("II", "Dawn")))
    }
    assert titles(read(build(documents))) == ["I. Dusk", "II. Dawn"]
    nav = nav_of(("I", "0.xhtml"), ("II", "1.xhtml"))
    assert titles(read(build(documents, nav=nav))) == ["I. Dusk", "II. Dawn"]


DRM = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">
<enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/></enc:EncryptedData></encryption>"""


@pytest.mark.parametrize(
    "parts",
    [
        {"META-INF/encryption.xml": DRM.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")},
        {"META-INF/rights.xml": "<rights/>"},
        {"META-INF/license.lcpl": "{}"},
    ],
)
def test_locked_books_are_refused(parts: dict[str, str]) -> None:
    with pytest.raises(BookError, match="DRM") as refused:
        epub.read(build({"a.xhtml": ONE}, parts=parts), "a.epub")
    assert refused.value.code is BookErrorCode.DRM_PROTECTED


def test_obfuscated_fonts_are_no_lock() -> None:
    fonts = {"META-INF/encryption.xml": DRM.format("http://www.idpf.org/2008/embedding")}
    assert titles(read(build({"a.xhtml": ONE, "b.xhtml": TWO}, parts=fonts))) == ["One", "Two"]


def test_a_book_of_pictures_has_no_text() -> None:
    with pytest.raises(BookError) as refused:
        epub.read(build({"a.xhtml": "<img src='1.jpg' alt='Page 1'/>"}), "a.epub")
    assert refused.value.code is BookErrorCode.NO_TEXT


def test_what_unpacks_to_too_much_is_refused_unread() -> None:
    with pytest.raises(BookError, match="smaller") as refused:
        epub.read(build({"a.xhtml": "a " * 900_000}), "a.epub", limits=ReadingLimits(max_unpacked_bytes=1_000_000))
    assert refused.value.code is BookErrorCode.TOO_LARGE


@pytest.mark.parametrize("part", ["META-INF/container.xml", "OPS/book.opf"])
def test_damaged_packages_are_refused_in_a_sentence(part: str) -> None:
    with pytest.raises(BookError, match="damaged") as refused:
        epub.read(build({"a.xhtml": ONE}, parts={"OPS/book.opf": "", part: "<broken"}), "a.epub")
    assert refused.value.code is BookErrorCode.PARSE_FAILED


def test_a_package_that_names_no_files_has_the_pages_of_its_archive() -> None:
    metadata = '<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/">The Lock</dc:title>'
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><metadata>{metadata}</metadata><guide/></package>'
    page = f"<h1>One</h1><p>{paragraph(1)}</p><h1>Two</h1><p>{paragraph(2)}</p>"
    book = read(archive({"index.html": xhtml(page), "style.css": "p {}", "metadata.opf": package}))
    assert (book.title, titles(book)) == ("The Lock", ["One", "Two"])


@pytest.mark.parametrize("name", ["Section {}", "Part {}", "part{:04}", "part{:04}.xhtml", "Untitled-{}"])
@pytest.mark.parametrize("tag", ["h2", 'p class="head"'])
def test_contents_that_name_files_do_not_hide_the_titles(name: str, tag: str) -> None:
    names = ("The Pool", "A Visitor", "Night Crossing", "The Mill")
    files = {
        f"part{at:04}.xhtml": f"<{tag}>{title}</{tag.split()[0]}>"
        + "".join(f"<p>{paragraph(10 * at + n)}</p>" for n in range(3))
        for at, title in enumerate(names, start=1)
    }
    contents = nav_of(*((name.format(at), f"part{at:04}.xhtml") for at in range(1, 5)))
    assert titles(read(build(files, nav=contents))) == [*names]


def test_contents_that_name_files_are_better_than_none() -> None:
    files = {f"part{at}.xhtml": f"<p>{paragraph(10 * at)}</p><p>{paragraph(at)}</p>" for at in range(1, 5)}
    contents = nav_of(*((f"Section {at}", f"part{at}.xhtml") for at in range(1, 5)))
    assert len(read(build(files, nav=contents)).chapters) == 4


_LOST = {
    "the ids": "a.xhtml#lost{}",
    "the files": "lost{}.xhtml",
    "some of the ids": "a.xhtml#c{}",
}


@pytest.mark.parametrize("lost", _LOST)
@pytest.mark.parametrize("printed", ["<p{}>{}</p>", "<p{}><b>{}</b></p>", "<h2{}>{}</h2>"])
def test_chapters_that_the_contents_point_at_in_vain_begin_where_their_titles_stand(lost: str, printed: str) -> None:
    names = ("The Pool", "A Visitor", "Night Crossing", "The Mill")
    body = "".join(
        printed.format(f" id='c{at}'" if at % 2 else "", name) + f"<p>{paragraph(at)} The Mill</p>"
        for at, name in enumerate(names)
    )
    contents = nav_of(*((name, _LOST[lost].format(at)) for at, name in enumerate(names)))
    book = read(build({"a.xhtml": body}, nav=contents))
    assert titles(book) == [*names]
    assert [book.text[each.start :].split("\n")[0] for each in book.chapters] == [*names]


def test_of_chapters_whose_places_are_lost_only_the_first_opens_the_file() -> None:
    contents = nav_of(*((name, f"a.xhtml#{name}") for name in ("Dusk", "Night", "Dawn")))
    assert titles(read(build({"a.xhtml": f"<p>{paragraph(1)}</p><p>{paragraph(2)}</p>"}, nav=contents))) == ["Dusk"]


def test_entities_do_not_explode() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    package = f'<!DOCTYPE p [<!ENTITY l0 "ha">{laughs}]><package><metadata><title>&l9;</title></metadata></package>'
    with pytest.raises(BookError) as refused:
        epub.read(build({"a.xhtml": ONE}, parts={"OPS/book.opf": package}), "a.epub")
    assert refused.value.code is BookErrorCode.PARSE_FAILED


def test_files_that_begin_with_their_titles_where_nothing_marks_them() -> None:
    names = ("The Lamp", "A Cart at Night", "The Clock Stops")
    prose = "".join(f"<p>{paragraph(number)}</p>" for number in range(5))
    book = read(build({f"{at}.xhtml": f"<p>{name}</p>{prose}" for at, name in enumerate(names)}))
    assert titles(book) == list(names)


_PACKAGE = (
    """<package><metadata><title>Salt & Ebb</title></metadata><manifest>{}</manifest><spine>{}</spine></package>"""
)


@pytest.mark.parametrize(
    ("items", "spine"),
    [
        ('<item id="a" href="a.xhtml" media-type="text/xml"/><item id="b" href="b.xhtml"/>', "a b"),
        ('<item id="a" href="a.xhtml#start" media-type="x"/><item id="b" href="Text\\b.xhtml?v=1"/>', "a b"),
        ('<item id="A" href="a.xhtml"/><item id="i2" href="b.xhtml"/>', "a b.xhtml"),
        ('<item id="a" href="a.xhtml"/><item id="b" href="b.xhtml"/>', "a lost"),
        ('<item id="a" href="a.xhtml"/><item id="p" href="p.pdf" fallback="b"/><item id="b" href="b.xhtml"/>', "a p"),
    ],
)
def test_what_a_careless_package_declares_costs_no_text(items: str, spine: str) -> None:
    references = "".join(f'<itemref idref="{name}"/>' for name in spine.split())
    parts = {"OPS/book.opf": _PACKAGE.format(items, references), "OPS/p.pdf": "%PDF"}
    book = read(build({"a.xhtml": ONE, "b.xhtml": TWO}, parts=parts))
    assert book.text == f"One\n\n{paragraph(1)}\n\nTwo\n\n{paragraph(2)}"
    assert (book.title, book.warnings) == ("Salt & Ebb", ())


def test_prose_in_a_file_that_is_called_wrapping_is_kept() -> None:
    long = "".join(f"<p>{paragraph(number)}</p>" for number in range(9))
    guide = "<guide><reference type='toc' href='a.xhtml'/><reference type='cover' href='b.xhtml'/></guide>"
    book = read(build({"a.xhtml": f"<h1>One</h1>{long}", "b.xhtml": "<p>Cover</p>", "c.xhtml": TWO}, guide=guide))
    assert titles(book) == ["One", "Two"]
    assert "Cover" not in book.text


def test_a_locked_font_is_no_locked_book() -> None:
    cipher = '<CipherData><CipherReference URI="OPS/{}"/></CipherData>'
    method = '<EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>'
    locks = "<encryption><EncryptedData>{}{}</EncryptedData></encryption>"
    font = {"META-INF/encryption.xml": locks.format(method, cipher.format("a%20font.otf"))}
    assert paragraph(1) in read(build({"a.xhtml": ONE}, parts=font)).text
    page = {"META-INF/encryption.xml": locks.format(method, cipher.format("a.xhtml"))}
    with pytest.raises(BookError, match="DRM"):
        read(build({"a.xhtml": ONE}, parts=page))


def linked(*lines: tuple[str, str]) -> str:
    return "".join(f"<li><a href='{href}'>{title}</a></li>" for title, href in lines)


@pytest.mark.parametrize(
    "heading",
    [
        "<h2>Chapter {number}. {title}</h2>",
        "<h2>{number}. {title}</h2>",
        "<h2><span>{number}</span> {title}</h2>",
        "<h2>{number}<br/>{title}</h2>",
        "<h2>{number}</h2><h3>{title}</h3>",
        "<p>CHAPTER {number}</p><p>{title}</p>",
    ],
)
def test_numbers_that_the_contents_leave_out_are_those_above_the_titles(heading: str) -> None:
    names = ["Foreword", "The Harbour", "Snow", "The Clockmaker"]
    bodies = ["<h2>Foreword</h2>", *(heading.format(number=at, title=names[at]) for at in (1, 2, 3))]
    files = {f"{at}.xhtml": f"{body}<p>{paragraph(at)}</p>" for at, body in enumerate(bodies)}
    book = read(build(files, nav=nav_of(*((title, f"{at}.xhtml") for at, title in enumerate(names)))))
    assert [chapter.printed for chapter in book.chapters] == ["", "1", "2", "3"]
    assert all(title in chapter.title for title, chapter in zip(names, book.chapters, strict=True))


def test_a_part_may_have_no_link_of_its_own() -> None:
    files = {"title.xhtml": "<p>A book of letters</p>", "a.xhtml": ONE, "b.xhtml": TWO}
    part = f"<li><span>Part One: Dusk</span><ol>{linked(('One', 'a.xhtml'), ('Two', 'b.xhtml'))}</ol></li>"
    book = read(build(files, nav=f"<nav epub:type='toc'><ol>{part}</ol></nav>"))
    assert titles(book) == ["Part One: Dusk", "  One", "  Two"]
    assert [chapter.parent for chapter in book.chapters] == ["", "Part One: Dusk", "Part One: Dusk"]
    assert book.text[book.chapters[1].start :].startswith("One\n\n")


def test_a_part_may_begin_where_its_first_chapter_does() -> None:
    files = {
        "a.xhtml": f"<h1>Part One</h1><h2>The Harbour</h2><p>{paragraph(1)}</p>",
        "b.xhtml": f"<h2>Snow</h2><p>{paragraph(2)}</p>",
    }
    inner = linked(("The Harbour", "a.xhtml"), ("Snow", "b.xhtml"))
    nav = f"<nav epub:type='toc'><ol><li><a href='a.xhtml'>Part One</a><ol>{inner}</ol></li></ol></nav>"
    book = read(build(files, nav=nav))
    assert titles(book) == ["Part One", "  The Harbour", "  Snow"]
    assert book.text[book.chapters[1].start :].startswith("The Harbour\n\n")


def test_a_chapter_may_begin_where_its_introduction_does() -> None:
    files: dict[str, str] = {}
    lines = ""
    for number, name in enumerate(("Tides", "Winds", "Stars"), start=1):
        opening = f"<h1><span>Chapter </span>{number} {name}</h1><p>{paragraph(number)}</p>"
        files |= {
            f"{number}.xhtml": opening,
            f"{number}a.xhtml": f"<h2>{number}.1 Measures</h2><p>{paragraph(number + 3)}</p>",
        }
        inner = linked(("Introduction", f"{number}.xhtml"), (f"{number}.1 Measures", f"{number}a.xhtml"))
        lines += f"<li><a href='{number}.xhtml'>{number} {name}</a><ol>{inner}</ol></li>"
    book = read(build(files, nav=f"<nav epub:type='toc'><ol>{lines}</ol></nav>"))
    chapters = [chapter for chapter in book.chapters if chapter.level == 1]
    assert [(chapter.printed, chapter.title) for chapter in chapters] == [
        ("1", "1 Tides"),
        ("2", "2 Winds"),
        ("3", "3 Stars"),
    ]
    assert book.text[chapters[1].start :].startswith("Chapter 2 Winds")


def test_parts_listed_on_the_level_of_their_chapters_are_parts() -> None:
    files = {
        "p1.xhtml": "<h1>Part One</h1>",
        "a.xhtml": f"<h1>1</h1><p>{paragraph(1)}</p>",
        "b.xhtml": f"<h1>2</h1><p>{paragraph(2)}</p>",
        "p2.xhtml": "<h1>Part Two</h1>",
        "c.xhtml": f"<h1>1</h1><p>{paragraph(3)}</p>",
        "d.xhtml": f"<h1>2</h1><p>{paragraph(4)}</p>",
    }
    lines = zip(("Part One", "1", "2", "Part Two", "1", "2"), files, strict=True)
    book = read(build(files, nav=nav_of(*lines)))
    assert titles(book) == ["Part One", "  Chapter 1", "  Chapter 2", "Part Two", "  Chapter 1", "  Chapter 2"]


def test_the_first_of_two_novels_keeps_its_title() -> None:
    novels = {
        name: f"<h1>{name}</h1><h2>Chapter I</h2><p>{paragraph(1)}</p><h2>Chapter II</h2><p>{paragraph(2)}</p>"
        for name in ("The Ford", "The Mouth")
    }
    book = read(build({f"{number}.xhtml": body for number, body in enumerate(novels.values())}))
    chapters = ["  Chapter I", "  Chapter II"]
    assert titles(book) == ["The Ford", *chapters, "The Mouth", *chapters]


def test_a_title_that_its_part_repeats_is_listed_once() -> None:
    files = {"a.xhtml": f"{ONE}<h2 id='s'>Inside</h2><p>{paragraph(3)}</p>", "b.xhtml": TWO}
    inner = linked(("One", "a.xhtml"), ("Inside", "a.xhtml#s"))
    nav = f"<nav epub:type='toc'><ol><li><a href='a.xhtml'>One</a><ol>{inner}</ol></li></ol></nav>"
    assert titles(read(build(files, nav=nav)))[0] == "One"


def test_sections_that_the_contents_list_in_chapters_make_no_chapters() -> None:
    """DocBook gives chapters and their first sections headings of one level."""
    files = {}
    lines = []
    for at in (1, 2, 3):
        sections = "".join(f"<h2 id='s{n}'>{at}.{n}. Part {n}</h2><p>{paragraph(at * 9 + n)}</p>" for n in (1, 2, 3))
        files[f"{at}.xhtml"] = f"<h2>Chapter {at}. Topic {at}</h2>{sections}"
        inner = linked(*((f"{at}.{n}. Part {n}", f"{at}.xhtml#s{n}") for n in (1, 2, 3)))
        lines.append(f"<li><a href='{at}.xhtml'>{at}. topic {at}</a><ol>{inner}</ol></li>")
    book = read(build(files, nav=f"<nav epub:type='toc'><ol>{''.join(lines)}</ol></nav>"))
    assert [(chapter.printed, chapter.level) for chapter in book.chapters] == [("1", 1), ("2", 1), ("3", 1)]


def test_contents_that_call_every_file_by_the_books_name_do_not_hide_the_titles() -> None:
    files = {f"{at}.xhtml": f"<h2>Chapter {at}</h2><p>{paragraph(at)}</p>" for at in (1, 2, 3, 4)}
    book = read(build(files, nav=nav_of(*(("A Test", name) for name in files))))
    assert titles(book) == ["Chapter 1", "Chapter 2", "Chapter 3", "Chapter 4"]


@pytest.mark.parametrize(
    ("below", "named"),
    [
        (
            ("The Ford", "A Cart at Night", "The Mouth"),
            ["Chapter 1. The Ford", "Chapter 2. A Cart at Night", "Chapter 3. The Mouth"],
        ),
        (("THE FORD", "THE WEIR", "THE MOUTH"), ["Chapter 1. The Ford", "Chapter 2. The Weir", "Chapter 3. The Mouth"]),
        (("London, 1899", "London, 1899", "London, 1899"), ["Chapter 1", "Chapter 2", "Chapter 3"]),
        (("May 3, 1899", "May 4, 1899", "May 9, 1899"), ["Chapter 1", "Chapter 2", "Chapter 3"]),
        (("“Halt!”", "Nobody came.", "It rained,"), ["Chapter 1", "Chapter 2", "Chapter 3"]),
    ],
)
def test_a_line_below_a_label_is_its_title(below: tuple[str, ...], named: list[str]) -> None:
    documents = {
        f"{at}.xhtml": f"<h1>Chapter {at}</h1><p class='sub'>{line}</p><p>{paragraph(at)}</p><p>{paragraph(9)}</p>"
        for at, line in enumerate(below, 1)
    }
    contents = nav_of(*((f"Chapter {at}", f"{at}.xhtml") for at in (1, 2, 3)))
    assert titles(read(build(documents, nav=contents))) == named


def test_a_title_that_the_contents_leave_out_is_that_of_the_heading() -> None:
    names = ("The Ford", "A Cart at Night", "The Mouth")
    documents = {
        f"{at}.xhtml": f"<h1>Chapter {at}<br/>{name}</h1><p>{paragraph(at)}</p>" for at, name in enumerate(names, 1)
    }
    contents = nav_of(*((f"Chapter {at}", f"{at}.xhtml") for at in (1, 2, 3)))
    assert titles(read(build(documents, nav=contents))) == [f"Chapter {at}. {name}" for at, name in enumerate(names, 1)]


_SERIES = '<dc:title id="a">The Water Books</dc:title><dc:title id="b">The Weir</dc:title>'
_TYPES = (
    '<meta refines="#a" property="title-type">collection</meta><meta refines="#b" property="title-type">main</meta>'
)


@pytest.mark.parametrize(("types", "title"), [(_TYPES, "The Weir"), ("", "The Water Books")])
def test_the_main_title_is_the_books_though_its_series_has_one(types: str, title: str) -> None:
    assert read(build({"a.xhtml": ONE}, metadata=f"{_SERIES}{types}")).title == title


@pytest.mark.parametrize(
    "layout",
    ['<meta property="rendition:layout">pre-paginated</meta>', '<meta name="fixed-layout" content="true"/>'],
)
def test_each_file_of_a_fixed_layout_is_a_page(layout: str) -> None:
    pages = {f"p{number}.xhtml": f"<p>{paragraph(number)}</p>" if number != 3 else "<img/>" for number in range(1, 8)}
    contents = (
        '<nav epub:type="toc"><ol><li><a href="p2.xhtml">Dusk</a></li><li><a href="p5.xhtml">Dawn</a></li></ol></nav>'
    )
    book = read(build(pages, nav=contents, metadata=f"<dc:title>The Weir</dc:title>{layout}"))
    assert not book.pages_estimated
    labels = {book.text[page.start : page.end].split(" begins")[0].strip(): page.label for page in book.pages}
    assert labels | {"": ""} == {"": ""} | {f"Paragraph {number}": str(number) for number in (1, 2, 4, 5, 6, 7)}


def test_the_text_of_a_book_is_joined_once_however_often_it_is_looked_up() -> None:
    builder = TextBuilder(DEFAULT_LIMITS)
    for number in range(3):
        builder.add(paragraph(number))
    assert builder.text is builder.text
    builder.add("And then?")
    assert builder.text == "\n\n".join([*map(paragraph, range(3)), "And then?"])
    assert builder.length == len(builder.text)


@pytest.mark.parametrize("number", ["<p class='number'>{}</p>", "<div>{}</div>", ""])
def test_parts_that_are_a_number_above_a_title_hold_their_chapters(number: str) -> None:
    documents, lines = {}, ""
    for part, name in enumerate(("The Shore", "The Hills"), start=1):
        documents[f"p{part}.xhtml"] = f"<div>{number.format('I' * part)}<h1>{name}</h1></div>"
        inner = ""
        for at, title in enumerate(("Ferry", "Lamps", "Salt"), start=1):
            count, file = (part - 1) * 3 + at, f"c{part}{at}.xhtml"
            documents[file] = f"{number.format(count)}<h1>{title} {part}</h1><p>{paragraph(count)}</p>"
            inner += f"<li><a href='{file}'>{title} {part}</a></li>"
        lines += f"<li><a href='p{part}.xhtml'>{name}</a><ol>{inner}</ol></li>"
    book = read(build(documents, nav=f"<nav epub:type='toc'><ol>{lines}</ol></nav>"))
    assert [chapter.level for chapter in book.chapters] == [1, 2, 2, 2, 1, 2, 2, 2]
    assert [chapter.printed for chapter in book.chapters] == (
        ["I", "1", "2", "3", "II", "4", "5", "6"] if number else [""] * 8
    )
    assert {chapter.parent.rpartition(". ")[2] for chapter in book.chapters} == {"", "The Shore", "The Hills"}

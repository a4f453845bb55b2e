"""HTML: what a person sees in the browser is in the book, and nothing else."""

import pytest
from selectolax.lexbor import LexborNode

from bot.parsers import html
from bot.parsers.archive import without_excess
from bot.parsers.web_formats import read_html
from domain.book import BookText
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph, prose


def read(body: str, head: str = "") -> BookText:
    return check(read_html(f"<html lang='en'><head>{head}</head><body>{body}</body></html>".encode(), "a_page.html"))


def chapter(title: str, number: int, level: int = 2) -> str:
    return f"<h{level}>{title}</h{level}><p>{paragraph(number)}</p><p>{paragraph(number + 1)}</p>"


def test_only_what_is_seen_is_read() -> None:
    book = read(
        "<nav>Home | Shop</nav><script>var x = 1;</script><style>p {}</style><p>Seen.</p><p hidden>Unseen.</p>"
        "<p style='display: none'>Unseen.</p><!-- unseen --><noscript>Unseen.</noscript><p>Also &amp; seen&hellip;</p>"
    )
    assert book.text == "Seen.\n\nAlso & seen…"


def test_text_is_found_however_deep_it_stands() -> None:
    book = read("<div><div><p>One <b>bold <i>and</i></b> two.</p>loose words<ul><li>a</li><li>b</li></ul></div></div>")
    assert book.text == "One bold and two.\n\nloose words\n\na\n\nb"


@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("<div>", "</div>"),
        ("<DIV>x", ""),
        ("<font>x", ""),
        ("<i></b>", ""),
        ("<b><p><i>x</b>", ""),
        ("<p><b class={number}>x", ""),
        ("<x{number}>x", ""),
        ("<table><tr><td>x", ""),
        ("<ruby>x<rt>y", ""),
        ("<ruby></ruby><rt>", ""),
        ("<ul><li>x", "</ul>"),
    ],
)
def test_no_tree_is_so_deep_that_it_takes_long(opened: str, closed: str) -> None:
    """The library's time grows with the square of the depth."""
    begun = "".join(opened.replace("{number}", str(number)) for number in range(5_000))
    tree = html.parse(f"<body>{begun}The lamp was dark.{closed * 5_000}")
    assert tree.body is not None
    assert "The lamp was dark." in tree.body.text()
    assert depth_of(tree.body) < 2_000


def depth_of(root: LexborNode) -> int:
    deepest, waiting = 0, [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(inner, depth + 1) for inner in node.iter(include_text=False)]
    return deepest


def test_an_element_has_no_more_attributes_than_anybody_needs() -> None:
    """The library's time grows with the square of their number. Long ones may stay."""
    many = "".join(f"a{number}='>' " for number in range(5_000))
    picture = "data:image/png;base64," + "A/+B" * 5_000
    tree = html.parse(f"<body><p {many}>Dark.</p><img src='{picture}' alt='W'>")
    [paragraph], [image] = tree.css("p"), tree.css("img")
    assert (paragraph.attributes, paragraph.text()) == ({}, "Dark.")
    assert image.attributes == {"src": picture, "alt": "W"}


@pytest.mark.parametrize("page", ["<p>x<li>y<a name=n>z<br>", "<ruby>x<rt>y</ruby>", "<p><font>x</font></p>"])
def test_a_long_page_that_leaves_out_ends_is_read_as_it_is(page: str) -> None:
    assert without_excess(page * 5_000, ()) == page * 5_000


def test_white_space_is_the_browsers() -> None:
    book = read("<p>One\n   two<br/>three&nbsp;four</p><pre>if x:\n    y()</pre><p>won&shy;der&#xFB01;nd</p>")
    assert book.text == "One two\nthree four\n\nif x:\n    y()\n\nwonderfind"


def test_tables_are_read_row_by_row() -> None:
    book = read("<table><tr><th>Year</th><th>Ship</th></tr><tr><td>1934</td><td></td><td>Perpetua</td></tr></table>")
    assert book.text == "Year | Ship\n\n1934 | Perpetua"


def test_headings_are_chapters_and_the_contents_are_not() -> None:
    contents = "<h2>Contents</h2><p><a href='#1'>I</a></p>"
    book = read(
        f"<h1>THE LONG NIGHT</h1><h2>By Ann Author</h2>{contents}{chapter('I. Dusk', 1)}{chapter('II. Dawn', 5)}"
        "<h2>Transcriber’s Note</h2><p>Two commas were mended.</p>",
        head="<title>The Long Night, by Ann Author</title>",
    )
    assert titles(book) == ["I. Dusk", "II. Dawn"]
    assert (book.title, book.author, book.language) == ("The Long Night", "Ann Author", "en")
    assert book.chapters[-1].end == book.text.index("Transcriber")


def test_number_and_title_of_a_chapter_are_one_heading() -> None:
    body = "".join(f"<h3>CHAPTER {n}</h3>{chapter(t, 5, 3)}" for n, t in (("ONE", "THE EVE"), ("TWO", "THE STAR")))
    assert titles(read(body)) == ["Chapter One. The Eve", "Chapter Two. The Star"]


def test_parts_hold_chapters_but_chapters_hold_no_subheadings() -> None:
    inner = f"{chapter('Chapter 1', 1, 3)}<h4>A subheading</h4><p>{paragraph(3)}</p>{chapter('Chapter 2', 5, 3)}"
    book = read(f"<h2>Part One</h2>{inner}<h2>Part Two</h2>{chapter('Chapter 3', 9, 3)}")
    assert titles(book) == ["Part One", "  Chapter 1", "  Chapter 2", "Part Two", "  Chapter 3"]


def test_page_numbers_of_the_print_are_page_labels() -> None:
    book = read(
        f"<p><span class='pagenum'><a id='Page_xii'>[Pg xii]</a></span>{paragraph(1)}</p>"
        f"<p>{paragraph(2)} won<span class='pagenum'>[Pg 1]</span>derful.</p>"
        f"<p><span class='pagenum' id='Page_2'></span>{paragraph(3)}</p>"
    )
    assert [page.label for page in book.pages] == ["xii", "1", "2"]
    assert not book.pages_estimated
    assert "wonderful." in book.text
    assert "Pg" not in book.text
    assert book.text[book.pages[1].start :].startswith("derful.")


def test_a_page_break_for_the_printer_hides_no_text() -> None:
    book = read(f"<div class='pagebreak'><p>{paragraph(1)}</p></div><p>{paragraph(2)}</p>")
    assert book.text == prose(1, 2)
    assert book.pages_estimated


def test_drop_capitals_and_note_numbers() -> None:
    book = read(
        "<p><img alt='O' src='o.png'/>nce upon a time.<a href='#n'><sup>12</sup></a> <img alt='A cat'/>Then.</p>"
    )
    assert book.text == "Once upon a time.[12] Then."


def test_gutenberg_boilerplate_is_left_out() -> None:
    book = read(
        "<pre>The Project Gutenberg EBook of Emma\n\nTitle: Emma\n\nAuthor: Jane Austen\n\n"
        f"*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***</pre>{chapter('Chapter 1', 1)}{chapter('Chapter 2', 5)}"
        "<pre>*** END OF THIS PROJECT GUTENBERG EBOOK EMMA ***\n\nLicence.</pre>"
    )
    assert book.text.startswith("Chapter 1")
    assert book.text.endswith(paragraph(6))
    assert (book.title, book.author) == ("Emma", "Jane Austen")


def test_chapters_without_heading_elements_are_found_by_their_words() -> None:
    body = "".join(f"<p><b>CHAPTER {n}</b></p><p>{paragraph(7)}</p><p>{paragraph(8)}</p>" for n in ("I", "II"))
    assert titles(read(body)) == ["Chapter I", "Chapter II"]


def test_declared_encodings_are_believed() -> None:
    page = "<html><head><meta charset='windows-1252'></head><body><p>Où êtes-vous ?</p></body></html>"
    assert read_html(page.encode("cp1252"), "a.html").text == "Où êtes-vous ?"


@pytest.mark.parametrize("name", ["punycode", "idna", "undefined", "zlib", "no-such-thing"])
def test_an_encoding_that_no_text_is_in_is_not_believed(name: str) -> None:
    page = f"<html><head><meta charset='{name}'></head><body><p>Où êtes-vous ?</p></body></html>"
    assert read_html(page.encode("cp1252"), "a.html").text == "Où êtes-vous ?"


def test_small_letters_that_say_how_words_are_read_are_kept_apart() -> None:
    scholar = "<ruby>書生<rp>（</rp><rt>しょせい</rt><rp>）</rp></ruby>"
    body = f"<p>その{scholar}と<ruby>吾<rt>わが</rt>輩<rt>ハイ</rt></ruby>。</p>"
    book = read(body)
    assert book.text == "その書生と吾輩。"
    assert book.readings == (("しょせい", "書生"), ("わが", "吾"), ("はい", "輩"))


def test_links_name_numbers_and_the_titles_under_them() -> None:
    names = [("I", ""), ("V", "The Cart"), ("X", "Of the long and winding way " * 4)]
    links = "".join(f"<a href='#c{at}'>{number}. {name}</a><br/>" for at, (number, name) in enumerate(names))
    chapters = "".join(
        f"<p id='c{at}'>{number}.</p><p>{name}</p><p>{paragraph(at)}</p><p>{paragraph(at + 9)}</p>"
        for at, (number, name) in enumerate(names)
    )
    assert titles(read(links + chapters)) == [
        "Chapter I",
        "V. The Cart",
        f"X. {'Of the long and winding way ' * 4}".strip(),
    ]


def test_links_that_lead_behind_the_numbers_of_headings_name_no_others() -> None:
    """So does TeX4ht: the numbers are outside of the links, and in front of what they lead to."""
    sections = [f"{number}{part}" for number in "123" for part in ("", ".1", ".2", ".3")]
    table = "".join(f"{number} <a href='#s{number}'>Of {number} Posts</a><br/>" for number in sections)
    told = "".join(
        f"<h{3 + number.count('.')}>{number} <a id='s{number}'></a>Of {number} Posts</h{3 + number.count('.')}>"
        f"<p>{paragraph(at)}</p>"
        for at, number in enumerate(sections)
    )
    book = read(f"<h2>The Weir</h2><h3>Short Table of Contents</h3><p>{table}</p>{told}")
    assert titles(book) == [f"{number} Of {number} Posts" for number in "123"]
    assert [chapter.printed for chapter in book.chapters] == ["1", "2", "3"]


def test_an_author_in_a_heading_is_no_chapter() -> None:
    front = f"<h1>The Lamp</h1><p>by</p><h2>Ann Author</h2><p>{'Contents and a word. ' * 30}</p>"
    body = "".join(f"<h3>Chapter {number}</h3><p>{paragraph(number)}</p>" for number in (1, 2, 3))
    assert titles(read(front + body)) == ["Chapter 1", "Chapter 2", "Chapter 3"]


NAMES = ("The Lamp", "A Cart at Night", "The Clock Stops", "Of Posts", "On the Wall")


@pytest.mark.parametrize(
    "form",
    [
        "<p align='center'><b>{}</b></p>",
        "<p class='ct'>{}</p>",
        "<center><font size='+2'>{}</font></center>",
        "<p style='text-align: center'><span class='big'>{}</span></p>",
        "<div class='chapter-name'>{}</div>",
        "<font size=+1><center><b>{}</b></center></font>",
        "<b><center><font size=+1>{}</font></center></b>",
        "<blockquote><b>{}</b></blockquote>",
        "<br><br><b>{}</b><br><br>",
        "<br><font size=+1><b>{}</b></font><br>",
    ],
)
@pytest.mark.parametrize("paragraphs", ["<p>{}</p>", "<p>{}", "{}<br><br>"])
def test_titles_that_only_look_like_titles(form: str, paragraphs: str) -> None:
    body = "".join(
        form.format(name) + "".join(paragraphs.format(paragraph(10 * at + number)) for number in range(4))
        for at, name in enumerate(NAMES)
    )
    assert titles(read(body)) == list(NAMES)


def test_words_in_bold_between_lines_of_prose_are_no_titles() -> None:
    body = "".join(f"<p>{paragraph(at)}<br><b>Mind the tide {at}</b><br>{paragraph(at + 50)}</p>" for at in range(9))
    assert titles(read(body)) == []


@pytest.mark.parametrize("kind", ["A Memoir", "A Novel in Three Parts", "Eine Novelle", "Récits"])
@pytest.mark.parametrize("form", ["<center>{}</center><center>{}</center><center>{}</center>", "<p>{}<br>{}<br>{}</p>"])
def test_an_author_may_stand_below_what_kind_of_book_it_is(form: str, kind: str) -> None:
    front = form.format("LOW TIDE", kind, "Ann Hobb")
    book = read(front + "".join(chapter(f"Chapter {number}", 5 * number) for number in range(1, 4)))
    assert (book.title, book.author) == ("Low Tide", "Ann Hobb")


def test_a_title_page_is_not_on_the_first_page_that_has_a_number() -> None:
    front = "<p>LOW TIDE</p><p>Ann Hobb</p><p>London 1911</p>"
    marked = [f"<h2>Chapter {n}</h2><p><span class='pagenum'>{2 * n + 3}</span>{prose(9 * n)}</p>" for n in (1, 2)]
    book = read(front + "".join(marked))
    assert [page.label for page in book.pages] == ["front", "5", "7"]
    assert book.pages[1].start == book.chapters[0].start


def test_a_title_in_front_of_page_one_is_on_it() -> None:
    book = read(f"<p>LOW TIDE</p><h2>One</h2><p><span class='pagenum'>1</span>{prose(1)}</p><h2>Two</h2>{prose(9)}")
    assert [page.label for page in book.pages] == ["1"]


def test_lines_that_look_like_the_prose_are_no_titles() -> None:
    body = "".join(f"<p class='a'>No, said Ann {at}</p>" + f"<p class='a'>{prose(9 * at)}</p>" * 2 for at in range(5))
    assert titles(read(body)) == []


def test_a_chapter_on_another_level_than_the_others_of_its_series() -> None:
    body = "".join(chapter(f"CHAPTER {at}", 5 * at, 3 if at in (1, 3) else 2) for at in range(1, 6))
    assert titles(read(f"<h1>A Book</h1>{body}")) == [f"Chapter {at}" for at in range(1, 6)]


@pytest.mark.parametrize("opened", ["<!-- ", "<title>", "<textarea rows=3>", "<!-- a --><!-- - >", "<rt>"])
def test_what_is_never_closed_swallows_nothing(opened: str) -> None:
    text = read(f"<p>{paragraph(1)}</p>{opened}<p>{paragraph(2)}</p>").text
    assert paragraph(1) in text
    assert paragraph(2) in text


def test_the_words_of_drawings_and_lines_by_style_are_read() -> None:
    drawn = "<svg><title>no</title><text>The</text><text>Ebb</text></svg>"
    assert (
        read(f"{drawn}<p><i style='display: block'>a</i><i style='display:block'>b</i></p>").text
        == "The\n\nEbb\n\na\nb"
    )


def test_pages_saved_by_word_name_their_author_in_a_comment() -> None:
    comment = "<!--[if gte mso 9]><xml><o:DocumentProperties><o:Author>Ann &amp; Ida</o:Author></xml><![endif]-->"
    page = f"<html><head><title>The Lock</title>{comment}</head><body lang=DE><p>{paragraph(1)}</p></body></html>"
    book = read_html(page.encode(), "a.htm")
    assert (book.title, book.author, book.language) == ("The Lock", "Ann & Ida", "DE")


def test_of_a_switch_the_default_is_read() -> None:
    book = read(
        "<epub:switch><epub:case><p>formula</p></epub:case><epub:default><p>words</p></epub:default></epub:switch>"
    )
    assert book.text == "words"


def test_what_a_site_adds_to_the_title_of_its_page_is_not_the_books() -> None:
    byline = "<h1>Tidewater</h1><p>by <a rel='author' href='/u'>ferrygirl</a></p>"
    page = f"<title>Tidewater - ferrygirl - The Salt Road (TV)</title>{byline}{chapter('Chapter 1', 1)}"
    book = read_html(f"{page}{chapter('Chapter 2', 5)}".encode(), "a.html")
    assert (book.title, book.author) == ("Tidewater", "ferrygirl")


def test_stories_saved_by_a_program_have_their_author_and_their_first_chapter() -> None:
    names = ["Prologue", "Chapter 1", "Chapter 2"]
    links = "<br>".join(f"<a href='#s{at}'>{name}</a>" for at, name in enumerate(names))
    front = (
        f"<h1><a href='/s'>Ashes</a> by <a class='authorlink' href='/u'>moonlit_owl</a></h1><h2>Contents</h2>{links}"
    )
    told = "".join(f"<a name='s{at}'>{chapter(name, 9 * at)}</a>" for at, name in enumerate(names))
    book = read(f"{front}{told}", "<title>Ashes by moonlit_owl</title>")
    assert (book.title, book.author) == ("Ashes", "moonlit_owl")
    assert titles(book) == names


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("the clocks<sup>1</sup> struck", "the clocks[1] struck"),
        ("He fell.<sup>12</sup> Then", "He fell.[12] Then"),
        ("“Go!”<sup>3</sup> she said", "“Go!”[3] she said"),
        ("10<sup>5</sup> crowns", "10^5 crowns"),
        ("3<sup>1</sup>/<sub>2</sub> miles", "31/2 miles"),
        ("the 3<sup>rd</sup>, M<sup>r</sup> Bell", "the 3rd, Mr Bell"),
        ("where x<sup>2</sup> is", "where x2 is"),
        ("<sup>1</sup> A note", "1 A note"),
    ],
)
def test_small_numbers_stand_apart_from_what_they_are_beside(markup: str, text: str) -> None:
    assert read_html(f"<p>{markup}</p>".encode(), "a.html").text == text


_OTHER_WORDS = (
    "<p>Once that man had been a way off. The ferry went after him; a hat lay there, it is said by Quillon.</p>"
)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p><span class='drop'>T</span> hat was it.</p>", "That was it."),
        ("<p>\n<big><b>T</b></big>\nHAT WAS it.</p>", "THAT WAS it."),
        ("<p>“<span>T</span> hat was it.”</p>", "“That was it.”"),
        ("<p><span>A</span> fter it.</p>", "After it."),
        ("<p><span>S</span> hivering he rose.</p>", "Shivering he rose."),
        ("<div class='cap'>T</div><p>hat was it.</p>", "That was it."),
        ("<p>T</p><p><small>HAT</small> was it.</p>", "THAT was it."),
        ("<div><img src='i.png' alt='T'></div><p>hat was it.</p>", "That was it."),
        ("<p><img src='i.png' alt='Drop cap T'>hat was it.</p>", "That was it."),
        ("<p><img src='pictures/drop_t.png' alt=''>hat was it.</p>", "That was it."),
        ("<div><img src='i1.png' title='T'></div><p>hat was it.</p>", "That was it."),
        ("<p><img src='i1.png'>uillon rose.</p>", "Quillon rose."),
    ],
)
def test_a_drop_capital_is_a_letter_of_its_word(markup: str, text: str) -> None:
    assert read(f"<h2>One</h2>{markup}{_OTHER_WORDS}").text.split("\n\n")[1] == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p><span class='drop'>A</span> man rose.</p>", "A man rose."),
        ("<p><span class='drop'>A</span> FERRY CAME.</p>", "A FERRY CAME."),
        ("<p><i>I</i> went.</p>", "I went."),
        ("<p>“<i>I</i> ain’t afraid.”</p>", "“I ain’t afraid.”"),
        ("<p><b>X</b> man had signed it.</p>", "X man had signed it."),
        ("<p><b>T</b> The hat was his.</p>", "T The hat was his."),
        ("<p>I</p><p>THE FERRY came.</p>", "I\n\nTHE FERRY came."),
        ("<p>B</p><p>back, the rear of it</p>", "B\n\nback, the rear of it"),
        ("<p>T</p><h3>hat</h3>", "T\n\nhat"),
        ("<p><img src='ship.png' alt='A ship'>had been there</p>", "had been there"),
        ("<p><img src='i1.png'>hat was it.</p><p>What? Chat!</p>", "hat was it.\n\nWhat? Chat!"),
    ],
)
def test_a_letter_that_begins_no_word_stands_by_itself(markup: str, text: str) -> None:
    assert read(f"<h2>One</h2>{markup}{_OTHER_WORDS}").text.startswith(f"One\n\n{text}\n\n")


def test_a_letter_alone_is_read_to_the_last_and_keeps_its_place() -> None:
    assert read("<p>One.</p><p>T</p>").text == "One.\n\nT"
    linked = "".join(f"<p><a href='#c{n}'>Chapter {n}</a></p>" for n in "123")
    told = "".join(f"<h2 id='c{n}'>Chapter {n}</h2><p>T</p><p>hat was {n}. {paragraph(4)}</p>" for n in "123")
    assert titles(read(f"{linked}{told}{_OTHER_WORDS}")) == ["Chapter 1", "Chapter 2", "Chapter 3"]


@pytest.mark.parametrize("author", ["by Ann Author", "Ann Author"])
def test_an_author_below_the_title_is_no_part(author: str) -> None:
    stories = "".join(f"<h3>{title}</h3><p>{paragraph(at)}</p>" for at, title in enumerate(("Dusk", "Noon", "Dawn")))
    assert titles(read(f"<h1>The Title</h1><h2>{author}</h2>{stories}")) == ["Dusk", "Noon", "Dawn"]


def test_what_a_wiki_puts_around_a_book_is_no_text() -> None:
    names = ("Ash", "Elm", "Fir")
    edit = '<span class="mw-editsection">[<a href="/edit">edit</a>]</span>'
    chapters = "".join(f"<div><h2>{name}</h2>{edit}</div><p>{paragraph(at)}</p>" for at, name in enumerate(names))
    above = (
        '<a class="mw-jump-link">Jump to content</a><div role="search">Search</div><h1>The Ferry</h1>'
        '<div class="vector-dropdown mw-portlet">Add languages</div>'
        '<div class="noprint">From Wikisource <i>by <span id="header-author-text">Mary Dunn</span></i></div>'
    )
    below = (
        '<ol><li><b class="mw-cite-backlink">↑</b> A note.</li></ol><div class="licensetpl">Free</div>'
        '<div class="printfooter">Retrieved</div><div class="catlinks">Novels</div><p class="mw-footer">Terms</p>'
    )
    book = read(f"{above}{chapters}{below}", "<title>The Ferry - Wikisource, the free online library</title>")
    assert (book.title, book.author, titles(book)) == ("The Ferry", "Mary Dunn", list(names))
    told = "\n\n".join(f"{name}\n\n{paragraph(at)}" for at, name in enumerate(names))
    assert book.text == f"The Ferry\n\n{told}\n\nA note."


@pytest.mark.parametrize("name", ["author", "DC.creator", "citation_author"])
def test_every_author_that_a_page_declares_is_named_once(name: str) -> None:
    metas = "".join(f'<meta name="{name}" content="{person}">' for person in ("Ann Moor", "Bob Smith", "Ann Moor"))
    assert read(f"<p>{paragraph(1)}</p>", metas).author == "Ann Moor, Bob Smith"

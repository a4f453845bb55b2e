"""Markdown is read as it looks when rendered."""

import pytest

from bot.parsers.web_formats import read_markdown
from domain.book import BookText
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph, prose


def read(text: str) -> BookText:
    return check(read_markdown(text.encode(), "a-file.md"))


def test_a_novel_with_title_author_and_numbered_chapters() -> None:
    book = read(f"# The Ebb\n\nby Ann Author\n\n## 1. Posts\n\n{prose(1)}\n\n## 2. Supper\n\n{prose(5)}\n")
    assert titles(book) == ["1. Posts", "2. Supper"]
    assert (book.title, book.author) == ("The Ebb", "Ann Author")
    assert book.text.startswith("The Ebb\n\nby Ann Author\n\n1. Posts\n\n")


def test_front_matter_names_the_book_and_is_not_text() -> None:
    book = read(
        f'---\ntitle: "The Ebb"\nauthor: Ann Author\nlang: en\n---\n\n# One\n\n{prose(1)}\n\n# Two\n\n{prose(5)}'
    )
    assert (book.title, book.author, book.language) == ("The Ebb", "Ann Author", "en")
    assert book.text.startswith("One\n\n")
    assert titles(book) == ["One", "Two"]


def test_marks_are_gone_and_words_are_there() -> None:
    book = read(
        "A *word* with **weight**, `code`, [a link](http://x.example), ![a picture](p.png) and &copy;.\n\n"
        "> quoted\n> on\n\n- one\n- two\n\n<div>raw <b>html</b></div>\n\nline  \nline\n\n[ref]: http://y.example\n"
    )
    assert book.text == (
        "A word with weight, code, a link, and ©.\n\nquoted on\n\none\n\ntwo\n\nraw html\n\nline\nline"
    )


def test_a_hash_in_code_is_no_chapter() -> None:
    book = read(f"# One\n\n{prose(1)}\n\n```\n# not a chapter\n```\n\n# Two\n\n{prose(5)}")
    assert titles(book) == ["One", "Two"]
    assert "# not a chapter" in book.text


def test_underlined_headings_and_tables() -> None:
    book = read(f"One\n===\n\n{prose(1)}\n\nTwo\n===\n\n| a | b |\n|---|---|\n| 1 | *2* |\n\n{prose(5)}")
    assert titles(book) == ["One", "Two"]
    assert "a | b\n\n1 | 2" in book.text


@pytest.mark.parametrize(
    ("line", "author"),
    [
        ("by Ann Author", "Ann Author"),
        ("By the time the lamps were lit.", ""),
        ("By Monday the ships had gone away.", ""),
        ("A Short Introduction", ""),
        ("Notes From The Field", ""),
        ("Ann Author", "Ann Author"),
    ],
)
def test_a_line_of_introduction_is_no_author(line: str, author: str) -> None:
    text = f"# The Long Night\n\n{line}\n\n## One\n\n{prose(1)}\n\n## Two\n\n{prose(3)}"
    book = check(read_markdown(text.encode(), "a.md"))
    assert (book.title, book.author) == ("The Long Night", author)


def test_a_title_does_not_swallow_its_author() -> None:
    book = read_markdown(f"# The Lamp by Ann Author\n\n{prose(1)}\n\n## One\n\n{prose(9)}".encode(), "a.md")
    assert (book.title, book.author) == ("The Lamp", "Ann Author")


def test_a_title_that_stands_twice_is_no_author() -> None:
    book = read(
        "The Long Night\n\n# The Long Night\n\n" + "\n\n".join(f"## {name}\n\n{prose(9)}" for name in ("One", "Two"))
    )
    assert (book.title, book.author) == ("The Long Night", "")


def test_bold_lines_are_titles_where_there_are_no_headings() -> None:
    names = ("The Lamp", "A Cart at Night", "The Clock Stops")
    parts = (f"**{name}**\n\n" + "\n\n".join(paragraph(9 * at + n) for n in range(4)) for at, name in enumerate(names))
    assert titles(check(read_markdown("\n\n".join(parts).encode(), "a.md"))) == list(names)


@pytest.mark.parametrize("mark", ["> ", "- ", "1. ", "> - ", "* > "])
@pytest.mark.parametrize("depth", [5, 30, 400])
def test_no_text_is_nested_so_deeply_that_it_is_lost(mark: str, depth: int) -> None:
    items = [f"level {number} is here" for number in range(depth)]
    in_one_line = f"{paragraph(1)}\n\n{mark * depth}{paragraph(2)}\n\n{paragraph(3)}"
    assert read(in_one_line).text == f"{paragraph(1)}\n\n{paragraph(2)}\n\n{paragraph(3)}"
    quotes = "\n".join(">" * number + f" {item}" for number, item in enumerate(items))
    lists = "\n".join("  " * number + f"- {item}" for number, item in enumerate(items))
    for staircase in (quotes, lists):
        text = " ".join(read(f"{staircase}\n\n{paragraph(3)}").text.split())
        assert text == " ".join([*items, paragraph(3)])


def test_what_only_looks_like_markup_is_text() -> None:
    opening = "It was late.\n\nHe said: go."
    note = "[^1]: Ibid.\n\n[Exit]: Macbeth\n\n[a]: http://x.example"
    table = "| a | b |\n|---|---|\n| 1 | 2 | 3 |"
    html = "<table><tr><td>one</td><td>two</td></tr></table>\n\n<p>three<br>four</p>\n\n<Come closer>\n\n<!-- five"
    book = read(f"---\n{opening}\n---\n\nA <b>word</b>, and <who are you> he thought.\n\n{note}\n\n{table}\n\n{html}")
    assert book.text == (
        "It was late.\n\nHe said: go.\n\nA word, and <who are you> he thought.\n\n[^1]: Ibid.\n\n[Exit]: Macbeth\n\n"
        "a | b\n\n1 | 2 | 3\n\none | two\n\nthree\nfour\n\n<Come closer>\n\nfive"
    )


def test_links_between_notes_are_what_they_show() -> None:
    book = read(f"# The [[Locks/Old|old lock]]\n\nSee [[Ann Ware]], [[1]](#n) and ![[map.png]].\n\n{prose(1)}")
    assert book.text.startswith("The old lock\n\nSee Ann Ware, ")
    assert "Locks/Old" not in book.text


def test_what_a_note_shows_to_its_author_alone_is_no_text() -> None:
    page = (
        f"# The Lock\n\n%% check the\nyear %%\n\nSee here.\n\n![[map.png|300]]\n\n{prose(1)} It was 5%% of all.\n\nSo."
    )
    book = read(page)
    assert book.text.startswith(f"The Lock\n\nSee here.\n\n{prose(1)[:20]}")
    assert "5%% of all." in book.text


def test_what_pandoc_notes_about_words_and_divisions_is_no_text() -> None:
    front = "---\ntitle: |\n  The Wood\nauthor:\n- F. Oak\n---\n\n::: {#nav .toc}\n- [1 Ash](#c1)\n:::\n\n"
    chapters = (f"# [{at}]{{.num}} {tree} {{#c{at} .unnumbered}}" for at, tree in enumerate(("Ash", "Elm", "Fir"), 1))
    book = read(front + "\n\n".join(f"{chapter}\n\n[]{{#p1}}{prose(10)}" for chapter in chapters))
    assert (book.title, book.author) == ("The Wood", "F. Oak")
    assert titles(book) == ["1 Ash", "2 Elm", "3 Fir"]
    assert "{" not in book.text
    assert ":::" not in book.text


ALONE, BOTH = "F. Oak", "F. Oak, A. Elm"


@pytest.mark.parametrize(
    ("front", "author"),
    [
        ('+++\ntitle = "The Wood"\ndate = 2021-03-04\nauthors = ["F. Oak"]\n+++\n\n', ALONE),
        ("+++\ntitle = 'The Wood'\nauthor = 'F. Oak'\n[extra]\nweight = 3\n+++\n", ALONE),
        ("% The Wood\n% F. Oak\n% March 2021\n\n", ALONE),
        ("% The\n  Wood\n% F. Oak\n\n", ALONE),
        ("---\ntitle: The Wood\nauthor:\n- F. Oak\n- 'A. Elm'\n---\n\n", BOTH),
        ('---\ntitle: The Wood\nauthors: [F. Oak, "A. Elm"]\nlang: en\n---\n\n', BOTH),
        ("---\nauthor:\n  - name: F. Oak\n  - name: A. Elm\ntitle: The Wood\n...\n\n", BOTH),
        ('+++\ntitle = "The Wood"\nauthors = ["F. Oak", "A. Elm"]\n+++\n\n', BOTH),
        ("---\ntitle: The Wood\nauthor:\n  - name: F. Oak\n    affiliation: None\n---\n\n", ALONE),
        ("---\ntitle: The Wood\nübersetzt von: A. Elm\nauthor: F. Oak\n---\n\n", ALONE),
        ("---\ntitle: The Wood\nauthor: F. Oak\nabstract: |\n  All of it.\n\n  In woods.\n...\n\n", ALONE),
    ],
)
def test_front_matter_of_every_program_is_read_with_all_its_authors(front: str, author: str) -> None:
    book = read(front + "\n\n".join(f"# {tree}\n\n{prose(10)}" for tree in ("Ash", "Elm", "Fir")))
    assert (book.title, book.author, titles(book)) == ("The Wood", author, ["Ash", "Elm", "Fir"])
    assert book.text.startswith("Ash\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "+++\n\nIt was late.\n\n+++\n\nHe left.",
        "+++\n= ]\n+++\n\nHe left.",
        "% of all\n\nHe left.",
        f"+++\na = {'[' * 9_000}\n+++",
    ],
)
def test_signs_that_enclose_no_fields_are_text(text: str) -> None:
    assert read(text).text.split() == text.split()


def test_braces_that_a_writer_typed_are_text() -> None:
    assert read(f"The set {{1, 2}} and [a note] {{sic}}.\n\n{prose(1)}").text.startswith(
        "The set {1, 2} and [a note] {sic}."
    )


def test_a_label_may_be_set_smaller_than_its_title() -> None:
    book = read("\n\n".join(f"## CHAPTER {at}\n\n# Tree {at}\n\n{prose(10 * at)}" for at in range(1, 4)))
    assert [(chapter.printed, chapter.title) for chapter in book.chapters] == [
        ("1", "Chapter 1. Tree 1"),
        ("2", "Chapter 2. Tree 2"),
        ("3", "Chapter 3. Tree 3"),
    ]

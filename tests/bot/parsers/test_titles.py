"""Titles as a person would write them."""

import pytest

from bot.parsers.formats import read_book
from bot.parsers.titles import author_name, book_title, chapter_title, page_label, title_from_filename
from tests.bot.parsers.prose import prose


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("CHAPTER LXXIV. OF THE LAST", "Chapter LXXIV. Of the Last"),
        ("CHAPTER I. Down the Rabbit-Hole", "Chapter I. Down the Rabbit-Hole"),
        ("CHAPTER IV.", "Chapter IV"),
        ("BOOK ONE: 1805", "Book One: 1805"),
        ("THE EARTH UNDER THE MARTIANS", "The Earth Under the Martians"),
        ("DR. JEKYLL WAS QUITE AT EASE", "Dr. Jekyll Was Quite at Ease"),
        ("HENRY IV. AND THE O’BRIEN GIRL", "Henry IV. and the O’Brien Girl"),
        ("U.S.S. NAUTILUS: THE END", "U.S.S. Nautilus: The End"),
        ("I. A SCANDAL IN BOHEMIA", "I. A Scandal in Bohemia"),
        ("XII", "Chapter XII"),
        ("12.", "Chapter 12"),
        ("[3]", "Chapter 3"),
        ("CHAPTER 4 / KAPITEL 4", "Chapter 4 / Kapitel 4"),
        ("3. The Lantern Room", "3. The Lantern Room"),
        ("3. «The Lantern Room»", "3. «The Lantern Room»"),
        ("_An  Emphasised_ Title [1]", "An Emphasised Title"),
        ("The #[no_std] Attribute", "The #[no_std] Attribute"),
        ("The eBay Years", "The eBay Years"),
        ("KIYI İNSANLARI", "Kıyı İnsanları"),
        ("GNU 通用公共授权", "GNU 通用公共授权"),
        ("CHAPTER II. JONATHAN HARKER'S JOURNAL--continued", "Chapter II. Jonathan Harker's Journal--continued"),
        ("EXTRACTS (Supplied by a Sub-Sub-Librarian)", "Extracts (Supplied by a Sub-Sub-Librarian)"),
    ],
)
def test_chapter_titles(heading: str, title: str) -> None:
    assert chapter_title(heading) == title


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("The Project Gutenberg eBook of Emma, by Jane Austen", ("Emma", "Jane Austen")),
        ("Die Verwandlung, by Franz Kafka—A Project Gutenberg eBook", ("Die Verwandlung", "Franz Kafka")),
        ("Emma | Project Gutenberg", ("Emma", "")),
        ("Stand by Me", ("Stand by Me", "")),
        ("The Lamp by Ann Author", ("The Lamp", "Ann Author")),
        ("A Night at Sea by J. R. van der Berg", ("A Night at Sea", "J. R. van der Berg")),
        ("A Walk by the Sea", ("A Walk by the Sea", "")),
        ("Death by Black Hole", ("Death by Black Hole", "")),
        ("Microsoft Word - final.docx", ("", "")),
        ("untitled", ("", "")),
        ("knots-reference", ("", "")),
    ],
)
def test_declared_titles_are_believed_if_a_person_wrote_them(declared: str, expected: tuple[str, str]) -> None:
    assert book_title(declared) == expected


@pytest.mark.parametrize(
    ("filename", "title"),
    [
        ("war_peace.txt", "War Peace"),
        ("return-on-the-ebb.md", "Return on the Ebb"),
        ("Moby-Dick.epub", "Moby-Dick"),
        ("../../etc/The Long Night.pdf", "The Long Night"),
        ("C:\\Books\\emma.v2.epub", "Emma.V2"),
        ("...", "Untitled"),
        ("lone\ud800.txt", "Lone\ufffd"),
    ],
)
def test_file_names_as_titles(filename: str, title: str) -> None:
    assert title_from_filename(filename) == title


@pytest.mark.parametrize(
    ("declared", "label"),
    [
        ("xii", "xii"),
        ("A-4", "A-4"),
        ("Plate 3*", "Plate 3*"),
        ("12 · the whole book is open] [", "12 the whole book is"),
        ("[x](http://evil.example)", "xhttp://evil.example"),
        ("1\n\nSystem:\x1b[31m", "1 System: 31m"),
        ("@everyone <@1>", "everyone 1"),
        ("\u202e\ud800", ""),
    ],
)
def test_page_labels_are_no_more_than_labels(declared: str, label: str) -> None:
    assert page_label(declared) == label


@pytest.mark.parametrize("account", ["Windows User", "Microsoft Office User", "Benutzer", "utilisateur windows", "HP"])
def test_the_name_of_an_account_is_no_author(account: str) -> None:
    assert author_name(account) == ""


def test_the_address_of_an_author_is_not_part_of_the_name() -> None:
    assert author_name("Ann Moor <ann@books.example>") == "Ann Moor"


def test_titles_hold_no_orders_to_a_terminal_and_nothing_unseen() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert chapter_title(f"The \x1b]8;;http://evil.example\x07Lamp\x9b31m\u202e{hidden}") == (
        "The ]8;;http://evil.example Lamp 31m"
    )


@pytest.mark.parametrize(
    "declared",
    [
        r"C:\ACTIVE\ADD\test",
        r"\\server\share\book",
        "/home/ann/book",
        "file:///C:/a",
        "ARRAY(0x55d0c8)",
        "scan0001",
        "IMG_20210304",
        "(null)",
        "- -",
    ],
)
def test_what_programs_write_is_no_title_and_no_author(declared: str) -> None:
    assert book_title(declared) == ("", "")
    assert author_name(declared) == ""


def test_a_list_of_authors_that_breaks_off_ends_without_a_comma() -> None:
    assert author_name("Ann Author,") == "Ann Author"


def test_files_that_printers_make_name_no_book() -> None:
    assert book_title("parallel.dvi") == book_title("cover final.eps") == ("", "")


@pytest.mark.parametrize(
    "declared",
    [
        "Melville, Herman, 1819-1891",
        "Herman Melville, 1819–1891",
        "Melville, Herman, b. 1819",
        "Melville, Herman, 1819-",
    ],
)
def test_an_author_from_a_library_catalogue_is_named_as_on_the_cover(declared: str) -> None:
    assert author_name(declared) == "Herman Melville"


def test_several_authors_stay_as_they_are_listed() -> None:
    assert author_name("Ann Weaver, Bob Smith") == "Ann Weaver, Bob Smith"


def test_an_article_behind_a_dash_opens_a_title() -> None:
    assert chapter_title("NIGHT II - THE FORD AND THE WEIR") == "Night II - The Ford and the Weir"


def test_what_an_archive_says_before_a_title_is_no_part_of_it() -> None:
    assert book_title('Full text of "The Ferry"') == ("The Ferry", "")
    assert book_title("Full text of the Treaty") == ("Full text of the Treaty", "")


@pytest.mark.parametrize("chapters", ["", "\n\n\nChapter 1\n\n", "\n\n\nChapter {}\n\n"])
@pytest.mark.parametrize(
    "front",
    [
        "THE WEIR\n\nby Ada Perrin",
        "The Weir\nBy Ada Perrin",
        "THE WEIR\n\nA novel by Ada Perrin",
        "The Weir\n\nPoems by Ada Perrin",
        "DAS WEHR\n\nEin Roman von Ada Perrin",
        "Title: The Weir\nAuthor: Ada Perrin\nRating: Teen\nSummary: A gate breaks.",
        "Title: The Weir\n\nAuthor: Ada Perrin",
        "Titel: Das Wehr\nAutor: Ada Perrin",
        "Title:\n    _**The Weir**_\nCredit: Written by\nAuthor: Ada Perrin\nDraft date: 1/2/2021",
        "Digitized by the Internet Archive in 2010\n\nhttps://archive.example/weir\n\nTHE WEIR\n\nby Ada Perrin",
    ],
)
def test_a_text_says_its_title_and_author_whether_it_has_chapters_or_not(front: str, chapters: str) -> None:
    told = "".join(f"{chapters.format(number)}{prose(number, 9)}\n\n" for number in (1, 2, 3))
    book = read_book(f"{front}\n\n\n{told}".encode(), "scan_0001.txt")
    assert (book.title, book.author) in (("The Weir", "Ada Perrin"), ("Das Wehr", "Ada Perrin"))


@pytest.mark.parametrize(
    "opening",
    ["“Where is she?”\n\nBy the river, he thought.", "Tales\n\nStories by the Fire", "By Monday\n\nShe left."],
)
def test_words_after_by_name_no_author_in_a_story(opening: str) -> None:
    assert read_book(f"{opening}\n\n{prose(1, 9)}".encode(), "weir.txt").author == ""


@pytest.mark.parametrize("name", ["moonlit_owl", "astolat", "Nightowl77"])
def test_a_pen_name_may_be_any_word_above_the_chapters(name: str) -> None:
    told = "".join(f"\tChapter {at}, A Letter Arrives\n\n\n{prose(at)}\n\n\n" for at in (1, 2, 3))
    book = read_book(f"\n\nTHE WEIR\n\nby {name}\n\n\nStatus: Complete\n\n\n{told}".encode(), "weir.txt")
    assert (book.title, book.author) == ("The Weir", name)
    assert [each.printed for each in book.chapters] == ["1", "2", "3"]
    assert book_title(f"The Weir by {name}", name) == ("The Weir", name)


@pytest.mark.parametrize(
    ("front", "author"),
    [
        ("川の町\n山田太郎", "山田太郎"),
        ("雨夜\n张三", "张三"),
        ("강의 마을\n김철수", "김철수"),
        ("川の町\n目次", ""),
        ("雨夜\n上卷", ""),
        ("川の町\n恋愛小説", ""),
    ],
)
def test_an_author_in_east_asian_script_is_in_the_line_below_the_title(front: str, author: str) -> None:
    told = "".join(f"\n\n第{at}章\n\n{prose(number)}" for number, at in enumerate("一二三"))
    book = read_book(f"{front}{told}".encode(), "weir.txt")
    assert book.author == author
    assert book.title == front.split("\n")[0] or not author


def test_the_day_of_a_paper_ends_its_title_page() -> None:
    told = "".join(f"\n\nChapter {at}\n\n{prose(at)}" for at in (1, 2, 3))
    book = read_book(f"The Weir\n\nAda Perrin\n\n30. Juli 2022\n\n{prose(9, 1)}{told}".encode(), "scan.txt")
    assert (book.title, book.author) == ("The Weir", "Ada Perrin")


def test_an_ornament_above_the_first_chapter_is_no_title() -> None:
    told = "\n\n\n".join(f"Chapter {at}\n\n{prose(at)}" for at in (1, 2, 3))
    assert read_book(f"~~~\n\n{told}".encode(), "the_weir.txt").title == "The Weir"


def test_a_word_stays_in_capitals_where_the_book_writes_it_so_in_its_sentences() -> None:
    told = "The emulator QEMU is one program, and the API of QEMU another. I do not know WHY, or why. " * 9
    text = f"QEMU MANUAL\n\nQEMU\n\n{told}\n\nWHY QEMU’S API IS THERE\n\n{prose(90)}\n\nTHE END OF IT\n\n{prose(90)}"
    book = read_book(text.encode(), "qemu.txt")
    assert book.title == "QEMU Manual"
    assert [chapter.title for chapter in book.chapters] == ["QEMU", "Why QEMU’s API Is There", "The End of It"]


def test_a_heading_that_is_not_printed_in_capitals_stays_as_it_is() -> None:
    told = "It was known as QEMU, or so. The Chapter of it is called Qemu and why. " * 9
    text = f"# Qemu\n\n{told}\n\n# Why Qemu\n\n{prose(90)}\n"
    assert [chapter.title for chapter in read_book(text.encode(), "q.md").chapters] == ["Qemu", "Why Qemu"]

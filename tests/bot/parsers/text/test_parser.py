"""Plain text keeps every character and gains pages and chapters."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsers.draft import ReadingLimits
from bot.parsers.text import parser
from bot.parsers.text.parser import SPLIT, mend_words
from bot.parsers.web_formats import read_html
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import prose


def test_text_stays_as_it_stands_but_for_carriage_returns() -> None:
    text = f"Title\r\n\r\nCHAPTER I.\r\nThe Start\r\n\r\n{prose(1)}\r\n   indented\tand trailing  \r\n"
    assert check(parser.read(text.encode(), "a.txt")).text == text.replace("\r\n", "\n")


def test_a_carriage_return_alone_ends_the_lines_of_old_macs() -> None:
    text = f"I. THE FERRY\n\n{prose(1)}\n\n\nII. THE TOLL\n\n{prose(9)}"
    book = check(parser.read(text.replace("\n", "\r").encode(), "a.txt"))
    assert (book.text, titles(book)) == (text, ["I. The Ferry", "II. The Toll"])


@given(st.text(min_size=1, max_size=400).filter(str.strip))
def test_read_plain_keeps_text_to_the_last_character(text: str) -> None:
    if "\ud800" <= max(text) <= "\udfff":
        return
    assert check(parser.read_plain(text)).text == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_text_in_any_encoding_reads_the_same(encoding: str) -> None:
    text = f"“Où êtes-vous, garçon ?” demanda la mère à l’élève.\n\n{prose(1)}"
    assert parser.read(text.encode(encoding), "a.txt").text == text


def test_gutenberg_licence_is_left_out_and_its_header_names_the_book() -> None:
    header = "The Project Gutenberg EBook of Emma\n\nTitle: Emma\n\nAuthor: Jane Austen\n\nLanguage: English\n\n"
    start, end = (
        "*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***",
        "*** END OF THIS PROJECT GUTENBERG EBOOK EMMA ***",
    )
    book = check(parser.read(f"{header}{start}\n\n{prose(1)}\n\n{end}\n\nLicence text.\n".encode(), "1342.txt"))
    assert book.text == prose(1)
    assert (book.title, book.author, book.language) == ("Emma", "Jane Austen", "en")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (
            "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
            "End of The Project Gutenberg Etext of Emma, by Jane Austen",
        ),
        (
            "*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.12.12.00\nFOR COPYRIGHT PROTECTED ETEXTS*END*",
            "Ende dieses Projekt Gutenberg Etextes Emma, von Jane Austen",
        ),
        ("***START OF THE PROJECT GUTENBERG EBOOK EMMA***", "Fin du Projet Gutenberg Etext de Emma"),
    ],
)
def test_the_licences_of_old_and_foreign_etexts_are_left_out_too(start: str, end: str) -> None:
    text = f"Project Gutenberg Etext of Emma\n\nSmall print\n\n{start}\n\n{prose(1)}\n\n{end}\n\nDonate.\n"
    assert check(parser.read(text.encode(), "emma10.txt")).text == prose(1)


def test_gutenberg_licence_stays_where_the_text_must_stay() -> None:
    text = f"*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***\n\n{prose(1)}"
    assert parser.read_plain(text).text == text


@pytest.mark.parametrize(
    ("front", "title", "author"),
    [
        ("The Long Water\nJ. P. Donleavy", "The Long Water", "J. P. Donleavy"),
        ("The Long Water\n\nAnn Weaver\n\n- Chapter 1\n- Chapter 2\n- Chapter 3", "The Long Water", "Ann Weaver"),
        ("The Long Water\nAnn Weaver\nTable of Contents", "The Long Water", "Ann Weaver"),
        ("The Long Water\nby Ann Weaver", "The Long Water", "Ann Weaver"),
        ("THE LONG WATER\n\nA Memoir\n\nAnn Weaver", "The Long Water", "Ann Weaver"),
        ("The Long Water\nRoman\nAnn Weaver", "The Long Water", "Ann Weaver"),
        ("The Long Water\n\nA Memoir\n\nPenguin Books", "The Long Water", ""),
        ("The Long Water\n\nA Memoir\n\nNew York\n\n1920", "The Long Water", ""),
        ("The Long Water\n\nAnn Weaver\n\nContents\n\n1 Ford . . . 9 2 Fog . . . 17", "The Long Water", "Ann Weaver"),
        ("The Long Water by Ann Weaver", "The Long Water", "Ann Weaver"),
        ("The Long Water\nby Ann Weaver\n________________", "The Long Water", "Ann Weaver"),
        ("The Long Water\nAnn Weaver\n* * *", "The Long Water", "Ann Weaver"),
        ("The House\nby the Sea", "The House by the Sea", ""),
        ("A Death by Water", "A Death by Water", ""),
        ("THE LONG WATER\n\nwritten by\n\nAnn Weaver", "The Long Water", "Ann Weaver"),
        ("《渡口人家》\n作者：李渡", "渡口人家", "李渡"),
        ("《渡口人家》李渡（明）", "渡口人家", "李渡"),
        ("The Adventures of\nSherlock Holmes", "The Adventures of Sherlock Holmes", ""),
        ("Sherlock Holmes\nSelected Stories", "Sherlock Holmes Selected Stories", ""),
        ("Der Graf\nvon Monte Christo", "Der Graf von Monte Christo", ""),
        ("硝子の渡し\n\n山田太郎", "硝子の渡し", "山田太郎"),
        ("玻璃渡船\n\n王小明 著", "玻璃渡船", "王小明"),
        ("유리 나룻배\n\n김민수 지음", "유리 나룻배", "김민수"),
        ("العبارة الزجاجية\n\nسمير حداد", "العبارة الزجاجية", "سمير حداد"),
        ("מעבורת הזכוכית\n\nמאת דוד לוי", "מעבורת הזכוכית", "דוד לוי"),
        ("LASILAUTTA\n\nKirj. Aino Virtanen", "Lasilautta", "Aino Virtanen"),
        ("AZ ÜVEGKOMP\n\nÍrta: Kovács Péter", "Az Üvegkomp", "Kovács Péter"),
        ("A BALSA\n\nde Rui Tavares", "A Balsa", "Rui Tavares"),
        ("硝子の渡し\n\n短編小説", "硝子の渡し", ""),
        ("العبارة الزجاجية\n\nمجموعة قصصية", "العبارة الزجاجية", ""),
        ("LE BAC\n\nde la Terre à la Lune", "Le Bac", ""),
    ],
)
def test_a_title_with_a_name_below_and_contents(front: str, title: str, author: str) -> None:
    chapters = "".join(f"\n\n\nChapter {number}\n\n{prose(number)}" for number in (1, 2, 3))
    book = check(parser.read_plain(f"{front}{chapters}"))
    assert (book.title, book.author) == (title, author)


def test_title_page_names_title_and_author() -> None:
    book = check(
        parser.read_plain(f"WAR AND PEACE\n\nBy Leo Tolstoy\n\n\nCHAPTER I\n\n{prose(1)}\n\nCHAPTER II\n\n{prose(9)}")
    )
    assert (book.title, book.author) == ("War and Peace", "Leo Tolstoy")


@pytest.mark.parametrize(
    ("front", "title", "author"),
    [
        ("A Guide to Knots\n\n        Ann Moor\n\nCopyright © 2013-2021 Ann Moor", "A Guide to Knots", "Ann Moor"),
        ("      The Knot FAQ\n\n--------------\n\nVersion 11.0\n\n(c) 2009 Knot Society", "The Knot FAQ", ""),
        ("A Guide to Knots\n\nAnn Moor\n\nAbstract", "A Guide to Knots", "Ann Moor"),
    ],
)
def test_a_title_and_a_name_in_front_of_an_imprint(front: str, title: str, author: str) -> None:
    permission = f"Permission is granted to copy this document. {prose(9)}"
    book = check(parser.read_plain(f"{front}\n\n{permission}\n\nChapter 1\n\n{prose(1)}\n\nChapter 2\n\n{prose(2)}"))
    assert (book.title, book.author) == (title, author)


def test_file_name_is_the_title_of_last_resort() -> None:
    assert parser.read_plain(prose(1), r"C:\Books\the_long_night.txt").title == "The Long Night"


def test_text_beyond_the_limit_is_refused_with_advice() -> None:
    with pytest.raises(BookError, match="in parts") as refused:
        parser.read(prose(1).encode(), "a.txt", limits=ReadingLimits(max_characters=100))
    assert refused.value.code is BookErrorCode.TOO_LARGE


def test_two_million_characters_on_one_line_are_a_book() -> None:
    book = check(parser.read_plain("word " * 400_000))
    assert len(book.pages) == pytest.approx(2_000_000 / 1_800, rel=0.01)
    assert titles(book) == []


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BookError, match="does not look like text") as refused:
        parser.read(bytes(range(256)) * 40, "a.txt")
    assert refused.value.code is BookErrorCode.UNSUPPORTED_FORMAT


def test_a_broken_character_is_a_warning() -> None:
    data = "Ein schöner Tag über dem Städtchen, sagte er, und Öl ist teuer. ".encode() * 3 + b"\xff end"
    book = check(parser.read(data, "a.txt"))
    assert "schöner" in book.text
    assert len(book.warnings) == 1


def test_orders_to_a_terminal_become_blanks_of_the_same_length() -> None:
    text = f"{prose(1, 9)}\n\x1b[31mRed\x07 \x9b2J and\tso on.\0\x7f\x0cNext page.\n"
    book = check(parser.read(text.encode(), "a.txt"))
    assert book.text == text.translate(dict.fromkeys([0, 7, 0x1B, 0x7F, 0x9B], " "))


def _lines(number: int, ends: str) -> str:
    below = f"and all the reeds stood still about the empty boats{ends}"
    return f"The keeper of page {number} looked along the bank at the grey water,\n{below}"


@pytest.mark.parametrize("first", [1, 12])
@pytest.mark.parametrize("ends", [".", " and", " for"])
def test_the_heads_of_scanned_pages_number_them_and_are_no_text(first: int, ends: str) -> None:
    pages = range(first, first + 24)
    heads = [f"{page} THE SALT ROAD" if page % 2 == 0 else f"LOW WATER {page} " for page in pages]
    heads[5] = "218 THE SALT KOAD" if first % 2 else "LOW WATEB 217"
    told = [_lines(page, ends) for page in pages]
    book = parser.read(
        "\n\n".join(part for page in zip(heads, told, strict=True) for part in page).encode(), "weir.txt"
    )
    assert "SALT ROAD" not in book.text
    joint = "\n\n" if ends == "." else "\n"
    assert joint.join(told[6:]) in book.text
    assert [page.label for page in book.pages] == [str(page) for page in pages if page != first + 5]


@pytest.mark.parametrize(
    ("heads", "foot"),
    [
        (("{} THE SALT ROAD\n\n", "LOW WATER   {}\n\n"), ""),
        (("", ""), "\n\n              {}\n"),
        (("", ""), "\n- {} -"),
        (("The Salt Road\n\n", "Low Water\n\n"), "\n\n{}"),
    ],
)
def test_pages_between_form_feeds_are_called_by_the_numbers_at_their_edges(heads: tuple[str, str], foot: str) -> None:
    pages = range(3, 28)
    opening = {page: f"Chapter {page // 8 + 1}\n\n" for page in pages if page % 8 == 3}
    sheets = [
        (opening.get(page) or heads[page % 2].format(page)) + _lines(page, ".") + foot.format(page) for page in pages
    ]
    book = parser.read("\f".join(sheets).encode(), "weir.txt")
    assert [page.label for page in book.pages] == [str(page) for page in pages]
    assert [chapter.printed for chapter in book.chapters] == ["1", "2", "3", "4"]
    assert "SALT ROAD" not in book.text
    assert book.text.count("\n\n") >= len(pages) - 1


def test_pages_in_front_of_the_first_number_are_the_front() -> None:
    front = [f"{_lines(page, '.')}\n\n{'i' * page}\n" for page in (1, 2, 3)]
    sheets = [*front, *(f"{_lines(page, '.')}\n\n{page}\n" for page in range(1, 20))]
    book = parser.read("\f".join(sheets).encode(), "weir.txt")
    assert [page.label for page in book.pages][-19:] == [str(page) for page in range(1, 20)]
    assert len(book.pages) <= 20


@pytest.mark.parametrize("blank", ["", " "])
def test_words_that_lines_of_scanned_pages_cut_are_mended(blank: str) -> None:
    told = "The improper keeper saw a half-moon\nabove the wa-\nter, and called it im-\nproper; a half-\nmoon is water."
    heads = [f"{page} THE SALT ROAD" if page % 2 == 0 else f"LOW WATER {page}" for page in range(1, 13)]
    sheets = "\n\n".join(part for head in heads for part in (head, told))
    book = parser.read(sheets.replace("\n", f"{blank}\n").encode(), "weir.txt")
    assert "above the water, and called it improper; a half-moon is water." in book.text
    assert [page.label for page in book.pages] == [str(page) for page in range(1, 13)]
    assert all(book.text[page.start : page.end].lstrip().startswith("The improper") for page in book.pages)
    assert parser.read(told.encode(), "weir.txt").text == told


def test_words_that_a_printer_cut_are_mended_without_pages_too() -> None:
    cut = "in the har-\nbour there was a sin-\ngle let-\nter for the kee-\nper, of no im-\nportance to a wan-\nderer"
    whole = "a harbour, single harbour letter keeper of importance: wanderer single letter keeper wanderer importance"
    book = check(parser.read(f"{cut}, a dear remem-\nbrance.\n\n{whole}".encode(), "scan.txt"))
    assert "a single letter for the keeper, of no importance to a wanderer, a dear remembrance." in book.text


def test_lines_may_end_behind_hyphens_that_are_the_author_s() -> None:
    told = "a half-\nmoon, to-\nmorrow, a well-\nknown, sea-\ngoing, sun-\nburnt man of the half-moon, to-morrow"
    assert parser.read(told.encode(), "weir.txt").text == told


@pytest.mark.parametrize("mark", ["[Pg {}]", "[p. {}]", "{{P {}}}", "[Seite {}]"])
def test_marks_of_pages_number_them_and_are_no_text(mark: str) -> None:
    told, plain = (
        "Chapter {}\n\n{}\n\nShe rowed {}on to the {} far{} bank.",
        "Chapter {}\n\nShe rowed on to the far bank.",
    )
    marks = [mark.format(page) for page in range(1, 17)]
    text = "\n\n\n".join(told.format(number + 1, *marks[4 * number : 4 * number + 4]) for number in range(4))
    book = parser.read(text.encode(), "weir.txt")
    assert book.text == "\n\n\n".join(map(plain.format, range(1, 5)))
    assert [page.label for page in book.pages] == [str(page) for page in range(1, 17)]
    assert [chapter.printed for chapter in book.chapters] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    "line",
    ["Day {}", "{} May", "CHAPTER {}", "{} Praise the keeper", "See [{}]", "[p. 7]", "Psalm {}"],
)
def test_numbers_that_are_not_those_of_pages_stay(line: str) -> None:
    text = "\n\n".join(f"{line.format(number, number)}\n\n{_lines(number, '.')}" for number in range(1, 30))
    assert parser.read(text.encode(), "weir.txt").text == text


@pytest.mark.parametrize("form", ["NFD", "NFKD"])
@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("Chương {}", "Trời mưa suốt ngày, và người đánh cá ngồi đợi bên bờ sông."),
        ("제{}장", "하루 종일 비가 내렸고 갈대는 강둑을 따라 서 있었다."),
    ],
)
def test_letters_apart_from_their_accents_are_read_together(
    label: str, told: str, form: Literal["NFD", "NFKD"]
) -> None:
    text = "\n\n".join(part for number in range(1, 5) for part in (label.format(number), told * 9))
    book = check(parser.read(unicodedata.normalize(form, text).encode(), "a.txt"))
    assert (book.text, len(book.chapters)) == (text, 4)


@pytest.mark.parametrize("blank", ["", " "])
def test_invisible_characters_cut_no_words(blank: str) -> None:
    cut = f"The fish\u00ader\u00adman’s boat \u200blay in the wa¬{blank}\nter, and the win\u00ad{blank}\ndow was dark."
    assert check(parser.read(cut.encode(), "a.txt")).text == (
        "The fisherman’s boat lay in the water, and the window was dark."
    )
    logic = "So “p ∧ ¬q” is false, and ¬\nq is true."
    assert parser.read(logic.encode(), "a.txt").text == logic


def test_a_sign_that_belongs_to_the_spelling_stays() -> None:
    told = "باران می\u200cبارید و نی\u200cها ایستاده بودند."
    assert parser.read(f"Auf\u200clage: {told}".encode(), "a.txt").text == f"Auflage: {told}"
    assert read_html(f"<p>Auf\u200clage: {told}</p>".encode(), "a.html").text == f"Auflage: {told}"


def mended(text: str, *others: str) -> str:
    """The text as it is mended in a book that has the other paragraphs, too."""
    return mend_words([text.replace("|", SPLIT), *others])[0]


def test_a_word_is_whole_where_the_book_writes_it_whole() -> None:
    assert mended("The light|house was a won|derful thing.", "A lighthouse, wonderful.") == (
        "The lighthouse was a wonderful thing."
    )


def test_a_word_keeps_its_hyphen_where_the_book_writes_it_so() -> None:
    assert mended("The well|known keeper", "A well-known, quiet man.") == "The well-known keeper"


def test_names_keep_their_hyphen() -> None:
    assert mended("at Stratford-on|Avon", "a lighthouse") == "at Stratford-on-Avon"


@pytest.mark.parametrize(("others", "found"), [("half-way up", "sea-wall"), ("lighthouse keeper", "seawall")])
def test_a_word_that_stands_nowhere_else_is_written_as_most_others_are(others: str, found: str) -> None:
    assert mended("the sea|wall, half|way, the light|house", others).split()[1].rstrip(",") == found


def test_a_cut_that_is_in_no_word_is_a_hyphen() -> None:
    assert mended("| 12|30 and| then |so") == "- 12-30 and- then -so"


@given(st.lists(st.text(f"ab1é’- \n{SPLIT}", max_size=40), max_size=5))
def test_nothing_but_hyphens_is_lost_or_added(texts: list[str]) -> None:
    whole = mend_words(texts)
    assert SPLIT not in "".join(whole)
    assert [text.replace("-", "") for text in whole] == [text.replace("-", "").replace(SPLIT, "") for text in texts]


def test_a_word_without_an_end_is_mended_like_any_other() -> None:
    endless = "a" * 1_000_000
    assert mended(f"{endless}1light|house") == f"{endless}1lighthouse"

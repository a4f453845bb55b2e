"""PDF: what stands on which page, as one text a person could read aloud."""

import io
import re
import textwrap
from collections.abc import Callable

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import Fit

from bot.parsers.draft import PicturesOnlyError
from bot.parsers.pdf import parser
from domain.book import BookText
from domain.errors import BookError, BookErrorCode
from tests.bot.parsers.builders import PdfLine, numbered_pdf
from tests.bot.parsers.builders import pdf as build
from tests.bot.parsers.invariants import check, titles
from tests.bot.parsers.prose import paragraph

_INDENTED = 62
_NUMERALS = ("I", "II", "III", "IV")
WIDE = "The keeper wrote his page while the lamp burned low, and so it was"
_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def read(data: bytes) -> BookText:
    return check(parser.read(data, "a.pdf"))


def body_page(number: int, *, head: str = "", foot: str = "") -> list[str | PdfLine]:
    """A page of two paragraphs whose first lines are indented, with a page head and a page number."""
    name = _NAMES[number - 1]
    lines: list[str | PdfLine] = [PdfLine(head, 150, 585)] if head else []
    lines += [
        PdfLine(f"Here begins the first paragraph of page {name}, which is long", _INDENTED, 540),
        PdfLine(f"{name} enough to fill the line from one margin to the other and then", 50, 526),
        PdfLine("stops short.", 50, 512),
        PdfLine(f"The second paragraph of page {name} is much the same and reaches", _INDENTED, 498),
        PdfLine(f"{name} to the very end of its last line, where it also says something.", 50, 484),
    ]
    return [*lines, PdfLine(foot, 195, 20)] if foot else lines


def test_lines_become_paragraphs_and_pages_stay_pages() -> None:
    book = read(build([body_page(1), body_page(2)]))
    first, second, third, _ = book.text.split("\n\n")
    assert first == (
        "Here begins the first paragraph of page one, which is long one enough to fill the line from one margin to the "
        "other and then stops short."
    )
    assert second.endswith("also says something.")
    assert third.startswith("Here begins the first paragraph of page two")
    assert [page.label for page in book.pages] == ["1", "2"]
    assert book.text[book.pages[1].start :].startswith("Here begins the first paragraph of page two")
    assert not book.pages_estimated


def test_page_labels_are_the_documents_own() -> None:
    book = read(build([body_page(n) for n in range(1, 5)], labels="0 << /S /r >> 2 << /S /D /St 5 >>"))
    assert [page.label for page in book.pages] == ["i", "ii", "5", "6"]


def in_lines(text: str, x: float = 50) -> list[str | PdfLine]:
    """A paragraph, the first line of which may begin further to the right."""
    first, *others = textwrap.wrap(text, 60)
    return [PdfLine(first, x), *others]


def chapter_page(number: int, *titles: PdfLine) -> list[str | PdfLine]:
    return [*titles, *(line for n in range(5) for line in in_lines(paragraph(10 * number + n), _INDENTED))]


_SHIPS = ("The Ferry", "A Light on the Quay", "What Mara Counted", "Low Water")


@pytest.mark.parametrize("x", [50, 150], ids=["left", "centred"])
def test_titles_in_bold_are_as_good_as_titles_in_larger_type(x: float) -> None:
    pages = [chapter_page(at, PdfLine(name, x, bold=True)) for at, name in enumerate(_SHIPS)]
    assert titles(read(build(pages))) == list(_SHIPS)


def test_a_title_in_bold_may_have_several_lines() -> None:
    pages = [
        chapter_page(
            at, PdfLine(f"{name}, and of what came", 120, bold=True), PdfLine(f"of year {_NAMES[at]}", 140, bold=True)
        )
        for at, name in enumerate(_SHIPS)
    ]
    assert titles(read(build(pages))) == [
        f"{name}, and of what came of year {_NAMES[at]}" for at, name in enumerate(_SHIPS)
    ]


def test_words_in_bold_in_the_middle_of_a_page_are_no_titles() -> None:
    cries: list[str | PdfLine] = [PdfLine("Mind the tide.", bold=True)]
    pages = [[line for n in range(4) for line in [*in_lines(paragraph(10 * at + n)), *cries]] for at in range(4)]
    book = read(build(pages))
    assert titles(book) == []
    assert book.text.count("\n\nMind the tide.") == book.text.count("Mind the tide.") > 9


def test_a_book_that_is_all_in_bold_has_the_paragraphs_of_any_other() -> None:
    def written(*, bold: bool) -> str:
        pages = [[PdfLine(line, x, bold=bold) for line, x in in_bold_lines(at)] for at in range(3)]
        return read(build(pages)).text

    def in_bold_lines(at: int) -> list[tuple[str, float]]:
        lines = [textwrap.wrap(paragraph(10 * at + n), 60) for n in range(4)]
        return [(line, 50 if number else _INDENTED) for each in lines for number, line in enumerate(each)]

    assert written(bold=True) == written(bold=False)


def test_a_line_in_bold_within_a_sentence_stays_in_its_paragraph() -> None:
    lines: list[str | PdfLine] = [
        "The keeper wrote that nobody who valued his life was ever to go",
        PdfLine("near the lamp at night when the wind is in the west, and not", bold=True),
        "out there before the tide has turned and the wind has gone round",
        "to the north.",
    ]
    assert "\n" not in read(build([lines])).text


def test_a_title_page_in_the_type_of_the_text_names_the_author() -> None:
    front = (PdfLine("LOW TIDE", 150, 500, bold=True), PdfLine("A Memoir", 160, 470), PdfLine("Ann Hobb", 160, 440))
    pages: list[list[str | PdfLine]] = [
        [*front],
        *(chapter_page(at, PdfLine(name, bold=True)) for at, name in enumerate(_SHIPS)),
    ]
    book = read(build(pages))
    assert (book.title, book.author) == ("Low Tide", "Ann Hobb")
    assert titles(book) == list(_SHIPS)


def test_a_paragraph_goes_on_over_the_page() -> None:
    pages: list[list[str | PdfLine]] = [
        [PdfLine("The keeper said that he would rather wait for the ebb than ask", 50, 526)],
        [PdfLine("again, and nobody on the island had seen the cart come over.", 50, 540)],
    ]
    book = read(build(pages))
    assert "rather wait for the ebb than ask again, and nobody" in book.text
    assert book.text[book.pages[1].start :].startswith("again, and nobody")


def test_the_number_of_a_note_at_the_end_of_a_line_ends_no_paragraph() -> None:
    page: list[str | PdfLine] = [
        PdfLine("The keeper said that he would rather wait for the ebb than ask", 50, 540),
        PdfLine("1", 368, 544, 6),
        PdfLine("again, and nobody on the island had seen the cart come over", 50, 526),
        PdfLine("2", 350, 530, 6),
        PdfLine("that night.", 50, 512),
    ]
    assert len(read(build([page])).text.split("\n\n")) == 1


@pytest.mark.parametrize(
    "note",
    [
        [PdfLine("3", 50, 104, 5), PdfLine("The clerk of the lock, in fact.", 56, 100, 9)],
        [PdfLine("3", 50, 104, 6), PdfLine("The clerk of the lock, in fact.", 56, 100, 11)],
        [PdfLine("3 The clerk of the lock, in fact.", 50, 100, 8), PdfLine("He kept it twelve years.", 50, 91, 8)],
        [PdfLine("* The clerk of the lock, in fact.", 50, 100, 8)],
    ],
)
def test_a_footnote_does_not_cut_the_sentence_that_goes_on_over_the_page(note: list[PdfLine]) -> None:
    first = [PdfLine(WIDE, 50, 560 - 14 * at) for at in range(5)]
    second = [PdfLine("Dutch captains came by water.", 50, 560), PdfLine(WIDE, 62, 546)]
    book = read(build([[*first, *note], [*second]]))
    assert book.text.startswith("The keeper wrote")
    assert "and so it was Dutch captains came by water.\n\n" in book.text
    assert "\n\n[3] The clerk" in book.text or "\n\n3 The clerk" in book.text or "\n\n* The clerk" in book.text


def test_the_number_of_a_note_is_apart_from_its_word_in_brackets() -> None:
    page: list[str | PdfLine] = [PdfLine("The keeper", 50, 540), PdfLine("12", 105, 544, 6), PdfLine("of", 116, 540)]
    assert read(build([[*page, PdfLine("the lock has 12 posts.", 50, 526)]])).text.split() == (
        ["The", "keeper[12]", "of", "the", "lock", "has", "12", "posts."]
    )


def test_a_sentence_goes_on_in_the_next_column() -> None:
    line = "The lamp burned low and so it was"
    left = [PdfLine(line, 30, 560 - 14 * at) for at in range(8)]
    right = [PdfLine("Dutch captains came; the lamp went", 220, 560)] + [
        PdfLine(line, 220, 546 - 14 * at) for at in range(7)
    ]
    book = read(build([[*left, *right]]))
    assert "so it was Dutch captains came" in book.text
    assert len(book.text.split("\n\n")) == 1


@pytest.mark.parametrize(
    "form", ["{page} CHAPTER {n}: {name}", "CHAPTER {n}: {name} {page}", "{page} {name}", "{name} {page}"]
)
def test_heads_with_the_number_of_the_page_and_the_chapter_are_not_text(form: str) -> None:
    names = {1: "THE POOL", 2: "FOG", 3: "A VISITOR"}
    pages = []
    for at in range(1, 10):
        head = form.format(page=at + 10, n=(at - 1) // 3 + 1, name=names[(at - 1) // 3 + 1])
        pages.append([PdfLine(head, 50, 585), *body_page(at)])
    text = read(build(pages)).text
    assert not [name for name in names.values() if name in text]


def test_words_cut_at_line_and_page_ends_are_whole() -> None:
    pages: list[list[str | PdfLine]] = [
        [
            "It was a wonderful thing to see, and every one of them thought won-",
            "derful was the word for it, as it was a beauti-",
        ],
        ["ful day. All beautiful days are alike, said the keeper to himself."],
    ]
    book = read(build(pages))
    assert "thought wonderful was the word" in book.text
    assert "it was a beautiful day" in book.text
    assert book.text[book.pages[1].start :].startswith("day. All")


def test_hyphens_of_the_author_stay() -> None:
    lines = [
        "The lighthouse-keeper was well-known to us, and the light-",
        "house-keeper was a well-",
        "known man to the rest of the island.",
    ]
    assert "light-house-keeper was a well-known man" in read(build([lines])).text.replace("lighthouse", "light-house")


def test_running_heads_and_page_numbers_are_not_text() -> None:
    pages = [
        body_page(number, head="THE LONG NIGHT" if number % 2 else "Ann Author", foot=str(number + 10))
        for number in range(1, 9)
    ]
    text = read(build(pages)).text
    assert "THE LONG NIGHT" not in text
    assert "Ann Author" not in text
    assert "13" not in text
    assert text.count("Here begins") == 8


def test_a_stamp_across_the_pages_is_not_text_and_no_heading() -> None:
    pages = [[PdfLine("DRAFT", 90, 300, 72), *body_page(number)] for number in range(1, 9)]
    pages[0].insert(0, PdfLine("The Long Night", 120, 585, 24))
    book = read(build(pages))
    assert "DRAFT" not in book.text
    assert book.text.count("Here begins") == 8
    assert "The Long Night" in book.text


def test_heads_that_name_a_section_of_one_page_are_no_text() -> None:
    heads = ["CHAPTER 1. FOG"] * 3 + [f"CHAPTER 1. FOG 1.{at}. {name.upper()}" for at, name in enumerate(_NAMES[:5], 1)]
    text = read(build([body_page(number, head=head) for number, head in enumerate(heads, 1)])).text
    assert "FOG" not in text
    assert text.count("Here begins") == len(heads)


def test_titles_of_slides_are_text_though_each_stands_alone_above_its_page() -> None:
    titled = ["Outline"] * 3 + ["Knots", "Ropes", "Boats", "Anchors", "Storms"]
    pages = [[PdfLine(title, 150, 585, 18), *body_page(number)] for number, title in enumerate(titled, 1)]
    text = read(build(pages)).text
    assert all(title in text for title in titled[3:])


def test_chapter_headings_at_the_top_of_pages_are_no_running_heads() -> None:
    pages = [
        [PdfLine(f"Chapter {number}", 160, 560, 18), *body_page(number, foot=f"- {number} -")] for number in range(1, 6)
    ]
    assert titles(read(build(pages))) == [f"Chapter {number}" for number in range(1, 6)]


def test_numbers_of_chapters_at_one_height_are_no_running_heads() -> None:
    pages: list[list[str | PdfLine]] = []
    for number in range(1, 5):
        chapter = [PdfLine(_NUMERALS[number - 1], 190, 565), *body_page(number, foot=str(2 * number - 1))]
        pages += [chapter, body_page(number + 4, foot=str(2 * number))]
    text = read(build(pages)).text
    assert [text.count(f"\n{numeral}\n") for numeral in _NUMERALS[1:]] == [1, 1, 1]


def test_the_first_scene_of_each_act_is_no_running_head() -> None:
    pages: list[list[str | PdfLine]] = []
    for number, act in enumerate(_NUMERALS[:3]):
        heads = [PdfLine(f"ACT {act}", 160, 585, 18), PdfLine("SCENE I", 165, 560, 14)]
        pages += [[*heads, *body_page(3 * number)], body_page(3 * number + 1), body_page(3 * number + 2)]
    scenes = [line for act in _NUMERALS[:3] for line in (f"Act {act}", "  Scene I")]
    assert titles(read(build(pages))) == scenes


def test_a_narrator_whose_name_opens_several_chapters_is_no_running_head() -> None:
    names = ["Anna", "Ben", "Anna", "Ben", "Anna"]
    pages: list[list[str | PdfLine]] = []
    for number, name in enumerate(names, start=1):
        pages += [[PdfLine(name, 160, 565, 18), *body_page(number)], body_page(number + 1), body_page(number + 2)]
    assert titles(read(build(pages))) == names


def test_large_type_is_a_heading_even_on_two_lines() -> None:
    page = body_page(1)
    pages = [
        [PdfLine("The Night of the", 120, 585, 18), PdfLine("Perpetua", 150, 565, 18), *page],
        [PdfLine("The Strap", 150, 565, 18), *page],
    ]
    assert titles(read(build(pages))) == ["The Night of the Perpetua", "The Strap"]


def test_outline_names_the_chapters() -> None:
    pages = [[PdfLine("Dusk", 150, 570), *body_page(1)], body_page(2), [PdfLine("Dawn", 150, 570), *body_page(3)]]
    book = read(build(pages, outline=[("1. Dusk", 0), ("2. Dawn", 2)], title="The Long Night", author="Ann Author"))
    assert titles(book) == ["1. Dusk", "2. Dawn"]
    assert book.text[book.chapters[1].start :].startswith("Dawn")
    assert (book.title, book.author) == ("The Long Night", "Ann Author")


def test_an_outline_takes_its_numbers_from_the_pages_and_leaves_out_numbered_sections() -> None:
    pages = []
    for number, name in enumerate(("Tides", "Boats", "Nets"), start=1):
        heads = [PdfLine(f"{number} {name}", 50, 580, 18), PdfLine(f"{number}.1 {name} at Night", 50, 558, 13)]
        noon = [PdfLine(f"{number}.2 {name} at Noon", 50, 440, 13), PdfLine(f"{name} at noon are bright.", 50, 420)]
        pages.append([*heads, *body_page(number), *noon])
    writer = PdfWriter(io.BytesIO(build(pages)))
    for page, name in enumerate(("Tides", "Boats", "Nets")):
        chapter = writer.add_outline_item(title=name, page_number=page)
        for time, top in (("Night", 570), ("Noon", 440)):
            title = f"{name} at {time}"
            writer.add_outline_item(title=title, page_number=page, parent=chapter, fit=Fit.xyz(top=top))
    out = io.BytesIO()
    writer.write(out)
    book = read(out.getvalue())
    assert titles(book) == ["1 Tides", "2 Boats", "3 Nets"]
    assert [chapter.printed for chapter in book.chapters] == ["1", "2", "3"]
    assert all(book.text.startswith(chapter.title, chapter.start) for chapter in book.chapters)


def test_an_outline_is_placed_at_the_titles_and_not_at_what_else_says_their_words() -> None:
    """A list may name the next chapter on the same page, and a formula is a letter that a title begins with."""
    listed = [PdfLine("• Sluices at Night, which are closed", 50, 440), PdfLine("3 Sluices at Night", 50, 400, 18)]
    appendix = [PdfLine("B", 150, 580), PdfLine("Appendix B Names", 50, 560, 18)]
    formula = [
        PdfLine("f", 150, 580),
        PdfLine("Chapter 4", 50, 560, 18),
        PdfLine("Of fords and of the ways to them", 50, 520, 18),
    ]
    pages = [
        [PdfLine("1 Tides", 50, 580, 18), *body_page(1)],
        [PdfLine("2 Weirs", 50, 580, 18), *body_page(2), *listed, *body_page(3)[1:]],
        [*formula, *body_page(4)],
        [*appendix, *body_page(5)],
    ]
    writer = PdfWriter(io.BytesIO(build(pages)))
    entries = [
        ("Tides", 0, 590),
        ("Weirs", 1, 590),
        ("Sluices at Night", 1, 410),
        ("Fords", 2, 575),
        ("B Names", 3, 590),
    ]
    for title, page, top in entries:
        writer.add_outline_item(title=title, page_number=page, fit=Fit.xyz(top=top))
    out = io.BytesIO()
    writer.write(out)
    book = read(out.getvalue())
    names = ["1 Tides", "2 Weirs", "3 Sluices at Night", "Chapter 4. Fords", "B Names"]
    assert [title.strip() for title in titles(book)] == names
    assert book.text[book.chapters[2].start :].startswith("3 Sluices at Night")
    assert book.text[book.chapters[3].start :].startswith("Chapter 4")
    assert book.text[book.chapters[4].start :].startswith("Appendix B Names")


def test_a_note_at_the_end_of_a_chapter_is_on_its_own_page() -> None:
    """Not where the next one begins, so that the outline's shorter title of that leads to its label."""
    notes = ("3 The clerk of the lock, in fact.", "4 He kept it twelve years.", "5 So says the book of tolls.")
    pages = [
        [
            PdfLine(f"Chapter {at}", 50, 580, 18),
            PdfLine(f"Old {name} of the town", 50, 545, 18),
            *body_page(at)[1:],
            PdfLine(notes[at - 1], 50, 100 + 20 * at, 8),
        ]
        for at, name in enumerate(("Tides", "Weirs", "Fords"), start=1)
    ]
    writer = PdfWriter(io.BytesIO(build(pages)))
    for page, title in enumerate(("Tides", "Weirs", "Fords")):
        writer.add_outline_item(title=title, page_number=page, fit=Fit.xyz(top=590))
    out = io.BytesIO()
    writer.write(out)
    book = read(out.getvalue())
    assert titles(book) == ["Chapter 1. Tides", "Chapter 2. Weirs", "Chapter 3. Fords"]
    assert book.text[book.chapters[1].start :].startswith("Chapter 2")


def test_signs_of_formulas_in_large_type_are_no_chapters() -> None:
    pages = []
    for number in range(1, 10):
        head = [PdfLine(f"The {_NAMES[number - 1]} tide", 50, 580, 18)] if number % 3 == 1 else []
        signs = [part for y in (440, 380, 320) for part in (PdfLine("Y", 150, y, 18), PdfLine("is large.", 50, y - 30))]
        pages.append([*head, *body_page(number), *signs])
    book = read(build(pages, outline=[("The one tide", 0), ("The four tide", 3), ("The seven tide", 6)]))
    assert titles(book) == ["The one tide", "The four tide", "The seven tide"]


def test_letters_that_the_fonts_call_western_are_read_as_cyrillic() -> None:
    told = [f"Мальчик {at} долго смотрел на звезду над лесом и думал о реке" for at in range(20)]
    lines = [line.encode("cp1251").decode("cp1252") for line in told]
    book = read(build([lines, lines]))
    assert book.text.startswith("Мальчик 0 долго смотрел на звезду над лесом и думал о реке")


def test_a_title_made_by_a_program_gives_way_to_the_file_name() -> None:
    data = build([body_page(1)], title="Microsoft Word - draft.docx")
    assert parser.read(data, "the_long_night.pdf").title == "The Long Night"


def test_a_page_has_its_own_text_whatever_its_length() -> None:
    long = [f"{_NAMES[number % 9]} times the tide came in over the sand and over the stones" for number in range(200)]
    book = read(build([["A short page."], long, ["Another one."]]))
    assert book.text.startswith("A short page.")
    assert book.text.count("times the tide came in over the sand and over the stones") == 200
    assert book.text[book.pages[2].start :] == "Another one."


def test_blank_pages_keep_their_numbers() -> None:
    book = read(build([body_page(1), [], body_page(3)]))
    assert [page.label for page in book.pages] == ["1", "2", "3"]
    assert book.pages[1].start == book.pages[1].end


def test_scanned_books_are_refused_with_how_many_pages_are_pictures() -> None:
    with pytest.raises(BookError, match=r"3 of the 3 pages .* pictures") as refused:
        parser.read(build([[], [], []], pictures=True), "a.pdf")
    assert refused.value.code is BookErrorCode.NO_TEXT


def test_a_single_scanned_page_is_refused_as_one() -> None:
    with pytest.raises(BookError, match=r"The only page of this PDF is a picture, .*OCR"):
        parser.read(build([[]], pictures=True), "a.pdf")


def test_pages_that_are_pictures_are_a_warning() -> None:
    book = read(build([body_page(1), [], [], [], body_page(5)], pictures=True))
    assert len(book.warnings) == 1
    assert "3 of 5 pages are pictures" in book.warnings[0]
    assert "2, 3, 4" in book.warnings[0]


def test_locked_books_are_refused() -> None:
    writer = PdfWriter(io.BytesIO(build([body_page(1)])))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(BookError, match="password") as refused:
        parser.read(out.getvalue(), "a.pdf")
    assert refused.value.code is BookErrorCode.ENCRYPTED


def test_damaged_files_are_refused() -> None:
    with pytest.raises(BookError, match="damaged") as refused:
        parser.read(b"%PDF-1.7 and nothing else", "a.pdf")
    assert refused.value.code is BookErrorCode.PARSE_FAILED


def test_a_bookmark_behind_many_pictures_is_found() -> None:
    pictures: list[list[str]] = [[]] * 9
    book = read(build([*pictures, body_page(1), body_page(2)], outline=[("Night", 9), ("Morning", 10)]))
    assert titles(book) == ["Night", "Morning"]


def test_numbers_beside_every_fifth_line_are_left_out() -> None:
    pages = []
    for page in range(3):
        lines: list[str | PdfLine] = []
        for at in range(20):
            number, y = page * 20 + at + 1, 540 - 20 * at
            lines.append(
                PdfLine(f"And {_NAMES[(at + 4 * page) % 9]} of {_NAMES[page]} came to the lamp in 18{at + 10},", y=y)
            )
            if number % 5 == 0:
                lines.append(PdfLine(str(number), x=360 if page else 20, y=y))
        pages.append(lines)
    text = read(build(pages)).text
    assert text.count("came to the lamp") == 60
    assert not re.search(r"(?<!18)\b\d+\b(?!,)", text)
    assert "came to the lamp in 1829," in text


def test_numbers_at_line_ends_that_do_not_count_on_stay() -> None:
    lines = [f"The {name} was built in the year 18{at * 5 + 10}" for at, name in enumerate(_NAMES)]
    assert read(build([[*lines, "It had rooms 5", "and stairs 10"]])).text.count("18") == 9
    assert "stairs 10" in read(build([[*lines, "It had rooms 5", "and stairs 10"]])).text


def numbered_pages(numbers: list[str], *, labels: str = "", head: str = "") -> BookText:
    """Pages with prose, a running head and the number at the foot, where there is one."""
    pages = []
    for at, number in enumerate(numbers):
        lines: list[str | PdfLine] = [PdfLine(head, 150, 580)] if head else []
        lines += [f"Page {at} of the tale says this and that, and then it goes on."] * 6
        pages.append([*lines, *([PdfLine(number, 190, 30)] if number else [])])
    return read(build(pages, labels=labels))


FEET = ["", "", "iii", "iv", "v", "vi", "", "1", "2", "3", "", "5", "6", "7", "8"]
PRINTED = ["i", "ii", "iii", "iv", "v", "vi", "vii", "1", "2", "3", "4", "5", "6", "7", "8"]


@pytest.mark.parametrize("form", ["{}", "- {} -", "[{}]"])
def test_pages_are_called_as_their_feet_print(form: str) -> None:
    book = numbered_pages([form.format(number) if number else "" for number in FEET])
    assert [page.label for page in book.pages] == PRINTED


def test_the_feet_are_right_where_the_files_labels_contradict_them() -> None:
    assert [page.label for page in numbered_pages(FEET, labels="0 << /S /D /St 40 >>").pages] == PRINTED


def test_labels_that_the_feet_confirm_stay() -> None:
    labels = "0 << /S /r >> 7 << /S /D >>"
    assert [page.label for page in numbered_pages(FEET, labels=labels).pages] == PRINTED


def test_numbers_that_do_not_count_on_with_the_pages_are_no_labels() -> None:
    years = numbered_pages([str(1890 + at // 3) for at in range(15)])
    assert [page.label for page in years.pages] == [str(number) for number in range(1, 16)]
    assert [page.label for page in numbered_pages([""] * 12, head="XII").pages][:3] == ["1", "2", "3"]


def test_a_plate_between_numbered_pages_has_no_number_of_another_page() -> None:
    labels = [page.label for page in numbered_pages([*"12345", "", *"6789"]).pages]
    assert labels == [*"12345", "5a", *"6789"]


def captioned(caption: list[PdfLine], *, after: str = "that nobody saw the cart.") -> BookText:
    """A paragraph with a figure and its caption in the middle."""
    above = [PdfLine(WIDE, 50, 560 - 14 * at) for at in range(4)]
    below = [PdfLine(after, 50, 300), *(PdfLine(WIDE, 62 if at == 0 else 50, 286 - 14 * at) for at in range(4))]
    return read(build([[*above, *caption, *below]]))


@pytest.mark.parametrize(
    "caption",
    [
        [PdfLine("Fig. 3. The harbour wall at ebb", 90, 340)],
        [PdfLine("Plate IV", 180, 340, 14)],
        [PdfLine("The harbour wall, drawn from", 90, 340, 8), PdfLine("the pier by the author", 90, 330, 8)],
        [PdfLine("The Harbour Wall", 150, 340)],
    ],
)
def test_a_caption_is_a_paragraph_and_does_not_cut_the_one_around_it(caption: list[PdfLine]) -> None:
    book = captioned(caption)
    paragraphs = book.text.split("\n\n")
    assert paragraphs[0].endswith("and so it was that nobody saw the cart.")
    assert paragraphs[1] == " ".join(line.text for line in caption)
    assert not book.chapters


def test_a_caption_at_the_head_of_a_page_does_not_cut_the_sentence_that_goes_on_there() -> None:
    first = [PdfLine(WIDE, 50, 560 - 14 * at) for at in range(5)]
    second = [PdfLine("Figure 2: The clock", 120, 420), *(PdfLine("that nobody saw it.", 50, 380) for _ in range(1))]
    book = read(build([first, [*second, *(PdfLine(WIDE, 62, 340 - 14 * at) for at in range(6))]]))
    assert "and so it was that nobody saw it." in book.text
    assert "\n\nFigure 2: The clock\n\n" in book.text


def test_a_sentence_about_a_figure_is_no_caption() -> None:
    lines = [PdfLine(WIDE, 50, 560), PdfLine("Figure 3 shows the wall as it was before, and", 50, 546)]
    book = read(
        build([[*lines, PdfLine("no one knew it.", 50, 532), *(PdfLine(WIDE, 62, 518 - 14 * n) for n in range(3))]])
    )
    assert "so it was Figure 3 shows the wall as it was before, and no one knew it." in " ".join(book.text.split("\n"))


def test_a_page_drawn_from_its_last_line_up_is_read_from_its_first_down() -> None:
    lines = [PdfLine(text, y=560 - 14 * at) for at, text in enumerate(paragraph(1, 7).split(". "))]
    assert len(lines) > 6
    assert read(build([lines[::-1]])).text == read(build([lines])).text


@pytest.mark.parametrize(
    ("capital", "rest", "said"),
    [
        ("T", "he lamp burned low", "The lamp"),
        ("I", "t rained", "It rained"),
        ("I", "saw it", "I saw"),
        ("“W", "e go", "“We go"),
    ],
)
def test_a_large_first_letter_belongs_to_its_word(capital: str, rest: str, said: str) -> None:
    beside = [PdfLine(rest, x=80, y=540), PdfLine("where it could be seen from the road,", x=80, y=526)]
    below = [PdfLine("and nobody saw it rain on the sea that she had known.", y=512), PdfLine("We did.", y=498)]
    book = read(build([[PdfLine(capital, x=50, y=527, size=30), *beside, *below]]))
    assert book.text.startswith(said)
    assert book.chapters == ()


def test_a_large_first_letter_may_be_drawn_before_the_heading_of_its_chapter() -> None:
    pages: list[list[str | PdfLine]] = []
    for number, name in enumerate(_NAMES[:4], start=1):
        heading = PdfLine(f"Chapter {number}", x=160, y=580, size=18)
        beside = [PdfLine(f"he lamp burned on day {name}", x=80, y=540), PdfLine(f"for hours, {name},", x=80, y=526)]
        below = [PdfLine(f"and {name} saw it rain on the sea that she had known.", y=512), PdfLine("We did.", y=498)]
        pages.append([PdfLine("T", x=50, y=520, size=30), heading, *beside, *below, *body_page(number)[2:]])
    book = read(build(pages))
    assert titles(book) == [f"Chapter {number}" for number in range(1, 5)]
    assert "The lamp burned on day two\nfor hours, two,\nand two saw it rain" in book.text


LINES = [[line.text if isinstance(line, PdfLine) else line for line in body_page(number)] for number in (1, 2, 3)]


def _unlike_a_letter(sign: str) -> int:
    """The number that a sign has in fonts of which only some signs are kept."""
    return ord(sign) - 29


@pytest.mark.parametrize(
    ("number", "letter"),
    [
        (_unlike_a_letter, None),
        (lambda sign: 5_000 + ord(sign), None),
        (ord, lambda sign: chr(0xE000 + ord(sign))),
        (ord, lambda sign: "\ufffd"),
    ],
    ids=["small numbers", "large numbers", "private use", "replacement"],
)
def test_letters_that_the_file_does_not_tell_are_refused_and_could_be_recognised(
    number: Callable[[str], int], letter: Callable[[str], str] | None
) -> None:
    with pytest.raises(PicturesOnlyError, match="its fonts do not say which letters they are") as refused:
        read(numbered_pdf(LINES, number, letter))
    assert refused.value.pages == 3


@pytest.mark.parametrize(("number", "letter"), [(ord, None), (_unlike_a_letter, lambda sign: sign)])
def test_letters_are_read_whose_numbers_are_their_codes_or_are_told(
    number: Callable[[str], int], letter: Callable[[str], str] | None
) -> None:
    book = read(numbered_pdf(LINES, number, letter))
    assert "Here begins the first paragraph of page two, which is long two enough to fill the line" in book.text
    assert book.warnings == ()


def test_a_few_pages_whose_letters_are_not_told_are_named() -> None:
    whole, cipher = (PdfReader(io.BytesIO(data)) for data in (build([*LINES]), numbered_pdf(LINES, _unlike_a_letter)))
    mixed, out = PdfWriter(), io.BytesIO()
    for page in (whole.pages[0], cipher.pages[1], whole.pages[2]):
        mixed.add_page(page)
    mixed.write(out)
    book = read(out.getvalue())
    assert book.warnings[0].startswith("I cannot read the letters on 1 of 3 pages (pages 2), because the file does not")
    assert "page one" in book.text
    assert "page three" in book.text
    assert "SDJH" not in book.text  # "page" in the numbers of its letters


def test_an_ornament_without_a_letter_is_no_page_of_unknown_letters() -> None:
    assert read(numbered_pdf([*LINES, ["*" * 3]], ord, lambda sign: "\ue000" if sign == "*" else sign)).warnings == ()

"""Lines on pages, put together as paragraphs."""

from bot.parsers.draft import MARK, PageBreak
from bot.parsers.pdf.document import PdfLine, PdfPage
from bot.parsers.pdf.layout import body_size, lay_out
from bot.parsers.pdf.parser import without_line_numbers

_SIZE = 11.0


def page(label: str, texts: list[str], *, left: float = 50, size: float = _SIZE) -> PdfPage:
    """A page of full lines."""
    lines = (PdfLine(text, left, 300, 600 - 14 * number, size) for number, text in enumerate(texts))
    return PdfPage(label, tuple(lines), is_picture=False)


def test_a_paragraph_may_be_as_long_as_a_book() -> None:
    line = "and the keeper saw a light upon the island, and said nothing of it at all"
    [block] = lay_out([page("1", [line] * 100_000)], _SIZE).blocks
    assert block.text == MARK + " ".join([line] * 100_000)


def test_pages_without_text_are_breaks_before_what_comes_next() -> None:
    layout = lay_out([page("1", ["One"]), page("2", []), page("3", ["and two"]), page("4", [])], _SIZE)
    [block] = layout.blocks
    assert block.text == f"{MARK}One {MARK}{MARK}and two"
    assert block.breaks == [PageBreak("1"), PageBreak("2"), PageBreak("3")]
    assert layout.trailing == [PageBreak("4")]


def test_the_text_is_in_the_size_of_most_letters_not_of_most_lines() -> None:
    pages = [page("1", ["A"] * 10, size=18), page("2", ["and the keeper saw a light"], size=_SIZE + 0.01)]
    assert body_size(pages) == _SIZE
    assert body_size([]) == 0


def test_words_cut_by_a_hyphen_of_their_own_are_joined_and_others_keep_theirs() -> None:
    texts = ["a thing won\u2010", "derful and beau\xad", "tiful, in a gilt-", "edged book of ad\u2010", "ventures"]
    [block] = lay_out([page("1", texts)], _SIZE).blocks
    assert block.text == f"{MARK}a thing wonderful and beautiful, in a gilt-edged book of adventures"


def test_numbers_of_chapters_are_no_line_numbers() -> None:
    words = [PdfLine(f"line {number} of the page", 50, 300, 500 - 10 * number, 10) for number in range(20)]
    pages = [
        PdfPage(str(number), (PdfLine(str(number), 50, 60, 520, 10), *words), is_picture=False)
        for number in range(1, 40)
    ]
    assert without_line_numbers(pages) == pages


def test_numbers_in_a_table_of_contents_are_no_line_numbers() -> None:
    lines = tuple(PdfLine(f"Chapter {number}", 50, 120, 520 - 10 * number, 10) for number in range(1, 41))
    pages = [PdfPage("1", lines, is_picture=False)]
    assert without_line_numbers(pages) == pages


def test_a_number_behind_a_control_character_is_read_too() -> None:
    lines = tuple(PdfLine(f"the reeds\x1f\t{at}", 50, 300, 700 - 12 * at, 10) for at in range(1, 30))
    assert without_line_numbers([PdfPage("1", lines, is_picture=False)])

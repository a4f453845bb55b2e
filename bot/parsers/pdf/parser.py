"""PDF: physical pages with their labels, paragraphs restored, chapters by the outline or by the size of type."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from bot.parsers.assembly import assemble
from bot.parsers.draft import (
    DEFAULT_LIMITS,
    MARK,
    BookDraft,
    PicturesOnlyError,
    ReadingLimits,
    Report,
    TextBuilder,
    ignore_progress,
)
from bot.parsers.encoding import misread_letters
from bot.parsers.headings import Heading, Rank, parse_label
from bot.parsers.pdf.document import NOTE_GAP, NOTE_SIZE, Bookmark, PdfDocument, PdfLine, PdfPage, read_document
from bot.parsers.pdf.layout import (
    PdfBlock,
    body_size,
    is_heading_size,
    lay_out,
    with_printed_labels,
    without_running_lines,
)
from bot.parsers.text.blocks import FEWEST_HEADINGS, StyledLine, styled_titles
from bot.parsers.titles import LONGEST_TITLE, is_caption, letters
from domain.book import OCR_MARK, PARTLY_OCR_MARK, BookText
from domain.errors import BookError, BookErrorCode, Worded

if TYPE_CHECKING:
    from bot.parsers.ocr import TextRecogniser

FORMAT = "pdf"
_LONGEST_HEADING = 160
_FEWEST_LETTERS = 25
_MOST_BLOCKS_SEARCHED = 500
_NUMBER = re.compile(r"[a-z]?\d{1,5}")
"""The number in front of a title, without its dots."""
_SECTION = re.compile(r"(?:[A-Z]|\d{1,3})\.\d")
_LONG_ENOUGH = 60
"""Letters of a title that goes on, so that they can be those of no other."""
_LONGEST_SIGN = 2
"""Letters that may be a formula."""
_LONGEST_LABEL = 12
"""Letters of "Chapter 12" and "Приложение A"."""
_WORD = re.compile(r"\w+")
_FEW_PICTURES = 3
"""Covers and full-page plates are pictures in many books; fewer of them cause no warning."""
_MOST_PAGES_A_PICTURE = 10
"""Of more pages a picture, the pictures are plates rather than pages of the text."""
_CIPHER = Worded(
    "I cannot read the letters of this PDF: its fonts do not say which letters they are. Please add another edition, "
    "best an EPUB, or run it through text recognition (OCR) first."
)
_READ_BY_OCR = Worded(
    "The pages of this book are pictures. I read them by OCR (text recognition), so some words may be wrong."
)


def read(
    data: bytes, filename: str = "", *, limits: ReadingLimits = DEFAULT_LIMITS, report: Report = ignore_progress
) -> BookText:
    """Read a PDF that has text in it.

    Raises:
        BookError: the file is locked, damaged, too long, or pictures of pages without text.
    """
    document = read_document(data, limits, report)
    document = _in_own_letters(document)
    pages = without_line_numbers(without_running_lines(with_printed_labels(with_first_signs(document.pages))))
    _refuse_pictures(pages)
    pictures = sum(page.is_picture for page in pages)
    is_worth_it = pictures >= _FEW_PICTURES and pictures * _MOST_PAGES_A_PICTURE >= len(pages)
    book = read_pages(document, pages, FORMAT, filename, limits, _warnings(pages))
    return replace(book, pictures=pictures) if is_worth_it else book


def read_pictures(
    data: bytes,
    recogniser: "TextRecogniser",
    filename: str = "",
    *,
    limits: ReadingLimits = DEFAULT_LIMITS,
    report: Report = ignore_progress,
) -> BookText:
    """Read a PDF by text recognition where its pages are pictures, and the text of its other pages.

    Raises:
        BookError: as for `read`, and NO_TEXT where no page has words.
    """
    return read_recognised(read_document(data, limits, report, recogniser.lines), FORMAT, filename, limits)


def read_recognised(document: PdfDocument, format_: str, filename: str, limits: ReadingLimits) -> BookText:
    """The book of pages whose lines were recognised.

    Raises:
        BookError: NO_TEXT where no page has words.
    """
    from bot.parsers.ocr import with_even_sizes

    texts = [page for page in document.pages if not page.is_picture and _letters(page) >= _FEWEST_LETTERS]
    pages = without_running_lines(with_printed_labels(with_even_sizes(document.pages, body_size(texts))))
    if not any(_letters(page) >= _FEWEST_LETTERS for page in pages):
        several = Worded(
            "The {pages:,} pages of this book are pictures, and I could make out no words on them. "
            "Please add another edition, one with text.",
            pages=len(pages),
        )
        only = Worded(
            "The only page of this book is a picture, and I could make out no words on it. Please add another edition, "
            "one with text."
        )
        raise BookError(BookErrorCode.NO_TEXT, several if len(pages) > 1 else only)
    if not texts:
        return read_pages(document, pages, f"{format_}{OCR_MARK}", filename, limits, [_READ_BY_OCR])
    pictures = sum(page.is_picture for page in pages)
    warning = Worded(
        "{pictures:,} of the {pages:,} pages of this book are pictures. I read those by OCR (text recognition), so "
        "some words there may be wrong.",
        pictures=pictures,
        pages=len(pages),
    )
    return read_pages(document, pages, f"{format_}{PARTLY_OCR_MARK}", filename, limits, [warning])


def read_pages(
    document: PdfDocument,
    pages: Sequence[PdfPage],
    format_: str,
    filename: str,
    limits: ReadingLimits,
    warnings: Sequence[str],
) -> BookText:
    """The book of pages with lines; `document` has its outline and names."""
    builder = TextBuilder(limits)
    body = body_size(pages)
    layout = lay_out(pages, body)
    starts = _add_blocks(layout.blocks, builder, body)
    for page_break in layout.trailing:
        builder.mark(page_break)
    builder.close()
    draft = BookDraft(
        format_,
        builder.text,
        outlines=[[*_outlined(document.outline, layout.blocks, starts, builder)], builder.headings],
        styled=styled_titles(_styled_lines(layout.blocks), builder.text)
        if len(builder.headings) < FEWEST_HEADINGS
        else (),
        page_marks=builder.page_marks,
        title=document.title,
        author=document.author,
        language=document.language,
        warnings=warnings,
    )
    return assemble(draft, filename, limits)


def _in_own_letters(document: PdfDocument) -> PdfDocument:
    """The document with the letters of its alphabet, where its fonts name Western ones in their place."""
    own = misread_letters("\n".join(line.text for page in document.pages for line in page.lines))
    if not own:
        return document
    return replace(
        document,
        pages=tuple(
            replace(page, lines=tuple(line._replace(text=line.text.translate(own)) for line in page.lines))
            for page in document.pages
        ),
        outline=tuple(replace(each, title=each.title.translate(own)) for each in document.outline),
        title=document.title.translate(own),
    )


_DROP_CAPITAL = re.compile(r"[\"'“‘«„]?[^\W\d_]")
_DROP_SIZE = 1.6
_LONGEST_NOTE_NUMBER = 3
_LINES_NEAR_CAPITAL, _LONGEST_CAPITAL = 6, 2
_LETTERS_THAT_ARE_WORDS = "AIOÀÉÓYУОЯИАВСК"


def with_first_signs(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages with each drop capital in front of its word, and each footnote's small number in front of its line."""
    words: set[str] = set()
    found: list[PdfPage] = []
    for page in pages:
        capitals = {at: beside for at in range(len(page.lines)) if (beside := _beside_capital(page.lines, at))}
        notes = {at: at + 1 for at, pair in enumerate(pairwise(page.lines)) if _is_number_of_note(*pair)}
        if capitals and not words:
            words = {word for each in pages for line in each.lines for word in line.text.casefold().split()}
        lines = dict(enumerate(page.lines))
        for at, beside in {**capitals, **notes}.items():
            if beside in capitals or beside in notes:
                continue
            sign, line = lines.pop(at), lines[beside]
            note = f"[{sign.text}]{NOTE_GAP}{line.text}" if at in notes else ""
            text = note or _with_capital(sign.text, line.text, words)
            lines[beside] = line._replace(text=text, left=min(sign.left, line.left))
            for low in () if note else lines.keys() & _lower_beside(sign, page.lines, beside):
                lines[low] = lines[low]._replace(left=sign.left)
        found.append(replace(page, lines=tuple(lines.values())))
    return found


def _beside_capital(lines: Sequence[PdfLine], at: int) -> int:
    """Which line goes on with the word of a drop capital, or 0; a floating one may be drawn before the heading."""
    near = range(at + 1, min(at + _LINES_NEAR_CAPITAL, len(lines)) if len(lines[at].text) <= _LONGEST_CAPITAL else 0)
    return next((below for below in near if _is_drop_capital(lines[at], lines[below])), 0)


def _lower_beside(sign: PdfLine, lines: Sequence[PdfLine], first: int) -> range:
    """Which lines after the first one beside a drop capital stand beside its lower part, and so are not indented."""
    near = lines[first : first + _LINES_NEAR_CAPITAL]
    beside = takewhile(lambda line: line.left >= sign.right - line.size and line.top > sign.top - sign.size, near)
    return range(first + 1, first + len([*beside]))


def _is_drop_capital(line: PdfLine, beside: PdfLine) -> bool:
    """Whether a line is a large letter with the next line on its right, at its upper part."""
    return (
        line.size > _DROP_SIZE * beside.size > 0
        and _DROP_CAPITAL.fullmatch(line.text) is not None
        and 0 <= beside.left - line.right + beside.size < 3 * beside.size
        and line.top - line.size < beside.top - beside.size
        and beside.top <= line.top + beside.size
    )


def _is_number_of_note(line: PdfLine, beside: PdfLine) -> bool:
    """Whether a line is the small, raised number of a footnote that begins on its right."""
    return (
        line.text.isdecimal()
        and len(line.text) <= _LONGEST_NOTE_NUMBER
        and 0 < line.size < NOTE_SIZE * beside.size
        and -beside.size < beside.left - line.right < beside.size
        and 0 <= line.top - beside.top < beside.size
    )


def _with_capital(capital: str, text: str, words: Collection[str]) -> str:
    """A letter and the text that goes on its word, or follows it if the letter is a word."""
    rest = text.split(maxsplit=1)[0].casefold()
    is_word = (
        capital[-1] in _LETTERS_THAT_ARE_WORDS and f"{capital[-1]}{rest}".casefold() not in words and rest in words
    )
    return f"{capital} {text}" if is_word else f"{capital}{text}"


_STEPS = ((5, 3), (10, 3), (1, 12))
"""The steps by which line numbers count, and how many consecutive numbers are needed to be sure."""
_LINE_NUMBER = re.compile(r"(?P<before>\d{1,4}(?!\S)\s*)?(?P<text>.*?)(?P<after>\s+\d{1,4})?", re.DOTALL)


class _Numbered(NamedTuple):
    """A line that begins or ends with a number, or is one; `text` is the rest."""

    place: tuple[int, int]
    value: int
    text: str


def without_line_numbers(pages: Sequence[PdfPage]) -> list[PdfPage]:
    """The pages without the numbers beside every fifth or tenth line of verse and plays."""
    numbered = [
        found
        for at, page in enumerate(pages)
        for number, line in enumerate(page.lines)
        if (found := _numbered(line, (at, number)))
    ]
    texts: dict[tuple[int, int], str] = {}
    places = [each.place for each in numbered]
    for step, fewest in _STEPS:
        series = [each for each in numbered if each.value % step == 0 and (step > 1 or not each.text)]
        for run in _runs(series, step):
            if len(run) >= fewest and run[0].value <= 2 * step and _are_apart(run, step, places):
                texts.update((each.place, each.text) for each in run)
    if not texts:
        return list(pages)
    return [
        replace(page, lines=tuple(_relined(page.lines, at, texts))) if any(place[0] == at for place in texts) else page
        for at, page in enumerate(pages)
    ]


def _numbered(line: PdfLine, place: tuple[int, int]) -> _Numbered | None:
    if not (line.text[:1].isdecimal() or line.text[-1:].isdecimal()):
        return None
    match = _LINE_NUMBER.fullmatch(line.text)
    number = (match["after"] or match["before"]) if match else None
    if match is None or number is None:
        return None
    text = line.text.removesuffix(number) if match["after"] else line.text.removeprefix(number)
    return _Numbered(place, int(number.strip()), text.strip())  # `int` knows fewer blanks than `\s`


def _runs(series: Sequence[_Numbered], step: int) -> Iterator[list[_Numbered]]:
    """Runs of increasing numbers; they restart in each act or book."""
    run: list[_Numbered] = []
    for each in series:
        if run and each.value != run[-1].value + step:
            if each.value != step:
                continue
            yield run
            run = []
        run.append(each)
    yield run


def _are_apart(run: Sequence[_Numbered], step: int, places: Sequence[tuple[int, int]]) -> bool:
    """Whether there are about as many lines between two numbers as they say, most of them without a number.

    In prose, numbers follow each other directly, those of chapters have pages between them, and in a table every line
    has one. `places` are those of all lines with numbers, in order.
    """
    within = bisect_right(places, run[-1].place) - bisect_left(places, run[0].place)
    if within > 2 * len(run):
        return False
    pairs = [(below.place[0] - above.place[0], below.place[1] - above.place[1]) for above, below in pairwise(run)]
    near = [lines for pages, lines in pairs if not pages]
    follow = all(pages <= (step > 1) for pages, _ in pairs)
    return follow and len(near) * 2 > len(pairs) and all(step - 1 <= lines <= 3 * step for lines in near)


def _relined(lines: Iterable[PdfLine], page: int, texts: Mapping[tuple[int, int], str]) -> Iterator[PdfLine]:
    for number, line in enumerate(lines):
        text = texts.get((page, number), line.text)
        if text:
            yield line._replace(text=text)


def _refuse_pictures(pages: Sequence[PdfPage]) -> None:
    if any(_letters(page) >= _FEWEST_LETTERS for page in pages):
        return
    pictures = sum(page.is_picture for page in pages)
    if any(page.is_cipher for page in pages):
        raise PicturesOnlyError(_CIPHER, pictures)
    if pictures:
        several = Worded(
            "{pictures} of the {pages} pages of this PDF are pictures, and there is no text to read on any page. "
            "Please run it through text recognition (OCR) first, or add another edition.",
            pictures=pictures,
            pages=len(pages),
        )
        only = Worded(
            "The only page of this PDF is a picture, and there is no text to read on it. "
            "Please run it through text recognition (OCR) first, or add another edition."
        )
        raise PicturesOnlyError(several if len(pages) > 1 else only, pictures)
    if not any(map(_letters, pages)):
        raise BookError(
            BookErrorCode.NO_TEXT,
            Worded(
                "There is no text on any of the pages of this PDF ({pages:,}). Please add another edition.",
                pages=len(pages),
            ),
        )


def _letters(page: PdfPage) -> int:
    return sum(len(line.text) for line in page.lines)


def _warnings(pages: Sequence[PdfPage]) -> list[str]:
    pictures = [page.label for page in pages if page.is_picture]
    has_ciphers = any(page.is_cipher for page in pages)
    if len(pictures) < _FEW_PICTURES and not has_ciphers:
        return []
    shown = ", ".join(pictures[:5]) + (" …" if len(pictures) > 5 else "")
    return [
        Worded(
            "I cannot read the letters on {pictures} of {pages} pages (pages {shown}), because the file does not say "
            "which letters they are. To include them, add another edition, or a copy that went through text "
            "recognition (OCR)."
            if has_ciphers
            else "{pictures} of {pages} pages are pictures without text (pages {shown}), so I don't know what they "
            "say. To include them, add a copy that went through text recognition (OCR).",
            pictures=len(pictures),
            pages=len(pages),
            shown=shown,
        )
    ]


def _add_blocks(blocks: Sequence[PdfBlock], builder: TextBuilder, body: float) -> list[int]:
    """Add the blocks, those in larger type as headings; returns their offsets."""
    sizes = sorted({_rounded(block.size) for block in blocks if _is_heading(block, body)}, reverse=True)
    levels = {size: level for level, size in enumerate(sizes, start=1)}
    return [
        builder.add(
            block.text,
            block.breaks,
            heading_level=levels[_rounded(block.size)] if _is_heading(block, body) else 0,
        )
        for block in blocks
    ]


def _styled_lines(blocks: Iterable[PdfBlock]) -> Iterator[StyledLine]:
    """The paragraphs with what they look like: titles may be as small as the text, and bold."""
    for block in blocks:
        text = _one_line(block)
        yield StyledLine(text if len(text) <= LONGEST_TITLE else "", (block.is_bold, block.is_inset), block.is_bold)


def _one_line(block: PdfBlock) -> str:
    return " ".join(block.text.replace(MARK, "").split())


def _is_heading(block: PdfBlock, body: float) -> bool:
    return is_heading_size(block.size, body) and len(block.text) <= _LONGEST_HEADING and not is_caption(block.text)


def _rounded(size: float) -> float:
    return round(size, 1)


def _outlined(
    outline: Sequence[Bookmark], blocks: Sequence[PdfBlock], starts: Sequence[int], builder: TextBuilder
) -> Iterator[Heading]:
    """The outline's entries at the blocks they name or point to; entries that lead backwards are left out. An entry
    whose number only the page has takes it from there, and is left out if the number is a section's: "5.3".
    """
    first_on_page: dict[int, int] = {}
    for number, block in enumerate(blocks):
        first_on_page.setdefault(block.page, number)
    ends = {heading.start: heading.end for heading in builder.headings}
    pages = [*first_on_page]
    last = -1
    for bookmark in outline:
        following = bisect_left(pages, bookmark.page)
        if following == len(pages):
            continue
        number = _block_of(bookmark, blocks, first_on_page[pages[following]])
        printed, start = _one_line(blocks[number])[:_LONGEST_HEADING], starts[number]
        is_numbered = _numbers(letters(printed), letters(bookmark.title))
        if start > last and not (is_numbered and bookmark.depth > 1 and _SECTION.match(printed)):
            last = start
            yield Heading(start, ends.get(start, start), printed if is_numbered else bookmark.title, bookmark.depth)


def _block_of(bookmark: Bookmark, blocks: Sequence[PdfBlock], first: int) -> int:
    """The block on the page that says just the bookmark's title, or most like it, else the first one below the place
    it points to. Below "Chapter 12", that is the title, which outlines shorten.
    """
    title = letters(bookmark.title)
    page = blocks[first].page
    alike = below = None
    for number in range(first, min(first + _MOST_BLOCKS_SEARCHED, len(blocks))):
        block = blocks[number]
        if block.page != page:
            break
        said = letters(block.text[:_LONGEST_HEADING])
        if said == title or _numbers(said, title) or _is_labelled(said, title):
            return number
        if alike is None and said and (_begins(bookmark.title, said) or said.startswith(title) or _ends(title, said)):
            alike = number
        if below is None and bookmark.top is not None and block.top <= bookmark.top + block.size:
            below = number
    if alike is None and below is not None and _is_label_of_chapter(_one_line(blocks[below])):
        alike = min(below + 1, len(blocks) - 1)
    return next((found for found in (alike, below) if found is not None), first)


def _is_label_of_chapter(text: str) -> bool:
    label = parse_label(text)
    return label is not None and label.rank is Rank.CHAPTER and not label.title


def _is_labelled(said: str, title: str) -> bool:
    """Whether the page has a word in front of the title: "Appendix B Index" may be "B Index" in the outline."""
    return said.endswith(title) and len(title) > _LONGEST_SIGN and len(said) - len(title) <= _LONGEST_LABEL


def _begins(title: str, said: str) -> bool:
    """Whether the title begins with all that a block says; a letter or two of a formula are no word of it."""
    if len(said) > _LONGEST_SIGN:
        return letters(title).startswith(said)
    first = _WORD.search(title)
    return first is not None and said == letters(first[0])


def _ends(title: str, said: str) -> bool:
    """Whether the title may begin on the page: "1. Dusk" may be printed as "Dusk"."""
    return title.endswith(said) and len(said) * 2 >= len(title)


def _numbers(said: str, title: str) -> bool:
    """Whether the page has the title with a number in front that the outline lacks: "5.3 Boot Parameters"."""
    number = _NUMBER.match(said)
    if not title or number is None:
        return False
    is_long = len(said) > _LONG_ENOUGH and title.startswith(said[number.end() :])
    return is_long or (said.endswith(title) and bool(_NUMBER.fullmatch(said.removesuffix(title))))

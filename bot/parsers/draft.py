"""What every format's parser is given and makes: limits, a text that grows block by block, and pages."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

from bot.parsers.headings import PATTERNS, WORDS, Heading, Rank, parse_label
from domain.book import Page
from domain.errors import BookError, BookErrorCode, Worded

MIB = 2**20

Report = Callable[[float], None]
"""Receives the share 0..1 of a file that has been read."""


def ignore_progress(_share: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """Limits for one file. War and Peace has 3.2 million characters, the longest novels about three times that.

    `max_unpacked_bytes` limits the total size of an archive's texts; pictures are never unpacked.
    """

    max_characters: int = 20_000_000
    max_unpacked_bytes: int = 256 * MIB


DEFAULT_LIMITS = ReadingLimits()


class PicturesOnlyError(BookError):
    """NO_TEXT, where text recognition may help: this number of `pages` are pictures."""

    def __init__(self, message: str, pages: int) -> None:
        super().__init__(BookErrorCode.NO_TEXT, message)
        self.pages = pages


_LONGEST_HEADING = 240
_MOST_HEADING_LINES = 3


class Block(NamedTuple):
    """Lines of plain text without a blank line between them; `gap` counts the blank lines above.

    It is a tuple, because a novel has tens of thousands of them and a frozen dataclass takes twice as long to create.
    """

    start: int
    end: int
    gap: int
    lines: tuple[str, ...]

    @property
    def is_short(self) -> bool:
        """Whether it could be a heading: at most three lines and 240 characters."""
        return bool(self.lines) and len(self.lines) <= _MOST_HEADING_LINES and self.end - self.start <= _LONGEST_HEADING

    @property
    def text(self) -> str:
        """Its words, without lines of signs that only underline others."""
        if len(self.lines) == 1:
            return self.lines[0]
        return " ".join([line for line in self.lines if _WORD.search(line)] or self.lines)

    @property
    def is_ornament(self) -> bool:
        """Whether it is only signs, as between scenes: "* * *"."""
        return self.is_short and not any(map(str.isalnum, self.text))


def usual_gap(blocks: Sequence[Block]) -> int:
    """The usual number of blank lines between paragraphs."""
    gaps = Counter(block.gap for block in blocks[1:])
    return max(gaps, key=lambda gap: (gaps[gap], -gap), default=1)


MARK = "\ufdd0"
"""Marks a page break or an anchor in text until its offset is known. A noncharacter: no book contains it."""

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_INVISIBLE_SIGNS = (
    "\u00ad\u200b\u200e\u200f\u2060\ufeff"  # soft hyphen, zero-width and direction marks
    "\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # what turns the direction of others around
)
_INVISIBLE = re.compile(f"[{_INVISIBLE_SIGNS}{MARK}]+|(?<![\u0600-\u0dff])\u200c+")
"""In Arabic and Indian scripts, the sign that keeps two letters apart is a part of the spelling: Persian می‌رود."""
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
"""Characters that can hide sentences; a set with any beyond U+FFFF, as in one pattern, is searched far more slowly."""
_CLEAN = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027]*")
"""Most blocks of most books: Latin letters and the usual signs, which need no cleaning."""
_WORD = re.compile(r"[^\W_]")
_TWICE_AS_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]")
"""East Asian letters and signs, as wide as two others in a terminal."""
_EMPHASISED = re.compile(r"_[^_]*_")
_SHORTEST_PROSE = 2_000
_SHORT_PARAGRAPH = 120
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def has_words(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` contains a word."""
    return bool(_WORD.search(text, start, end))


def tells(text: str) -> bool:
    """Whether it is prose: long paragraphs without the many numbers of an index."""
    is_prose = len(text) > max(_SHORTEST_PROSE, _SHORT_PARAGRAPH * (text.count("\n\n") + 1))
    return is_prose and sum(map(str.isdecimal, text)) * 50 < len(text)


def in_capitals(text: str) -> bool:
    """Whether everything is in capitals, except for emphasised words: "DR. SEWARD'S DIARY--_continued_"."""
    text = _EMPHASISED.sub("", text) if "_" in text else text
    return text == text.upper() and text != text.lower() and sum(map(str.isalpha, text)) > 1


def width_of(line: str) -> int:
    """The length of a line as it looks where all letters are as wide, or twice as wide."""
    return len(line) if line.isascii() else len(line) + len(_TWICE_AS_WIDE.findall(line))


def middle(values: Iterable[float]) -> float:
    """The upper median of some values.

    Raises:
        IndexError: there are none.
    """
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def clean(text: str) -> str:
    """The text in NFC, with ligatures as letters and without soft hyphens, invisible or control characters; line feeds
    stay.
    """
    if _CLEAN.fullmatch(text):
        return text
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)
        text = text if text.isascii() else _visible(text)
    if text.isascii():
        return text
    if any(map(text.__contains__, _LIGATURES)):
        for ligature, letters in _LIGATURES.items():
            text = text.replace(ligature, letters)
    return _in_nfc(text)


_MOST_ACCENTS = 30
"""On one letter, as in Unicode's stream-safe format; the time for putting them in order grows with the square."""
_PAST_ACCENTS = 0x1E950


@cache
def _piled_accents() -> re.Pattern[str]:
    """More accents than that, compiled when a text needs it: that takes 6 ms."""
    accents = "".join(filter(unicodedata.combining, map(chr, range(0x300, _PAST_ACCENTS))))
    return re.compile(f"([{accents}]{{{_MOST_ACCENTS}}})[{accents}]+")


def _in_nfc(text: str) -> str:
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", _piled_accents().sub(r"\1", text))


def _visible(text: str) -> str:
    return _TAGS.sub("", _INVISIBLE.sub("", text))


_SOFT_CUT = re.compile(r"(?<=[^\W\d_])[\u00ad¬][ \t]*\n[ \t]*(?=[^\W\d_])")
"""The end of a line that cuts a word, by a hyphen that is no word's own; programs that read scans write ¬ for it."""


def composed(text: str) -> str:
    """A whole text in NFC, without invisible characters, and with the words joined that soft hyphens cut."""
    if text.isascii():
        return text
    if "\u00ad" in text or "¬" in text:
        text = _SOFT_CUT.sub("", text)
    if any(map(text.__contains__, f"{_INVISIBLE_SIGNS}\u200c\U000e0020")):
        text = _visible(text)
    return _in_nfc(text)


def collapse(text: str) -> str:
    """The text with each run of white space as one space, including those at its ends."""
    if text.isprintable() and "  " not in text:
        return text
    words = " ".join(text.split())
    if not words:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{words}{' ' if text[-1].isspace() else ''}"


@dataclass(frozen=True, slots=True)
class PageMark:
    """Where a page begins, and its printed label."""

    start: int
    label: str


@dataclass(frozen=True, slots=True)
class BookDraft:
    """The result of a format's parser.

    `outlines` are sets of headings, the most trusted first: a table of contents before heading elements. `styled` are
    lines that only their style marks as titles; they are used if nothing else divides the book.
    """

    format: str
    text: str
    outlines: Sequence[Sequence[Heading]] = ()
    styled: Sequence[Heading] = ()
    page_marks: Sequence[PageMark] = ()
    title: str = ""
    author: str = ""
    language: str = ""
    warnings: Sequence[str] = ()
    readings: Iterable[tuple[str, str]] = ()
    pictures: int = 0


def check_length(characters: int, limits: ReadingLimits) -> None:
    """Raise TOO_LARGE beyond the limit; parsers that build text piece by piece call it early."""
    if characters > limits.max_characters:
        raise BookError(
            BookErrorCode.TOO_LARGE,
            Worded("This book is longer than {most:,} characters. Please add it in parts.", most=limits.max_characters),
        )


PARAGRAPH_GAP = "\n\n"
_LINE_END = re.compile(r"(?<![ \t])[ \t]+\n")
_BLANK_LINES = re.compile(r"\n{3,}")


MOST_READINGS = 20_000
_LONGEST_READING = 40
_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


def hiragana(reading: str) -> str:
    """A reading as it is typed: katakana as hiragana, without blanks."""
    return "".join(reading.split())[:_LONGEST_READING].translate(_HIRAGANA)


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place that links point to."""

    name: str


@dataclass(frozen=True, slots=True)
class PageBreak:
    """Where a printed page begins."""

    label: str


class TextBuilder:
    """Paragraphs and headings, joined by blank lines, with the offsets of headings, page breaks and anchors.

    A block's text may contain `MARK`s, one for each of the marks passed with it, which are removed.
    """

    def __init__(self, limits: ReadingLimits) -> None:
        self.headings: list[Heading] = []
        self.page_marks: list[PageMark] = []
        self.anchors: dict[str, int] = {}
        self.readings: dict[tuple[str, str], None] = {}
        self._limits = limits
        self._pieces: list[str] = []
        self._length = 0
        self._waiting: list[Anchor | PageBreak] = []

    @property
    def text(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]  # joined once, however often it is asked for
        return "".join(self._pieces)

    @property
    def length(self) -> int:
        return self._length

    def add(self, text: str, marks: Sequence[Anchor | PageBreak] = (), *, heading_level: int = 0) -> int:
        """Add a block, and return its position; marks without text wait for the next block."""
        block, offsets = _marked_block(text) if marks else (_tidy_lines(clean(text)).strip(), [])
        if not block:
            self._waiting.extend(marks)
            return self._length
        start = self._length + len(PARAGRAPH_GAP) if self._pieces else 0
        for mark in self._waiting:
            self._place(mark, start)
        self._waiting.clear()
        for mark, offset in zip(marks, offsets, strict=True):
            is_of_heading = heading_level and isinstance(mark, Anchor)  # which may be behind its number
            self._place(mark, start if is_of_heading else start + offset)
        self._append(block)
        if heading_level:
            title = " ".join(block.split())
            self.headings.append(Heading(start, self._length, title, heading_level))
        return start

    def add_reading(self, written: str, reading: str) -> None:
        """Record how some words are read, according to the small letters beside them."""
        if len(self.readings) < MOST_READINGS and written and reading:
            self.readings[hiragana(reading), written] = None

    def mark(self, mark: Anchor | PageBreak) -> None:
        """Mark the place where the next block will begin."""
        self._waiting.append(mark)

    def close(self) -> None:
        """Place waiting marks at the end of the text."""
        for mark in self._waiting:
            self._place(mark, self._length)
        self._waiting.clear()

    def _append(self, block: str) -> None:
        if self._pieces:
            self._pieces.append(PARAGRAPH_GAP)
            self._length += len(PARAGRAPH_GAP)
        self._pieces.append(block)
        self._length += len(block)
        check_length(self._length, self._limits)

    def _place(self, mark: Anchor | PageBreak, offset: int) -> None:
        if isinstance(mark, PageBreak):
            self.page_marks.append(PageMark(offset, mark.label))
        else:
            self.anchors.setdefault(mark.name, offset)


def _marked_block(marked: str) -> tuple[str, list[int]]:
    """The text without marks and without white space at its ends and line ends; and the position of each mark."""
    pieces = [clean(piece) for piece in marked.split(MARK)]
    text = _tidy_lines(pieces[0]).lstrip()
    offsets: list[int] = []
    for piece in pieces[1:]:
        offsets.append(len(text))
        tidy = _tidy_lines(piece)
        text += tidy.lstrip(" ") if not text or text[-1].isspace() else tidy
    length = len(text.rstrip())
    return text[:length], [min(offset, length) for offset in offsets]


def _tidy_lines(text: str) -> str:
    """The text without white space at line ends and with at most one blank line in a row. Most blocks are tidy
    already, so that is checked first.
    """
    if "\n" not in text:
        return text
    if " \n" in text or "\t\n" in text:
        text = _LINE_END.sub("\n", text)
    return _BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text


PAGE_CHARACTERS = 1_800
MOST_PAGES = 20_000
"""With more pages than this, the file's pages are replaced by estimated ones."""
_SHORTEST_STRETCH = 300
_SLACK = 240
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？][”」』]*\s*")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")


def estimated_pages(text: str, chapter_starts: Iterable[int]) -> tuple[Page, ...]:
    """Pages that cover `text`, numbered from 1."""
    return pages_between([*_cuts(text, chapter_starts)], len(text))


def pages_between(starts: Sequence[int], end: int, labels: Sequence[str] = ()) -> tuple[Page, ...]:
    """Pages from the offsets at which they start, in order; without `labels` they are numbered."""
    names = labels or [str(number) for number in range(1, len(starts) + 1)]
    ends = [*starts[1:], end]
    return tuple(
        Page(number, label, start, stop)
        for number, (label, start, stop) in enumerate(zip(names, starts, ends, strict=True), start=1)
    )


def _cuts(text: str, chapter_starts: Iterable[int]) -> Iterator[int]:
    start = 0
    for stretch_end in [*chapter_starts, len(text)]:
        if stretch_end - start >= _SHORTEST_STRETCH or stretch_end == len(text):
            yield from _equal_parts(text, start, stretch_end)
            start = stretch_end


def _equal_parts(text: str, start: int, end: int) -> Iterator[int]:
    if start == end and start:
        return
    yield start
    left = max(1, round((end - start) / PAGE_CHARACTERS))
    while left > 1:
        start = _pause_near(text, start + (end - start) // left, end)
        left -= 1
        if start >= end:
            return
        yield start


def _pause_near(text: str, wish: int, end: int) -> int:
    """The offset after the paragraph, sentence or word that ends nearest to `wish`."""
    low, high = wish - _SLACK, min(wish + _SLACK, end)
    for pause in (_PARAGRAPH_END, _SENTENCE_END):
        ends = [match.end() for match in pause.finditer(text, low, high)]
        if ends:
            return min(ends, key=lambda offset: abs(offset - wish))
    space = text.rfind(" ", low, high)
    return space + 1 if space >= low else wish


_START = re.compile(
    r"\*{3}\s*START\s+OF\s+(?:THE|THIS)\s+PROJECT\s+GUTENBERG[^*]{0,400}\*{3}\s*"
    r"|\*END\*?\s*THE\s+SMALL\s+PRINT!?[\s\S]{0,200}?\*END\*\s*",
)
_END = re.compile(
    r"^[ \t]*(?:\*{3}\s*END\s+OF\s+(?:THE|THIS)\s+PROJECT\s+GUTENBERG"
    r"|(?:End|Ende|Fin|Fine|Fim|Einde)\b[^.\n]{0,20}\sProje[ck]?t\s+Gutenberg(?:['’]s|(?:['’]s)?\s+E-?(?:Book|text)))",
    re.MULTILINE | re.IGNORECASE,
)
_FIELD = re.compile(r"^[ \t]*(Title|Author|Language):[ \t]*([^\n]+(?:\n[ \t]{2,}[^\n]+)*)", re.MULTILINE)
_HEADER_CHARACTERS = 30_000


@dataclass(frozen=True, slots=True)
class Wrapping:
    """Where the book itself is, `[start, end)`, and what the header says about it."""

    start: int
    end: int
    title: str = ""
    author: str = ""
    language: str = ""


def unwrap(text: str) -> Wrapping:
    """The place of the book within a text that may be wrapped in a licence; the whole text if it is not."""
    opening = _START.search(text, 0, _HEADER_CHARACTERS)
    start = opening.end() if opening else 0
    end = _last_end(text, start)
    if end <= start:
        return Wrapping(0, len(text))
    fields = {name: " ".join(value.split()) for name, value in _FIELD.findall(text[:start])}
    language = fields.get("Language", "").lower()
    code = WORDS["languages"].get(language, language)
    return Wrapping(start, end, fields.get("Title", ""), fields.get("Author", ""), code)


def _last_end(text: str, start: int) -> int:
    """Where the book ends: the licence after it has up to 20,000 characters."""
    begin = max(start, len(text) - _HEADER_CHARACTERS)
    closing = _END.search(text, begin)
    return begin + len(text[begin : closing.start()].rstrip()) if closing else len(text)


_PREVIEW = re.compile(
    '(?<=\n\n)[^\\w\n"“”‘’«»„]*(?:(?P<announced>'
    f"(?:{PATTERNS['announces_a_preview']})\\b(?:{PATTERNS['previews']})|{PATTERNS['is_a_preview']})"
    f"|(?:{PATTERNS['excerpts']}))\\b[^\n]{{0,120}}$",
    re.MULTILINE | re.IGNORECASE,
)
_LONGEST_PREVIEW = 0.4
_MOST_PREVIEWS = 100
_FRONT_OF_PREVIEW = 3_000


def end_of_story(text: str) -> int:
    """Where a book ends: at the preview of another, "Turn the page for an excerpt from …", or with the text."""
    for line in islice(_PREVIEW.finditer(text, int(len(text) * (1 - _LONGEST_PREVIEW))), _MOST_PREVIEWS):
        if line["announced"] or _begins_again(text, line.start(), line.end()):
            return line.start()
    return len(text)


def _begins_again(text: str, start: int, end: int) -> bool:
    """Whether "Chapter 1" follows "An excerpt from …", which then is no chapter of the book, or the motto of a part."""
    above = text[max(0, start - _FRONT_OF_PREVIEW) : start].rstrip().rpartition("\n")[2]
    labels = map(parse_label, text[end : end + _FRONT_OF_PREVIEW].split("\n"))
    first = next(((label.rank, label.value) for label in labels if label and label.value is not None), None)
    return first == (Rank.CHAPTER, 1) and parse_label(above) is None

"""A book: one string of text, and half-open spans `[start, end)` of character offsets in it.

Pages, chapters, passages and citations are all spans on that one axis, so "has the reader read this?" is one
comparison of offsets everywhere.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter

from domain.errors import BookError, BookErrorCode, Say, Worded, in_english
from domain.library.numerals import number_value

_PERSON = "person:"
OCR_MARK = "+ocr"
"""Ends the format of a book whose pages were pictures and whose text was recognised."""
PARTLY_OCR_MARK = f"{OCR_MARK}-part"
"""The same, for a book of which only some pages were pictures."""


_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
"""Characters that show nothing, or turn around what stands beside them; joiners belong to scripts and emoji."""


def one_line(typed: str) -> str:
    """A name that somebody has typed, on one line and as it is seen; empty if nothing of it is."""
    return " ".join(_UNSHOWN.sub("", " ".join(typed.split())).split())


def encodable(text: str) -> str:
    """The text as UTF-8 can encode it: two surrogate halves in a row become their character, a lone one �."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def personal_shelf(person_id: str) -> str:
    """The key of a person's own shelf. The key of a server's shelf is the server's id, a number."""
    return f"{_PERSON}{person_id}"


def is_personal(shelf: str | None) -> bool:
    """Whether a shelf belongs to a person."""
    return shelf is not None and shelf.startswith(_PERSON)


@dataclass(frozen=True, slots=True)
class Page:
    """A page. `number` counts from 1; `label` is what is printed on it ("xii", "47")."""

    number: int
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter or titled part; `number` counts from 1 in reading order, `level` 1 is the outermost.

    `printed` is the number the book prints ("5", "V", "Fünftes"), empty where it prints none; `title` is the whole
    heading, that number included. `parent` is the title of the part, book or volume it stands in, or empty.
    """

    number: int
    title: str
    start: int
    end: int
    level: int = 1
    printed: str = ""
    parent: str = ""


def numbered(number: int, title: str, *, is_counted: bool = True) -> str:
    """A chapter's title with its number in front, "3. The Keeper"; the bare title if the book prints numbers of its
    own.
    """
    return title if not is_counted or title.startswith(f"{number}. ") else f"{number}. {title}"


def shown_chapter(number: int, title: str, *, is_counted: bool = True) -> str:
    """The same as people read it: a title that says its number ("Chapter III") has none in front."""
    return title if _says(title, number) else numbered(number, title, is_counted=is_counted)


def _says(title: str, number: int) -> bool:
    """Whether a title begins with its number: "Chapter IV. The Rain", "IV. The Rain", "Erstes Kapitel"."""
    words = title.split(maxsplit=2)
    leads = len(words) < 3 or title.startswith(f"{words[0].rstrip('.:')}.")
    return number in [number_value(each.rstrip(".:")) for each in words[0 if leads else 1 : 2]]


@dataclass(frozen=True, slots=True)
class BookText:
    """The result of parsing a file.

    Pages cover the text in order, without gaps or overlaps. Chapters are in order and do not overlap; text before the
    first belongs to none. `pages_estimated` means that the source had no page marks and pages were cut at a fixed
    size. `warnings` are sentences for the person who added the file (e.g. about pages without text). `readings` pairs
    pronunciations printed beside words (Japanese ruby, in hiragana) with those words.
    """

    text: str = field(repr=False)
    pages: tuple[Page, ...] = field(repr=False)
    chapters: tuple[Chapter, ...] = field(repr=False)
    format: str
    title: str = ""
    author: str = ""
    language: str = ""
    pages_estimated: bool = False
    warnings: tuple[str, ...] = ()
    readings: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    pictures: int = 0
    """How many pages are pictures whose text is worth recognising."""


@dataclass(frozen=True, slots=True)
class Book:
    """A book on a shelf. `shelf` is the key of a server's or a person's shelf, or "local" for the terminal's.

    `sha256` is of the file that was added and names the book file; `length` is in characters.
    """

    id: str
    shelf: str
    sha256: str
    title: str
    author: str
    format: str
    page_count: int
    chapter_count: int
    word_count: int
    length: int
    created_at: datetime
    pages_estimated: bool = False
    added_by: str = ""
    filename: str = ""
    """The name of the file it was added from, without folders; empty for books added before this was recorded."""
    removed_at: datetime | None = None
    """When it was taken off its shelf; it can be restored until it is erased. None: it is on the shelf."""
    removed_by: str = ""

    @property
    def file_format(self) -> str:
        """The format of its file: "pdf", also if its text was recognised."""
        return self.format.partition(OCR_MARK)[0]

    def is_all_before(self, place: int) -> bool:
        """Whether who may be told what stands before a place, an offset, may be told all of it."""
        return place >= self.length

    @property
    def is_read_by_ocr(self) -> bool:
        """Whether all or some of its pages were pictures, so that some words may be wrong."""
        return OCR_MARK in self.format

    @property
    def is_partly_read_by_ocr(self) -> bool:
        """Whether only some of its pages were pictures."""
        return self.format.endswith(PARTLY_OCR_MARK)


_MEGA = 1_000_000


@dataclass(frozen=True, slots=True)
class ShelfLimits:
    """How many books, and how many millions of characters, one shelf may hold; 0 is no limit."""

    books: int = 0
    megabytes: int = 0

    def assert_room(self, books: int, length: int, adding: int = 1) -> None:
        """Check that a book of `adding` characters (1: unknown) fits beside `books` others of `length` in all.

        Raises:
            BookError: SHELF_FULL.
        """
        if 0 < self.books <= books:
            message = Worded(
                "The shelf is full: it holds {books}. Remove one with /books remove to make room. The bot's operator "
                "sets this limit.",
                books=Worded("1 book") if self.books == 1 else Worded("{limit} books", limit=self.books),
            )
            raise BookError(BookErrorCode.SHELF_FULL, message)
        most = self.megabytes * _MEGA
        if 0 < most <= length:
            message = Worded(
                "The shelf is full: it holds {limit} MB of text. Remove a book with /books remove to make room. The "
                "bot's operator sets this limit.",
                limit=self.megabytes,
            )
            raise BookError(BookErrorCode.SHELF_FULL, message)
        if 0 < most < length + adding:
            message = Worded(
                "This book doesn't fit on the shelf, which holds {limit} MB of text. Remove one with /books remove to "
                "make room. The bot's operator sets this limit.",
                limit=self.megabytes,
            )
            raise BookError(BookErrorCode.SHELF_FULL, message)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in its place in the book; `text` is exactly `book.text[start:end]`."""

    start: int
    end: int
    text: str


SOURCE = re.compile(r"passage-(\d{1,12})-(\d{1,12})")
"""The source of a passage. It is for models; people read a page."""


def is_source(value: object) -> bool:
    return isinstance(value, str) and SOURCE.fullmatch(value) is not None


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of the book handed to a model or a person: whole sentences, in order.

    `page` and `last_page` are labels as printed. `source` is a name unique in the book that stays the same as long as
    the span does. `score` is only comparable within one search.
    """

    id: int
    start: int
    end: int
    page: str
    last_page: str
    chapter: str
    sentences: tuple[Sentence, ...] = field(repr=False)
    score: float = 0.0

    @property
    def source(self) -> str:
        return f"passage-{self.start}-{self.end}"

    @property
    def text(self) -> str:
        """The passage as one line a person can read: its sentences with single spaces."""
        return " ".join(" ".join([sentence.text for sentence in self.sentences]).split())


@dataclass(frozen=True, slots=True)
class Citation:
    """A verified reference: `quote` stands verbatim at `[start, end)` of the book's text."""

    start: int
    end: int
    quote: str
    page: str
    last_page: str
    chapter: str
    estimated: bool = False

    @property
    def reference(self) -> str:
        """The reference in an answer: "p. 12", "pp. 12-13", or "about p. 12" where pages are estimated."""
        return self.reference_in(in_english)

    def reference_in(self, say: Say) -> str:
        """The same in another language: `say` translates an English text and fills its {placeholders}."""
        return page_reference(self.page, self.last_page, estimated=self.estimated, say=say)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The sentences before and after a citation; empty where there are none in its chapter that the reader may see."""

    before: str = ""
    after: str = ""


def page_reference(first: str, last: str, *, estimated: bool, say: Say = in_english) -> str:
    """A reference to pages by their labels, as answers show it."""
    if first == last:
        return say("about p. {page}", page=first) if estimated else say("p. {page}", page=first)
    if estimated:
        return say("about pp. {first}-{last}", first=first, last=last)
    return say("pp. {first}-{last}", first=first, last=last)


BETWEEN_SENTENCES = 3
"""Characters between two sentences that follow each other, at most: an empty line after a line's end and a space."""


def references(citations: Iterable[Citation]) -> str:
    """The references of citations that stand together: "p. 12, pp. 30-31". No page is named twice, and what is read
    without a break is one reference.
    """
    spans: list[Citation] = []
    for citation in citations:
        same = [span for span in spans if _belong_together(span, citation)]
        first, last = min([citation, *same], key=_start), max([citation, *same], key=_end)
        at = spans.index(same[0]) if same else len(spans)
        spans = [span for span in spans if span not in same]
        spans.insert(at, replace(first, end=last.end, last_page=last.last_page))
    return ", ".join(span.reference for span in spans)


_start, _end = attrgetter("start"), attrgetter("end")


def _belong_together(one: Citation, other: Citation) -> bool:
    apart = max(one.start, other.start) - min(one.end, other.end)
    return apart <= BETWEEN_SENTENCES or not {one.page, one.last_page}.isdisjoint((other.page, other.last_page))


class PositionState(StrEnum):
    """Three different states; none of them is encoded as a special number."""

    UNSET = "unset"
    READING = "reading"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class ReadingPosition:
    """Where a reader is in a book. `read_to` is an offset and only meaningful while READING."""

    state: PositionState = PositionState.UNSET
    read_to: int = 0

    @property
    def is_set(self) -> bool:
        """Whether the reader has said how far they have read."""
        return self.state is not PositionState.UNSET

    def bound(self, length: int) -> int:
        """The offset up to which this reader may see the book; the whole book if the position is unset or finished."""
        return min(self.read_to, length) if self.state is PositionState.READING else length


class BindingKind(StrEnum):
    """What limits what is told: a reader who is named, a reader who hides their place in a club, the end of a club's
    section, a club without members, or a club that has ended.
    """

    READER = "reader"
    HIDDEN = "hidden"
    SECTION = "section"
    NOBODY = "nobody"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Binding:
    """Who or what limits what others may be told: mostly the reader who is furthest behind.

    `page` is the label of the last page that may be told, estimated if `estimated`; empty at the beginning of the book,
    and of a HIDDEN reader.
    `reader_id` and `name`, if it is known, are those of a READER, else empty. `section` is the number of a SECTION.
    """

    reader_id: str
    read_to: int
    page: str
    estimated: bool = False
    name: str = ""
    kind: BindingKind = BindingKind.READER
    section: int = 0


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A line of the table of contents; `finished` says whether the bound is past its end.

    `start` is the offset at which the chapter begins, `opening` the first sentence of its readable part. `is_counted`
    means that `number` is what people call the chapter: the book prints no numbers, or the same ones.
    """

    number: int
    title: str
    level: int
    page: str
    last_page: str
    words: int
    finished: bool
    opening: "Sentence | None" = field(default=None, compare=False, repr=False)
    printed: str = ""
    parent: str = ""
    is_counted: bool = True
    start: int = 0


@dataclass(frozen=True, slots=True)
class PhraseHit:
    """A place where a phrase occurs. `similarity` is 1.0 for an exact match after folding, else lower."""

    citation: Citation
    similarity: float

    @property
    def exact(self) -> bool:
        return self.similarity == 1.0


@dataclass(frozen=True, slots=True)
class ChapterCount:
    """How often something occurs in one chapter; number 0, without a title, stands for the text before the first
    chapter. `parent` is the title of the part it stands in, or empty.
    """

    number: int
    title: str
    count: int
    is_counted: bool = True
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Mentions:
    """How often a term occurs as whole words, its first and last occurrence, and its count in each chapter that has
    it.

    `in_story` is the first place in a chapter and not its title: the very first one may be on the title page, or in a
    preface.
    """

    term: str
    total: int
    first: Citation | None
    last: Citation | None
    by_chapter: tuple[ChapterCount, ...] = ()
    in_story: Citation | None = None


@dataclass(frozen=True, slots=True)
class DerivedText:
    """A text about a book that a model wrote (e.g. a chapter summary), kept so that it is paid for once.

    `kind` and `key` identify it within the book ("summary", "3"); `depends_to` is the largest offset of the book it
    depends on.
    """

    book_id: str
    kind: str
    key: str
    depends_to: int
    text: str
    model: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OfferedBook:
    """A book in a catalogue, and where its file is.

    `languages` are ISO 639 codes; `words` is the approximate length of the book and `size` that of the file in bytes;
    None where unknown.
    """

    title: str
    author: str
    languages: tuple[str, ...]
    url: str
    format: str
    words: int | None = None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class DownloadedFile:
    """A downloaded file; `name` is the last part of its address."""

    data: bytes
    name: str

"""From headings to chapters: contents pages are not chapters, parts hold chapters, chapters do not overlap."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.parsers.headings import Rank, is_not_the_book, parse_label, parse_numeral
from bot.parsers.titles import chapter_title, with_subtitle
from domain.book import Chapter


def middle(values: Iterable[float]) -> float:
    """The upper median of some values.

    Raises:
        IndexError: there are none.
    """
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


MOST_CHAPTERS = 5_000
_FRONT_MATTER_CHARACTERS = 6_000
_TITLE_PAGE_CHARACTERS = 400
_LINES_OF_CONTENTS = 3
_LONGEST_CONTENTS = 20_000
_LONGEST_LINE = 200
_LIKE_A_CHAPTER = 4
_WORD = re.compile(r"\w")
_BYLINE = re.compile(r"(?:written |told |edited |translated )?by\s+\S.{1,80}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as it stands in the text at `[start, end)`; `level` is smaller the further out."""

    start: int
    end: int
    title: str
    level: int


def chapters_from(text: str, headings: Iterable[Heading], book_title: str = "") -> tuple[Chapter, ...]:
    """The chapters begun by headings, which come in reading order.

    A heading with nothing under it begins a chapter only if deeper headings follow at once, as under "Book One".
    """
    titled = _joined(text, [heading for heading in headings if _WORD.search(heading.title)])
    content = _with_content(text, _without_title_page(text, titled, book_title))
    return _chapters(_without_subdivisions(text, content), len(text))


def is_label(title: str) -> bool:
    """Whether a heading names its own place: "Chapter II", "Prologue", "IV. The Cave"."""
    return bool(parse_label(title) or parse_numeral(title))


def is_bare_label(title: str) -> bool:
    """Whether a heading is only a number or "Chapter II", so that its title may follow."""
    label = parse_label(title) or parse_numeral(title)
    return label is not None and label.rank is not None and not label.title


def has_words(text: str, start: int, end: int) -> bool:
    """Whether any word stands in `text[start:end]`."""
    return bool(_WORD.search(text, start, end))


def _has_content(text: str, start: int, end: int) -> bool:
    """Whether more stands there than lines of a table of contents."""
    first = _WORD.search(text, start, end)
    if first is None:
        return False
    if not is_label(_line_at(text, first.start())):
        return True
    lines = text[first.start() : min(end, start + _LONGEST_CONTENTS)].split("\n")
    return not all(is_label(line) for line in lines if _WORD.search(line))


def _line_at(text: str, offset: int) -> str:
    end = text.find("\n", offset, offset + _LONGEST_LINE)
    return text[offset : end if end >= 0 else offset + _LONGEST_LINE]


def _key(title: str) -> str:
    return re.sub(r"\W+", "", title).casefold()


def _joined(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """ "CHAPTER ONE" and "THE EVE OF THE WAR" right under it are one heading."""
    result: list[Heading] = []
    for heading in headings:
        if result and _is_title_of(text, result[-1], heading):
            label = result.pop()
            heading = Heading(label.start, heading.end, with_subtitle(label.title, heading.title), label.level)
        result.append(heading)
    return result


def _is_title_of(text: str, above: Heading, below: Heading) -> bool:
    if below.level < above.level or not is_bare_label(above.title) or is_not_the_book(below.title):
        return False
    label = parse_label(above.title)
    if below.level > above.level and label and label.rank and label.rank < Rank.CHAPTER:
        return False  # the first chapter of "Part One" does not name it
    return not (_stands_for_itself(above.title, below.title) or has_words(text, above.end, below.start))


def _stands_for_itself(above: str, below: str) -> bool:
    """Whether a heading under a label is one of its own; "CHAPTER TEN" may well be called "THE EPILOGUE"."""
    label = parse_label(below)
    if label and label.rank is None:
        outer = parse_label(above)
        return outer is None or outer.rank is not Rank.CHAPTER
    return is_label(below)


def _without_title_page(text: str, headings: Sequence[Heading], book_title: str) -> Sequence[Heading]:
    """Headings before the book's first chapter that only say what it is called and who wrote it, left out."""
    if headings and _is_book_title(text, headings, _key(book_title)):
        headings = headings[1:]
    first_label = next((at for at, heading in enumerate(headings) if is_label(heading.title)), 0)
    front = [
        heading
        for heading, below in pairwise(headings[: first_label + 1])
        if is_not_the_book(heading.title) or not _is_front_matter(heading, below)
    ]
    return [*front, *headings[first_label:]]


def _is_front_matter(heading: Heading, below: Heading) -> bool:
    if heading.start > _FRONT_MATTER_CHARACTERS:
        return False
    return below.start - heading.end <= _TITLE_PAGE_CHARACTERS or bool(_BYLINE.fullmatch(heading.title))


def _is_book_title(text: str, headings: Sequence[Heading], book_key: str) -> bool:
    """Whether the first heading is the book's title: by name, as the only one of its level, or with little under it."""
    first, *others = headings
    if not others or is_label(first.title) or first.start > _FRONT_MATTER_CHARACTERS:
        return False
    key = _key(first.title)
    if (book_key and (key in book_key or book_key in key)) or all(heading.level > first.level for heading in others):
        return True
    usual = middle(
        below.start - above.end for above, below in pairwise([*others, Heading(len(text), len(text), "", 0)])
    )
    return first.start == 0 and others[0].start - first.end < min(_TITLE_PAGE_CHARACTERS, usual / _LIKE_A_CHAPTER)


def _with_content(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """Headings that have text under them or deeper ones; so the lines of a table of contents fall out."""
    ends = [*(heading.start for heading in headings[1:]), len(text)]
    full = [_has_content(text, heading.end, end) for heading, end in zip(headings, ends, strict=False)]
    kept: list[Heading] = []
    later: set[str] = set()
    for at in range(len(headings) - 1, -1, -1):
        heading, key = headings[at], _key(headings[at].title)
        holds_deeper = not full[at] and bool(kept) and kept[-1].level > heading.level
        if holds_deeper or (full[at] and not (key in later and _ends_contents(headings, full, at))):
            kept.append(heading)
        later.add(key)
    return kept[::-1]


def _ends_contents(headings: Sequence[Heading], full: Sequence[bool], at: int) -> bool:
    """Whether this is the last line of a table of contents, with other front matter under it."""
    above = range(max(0, at - _LINES_OF_CONTENTS), at)
    return len(above) == _LINES_OF_CONTENTS and not any(
        full[line] or headings[line].level < headings[at].level for line in above
    )


def _without_subdivisions(text: str, headings: Sequence[Heading]) -> list[Heading]:
    """The outermost level, and each deeper one as long as it divides parts that are nothing but their chapters."""
    levels = sorted({heading.level for heading in headings if not is_not_the_book(heading.title)})
    deepest = levels[0] if levels else 0
    for level in levels[1:]:
        parents = [
            has_words(text, above.end, below.start)
            for above, below in pairwise(headings)
            if above.level <= deepest and below.level == level
        ]
        children = [heading for heading in headings if heading.level == level]
        are_subtitles = len(children) <= len(parents) and not all(is_label(child.title) for child in children)
        outer = sum(heading.level <= deepest for heading in headings)
        if outer > 1 and (are_subtitles or parents.count(True) * 2 > len(parents)):
            break
        deepest = level
    return [heading for heading in headings if heading.level <= deepest or is_not_the_book(heading.title)]


def _chapters(headings: Sequence[Heading], length: int) -> tuple[Chapter, ...]:
    ends = [*(heading.start for heading in headings[1:]), length]
    book = [(heading, end) for heading, end in zip(headings, ends, strict=False) if not is_not_the_book(heading.title)]
    depth = {level: at for at, level in enumerate(sorted({heading.level for heading, _ in book}), start=1)}
    return tuple(
        Chapter(number, chapter_title(heading.title), heading.start, end, depth[heading.level])
        for number, (heading, end) in enumerate(book[:MOST_CHAPTERS], start=1)
    )

"""A book as it is read: one string of text, and half-open spans `[start, end)` of character offsets on it.

Apart from the other nouns of `domain.book`, which also names these, so that the processes that read and index start
with no more than they need.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Page:
    """A page. `number` counts from 1; `label` is what is printed on it ("xii", "47")."""

    number: int
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter or titled part; `number` counts from 1 in reading order, `level` 1 is the outermost."""

    number: int
    title: str
    start: int
    end: int
    level: int = 1


def numbered(number: int, title: str) -> str:
    """A chapter's title under its number, "3. The Keeper"; many books print the number themselves."""
    return title if title.startswith(f"{number}. ") else f"{number}. {title}"


@dataclass(frozen=True, slots=True)
class BookText:
    """What a reader makes of a file.

    Pages cover the text without gaps or overlaps, in order. Chapters are in order and do not overlap; text before the
    first belongs to none. `pages_estimated` says that the source had no page marks and pages were cut at a fixed size.
    `warnings` are sentences for the person who added the file (e.g. pages without text).
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

"""Whether a book file is as it was written: everything in it can be read, and fits together."""

import sqlite3
from collections.abc import Sequence
from itertools import pairwise

from domain.book import Chapter, Page
from domain.library.search.layout import Layout
from domain.library.search.words import words_of_each
from storage.book_files.format import decode_text
from storage.book_files.word_rows import ALL_ROWS, WordRow

DAMAGE = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What comes of reading bytes that are not those that were written."""


def is_laid_out(layout: Layout) -> bool:
    """Whether pages and chapters are in order and within the text: a moment's work, even for a long book."""
    return (
        len(layout.starts) == len(layout.ends) == len(layout.words) - 1 == layout.runs[-1]
        and layout.runs[0] == layout.words[0] == 0
        and all(left <= right for left, right in pairwise(layout.runs))
        and _follow_each_other(layout.pages, layout.length)
        and _follow_each_other(layout.chapters, layout.length)
        and (not layout.pages or layout.pages[-1].end == layout.length)
    )


def is_sound(db: sqlite3.Connection, layout: Layout) -> bool:
    """Read all of the file. Letters that were replaced by others are not noticed."""
    try:
        whole = db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return whole and _fits_together(layout) and _has_text(db, layout) and _has_words(db, layout)
    except DAMAGE:
        return False


def _follow_each_other(items: Sequence[Page] | Sequence[Chapter], length: int) -> bool:
    edges = [0, *(edge for item in items for edge in (item.start, item.end)), length]
    return all(type(edge) is int for edge in edges) and edges == sorted(edges)


def _fits_together(layout: Layout) -> bool:
    starts, ends, words = layout.starts, layout.ends, layout.words
    return (
        is_laid_out(layout)
        and all(start < end for start, end in zip(starts, ends, strict=True))
        and all(end <= start for end, start in zip(ends, starts[1:], strict=False))
        and max(ends, default=0) <= layout.length
        and all(left <= right for left, right in pairwise(words))
        and bool(layout.pages)
    )


def _has_text(db: sqlite3.Connection, layout: Layout) -> bool:
    """All of the text is there, and its sentences have as many words as are counted for them."""
    text = "".join(decode_text(content) for (content,) in db.execute("SELECT content FROM text ORDER BY chunk"))
    sentences = [text[start:end] for start, end in zip(layout.starts, layout.ends, strict=True)]
    counts = map(len, words_of_each(sentences))
    return len(text) == layout.length and all(
        count == after - before for count, (before, after) in zip(counts, pairwise(layout.words), strict=True)
    )


def _has_words(db: sqlite3.Connection, layout: Layout) -> bool:
    """Every word of the book has its place."""
    found, last = 0, ""
    for columns in db.execute(ALL_ROWS):
        row = WordRow.decode(*columns)
        stems = [last, *row.stems]
        if max(row.positions) >= layout.word_count or stems != sorted(stems):
            return False
        found, last = found + len(row.positions), stems[-1]
    return found == layout.word_count

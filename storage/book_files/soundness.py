"""Whether a book file is as it was written: everything in it can be read, and fits together."""

import sqlite3
from itertools import pairwise

from domain.library.layout import Layout
from storage.book_files.format import FORM_SEPARATOR, decode_numbers, decode_text

DAMAGE = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What comes of reading bytes that are not those that were written."""


def is_sound(db: sqlite3.Connection, layout: Layout) -> bool:
    """Read all of the file. Letters that were replaced by others are not noticed."""
    try:
        whole = db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return whole and _fits_together(layout) and _has_text(db, layout) and _has_words(db, layout)
    except DAMAGE:
        return False


def _fits_together(layout: Layout) -> bool:
    starts, ends, words, runs = layout.starts, layout.ends, layout.words, layout.runs
    return (
        len(starts) == len(ends) == len(words) - 1
        and all(start < end for start, end in zip(starts, ends, strict=True))
        and all(end <= start for end, start in zip(ends, starts[1:], strict=False))
        and max(ends, default=0) <= layout.length
        and all(left <= right for left, right in pairwise(words))
        and (runs[0], runs[-1]) == (0, len(starts))
        and all(left <= right for left, right in pairwise(runs))
        and bool(layout.pages)
    )


def _has_text(db: sqlite3.Connection, layout: Layout) -> bool:
    chunks = db.execute("SELECT content FROM text ORDER BY chunk")
    return sum(len(decode_text(content)) for (content,) in chunks) == layout.length


def _has_words(db: sqlite3.Connection, layout: Layout) -> bool:
    """Every word of the book has its place."""
    found = 0
    for forms, counts, positions in db.execute("SELECT forms, counts, positions FROM words"):
        places, each = decode_numbers(positions), decode_numbers(counts)
        fits = len(decode_text(forms).split(FORM_SEPARATOR)) == len(each) and sum(each) == len(places)
        if not fits or max(places) >= layout.word_count:
            return False
        found += len(places)
    return found == layout.word_count

"""A tiny book for tests: its text, its passages, and where its sentences stand."""

import re

from domain.book import Citation, Passage, Sentence
from domain.errors import BookError, BookErrorCode

TEXT = (
    "Ann kept the light for forty years. “I never let it go out,” she said. "
    "In 1911 the Perpetua struck the rocks below. Nobody knew why the lamp had been dark that night."
)


def sentences() -> tuple[Sentence, ...]:
    return tuple(Sentence(m.start(), m.end(), m[0]) for m in re.finditer(r"\S[^.]*\.", TEXT))


def passage(first: int = 0, last: int = 4, page: str = "12") -> Passage:
    chosen = sentences()[first:last]
    return Passage(1, chosen[0].start, chosen[-1].end, page, page, "The Light", chosen)


async def cite(start: int, end: int) -> Citation:
    """Looks a span up in the tiny book: its first two sentences are on page 12, the others on page 13."""
    if not 0 <= start < end <= len(TEXT):
        raise BookError(BookErrorCode.NOT_FOUND, "Nothing is there.")
    second = sentences()[2].start
    first_page, last_page = ("13" if at >= second else "12" for at in (start, end - 1))
    return Citation(start, end, TEXT[start:end], first_page, last_page, "The Light")


async def stands_in_book(quoted: str) -> bool:
    return quoted in TEXT

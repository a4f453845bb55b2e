"""Excerpts: spans of a book made into the passages and citations that people and models get to see."""

from bisect import bisect_right

from domain.book import Citation, Passage, Sentence
from domain.errors import BookError, BookErrorCode
from domain.library.search.index import BookIndex
from domain.library.search.layout import BookLayout


class Excerpts:
    """Takes excerpts from what has been read of a book."""

    def __init__(self, index: BookIndex, layout: BookLayout, *, estimated: bool) -> None:
        self._index = index
        self._layout = layout
        self._estimated = estimated

    def passage(self, sentences: range, score: float = 0.0) -> Passage:
        """Whole sentences, by their numbers; there must be at least one."""
        layout = self._layout
        return self.span(layout.starts[sentences.start], layout.ends[sentences.stop - 1], score)

    def span(self, start: int, end: int, score: float = 0.0) -> Passage:
        """The text of `[start, end)`; sentences across its edges are cut there."""
        layout = self._layout
        text = self._index.read(start, end)
        edges = [(max(layout.starts[i], start), min(layout.ends[i], end)) for i in layout.sentences_between(start, end)]
        if edges:
            start, end, offset = edges[0][0], edges[-1][1], start
            sentences = tuple(Sentence(a, b, text[a - offset : b - offset]) for a, b in edges)
        else:
            end, sentences = start, ()
        return Passage(
            id=bisect_right(layout.starts, start),
            start=start,
            end=end,
            page=layout.page_at(start).label,
            last_page=layout.page_at(max(end - 1, start)).label,
            chapter=self._chapter(start),
            sentences=sentences,
            score=score,
        )

    def citation(self, start: int, end: int) -> Citation:
        """The citation of a span.

        Raises:
            BookError: NOT_FOUND, the span is empty or reaches beyond the bound.
        """
        if not 0 <= start < end <= self._layout.length:
            raise BookError(BookErrorCode.NOT_FOUND, "That place is not in the part of the book that has been read.")
        return Citation(
            start=start,
            end=end,
            quote=self._index.read(start, end),
            page=self._layout.page_at(start).label,
            last_page=self._layout.page_at(end - 1).label,
            chapter=self._chapter(start),
            estimated=self._estimated,
        )

    def _chapter(self, offset: int) -> str:
        chapter = self._layout.chapter_at(offset)
        return chapter.title if chapter else ""

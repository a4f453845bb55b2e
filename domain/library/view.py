"""Everything a reader may be shown of a book, given how far they have read.

All of it is a function of `text[:read_to]`: the layout is clipped first, and nothing here looks beyond it.
"""

from collections.abc import Sequence

from domain.book import SOURCE, Citation, ContentsEntry, Mentions, Page, Passage, PhraseHit, Sentence
from domain.errors import BookError, BookErrorCode, Worded
from domain.library.addressing import find_page, is_counted
from domain.library.misspellings import missing_words
from domain.library.search.index import BookIndex, Excerpts, count_mentions, sentences_with
from domain.library.search.layout import BookLayout
from domain.library.search.phrases import find_phrase
from domain.library.search.query import PASSAGE_WORDS, search
from domain.library.search.words import length_in_words

READ_WORDS = 3_000
"""Words after which a reading ends; some ten printed pages."""

MAX_NEIGHBOURS = 5
"""Passages that a passage can be widened by on each side."""


class BlockingView:
    """A book up to a bound: the methods of BookView, but blocking. Thread-safe."""

    def __init__(self, index: BookIndex, layout: BookLayout, *, estimated: bool = False) -> None:
        """`layout` is that of the index, clipped to the part that has been read."""
        self._index = index
        self._layout = layout
        self._excerpts = Excerpts(index, layout, estimated=estimated)

    def search(self, queries: Sequence[str], top_k: int) -> list[Passage]:
        found = search(self._index, self._layout, queries, top_k)
        return [self._excerpts.passage(hit.sentences, hit.score) for hit in found]

    def read_pages(self, first: str, last: str) -> list[Passage]:
        opening, closing = sorted((self._reached(first), self._reached(last, clamp=True)))
        passages: list[Passage] = []
        words = 0
        for page in self._layout.pages[opening : closing + 1]:
            stop = self._within_budget(page, READ_WORDS - words)
            passages.append(self._excerpts.span(page.start, stop))
            words += length_in_words(passages[-1].text)
            if words >= READ_WORDS or stop < page.end:
                break
        return passages

    def read_around(self, source: str, before: int, after: int) -> Passage:
        layout, seen = self._layout, self._sentences_of(source)
        chapter = layout.run_of(seen.start)
        opening, closing = (PASSAGE_WORDS * min(max(count, 0), MAX_NEIGHBOURS) for count in (before, after))
        first = max(layout.first_within(opening, seen.start), chapter.start)
        last = max(min(layout.last_within(closing, seen.stop), chapter.stop), seen.stop)
        return self._excerpts.passage(range(first, last))

    def contents(self) -> list[ContentsEntry]:
        layout = self._layout
        entries = []
        counted = is_counted(layout.chapters)
        for chapter in layout.chapters:
            sentences = layout.sentences_between(chapter.start, chapter.end)
            entries.append(
                ContentsEntry(
                    number=chapter.number,
                    title=chapter.title,
                    level=chapter.level,
                    page=layout.page_at(chapter.start).label,
                    last_page=layout.page_at(chapter.end - 1).label,
                    words=layout.words[sentences.stop] - layout.words[sentences.start],
                    finished=chapter.end < layout.length or layout.length == self._index.layout.length,
                    opening=self._excerpts.passage(sentences[:1]).sentences[0] if sentences else None,
                    printed=chapter.printed,
                    parent=chapter.parent,
                    is_counted=counted,
                    start=chapter.start,
                )
            )
        return entries

    def read_chapter(self, number: int) -> Passage:
        layout = self._layout
        if number == 0 and layout.pages:
            return self._excerpts.span(0, layout.chapters[0].start if layout.chapters else layout.length)
        for chapter in layout.chapters:
            if chapter.number == number:
                return self._excerpts.span(chapter.start, chapter.end)
        message = Worded("There's no chapter {number} in what's been read so far.", number=number)
        raise BookError(BookErrorCode.NOT_FOUND, message)

    def find_phrase(self, text: str, limit: int, *, exact: bool = False) -> list[PhraseHit]:
        return find_phrase(self._index, self._layout, self._excerpts, text, limit, exact=exact)

    def count_mentions(self, term: str) -> Mentions:
        return count_mentions(self._index, self._layout, self._excerpts, term)

    def mentions(self, term: str, limit: int) -> list[Sentence]:
        numbers = sentences_with(self._index, self._layout, term)[: max(limit, 0)]
        return [self._excerpts.passage(range(number, number + 1)).sentences[0] for number in numbers]

    def missing_words(self, text: str) -> dict[str, list[str]]:
        return missing_words(self._index, self._layout, text)

    def cite(self, start: int, end: int) -> Citation:
        return self._excerpts.citation(start, end)

    def _reached(self, label: str, *, clamp: bool = False) -> int:
        """The index of a page among those reached; with `clamp`, a page beyond them is the last one."""
        pages = self._layout.pages
        page = find_page(pages, label)
        if page is not None:
            return pages.index(page)
        if clamp and pages and label.strip().isdecimal():
            return len(pages) - 1
        raise BookError(BookErrorCode.NOT_FOUND, _no_page(label, pages))

    def _within_budget(self, page: Page, words: int) -> int:
        """Where to stop on a page so that at most about `words` of its words are read."""
        layout = self._layout
        first = layout.sentences_between(page.start, page.end).start
        allowed = layout.last_within(max(words, 1), first)
        return min(page.end, layout.ends[max(allowed, first + 1) - 1]) if first < len(layout.ends) else page.end

    def _sentences_of(self, source: str) -> range:
        """The sentences of a known passage. One that was cut by another bound may end in another sentence now."""
        layout, match = self._layout, SOURCE.fullmatch(source.strip())
        start, end = (int(match[1]), int(match[2])) if match else (0, 0)
        sentences = layout.sentences_between(start, end)
        if not sentences or start >= end or end > layout.length:
            message = Worded(
                "There's no passage {source!r} in what's been read so far; search the book again.", source=source
            )
            raise BookError(BookErrorCode.NOT_FOUND, message)
        most = layout.last_within(READ_WORDS, sentences.start)
        return range(sentences.start, min(sentences.stop, max(most, sentences.start + 1)))


def _no_page(label: str, pages: Sequence[Page]) -> str:
    if not pages:
        return Worded("Nothing of this book has been read yet, so there are no pages to show.")
    return Worded(
        "There's no page “{page}” in what's been read so far, only pages {first} to {last}.",
        page=label.strip(),
        first=pages[0].label,
        last=pages[-1].label,
    )

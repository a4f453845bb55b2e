"""A book indexed in memory, looked up as a book file is."""

from bot.readers.txt import read_plain
from domain.book import BookText
from domain.library.index import MemoryIndex, WordForm, index_book
from domain.library.layout import Layout
from domain.library.reading import Reading


class WordIndex:
    """The words of a book that was indexed."""

    def __init__(self, index: MemoryIndex) -> None:
        self._index = index
        self._stems = {stem: [WordForm(form, index.words[form]) for form in forms] for stem, forms in index.stems()}
        self.layout: Layout = index.layout

    def forms(self, stem: str) -> list[WordForm]:
        return self._stems.get(stem, [])

    def read(self, start: int, end: int) -> str:
        return self._index.read(start, end)


def reading_of(book: BookText | str, read_to: int | None = None) -> Reading:
    """The book as somebody sees it who has read up to `read_to`, or all of it; a text is one as it stands."""
    index = WordIndex(index_book(read_plain(book) if isinstance(book, str) else book))
    layout = index.layout if read_to is None else index.layout.clip(read_to, index.read)
    return Reading(index, layout)

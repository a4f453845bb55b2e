"""A book indexed in memory, looked up as a book file is."""

from bot.parsers.text.parser import read_plain
from domain.book import BookText
from domain.library.search.index import WordForm, index_book, written_forms
from domain.library.search.languages import Analyzer, book_language
from domain.library.search.layout import BookLayout
from domain.library.view import BlockingView
from storage.book_files.format import find_analyzer


class WordIndex:
    """The words of a book; a text is one as it stands."""

    def __init__(self, book: BookText | str, language: str | None = None) -> None:
        """In the language given, or else the one the book is in."""
        book = read_plain(book) if isinstance(book, str) else book
        made = index_book(book)
        self.text = book.text
        self.layout: BookLayout = made.layout
        self.analyzer: Analyzer = find_analyzer(book_language(book) if language is None else language)
        stems = made.stems(self.analyzer)
        self._stems = {stem: [WordForm(form, made.words[form]) for form in forms] for stem, forms in stems}
        self._spellings = dict(made.spellings(self.analyzer) or written_forms(book.readings))

    def forms(self, stem: str) -> list[WordForm]:
        return self._stems.get(stem, [])

    def vocabulary(self) -> list[str]:
        return [form.written for forms in self._stems.values() for form in forms]

    def stems(self) -> list[str]:
        return list(self._stems)

    def stems_of_spelling(self, spelling: str) -> list[str]:
        return self._spellings.get(spelling, [])

    def read(self, start: int, end: int) -> str:
        return self.text[start:end]


def reading_of(book: BookText | str, read_to: int | None = None, language: str | None = None) -> BlockingView:
    """The book as somebody sees it who has read up to `read_to`, or all of it; a text is one as it stands."""
    index = WordIndex(book, language)
    layout = index.layout if read_to is None else index.layout.clip(read_to, index.read)
    return BlockingView(index, layout)

"""A book indexed in memory, searched as a book file is."""

from functools import cached_property

from bot.readers.txt import read_plain
from domain.book import BookText
from domain.library.index import WordForm, index_book
from domain.library.layout import Layout
from domain.library.reading import Reading


class MemoryBook:
    """A text as it stands, with all that can be asked of it."""

    def __init__(self, text: BookText | str) -> None:
        made = index_book(read_plain(text) if isinstance(text, str) else text)
        self.text = made.text
        self.layout: Layout = made.layout
        self._stems = {stem: [WordForm(form, made.words[form]) for form in forms] for stem, forms in made.stems()}

    def forms(self, stem: str) -> list[WordForm]:
        return self._stems.get(stem, [])

    def read(self, start: int, end: int) -> str:
        return self.text[start:end]

    @cached_property
    def reading(self) -> Reading:
        """All of it, as somebody sees it who has read it."""
        return Reading(self, self.layout)
